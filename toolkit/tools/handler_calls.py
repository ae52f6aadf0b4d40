"""One call of a handler, within its tool's timeout. What it gives or raises is a result, but for what ends the run."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any, Protocol, cast

import msgspec

from toolkit.context import RunContext
from toolkit.errors import CleanupError, DeadlineExceeded, ToolError, text_of_error
from toolkit.records import ToolResult
from toolkit.tools.cancellation import Cancellation, Expiry, leave_unheard, wait_in_any_case
from toolkit.tools.driving import begin, drive, settled
from toolkit.tools.results import error_result, failure_result, result_of, to_json
from toolkit.tools.specification import ToolSpecification
from toolkit.tools.threads import ThreadCall, in_thread
from toolkit.tools.validation import Validator
from toolkit.tools.violations import text_of

__all__ = ["OutputMismatch", "Progress", "call_handler"]

ThreadLeft = Callable[[asyncio.Future[Any]], None]


class Progress(Protocol):
    """What a call of a handler is noted on.

    Attributes:
        has_begun: The handler was called, or is just about to be.
        duration: Seconds that it took, once it is over.
    """

    has_begun: bool
    duration: float


class OutputMismatch(ValueError):
    """A handler returned a value that does not meet the tool's `output_schema`."""


async def call_handler(
    specification: ToolSpecification,
    tool: Any,
    converted: Any,
    ctx: RunContext,
    injected: Mapping[str, Any],
    cancellation: Cancellation,
    progress: Progress | None = None,
    goes_on: ThreadLeft | None = None,
) -> ToolResult:
    """Runs the handler within its timeout, checks its value, and normalises it. The result is not cut to size yet.

    Args:
        converted: What `ToolSpecification.convert` gave.
        injected: Values of the `Inject` parameters, by name.
        cancellation: Made when the run began in this task.
        progress: Told that the handler begins, and how long it took.
        goes_on: Told of a thread that outlives the timeout: a future that is done when the thread is.

    Raises:
        asyncio.CancelledError: the run is cancelled, also when the handler swallowed that.
        DeadlineExceeded, CleanupError: of a run inside the handler; they are never turned into results.
    """
    if cancellation.is_requested:
        raise asyncio.CancelledError
    if progress is not None:
        progress.has_begun = True
    started = perf_counter()
    try:
        positional, keywords = specification.handler.bind(converted, ctx, injected)
        timeout = specification.timeout
        if timeout is not None:
            handle = functools.partial(tool.handler, *positional, **keywords)
            value = await _value_in_time(specification, handle, cancellation, timeout, goes_on)
        else:
            if specification.run_in_thread and not specification.handler.is_async:
                handle = functools.partial(tool.handler, *positional, **keywords)
                value = await _value_of_thread(specification, handle, cancellation)
            else:
                value = tool.handler(*positional, **keywords)
            steps, value = begin(value)
            if steps is not None:
                value = await drive(steps, value, cancellation, specification.label)
        if cancellation.is_requested:
            raise asyncio.CancelledError
        if specification.output_validator is not None:
            _check_output(specification.output_validator, value)
        return result_of(value)
    except (asyncio.CancelledError, BaseExceptionGroup, Exception) as error:  # noqa: BLE001 - the border of the call
        return _result_of_failure(specification, error, cancellation)
    finally:
        if progress is not None:
            progress.duration = perf_counter() - started


def _result_of_failure(
    specification: ToolSpecification, error: BaseException, cancellation: Cancellation
) -> ToolResult:
    """What the model reads when a handler raised; raises what ends the run."""
    if isinstance(error, asyncio.CancelledError) and cancellation.is_real():
        raise error
    if cancellation.is_requested:  # whatever a cancelled handler makes of it
        raise asyncio.CancelledError from error
    through = _never_a_result(error)
    if through is error:
        raise error
    if through is not None:
        raise through from error
    if isinstance(error, _Overdue):
        cause = TimeoutError(f"{specification.label} took longer than {specification.timeout:g} seconds")
        cause.__cause__ = error.__cause__
        return error_result(f"{cause}{error.remark}", cause)
    if isinstance(error, ToolError):
        return error_result(text_of_error(error), error)
    return failure_result(specification.name, error)


def _never_a_result(error: BaseException) -> BaseException | None:
    """What has to reach the caller: the error itself, or one inside of it where it is a group; None for all others.

    That is a `DeadlineExceeded` or `CleanupError` of a run inside the handler (work that could not be committed must
    not look done), and whatever is no `Exception`: KeyboardInterrupt, SystemExit, a test's failure.
    """
    if isinstance(error, (DeadlineExceeded, CleanupError)):
        return error
    if not isinstance(error, BaseExceptionGroup):
        return None if isinstance(error, (Exception, asyncio.CancelledError)) else error
    group = cast("BaseExceptionGroup[BaseException]", error)
    inside = [found for member in group.exceptions if (found := _never_a_result(member)) is not None]
    if any(not isinstance(found, Exception) for found in inside):
        return group
    return inside[0] if inside else None


class _Overdue(Exception):
    """A handler took longer than its tool's timeout."""

    def __init__(self, remark: str = "") -> None:
        self.remark = remark


async def _value_in_time(
    specification: ToolSpecification,
    handle: Callable[[], Any],
    cancellation: Cancellation,
    timeout: float,
    goes_on: ThreadLeft | None,
) -> Any:
    """What a handler gives within its tool's timeout; late, it counts as late whatever it gives."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout
    if specification.run_in_thread and not specification.handler.is_async:
        value = await _value_of_thread(specification, handle, cancellation, goes_on)
    else:
        value = handle()
        if loop.time() > deadline and not inspect.isawaitable(value):  # it kept the loop, so nobody could interrupt it
            raise _Overdue
    if not inspect.isawaitable(value):
        return value
    expiry = Expiry(cancellation, deadline - loop.time())
    try:
        value = await settled(value, cancellation, specification.label)
    except BaseException as error:
        if expiry.stop() and isinstance(error, (asyncio.CancelledError, BaseExceptionGroup, Exception)):
            raise _Overdue from error
        raise
    if expiry.stop():
        raise _Overdue
    return value


async def _value_of_thread(
    specification: ToolSpecification,
    handle: Callable[[], Any],
    cancellation: Cancellation,
    goes_on: ThreadLeft | None = None,
) -> Any:
    """A thread can't be stopped: a timeout leaves it alone, a cancellation waits for it for the grace."""
    call = in_thread(_unless_cancelled, cancellation, handle)
    try:
        await asyncio.wait((call.future,), timeout=specification.timeout)  # which leaves it alone when cancelled
    except asyncio.CancelledError:
        if not await _ends_in_grace(call, cancellation.grace):
            cancellation.report(
                f"{specification.label} still runs in its thread, {cancellation.grace:g} s after it was cancelled"
            )
        raise
    if call.future.done():
        return call.future.result()
    if call.withdraw():
        raise _Overdue(", waiting for a free thread")
    call.future.add_done_callback(leave_unheard)
    if goes_on is not None:
        goes_on(call.future)
    raise _Overdue("; the work may still be going on")


def _unless_cancelled(cancellation: Cancellation, handle: Callable[[], Any]) -> Any:
    """Calls the handler, in its thread, unless the run has ended since the thread was asked for."""
    if cancellation.is_requested:
        raise asyncio.CancelledError
    return handle()


async def _ends_in_grace(call: ThreadCall, grace: float) -> bool:
    """Whether a thread ends within the grace, however often this task is cancelled meanwhile. Its result is dropped.

    Work that no thread has begun is withdrawn, and never begins.
    """
    if call.withdraw():
        return True
    await wait_in_any_case(call.future, grace)
    if not call.future.done():
        call.future.cancel()
        return False
    leave_unheard(call.future)
    return True


def _check_output(validator: Validator, value: Any) -> None:
    if isinstance(value, ToolResult):
        if value.is_error:
            return
        value = value.value
    as_json = msgspec.json.decode(to_json(value))
    if not validator.is_valid(as_json):
        raise OutputMismatch(text_of(validator.violations(as_json)))
