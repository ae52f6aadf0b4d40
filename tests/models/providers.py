"""Each wire format as a server would speak it, for tests that hold for all adapters: answers of our own."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from toolkit.models import AnthropicModel, GeminiModel, OpenAIChatModel, OpenAIResponsesModel
from toolkit.models.provider import ProviderModel


def sse(*events: Any) -> bytes:
    """The events as a server sends them; a text as it is, other values as JSON."""
    return b"".join(
        f"data: {event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)}\n\n".encode()
        for event in events
    )


@dataclass(frozen=True)
class Format:
    """A wire format.

    Attributes:
        whole: The body of an answer that says "Hello".
        begun: The first events of a streamed answer, "Hel" among them.
        ended: The rest of them.
        error: An error inside a stream, of a provider that has too much to do.
    """

    name: str
    model: Callable[..., ProviderModel]
    whole: dict[str, Any]
    begun: bytes
    ended: bytes
    error: bytes


def chat_piece(text: str | None = None, finish: str | None = None) -> dict[str, Any]:
    delta = {} if text is None else {"content": text}
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], "model": "m"}


CHAT = Format(
    "chat",
    OpenAIChatModel,
    {"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]},
    sse(chat_piece("Hel")),
    sse(chat_piece("lo"), chat_piece(finish="stop"), "[DONE]"),
    sse({"error": {"message": "busy", "type": "server_error"}}),
)

MESSAGE = {"type": "message", "content": [{"type": "output_text", "text": "Hello"}]}
RESPONSES = Format(
    "responses",
    OpenAIResponsesModel,
    {"status": "completed", "output": [MESSAGE]},
    sse({"type": "response.output_text.delta", "output_index": 0, "delta": "Hel"}),
    sse(
        {"type": "response.output_text.delta", "output_index": 0, "delta": "lo"},
        {"type": "response.completed", "response": {"status": "completed", "output": [MESSAGE]}},
    ),
    sse({"type": "error", "code": "server_error", "message": "busy"}),
)

ANTHROPIC = Format(
    "anthropic",
    AnthropicModel,
    {"type": "message", "content": [{"type": "text", "text": "Hello"}], "stop_reason": "end_turn", "usage": {}},
    sse(
        {"type": "message_start", "message": {"model": "m", "content": [], "usage": {"input_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hel"}},
    ),
    sse(
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "lo"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ),
    sse({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}),
)


def gemini_piece(text: str, finish: str | None = None) -> dict[str, Any]:
    candidate = {"content": {"role": "model", "parts": [{"text": text}]}, "index": 0}
    return {"candidates": [candidate if finish is None else {**candidate, "finishReason": finish}]}


GEMINI = Format(
    "gemini",
    GeminiModel,
    gemini_piece("Hello", "STOP"),
    sse(gemini_piece("Hel")),
    sse(gemini_piece("lo", "STOP")),
    sse({"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}),
)

FORMATS = [CHAT, RESPONSES, ANTHROPIC, GEMINI]
