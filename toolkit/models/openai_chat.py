"""OpenAI's chat completions, as spoken by OpenAI itself and by many other servers (`models/servers.py`)."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct, field

from toolkit.errors import ConfigurationError
from toolkit.http import Secret, StreamingHttpClient
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
from toolkit.models.addresses import checked_address
from toolkit.models.assembly import CallAssembly, text_of_arguments
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
            body["tools"] = [_written_tool(tool, server) for tool in request.tools]
            _write_choice(body, request.tool_choice, server)
        if request.output_schema is not None:
            body["response_format"] = _written_output(request.output_schema)
        if request.settings is not None:
            _write_settings(body, request.settings, server)
        return body

    def _whole(self, content: bytes) -> ModelResponse:
        try:
            completion = _completion.decode(content)
        except msgspec.MsgspecError as error:
            raise self._endpoint.unexpected("sent a reply that is no chat completion") from error
        if completion.error is not None:
            raise self._endpoint.failure(read_complaint(content))
        if not completion.choices:
            raise self._endpoint.unexpected("sent a chat completion without a choice")
        choice = completion.choices[0]
        message = choice.message or _Message()
        calls = tuple(
            ToolCall(call.id or "", call.function.name, text_of_arguments(call.function.arguments))
            for call in message.tool_calls or ()
            if call.function.name
        )
        return _response(
            text=_text_of(message.content) or message.refusal or "",
            reasoning=message.reasoning_content or message.reasoning or _thinking_of(message.content),
            calls=calls,
            finish=choice.finish_reason,
            is_refused=bool(message.refusal),
            usage=completion.usage,
            model=completion.model,
        )

    def _reply(self) -> Reply:
        return _StreamedReply(self._endpoint)


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
        return {"type": "image_url", "image_url": {"url": part.url or _data_url(part, "image/png")}}
    if part.url is not None:  # this format takes no address of a document
        return {"type": "text", "text": f"(a document: {part.url})"}
    return {
        "type": "file",
        "file": {"filename": "document.pdf", "file_data": _data_url(part, "application/pdf")},
    }


def _data_url(part: ImagePart | DocumentPart, default: str) -> str:
    return f"data:{part.media_type or default};base64,{b64encode(part.data or b'').decode()}"


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
    return hashlib.sha256(id.encode()).hexdigest()[: server.id_length]


def _written_tool(tool: ToolDefinition, server: Server) -> dict[str, Any]:
    parameters = of_object(tool.input_schema)
    function: dict[str, Any] = {
        "name": sent_name(tool.name),
        "description": tool.description,
        "parameters": parameters,
    }
    if server.has_strict and is_strict(parameters):
        function["strict"] = True
    return {"type": "function", "function": function}


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
        body["tool_choice"] = server.required
        body["tools"] = [tool for tool in body["tools"] if tool["function"]["name"] == sent_name(choice)]


def _written_output(schema: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": schema, "strict": is_strict(schema)},
    }


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


# What comes back


class _Function(Struct):
    name: str | None = None
    arguments: Any = None


class _Call(Struct):
    id: str | None = None
    index: int | None = None
    function: _Function = field(default_factory=_Function)


class _Part(Struct):
    type: str = ""
    text: str | None = None
    thinking: str | list[_Part] | None = None


class _Message(Struct):
    """A message, or a piece of one: what stands in `message`, and what stands in `delta`."""

    content: str | list[_Part] | None = None  # Mistral's reasoning models send a list
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(Struct):
    message: _Message | None = None
    delta: _Message | None = None
    finish_reason: str | None = None
    index: int | None = None


class _Details(Struct):
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


class _Usage(Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Details | None = None
    completion_tokens_details: _Details | None = None


class _Completion(Struct):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    model: str | None = None
    error: Any = None


_completion = msgspec.json.Decoder(_Completion)

_STOP_REASONS: dict[str, StopReason] = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "model_length": "length",  # Mistral
    "content_filter": "refusal",
    "sensitive": "refusal",  # Z.ai
}


def _text_of(content: str | list[_Part] | None) -> str:
    """The text of a content, which is a text or a list of parts."""
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part.text or "" for part in content if part.type == "text")


def _thinking_of(content: str | list[_Part] | None) -> str:
    """The reasoning in a content of parts."""
    if not isinstance(content, list):
        return ""
    return "".join(_text_of(part.thinking) for part in content if part.type == "thinking")


def _usage_of(usage: _Usage | None) -> Usage:
    if usage is None:
        return Usage()
    return Usage(
        input_tokens=usage.prompt_tokens or 0,
        output_tokens=usage.completion_tokens or 0,
        cached_tokens=(usage.prompt_tokens_details and usage.prompt_tokens_details.cached_tokens) or 0,
        reasoning_tokens=(usage.completion_tokens_details and usage.completion_tokens_details.reasoning_tokens) or 0,
    )


def _response(
    *,
    text: str,
    reasoning: str,
    calls: tuple[ToolCall, ...],
    finish: str | None,
    is_refused: bool,
    usage: _Usage | None,
    model: str | None,
) -> ModelResponse:
    reason: StopReason = _STOP_REASONS.get(finish or "", "other")
    if is_refused:
        reason = "refusal"
    elif calls and reason in ("stop", "other"):  # some servers say "stop" all the same
        reason = "tool_calls"
    return ModelResponse(text, calls, reasoning, reason, _usage_of(usage), model or "")


class _StreamedReply:
    """An answer in pieces. It is whole at its `finish_reason`, or at `[DONE]`."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls = CallAssembly()
        self._finish: str | None = None
        self._usage: _Usage | None = None
        self._model: str | None = None
        self._is_refused = False
        self._is_done = False

    def add(self, data: bytes) -> Iterable[ModelDelta]:
        if data.strip() == b"[DONE]":
            self._is_done = True
            return ()
        try:
            chunk = _completion.decode(data)
        except msgspec.MsgspecError as error:
            raise self._endpoint.unexpected("sent a piece of a stream that can't be read") from error
        if chunk.error is not None:
            raise self._endpoint.failure(read_complaint(data))
        self._model = chunk.model or self._model
        self._usage = chunk.usage or self._usage
        if not chunk.choices:
            return ()
        choice = chunk.choices[0]
        self._finish = choice.finish_reason or self._finish
        piece = choice.delta or choice.message
        return () if piece is None else self._deltas(piece)

    def response(self) -> ModelResponse:
        if self._finish is None and not self._is_done:
            raise self._endpoint.broken("ended its stream before the answer was complete")
        return _response(
            text="".join(self._text),
            reasoning="".join(self._reasoning),
            calls=self._calls.calls(),
            finish=self._finish,
            is_refused=self._is_refused,
            usage=self._usage,
            model=self._model,
        )

    def _deltas(self, piece: _Message) -> list[ModelDelta]:
        deltas: list[ModelDelta] = []
        reasoning = piece.reasoning_content or piece.reasoning or _thinking_of(piece.content)
        if reasoning:
            self._reasoning.append(reasoning)
            deltas.append(ReasoningDelta(reasoning))
        if piece.refusal:
            self._is_refused = True
        text = _text_of(piece.content) or piece.refusal
        if text:
            self._text.append(text)
            deltas.append(TextDelta(text))
        for call in piece.tool_calls or ():
            deltas.append(self._calls.add(call.index, call.id, call.function.name, call.function.arguments))
        return deltas
