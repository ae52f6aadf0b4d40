"""A dict for what was worked out, which forgets the oldest: a run may bring classes that were made for it alone."""

from __future__ import annotations

from typing import Any

from toolkit.tools.forgetting import make_room

__all__ = ["MOST_KEPT", "Memory"]

MOST_KEPT = 1024
"""More than any application lists; what is forgotten is worked out again when it is needed."""


class Memory(dict[Any, Any]):
    """Holds at most `MOST_KEPT` entries that were set one by one. Threads may share it: an entry may go at any time."""

    __slots__ = ()

    def __setitem__(self, key: Any, value: Any) -> None:
        if len(self) >= MOST_KEPT and key not in self:
            make_room(self, MOST_KEPT)
        super().__setitem__(key, value)
