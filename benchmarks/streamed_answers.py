"""Streamed answers as providers send them, for measuring: pieces of text, then a tool call in pieces."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

TEXTS = 300
ARGUMENTS = 100
WORDS = ("The ", "forecast ", "for ", "Tromsø ", "says ", "-3 °C ", "and ", "snow, ")


def chat() -> list[bytes]:
    """As OpenAI's chat completions stream them."""
    frame: dict[str, Any] = {
        "id": "chatcmpl-B5kTn3sQ0",
        "object": "chat.completion.chunk",
        "created": 1_790_000_000,
        "model": "gpt-4o-2024-08-06",
        "service_tier": "default",
        "system_fingerprint": "fp_50cad350e4",
    }

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**frame, "choices": [choice], "usage": None, "obfuscation": "x7Kq"}

    def chunks() -> Iterator[dict[str, Any]]:
        yield chunk({"role": "assistant", "content": "", "refusal": None})
        for word in words():
            yield chunk({"content": word})
        function = {"name": "get_weather", "arguments": ""}
        yield chunk({"tool_calls": [{"index": 0, "id": "call_R2v", "type": "function", "function": function}]})
        for piece in arguments():
            yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
        yield chunk({}, "tool_calls")
        usage = {"prompt_tokens": 80, "completion_tokens": 410, "total_tokens": 490}
        yield {**frame, "choices": [], "usage": usage}

    return [*events(chunks()), b"data: [DONE]\n\n"]


def responses() -> list[bytes]:
    """As OpenAI's responses stream them."""
    frame: dict[str, Any] = {
        "id": "resp_68b1",
        "object": "response",
        "created_at": 1_790_000_000,
        "model": "gpt-4o-2024-08-06",
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    usage = {
        "input_tokens": 80,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 410,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 490,
    }
    said = {"type": "output_text", "text": "".join(words()), "annotations": [], "logprobs": []}
    message = {"id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "content": [said]}
    call = {
        "id": "fc_1",
        "type": "function_call",
        "status": "completed",
        "call_id": "call_R2v",
        "name": "get_weather",
        "arguments": "".join(arguments()),
    }
    text = {"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0}
    piece = {"type": "response.function_call_arguments.delta", "item_id": "fc_1", "output_index": 1}

    def all_events() -> Iterator[dict[str, Any]]:
        yield {"type": "response.created", "response": {**frame, "status": "in_progress", "output": []}}
        yield {"type": "response.output_item.added", "output_index": 0, "item": {**message, "content": []}}
        for word in words():
            yield {**text, "delta": word, "logprobs": [], "obfuscation": "x7Kq"}
        yield {"type": "response.output_item.done", "output_index": 0, "item": message}
        yield {"type": "response.output_item.added", "output_index": 1, "item": {**call, "arguments": ""}}
        for part in arguments():
            yield {**piece, "delta": part, "obfuscation": "x7Kq"}
        yield {"type": "response.output_item.done", "output_index": 1, "item": call}
        done = {**frame, "status": "completed", "output": [message, call], "usage": usage}
        yield {"type": "response.completed", "response": done}

    numbered = ({**event, "sequence_number": number} for number, event in enumerate(all_events()))
    return list(events(numbered, are_named=True))


def anthropic() -> list[bytes]:
    """As Anthropic's messages stream them."""
    usage = {"input_tokens": 80, "output_tokens": 1}
    message: dict[str, Any] = {
        "id": "msg_01X",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    call: dict[str, Any] = {"type": "tool_use", "id": "toolu_R2v", "name": "get_weather", "input": {}}

    def all_events() -> Iterator[dict[str, Any]]:
        yield {"type": "message_start", "message": message}
        yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        for word in words():
            yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}}
        yield {"type": "content_block_stop", "index": 0}
        yield {"type": "content_block_start", "index": 1, "content_block": call}
        for piece in arguments():
            delta = {"type": "input_json_delta", "partial_json": piece}
            yield {"type": "content_block_delta", "index": 1, "delta": delta}
        yield {"type": "content_block_stop", "index": 1}
        end = {"stop_reason": "tool_use", "stop_sequence": None}
        yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": 410}}
        yield {"type": "message_stop"}

    return list(events(all_events(), are_named=True))


def gemini() -> list[bytes]:
    """As Gemini streams them. It gives a call whole, so every piece is one of text."""
    counts = {"promptTokenCount": 80, "candidatesTokenCount": 10, "totalTokenCount": 90}
    frame = {"usageMetadata": counts, "modelVersion": "gemini-2.5-flash", "responseId": "x7Kq"}

    def part(content: dict[str, Any], finish: dict[str, str]) -> dict[str, Any]:
        return {"candidates": [{"content": {"parts": [content], "role": "model"}, **finish, "index": 0}], **frame}

    call = {"functionCall": {"name": "get_weather", "args": {"cities": list(range(10))}}}
    return list(events([*(part({"text": word}, {}) for word in words()), part(call, {"finishReason": "STOP"})]))


def words() -> list[str]:
    return [WORDS[number % len(WORDS)] for number in range(TEXTS)]


def arguments() -> list[str]:
    """The JSON `{"cities": [0, 1, ...]}` in pieces."""
    return ['{"cities": [0', *(f", {number}" for number in range(1, ARGUMENTS - 1)), "]}"]


def events(values: Iterable[dict[str, Any]], *, are_named: bool = False) -> Iterator[bytes]:
    """Server-sent events, each the bytes that one read of the connection gives."""
    for value in values:
        name = f"event: {value['type']}\n" if are_named else ""
        yield f"{name}data: {json.dumps(value, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()
