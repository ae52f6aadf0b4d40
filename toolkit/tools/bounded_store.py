"""What was worked out is kept by the JSON that it was made of, within a bound."""

from __future__ import annotations

import threading
from typing import Any, Generic, TypeVar

from msgspec import UNSET

__all__ = ["BoundedStore"]

T = TypeVar("T")

_MAX_BYTES = 16_000_000


class BoundedStore(Generic[T]):
    """Values by bytes; at 16 MB all of them go, as far as their sizes are known. Threads may share it."""

    def __init__(self) -> None:
        self._kept: dict[bytes, T] = {}
        self._size = 0
        self._lock = threading.Lock()

    def get(self, key: bytes) -> T | Any:
        """The value, or UNSET."""
        return self._kept.get(key, UNSET)

    def put(self, key: bytes, value: T, size: int) -> None:
        """Keeps a value that takes about so many bytes."""
        with self._lock:
            if self._size + size > _MAX_BYTES:
                self._kept, self._size = {}, 0
            self._kept[key] = value
            self._size += size
