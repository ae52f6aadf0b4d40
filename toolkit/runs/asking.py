"""Asking the model for one answer: the hooks around it, its pieces where somebody listens, and whether it is sound."""

from __future__ import annotations

import asyncio
import inspect
from types import NoneType
from typing import Any

from toolkit import events
from toolkit.errors import ConfigurationError, HookError, ModelError, escaped, text_of_error
from toolkit.messages import ToolCall, Usage
from toolkit.models.protocol import ModelDone, ModelRequest, ModelResponse, ReasoningDelta, TextDelta
from toolkit.records import Run
from toolkit.runs.model_hooks import tell_model_hooks
from toolkit.runs.state import RunState
from toolkit.tools.cancellation import Cancellation
from toolkit.tools.driving import begin, drive

__all__ = ["ask"]

_NO_USAGE = Usage()


async def ask(state: RunState, request: ModelRequest) -> ModelResponse:
    """One answer of the model, with the hooks around it; in pieces where somebody listens.

    Raises:
        ModelError: of what the model raised. A `ConfigurationError` stays one: the model says that the application has
            to be changed.
    """
    run, hooks = state.run, state.hooks
    model, cancellation = state.model, state.cancellation
    asked = run.messages if state.asked is None else state.asked
    was_changed = asked.is_changed
    stream: Any = None
    if state.listener is not None:
        state.listener(events.TurnStarted(run.id, run.turns + 1))
        stream = getattr(model, "stream", None)
    if hooks.before_model:
        telling = tell_model_hooks(hooks.before_model, state.ctx, request, cancellation)
        if telling is not None:
            await telling
        if asked.is_changed and not was_changed:
            raise HookError(f"a hook changed the messages of a request, {_READ_ONLY}")
    run.turns += 1
    try:
        asking: Any = model.respond(request) if stream is None else _in_pieces(state, stream(request))
        steps, response = begin(asking)
        if steps is not None:
            response = await drive(steps, response, cancellation, "the model")
    except (ModelError, ConfigurationError):
        if cancellation.is_requested:
            raise asyncio.CancelledError from None
        raise
    except (Exception, asyncio.CancelledError) as error:  # the border of the model
        raise _failure_of_model(error, cancellation) from error
    if cancellation.is_requested:
        raise asyncio.CancelledError
    if not _is_sound(response):
        response = _checked(response)
    if stream is None and state.listener is not None:
        _tell_whole(state, response)
    if asked.is_changed and not was_changed:
        raise ModelError(f"the model changed the messages of its request, {_READ_ONLY}")
    if response.usage != _NO_USAGE:
        _count(run, response.usage)
    if response.text:
        run.response = response.text
    if hooks.after_model:
        telling = tell_model_hooks(hooks.after_model, state.ctx, response, cancellation)
        if telling is not None:
            await telling
    answer: ModelResponse = response
    return answer


_READ_ONLY = "which are the run's own; copy the list to change it"


def _failure_of_model(error: BaseException, cancellation: Cancellation) -> BaseException:
    """What the run ends with when the model raised what is no error of a model."""
    if cancellation.is_requested or (isinstance(error, asyncio.CancelledError) and cancellation.is_real()):
        return asyncio.CancelledError()
    text = escaped(text_of_error(error))
    return ModelError(f"the model failed: {type(error).__name__}{': ' if text else ''}{text}")


def _checked(response: Any) -> ModelResponse:
    """The response. Raises `ModelError` for what is none: a model may give anything."""
    if not isinstance(response, ModelResponse):
        raise ModelError(f"the model gave {type(response).__name__}, and no ModelResponse")
    for member, kinds in _KINDS:
        value = getattr(response, member)
        if not isinstance(value, kinds):
            raise ModelError(f"the model gave a ModelResponse whose {member} is of type {type(value).__name__}")
    for call in response.tool_calls:
        given: Any = call
        if not isinstance(given, ToolCall):
            raise ModelError(f"the model gave a ModelResponse with a call of type {type(given).__name__}")
        name: Any = given.name
        id_: Any = given.id
        if not isinstance(name, str) or not (id_ is None or isinstance(id_, str)):
            raise ModelError("the model gave a call whose name or id is no text")
    return response


def _is_sound(response: Any) -> bool:
    """Whether a response is seen at once to be one, as most are, with no call of a function."""
    if (
        response.__class__ is not ModelResponse
        or response.text.__class__ is not str
        or response.reasoning.__class__ is not str
        or response.usage.__class__ is not Usage
        or response.provider_data.__class__ not in _DATA
        or response.tool_calls.__class__ not in _SEQUENCES
    ):
        return False
    for call in response.tool_calls:
        if call.__class__ is not ToolCall or call.name.__class__ is not str or call.id.__class__ is not str:
            return False
    return True


_DATA = (NoneType, dict)
_SEQUENCES = (tuple, list)
_KINDS: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("text", (str,)),
    ("reasoning", (str,)),
    ("tool_calls", (tuple, list)),
    ("usage", (Usage,)),
    ("provider_data", (dict, NoneType)),
)


def _count(run: Run[Any], usage: Usage) -> None:
    try:
        run.usage = run.usage + usage
    except TypeError:
        raise ModelError("the model gave a Usage whose tokens are no numbers") from None


async def _in_pieces(state: RunState, deltas: Any) -> ModelResponse:
    run, listener = state.run, state.listener
    assert listener is not None
    if inspect.isawaitable(deltas):  # `async def stream(...)` that returns an iterator
        deltas = await deltas
    text, before = "", run.response
    is_told = False
    try:
        async for delta in deltas:
            if isinstance(delta, TextDelta):
                is_told = True
                run.response = ""  # text that has one name grows where it is; else each piece would copy all before it
                text += delta.text
                run.response = text
                listener(events.TextDelta(run.id, delta.text))
            elif isinstance(delta, ReasoningDelta):
                is_told = True
                listener(events.ReasoningDelta(run.id, delta.text))
            elif isinstance(delta, ModelDone):
                if not is_told and isinstance(delta.response, ModelResponse):  # pyright: ignore[reportUnnecessaryIsInstance]
                    _tell_whole(state, delta.response)
                return delta.response
    finally:
        run.response = text or before  # also where a piece was no text
        close = getattr(deltas, "aclose", None)  # an async generator; another iterator need not have it
        if close is not None:
            await close()
    raise ModelError("the model's stream ended without ModelDone")


def _tell_whole(state: RunState, response: ModelResponse) -> None:
    assert state.listener is not None
    if response.reasoning:
        state.listener(events.ReasoningDelta(state.run.id, response.reasoning))
    if response.text:
        state.listener(events.TextDelta(state.run.id, response.text))
