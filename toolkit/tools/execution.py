"""One call of a handler, and `execute`: one call outside an agent."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import warnings
from collections.abc import Callable, Mapping
from typing import Any, cast

import msgspec

from toolkit.context import RequestedCall, RunContext
from toolkit.errors import CleanupError, ConfigurationError, DeadlineExceeded, ToolError
from toolkit.records import ToolResult
from toolkit.tools.cancellation import Cancellation, Expiry
from toolkit.tools.driving import drive, settled
from toolkit.tools.parameters import Parameter, label_of, value_of_type
from toolkit.tools.results import cut, error_result, failure_result, result_of, to_json
from toolkit.tools.specification import ToolSpecification, specify
from toolkit.tools.threads import in_thread
from toolkit.tools.violations import InvalidArguments, text_of

__all__ = ["DEFAULT_GRACE", "OutputMismatch", "call_handler", "candidates_text", "execute"]

DEFAULT_GRACE = 10.0
"""Seconds that a cancelled handler has to finish; a run uses its `Limits.close_timeout`."""


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
        values: For `Inject` parameters, by type: `{WeatherClient: client}`.

    Returns:
        The result. What goes wrong with the call is an error result, and no exception.

    Raises:
        ConfigurationError: it is no tool, or an `Inject` parameter has no value.
    """
    if isinstance(tool, type):
        raise ConfigurationError(f"execute takes a tool that is built; {label_of(tool)} is a class: pass an instance")
    specification = specify(tool)
    ctx = RunContext() if ctx is None else ctx
    injected = {
        parameter.name: value
        for parameter in specification.handler.injected
        if (value := _injected(parameter, values or {}, f"tool '{specification.name}'")) is not msgspec.UNSET
    }
    cancellation = Cancellation.of_current_task(DEFAULT_GRACE, _warn)
    try:
        sent, converted = specification.read(arguments)
    except InvalidArguments as error:
        return _cut(error_result(str(error), error), specification)
    except Exception as error:  # noqa: BLE001 - a validator of the tool's own type: a failure of the tool
        return _cut(failure_result(specification.name, error), specification)
    call = RequestedCall("", specification.name, sent, specification.definition)
    result = await call_handler(specification, tool, converted, ctx.for_call(call), injected, cancellation)
    return _cut(result, specification)


async def call_handler(
    specification: ToolSpecification,
    tool: Any,
    converted: Any,
    ctx: RunContext,
    injected: Mapping[str, Any],
    cancellation: Cancellation,
) -> ToolResult:
    """Runs the handler within its timeout, checks its value, and normalises it. The result is not cut to size yet.

    Args:
        converted: What `ToolSpecification.converted` gave.
        injected: Values of the `Inject` parameters, by name.
        cancellation: Made when the run began in this task.

    Raises:
        asyncio.CancelledError: the run is cancelled, also when the handler swallowed that.
        DeadlineExceeded, CleanupError: of a run inside the handler; they are never turned into results.
    """
    try:
        positional, keywords = specification.handler.bind(converted, ctx, injected)
        if specification.timeout is None or (specification.run_in_thread and not specification.handler.is_async):
            value = await _value_of(specification, tool, positional, keywords, cancellation)
        else:
            value = await _value_in_time(specification, tool, positional, keywords, cancellation)
        if cancellation.is_requested:
            raise asyncio.CancelledError
        if specification.output_validator is not None:
            _check_output(specification, value)
        return result_of(value)
    except (asyncio.CancelledError, BaseExceptionGroup, Exception) as error:  # noqa: BLE001 - the border of the call
        return _result_of_failure(specification, error, cancellation)


def _result_of_failure(
    specification: ToolSpecification, error: BaseException, cancellation: Cancellation
) -> ToolResult:
    """What the model reads when a handler raised; raises what ends the run."""
    if isinstance(error, asyncio.CancelledError) and cancellation.is_real():
        raise error
    if cancellation.is_requested:  # whatever a cancelled handler makes of it
        raise asyncio.CancelledError from error
    if isinstance(error, ToolError):
        return error_result(str(error), error)
    if isinstance(error, (DeadlineExceeded, CleanupError)):
        raise error
    if isinstance(error, _Overdue):
        cause = TimeoutError(f"{specification.label} took longer than {specification.timeout:g} seconds")
        cause.__cause__ = error.__cause__
        return error_result(f"{cause}{error.remark}", cause)
    if isinstance(error, BaseExceptionGroup) and not _is_of_the_handler(error):  # pyright: ignore[reportUnknownArgumentType]
        raise error
    return failure_result(specification.name, cast("BaseException", error))


class _Overdue(Exception):
    """A handler took longer than its tool's timeout."""

    def __init__(self, remark: str = "") -> None:
        self.remark = remark


async def _value_in_time(
    specification: ToolSpecification,
    tool: Any,
    positional: tuple[Any, ...],
    keywords: dict[str, Any],
    cancellation: Cancellation,
) -> Any:
    """What a handler on the event loop gives within its tool's timeout; late, it counts as late whatever it gives."""
    assert specification.timeout is not None
    expiry = Expiry(cancellation, specification.timeout)
    try:
        value = await _value_of(specification, tool, positional, keywords, cancellation)
    except BaseException as error:
        if expiry.stop() and isinstance(error, (asyncio.CancelledError, BaseExceptionGroup, Exception)):
            raise _Overdue from error
        raise
    if expiry.stop():
        raise _Overdue
    return value


async def _value_of(
    specification: ToolSpecification,
    tool: Any,
    positional: tuple[Any, ...],
    keywords: dict[str, Any],
    cancellation: Cancellation,
) -> Any:
    handler = tool.handler
    if specification.run_in_thread and not specification.handler.is_async:
        value = await _value_of_thread(specification, handler, positional, keywords, cancellation)
    else:
        value = handler(*positional, **keywords)
    if inspect.iscoroutine(value):
        return await drive(value, cancellation, specification.label)
    return await settled(value, cancellation, specification.label) if inspect.isawaitable(value) else value


async def _value_of_thread(
    specification: ToolSpecification,
    handler: Callable[..., Any],
    positional: tuple[Any, ...],
    keywords: dict[str, Any],
    cancellation: Cancellation,
) -> Any:
    """A thread can't be stopped: a timeout leaves it alone, a cancellation waits for it for the grace."""
    future = in_thread(handler, *positional, **keywords)
    try:
        await asyncio.wait((future,), timeout=specification.timeout)  # which leaves the future alone when cancelled
    except asyncio.CancelledError:
        if not await _ends_in_grace(future, cancellation.grace):
            cancellation.report(
                f"{specification.label} still runs in its thread, {cancellation.grace:g} s after it was cancelled"
            )
        raise
    if not future.done():
        future.cancel()
        raise _Overdue("; the work may still be going on")
    return future.result()


async def _ends_in_grace(future: asyncio.Future[Any], grace: float) -> bool:
    """Whether a thread ends within the grace, however often this task is cancelled meanwhile. Its result is dropped."""
    until = asyncio.get_running_loop().time() + grace
    while not future.done() and (left := until - asyncio.get_running_loop().time()) > 0:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait((future,), timeout=left)
    if not future.done():
        future.cancel()
        return False
    if not future.cancelled():
        future.exception()  # read, so that nobody complains
    return True


def _check_output(specification: ToolSpecification, value: Any) -> None:
    validator = specification.output_validator
    assert validator is not None
    plain = value.value if isinstance(value, ToolResult) else value
    as_json = msgspec.json.decode(to_json(plain))
    if not validator.is_valid(as_json):
        raise OutputMismatch(text_of(validator.violations(as_json)))


def _is_of_the_handler(group: BaseExceptionGroup[BaseException]) -> bool:
    """False when a group holds what must reach the top: KeyboardInterrupt, SystemExit, a test's failure."""
    return group.subgroup(lambda e: not isinstance(e, (Exception, asyncio.CancelledError, BaseExceptionGroup))) is None


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
