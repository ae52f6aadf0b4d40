"""One call of a handler, and `execute`: one call outside an agent."""

from __future__ import annotations

import asyncio
import inspect
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from toolkit.context import RequestedCall, RunContext
from toolkit.errors import CleanupError, ConfigurationError, DeadlineExceeded, ToolError
from toolkit.records import ToolResult
from toolkit.tools.cancellation import Cancellation
from toolkit.tools.driving import drive
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
    cancellation = Cancellation(DEFAULT_GRACE, _warn)
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
    timeout = specification.timeout
    limit: asyncio.Timeout | None = None
    try:
        positional, keywords = specification.handler.bind(converted, ctx, injected)
        if timeout is None:
            value = await _value_of(specification, tool, positional, keywords, cancellation)
        else:
            async with asyncio.timeout(timeout) as limit:
                value = await _value_of(specification, tool, positional, keywords, cancellation)
        if cancellation.is_requested:
            raise asyncio.CancelledError
        if specification.output_validator is not None:
            _check_output(specification, value)
        return result_of(value)
    except ToolError as error:
        return error_result(str(error), error)
    except (DeadlineExceeded, CleanupError):
        raise
    except _ThreadTimeout as error:
        return _timeout_result(specification, error, "; the work may still be going on")
    except (asyncio.CancelledError, BaseExceptionGroup, Exception) as error:  # the border of the tool call
        if cancellation.is_requested:
            raise asyncio.CancelledError from error
        if limit is not None and limit.expired():
            return _timeout_result(specification, error, "")
        if isinstance(error, BaseExceptionGroup) and not _is_of_the_handler(error):
            raise
        return failure_result(specification.name, error)


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
    return await value if inspect.isawaitable(value) else value


class _ThreadTimeout(Exception):
    """A sync handler took longer than its tool's timeout."""


async def _value_of_thread(
    specification: ToolSpecification,
    handler: Callable[..., Any],
    positional: tuple[Any, ...],
    keywords: dict[str, Any],
    cancellation: Cancellation,
) -> Any:
    """A thread can't be stopped: a timeout leaves it alone, a cancellation waits for it for the grace."""
    future = in_thread(handler, *positional, **keywords)
    # `wait` leaves the future alone when it is cancelled itself.
    try:
        await asyncio.wait((future,), timeout=specification.timeout)
    except asyncio.CancelledError:
        await asyncio.wait((future,), timeout=cancellation.grace)
        if not future.done():
            cancellation.report(
                f"{specification.label} still runs in its thread, {cancellation.grace:g} s after it was cancelled"
            )
            future.cancel()
        elif not future.cancelled():
            future.exception()  # read, so that nobody complains; the cancellation wins
        raise
    if not future.done():
        future.cancel()
        cancellation.report(f"{specification.label} took longer than its timeout, and may still run in its thread")
        raise _ThreadTimeout
    return future.result()


def _check_output(specification: ToolSpecification, value: Any) -> None:
    validator = specification.output_validator
    assert validator is not None
    plain = value.value if isinstance(value, ToolResult) else value
    as_json = msgspec.json.decode(to_json(plain))
    if not validator.is_valid(as_json):
        raise OutputMismatch(text_of(validator.violations(as_json)))


def _timeout_result(specification: ToolSpecification, error: BaseException, remark: str) -> ToolResult:
    cause = TimeoutError(f"tool '{specification.name}' took longer than {specification.timeout:g} seconds")
    cause.__cause__ = error
    return error_result(f"{cause}{remark}", cause)


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
