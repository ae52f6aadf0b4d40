"""Ready containers, to use or to copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from containers.builtin_tools import BuiltinTools
    from containers.models import Models

__all__ = ["BuiltinTools", "Models"]


def __getattr__(name: str) -> Any:
    # Imported where it is asked for: an application that has no built-in tools does not pay for them.
    if name == "BuiltinTools":
        from containers.builtin_tools import BuiltinTools

        return BuiltinTools
    if name == "Models":
        from containers.models import Models

        return Models
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
