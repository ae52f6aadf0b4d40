"""The loop of a run: ask the model, run the calls that it asks for, ask again, until it answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from toolkit import events
from toolkit.errors import LimitExceeded, ModelError, OutputError
from toolkit.messages import AssistantMessage, ToolCall, ToolDefinition, UserMessage
from toolkit.models.protocol import ModelRequest, ModelResponse
from toolkit.runs.asking import ask
from toolkit.runs.calls import perform_all, refuse_all
from toolkit.runs.output import REPAIR, Output
from toolkit.runs.reading import Course, read_call
from toolkit.runs.starting import renew_tools
from toolkit.runs.state import RunState
from toolkit.runs.unheeded import unheeded

__all__ = ["converse"]


async def converse(state: RunState) -> bool:
    """Runs turn after turn until the model answers. True when that answer is complete, False when a limit forced it.

    Raises:
        LimitExceeded, ModelError, HookError, OutputError, RunAborted: see docs/runs.md, how a run ends.
    """
    run, limits = state.run, state.limits
    while True:
        if limits.max_turns is not None and run.turns >= limits.max_turns:
            return await _end_at_limit(state, _exceeded("max_turns", limits.max_turns))
        response = await ask(state, state.request)
        if response.tool_calls and not state.tools.is_current(response.tool_calls):
            await renew_tools(state)
        calls = _take_in(state, response)
        if not calls:
            run.response = response.text
            if state.output is not None:
                run.output = await _read_output(state, state.output, response, is_last=False)
            if state.listener is not None:
                state.listener(events.TurnFinished(run.id, run.turns))
            return True
        limit = _crossed(state, len(calls))
        if limit is not None:
            refuse_all(state, calls, f"not run: {limit}")
        else:
            await perform_all(state, calls)
        if state.listener is not None:
            state.listener(events.TurnFinished(run.id, run.turns))
        if limit is not None:
            return await _end_at_limit(state, limit)


def _crossed(state: RunState, count: int) -> LimitExceeded | None:
    """The limit that these calls would cross."""
    limits = state.limits
    if limits.max_calls_per_turn is not None and count > limits.max_calls_per_turn:
        return _exceeded("max_calls_per_turn", limits.max_calls_per_turn)
    if limits.max_tool_calls is not None and len(state.run.calls) + count > limits.max_tool_calls:
        return _exceeded("max_tool_calls", limits.max_tool_calls)
    if limits.max_tokens is not None and state.run.usage.total_tokens > limits.max_tokens:
        return _exceeded("max_tokens", limits.max_tokens)
    return None


def _exceeded(limit: str, value: int) -> LimitExceeded:
    return LimitExceeded(f"the run reached its limit {limit}={value}", limit=limit, value=value)


async def _end_at_limit(state: RunState, limit: LimitExceeded) -> bool:
    """Raises the limit, or asks the model once more, without tools, for what it can say by now."""
    if state.limits.on_limit == "raise":
        raise limit
    response = await ask(state, _without_tools(state.request))
    state.add(AssistantMessage(response.text, (), response.reasoning, response.provider_data))
    run = state.run
    run.response = response.text
    if state.output is not None:
        run.output = await _read_output(state, state.output, response, is_last=True)
    if state.listener is not None:
        state.listener(events.TurnFinished(run.id, run.turns))
    return False


def _take_in(state: RunState, response: ModelResponse) -> list[Course]:
    """Puts the model's answer into the transcript, and reads the calls that it asks for."""
    if not response.tool_calls:
        state.add(AssistantMessage(response.text, (), response.reasoning, response.provider_data))
        if state.listener is not None:
            warning = unheeded(state.request, response, state.tools.entries)
            if warning is not None:
                state.listener(events.WarningRaised(state.run.id, warning))
        return []
    calls: list[Course] = []
    called: list[ToolCall] = []
    for call in response.tool_calls:
        course = read_call(state, call)
        calls.append(course)
        called.append(course.call)
    state.add(AssistantMessage(response.text, tuple(called), response.reasoning, response.provider_data))
    return calls


async def _read_output(state: RunState, output: Output, response: ModelResponse, is_last: bool) -> Any:
    """The typed value of an answer, for which a model that missed the type is asked once more.

    The text of that request says nothing of what the model wrote: its words must not come back as an instruction.
    """
    try:
        return output.read(response.text)
    except OutputError as error:
        if response.stop_reason == "refusal":
            raise OutputError(f"{error} (the model refused to answer)") from error
        if is_last or (state.limits.max_turns is not None and state.run.turns >= state.limits.max_turns):
            raise
        first = error
    state.add(UserMessage(REPAIR))
    if state.listener is not None:
        state.listener(events.TurnFinished(state.run.id, state.run.turns))
    try:
        repaired = await ask(state, _without_tools(state.request))
    except ModelError as error:
        raise first from error
    state.add(AssistantMessage(repaired.text, (), repaired.reasoning, repaired.provider_data))
    state.run.response = repaired.text
    return output.read(repaired.text)


def _without_tools(request: ModelRequest) -> ModelRequest:
    no_tools: Sequence[ToolDefinition] = ()
    settings = None if request.settings is None else replace(request.settings, tool_choice=None)
    return replace(request, tools=no_tools, tool_choice="none", settings=settings)
