"""Answers kept for a short while. The services forbid HTTP caching or are asked by POST, so it is done here."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from toolkit.http.clock import Clock, SystemClock

__all__ = ["AnswerCache"]


class _Entry(NamedTuple):
    value: Any
    expires: float
    owner: Callable[[], object]


class AnswerCache:
    """Values for 300 seconds, at most 256 of them, the oldest going first.

    Each entry belongs to the client that fetched it, and is found through that client only: what a test's fake
    answered is never seen by the real client, nor the other way round. The client is held weakly where it can be.

    Args:
        seconds: How long a value is good.
        size: How many values are kept.
    """

    def __init__(self, *, seconds: float = 300.0, size: int = 256, clock: Clock | None = None) -> None:
        self.seconds = seconds
        self.size = size
        self._clock = SystemClock() if clock is None else clock
        self._entries: dict[tuple[int, Hashable], _Entry] = {}
        self._lock = threading.Lock()

    def get(self, owner: object, key: Hashable) -> Any:
        """The value kept under `key` for this client, or None. Values are shared: they must be immutable."""
        with self._lock:
            entry = self._entries.get((id(owner), key))
            if entry is None or entry.owner() is not owner or entry.expires <= self._clock.monotonic():
                return None
            return entry.value

    def put(self, owner: object, key: Hashable, value: object) -> None:
        """Keep a value. `key` holds everything that decides the answer."""
        place = (id(owner), key)
        with self._lock:
            self._entries.pop(place, None)
            while len(self._entries) >= self.size:
                del self._entries[next(iter(self._entries))]
            self._entries[place] = _Entry(value, self._clock.monotonic() + self.seconds, _reference(owner))

    def clear(self, owner: object) -> None:
        """Forget what this client fetched: one of its values turned out to be out of date."""
        with self._lock:
            self._entries = {place: entry for place, entry in self._entries.items() if entry.owner() is not owner}

    def __len__(self) -> int:
        return len(self._entries)


def _reference(owner: object) -> Callable[[], object]:
    try:
        return weakref.ref(owner)
    except TypeError:  # a class with __slots__; held, so that its id can't be given to another object
        return lambda: owner
