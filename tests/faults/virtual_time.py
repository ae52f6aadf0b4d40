"""An event loop whose time passes only when nothing else can happen, so that no test waits and no timeout is a race.

With nothing left to do, the clock jumps to the next timer. A thread at work holds it, unless that thread says that it
hangs. With no timer either, everything stands still: `on_standstill` may move something, and else it is an error.
"""

from __future__ import annotations

import asyncio
import contextlib
import selectors
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from toolkit.tools import threads

__all__ = ["CountedWorkers", "Standstill", "VirtualLoop", "counted_workers"]

_MOST_TURNS = 20_000
"""Turns of the loop between two jumps of the clock. More of them means that something spins."""

_PATIENCE = 60.0
"""Seconds, real ones, for a thread that works to come back."""


class Standstill(AssertionError):
    """Tasks wait, and nothing will ever wake them; or they turn in a circle."""


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop with a clock of its own.

    Attributes:
        on_standstill: Called when nothing would ever happen again; says whether it has changed that.
        complaints: What asyncio would have logged: an exception that nobody has read, a task destroyed while pending.
    """

    def __init__(self, complaints: list[str] | None = None) -> None:
        super().__init__(_Selector(self))
        self._now = 0.0
        self._turns = 0
        self.on_standstill: Callable[[], bool] = lambda: False
        self.complaints: list[str] = [] if complaints is None else complaints
        self.set_exception_handler(self._complain)

    def time(self) -> float:
        return self._now

    def pass_time(self, seconds: float | None) -> None:
        """Seconds to the next timer; None when there is none."""
        self._turns = 0
        if seconds is not None:
            self._now += seconds
        elif not self.on_standstill():
            raise Standstill("every task waits, and there is no timer")

    def count_turn(self) -> None:
        self._turns += 1
        if self._turns > _MOST_TURNS:
            self._turns = 0
            raise Standstill("something spins: it is never done, and lets no time pass")

    def wake(self) -> None:
        """Lets the loop look again, from any thread."""
        with contextlib.suppress(RuntimeError):  # it is closed
            self.call_soon_threadsafe(_do_nothing)

    def _complain(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        self.complaints.append(f"{context['message']}: {context.get('exception')!r}")


class _Selector(selectors.DefaultSelector):  # type: ignore[valid-type, misc]  # one of several classes
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._virtual = loop

    def select(self, timeout: float | None = None) -> Any:
        self._virtual.count_turn()
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        workers = threads._workers
        if isinstance(workers, CountedWorkers) and workers.are_at_work(self._virtual):
            ready = super().select(_PATIENCE)
            if not ready:
                raise Standstill(f"a thread has been at work for {_PATIENCE:g} seconds")
            return ready
        self._virtual.pass_time(timeout)
        return super().select(0)


class _Work:
    """One piece of work for a thread, as long as somebody waits for it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.hangs = False


class CountedWorkers(threads.WorkerThreads):
    """The toolkit's pool of threads, which knows besides who waits for a thread that does not hang."""

    def __init__(self) -> None:
        super().__init__()
        self._wanted: set[_Work] = set()
        self._current = threading.local()
        self._settled = threading.Condition()

    def submit(self, work: Callable[[], Any]) -> threads.ThreadCall:
        noted = _Work(asyncio.get_running_loop())
        self._wanted.add(noted)

        def do() -> Any:
            self._current.work = noted
            return work()

        call = super().submit(do)
        call.future.add_done_callback(lambda _: self._wanted.discard(noted))
        return call

    def hang(self, until: threading.Event) -> None:
        """Called in a thread of this pool: it waits, and does not hold the clock meanwhile."""
        noted: _Work = self._current.work
        noted.hangs = True
        assert isinstance(noted.loop, VirtualLoop)
        noted.loop.wake()
        until.wait()

    def are_at_work(self, loop: VirtualLoop) -> bool:
        return any(work.loop is loop and not work.hangs for work in self._wanted)

    def join(self) -> None:
        """Waits until every thread is idle."""
        with self._settled:
            assert self._settled.wait_for(lambda: self._idle >= self._threads, _PATIENCE), "a thread never came back"

    def _become_idle(self) -> None:
        super()._become_idle()
        with self._settled:
            self._settled.notify_all()


@contextlib.contextmanager
def counted_workers() -> Iterator[CountedWorkers]:
    """Sync handlers run in a pool that virtual time can look at, as long as the block lasts."""
    with pytest.MonkeyPatch.context() as patch:
        workers = CountedWorkers()
        patch.setattr(threads, "_workers", workers)
        yield workers
        workers.join()


def _do_nothing() -> None:
    return None
