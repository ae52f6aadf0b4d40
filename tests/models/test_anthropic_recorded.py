"""Recorded traffic of Anthropic, through `AnthropicModel`: what it answers, what we send, and whole runs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.http.loopback import Reply, serving
from tests.models.asking import ran, told
from tests.models.replaying import Exchange, Replay, cassettes, exchanges
from toolkit import Agent, Run, Tool
from toolkit.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    UserMessage,
    messages_from_json,
    messages_to_json,
)
from toolkit.models import (
    AnthropicModel,
    ModelRequest,
    ModelSettings,
)

CASSETTES = cassettes("messages")
MULTI_TURN = ("anthropic-messages-anthropic-native-tool-search-streaming", "anthropic-messages-mixed-tools-no-output")
STOP_REASONS = {"end_turn": "stop", "tool_use": "tool_calls", "refusal": "refusal"}


def test_there_are_recordings() -> None:
    if not CASSETTES:
        pytest.skip("the shared recordings are not here: they lie beside the repository and are not part of it")

    assert set(MULTI_TURN) < set(CASSETTES)


def model_for(exchange: Exchange, replay: Replay, http: Any, **settings: Any) -> AnthropicModel:
    base_url = replay.base_url(exchange.cassette, "/v1")
    return AnthropicModel(exchange.request["model"], http=http, base_url=base_url, **settings)


def recorded_answer(exchange: Exchange) -> dict[str, Any]:
    """What was recorded, read another way: as the whole message, from the parsed JSON of the whole stream."""
    if not exchange.is_streamed:
        message: dict[str, Any] = exchange.answer
        return message
    events = [json.loads(line[6:]) for line in exchange.answer.split("\n") if line.startswith("data: ")]
    message = next(event["message"] for event in events if event["type"] == "message_start")
    for event in events:
        if event["type"] == "content_block_start":
            pieces = [
                other["delta"]
                for other in events
                if other["type"] == "content_block_delta" and other["index"] == event["index"]
            ]
            block = dict(event["content_block"])
            if block["type"] == "text":
                block["text"] += "".join(piece["text"] for piece in pieces)
            elif "input" in block:
                block["input"] = json.loads("".join(piece["partial_json"] for piece in pieces))
            message["content"].append(block)
        elif event["type"] == "message_delta":
            message |= event["delta"]
            message["usage"] |= event["usage"]
    return message


@pytest.mark.parametrize("cassette", CASSETTES)
async def test_each_recorded_answer_is_read_as_it_was_given(cassette: str, replay: Replay, http: Any) -> None:
    replay.rewind(cassette)
    for exchange in exchanges(cassette):
        model = model_for(exchange, replay, http)

        request = ModelRequest([UserMessage("as recorded")])
        response, text, reasoning = await told(model, request, is_streamed=exchange.is_streamed)

        wanted = recorded_answer(exchange)
        wanted_text = "".join(block["text"] for block in wanted["content"] if block["type"] == "text")
        calls = [(call.id, call.name, json.loads(call.arguments)) for call in response.tool_calls]  # type: ignore[arg-type]
        usage, details = wanted["usage"], wanted["usage"].get("output_tokens_details") or {}
        assert (response.text, text) == (wanted_text, wanted_text)
        assert (response.reasoning, reasoning) == ("", "")
        assert calls == [
            (block["id"], block["name"], block["input"]) for block in wanted["content"] if block["type"] == "tool_use"
        ]
        assert response.stop_reason == STOP_REASONS[wanted["stop_reason"]]
        assert response.model == wanted["model"]
        assert response.usage.input_tokens == usage["input_tokens"]
        assert response.usage.output_tokens == usage["output_tokens"]
        assert response.usage.cached_tokens == usage.get("cache_read_input_tokens", 0)
        assert response.usage.reasoning_tokens == details.get("thinking_tokens", 0)


# What we send

# Each difference between our requests and those of the recorded clients, by the field's place, and its reason.
DIFFERENCES = {
    "tool_choice": "the recorder says auto, which is the default; we send what the application chose",
    "messages.content.is_error": "the recorder says false, which is the default",
    "messages.content.content": "the recorder writes some results as a list of one text, which means the same",
    "tools.strict": "we send strict for every schema that the grammar holds; the recorder where its user said so",
    "messages.content": "the recorder of this fixture writes one text as the whole content, which means the same",
}


def request_of(recorded: dict[str, Any]) -> ModelRequest:
    """The request of ours that asks what the recorded one asked."""
    extra = {name: recorded[name] for name in ("thinking", "output_config") if name in recorded}
    own = [tool for tool in recorded.get("tools", []) if "input_schema" in tool and "defer_loading" not in tool]
    if len(own) < len(recorded.get("tools", [])):
        extra["tools"] = recorded["tools"]  # tools of the API's own are the application's business
    choice = recorded.get("tool_choice", {}).get("type")
    return ModelRequest(
        messages_of(recorded["messages"]),
        [ToolDefinition(tool["name"], tool["description"], tool["input_schema"]) for tool in own],
        ModelSettings(max_tokens=recorded["max_tokens"], extra=extra or None),
        tool_choice={"any": "required"}.get(choice),
    )


def messages_of(recorded: list[dict[str, Any]]) -> list[Message]:
    messages: list[Message] = []
    for turn in recorded:
        if isinstance(turn["content"], str):
            messages.append(UserMessage(turn["content"]))
            continue
        texts = "".join(block["text"] for block in turn["content"] if block["type"] == "text")
        if turn["role"] == "assistant":
            calls = [
                ToolCall(block["id"], block["name"], block["input"])
                for block in turn["content"]
                if block["type"] == "tool_use"
            ]
            kept = [{"type": "tool_use"} if block["type"] == "tool_use" else block for block in turn["content"]]
            messages.append(AssistantMessage(texts, calls, "", {"provider": "anthropic", "content": kept}))
            continue
        for block in turn["content"]:
            if block["type"] == "tool_result":
                content = block["content"]
                text = content if isinstance(content, str) else content[0]["text"]
                messages.append(ToolMessage(block["tool_use_id"], "as recorded", text, block["is_error"]))
        if texts:
            messages.append(UserMessage(texts))
    return messages


def differences(ours: Any, theirs: Any, place: str = "") -> set[str]:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        inner = [
            differences(ours.get(name), theirs.get(name), f"{place}.{name}".lstrip("."))
            for name in ours.keys() | theirs.keys()
        ]
        return set().union(*inner)
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return set().union(*(differences(*pair, place) for pair in zip(ours, theirs, strict=True)))
    return set() if ours == theirs else {place}


@pytest.mark.skipif(not CASSETTES, reason="the shared recordings are not here")
async def test_what_we_send_differs_from_what_was_recorded_where_the_table_says_why(replay: Replay, http: Any) -> None:
    found: set[str] = set()
    for cassette in CASSETTES:
        replay.rewind(cassette)
        for exchange in exchanges(cassette):
            await told(
                model_for(exchange, replay, http), request_of(exchange.request), is_streamed=exchange.is_streamed
            )

        entries = replay.log(cassette)
        assert len(entries) == len(exchanges(cassette))
        found |= set().union(*(differences(entry["sent"], entry["recorded"]) for entry in entries))

    assert found == DIFFERENCES.keys()


# Whole runs


class RateTool(Tool):
    """Look up the current exchange rate between two currencies."""

    name = "get_exchange_rate"

    def handler(self, from_currency: str, to_currency: str) -> str:
        return f"1 {from_currency} = 0.92 {to_currency}"


class WeatherTool(Tool):
    """Get the weather."""

    name = "get_weather"

    def handler(self, city: str) -> str:
        return f"Weather in {city}: Sunny, 22°C"


class ElevationTool(Tool):
    """Get the elevation."""

    name = "get_elevation"

    def handler(self, city: str) -> str:
        return f"Elevation of {city}: 650m above sea level"


def agent_for(cassette: str, base_url: str, http: Any) -> Agent:
    request = exchanges(cassette)[0].request
    has_search = "tool_search" in json.dumps(request["tools"])
    settings = ModelSettings(max_tokens=4096, extra={"tools": request["tools"]} if has_search else None)
    model = AnthropicModel(request["model"], http=http, base_url=base_url, settings=settings)
    return Agent(model, tools=[RateTool, WeatherTool, ElevationTool])


def check_run(run: Run, cassette: str, sent: dict[str, Any]) -> None:
    _, second = exchanges(cassette)
    assert run.response == recorded_answer(second)["content"][0]["text"]
    assert [record.error for record in run.calls] == [None] * len(run.calls)
    assert differences(sent["messages"], second.request["messages"], "messages") <= DIFFERENCES.keys()
    assert messages_from_json(messages_to_json(run.messages)) == run.messages


@pytest.mark.parametrize("cassette", [name for name in MULTI_TURN if name in CASSETTES])
async def test_a_streamed_run_calls_its_tools_and_sends_their_results_back(
    cassette: str, replay: Replay, http: Any
) -> None:
    replay.rewind(cassette)
    prompt = exchanges(cassette)[0].request["messages"][0]["content"][0]["text"]
    agent = agent_for(cassette, replay.base_url(cassette, "/v1"), http)

    run = await ran(agent, prompt, is_streamed=True)

    check_run(run, cassette, replay.log(cassette)[1]["sent"])


@pytest.mark.parametrize("cassette", [name for name in MULTI_TURN if name in CASSETTES])
async def test_a_run_calls_its_tools_and_sends_their_results_back(cassette: str, http: Any) -> None:
    prompt = exchanges(cassette)[0].request["messages"][0]["content"][0]["text"]
    async with serving([Reply(recorded_answer(exchange)) for exchange in exchanges(cassette)]) as server:
        run = await agent_for(cassette, server.url, http).run(prompt)

    check_run(run, cassette, json.loads(server.requests[1].body))


@pytest.mark.parametrize("cassette", [name for name in CASSETTES if name.endswith("refusal-response")])
async def test_why_it_refused_is_in_the_provider_data(cassette: str, replay: Replay, http: Any) -> None:
    replay.rewind(cassette)
    (exchange,) = exchanges(cassette)

    response, *_ = await told(model_for(exchange, replay, http), ModelRequest([UserMessage("x")]), is_streamed=True)

    assert response.provider_data == {
        "provider": "anthropic",
        "stop_details": recorded_answer(exchange)["stop_details"],
    }
