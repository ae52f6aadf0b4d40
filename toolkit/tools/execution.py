"""One call of a handler, and `execute`: one call outside an agent."""

from __future__ import annotations

import asyncio
import functools
import inspect
import warnings
from collections.abc import Callable, Coroutine, Mapping
from time import perf_counter
from typing import Any, Protocol, cast

import msgspec

from toolkit.context import RequestedCall, RunContext
from toolkit.errors import CleanupError, ConfigurationError, DeadlineExceeded, ToolError, text_of_error
from toolkit.records import ToolResult
from toolkit.tools.cancellation import Cancellation, Expiry, wait_in_any_case
from toolkit.tools.copies import not_shared
from toolkit.tools.driving import begin, drive, settled
from toolkit.tools.kept_specifications import specify
from toolkit.tools.parameters import Parameter, label_of, value_of_type
from toolkit.tools.results import cut, error_result, failure_result, result_of, to_json
from toolkit.tools.specification import ToolSpecification
from toolkit.tools.threads import ThreadCall, in_thread
from toolkit.tools.validation import Validator
from toolkit.tools.violations import InvalidArguments, text_of

__all__ = ["DEFAULT_GRACE", "OutputMismatch", "call_handler", "candidates_text", "execute"]

DEFAULT_GRACE = 10.0
"""Seconds that a cancelled handler has to finish; a run uses its `Limits.close_timeout`."""


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


async def execute(
    tool: Any,
    arguments: dict[str, Any] | str | bytes | None = None,
    ctx: RunContext | None = None,
    *,
    values: Mapping[type, Any] | None = None,
) -> ToolResult:
    """Runs one call of any `ITool` outside an agent: validation, handler, timeout, output schema, normalising.

    No hooks are asked, and nothing is opened or closed.

    Args:
        tool: The tool, built.
        arguments: A dict, or JSON text as a model would send it.
        ctx: What `RunContext` parameters get; without it a blank one is made.
        values: For `Inject` parameters, by type: `{WeatherClient: client}`. They also fill a parameter of just such a
            type that is not marked, unless it is a builtin one.

    Returns:
        The result. What goes wrong with the call is an error result, and no exception.

    Raises:
        ConfigurationError: it is no tool, or an `Inject` parameter has no value.
    """
    if isinstance(tool, type):
        raise ConfigurationError(f"execute takes a tool that is built; {label_of(tool)} is a class: pass an instance")
    specification = specify(tool, values.keys() if values else frozenset())
    ctx = RunContext() if ctx is None else ctx
    injected = {
        parameter.name: value
        for parameter in specification.handler.injected
        if (value := _injected(parameter, values or {}, f"tool '{specification.name}'")) is not msgspec.UNSET
    }
    try:
        sent = specification.read(not_shared(arguments))
        converted = specification.convert(sent)
    except InvalidArguments as error:
        return _cut(error_result(str(error), error), specification)
    except Exception as error:  # noqa: BLE001 - a validator of the tool's own type: a failure of the tool
        return _cut(failure_result(specification.name, error), specification)
    call = RequestedCall("", specification.name, sent, specification.definition)
    cancellation = Cancellation(DEFAULT_GRACE, _warn)
    work = call_handler(specification, tool, converted, ctx.for_call(call), injected, cancellation)
    return _cut(await _in_own_task(work, cancellation, specification.name), specification)


async def _in_own_task(work: Coroutine[Any, Any, ToolResult], cancellation: Cancellation, name: str) -> ToolResult:
    """What `work` returns. In a task of its own, a cancellation of the caller can be told from any other."""
    task = asyncio.get_running_loop().create_task(work)
    cancellation.task = task
    cancelled: asyncio.CancelledError | None = None
    try:
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError as error:
            cancelled = error
            cancellation.request()
            await wait_in_any_case(task)
    finally:
        task.cancel()  # when this coroutine is thrown away half-way
    if cancelled is None:
        if task.cancelled():  # by the handler, which can reach its task
            return failure_result(name, asyncio.CancelledError())
        return task.result()
    if not task.cancelled():
        task.exception()  # read, so that nobody complains; the cancellation wins
    raise cancelled


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
    call.future.add_done_callback(_read)
    if goes_on is not None:
        goes_on(call.future)
    raise _Overdue("; the work may still be going on")


def _unless_cancelled(cancellation: Cancellation, handle: Callable[[], Any]) -> Any:
    """Calls the handler, in its thread, unless the run has ended since the thread was asked for."""
    if cancellation.is_requested:
        raise asyncio.CancelledError
    return handle()


def _read(future: asyncio.Future[Any]) -> None:
    """Nobody wants to know what became of it, and asyncio would complain of an error that nobody read."""
    if not future.cancelled():
        future.exception()


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
    _read(call.future)
    return True


def _check_output(validator: Validator, value: Any) -> None:
    if isinstance(value, ToolResult):
        if value.is_error:
            return
        value = value.value
    as_json = msgspec.json.decode(to_json(value))
    if not validator.is_valid(as_json):
        raise OutputMismatch(text_of(validator.violations(as_json)))


def _cut(result: ToolResult, specification: ToolSpecification) -> ToolResult:
    content = cut(result.content, specification.max_result_tokens)
    return result if content is result.content else msgspec.structs.replace(result, content=content)


def _warn(text: str) -> None:
    warnings.warn(text, RuntimeWarning, stacklevel=2)


def _injected(parameter: Parameter, values: Mapping[type, Any], owner: str) -> Any:
    found = value_of_type(parameter.annotation, values)
    if found is not msgspec.UNSET or not parameter.is_required:
        return found
    raise ConfigurationError(
        f"parameter '{parameter.name}' of {owner} is injected and has no value; "
        f"pass values={{{label_of(parameter.annotation)}: ...}}{candidates_text(values)}"
    )


def candidates_text(values: Mapping[type, Any]) -> str:
    """`"; given are A, B"`, or nothing when there are none."""
    return f"; given are {', '.join(label_of(kind) for kind in values)}" if values else ""
