"""What a run tells the outside while it goes on. Each event has the `run_id`; none holds the invocation's context.

Two events carry what a higher module defines (`CallRecord` and `Run`), so they are generic; `toolkit.context` has
the alias `Event` in which both are filled in. `event_to_json` writes any of them for a browser.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Any, Generic, TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from toolkit.messages import ToolCall, sendable

__all__ = [
    "CustomEvent",
    "ReasoningDelta",
    "RunFinished",
    "RunStarted",
    "TextDelta",
    "ToolCallFinished",
    "ToolCallStarted",
    "TurnFinished",
    "TurnStarted",
    "WarningRaised",
    "event_to_json",
]

RecordT = TypeVar("RecordT")
RunT = TypeVar("RunT")


class RunStarted(Struct, frozen=True):
    """The first event."""

    run_id: str


class TurnStarted(Struct, frozen=True):
    """The model is asked. `turn` counts from 1."""

    run_id: str
    turn: int


class TextDelta(Struct, frozen=True):
    """A piece of the model's text."""

    run_id: str
    text: str


class ReasoningDelta(Struct, frozen=True):
    """A piece of the reasoning that the model shows."""

    run_id: str
    text: str


class ToolCallStarted(Struct, frozen=True):
    """A call begins. The starts of all calls of a turn come before the first end.

    `call` is that of the transcript: its arguments are an object, as JSON text from a provider, as a dict from a
    `ScriptedModel` that was given one. What the model sent and is no object stands as `{"malformed_arguments": "..."}`,
    and the name of an unknown tool without what providers refuse. `ToolCallFinished.record` has the same id, and the
    name and refused arguments as they were sent; arguments that were not refused are a dict there.
    """

    run_id: str
    call: ToolCall


class ToolCallFinished(Struct, Generic[RecordT], frozen=True):
    """A call has its result. Ends come as they happen; `Run.calls` is in the order of the calls."""

    run_id: str
    record: RecordT


class TurnFinished(Struct, frozen=True):
    """The model's answer and the results of its calls are in the transcript."""

    run_id: str
    turn: int


class WarningRaised(Struct, frozen=True):
    """Something that did not stop the run and should be looked at.

    What concerns a mended history, or work that goes on after the run, is raised as a Python warning as well; what a
    model answered is told here only.
    """

    run_id: str
    text: str


class CustomEvent(Struct, frozen=True):
    """An event of a tool or hook: `ctx.emit(CustomEvent("progress", {"done": 3}))`. The run fills in `run_id`."""

    name: str
    data: Any = None
    run_id: str = ""


class RunFinished(Struct, Generic[RunT], frozen=True):
    """The last event: everything is closed. `run` is complete."""

    run_id: str
    run: RunT


_AnyEvent: TypeAlias = (
    RunStarted
    | TurnStarted
    | TextDelta
    | ReasoningDelta
    | ToolCallStarted
    | ToolCallFinished[Any]
    | TurnFinished
    | WarningRaised
    | CustomEvent
    | RunFinished[Any]
)


def event_to_json(event: _AnyEvent) -> str:
    """The event as one line of JSON that a browser may see, for server-sent events, NDJSON or a WebSocket.

    An object with `type` (the class's name), `run_id` and the event's own members: `turn`; `text`; `call` (`id`,
    `name`, `arguments`); `record` (the same, and `content`, `is_error`, `duration` in seconds); `name` and `data`;
    `run` (`outcome`, `response`, `turns`, `usage`). Arguments are an object; in a `record` they are the text that was
    sent where that is none, and `{}` where a model gave objects that have no JSON. Nothing of the context is in it, no
    exception, and no `value` that a handler returned: `content` is what the model read. A run that fails ends with
    `RunFinished`, too: its `outcome` is `"failed"`.

    Raises:
        TypeError: the `data` of a `CustomEvent` can't be written as JSON; the text names the event and the type.
    """
    kind = "CustomEvent" if isinstance(event, CustomEvent) else type(event).__name__
    told = {"type": kind, "run_id": event.run_id, **_told(event)}
    try:
        return _written(told)
    except (TypeError, ValueError, RecursionError) as error:
        if isinstance(event, (ToolCallStarted, ToolCallFinished)):  # refused: an object in them, or they never end
            return _written(_without_arguments(told))
        what = f"CustomEvent '{event.name}'" if isinstance(event, CustomEvent) else kind
        raise TypeError(f"{what} can't be written as JSON: {error}; give it data of plain values") from error


def _written(told: dict[str, Any]) -> str:
    try:
        return msgspec.json.encode(told, enc_hook=_plain).decode()
    except UnicodeEncodeError:  # a model sent half of a character
        return msgspec.json.encode(sendable(msgspec.to_builtins(told, enc_hook=_plain))).decode()


def _told(event: _AnyEvent) -> dict[str, Any]:
    match event:
        case TurnStarted() | TurnFinished():
            return {"turn": event.turn}
        case TextDelta() | ReasoningDelta() | WarningRaised():
            return {"text": event.text}
        case ToolCallStarted():
            return {"call": _call(event.call)}
        case ToolCallFinished():
            record = event.record
            result = {"content": record.result.content, "is_error": record.result.is_error}
            return {"record": {**_call(record), **result, "duration": record.duration}}
        case CustomEvent():
            return {"name": event.name, "data": event.data}
        case RunFinished():
            run = event.run
            return {"run": {"outcome": run.outcome, "response": run.response, "turns": run.turns, "usage": run.usage}}
        case _:
            return {}


def _call(call: Any) -> dict[str, Any]:
    return {"id": call.id, "name": call.name, "arguments": _object_of(call.arguments)}


def _without_arguments(told: dict[str, Any]) -> dict[str, Any]:
    """What is told of a call, with `{}` for its arguments."""
    return {name: {**part, "arguments": {}} if isinstance(part, dict) else part for name, part in told.items()}


def _object_of(arguments: str | dict[str, Any]) -> str | dict[str, Any]:
    """The arguments as an object, or as they were sent where their text is none."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return msgspec.json.decode(arguments.strip() or "{}", type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return arguments


def _plain(value: Any) -> Any:
    """What msgspec does not write by itself: a path, a pydantic model. Never an exception or an `Invocation`."""
    if isinstance(value, PurePath):
        return str(value)
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return dump(mode="json")
    raise TypeError(f"it holds '{type(value).__name__}'")
