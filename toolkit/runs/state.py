"""What the steps of one run share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from toolkit.context import Event, RunContext
from toolkit.events import WarningRaised
from toolkit.messages import Message, Transcript, append_to
from toolkit.models.protocol import Model, ModelRequest, ModelSettings
from toolkit.records import Invocation, Run
from toolkit.runs.builder import Builder
from toolkit.runs.exclusive import ExclusiveCalls
from toolkit.runs.hooks import AgentHooks
from toolkit.runs.limits import Limits
from toolkit.runs.output import Output
from toolkit.runs.toolset import ToolSet
from toolkit.tools.cancellation import Cancellation
from toolkit.tools.resolver import Resolver

__all__ = ["AgentParts", "RunRequest", "RunState", "Warnings"]


_LATER: Any = None
"""Stands in a `RunState` for what `runs/starting.py` sets, or the owner does, before anybody asks for it."""


class AgentParts(Protocol):
    """What a run takes from its agent."""

    model: Any
    tools: Sequence[Any]
    name: str
    instructions: Any
    limits: Limits
    hooks: Sequence[Any]
    output_type: Any
    settings: ModelSettings | None


class RunRequest(Struct, frozen=True):
    """What the caller of `run` asked for.

    Attributes:
        brings_parts: Something that an agent has, too, or that decides what its tools take.
    """

    prompt: Message | None
    tools: Sequence[Any]
    invocation: Invocation
    history: Sequence[Message]
    state: dict[str, Any]
    timeout: float | None
    values: Mapping[type, Any]
    model: Any
    settings: ModelSettings | None
    brings_parts: bool


class Warnings(Struct, eq=False):
    """What went wrong and did not stop the run. `texts` are raised as Python warnings once the run is over."""

    _run_id: str
    _listener: Callable[[Event], None] | None
    texts: list[str] = []

    def add(self, text: str) -> None:
        self.texts.append(text)
        if self._listener is not None:
            self._listener(WarningRaised(self._run_id, text))


class RunState(Struct, eq=False):
    """Everything that the loop and the calls of one run work with. The owner makes it, `runs/starting.py` fills it.

    Attributes:
        run: The run so far.
        ctx: The context of the run, without a call.
        listener: Gets the events; None when nobody listens, and then none is made.
        call_ids: Ids that are taken in the transcript.
        warn: Notes something that does not stop the run.
        resolver: Where parts are found.
        wanted: What the caller of the run asked for.
        limits: Those of the agent, once it is known.
        cancellation: Of the owner task.
        agent: The agent.
        builder: Builds its tools, when they are first needed.
        hooks: The agent's; those of a tool are in its specification.
        model: Who is asked: the agent's, or the one that the caller gave.
        output: How the answer is read where a type is wanted.
        request: What the model is asked with, turn after turn: its messages are the growing transcript.
        asked: Those messages, when they are not the transcript itself: instructions stand before it.
        tools: Those that the model is told of in this run.
    """

    run: Run[Any]
    ctx: RunContext
    listener: Callable[[Event], None] | None
    call_ids: set[str]
    warn: Callable[[str], None]
    resolver: Resolver
    wanted: RunRequest
    limits: Limits
    cancellation: Cancellation = _LATER
    agent: AgentParts = _LATER
    builder: Builder = _LATER
    hooks: AgentHooks = AgentHooks()
    model: Model = _LATER
    output: Output | None = None
    request: ModelRequest = _LATER
    asked: Transcript | None = None
    tools: ToolSet = _LATER
    _exclusive: ExclusiveCalls | None = None

    def exclusive_calls(self) -> ExclusiveCalls:
        """Those of this run, which wait for each other."""
        if self._exclusive is None:
            self._exclusive = ExclusiveCalls()
        return self._exclusive

    def add(self, message: Message) -> None:
        """Appends to the transcript, and to what the model is asked with where that is another list."""
        append_to(self.run.messages, message)
        if self.asked is not None:
            append_to(self.asked, message)
