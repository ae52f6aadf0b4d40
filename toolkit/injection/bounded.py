"""Opening and closing within a time limit, also where what is awaited swallows its cancellation."""

from __future__ import annotations

import asyncio
import types
from collections.abc import Awaitable, Generator
from math import inf
from time import monotonic
from typing import Any

from toolkit.tools.cancellation import Cancellation, Expiry
from toolkit.tools.driving import Steps, begin, drive
from toolkit.tools.parameters import label_of

__all__ = ["begun", "rest_within", "say_nothing", "within"]


@types.coroutine
def within(seconds: float | None, work: Awaitable[Any], doing: str, what: Any) -> Generator[Any, Any, Any]:
    """What `work` gives, in the task that calls this.

    Args:
        seconds: How long it may take. Then it is cancelled, and has as long again for its `finally` blocks; what still
            goes on is ended by force. None means no limit.
        doing: `"opening"`, or `"closing"`, which the end of a run does not interrupt where it has a limit.
        what: What is opened or closed: a text, or the class or function.

    Raises:
        TimeoutError: it took longer.
    """
    began, steps, made = begun(work)
    if steps is None:
        return made  # it waited for nothing, as most do, so that nothing could have stopped it: it needs no limit
    return (yield from rest_within(seconds, began, steps, made, doing, what).__await__())


def begun(value: Any) -> tuple[float, Steps | None, Any]:
    """As `begin`, and when that was, for `rest_within`."""
    began = monotonic()
    steps, made = begin(value)
    return began, steps, made


async def rest_within(seconds: float | None, began: float, steps: Steps, waiting: Any, doing: str, what: Any) -> Any:
    """As `within`, of what has begun at that time, and waits for something."""
    what = f"{doing} {_label(what)}"
    cancellation = Cancellation(inf if seconds is None else seconds, say_nothing)  # the error says it
    cancellation.is_held = doing == "closing" and seconds is not None
    task = asyncio.current_task()
    assert task is not None  # coroutines run in tasks
    cancellation.task = task
    expiry = None if seconds is None else Expiry(cancellation, began + seconds - monotonic())
    cancellation.stand_in()
    try:
        made = await drive(steps, waiting, cancellation, what)
    except BaseException as error:
        if expiry is None or not expiry.stop():
            raise
        raise TimeoutError(f"{what} took longer than {seconds:g} seconds") from error
    finally:
        cancellation.step_back()
    if expiry is not None and expiry.stop():
        raise TimeoutError(f"{what} took longer than {seconds:g} seconds")
    if cancellation.is_requested:  # it has swallowed that; nothing must be opened after it
        raise asyncio.CancelledError
    return made


def _label(what: Any) -> str:
    return what if isinstance(what, str) else label_of(what)


def say_nothing(_: str) -> None:
    """The report of a `Cancellation` whose error, or that of whoever asked, says enough."""
