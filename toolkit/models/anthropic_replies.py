"""What Anthropic's messages say: whole ones and streamed ones, read into `ModelResponse`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from typing import Any, cast

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from toolkit.messages import ToolCall, Usage
from toolkit.models.assembly import CallAssembly
from toolkit.models.complaints import read_complaint
from toolkit.models.endpoint import Endpoint
from toolkit.models.protocol import ModelDelta, ModelResponse, ReasoningDelta, StopReason, TextDelta

__all__ = ["PROVIDER", "StreamedReply", "as_object", "is_paused", "joined", "read_message", "text_block"]

PROVIDER = "anthropic"


class _Usage(Struct):
    class Details(Struct):
        thinking_tokens: int | None = None

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens_details: Details | None = None


class _Stop(Struct):
    """How an answer ended: what stands in a whole message, and in the `delta` of a `message_delta`."""

    stop_reason: str | None = None
    stop_details: dict[str, Any] | None = None
    container: dict[str, Any] | None = None


class _Message(_Stop):
    model: str | None = None
    content: list[msgspec.Raw] | None = None
    usage: _Usage | None = None
    error: Any = None


class _Block(Struct):
    type: str = ""
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = msgspec.Raw(b"{}")


class _Delta(_Stop):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    partial_json: str | None = None
    citation: dict[str, Any] | None = None


class _Event(Struct):
    type: str = ""
    index: int = 0
    message: _Message | None = None
    content_block: dict[str, Any] | None = None
    delta: _Delta | None = None
    usage: _Usage | None = None
    error: Any = None


_message = msgspec.json.Decoder(_Message)
_block = msgspec.json.Decoder(_Block)
_event = msgspec.json.Decoder(_Event)

_STOP_REASONS: dict[str, StopReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}


def read_message(content: bytes, endpoint: Endpoint) -> ModelResponse:
    """The answer that a body holds. Raises `ProviderError` when it holds none."""
    try:
        message = _message.decode(content)
        blocks, calls = _read_blocks(message.content or ())
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise endpoint.unexpected("sent a reply that is no message") from error
    if message.error is not None:
        raise endpoint.failure(read_complaint(content))
    if message.content is None:
        raise endpoint.unexpected("sent a message without content")
    return _response(blocks, calls, message, message.usage)


def as_object(value: object) -> dict[str, Any]:
    """The JSON object that a value is, or an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def text_block(text: str) -> dict[str, Any]:
    """A text as a block of a message, the same in both directions."""
    return {"type": "text", "text": text}


def _read_blocks(content: Iterable[msgspec.Raw]) -> tuple[list[dict[str, Any]], tuple[ToolCall, ...]]:
    """The blocks of a whole message, calls among them as places only, and the calls."""
    blocks: list[dict[str, Any]] = []
    calls: list[ToolCall] = []
    for raw in content:
        block = _block.decode(raw)
        if block.type != "tool_use":
            blocks.append(as_object(msgspec.json.decode(raw)))
            continue
        if block.name:
            calls.append(ToolCall(block.id or "", block.name, bytes(block.input).decode()))
        fields = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])  # its arguments stay as they were written
        blocks.append({name: msgspec.json.decode(value) for name, value in fields.items() if name != "input"})
    return blocks, tuple(calls)


def _response(
    blocks: Sequence[dict[str, Any]], calls: tuple[ToolCall, ...], message: _Message, usage: _Usage | None
) -> ModelResponse:
    reason = _STOP_REASONS.get(message.stop_reason or "", "other")
    if reason == "refusal":
        calls = ()  # begun before the refusal, and not to be acted on
    elif calls and reason in ("stop", "other"):
        reason = "tool_calls"
    return ModelResponse(
        "".join(str(block.get("text") or "") for block in blocks if block.get("type") == "text"),
        calls,
        "".join(str(block.get("thinking") or "") for block in blocks if block.get("type") == "thinking"),
        reason,
        _usage_of(usage or _Usage()),
        message.model or "",
        _provider_data(blocks, message),
    )


def _provider_data(blocks: Sequence[dict[str, Any]], message: _Message) -> dict[str, Any] | None:
    """What the API wants back: None where texts and calls say it all, and after a refusal, which is not to go back."""
    if message.stop_reason == "refusal":
        return {"provider": PROVIDER, "stop_details": message.stop_details} if message.stop_details else None
    is_going_on = message.stop_reason in ("pause_turn", "tool_use")
    done = {str(block.get("tool_use_id")) for block in blocks}
    kept = [_kept(block) for block in blocks if _is_complete(block, None if is_going_on else done)]
    data: dict[str, Any] = {"provider": PROVIDER, "content": kept}
    if message.stop_reason == "pause_turn":
        data["is_paused"] = True
    if message.container is not None:
        data["container"] = message.container.get("id")
    is_needed = any(block not in ({"type": "tool_use"}, text_block(block.get("text", ""))) for block in kept)
    return data if is_needed or len(data) > 2 else None


def _is_complete(block: dict[str, Any], done: set[str] | None) -> bool:
    """False for what an answer that was cut short left unfinished: it would be refused."""
    if block.get("type") == "thinking":
        return bool(block.get("signature"))
    return done is None or block.get("type") != "server_tool_use" or str(block.get("id")) in done


def _kept(block: dict[str, Any]) -> dict[str, Any]:
    if block.get("type") == "tool_use":
        left_out = {"id", "name", "input"}
        if as_object(block.get("caller")).get("type") == "direct":
            left_out.add("caller")
        return {name: value for name, value in block.items() if name not in left_out and value is not None}
    if block.get("type") == "text":
        citations = [_citation(as_object(citation)) for citation in _list_of(block, "citations")]
        return {**text_block(block.get("text") or ""), **({"citations": citations} if citations else {})}
    return block


def _citation(citation: dict[str, Any]) -> dict[str, Any]:
    """The citation as it may go back: the API sends a `file_id` and takes none."""
    return {name: value for name, value in citation.items() if name != "file_id"}


def _usage_of(usage: _Usage) -> Usage:
    cached = usage.cache_read_input_tokens or 0
    return Usage(
        input_tokens=(usage.input_tokens or 0) + cached + (usage.cache_creation_input_tokens or 0),
        output_tokens=usage.output_tokens or 0,
        cached_tokens=cached,
        reasoning_tokens=(usage.output_tokens_details and usage.output_tokens_details.thinking_tokens) or 0,
    )


def is_paused(response: ModelResponse) -> bool:
    """Whether the API wants its answer back to go on with it (`pause_turn`)."""
    return bool(response.provider_data and response.provider_data.get("is_paused")) and not response.tool_calls


def joined(paused: ModelResponse, later: ModelResponse) -> ModelResponse:
    """One answer of a paused one and what followed it."""
    data = later.provider_data
    if later.stop_reason != "refusal":
        said = [text_block(later.text)] if later.text else []
        data = data or {"provider": PROVIDER, "content": [*said, *({"type": "tool_use"} for _ in later.tool_calls)]}
        data = {**data, "content": [*(paused.provider_data or {})["content"], *data["content"]]}
    return replace(
        later,
        text=paused.text + later.text,
        reasoning=paused.reasoning + later.reasoning,
        usage=paused.usage + later.usage,
        provider_data=data,
    )


class _GrowingBlock:
    """A block that is not complete yet: how it began, and its pieces."""

    __slots__ = ("citations", "has_arguments", "pieces", "signature", "start", "type")

    def __init__(self, start: dict[str, Any]) -> None:
        self.start = start
        self.type = _word_of(start, "type")
        self.pieces: list[str] = []
        self.citations = [*_list_of(start, "citations")]
        self.signature = ""
        self.has_arguments = False

    def add(self, delta: _Delta) -> str:
        """Takes in a piece. Gives its text, of a block of text or thinking."""
        self.signature = delta.signature or self.signature
        if delta.citation is not None:
            self.citations.append(delta.citation)
        piece = delta.text if self.type == "text" else delta.thinking if self.type == "thinking" else delta.partial_json
        if piece:
            self.pieces.append(piece)
        return piece or ""

    def whole(self) -> dict[str, Any]:
        block = dict(self.start)
        said = "".join(self.pieces)
        if self.type in ("text", "thinking"):
            block[self.type] = _word_of(block, self.type) + said
        elif said:
            with contextlib.suppress(msgspec.DecodeError):  # of an answer that was cut short
                block["input"] = msgspec.json.decode(said)
        if self.signature:
            block["signature"] = self.signature
        if self.citations:
            block["citations"] = self.citations
        return block


class StreamedReply:
    """An answer in pieces. It is whole at its `stop_reason`, or at `message_stop`."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._message = _Message()
        self._usage = _Usage()
        self._blocks: dict[int, _GrowingBlock] = {}
        self._calls = CallAssembly()
        self._is_done = False

    def add(self, data: bytes) -> Iterable[ModelDelta]:
        try:
            event = _event.decode(data)
        except msgspec.MsgspecError as error:
            raise self._endpoint.unexpected("sent a piece of a stream that can't be read") from error
        if event.type == "content_block_delta":
            return () if event.delta is None else self._piece(event.index, event.delta)
        if event.type == "content_block_start":
            return self._begin(event.index, event.content_block or {})
        if event.error is not None:
            raise self._endpoint.failure(read_complaint(data))
        if event.type == "content_block_stop":
            return self._end(event.index)
        if event.type == "message_start" and event.message is not None:
            self._message.model = event.message.model
            self._count(event.message.usage)
        elif event.type == "message_delta":
            self._count(event.usage)
            if event.delta is not None:
                self._stop(event.delta)
        elif event.type == "message_stop":
            self._is_done = True
        return ()

    def response(self) -> ModelResponse:
        if self._message.stop_reason is None and not self._is_done:
            raise self._endpoint.broken("ended its stream before the answer was complete")
        blocks = [block.whole() for _, block in sorted(self._blocks.items())]
        return _response(blocks, self._calls.calls(), self._message, self._usage)

    def _stop(self, told: _Stop) -> None:
        message = self._message
        message.stop_reason = told.stop_reason or message.stop_reason
        message.stop_details = told.stop_details or message.stop_details
        message.container = told.container or message.container

    def _count(self, usage: _Usage | None) -> None:
        """Counts are of the whole answer so far, and one that is left out stays as it was."""
        if usage is not None:
            told = {name: value for name, value in asdict(usage).items() if value is not None}
            self._usage = replace(self._usage, **told)

    def _begin(self, index: int, start: dict[str, Any]) -> list[ModelDelta]:
        block = self._blocks[index] = _GrowingBlock(start)
        if block.type == "tool_use":
            return [self._calls.add(index, block.start.get("id"), block.start.get("name"))]
        return _shown(block.type, _word_of(block.start, block.type))

    def _piece(self, index: int, delta: _Delta) -> list[ModelDelta]:
        block = self._blocks.get(index)
        if block is None:
            raise self._endpoint.unexpected("sent a piece of a block that it had not begun")
        if block.type != "tool_use":
            return _shown(block.type, block.add(delta))
        if not delta.partial_json:
            return []
        block.has_arguments = True
        return [self._calls.add(index, arguments=delta.partial_json)]

    def _end(self, index: int) -> list[ModelDelta]:
        """A call without any piece of arguments has those that it began with, which are mostly none."""
        block = self._blocks.get(index)
        if block is None or block.type != "tool_use" or block.has_arguments:
            return []
        block.has_arguments = True
        return [self._calls.add(index, arguments=as_object(block.start.get("input")))]


def _word_of(block: dict[str, Any], name: str) -> str:
    """A member of a block that is a text; blank where it is none."""
    value = block.get(name)
    return value if isinstance(value, str) else ""


def _list_of(block: dict[str, Any], name: str) -> list[Any]:
    """A member of a block that is a list; empty where it is none."""
    value = block.get(name)
    return cast("list[Any]", value) if isinstance(value, list) else []


def _shown(kind: str, piece: str | None) -> list[ModelDelta]:
    if not piece:
        return []
    if kind == "text":
        return [TextDelta(piece)]
    return [ReasoningDelta(piece)] if kind == "thinking" else []
