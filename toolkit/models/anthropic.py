"""Anthropic's messages, as spoken by Anthropic itself and by servers that speak like it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from toolkit.http import Secret, StreamingHttpClient
from toolkit.messages import (
    AssistantMessage,
    DocumentPart,
    ImagePart,
    Message,
    Part,
    SystemMessage,
    TextPart,
    ToolDefinition,
    ToolMessage,
    UserMessage,
)
from toolkit.models.anthropic_replies import (
    PROVIDER,
    StreamedReply,
    as_object,
    is_paused,
    joined,
    read_message,
    text_block,
)
from toolkit.models.assembly import object_of_arguments
from toolkit.models.claude_models import Claude, claude_named
from toolkit.models.claude_schemas import GrammarRoom, described, held, weight
from toolkit.models.kept import Kept, raw
from toolkit.models.media import bytes_of
from toolkit.models.names import sent_name
from toolkit.models.protocol import (
    ModelDelta,
    ModelDone,
    ModelRequest,
    ModelResponse,
    ModelSettings,
)
from toolkit.models.provider import ProviderModel, Reply

__all__ = ["AnthropicModel"]

_BINDING_BETA = "thinking-binding-controls-2026-08-01"
_MOST_PAUSES = 10
_NO_TEXT = "(no text)"  # a blank text is refused, and so is a message of none


class AnthropicModel(ProviderModel):
    """A Claude behind `/messages`.

    - `max_tokens` must be sent: 16,384 where the settings don't say (4,096 for Claude 3), thinking included; with a
      `budget_tokens` in `extra={"thinking": ...}`, that many more.
    - System messages go into `system`, in their order, wherever they stand in the conversation.
    - `temperature` and `top_p` are left out for models that take none (from Claude Opus 4.7 on); `seed` for all.
    - A demanded call (`tool_choice` `"required"` or a name, and the tool of a final answer) becomes `auto` where the
      API refuses it: with `extra={"thinking": {"type": "enabled", ...}}`, and for models such as Claude Opus 5.5.
      Then the model may answer without a call.
    - An `output_schema` goes into `output_config.format` where model and schema allow it, else into a final tool.
    - Tools whose schemas the API's grammar holds as they are, are sent as `strict`, at most 20.
    - A turn that the API pauses (`pause_turn`, for its own tools) is continued here, at most 10 times.
    - Thinking goes back as it came. Models from Claude Fable 5.1 on refuse it once instructions or tools have changed:
      they are asked to drop it then (`thinking.block_binding`, a beta, which your own in `extra` overrides).
    - Why the model refused (`stop_details`) is in `ModelResponse.provider_data`.

    Args:
        base_url: Ends before `/messages`, such as `https://api.anthropic.com/v1`, which is the default.
        strict: Whether tools may be sent as `strict`. The API compiles such schemas when they are first used, which
            takes time, and refuses those that are too large.

    The other arguments: see `ProviderModel`.

    Example:
        ```python
        model = AnthropicModel("claude-sonnet-4-6", http=http)
        ```
    """

    provider = PROVIDER
    default_base_url = "https://api.anthropic.com/v1"
    key_variables = ("ANTHROPIC_API_KEY",)

    def __init__(
        self,
        name: str,
        *,
        http: StreamingHttpClient,
        api_key: str | Secret | None = None,
        base_url: str | None = None,
        settings: ModelSettings | None = None,
        timeout: float = 600.0,
        strict: bool = True,
    ) -> None:
        self._claude = claude_named(name)
        self._strict = strict and self._claude.has_grammar
        super().__init__(name, http=http, api_key=api_key, base_url=base_url, settings=settings, timeout=timeout)

    def _example(self) -> str:
        return "claude-sonnet-4-6"

    def _headers(self, key: Secret | None) -> Mapping[str, str | Secret]:
        headers: dict[str, str | Secret] = {"anthropic-version": "2023-06-01"}
        if self._claude.binds_thinking:
            headers["anthropic-beta"] = _BINDING_BETA
        if key is not None:
            headers["x-api-key"] = key
        return headers

    def _path(self, *, is_streamed: bool) -> str:
        return "/messages"

    def _has_native_output(self, request: ModelRequest) -> bool:
        if not self._claude.has_grammar or request.output_schema is None:
            return False
        answer = _answers.of(request.output_schema)
        return answer is not None and GrammarRoom().takes(answer.weight, is_tool=False)

    def _body(self, request: ModelRequest, *, is_streamed: bool) -> dict[str, Any]:
        settings = request.settings or ModelSettings()
        thinking = as_object((settings.extra or {}).get("thinking"))
        body: dict[str, Any] = {
            "model": self.name,
            "max_tokens": self._claude.max_tokens + _budget(thinking),
            "messages": _written_turns(request.messages),
            "stream": is_streamed,
        }
        system = [message.text for message in request.messages if isinstance(message, SystemMessage)]
        if any(map(str.strip, system)):
            body["system"] = [text_block(text) for text in system if text.strip()]
        room = GrammarRoom()
        if request.output_schema is not None and (answer := _answers.of(request.output_schema)) is not None:
            room.takes(answer.weight, is_tool=False)
            body["output_config"] = {"format": {"type": "json_schema", "schema": answer.schema}}
        can_force = self._claude.has_forced_choice and thinking.get("type") != "enabled"
        _write_tools(body, request, room if self._strict else None, can_force=can_force)
        _write_settings(body, settings, self._claude)
        if (container := _container(request.messages)) is not None:
            body["container"] = container
        if self._claude.binds_thinking and _has_thinking(body) and thinking.get("type", "adaptive") == "adaptive":
            # Earlier thinking is refused once instructions or tools have changed, unless it may be dropped:
            # https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
            body["thinking"] = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
        return body

    async def _ask(self, request: ModelRequest) -> ModelResponse:
        response = await super()._ask(request)
        for _ in range(_MOST_PAUSES):
            if not is_paused(response):
                break
            response = joined(response, await super()._ask(_continued(request, response)))
        return response

    async def _pieces(self, request: ModelRequest) -> AsyncGenerator[ModelDelta, None]:
        earlier: ModelResponse | None = None
        for left in reversed(range(_MOST_PAUSES + 1)):
            asked = request if earlier is None else _continued(request, earlier)
            async with contextlib.aclosing(super()._pieces(asked)) as pieces:
                async for piece in pieces:
                    if not isinstance(piece, ModelDone):
                        yield piece
                        continue
                    response = piece.response if earlier is None else joined(earlier, piece.response)
                    if not (left and is_paused(response)):
                        yield ModelDone(response)
                        return
                    earlier = response

    def _whole(self, content: bytes) -> ModelResponse:
        return read_message(content, self._endpoint)

    def _reply(self) -> Reply:
        return StreamedReply(self._endpoint)


# What is sent


class _Turns:
    """The conversation as the API takes it: user and assistant by turns, each turn a list of blocks."""

    def __init__(self) -> None:
        self.written: list[dict[str, Any]] = []

    def add(self, role: str, blocks: Iterable[dict[str, Any]]) -> None:
        blocks = list(blocks)
        if not blocks:
            return
        if not self.written and role == "assistant":
            self.written.append({"role": "user", "content": [text_block(_NO_TEXT)]})  # the first turn is the user's
        if not self.written or self.written[-1]["role"] != role:
            self.written.append({"role": role, "content": []})
        self.written[-1]["content"].extend(blocks)


def _written_turns(messages: Sequence[Message]) -> list[dict[str, Any]]:
    turns = _Turns()
    for message in messages:
        if isinstance(message, UserMessage):
            turns.add("user", _written_user(message))
        elif isinstance(message, ToolMessage):
            turns.add("user", _written_result(message))
        elif isinstance(message, AssistantMessage):
            turns.add("assistant", _written_assistant(message, is_last=message is messages[-1]))
    for turn in turns.written:
        if turn["role"] == "user":
            turn["content"].sort(key=_is_no_result)  # results come first, or are refused
    return turns.written


def _is_no_result(block: dict[str, Any]) -> bool:
    return bool(block["type"] != "tool_result")


def _written_user(message: UserMessage) -> list[dict[str, Any]]:
    parts = (TextPart(message.content),) if isinstance(message.content, str) else message.content
    written = [_written_part(part) for part in parts if not isinstance(part, TextPart) or part.text.strip()]
    return written or [text_block(_NO_TEXT)]


def _written_part(part: Part) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return text_block(part.text)
    kind, media_type = ("image", "image/png") if isinstance(part, ImagePart) else ("document", "application/pdf")
    return {"type": kind, "source": _source(part, part.media_type or media_type)}


def _source(part: ImagePart | DocumentPart, media_type: str) -> dict[str, Any]:
    if part.url is not None:
        told = re.match(r"data:([^;,]+);base64,", part.url)
        if told is None:
            return {"type": "url", "url": part.url}
        return {"type": "base64", "media_type": told.group(1), "data": part.url[told.end() :]}
    data = bytes_of(part)
    if isinstance(part, DocumentPart) and media_type != "application/pdf":
        with contextlib.suppress(UnicodeDecodeError):  # a text of whatever kind; the API takes nothing but these two
            return {"type": "text", "media_type": "text/plain", "data": data.decode()}
    return {"type": "base64", "media_type": media_type, "data": data}


def _written_result(message: ToolMessage) -> list[dict[str, Any]]:
    """The result, with its media inside. A result that is an error takes text only: then they follow it."""
    result: dict[str, Any] = {"type": "tool_result", "tool_use_id": _sent_id(message.call_id)}
    text = message.content if message.content.strip() else ""
    media = [_written_part(part) for part in message.media]
    if message.is_error:
        return [{**result, "content": text or _NO_TEXT, "is_error": True}, *media]
    if media:
        return [{**result, "content": [text_block(text), *media] if text else media}]
    return [{**result, "content": text}]


_FINE_ID = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


def _sent_id(id: str) -> str:
    """The id of a call; another provider's may have characters that are refused here."""
    return id if _FINE_ID.fullmatch(id) else sent_name(id)


def _written_assistant(message: AssistantMessage, *, is_last: bool) -> list[dict[str, Any]]:
    calls = [
        {"type": "tool_use", "id": _sent_id(call.id), "name": sent_name(call.name), "input": object_of_arguments(call)}
        for call in message.tool_calls
    ]
    kept = _kept_blocks(message)
    if kept is None:
        return [text_block(message.text), *calls] if message.text.strip() else list(calls)
    if not is_last and (message.provider_data or {}).get("is_paused"):  # a call of the API's own that nobody finished
        done = {str(block.get("tool_use_id")) for block in kept}
        kept = [block for block in kept if block.get("type") != "server_tool_use" or str(block.get("id")) in done]
    following = iter(calls)
    return [{**block, **next(following)} if block.get("type") == "tool_use" else block for block in kept]


def _kept_blocks(message: AssistantMessage) -> list[dict[str, Any]] | None:
    """The blocks that this provider wrote, if the message still says the same and has as many calls."""
    data = message.provider_data or {}
    content = data.get("content")
    if data.get("provider") != PROVIDER or not isinstance(content, list):
        return None
    blocks = [as_object(block) for block in cast("list[object]", content)]
    if sum(block.get("type") == "tool_use" for block in blocks) != len(message.tool_calls):
        return None
    if "".join(str(block.get("text")) for block in blocks if block.get("type") == "text") != message.text:
        return None
    return [block for block in blocks if block.get("type") != "text" or str(block.get("text")).strip()]


def _write_tools(body: dict[str, Any], request: ModelRequest, room: GrammarRoom | None, *, can_force: bool) -> None:
    choice = request.tool_choice
    if request.tools:
        body["tools"] = [_tools.of(tool).written(room) for tool in request.tools]
    elif request.settings is None or "tools" not in (request.settings.extra or ()):
        # A history with calls needs tools: without them some models answer with nothing.
        names = dict.fromkeys(
            sent_name(call.name)
            for message in request.messages
            if isinstance(message, AssistantMessage)
            for call in message.tool_calls
        )
        if not names:
            return
        body["tools"] = [{"name": name, "input_schema": {"type": "object"}} for name in names]
        choice = "none"
    parallel = None if request.settings is None else request.settings.parallel_tool_calls
    if choice is None and parallel is None:
        return
    if choice in (None, "auto", "none") or not can_force:
        written: dict[str, Any] = {"type": "none" if choice == "none" else "auto"}
    else:
        written = {"type": "any"} if choice == "required" else {"type": "tool", "name": sent_name(str(choice))}
    if parallel is not None and choice != "none":
        written["disable_parallel_tool_use"] = not parallel
    body["tool_choice"] = written


class _Answer(Struct, frozen=True):
    """An `output_schema` as a grammar holds it, and what it takes of the room."""

    schema: Any
    weight: tuple[int, int]


def _held_answer(schema: dict[str, Any]) -> _Answer | None:
    answer = held(schema)
    return None if answer is None else _Answer(raw(answer), weight(answer))


class _Tool(Struct, frozen=True):
    """A tool, and how it is held to its schema where there is room for that."""

    plain: Any
    strict: Any = None
    weight: tuple[int, int] = (0, 0)

    def written(self, room: GrammarRoom | None) -> Any:
        if room is None or self.strict is None or not room.takes(self.weight):
            return self.plain
        return self.strict


def _written_tool(tool: ToolDefinition) -> _Tool:
    schema = described(tool.input_schema)
    written = {"name": sent_name(tool.name), "description": tool.description, "input_schema": schema}
    if held(schema) != schema:
        return _Tool(raw(written))
    return _Tool(raw(written), raw({**written, "strict": True}), weight(schema))


_tools = Kept(ToolDefinition, _written_tool)
_answers = Kept(dict[str, Any], _held_answer)


def _write_settings(body: dict[str, Any], settings: ModelSettings, claude: Claude) -> None:
    values: dict[str, Any] = {
        "max_tokens": settings.max_tokens,
        "stop_sequences": None if settings.stop is None else list(settings.stop),
    }
    if claude.has_sampling:
        values |= {"temperature": settings.temperature, "top_p": settings.top_p}
    body.update({name: value for name, value in values.items() if value is not None})


def _container(messages: Iterable[Message]) -> str | None:
    """Where the API's own code of the last turn runs, which may wait for results."""
    last = None
    for message in messages:
        if isinstance(message, AssistantMessage):
            last = message.provider_data
    found = last.get("container") if last is not None and last.get("provider") == PROVIDER else None
    return found if isinstance(found, str) else None


def _budget(thinking: Mapping[str, Any]) -> int:
    budget = thinking.get("budget_tokens")
    return budget if isinstance(budget, int) else 0


def _has_thinking(body: Mapping[str, Any]) -> bool:
    return any(
        block.get("type") in ("thinking", "redacted_thinking") for turn in body["messages"] for block in turn["content"]
    )


def _continued(request: ModelRequest, paused: ModelResponse) -> ModelRequest:
    said = AssistantMessage(paused.text, (), paused.reasoning, paused.provider_data)
    return replace(request, messages=[*request.messages, said])
