"""Google's Gemini API (`generateContent`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from mimetypes import guess_type
from typing import Any
from urllib.parse import quote, urlsplit

from toolkit.http import Secret
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
from toolkit.models.assembly import object_of_arguments
from toolkit.models.gemini_models import Gemini, gemini_named
from toolkit.models.gemini_names import written_name
from toolkit.models.gemini_replies import PROVIDER, StreamedReply, read_answer
from toolkit.models.gemini_schemas import readable
from toolkit.models.kept import Kept, raw
from toolkit.models.media import bytes_of
from toolkit.models.protocol import ModelRequest, ModelResponse, ModelSettings
from toolkit.models.provider import ProviderModel, Reply
from toolkit.tools.schemas.json_values import is_array, is_object

__all__ = ["GeminiModel"]

_NO_TEXT = "(no text)"  # contents without parts are refused, and a blank text by some servers
_OPEN_SIGNATURE = "skip_thought_signature_validator"
"""What stands for the signature of a call that no Gemini made (https://ai.google.dev/gemini-api/docs/thought-signatures,
about history of other models)."""


class GeminiModel(ProviderModel):
    """A Gemini behind `/models/{name}:generateContent`.

    - System messages go into `systemInstruction`, in their order, wherever they stand in the conversation.
    - Signatures of thoughts, the parts of Google's own tools and generated media go back as they came. What an answer
      is based on (`groundingMetadata`, `citationMetadata`, `urlContextMetadata`) is in `ModelResponse.provider_data`,
      and so is a `finishReason` out of the usual.
    - Thoughts are shown as reasoning when they are asked for:
      `extra={"generationConfig": {"thinkingConfig": {"includeThoughts": True}}}`.
    - An `output_schema` goes into `responseJsonSchema`; beside tools only from Gemini 3 on, else into a final tool.
    - What Google's reading of JSON Schema can't say stands in the schemas' descriptions.
    - Media of tools stand inside their results from Gemini 3 on, else behind them.
    - `parallel_tool_calls` is left out: the API has none.
    - A prompt that the API blocks is a `ContentRefusedError`, an answer that it breaks off has the stop reason
      `refusal`, and a call that the model garbled (`MALFORMED_FUNCTION_CALL`) is an `UnexpectedReplyError`, which
      `RetryingModel` asks again about.

    Args:
        name: Such as `gemini-3.8-flash`, or `tunedModels/...` for a tuned one.
        base_url: Ends before `/models`, such as `https://generativelanguage.googleapis.com/v1beta`, the default.

    The other arguments: see `ProviderModel`.

    Example:
        ```python
        model = GeminiModel("gemini-3.8-flash", http=http)
        ```
    """

    provider = PROVIDER
    default_base_url = "https://generativelanguage.googleapis.com/v1beta"
    key_variables = ("GEMINI_API_KEY",)

    @cached_property
    def _gemini(self) -> Gemini:
        return gemini_named(self.name)

    def _example(self) -> str:
        return "gemini-3.8-flash"

    def _headers(self, key: Secret | None) -> Mapping[str, str | Secret]:
        return {} if key is None else {"x-goog-api-key": key}

    def _path(self, *, is_streamed: bool) -> str:
        collection, slash, name = self.name.partition("/")
        if not slash or collection not in ("models", "tunedModels"):
            collection, name = "models", self.name
        method = "streamGenerateContent?alt=sse" if is_streamed else "generateContent"
        return f"/{collection}/{quote(name, safe='')}:{method}"

    def _has_native_output(self, request: ModelRequest) -> bool:
        return self._gemini.has_output_beside_tools or not request.tools

    def _body(self, request: ModelRequest, *, is_streamed: bool) -> dict[str, Any]:
        body: dict[str, Any] = {"contents": _contents(request.messages, self._gemini)}
        system = [message.text for message in request.messages if isinstance(message, SystemMessage)]
        if any(map(str.strip, system)):
            body["systemInstruction"] = {"parts": [{"text": text} for text in system if text.strip()]}
        if request.tools:
            body["tools"] = [{"functionDeclarations": [_tools.of(tool) for tool in request.tools]}]
            if request.tool_choice is not None:
                body["toolConfig"] = {"functionCallingConfig": _written_choice(request.tool_choice)}
        config = _config(request)
        if config:
            body["generationConfig"] = config
        return body

    def _whole(self, content: bytes) -> ModelResponse:
        return read_answer(content, self._endpoint)

    def _reply(self) -> Reply:
        return StreamedReply(self._endpoint)


# What is sent


def _contents(messages: Sequence[Message], gemini: Gemini) -> list[dict[str, Any]]:
    """The conversation as the API takes it: user and model by turns, the user first, and none of them empty."""
    contents: list[dict[str, Any]] = []
    for message in messages:
        if isinstance(message, SystemMessage):
            continue
        if isinstance(message, AssistantMessage):
            role, parts = "model", _written_assistant(message, gemini)
        elif isinstance(message, ToolMessage):
            role, parts = "user", _written_result(message, gemini)
        else:
            role, parts = "user", _written_user(message)
        if not parts:
            continue
        if not contents and role == "model":
            contents.append(_no_text())
        if not contents or contents[-1]["role"] != role:
            contents.append({"role": role, "parts": []})
        content: list[dict[str, Any]] = contents[-1]["parts"]
        content.extend(parts)
        content.sort(key=_is_behind_results)
    return contents or [_no_text()]


def _no_text() -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": _NO_TEXT}]}


def _is_behind_results(part: dict[str, Any]) -> bool:
    """The results of a turn's calls stand together and come first, or the API doesn't find as many as there were calls.

    In a turn of the model nothing is a result, so everything stays in its place.
    """
    return "functionResponse" not in part


def _written_user(message: UserMessage) -> list[dict[str, Any]]:
    parts = (TextPart(message.content),) if isinstance(message.content, str) else message.content
    written = [_written_part(part) for part in parts if not isinstance(part, TextPart) or part.text.strip()]
    return written or [{"text": _NO_TEXT}]


def _written_part(part: Part) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"text": part.text}
    if part.url is None:
        usual = "image/png" if isinstance(part, ImagePart) else "application/pdf"
        return {"inlineData": {"mimeType": part.media_type or usual, "data": bytes_of(part)}}
    told = re.match(r"data:([^;,]+);base64,", part.url)
    if told is not None:
        return {"inlineData": {"mimeType": told.group(1), "data": part.url[told.end() :]}}
    media_type = part.media_type or guess_type(urlsplit(part.url).path)[0]
    return {"fileData": {"fileUri": part.url, **({"mimeType": media_type} if media_type else {})}}


def _written_result(message: ToolMessage, gemini: Gemini) -> list[dict[str, Any]]:
    """The result, with those of its media inside that may stand there, and the others behind it."""
    inside: list[dict[str, Any]] = []
    behind: list[dict[str, Any]] = []
    for part in _written_media(message.media):
        may_be_inside = part.get("inlineData", {}).get("mimeType") in gemini.result_media
        (inside if may_be_inside else behind).append(part)
    result: dict[str, Any] = {
        "id": message.call_id,
        "name": written_name(message.name),
        "response": {"error" if message.is_error else "output": message.content},
    }
    if inside:
        result["parts"] = inside
    return [{"functionResponse": result}, *behind]


def _written_media(media: Iterable[ImagePart | DocumentPart]) -> list[dict[str, Any]]:
    return [_written_part(part) for part in media]


def _written_assistant(message: AssistantMessage, gemini: Gemini) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = [
        {"functionCall": {"id": call.id, "name": written_name(call.name), "args": object_of_arguments(call)}}
        for call in message.tool_calls
    ]
    kept = _kept_parts(message)
    if kept is None:
        parts = [*([{"text": message.text}] if message.text.strip() else []), *calls]
    else:
        following = iter(calls)
        parts = [{**part, **next(following)} if "functionCall" in part else part for part in kept]
    first = next((part for part in parts if "functionCall" in part), None)
    if first is not None and gemini.wants_signatures:  # of calls that are made together, only the first is signed
        first.setdefault("thoughtSignature", _OPEN_SIGNATURE)
    return parts


def _kept_parts(message: AssistantMessage) -> list[dict[str, Any]] | None:
    """The parts that this provider wrote, if the message still says the same and has as many calls."""
    data = message.provider_data or {}
    parts = data.get("parts")
    if data.get("provider") != PROVIDER or not is_array(parts) or not all(map(is_object, parts)):
        return None
    if sum("functionCall" in part for part in parts) != len(message.tool_calls):
        return None
    said = "".join(str(part.get("text") or "") for part in parts if not part.get("thought"))
    return parts if said == message.text else None


def _written_tool(tool: ToolDefinition) -> Any:
    return raw(
        {
            "name": written_name(tool.name),
            "description": tool.description,
            "parametersJsonSchema": {"type": "object", **readable(tool.input_schema)},
        }
    )


def _written_schema(schema: dict[str, Any]) -> Any:
    return raw(readable(schema))


_tools = Kept(ToolDefinition, _written_tool)
_answers = Kept(dict[str, Any], _written_schema)


def _written_choice(choice: str) -> dict[str, Any]:
    modes = {"auto": "AUTO", "none": "NONE", "required": "ANY"}
    if choice in modes:
        return {"mode": modes[choice]}
    return {"mode": "ANY", "allowedFunctionNames": [written_name(choice)]}


def _config(request: ModelRequest) -> dict[str, Any]:
    settings = request.settings or ModelSettings()
    values: dict[str, Any] = {
        "temperature": settings.temperature,
        "topP": settings.top_p,
        "maxOutputTokens": settings.max_tokens,
        "stopSequences": None if settings.stop is None else list(settings.stop),
        "seed": settings.seed,
    }
    if request.output_schema is not None:
        values |= {"responseMimeType": "application/json", "responseJsonSchema": _answers.of(request.output_schema)}
    return {name: value for name, value in values.items() if value is not None}
