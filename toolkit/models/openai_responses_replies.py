"""What the responses API answers: a response, or the events that lead to one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Struct, field

from toolkit.messages import ToolCall, Usage
from toolkit.models.assembly import text_of_arguments
from toolkit.models.complaints import read_complaint
from toolkit.models.endpoint import Endpoint
from toolkit.models.protocol import ModelDelta, ModelResponse, ReasoningDelta, StopReason, TextDelta, ToolCallDelta

__all__ = ["PROVIDER", "StreamedReply", "read_response"]

PROVIDER = "openai-responses"
"""Whose `provider_data` it is."""

_BETWEEN = "\n\n"  # between two messages, or two parts of a summary, of one answer


class _Part(Struct):
    type: str = ""
    text: str | None = None
    refusal: str | None = None


class _Item(Struct):
    type: str = ""
    content: list[_Part] | None = None
    summary: list[_Part] | None = None
    call_id: str | None = None
    id: str | None = None
    name: str | None = None
    arguments: Any = None


class _CachedDetails(Struct):
    cached_tokens: int | None = None


class _ReasoningDetails(Struct):
    reasoning_tokens: int | None = None


class _Usage(Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    input_tokens_details: _CachedDetails | None = None
    output_tokens_details: _ReasoningDetails | None = None


class _Incomplete(Struct):
    reason: str | None = None


class _Response(Struct):
    output: list[msgspec.Raw] | None = None
    status: str | None = None
    incomplete_details: _Incomplete | None = None
    usage: _Usage | None = None
    model: str | None = None
    error: Any = None


class _Event(Struct):
    type: str = ""
    delta: str | None = None
    output_index: int = 0
    summary_index: int = 0
    item: msgspec.Raw = field(default_factory=lambda: msgspec.Raw(b"{}"))
    response: msgspec.Raw = field(default_factory=lambda: msgspec.Raw(b"{}"))


_response_decoder = msgspec.json.Decoder(_Response)
_item_decoder = msgspec.json.Decoder(_Item)
_event_decoder = msgspec.json.Decoder(_Event)

_INCOMPLETE: dict[str | None, StopReason] = {"max_output_tokens": "length", "content_filter": "refusal"}
_TEXT_EVENTS = frozenset({"response.output_text.delta", "response.refusal.delta"})
_REASONING_EVENTS = frozenset({"response.reasoning_summary_text.delta", "response.reasoning_text.delta"})


def read_response(endpoint: Endpoint, content: bytes) -> ModelResponse:
    """The answer that a body holds. Raises `ProviderError` when it holds none."""
    try:
        response = _response_decoder.decode(content)
    except msgspec.MsgspecError as error:
        raise endpoint.unexpected("sent a reply that is no response") from error
    return _read(endpoint, response, content)


def _read(endpoint: Endpoint, response: _Response, content: bytes) -> ModelResponse:
    if response.status in ("failed", "cancelled") or (response.error is not None and response.status is None):
        raise endpoint.failure(read_complaint(content))
    if response.output is None:
        raise endpoint.unexpected("sent a response without output")
    try:
        items = [_item_decoder.decode(raw) for raw in response.output]
    except msgspec.MsgspecError as error:
        raise endpoint.unexpected("sent a response with output that can't be read") from error
    text = _BETWEEN.join(_text_of(item) for item in items if item.type == "message")
    calls = [item for item in items if item.type == "function_call"]
    is_refused = any(part.refusal for item in items for part in item.content or ())
    return ModelResponse(
        text,
        tuple(ToolCall(call.call_id or "", call.name or "", text_of_arguments(call.arguments)) for call in calls),
        _BETWEEN.join(filter(None, map(_reasoning_of, items))),
        _stop_reason(response, bool(calls), is_refused),
        _usage_of(response.usage),
        response.model or "",
        _kept(text, items, response.output),
    )


def _text_of(item: _Item) -> str:
    return "".join(part.text or part.refusal or "" for part in item.content or ())


def _reasoning_of(item: _Item) -> str:
    if item.type != "reasoning":
        return ""
    return _BETWEEN.join(part.text or "" for part in item.summary or item.content or ())


def _stop_reason(response: _Response, has_calls: bool, is_refused: bool) -> StopReason:
    if response.status == "incomplete":
        reason = None if response.incomplete_details is None else response.incomplete_details.reason
        return _INCOMPLETE.get(reason, "other")
    if is_refused:
        return "refusal"
    return "tool_calls" if has_calls else "stop"


def _usage_of(usage: _Usage | None) -> Usage:
    if usage is None:
        return Usage()
    return Usage(
        input_tokens=usage.input_tokens or 0,
        output_tokens=usage.output_tokens or 0,
        cached_tokens=(usage.input_tokens_details and usage.input_tokens_details.cached_tokens) or 0,
        reasoning_tokens=(usage.output_tokens_details and usage.output_tokens_details.reasoning_tokens) or 0,
    )


def _kept(text: str, items: Sequence[_Item], raw: Sequence[msgspec.Raw]) -> dict[str, Any] | None:
    """What has to go back as it came; None when text and calls say all."""
    if all(item.type in ("message", "function_call") for item in items):
        return None
    kept: list[dict[str, Any] | None] = []
    for item, given in zip(items, raw, strict=True):
        if item.type == "function_call":
            kept.append(None)
        else:
            value: dict[str, Any] = msgspec.json.decode(given)
            if item.type == "reasoning":
                value.pop("status", None)  # it is told, and not taken back
            kept.append(value)
    return {"provider": PROVIDER, "text": text, "items": kept}


class StreamedReply:
    """An answer in pieces. The last event has all of it; the pieces are for showing."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._items: list[msgspec.Raw] = []
        self._calls: dict[int, int] = {}  # the number of a call, by the place of its item
        self._texts: set[int] = set()
        self._reasonings: set[tuple[int, int]] = set()
        self._last: tuple[_Response, bytes] | None = None

    def add(self, data: bytes) -> Iterable[ModelDelta]:
        if data.strip() == b"[DONE]":
            return ()
        try:
            event = _event_decoder.decode(data)
            return self._deltas(event, data)
        except msgspec.MsgspecError as error:
            raise self._endpoint.unexpected("sent a piece of a stream that can't be read") from error

    def response(self) -> ModelResponse:
        if self._last is None:
            raise self._endpoint.broken("ended its stream before the answer was complete")
        response, content = self._last
        if not response.output and self._items:
            response = msgspec.structs.replace(response, output=self._items)
        return _read(self._endpoint, response, content)

    def _deltas(self, event: _Event, data: bytes) -> list[ModelDelta]:
        place = event.output_index
        if event.type in _TEXT_EVENTS:
            return [TextDelta(self._between(self._texts, place) + (event.delta or ""))]
        if event.type in _REASONING_EVENTS:
            return [ReasoningDelta(self._between(self._reasonings, (place, event.summary_index)) + (event.delta or ""))]
        if event.type == "response.function_call_arguments.delta" and place in self._calls:
            return [ToolCallDelta(self._calls[place], arguments=event.delta or "")]
        if event.type == "response.output_item.added":
            item = _item_decoder.decode(event.item)
            if item.type == "function_call":
                self._calls[place] = len(self._calls)
                return [ToolCallDelta(self._calls[place], item.call_id, item.name)]
        elif event.type == "response.output_item.done":
            self._items.append(msgspec.Raw(bytes(event.item)))
        elif event.type in ("response.completed", "response.incomplete", "response.failed"):
            content = bytes(event.response)
            self._last = _response_decoder.decode(content), content
        elif event.type == "error" or (not event.type and b'"error"' in data):
            raise self._endpoint.failure(read_complaint(data))
        return []

    @staticmethod
    def _between(seen: set[Any], place: Any) -> str:
        """What stands before the first piece of another message, or of another part of a summary."""
        is_another = bool(seen) and place not in seen
        seen.add(place)
        return _BETWEEN if is_another else ""
