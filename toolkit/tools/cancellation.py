"""Telling a cancellation of the run from one of a handler's own making, and bounding what resists it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from math import inf
from typing import Any
from weakref import ReferenceType, WeakKeyDictionary, WeakSet, ref

from msgspec import Struct

__all__ = ["Cancellation", "Expiry", "is_cancelled", "leave_unheard", "take_back", "wait_in_any_case"]


_NOT_MADE: Any = None
_forgiven: WeakKeyDictionary[asyncio.Task[Any], int] = WeakKeyDictionary()
"""How much of a task's `cancelling()` means nothing any more."""

_just_cancelled: WeakSet[asyncio.Task[Any]] = WeakSet()
"""Tasks that a cancellation from elsewhere reached in this turn of the event loop."""

_at_work: dict[int, ReferenceType[Cancellation]] = {}
"""What is opened or closed just now, by the `id` of its task; one at a time in a task."""


class Cancellation(Struct, eq=False, weakref=True):
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
        is_expired: The time of what runs in the task has passed, and that cancelled it.
        is_held: It closes something: a request is noted, and interrupts nothing. Whoever holds looks afterwards.
        has_arrived: What runs in the task has got one of the two, and is ended by force after its grace.
        until: When the grace ends of what was cancelled, by the clock of the event loop.
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
    has_arrived: bool = False
    until: float = inf

    def request(self) -> None:
        """Cancels the task, for the run: once, so that nothing interrupts what cleans up.

        What is opened just now gets the request as its own, so that its time does not cancel it again; what is closed
        gets none. Nor is it cancelled again while it cleans up after its timeout, or when somebody else has just
        cancelled it: an event loop that ends cancels all tasks in the same turn, the callers of runs and the runs' own,
        in any order.
        """
        if not self.is_requested and not self.is_held:
            work = self._work()
            if not work.is_held:
                self._cancel(work)
        self.is_requested = True
        self.request_followers()

    def _cancel(self, work: Cancellation) -> None:
        """Cancels the work that the task is at: its own, or what is opened just now."""
        if work is not self:
            work.report = self.report
            work.grace = self.grace if work.grace == inf else work.grace
        work.is_requested = True
        if work.is_expired:
            self.press_later(work)
        elif self.task in _just_cancelled and is_cancelled(self.task):
            work.begin_grace(min(work.grace, self.grace))
            self.press_later(work)
        else:
            work.begin_grace(work.grace)
            self.task.cancel()

    def begin_grace(self, seconds: float) -> None:
        """The task is cancelled now."""
        self.until = self.task.get_loop().time() + seconds

    def press_later(self, work: Cancellation) -> asyncio.TimerHandle:
        """Has the task cancelled once more when the grace of its work is over, if that has not learnt of any till then.

        It may have taken one for its own affair, such as a timeout within it; or it waits for a task that swallowed it.
        """
        return self.task.get_loop().call_at(work.until, self._press, work)

    def _press(self, work: Cancellation) -> None:
        is_at_it = self._work() is work and not self.task.done()
        if is_at_it and not self.is_held and not work.has_arrived:
            self.task.cancel()

    def _work(self) -> Cancellation:
        """What the task is at: its own work, or what is opened or closed just now."""
        at_work = _at_work.get(id(self.task))
        return self if at_work is None else at_work() or self

    def stand_in(self) -> None:
        """What it was made for is opened or closed, and waits: a request for the task comes to this, until it ends."""
        _at_work[id(self.task)] = ref(self)

    def step_back(self) -> None:
        """What it was made for has ended."""
        _at_work.pop(id(self.task), None)

    def arrive(self) -> None:
        """A cancellation that nobody asked this for has reached the task."""
        _just_cancelled.add(self.task)
        asyncio.get_running_loop().call_soon(_just_cancelled.discard, self.task)

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


def leave_unheard(future: asyncio.Future[Any]) -> None:
    """Reads the error of a future or task that is done, and drops it: asyncio would complain that nobody did."""
    if not future.cancelled():
        future.exception()


class Expiry:
    """Cancels a task once `seconds` have passed. `stop` takes that cancellation back, and says whether it was made."""

    __slots__ = ("_cancellation", "_handle", "has_passed")

    def __init__(self, cancellation: Cancellation, seconds: float) -> None:
        self._cancellation = cancellation
        self._handle = asyncio.get_running_loop().call_later(seconds, self._expire)
        self.has_passed = False

    def _expire(self) -> None:
        cancellation = self._cancellation
        if cancellation.is_requested:  # it cleans up
            self._handle = cancellation.press_later(cancellation)
            return
        self.has_passed = cancellation.is_expired = True
        cancellation.begin_grace(cancellation.grace)
        cancellation.task.cancel()

    def stop(self) -> bool:
        self._handle.cancel()
        if self.has_passed:
            self._cancellation.is_expired = False
            take_back(self._cancellation.task)
        return self.has_passed
