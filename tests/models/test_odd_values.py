"""Values that JSON can say and nobody expects, in answers and histories: a typed error, or a request that is sent."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.models.asking import answered, both_ways
from tests.models.providers import ANTHROPIC, FORMATS, Format, sse
from toolkit import Agent
from toolkit.errors import ProviderError, UnexpectedReplyError
from toolkit.messages import AssistantMessage, ToolCall, ToolMessage, UserMessage
from toolkit.models import ModelRequest, OpenAIChatModel

FORMAT = pytest.mark.parametrize("wire", FORMATS, ids=lambda wire: wire.name)
KEY = "sk-secret-5d41402abc4b"
DEEP = "[" * 10_000 + "]" * 10_000


async def failure(wire: Format, answer: httpx.Response, *, is_streamed: bool = False) -> ProviderError:
    async with httpx.AsyncClient(transport=httpx.MockTransport(lambda request: answer)) as http:
        model = wire.model("m", http=http, base_url="http://127.0.0.1/v1", api_key=KEY)
        with pytest.raises(ProviderError) as caught:
            await answered(model, ModelRequest([UserMessage("Hi")]), is_streamed=is_streamed)
    return caught.value


@FORMAT
@both_ways
async def test_an_answer_that_is_nested_too_deeply_is_an_unexpected_reply(wire: Format, is_streamed: bool) -> None:
    body = f'{{"error": {DEEP}, "item": {DEEP}, "content": [{DEEP}]}}'
    answer = httpx.Response(200, content=f"data: {body}\n\n" if is_streamed else body)

    error = await failure(wire, answer, is_streamed=is_streamed)

    assert type(error) is UnexpectedReplyError


@FORMAT
async def test_a_request_id_that_repeats_the_key_is_not_told(wire: Format) -> None:
    answer = httpx.Response(500, headers={"x-request-id": f"r-{KEY}"}, json={})

    error = await failure(wire, answer)

    assert error.request_id
    assert KEY not in error.request_id


async def test_a_history_with_half_a_character_in_ids_and_arguments_is_sent() -> None:
    sent: list[bytes] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request.content)
        return httpx.Response(200, json={"choices": [{"message": {"content": "Hello"}}]})

    history: list[Any] = [
        UserMessage("Hi"),
        AssistantMessage("", [ToolCall("c\ud800", "add", {"a": "\ud800"})]),
        ToolMessage("c\ud800", "add", "3"),
    ]
    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http:
        for server in ("mistral", "openai-compatible"):
            await OpenAIChatModel("m", http=http, base_url="http://127.0.0.1/v1", server=server).respond(
                ModelRequest(history)
            )

    assert len(sent) == 2


@pytest.mark.parametrize("wire", FORMATS[2:], ids=lambda wire: wire.name)
async def test_arguments_as_text_with_half_a_character_are_sent(wire: Format) -> None:
    history: list[Any] = [UserMessage("Hi"), AssistantMessage("", [ToolCall("c", "add", '"\ud800"')])]
    answer = httpx.Response(200, json=wire.whole)

    async with httpx.AsyncClient(transport=httpx.MockTransport(lambda request: answer)) as http:
        model = wire.model("m", http=http, base_url="http://127.0.0.1/v1")
        response = await model.respond(ModelRequest([*history, ToolMessage("c", "add", "3")]))

    assert response.text == "Hello"


ODD_BLOCKS = [
    {"type": "web_search_tool_result", "tool_use_id": [], "content": []},
    {"type": "text", "text": "", "citations": 1},
]


@pytest.mark.parametrize("block", ODD_BLOCKS, ids=lambda block: block["type"])
async def test_a_block_with_a_value_of_another_type_does_not_spoil_an_answer(block: dict[str, Any]) -> None:
    whole = {**ANTHROPIC.whole, "content": [*ANTHROPIC.whole["content"], block]}
    transport = httpx.MockTransport(lambda request: httpx.Response(200, json=whole))

    async with httpx.AsyncClient(transport=transport) as http:
        model = ANTHROPIC.model("m", http=http, base_url="http://127.0.0.1/v1")
        response = await model.respond(ModelRequest([UserMessage("Hi")]))

    assert response.text == "Hello"


@pytest.mark.parametrize(
    "start",
    [{"type": ["text"]}, {"type": "text", "text": {}}, {"type": "text", "text": "", "citations": 1}, {}],
    ids=["a list for its type", "an object for its text", "a number for its citations", "no type"],
)
async def test_a_streamed_block_with_a_value_of_another_type_does_not_spoil_an_answer(start: dict[str, Any]) -> None:
    begun: Any = {"type": "content_block_start", "index": 9, "content_block": start}
    piece: Any = {"type": "content_block_delta", "index": 9, "delta": {"type": "text_delta", "text": ""}}
    content = sse(begun) + sse(piece) + ANTHROPIC.begun + ANTHROPIC.ended
    headers = {"content-type": "text/event-stream"}
    transport = httpx.MockTransport(lambda request: httpx.Response(200, content=content, headers=headers))

    async with httpx.AsyncClient(transport=transport) as http:
        model = ANTHROPIC.model("m", http=http, base_url="http://127.0.0.1/v1")
        response, _ = await answered(model, ModelRequest([UserMessage("Hi")]), is_streamed=True)

    assert response.text == "Hello"


async def test_an_answer_with_a_block_of_no_type_is_gone_on_from() -> None:
    whole = {**ANTHROPIC.whole, "content": [*ANTHROPIC.whole["content"], {"data": "of an unknown kind"}]}
    transport = httpx.MockTransport(lambda request: httpx.Response(200, json=whole))

    async with httpx.AsyncClient(transport=transport) as http:
        agent = Agent(ANTHROPIC.model("claude-opus-5-5", http=http, base_url="http://127.0.0.1/v1"))
        run = await agent.run("Hi")
        again = await agent.run("Hi again", messages=run.messages)

    assert again.response == "Hello"
