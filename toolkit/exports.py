"""What a package offers, loaded when it is first asked for.

pytest loads the plugin in every test run of an environment, and Python then runs the `__init__` of each package on the
way to it. So those cost next to nothing, and a test run that has nothing to do with the toolkit does not load it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

__all__ = ["attributes_of"]


def attributes_of(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and the `__dir__` of a package (PEP 562).

    The package's own modules are found as well, as if they had been imported.

    Args:
        package: Its name.
        homes: The names that it offers, with spaces between, by the module that defines them.
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def load(name: str) -> Any:
        if name in home_of:
            value = getattr(import_module(home_of[name]), name)
            setattr(sys.modules[package], name, value)  # asked once
            return value
        if not name.startswith("_") and find_spec(f"{package}.{name}") is not None:
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of})

    return load, listed
