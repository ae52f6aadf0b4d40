"""What `OpenAIChatModel` sends, beside what another client was recorded to send for the same conversation."""

from __future__ import annotations

from typing import Any

import httpx

from tests.models.differences import differences, unexplained, unused
from tests.models.replaying import Exchange, cassettes, exchanges, replaying
from tests.models.test_openai_chat_recorded import ERRORS
from toolkit.errors import ProviderError
from toolkit.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    UserMessage,
)
from toolkit.models import ModelRequest, ModelSettings, OpenAIChatModel

EXPLAINED = {
    r"\$\.n: nothing, recorded 1": "one answer is what the server gives unasked",
    r"\$\.stream_options: .*, recorded nothing": "Groq gives the usage unasked, others do not; it is asked for of all",
    r"\$\.tools\[\d+\]\.function\.strict: nothing, recorded true": "strict is sent to servers that know it only",
    r"\$\.messages\[\d+\]\.content: null, recorded nothing": "calls without a text: null and nothing mean the same",
    r"\$\.messages\[\d+\]\.reasoning_content: nothing, recorded \"\"": "an empty reasoning says nothing",
}
KNOWN = {"messages", "tools", "model", "stream", "stream_options", "tool_choice", "n"}


def message_of(recorded: dict[str, Any], names: dict[str, str]) -> Message:
    content, role = recorded.get("content"), recorded["role"]
    if role == "system":
        return SystemMessage(content)
    if role == "tool":
        return ToolMessage(recorded["tool_call_id"], names[recorded["tool_call_id"]], content)
    if role == "assistant":
        calls = [
            ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"])
            for call in recorded.get("tool_calls") or []
        ]
        names.update({call.id: call.name for call in calls})
        return AssistantMessage(
            content or "", calls, recorded.get("reasoning_content") or recorded.get("reasoning") or ""
        )
    if isinstance(content, str):
        return UserMessage(content)
    return UserMessage(
        [
            TextPart(part["text"]) if part["type"] == "text" else ImagePart(url=part["image_url"]["url"])
            for part in content
        ]
    )


def request_of(recorded: dict[str, Any]) -> ModelRequest:
    """The request of ours for the conversation that was recorded."""
    names: dict[str, str] = {}
    tools = [tool["function"] for tool in recorded.get("tools", [])]
    return ModelRequest(
        [message_of(message, names) for message in recorded["messages"]],
        [ToolDefinition(tool["name"], tool["description"], tool["parameters"]) for tool in tools],
        ModelSettings(extra={key: value for key, value in recorded.items() if key not in KNOWN}),
        tool_choice=recorded.get("tool_choice"),
    )


async def send(exchange: Exchange, base_url: str) -> None:
    path = exchange.path.removesuffix("/chat/completions")
    async with httpx.AsyncClient(trust_env=False) as http:
        server = exchange.cassette.split("-")[0]
        model = OpenAIChatModel(exchange.request["model"], http=http, base_url=base_url + path, server=server)
        request = request_of(exchange.request)
        try:
            if exchange.is_streamed:
                async for _ in model.stream(request):
                    pass
            else:
                await model.respond(request)
        except ProviderError:
            assert (exchange.cassette, exchange.number) in ERRORS


async def test_what_is_sent_differs_from_what_was_recorded_for_known_reasons_only() -> None:
    found: list[str] = []
    with replaying() as replay:
        for cassette in cassettes("chat"):
            for exchange in exchanges(cassette):
                await send(exchange, replay.base_url(cassette))
            log = replay.log(cassette)
            assert len(log) == len(exchanges(cassette))
            found += [line for entry in log for line in differences(entry["sent"], entry["recorded"])]

    assert unexplained(found, EXPLAINED) == []
    assert unused(found, EXPLAINED) == []
