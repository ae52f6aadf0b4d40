"""Opening and closing within a time limit, also where what is awaited swallows its cancellation."""

from __future__ import annotations

import asyncio
import types
from collections.abc import Awaitable, Generator
from time import monotonic
from typing import Any

from toolkit.tools.cancellation import Cancellation, Expiry
from toolkit.tools.driving import awaited, drive
from toolkit.tools.parameters import label_of

__all__ = ["within"]


@types.coroutine
def within(seconds: float | None, work: Awaitable[Any], doing: str, what: Any) -> Generator[Any, Any, Any]:
    """What `work` gives, in the task that calls this.

    Args:
        seconds: How long it may take. Then it is cancelled, and has as long again for its `finally` blocks; what still
            goes on is ended by force. None means no limit.
        doing: For the error, such as `"closing"`.
        what: What is opened or closed: a text, or the class or function.

    Raises:
        TimeoutError: it took longer.
    """
    steps: Any = work if work.__class__ is types.CoroutineType else awaited(work)
    began = monotonic()
    try:
        waiting: Any = steps.send(None)
    except StopIteration as stop:
        return stop.value  # it waited for nothing, as most do, so that nothing could have stopped it: it needs no limit
    return (yield from _bounded(seconds, began, steps, waiting, f"{doing} {_label(what)}").__await__())


async def _bounded(seconds: float | None, began: float, work: Any, waiting: Any, what: str) -> Any:
    """What work gives that began at that time, and waits for something."""
    cancellation = Cancellation(float("inf") if seconds is None else seconds, _say_nothing)  # the error says it
    task = asyncio.current_task()
    assert task is not None  # coroutines run in tasks
    cancellation.task = task
    if seconds is None:
        return await drive(work, waiting, cancellation, what)
    expiry = Expiry(cancellation, began + seconds - monotonic())
    try:
        made = await drive(work, waiting, cancellation, what)
    except BaseException as error:
        if not expiry.stop():
            raise
        raise TimeoutError(f"{what} took longer than {seconds:g} seconds") from error
    if expiry.stop():
        raise TimeoutError(f"{what} took longer than {seconds:g} seconds")
    return made


def _label(what: Any) -> str:
    return what if isinstance(what, str) else label_of(what)


def _say_nothing(_: str) -> None:
    return None
