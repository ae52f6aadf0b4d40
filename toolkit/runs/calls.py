"""The path of one tool call: find, read, guard, build, run, tell, cut; and several of them at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from time import perf_counter
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from toolkit.context import RequestedCall, RunContext
from toolkit.errors import CleanupError, ConfigurationError, ToolError
from toolkit.events import ToolCallFinished, ToolCallStarted
from toolkit.hooks import CallInfo
from toolkit.messages import ToolCall, ToolMessage
from toolkit.records import CallRecord, ToolResult
from toolkit.runs.hooks import Guarded, Hook, Verdict, ask_before, tell_after
from toolkit.runs.state import RunState
from toolkit.runs.toolset import ToolEntry
from toolkit.runs.transcript import is_object
from toolkit.tools.cancellation import Cancellation
from toolkit.tools.execution import call_handler
from toolkit.tools.results import cut, error_result, failure_result
from toolkit.tools.specification import MAX_RESULT_TOKENS
from toolkit.tools.violations import InvalidArguments

__all__ = ["ReadCall", "perform_all", "read_call", "refuse_all"]


class ReadCall(Struct, frozen=True):
    """A tool call that was looked up and read.

    Attributes:
        call: As the model sent it, with an id of its own.
        entry: Its tool; None when there is none.
        arguments: JSON values; as sent when they could not be read.
        converted: What the handler takes.
        refusal: The result when it can't run: unknown, or its arguments are wrong.
        is_malformed: The arguments are no JSON object.
    """

    call: ToolCall
    entry: ToolEntry | None
    arguments: dict[str, Any] | str
    converted: Any = None
    refusal: ToolResult | None = None
    is_malformed: bool = False


def read_call(state: RunState, call: ToolCall) -> ReadCall:
    """Finds the tool, and reads and validates the arguments. What goes wrong is a refusal."""
    entry = state.tools.entries.get(call.name)
    if entry is None:
        error = ToolError(state.tools.unknown(call.name))
        return ReadCall(
            call, None, call.arguments, None, error_result(str(error), error), not is_object(call.arguments)
        )
    try:
        arguments, converted = entry.specification.read(call.arguments)
    except InvalidArguments as error:
        return ReadCall(
            call, entry, call.arguments, None, error_result(str(error), error), not is_object(call.arguments)
        )
    except Exception as error:  # noqa: BLE001 - a validator of the tool's own type: a failure of the tool
        return ReadCall(call, entry, call.arguments, None, failure_result(call.name, error))
    return ReadCall(call, entry, arguments, converted)


def refuse_all(state: RunState, calls: Sequence[ReadCall], reason: str) -> None:
    """Gives every call a result that says why it did not run."""
    _record_all(state, calls, [None] * len(calls), reason)


async def perform_all(state: RunState, calls: Sequence[ReadCall]) -> None:
    """Runs the calls of one turn, concurrently where there are several, and records them in their order.

    Whatever ends it, every call has a record and a message afterwards.
    """
    if state.listener is not None:
        for read in calls:
            state.listener(ToolCallStarted(state.run.id, read.call))
    records: list[CallRecord | None] = [_refused(state, read) for read in calls]
    waiting = [place for place, record in enumerate(records) if record is None]
    try:
        if len(waiting) == 1:
            records[waiting[0]] = await _perform(state, calls[waiting[0]], state.cancellation)
        elif waiting:
            await _perform_concurrently(state, calls, waiting, records)
    finally:
        _record_all(state, calls, records, "the run ended before this call was done")


async def _perform_concurrently(
    state: RunState, calls: Sequence[ReadCall], waiting: list[int], records: list[CallRecord | None]
) -> None:
    limit = state.limits.max_concurrency
    places = asyncio.Semaphore(len(waiting) if limit is None else limit)

    async def perform(place: int) -> None:
        async with places:
            records[place] = await _perform(state, calls[place], Cancellation(state.cancellation.grace, state.warn))

    await state.builder.serve([asyncio.create_task(perform(place)) for place in waiting])


def _record_all(state: RunState, calls: Sequence[ReadCall], records: Sequence[CallRecord | None], reason: str) -> None:
    for read, record in zip(calls, records, strict=True):
        if record is None:
            record = _finished(state, read, error_result(reason, ToolError(reason)))
        state.run.calls.append(record)
        state.add(ToolMessage(read.call.id, read.call.name, record.result.content, record.result.is_error))


def _refused(state: RunState, read: ReadCall) -> CallRecord | None:
    return None if read.refusal is None else _finished(state, read, read.refusal)


async def _perform(state: RunState, read: ReadCall, cancellation: Cancellation) -> CallRecord:
    """One call whose arguments are valid.

    Args:
        cancellation: Of the task that this runs in.
    """
    entry = read.entry
    assert entry is not None  # else it was refused
    assert isinstance(read.arguments, dict)
    specification = entry.specification
    call = RequestedCall(read.call.id, specification.name, read.arguments, specification.definition)
    converted = read.converted
    skip: ToolResult | None = None
    if state.hooks.before_call or specification.has_before_hook or specification.needs_approval:
        verdict = await _verdict(state, entry, call, converted, cancellation)
        if verdict.result is not None:
            return _finished(state, read, verdict.result, verdict.arguments)
        if verdict.arguments is not call.arguments:
            call = replace(call, arguments=verdict.arguments, revised=True)
        converted, skip = verdict.converted, verdict.skip
    ctx = state.ctx.for_call(call)
    if skip is None:
        result, duration, tool = await _run_handler(state, entry, converted, ctx, cancellation)
    else:
        result, duration = skip, 0.0
        tool = await state.builder.build(entry.recipe) if specification.has_after_hook else None
    hooks = state.hooks.after_call
    if tool is not None and specification.has_after_hook:
        hooks = (tool.on_after_call, *hooks)
    if hooks:
        info = CallInfo(call, result, result.error, not result.is_error, duration)
        result = await tell_after(hooks, ctx, info, cancellation)
    return _finished(state, read, result, call.arguments, duration)


async def _verdict(
    state: RunState, entry: ToolEntry, call: RequestedCall, converted: Any, cancellation: Cancellation
) -> Verdict:
    async def own_hook() -> Hook:
        tool = await state.builder.build(entry.recipe)
        hook: Hook = tool.on_before_call
        return hook

    specification = entry.specification
    guarded = Guarded(
        call=call,
        converted=converted,
        ctx=state.ctx,
        hooks=state.hooks.before_call,
        own_hook=own_hook if specification.has_before_hook else None,
        convert=specification.converted,
        needs_approval=specification.needs_approval,
        cancellation=cancellation,
    )
    return await ask_before(guarded)


async def _run_handler(
    state: RunState, entry: ToolEntry, converted: Any, ctx: RunContext, cancellation: Cancellation
) -> tuple[ToolResult, float, Any]:
    """Builds the tool where that is still to do, and runs its handler. Gives the result, seconds, and the tool."""
    specification = entry.specification
    started = perf_counter()
    try:
        tool = await state.builder.build(entry.recipe)
        injected: dict[str, Any] = {}
        scope = None
        if entry.injections:
            injected, scope = await state.builder.build_for_call(entry.injections)
    except ConfigurationError:
        raise
    except (Exception, asyncio.CancelledError) as error:  # building belongs to the call, and so does its failure
        if cancellation.is_requested:
            raise asyncio.CancelledError from error
        return failure_result(specification.name, error), perf_counter() - started, None
    lock = state.exclusive_lock() if specification.exclusive else None
    if lock is not None:
        await lock.acquire()
    started = perf_counter()
    try:
        result = await call_handler(specification, tool, converted, ctx, injected, cancellation)
    except BaseException as error:
        if scope is not None:
            await _close_call(state, scope, error)
        raise
    finally:
        if lock is not None:
            lock.release()
    duration = perf_counter() - started
    if scope is not None:
        await _close_call(state, scope, result.error)
    return result, duration, tool


async def _close_call(state: RunState, scope: Any, error: BaseException | None) -> None:
    failed = await state.builder.close_call(scope, error, state.limits.close_timeout)
    if failed and error is None:
        raise CleanupError(f"closing after a tool call failed: {failed[0]!r}", run=state.run) from failed[0]
    for late in failed:
        if error is not None and late is not error:
            error.add_note(f"also, while the call was closed: {late!r}")


def _finished(
    state: RunState,
    read: ReadCall,
    result: ToolResult,
    arguments: dict[str, Any] | str | None = None,
    duration: float = 0.0,
) -> CallRecord:
    most = MAX_RESULT_TOKENS if read.entry is None else read.entry.specification.max_result_tokens
    content = cut(result.content, most)
    if content is not result.content:
        result = replace(result, content=content)
    arguments = read.arguments if arguments is None else arguments
    record = CallRecord(read.call.id, read.call.name, arguments, result, duration, result.error)
    if state.listener is not None:
        state.listener(ToolCallFinished(state.run.id, record))
    return record
