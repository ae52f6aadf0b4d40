"""Members that are nearly a guard: under another name nobody would ask them, and what they guard would stand open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolkit.errors import ConfigurationError

__all__ = ["refuse_misspelt"]


def refuse_misspelt(target: Any, known: Sequence[str], owner: str) -> None:
    """Raises `ConfigurationError` for a name that differs from a known one in case, underscores, a plural or `tool`, or
    by one letter, or by two that changed places. Names that begin with `_` are an object's own affair: what a guard is
    kept in, or a method that it calls.

    Args:
        target: The object or the class; its own attributes and those of its classes are looked at.
        known: The names that are asked for.
        owner: Its name in the error.
    """
    meant = {_folded(name): name for name in known}
    kind: type[Any] = target if isinstance(target, type) else type(target)
    own: dict[str, Any] = getattr(target, "__dict__", {})
    for name in (*own, *(name for base in kind.__mro__ for name in vars(base))):
        if name[:1] == "_":
            continue
        folded = _folded(name)
        right = meant.get(folded)
        if right is None and len(folded) >= _LONG and name.lower().rpartition("_")[2] not in _WORDS:
            right = next((meant[other] for other in meant if _are_a_slip_apart(folded, other)), None)
        if right is not None and name != right and name not in known:
            raise ConfigurationError(f"{owner} has '{name}', which nothing asks for; did you mean '{right}'?")


_LONG = 8
"""Letters of a name that can't well be another word when all but one of them are those of a guard's."""

_WORDS = frozenset(("id", "ids", "in", "is", "it", "of", "all", "cell", "mode"))
"""Last words of names that mean what they say, such as `available_in`, one letter away from another's last word."""


def _are_a_slip_apart(one: str, other: str) -> bool:
    """Whether a letter is missing, too many or another, or two neighbours changed places."""
    if abs(len(one) - len(other)) > 1:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    one, other = one[start:], other[start:]
    if one[:2] == other[1::-1] and one[2:] == other[2:]:
        return True
    return other[1:] in (one, one[1:]) or one[1:] == other


def _folded(name: str) -> str:
    return name.lower().replace("tool", "").replace("_", "").replace("s", "")
