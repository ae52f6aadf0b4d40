"""All that knows a container: lifetimes, wiring, overrides, checks.

dependency-injector is imported when one of these names is first used, not when a run without a container imports
`toolkit.injection.mapping`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolkit.injection.app import App as App
    from toolkit.injection.app import application as application
    from toolkit.injection.checks import check as check
    from toolkit.injection.declaration import dep as dep
    from toolkit.injection.declaration import provide as provide
    from toolkit.injection.overrides import overriding as overriding
    from toolkit.injection.providers import AppScoped as AppScoped
    from toolkit.injection.providers import CallScoped as CallScoped
    from toolkit.injection.providers import RunScoped as RunScoped
    from toolkit.injection.providers import ScopeValue as ScopeValue
    from toolkit.injection.resolvers import resolver_for as resolver_for
    from toolkit.tools.resolver import Resolver as Resolver

_HOMES = {
    "App": "toolkit.injection.app",
    "AppScoped": "toolkit.injection.providers",
    "CallScoped": "toolkit.injection.providers",
    "Resolver": "toolkit.tools.resolver",
    "RunScoped": "toolkit.injection.providers",
    "ScopeValue": "toolkit.injection.providers",
    "application": "toolkit.injection.app",
    "check": "toolkit.injection.checks",
    "dep": "toolkit.injection.declaration",
    "overriding": "toolkit.injection.overrides",
    "provide": "toolkit.injection.declaration",
    "resolver_for": "toolkit.injection.resolvers",
}

__all__ = [
    "AppScoped",
    "CallScoped",
    "Resolver",
    "RunScoped",
    "ScopeValue",
    "application",
    "check",
    "dep",
    "overriding",
    "provide",
    "resolver_for",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'toolkit.injection' has no attribute {name!r}")
    found = getattr(import_module(home), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
