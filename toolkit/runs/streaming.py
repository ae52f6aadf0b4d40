"""`stream`: the same run, with its events as they happen."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Any, Generic, TypeVar

from toolkit.context import Event
from toolkit.records import Run
from toolkit.runs.owner import Owner

__all__ = ["RunStream"]

T = TypeVar("T")


class RunStream(Generic[T]):
    """The events of one run: `async with agent.stream(...) as stream: async for event in stream: ...`.

    `run` is the run, complete after the last event. What the run ends with is raised at the end of the iteration.
    Leaving the block early cancels the run and closes everything before the block ends. The run never waits for its
    reader: events queue up.
    """

    def __init__(self, start: Callable[[Callable[[Event], None]], Owner]) -> None:
        self._start = start
        self._owner: Owner | None = None
        self._events: deque[Event] = deque()
        self._waker: asyncio.Future[None] | None = None

    @property
    def run(self) -> Run[T]:
        """The run, as far as it has come."""
        return self._running().run

    async def __aenter__(self) -> RunStream[T]:
        self._owner = self._start(self._put)
        self._owner.start(self._wake)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._running().cancel()

    def __aiter__(self) -> AsyncIterator[Event]:
        return self._read()

    async def _read(self) -> AsyncIterator[Event]:
        owner = self._running()
        while not owner.is_done or self._events:
            while self._events:
                yield self._events.popleft()
            if not owner.is_done:
                self._waker = asyncio.get_running_loop().create_future()
                await self._waker
        await owner.finish()

    def _running(self) -> Owner:
        if self._owner is None:
            raise RuntimeError("a stream is used inside its block: `async with agent.stream(...) as stream:`")
        return self._owner

    def _put(self, event: Event) -> None:
        self._events.append(event)
        self._wake()

    def _wake(self, _: Any = None) -> None:
        if self._waker is not None and not self._waker.done():
            self._waker.set_result(None)
