"""`execute`: one call of a tool outside an agent."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Coroutine, Mapping
from typing import Any

import msgspec

from toolkit.context import RequestedCall, RunContext
from toolkit.errors import ConfigurationError
from toolkit.records import ToolResult
from toolkit.tools.cancellation import Cancellation, leave_unheard, wait_in_any_case
from toolkit.tools.copies import not_shared
from toolkit.tools.handler_calls import call_handler
from toolkit.tools.kept_specifications import specify
from toolkit.tools.parameters import Parameter, label_of, value_of_type
from toolkit.tools.results import cut, error_result, failure_result
from toolkit.tools.specification import ToolSpecification
from toolkit.tools.violations import InvalidArguments

__all__ = ["DEFAULT_GRACE", "execute"]

DEFAULT_GRACE = 10.0
"""Seconds that a cancelled handler has to finish; a run uses its `Limits.close_timeout`."""


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
        if (value := _injected(parameter, values or {}, specification.label)) is not msgspec.UNSET
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
    leave_unheard(task)  # the cancellation wins
    raise cancelled


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
        f"pass values={{{label_of(parameter.annotation)}: ...}}{_candidates_text(values)}"
    )


def _candidates_text(values: Mapping[type, Any]) -> str:
    """`"; given are A, B"`, or nothing when there are none."""
    return f"; given are {', '.join(label_of(kind) for kind in values)}" if values else ""
