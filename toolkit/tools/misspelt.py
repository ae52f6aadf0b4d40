"""Members that are nearly a guard: under another name nobody would ask them, and what they guard would stand open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolkit.errors import ConfigurationError

__all__ = ["refuse_misspelt"]


def refuse_misspelt(target: Any, known: Sequence[str], owner: str) -> None:
    """Raises `ConfigurationError` for a name that differs from a known one in case, underscores, a plural or `tool`.

    Args:
        target: The object or the class; its own attributes and those of its classes are looked at.
        known: The names that are asked for.
        owner: Its name in the error.
    """
    meant = {_folded(name): name for name in known}
    kind: type[Any] = target if isinstance(target, type) else type(target)
    own: dict[str, Any] = getattr(target, "__dict__", {})
    for name in (*own, *(name for base in kind.__mro__ for name in vars(base))):
        right = meant.get(_folded(name))
        if right is not None and name != right and name not in known:
            raise ConfigurationError(f"{owner} has '{name}', which nothing asks for; did you mean '{right}'?")


def _folded(name: str) -> str:
    return name.lower().replace("tool", "").replace("_", "").replace("s", "")
