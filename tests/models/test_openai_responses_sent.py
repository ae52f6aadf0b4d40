"""What `OpenAIResponsesModel` sends, beside what another client was recorded to send for the same conversation."""

from __future__ import annotations

from typing import Any

import httpx

from tests.models.differences import differences, unexplained, unused
from tests.models.replaying import Exchange, cassettes, exchanges, replaying
from toolkit.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    UserMessage,
)
from toolkit.models import ModelRequest, ModelSettings, OpenAIResponsesModel

EXPLAINED = {
    r"\$\.stream: false, recorded nothing": "not streamed is what nothing means",
    r"\$\.instructions: nothing, recorded \"\"": "no instructions, and empty ones, mean the same",
    r"\$\.include: nothing, recorded .*": "asked of OpenAI's own address only, and the replay server is another",
    r"\$\.previous_response_id: nothing, recorded null": "null and nothing mean the same",
}
KNOWN = {"input", "tools", "model", "stream", "tool_choice", "instructions", "include", "previous_response_id"}


def messages_of(recorded: list[dict[str, Any]]) -> list[Message]:
    """The conversation of ours. Items of one answer (reasoning, texts, calls) are one message."""
    messages: list[Message] = []
    names: dict[str, str] = {}
    answer: list[dict[str, Any]] = []
    for item in [*recorded, {"role": "end"}]:
        kind = item.get("type", "message")
        is_answer = kind in ("reasoning", "function_call") or item.get("role") == "assistant"
        if is_answer:
            answer.append(item)
            continue
        if answer:
            messages.append(answer_of(answer, names))
            answer = []
        if kind == "function_call_output":
            messages.append(ToolMessage(item["call_id"], names[item["call_id"]], item["output"]))
        elif item["role"] == "user":
            messages.append(UserMessage(item["content"]))
        elif item["role"] == "system":
            messages.append(SystemMessage(item["content"]))
    return messages


def answer_of(items: list[dict[str, Any]], names: dict[str, str]) -> AssistantMessage:
    calls = [ToolCall(i["call_id"], i["name"], i["arguments"]) for i in items if i.get("type") == "function_call"]
    names.update({call.id: call.name for call in calls})
    text = "\n\n".join(text_of(item) for item in items if item.get("role") == "assistant")
    kept = None
    if any(item.get("type") == "reasoning" for item in items):
        given = [None if item.get("type") == "function_call" else item for item in items]
        kept = {"provider": "openai-responses", "text": text, "items": given}
    return AssistantMessage(text, calls, "", kept)


def text_of(item: dict[str, Any]) -> str:
    content = item["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def request_of(recorded: dict[str, Any]) -> ModelRequest:
    messages = messages_of(recorded["input"])
    if recorded.get("instructions"):
        messages.insert(0, SystemMessage(recorded["instructions"]))
    functions = [tool for tool in recorded.get("tools", []) if tool["type"] == "function"]
    extra = {key: value for key, value in recorded.items() if key not in KNOWN}
    if len(functions) < len(recorded.get("tools", [])):  # the server's own tools
        extra["tools"] = recorded["tools"]
        extra["tool_choice"] = recorded["tool_choice"]
    return ModelRequest(
        messages,
        [ToolDefinition(tool["name"], tool["description"], tool["parameters"]) for tool in functions],
        ModelSettings(extra=extra),
        tool_choice=recorded.get("tool_choice"),
    )


def without_empty_texts(recorded: dict[str, Any]) -> dict[str, Any]:
    """The recorded request without an assistant's empty texts beside calls, which we leave out."""
    kept = [item for item in recorded["input"] if item.get("role") != "assistant" or item.get("content")]
    return {**recorded, "input": kept}


async def send(exchange: Exchange, base_url: str) -> None:
    path = exchange.path.removesuffix("/responses")
    async with httpx.AsyncClient(trust_env=False) as http:
        model = OpenAIResponsesModel(exchange.request["model"], http=http, base_url=base_url + path)
        request = request_of(exchange.request)
        if exchange.is_streamed:
            async for _ in model.stream(request):
                pass
        else:
            await model.respond(request)


async def test_what_is_sent_differs_from_what_was_recorded_for_known_reasons_only() -> None:
    found: list[str] = []
    with replaying() as replay:
        for cassette in cassettes("responses"):
            for exchange in exchanges(cassette):
                await send(exchange, replay.base_url(cassette))
            log = replay.log(cassette)
            assert len(log) == len(exchanges(cassette))
            found += [
                line for entry in log for line in differences(entry["sent"], without_empty_texts(entry["recorded"]))
            ]

    assert unexplained(found, EXPLAINED) == []
    assert unused(found, EXPLAINED) == []
