"""What chat completions answer: a completion, or the pieces of one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct, field

from toolkit.messages import ToolCall, Usage
from toolkit.models.assembly import CallAssembly, text_of_arguments
from toolkit.models.complaints import read_complaint
from toolkit.models.endpoint import Endpoint
from toolkit.models.protocol import ModelDelta, ModelResponse, ReasoningDelta, StopReason, TextDelta

__all__ = ["StreamedReply", "read_completion", "refused_call"]


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


class _Refusal(Struct):
    code: Any = None
    failed_generation: Any = None


class _RefusalBody(Struct):
    error: _Refusal


class _RefusedFunction(Struct):
    """Without arguments it is no call: read as one without any, it would run with others than the model gave."""

    name: str
    arguments: dict[str, Any] | list[Any] | str | int | float | bool


_completion = msgspec.json.Decoder(_Completion)
_refusal = msgspec.json.Decoder(_RefusalBody)
_refused_function = msgspec.json.Decoder(_RefusedFunction)

_STOP_REASONS: dict[str, StopReason] = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "model_length": "length",  # Mistral
    "content_filter": "refusal",
    "sensitive": "refusal",  # Z.ai
}


def refused_call(content: bytes) -> ToolCall | None:
    """The call in an error of Groq, which checks arguments itself and answers wrong ones with an error; None elsewhere.

    Read as the call that it is, the model is told what is wrong with it, as with any other server, and can mend it.
    https://console.groq.com/docs/tool-use
    """
    try:
        error = _refusal.decode(content).error
        if error.code != "tool_use_failed" or not isinstance(error.failed_generation, str):
            return None
        function = _refused_function.decode(error.failed_generation)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    return ToolCall("", function.name, text_of_arguments(function.arguments)) if function.name else None


def read_completion(endpoint: Endpoint, content: bytes) -> ModelResponse:
    """The answer that a body holds. Raises `ProviderError` when it holds none."""
    try:
        completion = _completion.decode(content)
    except msgspec.MsgspecError as error:
        raise endpoint.unexpected("sent a reply that is no chat completion") from error
    if completion.error is not None:
        refused = refused_call(content)
        if refused is not None:
            return ModelResponse(tool_calls=(refused,), model=completion.model or "")
        raise endpoint.failure(read_complaint(content))
    if not completion.choices:
        raise endpoint.unexpected("sent a chat completion without a choice")
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


class StreamedReply:
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
            refused = refused_call(data)
            if refused is None:
                raise self._endpoint.failure(read_complaint(data))
            self._finish = "tool_calls"
            place = len(self._calls.calls())  # behind those that it has let pass
            return [self._calls.add(place, None, refused.name, refused.arguments)]
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
