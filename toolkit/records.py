"""What a run was: plain data, so that every layer above can name it."""

from __future__ import annotations

import copy
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

from msgspec import Struct

from toolkit.messages import DocumentPart, ImagePart, Message, Transcript, Usage

__all__ = ["CallRecord", "Invocation", "Outcome", "Run", "ToolResult", "Transcript", "Usage"]

T = TypeVar("T")
_MISSING: Any = object()
_NO_USAGE = Usage()
Outcome: TypeAlias = Literal["running", "completed", "partial", "cancelled", "failed"]


class ToolResult(Struct, frozen=True):
    """What came of one tool call.

    Attributes:
        value: What the handler returned, untouched; None for an error.
        content: The text for the model.
        is_error: True when `content` tells what went wrong.
        error: The exception, for the application only; never sent to a model.
        media: Images and documents in the value; the model gets them beside the text, where its provider takes them.
    """

    value: Any = None
    content: str = ""
    is_error: bool = False
    error: BaseException | None = None
    media: tuple[ImagePart | DocumentPart, ...] = ()

    def __repr__(self) -> str:
        return f"ToolResult(content={self.content!r}, is_error={self.is_error}, error={_class_of(self.error)})"


class CallRecord(Struct, frozen=True):
    """One tool call of a run.

    Attributes:
        arguments: Those the handler got (after `Modify`); as the model sent them, when they were refused.
        result: What the model was told; `result.value` is what the handler returned.
        duration: Seconds that the handler took; 0 when it did not run.
        error: What went wrong, for the application: also when an after-hook has replaced the result. Else None.
    """

    id: str
    name: str
    arguments: dict[str, Any] | str
    result: ToolResult
    duration: float = 0.0
    error: BaseException | None = None

    def __repr__(self) -> str:
        return (
            f"CallRecord(id={self.id!r}, name={self.name!r}, arguments={self.arguments!r}, result={self.result!r}, "
            f"duration={self.duration:.6f}, error={_class_of(self.error)})"
        )


def _fixed(name: str) -> property:
    """An attribute of an `Invocation`, which can be read."""

    def refuse(self: Invocation, value: Any = None) -> None:
        raise AttributeError(f"an Invocation is fixed once it is made; {name!r} can be given to Invocation(...)")

    return property(attrgetter(f"_{name}"), refuse, refuse)


class Invocation:
    """What the application hands to a run: who asks, and the values of the request. The model never sees it.

    It is fixed once it is made. No library writes it by itself (it is no Struct and no dataclass), so that `context`
    gets nowhere by being part of something else; a tool's result holds it without `context`.

    Attributes:
        actor_id: Who is asking. Tools decide permission by it, never by what the model says.
        context: The application's live objects: any object, `{}` when none was given. Never sent to a model, saved,
            logged or put in an event.
        metadata: Saved with the run and may be logged; never sent to a model.
        session_id: Recorded only.
    """

    __slots__ = ("_actor_id", "_context", "_metadata", "_session_id")
    __match_args__ = ("actor_id", "context", "metadata", "session_id")

    def __init__(
        self,
        actor_id: str | None = None,
        context: Any = _MISSING,
        metadata: dict[str, Any] | None = None,
        session_id: str | None = None,
    ) -> None:
        self._actor_id = actor_id
        self._context: Any = {} if context is _MISSING else context
        self._metadata: dict[str, Any] = {} if metadata is None else metadata
        self._session_id = session_id

    # Properties, and no `__setattr__` that refuses: that would have to be got round four times in each run.
    if TYPE_CHECKING:

        @property
        def actor_id(self) -> str | None: ...

        @property
        def context(self) -> Any: ...

        @property
        def metadata(self) -> dict[str, Any]: ...

        @property
        def session_id(self) -> str | None: ...

    else:
        actor_id: str | None = _fixed("actor_id")
        context: Any = _fixed("context")
        metadata: dict[str, Any] = _fixed("metadata")
        session_id: str | None = _fixed("session_id")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Invocation):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__match_args__)

    __hash__ = None  # type: ignore[assignment]  # it holds dicts

    def __copy__(self) -> Invocation:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Invocation:
        return Invocation(self.actor_id, self.context, copy.deepcopy(self.metadata, memo), self.session_id)

    def __reduce__(self) -> tuple[Any, ...]:
        return Invocation, (self.actor_id, {}, self.metadata, self.session_id)  # what is pickled is saved

    def __repr__(self) -> str:
        return f"Invocation(actor_id={self.actor_id!r}, metadata={self.metadata!r}, session_id={self.session_id!r})"


class Run(Generic[T]):
    """One execution of an agent, from a prompt to a response.

    Attributes:
        id: Unique for the process.
        response: The text of the answer; the text so far when the run ended early.
        messages: The whole transcript, the earlier messages first.
        calls: One record per tool call, in the order in which the model asked.
        usage: Tokens of all the model's answers together.
        turns: How often the model was asked.
        outcome: `completed`, `partial`, `cancelled` or `failed`; `running` until then.
        state: The working memory that tools and hooks share.
        invocation: What the application handed in.
    """

    __slots__ = (
        "_first_new",
        "_output",
        "calls",
        "id",
        "invocation",
        "messages",
        "outcome",
        "response",
        "state",
        "turns",
        "usage",
    )

    def __init__(
        self,
        id: str = "",
        messages: Transcript | None = None,
        state: dict[str, Any] | None = None,
        invocation: Invocation | None = None,
    ) -> None:
        self.id = id
        self.messages = Transcript() if messages is None else messages
        self._first_new = len(self.messages)
        self.state: dict[str, Any] = {} if state is None else state
        self.invocation = Invocation() if invocation is None else invocation
        self.response = ""
        self.calls: list[CallRecord] = []
        self.usage = _NO_USAGE
        self.turns = 0
        self.outcome: Outcome = "running"
        self._output: Any = _MISSING

    @property
    def output(self) -> T:
        """The value of the agent's `output_type`; without one, the response."""
        return self.response if self._output is _MISSING else self._output  # type: ignore[return-value]  # T is str then

    @output.setter
    def output(self, value: T) -> None:
        self._output = value

    @property
    def new_messages(self) -> list[Message]:
        """The messages of this run only, from its prompt on."""
        return self.messages[self._first_new :]

    def __repr__(self) -> str:
        return f"<Run {self.id} {self.outcome}: {self.turns} turns, {len(self.calls)} calls>"


def _class_of(error: BaseException | None) -> str:
    return "None" if error is None else f"<{type(error).__name__}>"
