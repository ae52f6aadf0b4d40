"""What Gemini's models answer: whole and streamed, read into `ModelResponse`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from toolkit.errors import ProviderError
from toolkit.messages import ToolCall, Usage
from toolkit.models.complaints import Complaint, read_complaint
from toolkit.models.endpoint import Endpoint
from toolkit.models.gemini_names import own_name
from toolkit.models.protocol import ModelDelta, ModelResponse, ReasoningDelta, StopReason, TextDelta, ToolCallDelta

__all__ = ["PROVIDER", "StreamedReply", "read_answer"]

PROVIDER = "gemini"


class _Usage(Struct, rename="camel"):
    prompt_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None
    cached_content_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None


class _Call(Struct):
    id: str | None = None
    name: str | None = None
    args: msgspec.Raw = msgspec.Raw(b"null")


class _Part(Struct, rename="camel"):
    text: str | None = None
    thought: bool | None = None
    function_call: _Call | None = None


class _Content(Struct):
    parts: list[msgspec.Raw] | None = None


class _Candidate(Struct, rename="camel"):
    content: _Content | None = None
    finish_reason: str | None = None
    finish_message: str | None = None
    index: int | None = None
    grounding_metadata: dict[str, Any] | None = None
    citation_metadata: dict[str, Any] | None = None
    url_context_metadata: dict[str, Any] | None = None


class _Feedback(Struct, rename="camel"):
    block_reason: str | None = None


class _Answer(Struct, rename="camel"):
    candidates: list[_Candidate] | None = None
    prompt_feedback: _Feedback | None = None
    usage_metadata: _Usage | None = None
    model_version: str | None = None
    error: Any = None


_answer = msgspec.json.Decoder(_Answer)
_part = msgspec.json.Decoder(_Part)
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])

# https://ai.google.dev/api/generate-content#FinishReason
_STOP_REASONS: dict[str, StopReason] = {
    "STOP": "stop",
    **dict.fromkeys(("MAX_TOKENS", "CONTINUATION"), "length"),
    **dict.fromkeys(
        (
            "SAFETY",
            "RECITATION",
            "BLOCKLIST",
            "PROHIBITED_CONTENT",
            "SPII",
            "IMAGE_SAFETY",
            "IMAGE_PROHIBITED_CONTENT",
            "IMAGE_RECITATION",
            "MODEL_ARMOR",
            "ESCALATION",
            "PUP_LIMITED_DISABLED",
        ),
        "refusal",
    ),
}
# The model wrote something that is no answer, and the API shows nothing of it. Asked again, it may do better.
_FAILED = {
    "MALFORMED_FUNCTION_CALL": "a call that can't be read",
    "UNEXPECTED_TOOL_CALL": "a call of a tool that it was not given",
    "MALFORMED_RESPONSE": "an answer that can't be read",
}
_METADATA = {
    "grounding_metadata": "groundingMetadata",
    "citation_metadata": "citationMetadata",
    "url_context_metadata": "urlContextMetadata",
}


def read_answer(content: bytes, endpoint: Endpoint) -> ModelResponse:
    """The answer that a body holds. Raises `ProviderError` when it holds none."""
    reply = StreamedReply(endpoint)
    reply.add(content)
    return reply.response(is_whole=True)


class _Text:
    """A text in pieces, which nothing signed."""

    __slots__ = ("is_thought", "pieces")

    def __init__(self, piece: str, is_thought: bool) -> None:
        self.pieces = [piece]
        self.is_thought = is_thought

    def whole(self) -> dict[str, Any]:
        text: dict[str, Any] = {"text": "".join(self.pieces)}
        return {**text, "thought": True} if self.is_thought else text


class StreamedReply:
    """An answer in pieces, each in the format of a whole one. It is complete at its `finishReason`."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._parts: list[dict[str, Any] | _Text] = []
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[ToolCall] = []
        self._candidate: _Candidate | None = None
        self._usage = _Usage()
        self._model = ""

    def add(self, data: bytes) -> Iterable[ModelDelta]:
        try:
            answer = _answer.decode(data)
            if answer.error is not None:
                raise self._endpoint.failure(read_complaint(data))
            self._count(answer)
            # One candidate is asked for; whoever asked for more by `extra` gets the first.
            candidate = next((one for one in answer.candidates or () if not one.index), None)
            if candidate is None:
                self._check_prompt(answer)
                return ()
            return self._add(candidate)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise self._endpoint.unexpected("sent an answer, or a piece of one, that can't be read") from error

    def response(self, *, is_whole: bool = False) -> ModelResponse:
        candidate = self._candidate
        if is_whole and candidate is None:
            raise self._endpoint.unexpected("sent an answer without candidates")
        if candidate is None or not (is_whole or candidate.finish_reason):
            raise self._endpoint.broken("ended its stream before the answer was complete")
        finish = candidate.finish_reason or ""
        reason = _STOP_REASONS.get(finish, "other")
        calls = () if reason == "refusal" else tuple(self._calls)  # those were begun before it refused
        if calls and reason in ("stop", "other"):
            reason = "tool_calls"
        if reason == "other":
            self._check_end(finish)
        return ModelResponse(
            "".join(self._text),
            calls,
            "".join(self._reasoning),
            reason,
            _usage_of(self._usage),
            self._model,
            self._provider_data(candidate, is_refused=reason == "refusal"),
        )

    def _count(self, answer: _Answer) -> None:
        """Counts are of the whole answer so far, and one that is left out stays as it was."""
        self._model = answer.model_version or self._model
        if answer.usage_metadata is not None:
            told = {name: value for name, value in asdict(answer.usage_metadata).items() if value is not None}
            self._usage = replace(self._usage, **told)

    def _add(self, candidate: _Candidate) -> list[ModelDelta]:
        deltas: list[ModelDelta] = []
        if candidate.content is not None:
            for raw in candidate.content.parts or ():
                deltas.extend(self._add_part(raw))
        candidate.content = None
        if self._candidate is None:
            self._candidate = candidate
        else:
            told = {name: value for name, value in asdict(candidate).items() if value is not None}
            self._candidate = replace(self._candidate, **told)
        return deltas

    def _add_part(self, raw: msgspec.Raw) -> Iterable[ModelDelta]:
        part = _part.decode(raw)
        if part.function_call is not None:
            return self._add_call(part.function_call, raw)
        text, is_thought = part.text or "", bool(part.thought)
        fields = {name for name, value in _fields.decode(raw).items() if bytes(value) != b"null"}
        if not fields <= {"text", "thought"}:
            self._parts.append(_kept(raw))
        elif text:
            last = self._parts[-1] if self._parts else None
            if isinstance(last, _Text) and last.is_thought is is_thought:
                last.pieces.append(text)
            else:
                self._parts.append(_Text(text, is_thought))
        if not text:
            return ()
        (self._reasoning if is_thought else self._text).append(text)
        return (ReasoningDelta(text) if is_thought else TextDelta(text),)

    def _add_call(self, call: _Call, raw: msgspec.Raw) -> Iterable[ModelDelta]:
        if not call.name:
            return ()
        arguments = bytes(call.args).decode()
        arguments = "{}" if arguments == "null" else arguments  # else as it was written
        name = own_name(call.name)
        self._parts.append(_kept(raw))
        self._calls.append(ToolCall(call.id or "", name, arguments))
        return (ToolCallDelta(len(self._calls) - 1, call.id or None, name, arguments),)

    def _check_prompt(self, answer: _Answer) -> None:
        """Raises for a prompt that was blocked: the model has not seen it, so there is no answer that could refuse.

        So do providers that say the same by a status.
        """
        reason = None if answer.prompt_feedback is None else answer.prompt_feedback.block_reason
        if reason and self._candidate is None:
            raise self._endpoint.failure(Complaint("the prompt was blocked", (reason, "content_filter")))

    def _check_end(self, finish: str) -> None:
        if finish in _FAILED:
            error: ProviderError = self._endpoint.unexpected(f"ended with {finish}: the model wrote {_FAILED[finish]}")
            error.is_temporary = True
            raise error
        if finish == "MISSING_THOUGHT_SIGNATURE":
            raise self._endpoint.failure(Complaint("a call in the history lacks its signature", (finish,)))

    def _provider_data(self, candidate: _Candidate, *, is_refused: bool) -> dict[str, Any] | None:
        """What the API wants back, why it ended its answer otherwise than usual, and what it based the answer on.

        None where texts and calls say it all. What it refused is not to go back.
        """
        parts = [part.whole() if isinstance(part, _Text) else part for part in self._parts]
        data: dict[str, Any] = {"provider": PROVIDER}
        is_needed = any(part.keys() - {"text", "thought"} and part != {"functionCall": {}} for part in parts)
        if is_needed and not is_refused:
            data["parts"] = parts
        if candidate.finish_reason not in (None, "STOP", "MAX_TOKENS"):
            data["finishReason"] = candidate.finish_reason
            if candidate.finish_message:
                data["finishMessage"] = candidate.finish_message
        found = {name: getattr(candidate, field) for field, name in _METADATA.items()}
        data.update({name: value for name, value in found.items() if value})
        return data if len(data) > 1 else None


def _kept(raw: msgspec.Raw) -> dict[str, Any]:
    """The part as it came, but a call as a place only."""
    return {
        name: {} if name == "functionCall" else msgspec.json.decode(value)
        for name, value in _fields.decode(raw).items()
        if bytes(value) != b"null"
    }


def _usage_of(usage: _Usage) -> Usage:
    """The counts: the API counts its own tools' results and the thoughts beside the prompt and the answer."""
    thoughts = usage.thoughts_token_count or 0
    return Usage(
        input_tokens=(usage.prompt_token_count or 0) + (usage.tool_use_prompt_token_count or 0),
        output_tokens=(usage.candidates_token_count or 0) + thoughts,
        cached_tokens=usage.cached_content_token_count or 0,
        reasoning_tokens=thoughts,
    )
