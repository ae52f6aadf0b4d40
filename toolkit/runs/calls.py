"""The path of one tool call: find, read, guard, build, run, tell, cut; and several of them at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from toolkit.context import Event, RequestedCall
from toolkit.errors import ToolError
from toolkit.events import ToolCallFinished, ToolCallStarted
from toolkit.hooks import CallInfo
from toolkit.messages import ToolCall, ToolMessage
from toolkit.records import CallRecord, ToolResult
from toolkit.runs.handling import (
    Course,
    NotBuilt,
    NotConverted,
    built_tool,
    converted,
    result_of_building,
    run_handler,
)
from toolkit.runs.hooks import Guarded, Hook, Verdict, ask_before, tell_after
from toolkit.runs.state import RunState
from toolkit.runs.toolset import ToolEntry
from toolkit.runs.transcript import with_harmless_name, with_object_arguments
from toolkit.tools.cancellation import Cancellation
from toolkit.tools.copies import copied_json, not_shared
from toolkit.tools.results import cut, error_result
from toolkit.tools.specification import MAX_RESULT_TOKENS
from toolkit.tools.violations import InvalidArguments

__all__ = ["ReadCall", "perform_all", "read_call", "refuse_all"]


class ReadCall(Struct, frozen=True):
    """A tool call that was looked up and read.

    Attributes:
        call: As it stands in the transcript: with an id of its own, a name that any provider takes, and arguments that
            are a JSON object.
        name: As the model sent it.
        entry: Its tool; None when there is none.
        arguments: JSON values, shared with nobody; as sent when they could not be read.
        refusal: The result when it can't run: unknown, or its arguments are wrong.
    """

    call: ToolCall
    name: str
    entry: ToolEntry | None
    arguments: dict[str, Any] | str
    refusal: ToolResult | None = None


def read_call(state: RunState, call: ToolCall) -> ReadCall:
    """Finds the tool, and reads and validates the arguments. What goes wrong is a refusal."""
    entry = state.tools.entries.get(call.name)
    raw: Any = call.arguments
    if entry is None:
        error = ToolError(state.tools.unknown(call.name))
        named = with_harmless_name(with_object_arguments(call))
        return ReadCall(named, call.name, None, raw, error_result(str(error), error))
    specification = entry.specification
    kind: type[Any] = raw.__class__
    try:
        arguments = specification.read(not_shared(raw) if kind is not str and issubclass(kind, dict) else raw)
    except InvalidArguments as error:
        return ReadCall(with_object_arguments(call), call.name, entry, raw, error_result(str(error), error))
    if kind is str and raw[:1] != "{":
        call = with_object_arguments(call)  # blank, or null
    return ReadCall(call, call.name, entry, arguments)


class _Turn(Struct, eq=False):
    """The calls of one turn, and what has become of each, by their place."""

    calls: Sequence[ReadCall]
    records: dict[int, CallRecord] = {}
    courses: dict[int, Course] = {}


def refuse_all(state: RunState, calls: Sequence[ReadCall], reason: str) -> None:
    """Gives every call a result that says why it did not run."""
    if state.listener is not None:
        _tell_starts(state.listener, state.run.id, calls)
    _record_all(state, _Turn(calls), reason)


async def perform_all(state: RunState, calls: Sequence[ReadCall]) -> None:
    """Runs the calls of one turn, concurrently where there are several, and records them in their order.

    Whatever ends it, every call has a record and a message afterwards.
    """
    if state.listener is not None:
        _tell_starts(state.listener, state.run.id, calls)
    turn = _Turn(calls)
    waiting: list[int] = []
    for place, read in enumerate(calls):
        if read.refusal is None:
            waiting.append(place)
        else:
            turn.records[place] = _finished(state, read, read.refusal, read.arguments)
    try:
        if len(waiting) == 1:
            await _perform(state, turn, waiting[0], state.cancellation)
        elif waiting:
            await _perform_concurrently(state, turn, waiting)
    finally:
        _record_all(state, turn, "not run: the run ended before")


def _tell_starts(listener: Callable[[Event], None], run_id: str, calls: Sequence[ReadCall]) -> None:
    for read in calls:
        listener(ToolCallStarted(run_id, read.call))


async def _perform_concurrently(state: RunState, turn: _Turn, waiting: list[int]) -> None:
    limit = state.limits.max_concurrency
    free = asyncio.Semaphore(len(waiting) if limit is None else limit)

    async def perform(place: int, cancellation: Cancellation) -> None:
        async with free:
            try:
                await _perform(state, turn, place, cancellation)
            except BaseException:
                state.cancellation.request_followers()  # before any of them is let in
                raise

    cancellations: list[Cancellation] = []
    for place in waiting:
        cancellation = Cancellation(state.cancellation.grace, state.warn)
        cancellation.task = asyncio.create_task(perform(place, cancellation))
        cancellations.append(cancellation)
    await state.builder.serve(cancellations)


def _record_all(state: RunState, turn: _Turn, reason: str) -> None:
    for place, read in enumerate(turn.calls):
        record = turn.records.get(place) or _record_of_ended(state, read, turn.courses.get(place), reason)
        state.run.calls.append(record)
        result = record.result
        state.add(ToolMessage(read.call.id, read.call.name, result.content, result.is_error, result.media))


def _record_of_ended(state: RunState, read: ReadCall, course: Course | None, reason: str) -> CallRecord:
    """The record of a call that the end of the run overtook. Whatever its handler has done stays done."""
    if course is None or not (course.has_begun or course.result):
        return _finished(state, read, error_result(reason, ToolError(reason)), read.arguments)
    if course.result is None:
        text = "the run ended while this call was running; whether it took effect is not known"
        return _finished(state, read, error_result(text, ToolError(text)), course.arguments, course.duration)
    return _finished(state, read, course.result, course.arguments, course.duration)


async def _perform(state: RunState, turn: _Turn, place: int, cancellation: Cancellation) -> None:
    """One call whose arguments are valid.

    Args:
        cancellation: Of the task that this runs in.
    """
    read = turn.calls[place]
    entry = read.entry
    assert entry is not None  # else it was refused
    arguments: Any = read.arguments  # a dict, for the same reason
    specification = entry.specification
    definition = specification.definition
    # A handler may change what its context shows, and nobody else may see that. Hooks are shown copies of their own.
    shown = copied_json(arguments) if specification.handler.contexts else arguments
    call = RequestedCall(read.call.id, definition.name, shown, definition)
    course = turn.courses[place] = Course(arguments)
    tool: Any = None
    try:
        skip = None
        if state.hooks.before_call or specification.has_before_hook or specification.needs_approval:
            verdict = await _verdict(state, entry, call, cancellation)
            if verdict.result is not None:
                turn.records[place] = _finished(state, read, verdict.result, verdict.arguments)
                return
            skip = verdict.skip
            if verdict.arguments is not shown:
                call = replace(call, arguments=verdict.arguments, revised=True)
                course.arguments = copied_json(verdict.arguments)
        if skip is None or specification.has_after_hook:
            tool = await built_tool(state, entry, cancellation)
        if skip is None:
            taken = converted(specification, course.arguments, call.revised)
            await run_handler(state, entry, tool, taken, call, course, cancellation)
        else:
            course.result = skip
    except NotConverted as refused:
        turn.records[place] = _finished(state, read, refused.result, course.arguments)
        return
    except NotBuilt as failure:
        course.result, tool = result_of_building(specification.name, failure.error), None
    assert course.result is not None
    result, error = course.result, course.result.error
    hooks = state.hooks.after_call
    if tool is not None and specification.has_after_hook:
        hooks = (tool.on_after_call, *hooks)
    if hooks:
        call = RequestedCall(call.id, call.name, course.arguments, call.tool, call.revised)  # the handler had others
        info = CallInfo(call, result, error, not result.is_error, course.duration)
        result = await tell_after(hooks, state.ctx, info, cancellation)
    turn.records[place] = _finished(state, read, result, course.arguments, course.duration, error)


async def _verdict(state: RunState, entry: ToolEntry, call: RequestedCall, cancellation: Cancellation) -> Verdict:
    async def own_hook() -> Hook:
        tool = await built_tool(state, entry, cancellation)
        hook: Hook = tool.on_before_call
        return hook

    specification = entry.specification
    guarded = Guarded(
        call=call,
        ctx=state.ctx,
        hooks=state.hooks.before_call,
        own_hook=own_hook if specification.has_before_hook else None,
        check=specification.check,
        needs_approval=specification.needs_approval,
        cancellation=cancellation,
    )
    return await ask_before(guarded)


def _finished(
    state: RunState,
    read: ReadCall,
    result: ToolResult,
    arguments: dict[str, Any] | str,
    duration: float = 0.0,
    error: BaseException | None = None,
) -> CallRecord:
    """The record of a call. `error` is what it went wrong with, when an after-hook has replaced the result."""
    most = MAX_RESULT_TOKENS if read.entry is None else read.entry.specification.max_result_tokens
    content = cut(result.content, most)
    if content is not result.content:
        result = replace(result, content=content)
    record = CallRecord(read.call.id, read.name, arguments, result, duration, result.error if error is None else error)
    if state.listener is not None:
        state.listener(ToolCallFinished(state.run.id, record))
    return record
