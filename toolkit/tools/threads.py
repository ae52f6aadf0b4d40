"""Worker threads for sync handlers.

Not the event loop's default pool: that one is small, shared with everything else, and `asyncio.run` waits at its end
for threads that a stuck handler holds. These are daemon threads, started when needed and kept for the next call.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import queue
import threading
from collections.abc import Callable
from typing import Any

__all__ = ["MAX_THREADS", "WorkerThreads", "in_thread"]

MAX_THREADS = 128
"""Threads at once; further calls wait for one. A handler that never returns keeps its thread."""

_IDLE_SECONDS = 30.0

_Job = tuple[Callable[[], Any], asyncio.AbstractEventLoop, "asyncio.Future[Any]"]


class WorkerThreads:
    """A pool that grows to `limit` threads and shrinks when they have had nothing to do for a while."""

    def __init__(self, limit: int = MAX_THREADS) -> None:
        self._limit = limit
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._idle = 0
        self._waiting = 0

    def submit(self, work: Callable[[], Any]) -> asyncio.Future[Any]:
        """A future of the running loop for what `work` returns; cancelling it does not stop the thread."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        with self._lock:
            self._waiting += 1
            start = self._idle < self._waiting and self._threads < self._limit
            if start:
                self._threads += 1
        self._jobs.put((work, loop, future))
        if start:
            threading.Thread(target=self._serve, name="toolwire worker", daemon=True).start()
        return future

    def _serve(self) -> None:
        while True:
            with self._lock:
                self._idle += 1
            try:
                work, loop, future = self._jobs.get(timeout=_IDLE_SECONDS)
            except queue.Empty:
                with self._lock:
                    self._idle -= 1
                    if self._waiting:  # a job came between the time-out and the lock
                        continue
                    self._threads -= 1
                return
            with self._lock:
                self._idle -= 1
                self._waiting -= 1
            _work(work, loop, future)
            del work, loop, future  # an idle thread must not keep a run's objects alive


def _work(work: Callable[[], Any], loop: asyncio.AbstractEventLoop, future: asyncio.Future[Any]) -> None:
    value: Any = None
    error: BaseException | None = None
    try:
        value = work()
    except BaseException as raised:  # noqa: BLE001 - it travels to the loop, which decides what it means
        error = raised
    with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
        loop.call_soon_threadsafe(_finish, future, value, error)


def _finish(future: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
    if future.cancelled():
        return
    if isinstance(error, StopIteration):  # a future refuses it, and the caller would wait for ever
        error = RuntimeError("StopIteration was raised")
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(error)


_workers = WorkerThreads()


def in_thread(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> asyncio.Future[Any]:
    """Runs a function in a worker thread, with the context variables of the caller."""
    context = contextvars.copy_context()
    return _workers.submit(lambda: context.run(function, *args, **kwargs))
