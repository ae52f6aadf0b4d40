"""Keeping to a service's rate: so many requests at once, and a distance between their starts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from toolkit.http.clock import Clock, SystemClock

__all__ = ["Pace"]

# Not aiolimiter: its bucket lets a burst through before it limits, belongs to one event loop, and takes the time
# from that loop, which a test can't hold still.


class _Line:
    """The requests of one event loop."""

    def __init__(self, at_once: int) -> None:
        self.places = asyncio.Semaphore(at_once)
        self.next_start = float("-inf")


class Pace:
    """One service's rate, shared by everyone who calls the service. Each event loop has its own count.

    Example:
        ```python
        pace = Pace(at_once=3, interval=0.3)
        async with pace.place():
            await http.request("GET", url)
        ```

    Args:
        at_once: How many may be under way at the same time.
        interval: Seconds from the start of one to the start of the next.
    """

    def __init__(self, *, at_once: int, interval: float, clock: Clock | None = None) -> None:
        self.at_once = at_once
        self.interval = interval
        self._clock = SystemClock() if clock is None else clock
        self._lines: dict[asyncio.AbstractEventLoop, _Line] = {}

    @asynccontextmanager
    async def place(self) -> AsyncGenerator[None, None]:
        """Wait for a turn; the place is free again at the end of the block, however it ends."""
        line = self._line()
        async with line.places:
            now = self._clock.monotonic()
            start = max(now, line.next_start)
            line.next_start = start + self.interval
            if start > now:
                await self._clock.sleep(start - now)
            yield

    def _line(self) -> _Line:
        loop = asyncio.get_running_loop()
        line = self._lines.get(loop)
        if line is None:
            self._lines = {other: its for other, its in self._lines.items() if not other.is_closed()}
            line = self._lines[loop] = _Line(self.at_once)
        return line
