"""What a model is to a run: it is asked with a request and gives a response, at once or in pieces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct
from msgspec.structs import asdict, force_setattr

from toolkit.messages import Message, ToolCall, ToolDefinition, Usage

__all__ = [
    "Model",
    "ModelDelta",
    "ModelDone",
    "ModelRequest",
    "ModelResponse",
    "ModelSettings",
    "ReasoningDelta",
    "StopReason",
    "TextDelta",
    "ToolCallDelta",
    "ToolChoice",
]

StopReason: TypeAlias = Literal["stop", "tool_calls", "length", "refusal", "other"]
ToolChoice: TypeAlias = str
"""`"auto"`, `"none"`, `"required"`, or the name of a tool."""


class ModelSettings(Struct, frozen=True):
    """Sampling and the like. None means that nothing is sent, so the provider's default holds; zero is kept.

    `extra` goes into the provider's request as it is; an object in it is joined with the request's own of that name,
    and `tools`, such as the provider's web search, come behind the run's own.
    """

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    tool_choice: ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    stop: Sequence[str] | None = None
    seed: int | None = None
    extra: dict[str, Any] | None = None

    def over(self, earlier: ModelSettings | None) -> ModelSettings:
        """These settings, with the earlier ones where these say nothing; `extra` is merged name by name."""
        if earlier is None:
            return self
        own = {name: value for name, value in asdict(self).items() if value is not None}
        if self.extra is not None and earlier.extra is not None:
            own["extra"] = {**earlier.extra, **self.extra}
        return ModelSettings(**{**asdict(earlier), **own})


class ModelRequest(Struct, frozen=True):
    """One question to a model.

    Attributes:
        messages: Instructions first (a `SystemMessage`), then the transcript. It is the run's own list, which grows
            after the answer: a model that keeps requests copies it, and whoever changes it ends the run with an error.
        tools: What the model may call. Their schemas are shared by all runs: a hook or model that changes one changes
            what later requests show, though not what arguments are checked by; copy what you change.
        settings: Sampling and the like, or None.
        output_schema: The JSON Schema that the answer has to meet, or None.
        tool_choice: See `ToolChoice`; None leaves it to the provider. It is that of the settings, but for the last
            request of a run that a limit has ended: `"none"`.
    """

    messages: Sequence[Message]
    tools: Sequence[ToolDefinition] = ()
    settings: ModelSettings | None = None
    output_schema: dict[str, Any] | None = None
    tool_choice: ToolChoice | None = None


class ModelResponse(Struct, frozen=True):
    """One answer of a model. `stop_reason` left out is `"tool_calls"` when there are any, else `"stop"`.

    None for `text`, `reasoning` or `tool_calls` is taken as nothing. `provider_data` becomes that of the
    `AssistantMessage`: what the provider wants back with the next request.
    """

    text: str = ""
    tool_calls: Sequence[ToolCall] = ()
    reasoning: str = ""
    stop_reason: StopReason | None = None
    usage: Usage = Usage()
    model: str = ""
    provider_data: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        text: Any = self.text
        reasoning: Any = self.reasoning
        tool_calls: Any = self.tool_calls
        if text is None or reasoning is None or tool_calls is None:  # as in a provider's JSON
            force_setattr(self, "text", text or "")
            force_setattr(self, "reasoning", reasoning or "")
            force_setattr(self, "tool_calls", tool_calls or ())
        if self.stop_reason is None:
            force_setattr(self, "stop_reason", "tool_calls" if self.tool_calls else "stop")


class TextDelta(Struct, frozen=True):
    """A piece of the text."""

    text: str


class ReasoningDelta(Struct, frozen=True):
    """A piece of the reasoning."""

    text: str


class ToolCallDelta(Struct, frozen=True):
    """A piece of a tool call. `index` tells the calls of one answer apart; id and name come once."""

    index: int
    id: str | None = None
    name: str | None = None
    arguments: str = ""


class ModelDone(Struct, frozen=True):
    """The end: `response` is what `respond` would have given."""

    response: ModelResponse


ModelDelta: TypeAlias = TextDelta | ReasoningDelta | ToolCallDelta | ModelDone


@runtime_checkable
class Model(Protocol):
    """Answers requests. A model may also have `stream(request)`, an async iterator of `ModelDelta`, `ModelDone` last.

    A model that can't answer raises `ModelError`; any other exception becomes one, with the exception as its cause.
    """

    async def respond(self, request: ModelRequest) -> ModelResponse: ...
