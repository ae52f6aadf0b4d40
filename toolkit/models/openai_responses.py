"""OpenAI's responses API. OpenAI's newer models take tools only here, and keep their reasoning between turns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from toolkit.http import Secret
from toolkit.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    Part,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    UserMessage,
)
from toolkit.models.assembly import text_of_arguments
from toolkit.models.kept import Kept, raw
from toolkit.models.media import data_url
from toolkit.models.names import sent_name
from toolkit.models.openai_responses_replies import PROVIDER, StreamedReply, read_response
from toolkit.models.protocol import (
    ModelRequest,
    ModelResponse,
    ModelSettings,
)
from toolkit.models.provider import ProviderModel, Reply
from toolkit.models.schemas import is_strict, of_object
from toolkit.models.servers import server_at

__all__ = ["OpenAIResponsesModel"]


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
            body["tools"] = [_tools.of(tool) for tool in request.tools]
            choice = request.tool_choice
            if choice is not None:
                is_word = choice in ("auto", "none", "required")
                body["tool_choice"] = choice if is_word else {"type": "function", "name": sent_name(choice)}
        if request.output_schema is not None:
            body["text"] = {"format": _answers.of(request.output_schema)}
        if request.settings is not None:
            _write_settings(body, request.settings)
        return body

    def _whole(self, content: bytes) -> ModelResponse:
        return read_response(self._endpoint, content)

    def _reply(self) -> Reply:
        return StreamedReply(self._endpoint)


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
        return {"type": "input_image", "detail": "auto", "image_url": part.url or data_url(part, "image/png")}
    if part.url is not None:
        return {"type": "input_file", "file_url": part.url}
    return {"type": "input_file", "filename": "document.pdf", "file_data": data_url(part, "application/pdf")}


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
    if message.provider_data is None or message.provider_data.get("provider") != PROVIDER:
        return None
    try:
        given = msgspec.convert(message.provider_data, _Given)
    except msgspec.ValidationError:
        return None
    if given.text != message.text or given.items.count(None) != len(message.tool_calls):
        return None
    calls = iter(message.tool_calls)
    return [_written_call(next(calls)) if item is None else item for item in given.items]


def _written_tool(tool: ToolDefinition) -> Any:
    parameters = of_object(tool.input_schema)
    return raw(
        {
            "type": "function",
            "name": sent_name(tool.name),
            "description": tool.description,
            "parameters": parameters,
            "strict": is_strict(parameters),  # left out, it would be true here
        }
    )


def _written_schema(schema: dict[str, Any]) -> Any:
    return raw({"type": "json_schema", "name": "answer", "schema": schema, "strict": is_strict(schema)})


_tools = Kept(ToolDefinition, _written_tool)
_answers = Kept(dict[str, Any], _written_schema)


def _write_settings(body: dict[str, Any], settings: ModelSettings) -> None:
    values: dict[str, Any] = {
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        "max_output_tokens": settings.max_tokens,
        "parallel_tool_calls": settings.parallel_tool_calls if "tools" in body else None,
    }
    body.update({name: value for name, value in values.items() if value is not None})
