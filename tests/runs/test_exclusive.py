"""Whose turn it is among exclusive calls."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from toolkit.runs.exclusive import ExclusiveCalls


async def test_who_is_cancelled_while_a_thread_goes_on_lets_the_next_one_in() -> None:
    exclusive = ExclusiveCalls()
    thread: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    exclusive.goes_on(thread)
    waiting = asyncio.create_task(exclusive.enter(None))
    await asyncio.sleep(0)

    waiting.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await waiting
    thread.set_result(None)
    async with asyncio.timeout(10):
        entered = await exclusive.enter(None)

    assert waiting.cancelled()
    assert entered
