"""Recorded traffic of OpenAI and of servers that speak like it, read through `OpenAIChatModel`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.models.asking import told
from tests.models.replaying import Exchange, Replay, cassettes, exchanges
from toolkit.errors import BadRequestError, ProviderError, RateLimitError, UnexpectedReplyError
from toolkit.messages import UserMessage
from toolkit.models import ModelRequest, ModelResponse, OpenAIChatModel

CASSETTES = cassettes("chat")
ERRORS: dict[tuple[str, int], type[ProviderError]] = {
    ("openai-chat-model-name-suggestion-openai-chat", 0): BadRequestError,
    **{("openrouter-chat-openrouter-errors-raised", number): RateLimitError for number in range(3)},
    ("groq-chat-tool-use-failed-error-streaming-with-text", 0): UnexpectedReplyError,
}


NOTHING_USED = {"prompt_tokens": 0, "completion_tokens": 0}


def model_for(exchange: Exchange, replay: Replay, http: Any) -> OpenAIChatModel:
    path = exchange.path.removesuffix("/chat/completions")
    base_url = replay.base_url(exchange.cassette, path)
    return OpenAIChatModel(
        exchange.request["model"], http=http, base_url=base_url, server=exchange.cassette.split("-")[0]
    )


async def answered(model: OpenAIChatModel, exchange: Exchange) -> tuple[ModelResponse, str, str]:
    """The response, with the text and the reasoning as they were streamed."""
    return await told(model, ModelRequest([UserMessage("as recorded")]), is_streamed=exchange.is_streamed)


def recorded_answer(exchange: Exchange) -> dict[str, Any]:
    """What was recorded, read another way: whole, from the parsed JSON of the whole stream."""
    if not exchange.is_streamed:
        message, usage = exchange.answer["choices"][0]["message"], exchange.answer["usage"]
        return {
            "text": message.get("content") or "",
            "reasoning": message.get("reasoning_content") or message.get("reasoning") or "",
            "calls": [
                (call["id"], call["function"]["name"], json.loads(call["function"]["arguments"]))
                for call in message.get("tool_calls") or []
            ],
            "usage": usage,
        }
    lines = [line[6:] for line in exchange.answer.split("\n") if line.startswith("data: {")]
    chunks = [json.loads(line) for line in lines]
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks if chunk.get("choices")]
    pieces = [piece for delta in deltas for piece in delta.get("tool_calls") or []]
    calls = []
    for index in sorted({piece["index"] for piece in pieces}):
        own = [piece for piece in pieces if piece["index"] == index]
        arguments = "".join(piece["function"].get("arguments") or "" for piece in own)
        calls.append((own[0]["id"], own[0]["function"]["name"], json.loads(arguments)))
    refused = [json.loads(chunk["error"]["failed_generation"]) for chunk in chunks if "error" in chunk]
    refused = [(f"call_{number}", one["name"], one["arguments"]) for number, one in enumerate(refused, len(calls) + 1)]
    return {
        "text": "".join(delta.get("content") or "" for delta in deltas),
        "reasoning": "".join(delta.get("reasoning_content") or delta.get("reasoning") or "" for delta in deltas),
        "calls": [*calls, *refused],
        "usage": next((chunk["usage"] for chunk in reversed(chunks) if chunk.get("usage")), None) or NOTHING_USED,
    }


@pytest.mark.parametrize("cassette", CASSETTES)
async def test_each_recorded_answer_is_read_as_it_was_given(cassette: str, replay: Replay, http: Any) -> None:
    replay.rewind(cassette)
    for exchange in exchanges(cassette):
        model = model_for(exchange, replay, http)
        wanted_error = ERRORS.get((cassette, exchange.number))
        if wanted_error is not None:
            with pytest.raises(wanted_error) as caught:
                await answered(model, exchange)
            assert caught.value.provider == cassette.split("-")[0]
            continue

        response, text, reasoning = await answered(model, exchange)

        wanted = recorded_answer(exchange)
        calls = [(call.id, call.name, json.loads(call.arguments)) for call in response.tool_calls]  # type: ignore[arg-type]
        assert (response.text, text) == (wanted["text"], wanted["text"])
        assert (response.reasoning, reasoning) == (wanted["reasoning"], wanted["reasoning"])
        assert calls == wanted["calls"]
        assert response.stop_reason == ("tool_calls" if calls else "stop")
        assert response.usage.input_tokens == wanted["usage"]["prompt_tokens"]
        assert response.usage.output_tokens == wanted["usage"]["completion_tokens"]
        details = wanted["usage"].get("completion_tokens_details") or {}
        assert response.usage.reasoning_tokens == details.get("reasoning_tokens", 0)
        details = wanted["usage"].get("prompt_tokens_details") or {}
        assert response.usage.cached_tokens == details.get("cached_tokens", 0)
