"""The owner of a run: one task that opens, builds, runs the loop and closes, whatever its caller does."""

from __future__ import annotations

import asyncio
import os
import warnings
from collections.abc import Callable
from typing import Any

from msgspec import UNSET

from toolkit import events
from toolkit.context import AgentInfo, Event, RunContext
from toolkit.errors import (
    CleanupError,
    ConfigurationError,
    DeadlineExceeded,
    LimitExceeded,
    RunAborted,
    RunError,
)
from toolkit.messages import Message, SystemMessage
from toolkit.models.protocol import ModelRequest
from toolkit.records import Invocation, Outcome, Run
from toolkit.runs.builder import Builder
from toolkit.runs.hooks import agent_hooks
from toolkit.runs.instructions import instructions_text
from toolkit.runs.limits import Limits
from toolkit.runs.loop import converse
from toolkit.runs.output import output_of
from toolkit.runs.state import AgentParts, RunRequest, RunState
from toolkit.runs.toolset import compile_tools
from toolkit.runs.transcript import begin_transcript
from toolkit.tools.cancellation import Cancellation
from toolkit.tools.resolver import Recipe, Resolver, RunScope

__all__ = ["Owner"]

_DEFAULTS = Limits()
_NO_LIMIT = float("inf")


class Owner:
    """Runs one request. `start` makes its task, `finish` waits for it; the task alone opens and closes.

    Args:
        resolver: Where tools are found and built.
        agent: The agent, or the recipe of one that each run builds.
        request: What the caller asked for.
        listener: Gets the events, when somebody wants them.
    """

    def __init__(
        self,
        resolver: Resolver,
        agent: AgentParts | Recipe,
        request: RunRequest,
        listener: Callable[[Event], None] | None = None,
    ) -> None:
        transcript, call_ids, mended = begin_transcript(request.history)
        self.run: Run[Any] = Run(
            os.urandom(8).hex(), messages=transcript, state=request.state, invocation=request.invocation
        )
        ctx = RunContext(run=self.run, invocation=request.invocation, listener=listener)
        self._state = RunState(self.run, ctx, listener, call_ids, [])
        self._state.limits = _DEFAULTS
        self._mended = mended
        self._resolver = resolver
        self._agent = agent
        self._request = request
        self._task: asyncio.Task[Run[Any]] | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._is_closing = False
        self._was_cancelled = False

    @property
    def is_done(self) -> bool:
        """True once everything is closed."""
        return self._task is not None and self._task.done()

    def start(self, when_done: Callable[[Any], None] | None = None) -> None:
        """Makes the owner task, with the context variables of the caller."""
        self._task = asyncio.create_task(self._main())
        if when_done is not None:
            self._task.add_done_callback(when_done)

    async def finish(self) -> Run[Any]:
        """Waits for the run to be over and closed. Raises what it ended with.

        A cancellation of the caller cancels the run once, and still waits: everything is closed when it is raised.
        """
        task = self._task
        assert task is not None
        try:
            if not task.done():
                self._waiter = asyncio.get_running_loop().create_future()
                await self._waiter
        except asyncio.CancelledError:
            await self.cancel()
            raise
        if self._state.warnings:
            self._raise_warnings()
        return task.result()

    async def cancel(self) -> None:
        """Cancels the run, once, and waits until everything is closed. Further cancellations of the caller wait too."""
        task = self._task
        assert task is not None
        if not task.done() and not self._is_closing and not self._was_cancelled:
            self._was_cancelled = True
            task.cancel()
        if not task.done():
            await _until_done_in_any_case(task)
        if not task.cancelled():
            task.exception()  # read, so that nobody complains: the cancellation wins
        elif self.run.outcome == "running":
            self.run.outcome = "cancelled"  # before its first step

    def _raise_warnings(self) -> None:
        for text in self._state.warnings:
            warnings.warn(text, RuntimeWarning, stacklevel=4)

    async def _main(self) -> Run[Any]:
        try:
            return await self._from_start_to_end()
        finally:
            if self._waiter is not None and not self._waiter.done():
                self._waiter.set_result(None)  # the task is over by the time that the caller wakes up

    async def _from_start_to_end(self) -> Run[Any]:
        run, state = self.run, self._state
        state.cancellation = Cancellation(_DEFAULTS.close_timeout or _NO_LIMIT, state.warn)
        if state.listener is not None:
            state.listener(events.RunStarted(run.id))
        scope = self._resolver.open_run(self._values(), _DEFAULTS.open_timeout)
        error: BaseException | None = None
        outcome: Outcome = "completed"
        try:
            if not await (self._work(scope) if self._request.timeout is None else self._within_deadline(scope)):
                outcome = "partial"
        except BaseException as raised:  # noqa: BLE001 - it is raised again, once everything is closed
            error = self._named(raised)
        self._is_closing = True
        failed = await scope.close(error, state.limits.close_timeout)
        if failed:
            error = self._with_failures(error, failed)
        run.outcome = outcome if error is None else _outcome_of(error)
        run.messages.seal(state.call_ids)
        if state.listener is not None:
            state.listener(events.RunFinished(run.id, run))
        if error is not None:
            raise error
        return run

    def _values(self) -> dict[type, Any]:
        state = self._state
        return {**self._request.values, Invocation: state.run.invocation, Run: state.run, RunContext: state.ctx}

    async def _within_deadline(self, scope: RunScope) -> bool:
        timeout = self._request.timeout
        limit = asyncio.timeout(timeout)
        try:
            async with limit:
                return await self._work(scope)
        except TimeoutError as error:
            if not limit.expired():
                raise
            text = f"the run took longer than {timeout:g} seconds"
            raise DeadlineExceeded(text, timeout=timeout) from error

    async def _work(self, scope: RunScope) -> bool:
        """Builds the agent and what belongs to it, and runs the loop."""
        state, request = self._state, self._request
        state.builder = Builder(scope)
        for text in self._mended:
            state.warn(text)
        if request.prompt is not None:
            state.run.messages.append(request.prompt)
        agent = await self._start_building(self._agent) if isinstance(self._agent, Recipe) else self._agent
        state.limits = agent.limits
        state.cancellation.grace = _NO_LIMIT if agent.limits.close_timeout is None else agent.limits.close_timeout
        state.output = output_of(agent.output_type)
        state.hooks = agent_hooks([await self._built(hook) for hook in agent.hooks] if agent.hooks else ())
        state.model = await self._model(agent)
        listed = (*agent.tools, *request.tools)
        value_types = frozenset(request.values)
        state.tools = await compile_tools(listed, self._resolver, value_types, state.ctx, self._start_building)
        state.ctx.agent = AgentInfo(agent.name, None, state.tools.definitions)
        instructions = await instructions_text(agent.instructions, state.ctx) if agent.instructions else None
        messages: list[Message] = state.run.messages
        if instructions:
            state.ctx.agent = AgentInfo(agent.name, instructions, state.tools.definitions)
            messages = state.asked = [SystemMessage(instructions), *messages]
        state.request = ModelRequest(
            messages,
            state.tools.definitions,
            agent.settings if request.settings is None else request.settings.over(agent.settings),
            None if state.output is None else state.output.shape.schema,
        )
        return await converse(state)

    async def _built(self, part: Any) -> Any:
        """A hook or model; one that is listed as a class, a name or a provider is built by the run."""
        recipe = self._resolver.tool(part, frozenset(self._request.values))
        return await self._start_building(recipe) if recipe.instance is UNSET else recipe.instance

    async def _model(self, agent: AgentParts) -> Any:
        model = agent.model if self._request.model is None else self._request.model
        if model is None:
            raise ConfigurationError(
                f"agent '{agent.name}' has no model; give it one: Agent(model=...) or run(model=...)"
            )
        if isinstance(model, type) or not hasattr(model, "respond"):
            model = await self._built(model)
            if not hasattr(model, "respond"):
                raise ConfigurationError(f"{model!r} is no model: it has no `async def respond(request)`")
        return model

    async def _start_building(self, recipe: Recipe) -> Any:
        """Builds a part that the run can't start without."""
        try:
            return await self._state.builder.build(recipe)
        except (ConfigurationError, RunError):
            raise
        except Exception as error:
            raise RunError(f"the run could not start: {recipe.label} failed with {type(error).__name__}") from error

    def _named(self, error: BaseException) -> BaseException:
        """The error with the run on it. One of a run inside this one is wrapped, and keeps its own."""
        if isinstance(error, RunError) and error.run is not None and error.run is not self.run:
            outer = type(error).__new__(type(error))
            outer.__dict__.update(error.__dict__)
            outer.args = error.args
            outer.__cause__ = error
            error = outer
        if isinstance(error, (RunError, ConfigurationError)):
            error.run = self.run
        return error

    def _with_failures(self, error: BaseException | None, failed: list[BaseException]) -> BaseException | None:
        """The error that the run ends with, given what went wrong in closing."""
        fatal = next((late for late in failed if not isinstance(late, (Exception, asyncio.CancelledError))), None)
        if fatal is not None and not isinstance(fatal, BaseExceptionGroup):
            return fatal
        real = [late for late in failed if not isinstance(late, asyncio.CancelledError)]
        if error is None:
            if real:
                return self._failure(CleanupError, "the run had its answer, and closing failed", real)
            return failed[0] if failed else None
        if isinstance(error, asyncio.CancelledError) and not self._was_cancelled and real:
            # Nobody cancelled the run but something that it opened: a task group whose background task failed.
            return self._failure(RunError, "something that the run had opened failed", real)
        for late in real:
            error.add_note(f"also, while the run was closed: {late!r}")
        return error

    def _failure(self, kind: type[RunError], text: str, failed: list[BaseException]) -> RunError:
        error = kind(f"{text}: {failed[0]!r}", run=self.run)
        error.__cause__ = failed[0] if len(failed) == 1 else BaseExceptionGroup(text, failed)
        return error


def _outcome_of(error: BaseException) -> Outcome:
    if isinstance(error, (LimitExceeded, DeadlineExceeded)):
        return "partial"
    return "cancelled" if isinstance(error, (asyncio.CancelledError, RunAborted)) else "failed"


async def _until_done_in_any_case(task: asyncio.Task[Any]) -> None:
    import anyio  # only a run that is cancelled needs it

    with anyio.CancelScope(shield=True):  # an anyio cancellation would come again at every turn of the event loop
        while not task.done():
            try:
                await _until_done(task)
            except asyncio.CancelledError:
                continue


async def _until_done(task: asyncio.Task[Any]) -> None:
    """Waits for a task without passing a cancellation on to it."""
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def tell(_: Any) -> None:
        if not done.done():
            done.set_result(None)

    task.add_done_callback(tell)
    try:
        await done
    finally:
        task.remove_done_callback(tell)
