"""Images, documents and long names, in every wire format."""

from __future__ import annotations

import json
from array import array
from base64 import b64encode
from typing import Any

import httpx
import pytest

from tests.models.providers import ANTHROPIC, CHAT, FORMATS, GEMINI, RESPONSES, Format
from toolkit.messages import (
    AssistantMessage,
    DocumentPart,
    ImagePart,
    Message,
    TextPart,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    UserMessage,
)
from toolkit.models import ModelRequest, ModelResponse
from toolkit.models.names import sent_name

FORMAT = pytest.mark.parametrize("wire", FORMATS, ids=lambda wire: wire.name)
PICTURE = b"\x89PNG picture"
PAPER = b"%PDF-1.7 paper"
IMAGE = ImagePart(data=PICTURE, media_type="image/png")
DOCUMENT = DocumentPart(data=PAPER, media_type="application/pdf")
LONG = "search_the_archive_of_all_letters_that_were_ever_written_to_the_editor_of_the_newspaper"
CALLING: dict[str, Any] = {
    "chat": {
        "choices": [{"message": {"tool_calls": [{"id": "a", "function": {"name": "NAME", "arguments": '{"q":"x"}'}}]}}]
    },
    "responses": {
        "status": "completed",
        "output": [{"type": "function_call", "call_id": "a", "name": "NAME", "arguments": '{"q":"x"}'}],
    },
    "anthropic": {
        "type": "message",
        "content": [{"type": "tool_use", "id": "a", "name": "NAME", "input": {"q": "x"}}],
        "stop_reason": "tool_use",
        "usage": {},
    },
    "gemini": {
        "candidates": [
            {"content": {"parts": [{"functionCall": {"name": "NAME", "args": {"q": "x"}}}]}, "finishReason": "STOP"}
        ]
    },
}


async def asked(wire: Format, request: ModelRequest, answer: Any = None) -> tuple[ModelResponse, str]:
    """The response, and the text of the body that was sent."""
    sent: list[str] = []

    def respond(got: httpx.Request) -> httpx.Response:
        sent.append(got.content.decode())
        return httpx.Response(200, json=wire.whole if answer is None else answer)

    async with httpx.AsyncClient(transport=httpx.MockTransport(respond)) as http:
        response = await wire.model("a-model", http=http, api_key="k").respond(request)
    return response, sent[0]


@FORMAT
@pytest.mark.parametrize(("part", "content"), [(IMAGE, PICTURE), (DOCUMENT, PAPER)], ids=["image", "document"])
async def test_media_of_a_prompt_are_sent_whole(wire: Format, part: Any, content: bytes) -> None:
    _, sent = await asked(wire, ModelRequest([UserMessage([TextPart("What is this?"), part])]))

    assert b64encode(content).decode() in sent
    assert part.media_type in sent
    assert sent.index("What is this?") < sent.index(b64encode(content).decode())


class Photo(bytes):
    """Bytes that are more than bytes."""


BYTES_LIKE: dict[str, Any] = {
    "bytearray": bytearray(PICTURE),
    "memoryview": memoryview(PICTURE),
    "array": array("B", PICTURE),
    "subclass": Photo(PICTURE),
}


@FORMAT
@pytest.mark.parametrize("kind", [ImagePart, DocumentPart])
@pytest.mark.parametrize("data", BYTES_LIKE.values(), ids=BYTES_LIKE)
async def test_whatever_holds_bytes_is_sent_as_bytes_are(wire: Format, kind: Any, data: Any) -> None:
    _, sent = await asked(wire, ModelRequest([UserMessage([kind(data=data, media_type="application/pdf")])]))
    _, plain = await asked(wire, ModelRequest([UserMessage([kind(data=PICTURE, media_type="application/pdf")])]))

    assert sent == plain
    assert b64encode(PICTURE).decode() in sent


@FORMAT
async def test_a_media_type_stands_in_a_request_as_text_whatever_is_in_it(wire: Format) -> None:
    image = ImagePart(data=PICTURE, media_type='image/"\ud800')

    _, sent = await asked(wire, ModelRequest([UserMessage([image])]))

    assert r"image/\"" in sent
    assert json.loads(sent)


@FORMAT
async def test_an_image_by_address_is_sent_by_its_address(wire: Format) -> None:
    image = ImagePart(url="https://example.org/cat.png", media_type="image/png")

    _, sent = await asked(wire, ModelRequest([UserMessage([image])]))

    assert "https://example.org/cat.png" in sent


@FORMAT
@pytest.mark.parametrize(("part", "content"), [(IMAGE, PICTURE), (DOCUMENT, PAPER)], ids=["image", "document"])
async def test_media_of_a_tool_are_sent_with_its_result(wire: Format, part: Any, content: bytes) -> None:
    messages: list[Message] = [
        UserMessage("Draw!"),
        AssistantMessage("", [ToolCall("call_1", "draw", "{}"), ToolCall("call_2", "count", "{}")]),
        ToolMessage("call_1", "draw", "[drawn]", media=(part,)),
        ToolMessage("call_2", "count", "seven"),
    ]

    _, sent = await asked(wire, ModelRequest(messages))

    assert b64encode(content).decode() in sent
    assert "[drawn]" in sent
    assert "seven" in sent


async def test_results_of_one_turn_stand_together_before_media_that_follow_them() -> None:
    messages: list[Message] = [
        UserMessage("Draw!"),
        AssistantMessage("", [ToolCall("call_1", "draw", "{}"), ToolCall("call_2", "count", "{}")]),
        ToolMessage("call_1", "draw", "[drawn]", media=(IMAGE,)),
        ToolMessage("call_2", "count", "seven"),
        UserMessage("And now?"),
    ]

    _, sent = await asked(CHAT, ModelRequest(messages))

    roles = [message["role"] for message in json.loads(sent)["messages"]]
    assert roles == ["user", "assistant", "tool", "tool", "user", "user"]


@FORMAT
async def test_a_name_that_is_too_long_is_shortened_on_the_way_out_and_whole_on_the_way_back(wire: Format) -> None:
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    tools = [ToolDefinition(LONG, "Search.", schema), ToolDefinition(LONG + "_2", "Search again.", schema)]
    short = sent_name(LONG)
    history: list[Message] = [
        UserMessage("Search!"),
        AssistantMessage("", [ToolCall("call_1", LONG, "{}")]),
        ToolMessage("call_1", LONG, "nothing"),
    ]
    answer = json.loads(json.dumps(CALLING[wire.name]).replace("NAME", short))

    response, sent = await asked(wire, ModelRequest(history, tools, tool_choice=LONG), answer)

    assert LONG not in sent
    assert sent.count(short) >= 3  # the tool, the call, the choice
    assert len(short) <= 64
    assert sent_name(LONG + "_2") in sent
    assert [(call.name, json.loads(str(call.arguments))) for call in response.tool_calls] == [(LONG, {"q": "x"})]


def test_every_format_has_an_answer_with_a_call() -> None:
    assert set(CALLING) == {wire.name for wire in (CHAT, RESPONSES, ANTHROPIC, GEMINI)} == {w.name for w in FORMATS}
