"""Responses by value: what goes back of an earlier answer, settings, media, refusals and ends."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from toolkit.messages import AssistantMessage, ImagePart, ToolCall, ToolMessage, UserMessage
from toolkit.models import ModelRequest, ModelResponse, ModelSettings, OpenAIResponsesModel

HELLO = UserMessage("Hi")
DONE = {"status": "completed", "output": []}


async def answered(answer: dict[str, Any], request: ModelRequest | None = None) -> tuple[ModelResponse, Any]:
    """The response to an answer, and the body that was sent."""
    sent: list[Any] = []

    def respond(asked: httpx.Request) -> httpx.Response:
        sent.append(json.loads(asked.content))
        return httpx.Response(200, json=answer)

    async with httpx.AsyncClient(transport=httpx.MockTransport(respond)) as http:
        model = OpenAIResponsesModel("m", http=http, base_url="http://127.0.0.1/v1")
        return await model.respond(request or ModelRequest([HELLO])), sent[0]


# What goes back

REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}
KEPT: dict[str, Any] = {"provider": "openai-responses", "text": "", "items": [REASONING, None]}
CALL = ToolCall("c1", "weather", '{"city": "Oslo"}')
WRITTEN = {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city": "Oslo"}'}
GOING_BACK: dict[str, tuple[dict[str, Any] | None, list[Any]]] = {
    "as it came": (KEPT, [REASONING, WRITTEN]),
    "nothing kept": (None, [WRITTEN]),
    "of another provider": ({"provider": "anthropic", "content": []}, [WRITTEN]),
    "of another text": ({**KEPT, "text": "Sunny"}, [WRITTEN]),
    "with another number of calls": ({**KEPT, "items": [REASONING, None, None]}, [WRITTEN]),
    "with a field that we never wrote": ({**KEPT, "role": "system"}, [WRITTEN]),
    "without items": ({"provider": "openai-responses", "text": ""}, [WRITTEN]),
    "with items that are none": ({**KEPT, "items": ["x", None]}, [WRITTEN]),
}


@pytest.mark.parametrize(("data", "wanted"), GOING_BACK.values(), ids=GOING_BACK)
async def test_an_answer_goes_back_as_it_came_only_where_it_still_fits(
    data: dict[str, Any] | None, wanted: list[Any]
) -> None:
    said = AssistantMessage("", [CALL], "", data)

    _, sent = await answered(DONE, ModelRequest([HELLO, said, ToolMessage("c1", "weather", "Rain.")]))

    result = {"type": "function_call_output", "call_id": "c1", "output": "Rain."}
    assert sent["input"] == [{"role": "user", "content": "Hi"}, *wanted, result]


async def test_an_image_of_a_tool_goes_into_its_result() -> None:
    said = AssistantMessage("", [CALL])
    result = ToolMessage("c1", "weather", "A map", media=[ImagePart(data=b"png", media_type="image/png")])

    _, sent = await answered(DONE, ModelRequest([HELLO, said, result]))

    image = {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,cG5n"}
    assert sent["input"][-1]["output"] == [{"type": "input_text", "text": "A map"}, image]


async def test_settings_of_zero_are_sent_and_those_that_say_nothing_are_not() -> None:
    _, sent = await answered(DONE, ModelRequest([HELLO], (), ModelSettings(temperature=0, top_p=0, max_tokens=9)))

    assert sent == {
        "model": "m",
        "stream": False,
        "input": [{"role": "user", "content": "Hi"}],
        "temperature": 0,
        "top_p": 0,
        "max_output_tokens": 9,
    }


# How an answer ends


def message(**part: str) -> dict[str, Any]:
    return {"type": "message", "content": [part]}


USED = {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}"}
ENDS: dict[str, tuple[dict[str, Any], tuple[str, str]]] = {
    "text": ({"output": [message(type="output_text", text="Hello")]}, ("Hello", "stop")),
    "two messages": (
        {"output": [message(type="output_text", text="One"), message(type="output_text", text="Two")]},
        ("One\n\nTwo", "stop"),
    ),
    "a call": ({"output": [USED]}, ("", "tool_calls")),
    "a refusal": ({"output": [message(type="refusal", refusal="No.")]}, ("No.", "refusal")),
    "cut off": (
        {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": [USED]},
        ("", "length"),
    ),
    "filtered": ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, ("", "refusal")),
    "incomplete for an unknown reason": ({"status": "incomplete", "incomplete_details": None}, ("", "other")),
}


@pytest.mark.parametrize(("answer", "wanted"), ENDS.values(), ids=ENDS)
async def test_an_answers_end_is_read(answer: dict[str, Any], wanted: tuple[str, str]) -> None:
    response, _ = await answered({**DONE, **answer})

    assert (response.text, response.stop_reason) == wanted
