"""`stream`: the same run, with its events as they happen."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Any, Generic, TypeVar

from toolkit.context import Event
from toolkit.events import RunFinished
from toolkit.records import Run
from toolkit.runs.owner import Owner

__all__ = ["RunStream"]

T = TypeVar("T")
Listener = Callable[[Event], None]


class RunStream(Generic[T]):
    """The events of one run: `async with agent.stream(...) as stream: async for event in stream: ...`.

    `run` is the run, complete after the last event. What the run ends with is raised at the end of the iteration.
    Leaving the block early cancels the run and closes everything before the block ends. The run never waits for its
    reader: events queue up.
    """

    # An iterator of its own, and no async generator: the event loop would close one that is left early in a task of
    # its own, after the block.

    def __init__(self, start: Callable[[Listener, Listener], Owner]) -> None:
        self._start = start
        self._owner: Owner | None = None
        self._events: deque[Event] = deque()
        self._waker: asyncio.Future[None] | None = None
        self._is_over = False

    @property
    def run(self) -> Run[T]:
        """The run, as far as it has come."""
        return self._running().run

    async def __aenter__(self) -> RunStream[T]:
        if self._owner is not None:
            raise RuntimeError("a stream is one run; call agent.stream(...) again for another")
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._owner = self._start(self._put, self._emit)
        self._owner.start(self._wake)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._running().cancel()

    def __aiter__(self) -> RunStream[T]:
        return self

    async def __anext__(self) -> Event:
        while not self._events:
            owner = self._running()
            if owner.is_done:
                await owner.finish()
                raise StopAsyncIteration
            if self._waker is not None:
                raise RuntimeError("two tasks read one stream; let one read, and pass the events on")
            self._waker = self._loop.create_future()
            try:
                await self._waker
            finally:
                self._waker = None
        return self._events.popleft()

    def _running(self) -> Owner:
        if self._owner is None:
            raise RuntimeError("a stream is used inside its block: `async with agent.stream(...) as stream:`")
        return self._owner

    def _put(self, event: Event) -> None:
        if self._is_over:  # a thread has outlived the run
            return
        self._is_over = event.__class__ is RunFinished
        self._events.append(event)
        waker = self._waker
        if waker is not None and not waker.done():
            waker.set_result(None)

    def _emit(self, event: Event) -> None:
        """An event of the application, which may come from the thread of a sync handler."""
        if threading.get_ident() == self._thread:
            self._put(event)
            return
        with contextlib.suppress(RuntimeError):  # the event loop is closed: the thread has outlived the run
            self._loop.call_soon_threadsafe(self._put, event)

    def _wake(self, _: Any = None) -> None:
        if self._waker is not None and not self._waker.done():
            self._waker.set_result(None)
