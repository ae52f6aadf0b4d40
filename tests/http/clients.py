"""The two HTTP libraries, and time that a test moves itself."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import httpx2
import pytest

LIBRARIES = [pytest.param(httpx, id="httpx"), pytest.param(httpx2, id="httpx2")]


def open_client(library: Any, **settings: Any) -> Any:
    """A client of the library that takes no proxy from the environment."""
    return library.AsyncClient(trust_env=False, **settings)


class ManualClock:
    """Stands still, but for sleeping: that takes no time and moves it on."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.began = now
        self.elapsed = 0.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.elapsed

    def now(self) -> float:
        return self.began + self.elapsed

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.elapsed += seconds
        await asyncio.sleep(0)
