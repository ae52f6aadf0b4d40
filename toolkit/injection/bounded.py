"""Opening and closing within a time limit, also where what is awaited swallows its cancellation."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

from toolkit.tools.cancellation import Cancellation, Expiry
from toolkit.tools.driving import drive

__all__ = ["within"]


async def within(seconds: float | None, work: Awaitable[Any], what: str) -> Any:
    """What `work` gives, in the task that calls this.

    Args:
        seconds: How long it may take. Then it is cancelled, and has as long again for its `finally` blocks; what still
            goes on is ended by force. None means no limit.
        what: For the error, such as `"closing open_db"`.

    Raises:
        TimeoutError: it took longer.
    """
    if seconds is None:
        return await work
    cancellation = Cancellation(seconds, _say_nothing)  # the error says it
    task = asyncio.current_task()
    assert task is not None  # coroutines run in tasks
    cancellation.task = task
    expiry = Expiry(cancellation, seconds)
    try:
        made = await drive(_awaited(work), cancellation, what)
    except BaseException as error:
        if not expiry.stop():
            raise
        raise TimeoutError(f"{what} took longer than {seconds:g} seconds") from error
    if expiry.stop():
        raise TimeoutError(f"{what} took longer than {seconds:g} seconds")
    return made


async def _awaited(work: Awaitable[Any]) -> Any:
    return await work


def _say_nothing(_: str) -> None:
    return None
