"""OpenAI's responses API. OpenAI's newer models take tools only here, and keep their reasoning between turns."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct, field

from toolkit.http import Secret
from toolkit.messages import (
    AssistantMessage,
    DocumentPart,
    ImagePart,
    Message,
    Part,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    Usage,
    UserMessage,
)
from toolkit.models.assembly import text_of_arguments
from toolkit.models.complaints import read_complaint
from toolkit.models.endpoint import Endpoint
from toolkit.models.names import sent_name
from toolkit.models.protocol import (
    ModelDelta,
    ModelRequest,
    ModelResponse,
    ModelSettings,
    ReasoningDelta,
    StopReason,
    TextDelta,
    ToolCallDelta,
)
from toolkit.models.provider import ProviderModel, Reply
from toolkit.models.schemas import is_strict, of_object
from toolkit.models.servers import server_at

__all__ = ["OpenAIResponsesModel"]

_PROVIDER = "openai-responses"
_BETWEEN = "\n\n"  # between two messages, or two parts of a summary, of one answer

# Models that reason, by name. They alone can give their reasoning encrypted, and others refuse to be asked for it.
_REASONS = re.compile(r"(o[0-9]|gpt-([5-9]|[1-9][0-9]))(?!.*-chat)")


class OpenAIResponsesModel(ProviderModel):
    """A model behind `/responses`.

    The conversation is sent whole each time. Reasoning goes back as it came, encrypted where OpenAI's models give it
    so. OpenAI keeps responses for 30 days unless `settings=ModelSettings(extra={"store": False})` says otherwise.

    The arguments: see `ProviderModel`.

    Example:
        ```python
        settings = ModelSettings(extra={"reasoning": {"effort": "low"}})
        model = OpenAIResponsesModel("gpt-5.6", http=http, settings=settings)
        ```
    """

    provider = "openai"
    default_base_url = "https://api.openai.com/v1"
    key_variables = ("OPENAI_API_KEY",)

    def _headers(self, key: Secret | None) -> Mapping[str, str | Secret]:
        if key is None:
            return {}
        server = server_at(self.base_url)
        if server.key_header is not None:
            return {server.key_header: key}
        return {"authorization": Secret(f"Bearer {key.reveal()}")}

    def _path(self, *, is_streamed: bool) -> str:
        return "/responses"

    def _has_native_output(self, request: ModelRequest) -> bool:
        return (request.output_schema or {}).get("type") == "object"

    def _body(self, request: ModelRequest, *, is_streamed: bool) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self.name, "stream": is_streamed}
        messages = request.messages
        first = messages[0] if messages else None
        if isinstance(first, SystemMessage):
            body["instructions"] = first.text
            messages = messages[1:]
        body["input"] = [item for message in messages for item in _written_items(message)]
        if server_at(self.base_url).name in ("openai", "azure") and _REASONS.match(self.name):
            body["include"] = ["reasoning.encrypted_content"]
        if request.tools:
            body["tools"] = [_written_tool(tool) for tool in request.tools]
            choice = request.tool_choice
            if choice is not None:
                is_word = choice in ("auto", "none", "required")
                body["tool_choice"] = choice if is_word else {"type": "function", "name": sent_name(choice)}
        if request.output_schema is not None:
            schema = request.output_schema
            strict = is_strict(schema)
            body["text"] = {"format": {"type": "json_schema", "name": "answer", "schema": schema, "strict": strict}}
        if request.settings is not None:
            _write_settings(body, request.settings)
        return body

    def _whole(self, content: bytes) -> ModelResponse:
        try:
            response = _response_decoder.decode(content)
        except msgspec.MsgspecError as error:
            raise self._endpoint.unexpected("sent a reply that is no response") from error
        return _read(self._endpoint, response, content)

    def _reply(self) -> Reply:
        return _StreamedReply(self._endpoint)


# What is sent


def _written_items(message: Message) -> list[dict[str, Any]]:
    if isinstance(message, ToolMessage):
        return [{"type": "function_call_output", "call_id": message.call_id, "output": _written_output(message)}]
    if isinstance(message, AssistantMessage):
        return _items_given(message) or _written_assistant(message)
    if isinstance(message, SystemMessage):
        return [{"role": "system", "content": message.text}]
    return [{"role": "user", "content": _written_content(message)}]


def _written_content(message: UserMessage) -> str | list[dict[str, Any]]:
    if isinstance(message.content, str):
        return message.content
    return [_written_part(part) for part in message.content]


def _written_output(message: ToolMessage) -> str | list[dict[str, Any]]:
    if not message.media:
        return message.content
    return [{"type": "input_text", "text": message.content}, *map(_written_part, message.media)]


def _written_part(part: Part) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "input_text", "text": part.text}
    if isinstance(part, ImagePart):
        return {"type": "input_image", "detail": "auto", "image_url": part.url or _data_url(part, "image/png")}
    if part.url is not None:
        return {"type": "input_file", "file_url": part.url}
    return {"type": "input_file", "filename": "document.pdf", "file_data": _data_url(part, "application/pdf")}


def _data_url(part: ImagePart | DocumentPart, default: str) -> str:
    return f"data:{part.media_type or default};base64,{b64encode(part.data or b'').decode()}"


def _written_assistant(message: AssistantMessage) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if message.text or not message.tool_calls:
        items.append({"role": "assistant", "content": message.text})
    items.extend(map(_written_call, message.tool_calls))
    return items


def _written_call(call: ToolCall) -> dict[str, Any]:
    return {
        "type": "function_call",
        "call_id": call.id,
        "name": sent_name(call.name),
        "arguments": text_of_arguments(call.arguments),
    }


class _Given(Struct, forbid_unknown_fields=True):
    """What `provider_data` holds: the answer's items as they came, each call being a place (None)."""

    provider: str
    text: str
    items: list[dict[str, Any] | None]


def _items_given(message: AssistantMessage) -> list[dict[str, Any]] | None:
    """The items that this message came as, with the calls that it has now; None when they don't fit it."""
    if message.provider_data is None or message.provider_data.get("provider") != _PROVIDER:
        return None
    try:
        given = msgspec.convert(message.provider_data, _Given)
    except msgspec.ValidationError:
        return None
    if given.text != message.text or given.items.count(None) != len(message.tool_calls):
        return None
    calls = iter(message.tool_calls)
    return [_written_call(next(calls)) if item is None else item for item in given.items]


def _written_tool(tool: ToolDefinition) -> dict[str, Any]:
    parameters = of_object(tool.input_schema)
    return {
        "type": "function",
        "name": sent_name(tool.name),
        "description": tool.description,
        "parameters": parameters,
        "strict": is_strict(parameters),  # left out, it would be true here
    }


def _write_settings(body: dict[str, Any], settings: ModelSettings) -> None:
    values: dict[str, Any] = {
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        "max_output_tokens": settings.max_tokens,
        "parallel_tool_calls": settings.parallel_tool_calls if "tools" in body else None,
    }
    body.update({name: value for name, value in values.items() if value is not None})


# What comes back


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
    return {"provider": _PROVIDER, "text": text, "items": kept}


class _StreamedReply:
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
