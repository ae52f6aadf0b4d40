"""Being told when a module is imported, without importing it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

__all__ = ["Arrival"]


class Arrival(MetaPathFinder):
    """Calls `arrived` with a module: at once when it is there, and whenever it is imported or loaded again.

    Args:
        name: Of the module. It has to be one that Python finds by its path, as usual.
        arrived: Called when the module's code has run.
    """

    def __init__(self, name: str, arrived: Callable[[ModuleType], None]) -> None:
        self._name = name
        self._arrived = arrived

    def start(self) -> None:
        sys.meta_path.insert(0, self)
        if self._name in sys.modules:
            self._arrived(sys.modules[self._name])

    def stop(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._name:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_tell(module: ModuleType) -> None:
                execute(module)
                self._arrived(module)

            spec.loader.exec_module = execute_and_tell  # type: ignore[method-assign]  # of this one loader only
        return spec
