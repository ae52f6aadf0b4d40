"""All that a tool or a hook may know of its run."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from toolkit import events
from toolkit.messages import ToolDefinition
from toolkit.records import CallRecord, Invocation, Run

__all__ = ["AgentInfo", "Event", "Invocation", "RequestedCall", "RunContext"]

Event: TypeAlias = (
    events.RunStarted
    | events.TurnStarted
    | events.TextDelta
    | events.ReasoningDelta
    | events.ToolCallStarted
    | events.ToolCallFinished[CallRecord]
    | events.TurnFinished
    | events.WarningRaised
    | events.CustomEvent
    | events.RunFinished[Run[Any]]
)


class AgentInfo(Struct, frozen=True):
    """The agent of a run, as plain data. `instructions` are those of this run, `definitions` the tools it offers.

    `needing_approval` are the names of those tools that have `needs_approval`, which no model is told.
    """

    name: str = "agent"
    instructions: str | None = None
    definitions: Sequence[ToolDefinition] = ()
    needing_approval: frozenset[str] = frozenset()


_NO_AGENT = AgentInfo()
_new = object.__new__


class RequestedCall(Struct, frozen=True):
    """The call that is under way. Changing `arguments` in place has no effect: return `Modify` from a before-hook.

    Attributes:
        arguments: JSON values, already valid for the tool's schema.
        tool: What the model was shown of the tool.
        revised: True when a before-hook is asked again because a `Modify` changed the arguments.
    """

    id: str
    name: str
    arguments: dict[str, Any]
    tool: ToolDefinition
    revised: bool = False


class RunContext:
    """What a run tells its tools and hooks. A parameter annotated `RunContext` is filled with it, in any position.

    Attributes:
        run: The run so far.
        agent: Name, instructions and tool definitions of its agent.
        invocation: What the application handed in: `actor_id`, `context`, `metadata`, `session_id`.
        call: The call under way, in a handler and in its hooks; else None.

    `RunContext[Deps]` is the same, for code that names the type of its `context` so.
    """

    __slots__ = ("_listener", "agent", "call", "invocation", "run")

    def __init__(
        self,
        run: Run[Any] | None = None,
        listener: Callable[[Event], None] | None = None,
        *,
        agent: AgentInfo | None = None,
        invocation: Invocation | None = None,
        call: RequestedCall | None = None,
        state: dict[str, Any] | None = None,
    ) -> None:
        if run is None:
            run = Run("", invocation=invocation, state=state)
        self.run = run
        self.agent = _NO_AGENT if agent is None else agent
        self.invocation = run.invocation if invocation is None else invocation
        self.call = call
        self._listener = listener

    def __class_getitem__(cls, kind: Any) -> types.GenericAlias:
        return types.GenericAlias(cls, kind)

    @property
    def context(self) -> Any:
        """The invocation's `context`: the application's live objects."""
        return self.invocation.context

    @property
    def state(self) -> dict[str, Any]:
        """The run's working memory, shared by its tools and hooks."""
        return self.run.state

    def for_call(self, call: RequestedCall) -> RunContext:
        """The same context with `call` filled in."""
        made = _new(RunContext)
        made.run = self.run
        made.agent = self.agent
        made.invocation = self.invocation
        made.call = call
        made._listener = self._listener
        return made

    def emit(self, event: events.CustomEvent) -> None:
        """Tells whoever streams the run. The event's `run_id` is filled in; without a listener nothing happens.

        A sync handler may call it from its thread.

        Raises:
            TypeError: it is no `CustomEvent`: the other events are the run's own.
        """
        if not isinstance(event, events.CustomEvent):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers err
            raise TypeError(f"emit takes a CustomEvent(name, data), not {type(event).__name__}")
        if self._listener is not None:
            self._listener(event if event.run_id else replace(event, run_id=self.run.id))

    def __repr__(self) -> str:
        return f"<RunContext of {self.run!r}>"
