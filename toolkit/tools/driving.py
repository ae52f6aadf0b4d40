"""Awaiting a handler that may swallow its cancellation, without a task of its own.

A run has to end within a bounded time after its cancellation, and it closes what it opened in its own task. A handler
that is awaited there and catches `CancelledError` could hold it for ever. So the handler's coroutine is driven by hand:
when it goes on after the run was cancelled, or after its own timeout, it has `grace` seconds to finish its `finally`
blocks; then it is closed by force.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import types
from collections.abc import Awaitable, Callable, Coroutine, Generator
from typing import Any, cast

from toolkit.tools.cancellation import Cancellation, take_back
from toolkit.tools.parameters import label_of

__all__ = ["Steps", "begin", "drive", "next_turn", "settled"]


Steps = Generator[Any, Any, Any]
"""Work that has begun. It has to live until the work is over: to let go of it ends the work."""


@types.coroutine
def drive(steps: Steps, waiting: Any, cancellation: Cancellation, label: Any) -> Generator[Any, Any, Any]:
    """Awaits work that has begun, and gives what it returns.

    Its first step is taken by `begin`: most work ends with it, waits for nothing and needs none of this.

    Args:
        steps: The work, as `begin` gave it.
        waiting: What the first step gave: what the work waits for.
        cancellation: How long it has after a cancellation, and who is told when it took longer.
        label: What it is, for that report: a text, or the callable that made the work.
    """
    work: Coroutine[Any, Any, Any] = cast("Any", steps).gi_yieldfrom
    step: Callable[[Any], Any]
    value: Any
    force: _Force | None = None
    was_cancelled = False
    try:
        while True:
            try:
                value = yield waiting
                step = work.send
            except asyncio.CancelledError as error:
                was_cancelled = True
                if force is not None and force.is_due:
                    _close(work)
                    name = label if isinstance(label, str) else label_of(label)
                    cancellation.report(
                        f"{name} went on for {cancellation.grace:g} s after it was cancelled, and was ended by force"
                    )
                    raise
                # Not for one that the work made itself, by `asyncio.timeout` or a task group: that is its own affair.
                if force is None:
                    if cancellation.is_requested or cancellation.is_expired:
                        force = _Force(cancellation)
                    else:
                        cancellation.arrive()
                step, value = work.throw, error
            except GeneratorExit:
                work.close()
                raise
            except BaseException as error:  # noqa: BLE001 - a failed future: it belongs to the handler
                step, value = work.throw, error
            try:
                waiting = step(value)
            except StopIteration as stop:
                if was_cancelled:
                    cancellation.forgive()
                return stop.value
            except Exception:
                if was_cancelled:
                    cancellation.forgive()
                raise
    finally:
        if force is not None:
            force.stop()


def begin(value: Any) -> tuple[Steps | None, Any]:
    """Takes the first step of what may have to be awaited, as what a function gives that may be sync or async.

    Returns:
        The steps that are left, and what they wait for, both for `drive`; or None, and what the value comes to.
    """
    work: Any = value
    if value.__class__ is not types.CoroutineType:
        if value is None or not inspect.isawaitable(value):
            return None, value
        work = _awaited(value)
    try:
        steps: Steps = _idle.pop()
    except IndexError:
        steps = cast("Steps", _first_steps())
        steps.send(None)
    made = steps.send(work)
    if work.cr_suspended:
        return steps, made
    _idle.append(steps)
    return None, made


@types.coroutine
def _first_steps() -> Generator[Any, Any, Any]:
    """Awaits one work after another, and gives what each comes to, or what it waits for.

    So what ends with its first step ends without the exception by which `send` would tell it, and that costs half.
    """
    work = yield
    while True:
        work = yield (yield from work)


_idle: list[Steps] = []


async def settled(value: Any, cancellation: Cancellation, label: Any) -> Any:
    """What a value comes to that may have to be awaited. Where each coroutine counts, `begin` and `drive` stand alone.

    Raises:
        asyncio.CancelledError: the run is cancelled, also when the awaited swallowed that.
    """
    work, made = begin(value)
    if work is not None:
        made = await drive(work, made, cancellation, label)
    if cancellation.is_requested:
        raise asyncio.CancelledError
    return made


@types.coroutine
def next_turn() -> Generator[None, None, None]:
    """Lets what is ready by now go first, such as a task that was just made: its first step, at the least."""
    yield


async def _awaited(value: Awaitable[Any]) -> Any:
    """A coroutine of whatever can be awaited."""
    return await value


class _Force:
    """Cancels a task once more when the grace is over; `stop` takes that cancellation off the task's count."""

    def __init__(self, cancellation: Cancellation) -> None:
        self._cancellation = cancellation
        self._handle = asyncio.get_running_loop().call_later(cancellation.grace, self._fire)
        self.is_due = False
        cancellation.has_arrived = True

    def _fire(self) -> None:
        self.is_due = True
        self._cancellation.task.cancel()

    def stop(self) -> None:
        self._handle.cancel()
        self._cancellation.has_arrived = False
        if self.is_due:
            take_back(self._cancellation.task)


class _Forced(BaseException):
    """Thrown into work that is ended by force."""


_MOST_FORCED = 16
"""How often, at most: each `finally` block within another may wait anew."""


def _close(work: Coroutine[Any, Any, Any]) -> None:
    # Not `close()` at once: before 3.13 it does not reach an async generator that the work waits for, whose `finally`
    # blocks would be left, and of which asyncio would complain (https://github.com/python/cpython/issues/81471).
    # Whatever the blocks raise, or that it caught this as well: nothing resumes it any more.
    with contextlib.suppress(Exception, _Forced):
        for _ in range(_MOST_FORCED):  # until it is over
            work.throw(_Forced())
        work.close()
