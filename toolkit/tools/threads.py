"""Worker threads for sync handlers.

Not the event loop's default pool: that one is small, shared with everything else, and `asyncio.run` waits at its end
for threads that a stuck handler holds. These are daemon threads, started when needed and kept for the next call.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import queue
import threading
from collections.abc import Callable
from typing import Any

__all__ = ["MAX_THREADS", "ThreadCall", "WorkerThreads", "in_thread"]

MAX_THREADS = 128
"""Threads at once; further calls wait for one. A handler that never returns keeps its thread."""

_IDLE_SECONDS = 30.0


class ThreadCall:
    """One piece of work for a thread. `future`, of the loop that asked, gets what it returns or raises."""

    __slots__ = ("_claim", "_loop", "_work", "future")

    def __init__(self, work: Callable[[], Any]) -> None:
        self._loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self._loop.create_future()
        self._work: Callable[[], Any] | None = work
        self._claim = threading.Lock()  # whoever takes it first decides: the thread that starts, or who withdraws

    def withdraw(self) -> bool:
        """True when it had not begun; then it never will. A thread that is at work can't be stopped."""
        withdrawn = self._claim.acquire(blocking=False)
        if withdrawn:
            self.future.cancel()
        return withdrawn

    def run(self, before_telling: Callable[[], None]) -> None:
        """Does the work in the current thread, unless it was withdrawn, and tells the loop."""
        work, self._work = self._work, None
        value: Any = None
        error: BaseException | None = None
        if work is None or not self._claim.acquire(blocking=False):
            return before_telling()
        try:
            value = work()
        except BaseException as raised:  # noqa: BLE001 - it travels to the loop, which decides what it means
            error = raised
        before_telling()
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._finish, value, error)
        del self, error  # else an error's traceback, this frame and the future would keep each other alive

    def _finish(self, value: Any, error: BaseException | None) -> None:
        if self.future.cancelled():
            return
        if isinstance(error, StopIteration):  # a future refuses it, and the caller would wait for ever
            cause, error = error, RuntimeError("StopIteration was raised")
            error.__cause__ = cause
        if error is None:
            self.future.set_result(value)
        else:
            self.future.set_exception(error)


class WorkerThreads:
    """A pool that grows to `limit` threads and shrinks when they have had nothing to do for a while."""

    def __init__(self, limit: int = MAX_THREADS, idle_seconds: float = _IDLE_SECONDS) -> None:
        self._limit = limit
        self._idle_seconds = idle_seconds
        self._jobs: queue.SimpleQueue[ThreadCall] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._idle = 0
        self._waiting = 0

    def submit(self, work: Callable[[], Any]) -> ThreadCall:
        """Has the work done by the next thread that is free. Called in an event loop.

        Raises:
            RuntimeError: the system gives no thread, and none is there that could do it.
        """
        call = ThreadCall(work)
        with self._lock:
            self._waiting += 1
            start = self._idle < self._waiting and self._threads < self._limit
            if start:
                self._threads += 1
        if start:
            self._start()
        self._jobs.put(call)
        return call

    def _start(self) -> None:
        try:
            threading.Thread(target=self._serve, name="toolwire worker", daemon=True).start()
        except RuntimeError:
            with self._lock:
                self._threads -= 1
                if self._threads == 0:
                    self._waiting -= 1
                    raise

    def _serve(self) -> None:
        self._become_idle()
        while True:
            try:
                call = self._jobs.get(timeout=self._idle_seconds)
            except queue.Empty:
                with self._lock:
                    if self._waiting:  # a job came between the time-out and the lock
                        continue
                    self._idle -= 1
                    self._threads -= 1
                return
            with self._lock:
                self._idle -= 1
                self._waiting -= 1
            call.run(self._become_idle)  # before it tells: who calls again at once finds this thread
            del call  # an idle thread must not keep a run's objects alive

    def _become_idle(self) -> None:
        with self._lock:
            self._idle += 1


_workers = WorkerThreads()


def _forget_threads() -> None:
    """A forked child has none of its parent's threads."""
    global _workers
    _workers = WorkerThreads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


def in_thread(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> ThreadCall:
    """Runs a function in a worker thread, with the context variables of the caller."""
    context = contextvars.copy_context()
    return _workers.submit(lambda: context.run(function, *args, **kwargs))
