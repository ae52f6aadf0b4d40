"""Telling a cancellation of the run from one of a handler's own making, and bounding what resists it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from msgspec import Struct

__all__ = ["Cancellation", "Expiry", "is_cancelled", "take_back", "wait_in_any_case"]


_NOT_MADE: Any = None
_forgiven: WeakKeyDictionary[asyncio.Task[Any], int] = WeakKeyDictionary()
"""How much of a task's `cancelling()` means nothing any more."""

_just_cancelled: WeakSet[asyncio.Task[Any]] = WeakSet()
"""Tasks that a cancellation from elsewhere reached in this turn of the event loop."""


class Cancellation(Struct, eq=False):
    """Whether a task was cancelled from outside since this was made for it.

    `CancelledError` alone doesn't tell: a handler may raise one itself, or swallow the one that was meant for it; and a
    run may be started in a task that is cancelled already. Nor does `Task.cancelling()`: an `asyncio.TaskGroup` whose
    child fails while the group is waiting leaves it one too high (CPython before 3.13; docs/decisions/0004). So the run
    says itself when it cancels one of its tasks, and the count decides only what an exception means that arrived.

    Attributes:
        grace: Seconds that cancelled work has for its `finally` blocks.
        report: Told in words when it did not end within them.
        task: The task; set by whoever makes it.
        is_requested: The run cancelled the task. Nothing of it may start any more.
        is_expired: The handler's own timeout cancelled the task.
        is_held: Something is being closed: a request is noted, and interrupts nothing. Whoever holds looks afterwards.
        followers: Those of the calls that run in tasks of their own, while they do: they are told at the same moment,
            whatever the owner is busy with.
    """

    grace: float
    report: Callable[[str], None]
    task: asyncio.Task[Any] = _NOT_MADE
    followers: Sequence[Cancellation] = ()
    is_requested: bool = False
    is_expired: bool = False
    is_held: bool = False

    def request(self) -> None:
        """Cancels the task, for the run: once, so that nothing interrupts what cleans up.

        Nor is it cancelled again while it cleans up after its timeout, or when somebody else has just cancelled it: an
        event loop that ends cancels all tasks in the same turn, the callers of runs and the runs' own, in any order.
        """
        if not self.is_requested and not self.is_held and not self.is_expired:
            if self.task in _just_cancelled and is_cancelled(self.task):
                asyncio.get_running_loop().call_later(self.grace, self._press)
            else:
                self.task.cancel()
        self.is_requested = True
        self.request_followers()

    def arrive(self) -> None:
        """A cancellation that nobody asked this for has reached the task."""
        _just_cancelled.add(self.task)
        asyncio.get_running_loop().call_soon(_just_cancelled.discard, self.task)

    def _press(self) -> None:
        """It may have been its own affair after all, such as a timeout within it: then it never learnt of the end."""
        if not self.task.done() and not self.is_held:
            self.task.cancel()

    def request_followers(self) -> None:
        """Cancels the calls that run in tasks of their own, but for the one that asks: no handler starts any more."""
        if not self.followers:
            return
        current = asyncio.current_task()
        for follower in self.followers:
            if follower.task is not current and not follower.task.done():
                follower.request()

    def is_real(self) -> bool:
        """Whether an exception that has just arrived comes of a cancellation from outside."""
        return self.is_requested or is_cancelled(self.task)

    def forgive(self) -> None:
        """What was cancelled up to now went no further: the work that got it has made something else of it.

        It is the task's, and not only of this: what opens an object in a task has a `Cancellation` of its own.
        """
        _forgiven[self.task] = self.task.cancelling()


def is_cancelled(task: asyncio.Task[Any]) -> bool:
    """Whether a task was cancelled, and nothing that ran in it has made something else of that."""
    return task.cancelling() > _forgiven.get(task, 0)


def take_back(task: asyncio.Task[Any]) -> None:
    """Takes a cancellation off a task's count that a timer here had made, and that has done its work."""
    left = task.uncancel()
    if _forgiven.get(task, 0) > left:  # what got it went on, and it was forgiven
        _forgiven[task] = left


async def wait_in_any_case(future: asyncio.Future[Any], seconds: float | None = None) -> asyncio.CancelledError | None:
    """Waits until a future or task is done, or for so long, however often the caller is cancelled meanwhile.

    It passes no cancellation on. The first one is given back.
    """
    import anyio  # only what is cancelled needs it

    loop = asyncio.get_running_loop()
    until = None if seconds is None else loop.time() + seconds
    cancelled: asyncio.CancelledError | None = None
    with anyio.CancelScope(shield=True):  # an anyio cancellation would come again at every turn of the event loop
        while not future.done():
            left = None if until is None else until - loop.time()
            if left is not None and left <= 0:
                break
            try:
                await asyncio.wait((future,), timeout=left)
            except asyncio.CancelledError as error:
                cancelled = cancelled or error
    return cancelled


class Expiry:
    """Cancels a task once `seconds` have passed. `stop` takes that cancellation back, and says whether it was made."""

    __slots__ = ("_cancellation", "_handle", "has_passed")

    def __init__(self, cancellation: Cancellation, seconds: float) -> None:
        self._cancellation = cancellation
        self._handle = asyncio.get_running_loop().call_later(seconds, self._expire)
        self.has_passed = False

    def _expire(self) -> None:
        if self._cancellation.is_requested:  # it cleans up, and is bounded already
            return
        self.has_passed = self._cancellation.is_expired = True
        self._cancellation.task.cancel()

    def stop(self) -> bool:
        self._handle.cancel()
        if self.has_passed:
            self._cancellation.is_expired = False
            take_back(self._cancellation.task)
        return self.has_passed
