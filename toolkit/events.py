"""What a run tells the outside while it goes on. Each event has the `run_id`; none holds the invocation's context.

Two events carry what a higher module defines (`CallRecord` and `Run`), so they are generic; `toolkit.context` has
the alias `Event` in which both are filled in.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from msgspec import Struct

from toolkit.messages import ToolCall

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
    """A call begins. The starts of all calls of a turn come before the first end."""

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
