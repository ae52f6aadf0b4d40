"""The owner of a run: one task that opens, builds, runs the loop and closes, whatever its caller does."""

from __future__ import annotations

import asyncio
import functools
import os
import warnings
from collections.abc import Callable
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from toolkit import events
from toolkit.context import AgentInfo, Event, RunContext
from toolkit.errors import (
    CleanupError,
    ConfigurationError,
    DeadlineExceeded,
    LimitExceeded,
    RunAborted,
    RunError,
    repr_of,
)
from toolkit.messages import Message, SystemMessage, Transcript, append_to
from toolkit.models.protocol import ModelRequest
from toolkit.records import Invocation, Outcome, Run
from toolkit.runs.builder import Builder
from toolkit.runs.hooks import agent_hooks
from toolkit.runs.limits import Limits
from toolkit.runs.loop import converse
from toolkit.runs.output import output_of
from toolkit.runs.state import AgentParts, RunRequest, RunState
from toolkit.runs.toolset import ToolSet, compile_tools
from toolkit.runs.transcript import begin_transcript
from toolkit.tools.cancellation import Cancellation
from toolkit.tools.driving import settled
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
        emit: Gets those of tools and hooks, from any thread.
    """

    def __init__(
        self,
        resolver: Resolver,
        agent: AgentParts | Recipe,
        request: RunRequest,
        listener: Callable[[Event], None] | None = None,
        emit: Callable[[Event], None] | None = None,
    ) -> None:
        transcript, call_ids, mended = begin_transcript(request.history)
        self.run: Run[Any] = Run(
            os.urandom(8).hex(), messages=transcript, state=request.state, invocation=request.invocation
        )
        ctx = RunContext(run=self.run, invocation=request.invocation, listener=emit)
        if request.prompt is not None:
            append_to(transcript, request.prompt)
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
        self._is_late = False

    @property
    def is_done(self) -> bool:
        """True once everything is closed."""
        return self._task is not None and self._task.done()

    def start(self, when_done: Callable[[Any], None] | None = None) -> None:
        """Makes the owner task, with the context variables of the caller."""
        state = self._state
        state.cancellation = Cancellation(_DEFAULTS.close_timeout or _NO_LIMIT, state.warn)
        self._task = state.cancellation.task = asyncio.create_task(self._main())
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
        except GeneratorExit:  # the caller's coroutine is thrown away: nobody can wait
            self._request_cancellation()
            task.add_done_callback(_read)
            raise
        if self._state.warnings:
            self._raise_warnings()
        return task.result()

    async def cancel(self) -> None:
        """Cancels the run, once, and waits until everything is closed.

        Raises:
            asyncio.CancelledError: the caller was cancelled meanwhile; it has waited all the same.
        """
        task = self._task
        assert task is not None
        self._request_cancellation()
        try:
            if not task.done():
                await _until_done_in_any_case(task)
        finally:
            if task.cancelled() and self.run.outcome == "running":  # before its first step
                self.run.outcome = "cancelled"
            if task.done():
                _read(task)  # who leaves does not want what it ended with, and asyncio would log its text
            if self._state.warnings:
                self._raise_warnings()

    def _request_cancellation(self) -> None:
        task = self._task
        if task is not None and not task.done() and not self._is_closing and not self._was_cancelled:
            self._was_cancelled = True
            self._state.cancellation.request()

    def _raise_warnings(self) -> None:
        """Tells Python's warnings; read first what the run ended with, since a warning may be an error here."""
        task = self._task
        assert task is not None
        _read(task)
        texts, self._state.warnings = self._state.warnings, []
        for text in texts:
            warnings.warn(text, RuntimeWarning, stacklevel=4)

    async def _main(self) -> Run[Any]:
        try:
            return await self._from_start_to_end()
        finally:
            if self._waiter is not None and not self._waiter.done():
                self._waiter.set_result(None)  # the task is over by the time that the caller wakes up

    async def _from_start_to_end(self) -> Run[Any]:
        run, state = self.run, self._state
        if state.listener is not None:
            state.listener(events.RunStarted(run.id))
        scope = self._resolver.open_run(self._values(), _DEFAULTS.open_timeout)
        timeout = self._request.timeout
        deadline = None if timeout is None else asyncio.get_running_loop().call_later(timeout, self._be_late)
        error: BaseException | None = None
        outcome: Outcome = "completed"
        try:
            if not await self._work(scope):
                outcome = "partial"
        except BaseException as raised:  # noqa: BLE001 - it is raised again, once everything is closed
            error = self._named(raised)
        self._is_closing = True
        if deadline is not None:
            deadline.cancel()
        failed = await scope.close(error, state.limits.close_timeout)
        if failed:
            error = self._with_failures(error, failed)
        run.outcome = outcome if error is None else _outcome_of(error)
        if not run.messages.is_changed:
            run.messages.seal(state.call_ids)
        if state.listener is not None:
            state.listener(events.RunFinished(run.id, run))
        if error is not None:
            raise error
        return run

    def _be_late(self) -> None:
        self._is_late = True
        self._state.cancellation.request()

    def _values(self) -> dict[type, Any]:
        state = self._state
        return {**self._request.values, Invocation: state.run.invocation, Run: state.run, RunContext: state.ctx}

    async def _work(self, scope: RunScope) -> bool:
        """Builds the agent and what belongs to it, and runs the loop."""
        state, request = self._state, self._request
        state.builder = Builder(scope, state.cancellation)
        for text in self._mended:
            state.warn(text)
        agent = await self._start_building(self._agent) if isinstance(self._agent, Recipe) else self._agent
        state.limits = agent.limits
        scope.open_timeout = agent.limits.open_timeout
        state.cancellation.grace = _NO_LIMIT if agent.limits.close_timeout is None else agent.limits.close_timeout
        state.output = output_of(agent.output_type)
        state.hooks = agent_hooks([await self._built(hook) for hook in agent.hooks] if agent.hooks else ())
        state.model = await self._model(agent)
        state.ctx.agent = AgentInfo(agent.name)
        state.tools = await self._tools(agent)
        state.renew_tools = functools.partial(self._renew_tools, agent)
        definitions = state.tools.definitions
        state.ctx.agent = AgentInfo(agent.name, None, definitions)
        messages: list[Message] = state.run.messages
        instructions = await self._instructions(agent) if agent.instructions else None
        if instructions:
            state.ctx.agent = AgentInfo(agent.name, instructions, definitions)
            messages = state.asked = Transcript((SystemMessage(instructions), *messages))
        settings = agent.settings if request.settings is None else request.settings.over(agent.settings)
        schema = None if state.output is None else state.output.shape.schema
        choice = None if settings is None else settings.tool_choice
        state.request = ModelRequest(messages, definitions, settings, schema, choice)
        return await converse(state)

    async def _renew_tools(self, agent: AgentParts) -> None:
        state = self._state
        state.tools = await self._tools(agent, anew=True)
        definitions = state.tools.definitions
        state.ctx.agent = replace(state.ctx.agent, definitions=definitions)
        state.request = replace(state.request, tools=definitions)

    async def _tools(self, agent: AgentParts, *, anew: bool = False) -> ToolSet:
        state, request = self._state, self._request
        return await compile_tools(
            (*agent.tools, *request.tools),
            self._resolver,
            frozenset(request.values),
            state.ctx,
            self._start_building,
            self._started,
            anew=anew,
        )

    async def _instructions(self, agent: AgentParts) -> str | None:
        made = agent.instructions
        if callable(made):
            made = await self._started("the instructions", lambda: agent.instructions(self._state.ctx))
        if made is None or isinstance(made, str):
            return made
        raise ConfigurationError(
            f"the instructions of agent '{agent.name}' are {type(made).__name__}; they are a text, or a function of "
            f"the RunContext that gives one"
        )

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
                raise ConfigurationError(f"{repr_of(model)} is no model: it has no `async def respond(request)`")
        return model

    async def _start_building(self, recipe: Recipe) -> Any:
        """Builds a part that the run can't start without."""
        try:
            made = await self._state.builder.build(recipe)
        except (Exception, asyncio.CancelledError) as error:
            raise self._failure_of_start(recipe.label, error) from error
        if self._state.cancellation.is_requested:  # what was built has swallowed it
            raise asyncio.CancelledError
        return made

    async def _started(self, what: str, make: Callable[[], Any]) -> Any:
        """What a function of the application gives, sync or async, that the run can't start without."""
        try:
            return await settled(make(), self._state.cancellation, what)
        except (Exception, asyncio.CancelledError) as error:
            raise self._failure_of_start(what, error) from error

    def _failure_of_start(self, what: str, error: BaseException) -> BaseException:
        cancellation = self._state.cancellation
        if cancellation.is_requested or (isinstance(error, asyncio.CancelledError) and cancellation.is_real()):
            return error if isinstance(error, asyncio.CancelledError) else asyncio.CancelledError()
        if isinstance(error, (ConfigurationError, RunError)):
            return error
        return RunError(f"the run could not start: {what} failed with {type(error).__name__}")

    def _named(self, error: BaseException) -> BaseException:
        """The error with the run on it. One of a run inside this one is wrapped, and keeps its own."""
        if isinstance(error, asyncio.CancelledError) and self._is_late and not self._was_cancelled:
            timeout = self._request.timeout
            late = DeadlineExceeded(f"the run took longer than {timeout:g} seconds", timeout=timeout)
            late.__cause__ = error
            error = late
        if isinstance(error, (RunError, ConfigurationError)) and error.run is not None and error.run is not self.run:
            outer = Exception.__new__(type(error))  # whatever a subclass takes
            outer.__dict__.update({name: value for name, value in error.__dict__.items() if name != "__notes__"})
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
        if error is None:
            return self._failure(CleanupError, "the run had its answer, and closing failed", failed)
        real = [late for late in failed if not isinstance(late, asyncio.CancelledError)]
        if isinstance(error, asyncio.CancelledError) and not self._was_cancelled and real:
            # Nobody cancelled the run but something that it opened: a task group whose background task failed.
            return self._failure(RunError, "something that the run had opened failed", real)
        for late in real:
            error.add_note(f"also, while the run was closed: {repr_of(late)}")
        return error

    def _failure(self, kind: type[RunError], text: str, failed: list[BaseException]) -> RunError:
        error = kind(f"{text}: {repr_of(failed[0])}", run=self.run)
        error.__cause__ = failed[0] if len(failed) == 1 else BaseExceptionGroup(text, failed)
        return error


def _outcome_of(error: BaseException) -> Outcome:
    if isinstance(error, (LimitExceeded, DeadlineExceeded)):
        return "partial"
    return "cancelled" if isinstance(error, (asyncio.CancelledError, RunAborted)) else "failed"


def _read(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()


async def _until_done_in_any_case(task: asyncio.Task[Any]) -> None:
    """Waits for a task, and raises the first cancellation that came meanwhile once it is done."""
    import anyio  # only a run that is cancelled needs it

    cancelled: asyncio.CancelledError | None = None
    with anyio.CancelScope(shield=True):  # an anyio cancellation would come again at every turn of the event loop
        while not task.done():
            try:
                await _until_done(task)
            except asyncio.CancelledError as error:
                cancelled = cancelled or error
    if cancelled is not None:
        raise cancelled


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
