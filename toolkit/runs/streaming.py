"""`stream`: the same run, with its events as they happen."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from types import TracebackType
from typing import Any, Generic, TypeVar

from msgspec import Struct

from toolkit.context import Event
from toolkit.errors import CleanupError
from toolkit.records import Run
from toolkit.runs.owner import Owner
from toolkit.runs.state import AgentParts, RunRequest
from toolkit.tools.driving import next_turn
from toolkit.tools.resolver import Recipe, Resolver

__all__ = ["RunStream"]

T = TypeVar("T")


class _Queue(Struct, eq=False):
    """The events of one run on their way to whoever reads them. The run does not know it, nor does it know the stream:
    all of them go at once when nobody needs them any more, without waiting for the garbage collector."""

    events: deque[Event]
    loop: asyncio.AbstractEventLoop
    thread: int
    waker: asyncio.Future[None] | None = None
    run: Run[Any] | None = None

    def put(self, event: Event) -> None:
        self.events.append(event)
        if self.waker is not None:
            self.wake()

    def emit(self, event: Event) -> None:
        """An event of the application, which may come from the thread of a sync handler."""
        if threading.get_ident() == self.thread:
            self._put_in_time(event)
            return
        with contextlib.suppress(RuntimeError):  # the event loop is closed: the thread has outlived the run
            self.loop.call_soon_threadsafe(self._put_in_time, event)

    def _put_in_time(self, event: Event) -> None:
        """Nothing comes after `RunFinished`, though a thread may have outlived the run."""
        if self.run is None or self.run.outcome == "running":
            self.put(event)

    def wake(self, _: Any = None) -> None:
        waker, self.waker = self.waker, None
        if waker is not None and not waker.done():
            waker.set_result(None)

    async def wait(self) -> None:
        """Until there is an event, or the run is over."""
        self.waker = self.loop.create_future()
        await self.waker


class RunStream(Generic[T]):
    """The events of one run: `async with agent.stream(...) as stream: async for event in stream: ...`.

    `run` is the run, complete after the last event. What the run ends with is raised at the end of the iteration.
    Leaving the block early cancels the run and closes everything before the block ends; of what the run ended with, it
    then raises a `CleanupError` only: an answer was there, and work such as a commit may be undone. The run never waits
    for its reader: events queue up.

    Example:
        >>> import asyncio
        >>> from toolkit import Agent
        >>> from toolkit.testing import ScriptedModel, says
        >>> async def main():
        ...     async with Agent(ScriptedModel([says("Hello")])).stream("Hi") as stream:
        ...         async for event in stream:
        ...             print(type(event).__name__)
        ...     print(stream.run.response)
        >>> asyncio.run(main())
        RunStarted
        TurnStarted
        TextDelta
        TurnFinished
        RunFinished
        Hello
    """

    # An iterator of its own, and no async generator: the event loop would close one that is left early in a task of
    # its own, after the block.

    _owner: Owner | None = None
    _queue: _Queue | None = None
    _is_read = False
    _was_awaited = False
    _will_be_woken = False
    _is_at_end = False

    def __init__(self, resolver: Resolver, agent: AgentParts | Recipe, request: RunRequest) -> None:
        self._wanted = resolver, agent, request
        self._events: deque[Event] = deque()

    @property
    def run(self) -> Run[T]:
        """The run, as far as it has come."""
        return self._running().run

    async def __aenter__(self) -> RunStream[T]:
        if self._owner is not None:
            raise RuntimeError("a stream is one run; call agent.stream(...) again for another")
        queue = self._queue = _Queue(self._events, asyncio.get_running_loop(), threading.get_ident())
        resolver, agent, request = self._wanted
        owner = self._owner = Owner(resolver, agent, request, queue.put, queue.emit)
        queue.run = owner.run
        owner.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._is_at_end:  # everything is closed, and has been told
            return
        owner = self._running()
        await owner.cancel()
        failure = owner.failure
        if isinstance(failure, CleanupError):  # the answer was there, and its work may be undone
            if error is None:
                raise failure
            error.add_note(f"also, when the stream was left: {failure}")

    def __aiter__(self) -> RunStream[T]:
        return self

    async def __anext__(self) -> Event:
        if not self._events:
            owner = await self._wait_for_events()
            if not self._events:
                await owner.finish()  # from here: its warnings name the code that reads
                self._is_at_end = True
                raise StopAsyncIteration
        return self._events.popleft()

    async def _wait_for_events(self) -> Owner:
        """Until there is an event, or the run is over and there is none left. Gives the owner of the run."""
        owner, queue = self._owner, self._queue
        if owner is None or queue is None:
            raise RuntimeError(_OUTSIDE)
        while not self._events and not owner.is_done:
            if self._is_read:
                raise RuntimeError("two tasks read one stream; let one read, and pass the events on")
            self._is_read = True
            try:
                if self._was_awaited:
                    await self._wait(owner, queue)
                else:
                    self._was_awaited = True
                    await next_turn()  # in it the run begins, and one that waits for nothing is over
                    if owner.run.outcome == "failed":
                        await next_turn()  # as in `Owner.finish`
            finally:
                self._is_read = False
        return owner

    async def _wait(self, owner: Owner, queue: _Queue) -> None:
        """Until there is an event, or the run is over."""
        if not self._will_be_woken:
            self._will_be_woken = True
            owner.call_when_done(queue.wake)
        await queue.wait()

    def _running(self) -> Owner:
        if self._owner is None:
            raise RuntimeError(_OUTSIDE)
        return self._owner


_OUTSIDE = "a stream is used inside its block: `async with agent.stream(...) as stream:`"
