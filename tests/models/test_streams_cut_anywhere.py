"""A stream's bytes may be cut anywhere, also inside a character or a line end: pieces and answer stay the same."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.models.providers import sse
from toolkit.messages import ToolCall, Usage, UserMessage
from toolkit.models import (
    ModelDelta,
    ModelDone,
    ModelRequest,
    ModelResponse,
    OpenAIChatModel,
    OpenAIResponsesModel,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
)
from toolkit.models.provider import ProviderModel

ARGUMENTS = ['{"city": "Łódź', '"}', '{"city": "東京', '"}']


def chat_stream() -> bytes:
    def piece(**delta: Any) -> dict[str, Any]:
        return {"model": "m", "choices": [{"index": 0, "delta": delta}]}

    def call(index: int, arguments: str, id: str | None = None, name: str | None = None) -> dict[str, Any]:
        return {"index": index, "id": id, "function": {"name": name, "arguments": arguments}}

    return sse(
        piece(role="assistant", content=None, reasoning_content="Zwölf "),
        piece(reasoning_content="Grad?"),
        piece(content="Grüße "),
        piece(content="🌍.\r\n"),
        piece(tool_calls=[call(0, "", "c1", "weather"), call(1, "", "c2", "weather")]),
        piece(tool_calls=[call(0, ARGUMENTS[0])]),
        piece(tool_calls=[call(1, ARGUMENTS[2])]),
        piece(tool_calls=[call(0, ARGUMENTS[1]), call(1, ARGUMENTS[3])]),
        {"model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
        {"model": "m", "choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 7}},
        "[DONE]",
    )


REASONING = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Zwölf Grad?"}]}
MESSAGE = {"type": "message", "content": [{"type": "output_text", "text": "Grüße 🌍.\r\n"}]}


def responses_stream() -> bytes:
    calls = [
        {"type": "function_call", "call_id": f"c{number}", "name": "weather", "arguments": "".join(arguments)}
        for number, arguments in enumerate((ARGUMENTS[:2], ARGUMENTS[2:]), 1)
    ]
    output = [REASONING, MESSAGE, *calls]

    def arguments(place: int, delta: str) -> dict[str, Any]:
        return {"type": "response.function_call_arguments.delta", "output_index": place, "delta": delta}

    return sse(
        {"type": "response.created", "response": {"status": "in_progress", "output": []}},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "Zwölf "},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "Grad?"},
        {"type": "response.output_text.delta", "output_index": 1, "delta": "Grüße "},
        {"type": "response.output_text.delta", "output_index": 1, "delta": "🌍.\r\n"},
        {"type": "response.output_item.added", "output_index": 2, "item": {**calls[0], "arguments": ""}},
        {"type": "response.output_item.added", "output_index": 3, "item": {**calls[1], "arguments": ""}},
        arguments(2, ARGUMENTS[0]),
        arguments(3, ARGUMENTS[2]),
        arguments(2, ARGUMENTS[1]),
        arguments(3, ARGUMENTS[3]),
        {
            "type": "response.completed",
            "response": {
                "status": "completed",
                "output": output,
                "model": "m",
                "usage": {"input_tokens": 5, "output_tokens": 7},
            },
        },
    )


CALLS = (ToolCall("c1", "weather", '{"city": "Łódź"}'), ToolCall("c2", "weather", '{"city": "東京"}'))
PIECES: list[ModelDelta] = [
    ReasoningDelta("Zwölf "),
    ReasoningDelta("Grad?"),
    TextDelta("Grüße "),
    TextDelta("🌍.\r\n"),
    ToolCallDelta(0, "c1", "weather"),
    ToolCallDelta(1, "c2", "weather"),
    ToolCallDelta(0, arguments=ARGUMENTS[0]),
    ToolCallDelta(1, arguments=ARGUMENTS[2]),
    ToolCallDelta(0, arguments=ARGUMENTS[1]),
    ToolCallDelta(1, arguments=ARGUMENTS[3]),
]


KEPT = {"provider": "openai-responses", "text": "Grüße 🌍.\r\n", "items": [REASONING, MESSAGE, None, None]}
ANSWER = ModelResponse("Grüße 🌍.\r\n", CALLS, "Zwölf Grad?", "tool_calls", Usage(5, 7), "m")

STREAMS = {
    "chat": (OpenAIChatModel, chat_stream(), [*PIECES, ModelDone(ANSWER)]),
    "responses": (OpenAIResponsesModel, responses_stream(), [*PIECES, ModelDone(replace(ANSWER, provider_data=KEPT))]),
}
LINE_ENDS = {"lf": b"\n", "crlf": b"\r\n", "cr": b"\r"}


async def streamed(adapter: Callable[..., ProviderModel], chunks: Iterable[bytes]) -> list[ModelDelta]:
    async def body() -> Any:
        for chunk in chunks:
            yield chunk

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=body())

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http:
        model = adapter("m", http=http, base_url="http://127.0.0.1/v1")
        return [delta async for delta in model.stream(ModelRequest([UserMessage("Hi")]))]


@pytest.mark.parametrize("end", LINE_ENDS.values(), ids=LINE_ENDS)
@pytest.mark.parametrize("wire", STREAMS)
@given(cuts=st.lists(st.integers(1, 3000), max_size=30))
@settings(max_examples=40, deadline=None)
def test_a_stream_cut_anywhere_gives_the_same_pieces_and_answer(wire: str, end: bytes, cuts: list[int]) -> None:
    adapter, stream, wanted = STREAMS[wire]
    stream = stream.replace(b"\n", end)
    places = [0, *sorted({cut for cut in cuts if cut < len(stream)}), len(stream)]

    found = asyncio.run(streamed(adapter, [stream[start:stop] for start, stop in pairwise(places)]))

    assert found == wanted


@pytest.mark.parametrize("end", LINE_ENDS.values(), ids=LINE_ENDS)
@pytest.mark.parametrize("wire", STREAMS)
async def test_a_stream_that_comes_byte_by_byte_gives_the_same_pieces_and_answer(wire: str, end: bytes) -> None:
    adapter, stream, wanted = STREAMS[wire]

    found = await streamed(adapter, [bytes([byte]) for byte in stream.replace(b"\n", end)])

    assert found == wanted
