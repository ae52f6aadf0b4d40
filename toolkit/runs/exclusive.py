"""Exclusive calls of one run: one at a time."""

from __future__ import annotations

import asyncio
from typing import Any

__all__ = ["ExclusiveCalls"]


class ExclusiveCalls:
    """Lets one in at a time. A thread that outlives its tool's timeout counts until it ends: it is still at work."""

    __slots__ = ("_left", "_lock")

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._left: set[asyncio.Future[Any]] = set()

    async def enter(self, patience: float | None) -> bool:
        """Waits for its turn; whoever got it leaves again.

        Args:
            patience: Seconds to wait for a thread that nothing bounds any more; None means no limit.

        Returns:
            False when such a thread goes on for longer: this one must not run.
        """
        await self._lock.acquire()
        try:
            if self._left:
                await asyncio.wait(self._left, timeout=patience)
        except BaseException:
            self.leave()
            raise
        if self._left:
            self.leave()
        return not self._left

    def leave(self) -> None:
        """Lets the next one in."""
        self._lock.release()

    def goes_on(self, thread: asyncio.Future[Any]) -> None:
        """Takes note of a thread that its call has left."""
        self._left.add(thread)
        thread.add_done_callback(self._left.discard)
