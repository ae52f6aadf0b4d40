"""Recorded traffic of responses APIs (OpenAI, DeepSeek), read through `OpenAIResponsesModel`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.models.replaying import Exchange, Replay, cassettes, exchanges
from toolkit.messages import UserMessage
from toolkit.models import (
    ModelDone,
    ModelRequest,
    ModelResponse,
    OpenAIResponsesModel,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
)

CASSETTES = cassettes("responses")


def model_for(exchange: Exchange, replay: Replay, http: Any) -> OpenAIResponsesModel:
    path = exchange.path.removesuffix("/responses")
    return OpenAIResponsesModel(exchange.request["model"], http=http, base_url=replay.base_url(exchange.cassette, path))


async def answered(model: OpenAIResponsesModel, exchange: Exchange) -> tuple[ModelResponse, str, str, str]:
    """The response, with the text, the reasoning and the arguments of all calls as they were streamed."""
    request = ModelRequest([UserMessage("as recorded")])
    if not exchange.is_streamed:
        response = await model.respond(request)
        arguments = "".join(str(call.arguments) for call in response.tool_calls)
        return response, response.text, response.reasoning, arguments
    text, reasoning, arguments = "", "", ""
    async for delta in model.stream(request):
        if isinstance(delta, TextDelta):
            text += delta.text
        elif isinstance(delta, ReasoningDelta):
            reasoning += delta.text
        elif isinstance(delta, ToolCallDelta):
            arguments += delta.arguments
        elif isinstance(delta, ModelDone):
            return delta.response, text, reasoning, arguments
    raise AssertionError("no end")


def recorded_response(exchange: Exchange) -> dict[str, Any]:
    if not exchange.is_streamed:
        answer: dict[str, Any] = exchange.answer
        return answer
    events = [json.loads(line[6:]) for line in exchange.answer.split("\n") if line.startswith("data: {")]
    response: dict[str, Any] = events[-1]["response"]
    return response


@pytest.mark.parametrize("cassette", CASSETTES)
async def test_each_recorded_answer_is_read_as_it_was_given(cassette: str, replay: Replay, http: Any) -> None:
    replay.rewind(cassette)
    for exchange in exchanges(cassette):
        response, text, reasoning, arguments = await answered(model_for(exchange, replay, http), exchange)

        wanted = recorded_response(exchange)
        output = wanted["output"]
        messages = [item for item in output if item["type"] == "message"]
        calls = [item for item in output if item["type"] == "function_call"]
        thoughts = [
            part["text"]
            for item in output
            if item["type"] == "reasoning"
            for part in item.get("summary") or item.get("content") or []
        ]
        said = "\n\n".join("".join(part["text"] for part in item["content"]) for item in messages)
        assert (response.text, text) == (said, said)
        assert (response.reasoning, reasoning) == ("\n\n".join(thoughts), "\n\n".join(thoughts))
        assert [(call.id, call.name, call.arguments) for call in response.tool_calls] == [
            (call["call_id"], call["name"], call["arguments"]) for call in calls
        ]
        assert arguments == "".join(call["arguments"] for call in calls)
        assert response.stop_reason == ("tool_calls" if calls else "stop")
        assert response.model == wanted["model"]
        usage = wanted["usage"]
        assert response.usage.input_tokens == usage["input_tokens"]
        assert response.usage.output_tokens == usage["output_tokens"]
        assert response.usage.cached_tokens == usage["input_tokens_details"]["cached_tokens"]
        assert response.usage.reasoning_tokens == usage["output_tokens_details"]["reasoning_tokens"]
