"""Time as the built-in tools see it, so that a test can hold it still."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol

__all__ = ["Clock", "SystemClock"]


class Clock(Protocol):
    def monotonic(self) -> float:
        """Seconds that only grow; their zero means nothing."""
        ...

    def now(self) -> float:
        """Seconds since 1970 (UTC), to compare with the dates that servers send."""
        ...

    async def sleep(self, seconds: float) -> None: ...


class SystemClock:
    """The computer's time."""

    def monotonic(self) -> float:
        return time.monotonic()

    def now(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
