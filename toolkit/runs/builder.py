"""Building what a run needs, always in its owner task: calls that run in tasks of their own ask it to."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any

from msgspec import Struct

from toolkit.tools.cancellation import Cancellation
from toolkit.tools.resolver import Recipe, RunScope

__all__ = ["Builder"]

_Job = tuple[Callable[..., Awaitable[Any]], tuple[Any, ...], "asyncio.Future[Any]"]


class Builder(Struct, eq=False):
    """Builds each tool of a run once, when it is first needed.

    What is opened in a task has to be closed in it (anyio's cancel scopes insist on it), and two calls that need the
    same new connection must open it once. So while calls run in tasks of their own, their requests queue here, and the
    owner serves them one after another; at any other time only the owner runs, and builds at once.

    Attributes:
        built: What was built so far: one object of a recipe for the whole run.
    """

    _scope: RunScope
    _owner: Cancellation
    built: dict[Recipe, Any] = {}
    _is_serving: bool = False
    _running: int = 0
    _first_error: BaseException | None = None
    _jobs: list[_Job] = []  # few at a time: a deque costs more to make than it saves
    _waker: asyncio.Future[None] | None = None

    def build(self, recipe: Recipe) -> Coroutine[Any, Any, Any]:
        """Makes the object of a recipe that is not among the `built`; whoever awaits it puts it there."""
        return self._ask(self._build, recipe) if self._is_serving else self._scope.build(recipe)

    async def build_for_call(self, recipes: Mapping[str, Recipe]) -> tuple[dict[str, Any], RunScope | None]:
        """Values of a handler's injected parameters, and the scope of those that live for the call only.

        The latter are opened, and closed again, in the call's own task, in whose order anyio's cancel scopes are left.
        """
        if self._is_serving:
            await self._ask(self._scope.prepare_for_call, recipes)
        return await self._scope.build_for_call(recipes)

    async def serve(self, calls: Sequence[Cancellation]) -> None:
        """Serves the requests of the calls' tasks until all are done.

        When one fails, or the owner is cancelled, the others are cancelled and awaited before the error is raised: the
        one that came first.
        """
        self._running = len(calls)
        self._first_error = None
        for call in calls:
            call.task.add_done_callback(self._ended)
        self._is_serving = True
        self._owner.followers = calls
        try:
            while self._running and self._first_error is None:
                if self._jobs:
                    await self._serve_one(self._jobs.pop(0))
                else:
                    await self._sleep()
        finally:
            await self._end(calls)
        if self._first_error is not None:
            raise self._first_error

    async def _build(self, recipe: Recipe) -> Any:
        """For a call that asked."""
        if recipe not in self.built:  # it may have been built while this request was waiting
            self.built[recipe] = await self._scope.build(recipe)
        return self.built[recipe]

    async def _ask(self, work: Callable[..., Awaitable[Any]], *args: Any) -> Any:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._jobs.append((work, args, future))
        self._wake()
        return await future

    async def _serve_one(self, job: _Job) -> None:
        work, args, future = job
        if future.cancelled():
            return
        try:
            made = await work(*args)
        except (Exception, asyncio.CancelledError) as error:  # it belongs to the call that asked
            if isinstance(error, asyncio.CancelledError) and self._owner.is_real():
                raise
            if not future.cancelled():
                future.set_exception(error)
        else:
            if not future.cancelled():
                future.set_result(made)
        if self._owner.is_requested:  # what was built has swallowed it
            raise asyncio.CancelledError

    async def _end(self, calls: Sequence[Cancellation]) -> None:
        """Cancels the calls that still run, once, and waits for them; one that resists is bounded in its own task."""
        for call in calls:
            if not call.task.done():
                call.request()
        if self._running:
            await self._wait_for_calls()
        self._is_serving = False
        self._owner.followers = ()

    async def _wait_for_calls(self) -> None:
        import anyio  # only a run that is cancelled needs it

        with anyio.CancelScope(shield=True):  # an anyio cancellation would come again at every turn of the event loop
            while self._running:
                while self._jobs:
                    self._jobs.pop(0)[2].cancel()  # nothing is built any more
                # A second cancellation: the calls have been told, and are waited for all the same.
                with contextlib.suppress(asyncio.CancelledError):
                    await self._sleep()

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running -= 1
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error is not None and self._first_error is None:
            self._first_error = error
        self._wake()

    async def _sleep(self) -> None:
        """Until there is a request, or a call has ended."""
        if not self._jobs:
            self._waker = asyncio.get_running_loop().create_future()
            await self._waker

    def _wake(self) -> None:
        if self._waker is not None and not self._waker.done():
            self._waker.set_result(None)
