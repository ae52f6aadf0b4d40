"""Within one call: building the tool, converting the arguments, and running the handler."""

from __future__ import annotations

import asyncio
from typing import Any

from toolkit.context import RequestedCall
from toolkit.errors import CleanupError, ConfigurationError, ToolError, repr_of, text_of_error
from toolkit.records import ToolResult
from toolkit.runs.guards import blocked, invalid_change
from toolkit.runs.reading import Course
from toolkit.runs.state import RunState
from toolkit.runs.toolset import ToolEntry
from toolkit.tools.cancellation import Cancellation
from toolkit.tools.copies import copied_json
from toolkit.tools.handler_calls import call_handler
from toolkit.tools.kept_specifications import check_instance
from toolkit.tools.resolver import RunScope
from toolkit.tools.results import error_result, failure_result
from toolkit.tools.specification import ToolSpecification
from toolkit.tools.violations import InvalidArguments

__all__ = [
    "NotBuilt",
    "NotConverted",
    "built_tool",
    "converted",
    "result_of_building",
    "run_among_others",
]


class NotConverted(Exception):
    """The handler's types refuse what the schema let pass."""

    def __init__(self, result: ToolResult) -> None:
        self.result = result


def converted(specification: ToolSpecification, arguments: dict[str, Any], revised: bool) -> Any:
    """What the handler takes, which shares nothing with the arguments: it may change what it gets.

    Arguments that a guard put in are told to nobody when they are refused.
    """
    if specification.handler.shape.convert is None:
        return copied_json(arguments)
    try:
        return specification.convert(arguments)
    except Exception as error:  # a validator of the tool's own type may raise anything: a failure of the tool
        if revised:
            raise NotConverted(blocked(invalid_change(specification.name))) from None
        if isinstance(error, InvalidArguments):
            raise NotConverted(error_result(str(error), error)) from error
        raise NotConverted(failure_result(specification.name, error)) from error


class NotBuilt(Exception):
    """What a call needs could not be built."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


def result_of_building(name: str, error: BaseException) -> ToolResult:
    """What the model reads when a call's tool could not be built: a `ToolError` says what, all else its class."""
    if isinstance(error, ToolError) and (text := text_of_error(error)):
        return error_result(text, error)
    return failure_result(name, error)


async def built_tool(state: RunState, entry: ToolEntry, cancellation: Cancellation) -> Any:
    """The tool. Its construction belongs to the call, and so does what that raises, but for a `ConfigurationError`."""
    recipe, builder = entry.recipe, state.builder
    if recipe in builder.built:
        return builder.built[recipe]
    try:
        tool = builder.built[recipe] = await builder.build(recipe)
    except ConfigurationError:
        raise
    except (Exception, asyncio.CancelledError) as error:
        raise _failure_of_building(error, cancellation) from error
    check_instance(entry.specification, tool)
    if cancellation.is_requested:  # what was built has swallowed it
        raise asyncio.CancelledError
    return tool


def _failure_of_building(error: BaseException, cancellation: Cancellation) -> BaseException:
    if cancellation.is_requested or (isinstance(error, asyncio.CancelledError) and cancellation.is_real()):
        return asyncio.CancelledError()
    return NotBuilt(error)


async def run_among_others(
    state: RunState,
    entry: ToolEntry,
    tool: Any,
    converted: Any,
    call: RequestedCall,
    course: Course,
    cancellation: Cancellation,
) -> None:
    """Runs a handler that is exclusive, or into which something is injected: that is opened before and closed after."""
    injected: dict[str, Any] = {}
    scope: RunScope | None = None
    if entry.injections:
        try:
            injected, scope = await state.builder.build_for_call(entry.injections)
        except ConfigurationError:
            raise
        except (Exception, asyncio.CancelledError) as error:
            raise _failure_of_building(error, cancellation) from error
    specification = entry.specification
    ctx = state.ctx.for_call(call)
    try:
        if not specification.exclusive:
            course.result = await call_handler(specification, tool, converted, ctx, injected, cancellation, course)
        else:
            exclusive = state.exclusive_calls()
            if await exclusive.enter(specification.timeout or state.limits.close_timeout):
                try:
                    course.result = await call_handler(
                        specification, tool, converted, ctx, injected, cancellation, course, exclusive.goes_on
                    )
                finally:
                    exclusive.leave()
            else:
                course.result = error_result(_OCCUPIED, ToolError(_OCCUPIED))
    except BaseException as error:
        state.cancellation.request_followers()  # the run ends: nothing starts while this is closed
        if scope is not None:
            await _close_call(state, scope, error, cancellation)
        raise
    if scope is not None:
        assert course.result is not None
        await _close_call(state, scope, course.result.error, cancellation)


_OCCUPIED = "not run: another exclusive call still goes on after its timeout"


async def _close_call(
    state: RunState, scope: RunScope, error: BaseException | None, cancellation: Cancellation
) -> None:
    """Closes what lived for a call, in its task; a cancellation of the run that comes meanwhile waits."""
    cancellation.is_held = True
    try:
        failed = await scope.close(error, state.limits.close_timeout)
    finally:
        cancellation.is_held = False
    if cancellation.is_requested and not isinstance(error, asyncio.CancelledError):
        error = asyncio.CancelledError()
        for late in failed:
            error.add_note(f"also, while a call was closed: {repr_of(late)}")
        raise error
    if failed and error is None:
        raise CleanupError(f"closing after a tool call failed: {repr_of(failed[0])}", run=state.run) from failed[0]
    for late in failed:
        if error is not None and late is not error:
            error.add_note(f"also, while the call was closed: {repr_of(late)}")
