"""All that knows a container: lifetimes, wiring, overrides, checks.

dependency-injector is imported when one of these names is first used, not when a run without a container imports
`toolkit.injection.mapping`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.exports import attributes_of

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
else:
    __getattr__, __dir__ = attributes_of(
        __name__,
        {
            "toolkit.injection.app": "App application",
            "toolkit.injection.checks": "check",
            "toolkit.injection.declaration": "dep provide",
            "toolkit.injection.overrides": "overriding",
            "toolkit.injection.providers": "AppScoped CallScoped RunScoped ScopeValue",
            "toolkit.injection.resolvers": "resolver_for",
            "toolkit.tools.resolver": "Resolver",
        },
    )

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
