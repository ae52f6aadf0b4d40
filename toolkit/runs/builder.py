"""Building what a run needs, always in its owner task: calls that run in tasks of their own ask it to."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from toolkit.tools.resolver import Recipe, RunScope

__all__ = ["Builder"]

_Job = tuple[Callable[..., Awaitable[Any]], tuple[Any, ...], "asyncio.Future[Any]"]


class Builder:
    """Builds each tool of a run once, when it is first needed.

    What is opened in a task has to be closed in it (anyio's cancel scopes insist on it), and two calls that need the
    same new connection must open it once. So while calls run in tasks of their own, their requests queue here, and the
    owner serves them one after another; at any other time only the owner runs, and builds at once.
    """

    def __init__(self, scope: RunScope) -> None:
        self._scope = scope
        self._built: dict[Recipe, Any] = {}
        self._is_serving = False
        self._jobs: deque[_Job] = deque()
        self._waker: asyncio.Future[None] | None = None

    async def build(self, recipe: Recipe) -> Any:
        """The object of a recipe; the same one for the whole run."""
        try:
            return self._built[recipe]
        except KeyError:
            pass
        return await (self._ask(self._build, recipe) if self._is_serving else self._build(recipe))

    async def build_for_call(self, recipes: Mapping[str, Recipe]) -> tuple[dict[str, Any], RunScope | None]:
        """Values of a handler's injected parameters, and the scope of those that live for the call only."""
        if not self._is_serving:
            return await self._scope.build_for_call(recipes)
        built: tuple[dict[str, Any], RunScope | None] = await self._ask(self._scope.build_for_call, recipes)
        return built

    async def close_call(
        self, scope: RunScope, error: BaseException | None, timeout: float | None
    ) -> list[BaseException]:
        """Closes the scope of a call."""
        if not self._is_serving:
            return await scope.close(error, timeout)
        failed: list[BaseException] = await self._ask(scope.close, error, timeout)
        return failed

    async def serve(self, tasks: Sequence[asyncio.Task[Any]]) -> None:
        """Serves the tasks' requests until all are done.

        When one fails, or the owner is cancelled, the others are cancelled and awaited before the error is raised.
        """
        for task in tasks:
            task.add_done_callback(self._wake)
        self._is_serving = True
        try:
            while not all(task.done() for task in tasks):
                while self._jobs:
                    await self._serve_one(self._jobs.popleft())
                if any(task.done() and (task.cancelled() or task.exception()) for task in tasks):
                    break
                if not self._jobs and not all(task.done() for task in tasks):
                    self._waker = asyncio.get_running_loop().create_future()
                    await self._waker
        finally:
            await _end(tasks)
            self._is_serving = False
            self._jobs.clear()
        for task in tasks:
            task.result()

    async def _build(self, recipe: Recipe) -> Any:
        if recipe not in self._built:  # it may have been built while this request was waiting
            self._built[recipe] = await self._scope.build(recipe)
        return self._built[recipe]

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
        except Exception as error:  # noqa: BLE001 - it belongs to the call that asked
            if not future.cancelled():
                future.set_exception(error)
        else:
            if not future.cancelled():
                future.set_result(made)

    def _wake(self, _: Any = None) -> None:
        if self._waker is not None and not self._waker.done():
            self._waker.set_result(None)


async def _end(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """Cancels what still runs, once, and waits for it; a handler that resists is bounded in its own task."""
    for task in tasks:
        if not task.done():
            task.cancel()
    while running := [task for task in tasks if not task.done()]:
        try:
            await asyncio.wait(running)
        except asyncio.CancelledError:  # a second one: the calls have been told, and are waited for all the same
            continue
