"""The path of one tool call that was read: guard, build, run, tell, cut; and several of them at once."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from toolkit.context import Event, RequestedCall
from toolkit.errors import ToolError
from toolkit.events import ToolCallFinished, ToolCallStarted
from toolkit.messages import ToolMessage
from toolkit.records import CallRecord, ToolResult
from toolkit.runs.after_hooks import tell_after
from toolkit.runs.guards import Guarded, Verdict, ask_before
from toolkit.runs.handling import (
    NotBuilt,
    NotConverted,
    built_tool,
    converted,
    result_of_building,
    run_among_others,
)
from toolkit.runs.hooks import Hook
from toolkit.runs.reading import Course
from toolkit.runs.state import RunState
from toolkit.runs.toolset import ToolEntry
from toolkit.tools.cancellation import Cancellation
from toolkit.tools.copies import copied_json
from toolkit.tools.handler_calls import call_handler
from toolkit.tools.protocol import MAX_RESULT_TOKENS
from toolkit.tools.results import cut, error_result

__all__ = ["perform_all", "refuse_all"]

_NOTHING: Mapping[str, Any] = {}


def refuse_all(state: RunState, calls: Sequence[Course], reason: str) -> None:
    """Gives every call a result that says why it did not run."""
    if state.listener is not None:
        _tell_starts(state.listener, state.run.id, calls)
    _record_all(state, calls, reason)


async def perform_all(state: RunState, calls: Sequence[Course]) -> None:
    """Runs the calls of one turn, concurrently where there are several, and records them in their order.

    Whatever ends it, every call has a record and a message afterwards.
    """
    if state.listener is not None:
        _tell_starts(state.listener, state.run.id, calls)
    waiting: list[Course] = []
    for course in calls:
        if course.refusal is None:
            waiting.append(course)
        else:
            course.record = _finished(state, course, course.refusal)
    try:
        if len(waiting) == 1:
            await _perform(state, waiting[0], state.cancellation)
        elif waiting:
            await _perform_concurrently(state, waiting)
    finally:
        _record_all(state, calls, "not run: the run ended before")


def _tell_starts(listener: Callable[[Event], None], run_id: str, calls: Sequence[Course]) -> None:
    for course in calls:
        listener(ToolCallStarted(run_id, course.call))


async def _perform_concurrently(state: RunState, waiting: list[Course]) -> None:
    limit = state.limits.max_concurrency
    free = asyncio.Semaphore(len(waiting) if limit is None else limit)

    async def perform(course: Course, cancellation: Cancellation) -> None:
        async with free:
            try:
                await _perform(state, course, cancellation)
            except BaseException:
                state.cancellation.request_followers()  # before any of them is let in
                raise

    loop = asyncio.get_running_loop()
    cancellations: list[Cancellation] = []
    for course in waiting:
        cancellation = Cancellation(state.cancellation.grace, state.warn)
        cancellation.task = loop.create_task(perform(course, cancellation))
        cancellations.append(cancellation)
    await state.builder.serve(cancellations)


def _record_all(state: RunState, calls: Sequence[Course], reason: str) -> None:
    records = state.run.calls
    for course in calls:
        record = course.record or _record_of_ended(state, course, reason)
        records.append(record)
        call, result = course.call, record.result
        state.add(ToolMessage(call.id, call.name, result.content, result.is_error, result.media))


def _record_of_ended(state: RunState, course: Course, reason: str) -> CallRecord:
    """The record of a call that the end of the run overtook. Whatever its handler has done stays done."""
    if course.result is not None:
        return _finished(state, course, course.result)
    if course.has_begun:
        reason = "the run ended while this call was running; whether it took effect is not known"
    return _finished(state, course, error_result(reason, ToolError(reason)))


async def _perform(state: RunState, course: Course, cancellation: Cancellation) -> None:
    """One call whose arguments are valid.

    Args:
        cancellation: Of the task that this runs in.
    """
    entry = course.entry
    assert entry is not None  # else it was refused
    arguments: Any = course.arguments  # a dict, for the same reason
    specification = entry.specification
    definition = specification.definition
    # A handler may change what its context shows, and nobody else may see that. Hooks are shown copies of their own.
    shown = copied_json(arguments) if specification.handler.contexts else arguments
    call = RequestedCall(course.call.id, definition.name, shown, definition)
    tool: Any = None
    try:
        skip = None
        if state.hooks.before_call or specification.has_before_hook or specification.needs_approval:
            verdict = await _verdict(state, entry, call, cancellation)
            if verdict.result is not None:
                course.arguments = verdict.arguments
                course.record = _finished(state, course, verdict.result)
                return
            skip = verdict.skip
            if verdict.arguments is not shown:
                call = replace(call, arguments=verdict.arguments, revised=True)
                course.arguments = copied_json(verdict.arguments)
        if skip is None or specification.has_after_hook:
            tool = await built_tool(state, entry, cancellation)
        if skip is None:
            taken = converted(specification, course.arguments, call.revised)
            if entry.injections or specification.exclusive:
                await run_among_others(state, entry, tool, taken, call, course, cancellation)
            else:
                ctx = state.ctx.for_call(call) if specification.handler.contexts else state.ctx  # which it never sees
                course.result = await call_handler(specification, tool, taken, ctx, _NOTHING, cancellation, course)
        else:
            course.result = skip
    except NotConverted as refused:
        course.record = _finished(state, course, refused.result)
        return
    except NotBuilt as failure:
        course.result, tool = result_of_building(specification.name, failure.error), None
    except BaseException:
        if not course.has_begun:
            course.arguments = arguments  # nothing has run with what a guard made of them
        raise
    assert course.result is not None
    result, error = course.result, course.result.error
    hooks = state.hooks.after_call
    if tool is not None and specification.has_after_hook:
        hooks = (tool.on_after_call, *hooks)
    if hooks:
        # `call` shows the handler's own arguments, which it may have changed.
        result = await tell_after(hooks, state.ctx, call, course.arguments, result, course.duration, cancellation)
    course.record = _finished(state, course, result, error)


def _verdict(state: RunState, entry: ToolEntry, call: RequestedCall, cancellation: Cancellation) -> Awaitable[Verdict]:
    specification = entry.specification
    own_hook = functools.partial(_own_hook, state, entry, cancellation) if specification.has_before_hook else None
    needs_approval = specification.needs_approval
    hooks = state.hooks.before_call
    return ask_before(Guarded(call, state.ctx, hooks, own_hook, specification.check, needs_approval, cancellation))


async def _own_hook(state: RunState, entry: ToolEntry, cancellation: Cancellation) -> Hook:
    tool = await built_tool(state, entry, cancellation)
    hook: Hook = tool.on_before_call
    return hook


def _finished(state: RunState, course: Course, result: ToolResult, error: BaseException | None = None) -> CallRecord:
    """The record of a call. `error` is what it went wrong with, when an after-hook has replaced the result."""
    entry = course.entry
    most = MAX_RESULT_TOKENS if entry is None else entry.specification.max_result_tokens
    if len(result.content) > most:  # a character is at least a byte, and a token is 4
        content = cut(result.content, most)
        if content is not result.content:
            result = replace(result, content=content)
    error = result.error if error is None else error
    record = CallRecord(course.call.id, course.name, course.arguments, result, course.duration, error)
    if state.listener is not None:
        state.listener(ToolCallFinished(state.run.id, record))
    return record
