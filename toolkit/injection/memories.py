"""A dict for what was worked out, which forgets the oldest: a run may bring classes that were made for it alone."""

from __future__ import annotations

from typing import Any

__all__ = ["MOST_KEPT", "Memory"]

MOST_KEPT = 1024
"""More than any application lists; what is forgotten is worked out again when it is needed."""


class Memory(dict[Any, Any]):
    """Holds at most `MOST_KEPT` entries that were set one by one."""

    __slots__ = ()

    def __setitem__(self, key: Any, value: Any) -> None:
        if len(self) >= MOST_KEPT and key not in self:
            del self[next(iter(self))]
        super().__setitem__(key, value)
