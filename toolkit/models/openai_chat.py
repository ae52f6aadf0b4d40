"""OpenAI's chat completions, as spoken by OpenAI itself and by many other servers (`models/servers.py`)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from toolkit.errors import ConfigurationError
from toolkit.http import Secret, StreamingHttpClient
from toolkit.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    Part,
    SystemMessage,
    TextPart,
    ToolDefinition,
    ToolMessage,
    UserMessage,
)
from toolkit.models.addresses import checked_address
from toolkit.models.assembly import text_of_arguments
from toolkit.models.kept import Kept, raw
from toolkit.models.media import data_url
from toolkit.models.names import sent_name
from toolkit.models.openai_chat_replies import StreamedReply, read_completion, refused_call
from toolkit.models.protocol import (
    ModelRequest,
    ModelResponse,
    ModelSettings,
)
from toolkit.models.provider import ProviderModel, Reply
from toolkit.models.schemas import is_strict, of_object
from toolkit.models.servers import Server, server_at, server_named

__all__ = ["OpenAIChatModel"]


class OpenAIChatModel(ProviderModel):
    """A model behind `/chat/completions`.

    Args:
        base_url: Ends before `/chat/completions`, such as `http://localhost:11434/v1`. Left out: the server's own, and
            OpenAI's where no server is named.
        server: What the server takes: a name of `toolkit.models.servers`, or a `Server` of your own. Left out, it is
            told by the host of `base_url`.

    The other arguments: see `ProviderModel`.

    Example:
        ```python
        model = OpenAIChatModel("qwen3:8b", http=http, base_url="http://localhost:11434/v1")
        ```
    """

    def __init__(
        self,
        name: str,
        *,
        http: StreamingHttpClient,
        api_key: str | Secret | None = None,
        base_url: str | None = None,
        settings: ModelSettings | None = None,
        timeout: float = 600.0,
        server: str | Server | None = None,
    ) -> None:
        if isinstance(server, str):
            server = server_named(server)
        elif server is None:
            server = server_named("openai") if base_url is None else server_at(checked_address(base_url))
        if base_url is None and server.base_url is None:
            raise ConfigurationError(f"the server '{server.name}' has no address of its own; give base_url")
        self.server = server
        super().__init__(name, http=http, api_key=api_key, base_url=base_url, settings=settings, timeout=timeout)

    def _provider(self) -> str:
        return self.server.name

    def _default_base_url(self) -> str:
        return self.server.base_url or ""

    def _key_variables(self) -> tuple[str, ...]:
        return self.server.key_variables

    def _headers(self, key: Secret | None) -> Mapping[str, str | Secret]:
        if key is None:
            return {}
        if self.server.key_header is not None:
            return {self.server.key_header: key}
        return {"authorization": Secret(f"Bearer {key.reveal()}")}

    def _path(self, *, is_streamed: bool) -> str:
        return "/chat/completions"

    def _has_native_output(self, request: ModelRequest) -> bool:
        if (request.output_schema or {}).get("type") != "object":  # the format takes no other
            return False
        return self.server.output == "schema" or (self.server.output == "schema_without_tools" and not request.tools)

    def _body(self, request: ModelRequest, *, is_streamed: bool) -> dict[str, Any]:
        server = self.server
        body: dict[str, Any] = {
            "model": self.name,
            "messages": _written_messages(request.messages, server),
            "stream": is_streamed,
        }
        if is_streamed and server.has_usage_option:
            body["stream_options"] = {"include_usage": True}
        if request.tools:
            written = _strict_tools if server.has_strict else _plain_tools
            body["tools"] = [written.of(tool) for tool in _offered(request, server)]
            _write_choice(body, request.tool_choice, server)
        if request.output_schema is not None:
            body["response_format"] = {"type": "json_schema", "json_schema": _answers.of(request.output_schema)}
        if request.settings is not None:
            _write_settings(body, request.settings, server)
        return body

    def _holds_answer(self, content: bytes) -> bool:
        return refused_call(content) is not None

    def _whole(self, content: bytes) -> ModelResponse:
        return read_completion(self._endpoint, content)

    def _reply(self) -> Reply:
        return StreamedReply(self._endpoint)


# What is sent


def _written_messages(messages: Iterable[Message], server: Server) -> list[dict[str, Any]]:
    written: list[dict[str, Any]] = []
    media: list[dict[str, Any]] = []  # of tools: a tool's message takes text only, so they follow as the user's
    for message in messages:
        if media and not isinstance(message, ToolMessage):
            written.append({"role": "user", "content": media})
            media = []
        if isinstance(message, ToolMessage):
            call_id = _sent_id(message.call_id, server)
            written.append({"role": "tool", "tool_call_id": call_id, "content": message.content})
            if message.media:
                media.append({"type": "text", "text": f"What the call {call_id} of {message.name} gave:"})
                media.extend(_written_part(part) for part in message.media)
        elif isinstance(message, AssistantMessage):
            written.append(_written_assistant(message, server))
        elif isinstance(message, SystemMessage):
            written.append({"role": "system", "content": message.text})
        else:
            written.append({"role": "user", "content": _written_content(message)})
    if media:
        written.append({"role": "user", "content": media})
    return written


def _written_content(message: UserMessage) -> str | list[dict[str, Any]]:
    if isinstance(message.content, str):
        return message.content
    return [_written_part(part) for part in message.content]


def _written_part(part: Part) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    if isinstance(part, ImagePart):
        return {"type": "image_url", "image_url": {"url": part.url or data_url(part, "image/png")}}
    if part.url is not None:  # this format takes no address of a document
        return {"type": "text", "text": f"(a document: {part.url})"}
    return {
        "type": "file",
        "file": {"filename": "document.pdf", "file_data": data_url(part, "application/pdf")},
    }


def _written_assistant(message: AssistantMessage, server: Server) -> dict[str, Any]:
    written: dict[str, Any] = {"role": "assistant", "content": message.text}
    if message.tool_calls:
        written["content"] = message.text or None
        written["tool_calls"] = [
            {
                "id": _sent_id(call.id, server),
                "type": "function",
                "function": {"name": sent_name(call.name), "arguments": text_of_arguments(call.arguments)},
            }
            for call in message.tool_calls
        ]
    if server.reasoning is not None and message.reasoning:
        written[server.reasoning] = message.reasoning
    return written


def _sent_id(id: str, server: Server) -> str:
    """The id of a call; where a server wants a certain length, ids of another are replaced by a digest of theirs."""
    if server.id_length is None or (len(id) == server.id_length and id.isascii() and id.isalnum()):
        return id
    return hashlib.sha256(id.encode("utf-8", "surrogatepass")).hexdigest()[: server.id_length]


def _offered(request: ModelRequest, server: Server) -> Sequence[ToolDefinition]:
    """The tools that the model may call: the one that is chosen, where the server can be told no name."""
    choice = request.tool_choice
    if choice in (None, "auto", "none", "required") or server.has_named_choice:
        return request.tools
    return [tool for tool in request.tools if sent_name(tool.name) == sent_name(choice)]


def _written_tool(tool: ToolDefinition) -> dict[str, Any]:
    function = {
        "name": sent_name(tool.name),
        "description": tool.description,
        "parameters": of_object(tool.input_schema),
    }
    return {"type": "function", "function": function}


def _plain_tool(tool: ToolDefinition) -> Any:
    return raw(_written_tool(tool))


def _strict_tool(tool: ToolDefinition) -> Any:
    written = _written_tool(tool)
    if is_strict(written["function"]["parameters"]):
        written["function"]["strict"] = True
    return raw(written)


def _write_choice(body: dict[str, Any], choice: str | None, server: Server) -> None:
    if choice is None:
        return
    if choice == "required":
        body["tool_choice"] = server.required
    elif choice in ("auto", "none"):
        body["tool_choice"] = choice
    elif server.has_named_choice:
        body["tool_choice"] = {"type": "function", "function": {"name": sent_name(choice)}}
    else:
        body["tool_choice"] = server.required  # of the one that is offered


def _written_schema(schema: dict[str, Any]) -> Any:
    return raw({"name": "answer", "schema": schema, "strict": is_strict(schema)})


_plain_tools = Kept(ToolDefinition, _plain_tool)
_strict_tools = Kept(ToolDefinition, _strict_tool)
_answers = Kept(dict[str, Any], _written_schema)


def _write_settings(body: dict[str, Any], settings: ModelSettings, server: Server) -> None:
    values: dict[str, Any] = {
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        server.max_tokens: settings.max_tokens,
        "stop": None if settings.stop is None else list(settings.stop),
        server.seed: settings.seed,
    }
    if server.has_parallel and "tools" in body:
        values["parallel_tool_calls"] = settings.parallel_tool_calls
    body.update({name: value for name, value in values.items() if value is not None})
