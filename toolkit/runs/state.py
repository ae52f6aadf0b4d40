"""What the steps of one run share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from toolkit.context import Event, RunContext
from toolkit.events import WarningRaised
from toolkit.messages import Message, Transcript, append_to
from toolkit.models.protocol import Model, ModelRequest, ModelSettings
from toolkit.records import Invocation, Run
from toolkit.runs.builder import Builder
from toolkit.runs.hooks import AgentHooks
from toolkit.runs.limits import Limits
from toolkit.runs.output import Output
from toolkit.runs.toolset import ToolSet
from toolkit.tools.cancellation import Cancellation

__all__ = ["AgentParts", "RunRequest", "RunState"]


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
    """What the caller of `run` asked for."""

    prompt: Message | None
    tools: Sequence[Any]
    invocation: Invocation
    history: Sequence[Message]
    state: dict[str, Any]
    timeout: float | None
    values: Mapping[type, Any]
    model: Any
    settings: ModelSettings | None


class RunState:
    """Everything that the loop and the calls of one run work with. The owner fills it at the run's start.

    Attributes:
        run: The run so far.
        ctx: The context of the run, without a call.
        listener: Gets the events; None when nobody listens, and then none is made.
        cancellation: Of the owner task.
        call_ids: Ids that are taken in the transcript.
        warnings: Texts, raised as Python warnings once the run is over.
        request: What the model is asked with, turn after turn: its messages are the growing transcript.
        renew_tools: Describes the tools again, where one has changed since.
        asked: Those messages, when they are not the transcript itself: instructions stand before it.
    """

    __slots__ = (
        "_exclusive",
        "asked",
        "builder",
        "call_ids",
        "cancellation",
        "ctx",
        "hooks",
        "limits",
        "listener",
        "model",
        "output",
        "renew_tools",
        "request",
        "run",
        "tools",
        "warnings",
    )

    builder: Builder
    cancellation: Cancellation
    hooks: AgentHooks
    limits: Limits
    model: Model
    renew_tools: Callable[[], Awaitable[None]]
    output: Output | None
    request: ModelRequest
    tools: ToolSet

    def __init__(
        self,
        run: Run[Any],
        ctx: RunContext,
        listener: Callable[[Event], None] | None,
        call_ids: set[str],
        warnings: list[str],
    ) -> None:
        self.run = run
        self.ctx = ctx
        self.listener = listener
        self.call_ids = call_ids
        self.warnings = warnings
        self.asked: Transcript | None = None
        self._exclusive: asyncio.Lock | None = None

    def exclusive_lock(self) -> asyncio.Lock:
        """Held by the exclusive call that runs."""
        if self._exclusive is None:
            self._exclusive = asyncio.Lock()
        return self._exclusive

    def add(self, message: Message) -> None:
        """Appends to the transcript, and to what the model is asked with where that is another list."""
        append_to(self.run.messages, message)
        if self.asked is not None:
            append_to(self.asked, message)

    def warn(self, text: str) -> None:
        """Notes something that does not stop the run."""
        self.warnings.append(text)
        if self.listener is not None:
            self.listener(WarningRaised(self.run.id, text))
