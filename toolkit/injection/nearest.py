"""What is said of a name that is not there: the one that was meant, perhaps, and those that are."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["in_quotes", "names_near"]

_MAX_NAMES = 20


def names_near(wanted: str, names: Iterable[str], owner: str = "it has") -> str:
    """The end of an error text: `did you mean 'prices'? It has 'http', 'prices'`.

    At most 20 names; where there are more, those of the container itself come before those of embedded ones, and
    among them the nearest.

    Args:
        wanted: The name that is not there.
        names: Those that are.
        owner: What stands before the names.
    """
    known = sorted(names)
    near: list[str] = difflib.get_close_matches(wanted, known, n=1)
    before = f"did you mean '{near[0]}'? {owner[0].upper()}{owner[1:]}" if near else owner
    if len(known) <= _MAX_NAMES:
        return f"{before} {in_quotes(known)}"
    nearest: list[str] = difflib.get_close_matches(wanted, known, n=len(known), cutoff=0.0)
    shown = sorted(sorted(nearest, key=lambda name: "." in name)[:_MAX_NAMES], key=lambda name: ("." in name, name))
    return f"{before} {', '.join(map(repr, shown))} and {len(known) - len(shown)} more"


def in_quotes(names: Iterable[str]) -> str:
    """Names for error texts."""
    return ", ".join(f"'{name}'" for name in sorted(names)) or "none"
