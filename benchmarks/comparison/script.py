"""What the model of every toolkit plays, and the proof that a run did the work.

An adapter's model calls `next_turn` once each time that it is asked, and puts the turn into its toolkit's own words.
Where a run stands lies in a context variable, so that any number of runs may be under way.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

PROMPT = "What is the weather?"
ANSWER = "It is sunny."
REPORT = "sunny, 21 degrees"
"""A part of every report of the weather; it must come back to the model."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that the model asks for; `text` is its arguments as JSON."""

    id: str
    name: str
    arguments: dict[str, Any]
    text: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply: calls, or the answer. `chunks` is the answer in the pieces that a streaming model gives."""

    calls: tuple[Call, ...] = ()
    text: str = ""
    chunks: tuple[str, ...] = ()


class Progress:
    """Where one run stands in its script, and what came of it. `has_memory` keeps what the model was sent last."""

    __slots__ = ("chunks", "has_memory", "position", "results", "tool_runs", "turns")

    def __init__(self, turns: Sequence[Turn], has_memory: bool = False) -> None:
        self.turns = turns
        self.position = 0
        self.tool_runs = 0
        self.chunks = 0
        self.has_memory = has_memory
        self.results = 0

    def fault(self, answer: object) -> str | None:
        """What the run left out; None when it did everything."""
        calls = sum(len(turn.calls) for turn in self.turns)
        if self.tool_runs != calls:
            return f"{self.tool_runs} tool runs, not {calls}"
        if self.position != len(self.turns):
            return f"{self.position} model calls, not {len(self.turns)}"
        if self.chunks < len(self.turns[-1].chunks):
            return f"{self.chunks} chunks, not {len(self.turns[-1].chunks)}"
        if ANSWER not in str(answer):
            return f"answered {answer!r}"
        return None


playing: ContextVar[Progress] = ContextVar("playing")


def next_turn(messages: object) -> Turn:
    """The next turn of the script, whatever the model was sent."""
    progress = playing.get()
    turn = progress.turns[progress.position]
    progress.position += 1
    if progress.has_memory and not turn.calls:
        progress.results = str(messages).count(REPORT)
    return turn


def is_remembered() -> bool:
    """Whether `next_turn` will look into the messages: only a check does, and some toolkits' texts leave parts out."""
    return playing.get().has_memory


def tool_ran() -> None:
    """Every tool says so when it runs."""
    playing.get().tool_runs += 1


def chunk_came() -> None:
    """Every piece of the answer is counted by whoever reads the stream."""
    playing.get().chunks += 1


def turns_of(counts: Sequence[int], name: str = "get_weather", arguments: dict[str, Any] | None = None) -> list[Turn]:
    """A turn for each count, of so many calls, and the answer: `[1, 1]` is two turns of one call each."""
    turns = []
    number = 0
    for count in counts:
        turns.append(Turn(tuple(_call(number + place, name, arguments) for place in range(count))))
        number += count
    return [*turns, Turn(text=ANSWER)]


def turn_of_each(names: Sequence[str]) -> list[Turn]:
    """One turn that calls each of these tools, and the answer."""
    return [Turn(tuple(_call(number, name, None) for number, name in enumerate(names))), Turn(text=ANSWER)]


def streamed(chunks: int) -> list[Turn]:
    """An answer in so many pieces, without a call."""
    pieces = (ANSWER, *[" word"] * (chunks - 1))
    return [Turn(text="".join(pieces), chunks=pieces)]


def _call(number: int, name: str, arguments: dict[str, Any] | None) -> Call:
    sent = {"city": f"City {number}", "units": "celsius"} if arguments is None else arguments
    return Call(f"call_{number}", name, sent, json.dumps(sent))
