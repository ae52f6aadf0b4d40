"""The owner of a run: one task that opens, builds, runs the loop and closes, whatever its caller does."""

from __future__ import annotations

import asyncio
import os
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from toolkit import events
from toolkit.context import Event, RunContext
from toolkit.errors import (
    CleanupError,
    ConfigurationError,
    DeadlineExceeded,
    LimitExceeded,
    RunAborted,
    RunError,
    repr_of,
)
from toolkit.messages import append_to
from toolkit.records import Invocation, Outcome, Run
from toolkit.runs.limits import Limits
from toolkit.runs.loop import converse
from toolkit.runs.starting import NO_LIMIT, begin_at_once, build_parts
from toolkit.runs.state import AgentParts, RunRequest, RunState, Warnings
from toolkit.runs.transcript import begin_transcript
from toolkit.tools.cancellation import Cancellation, leave_unheard, wait_in_any_case
from toolkit.tools.driving import next_turn
from toolkit.tools.resolver import Recipe, Resolver

__all__ = ["Owner"]

_DEFAULTS = Limits()


class Owner:
    """Runs one request. `start` makes its task, `finish` waits for it; the task alone opens and closes.

    Args:
        resolver: Where tools are found and built.
        agent: The agent, or the recipe of one that the container is asked for.
        request: What the caller asked for.
        listener: Gets the events, when somebody wants them.
        emit: Gets those of tools and hooks, from any thread.
    """

    _task: asyncio.Task[Run[Any]] | None = None
    _waiter: asyncio.Future[None] | None = None
    _is_closing = False
    _was_cancelled = False
    _is_late = False
    _notes: Sequence[str] = ()  # of what failed in closing, for a cancellation that the caller raises itself

    def __init__(
        self,
        resolver: Resolver,
        agent: AgentParts | Recipe,
        request: RunRequest,
        listener: Callable[[Event], None] | None = None,
        emit: Callable[[Event], None] | None = None,
    ) -> None:
        transcript, call_ids, mended = begin_transcript(request.history)
        id_ = os.urandom(8).hex()
        run: Run[Any] = Run(id_, transcript, request.state, request.invocation)
        if request.prompt is not None:
            append_to(transcript, request.prompt)
        ctx = RunContext(run, emit)
        self.run = run
        self._warnings = Warnings(id_, listener)
        self._state = RunState(run, ctx, listener, call_ids, self._warnings.add, resolver, request, _DEFAULTS)
        self._mended = mended
        self._agent = agent

    @property
    def failure(self) -> BaseException | None:
        """What the run ended with, once everything is closed; None after an answer, and after a cancellation."""
        task = self._task
        return task.exception() if task is not None and task.done() and not task.cancelled() else None

    @property
    def is_done(self) -> bool:
        """True once everything is closed."""
        return self._task is not None and self._task.done()

    def start(self) -> None:
        """Makes the owner task, with the context variables of the caller."""
        state = self._state
        state.cancellation = Cancellation(_DEFAULTS.close_timeout or NO_LIMIT, state.warn)
        loop = self._loop = asyncio.get_running_loop()
        self._task = state.cancellation.task = loop.create_task(self._main())

    def call_when_done(self, callback: Callable[[Any], None]) -> None:
        """Has it called once everything is closed, also where the task was cancelled before its first step."""
        assert self._task is not None
        self._task.add_done_callback(callback)

    async def finish(self) -> Run[Any]:
        """Waits for the run to be over and closed. Raises what it ended with.

        A cancellation of the caller cancels the run once, and still waits: everything is closed when it is raised.
        """
        task = self._task
        assert task is not None
        try:
            if not task.done():
                await next_turn()  # in it a run that waits for nothing is over
                if self.run.outcome == "failed":
                    # Not in the turn in which the run began: a thread that asks for work in this event loop, and then
                    # waits for it there (a TestClient), would be too late to get an error that is no `Exception`.
                    await next_turn()
            if not task.done():
                self._waiter = self._loop.create_future()
                await self._waiter
        except asyncio.CancelledError as cancelled:
            await self.cancel()
            for note in self._notes:
                cancelled.add_note(note)
            raise
        except GeneratorExit:  # the caller's coroutine is thrown away: nobody can wait
            self._request_cancellation()
            task.add_done_callback(leave_unheard)
            raise
        if self._warnings.texts:
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
            cancelled = None if task.done() else await wait_in_any_case(task)
            if cancelled is not None:
                raise cancelled
        finally:
            if task.cancelled() and self.run.outcome == "running":  # before its first step
                self.run.outcome = "cancelled"
            if task.done():
                leave_unheard(task)  # who leaves does not want what it ended with
            if self._warnings.texts:
                self._raise_warnings()

    def _request_cancellation(self) -> None:
        task = self._task
        if task is not None and not task.done() and not self._is_closing and not self._was_cancelled:
            self._was_cancelled = True
            self._state.cancellation.request()

    def _raise_warnings(self) -> None:
        """Tells Python's warnings. One may be an error here, and then nobody hears what the run ended with."""
        task = self._task
        assert task is not None
        leave_unheard(task)
        texts, self._warnings.texts = self._warnings.texts, []
        for text in texts:
            warnings.warn(text, RuntimeWarning, stacklevel=4)

    async def _main(self) -> Run[Any]:
        """The owner task: opens, builds, runs the loop and closes."""
        run, state = self.run, self._state
        error: BaseException | None = None
        outcome: Outcome = "completed"
        try:
            if state.listener is not None:
                state.listener(events.RunStarted(run.id))
            values: dict[type, Any] = {Invocation: run.invocation, Run: run, RunContext: state.ctx}
            if state.wanted.values:
                values.update(state.wanted.values)
            scope = state.resolver.open_run(values, _DEFAULTS.open_timeout)
            timeout = state.wanted.timeout
            deadline = None if timeout is None else self._loop.call_later(timeout, self._be_late)
            try:
                for text in self._mended:
                    state.warn(text)
                if not begin_at_once(state, self._agent, scope):
                    await build_parts(state, self._agent, scope)
                if not await converse(state):
                    outcome = "partial"
            except BaseException as raised:  # noqa: BLE001 - it is raised again, once everything is closed
                error = self._named(raised)
            self._is_closing = True
            if deadline is not None:
                deadline.cancel()
            if not scope.close_at_once():
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
        finally:
            if self._waiter is not None and not self._waiter.done():
                self._waiter.set_result(None)  # the task is over by the time that the caller wakes up

    def _be_late(self) -> None:
        self._is_late = True
        self._state.cancellation.request()

    def _named(self, error: BaseException) -> BaseException:
        """The error with the run on it. One of a run inside this one is wrapped, and keeps its own."""
        if isinstance(error, asyncio.CancelledError) and self._is_late and not self._was_cancelled:
            timeout = self._state.wanted.timeout
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
        self._notes = [f"also, while the run was closed: {repr_of(late)}" for late in real]
        for note in self._notes:
            error.add_note(note)
        return error

    def _failure(self, kind: type[RunError], text: str, failed: list[BaseException]) -> RunError:
        error = kind(f"{text}: {repr_of(failed[0])}", run=self.run)
        error.__cause__ = failed[0] if len(failed) == 1 else BaseExceptionGroup(text, failed)
        return error


def _outcome_of(error: BaseException) -> Outcome:
    if isinstance(error, (LimitExceeded, DeadlineExceeded)):
        return "partial"
    return "cancelled" if isinstance(error, (asyncio.CancelledError, RunAborted)) else "failed"
