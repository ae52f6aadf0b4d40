"""An agent that can be run, as type checkers see it: what `app.agent()` gives, and the options of a run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypedDict, TypeVar, Unpack

from toolkit.context import Event
from toolkit.messages import Message, Part
from toolkit.models.protocol import ModelSettings
from toolkit.records import Run

__all__ = ["AgentProvider", "EventStream", "RunOptions", "RunnableAgent"]

T = TypeVar("T")


class RunOptions(TypedDict, total=False):
    """The keyword arguments of `run`, `run_sync` and `stream`."""

    tools: Sequence[Any]
    context: Any
    metadata: Mapping[str, Any] | None
    actor_id: str | None
    session_id: str | None
    messages: Sequence[Message]
    state: Mapping[str, Any] | None
    timeout: float | None
    values: Mapping[type, Any] | None
    model: Any
    settings: ModelSettings | None


class EventStream(Protocol[T]):
    """What `agent.stream(...)` gives inside its block."""

    @property
    def run(self) -> Run[T]: ...

    def __aiter__(self) -> AsyncIterator[Event]: ...


class RunnableAgent(Protocol[T]):
    """An agent bound to an application. What the arguments mean stands at `toolkit.Agent.run`."""

    async def run(
        self,
        prompt: str | Sequence[Part],
        *,
        tools: Sequence[Any] = (),
        context: Any = None,
        metadata: Mapping[str, Any] | None = None,
        actor_id: str | None = None,
        session_id: str | None = None,
        messages: Sequence[Message] = (),
        state: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        values: Mapping[type, Any] | None = None,
        model: Any = None,
        settings: ModelSettings | None = None,
    ) -> Run[T]: ...

    def run_sync(self, prompt: str | Sequence[Part], **options: Unpack[RunOptions]) -> Run[T]: ...

    def stream(
        self, prompt: str | Sequence[Part], **options: Unpack[RunOptions]
    ) -> AbstractAsyncContextManager[EventStream[T]]: ...


class AgentProvider(Protocol[T]):
    """A provider of agents: of `Agent` or a subclass, or of a function or generator that says so."""

    def __call__(self, *args: Any, **kwargs: Any) -> RunnableAgent[T]: ...

    @property
    def provider(self) -> Any: ...  # by which it is told from a class of agents
