"""The providers' own SDKs as a second reader of the recorded answers: they find in them what our adapters find.

An optional job, `make sdks`, since it needs their packages: the tests skip where one is missing.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from importlib.util import find_spec
from typing import Any, TypeAlias

import httpx2
import pytest
from msgspec import Struct

from tests.models.replaying import Exchange, Replay, cassettes, exchanges, replaying
from toolkit.errors import ProviderError
from toolkit.messages import Usage, UserMessage
from toolkit.models import (
    AnthropicModel,
    GeminiModel,
    ModelDone,
    ModelRequest,
    OpenAIChatModel,
    OpenAIResponsesModel,
    TextDelta,
    ToolCallDelta,
)
from toolkit.models.provider import ProviderModel

# What is asked is not compared here, and the SDKs warn of models that they know to be old.
MODEL = "as-recorded"
MESSAGES: Any = [{"role": "user", "content": "as recorded"}]


class Answer(Struct):
    """What a reader found: the text, the calls (id, name, arguments) and the usage."""

    text: str
    calls: list[tuple[str | None, str, Any]]
    usage: Usage


class Failure(Struct):
    """What a reader found in an error: the status, or None inside a stream."""

    status: int | None


Read: TypeAlias = Callable[[Exchange, str, httpx2.AsyncClient], Awaitable[Answer | Failure]]
"""Reads one exchange, which is answered behind a base URL."""


# The SDKs


async def chat_by_sdk(exchange: Exchange, url: str, http: httpx2.AsyncClient) -> Answer | Failure:
    import openai

    base_url = url.removesuffix("/chat/completions")
    client = openai.AsyncOpenAI(base_url=base_url, api_key="k", http_client=http, max_retries=0)
    asked: Any = {"model": MODEL, "messages": MESSAGES}
    try:
        if exchange.is_streamed:
            async with client.chat.completions.stream(**asked) as stream:
                completion = await stream.get_final_completion()
        else:
            completion = await client.chat.completions.create(**asked)
    except openai.APIError as error:
        return Failure(getattr(error, "status_code", None))
    message, usage = completion.choices[0].message, completion.usage
    inside, outside = usage.prompt_tokens_details, usage.completion_tokens_details
    return Answer(
        message.content or "",
        [(call.id, call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or ()],
        Usage(
            usage.prompt_tokens,
            usage.completion_tokens,
            (inside and inside.cached_tokens) or 0,
            (outside and outside.reasoning_tokens) or 0,
        ),
    )


async def responses_by_sdk(exchange: Exchange, url: str, http: httpx2.AsyncClient) -> Answer | Failure:
    import openai

    base_url = url.removesuffix("/responses")
    client = openai.AsyncOpenAI(base_url=base_url, api_key="k", http_client=http, max_retries=0)
    asked: Any = {"model": MODEL, "input": "as recorded"}
    if exchange.is_streamed:
        async with client.responses.stream(**asked) as stream:
            response = await stream.get_final_response()
    else:
        response = await client.responses.create(**asked)
    usage = response.usage
    calls = [item for item in response.output if item.type == "function_call"]
    return Answer(
        response.output_text,
        [(call.call_id, call.name, json.loads(call.arguments)) for call in calls],
        Usage(
            usage.input_tokens,
            usage.output_tokens,
            usage.input_tokens_details.cached_tokens,
            usage.output_tokens_details.reasoning_tokens,
        ),
    )


async def messages_by_sdk(exchange: Exchange, url: str, http: httpx2.AsyncClient) -> Answer | Failure:
    import anthropic

    base_url = url.removesuffix("/v1/messages")
    client = anthropic.AsyncAnthropic(base_url=base_url, api_key="k", http_client=http, max_retries=0)
    asked: Any = {"model": MODEL, "messages": MESSAGES, "max_tokens": 1000}
    if exchange.is_streamed:
        async with client.beta.messages.stream(**asked) as stream:
            message = await stream.get_final_message()
    else:
        message = await client.beta.messages.create(**asked)
    usage, details = message.usage, message.usage.output_tokens_details
    cached = usage.cache_read_input_tokens or 0
    calls = [block for block in message.content if block.type == "tool_use"]
    return Answer(
        "".join(block.text for block in message.content if block.type == "text"),
        [(call.id, call.name, call.input) for call in calls],
        Usage(
            usage.input_tokens + cached + (usage.cache_creation_input_tokens or 0),
            usage.output_tokens,
            cached,
            (details and details.thinking_tokens) or 0,
        ),
    )


async def gemini_by_sdk(exchange: Exchange, url: str, http: httpx2.AsyncClient) -> Answer | Failure:
    from google import genai
    from google.genai import errors, types

    base_url, _, rest = url.partition("/v1beta/models/")
    options = types.HttpOptions(base_url=base_url, api_version="v1beta", httpx_async_client=http)
    client = genai.Client(api_key="k", http_options=options)
    asked: Any = {"model": rest.split(":")[0], "contents": "as recorded"}
    try:
        if exchange.is_streamed:
            pieces = [piece async for piece in await client.aio.models.generate_content_stream(**asked)]
        else:
            pieces = [await client.aio.models.generate_content(**asked)]
    except errors.APIError as error:
        return Failure(error.code)
    parts = [part for piece in pieces for part in piece.candidates[0].content.parts]
    calls = [part.function_call for part in parts if part.function_call is not None]
    usage = pieces[-1].usage_metadata
    thoughts = usage.thoughts_token_count or 0
    return Answer(
        "".join(part.text or "" for part in parts if not part.thought),
        [(call.id or f"call_{number}", call.name, call.args) for number, call in enumerate(calls, 1)],
        Usage(
            usage.prompt_token_count + (usage.tool_use_prompt_token_count or 0),
            usage.candidates_token_count + thoughts,
            usage.cached_content_token_count or 0,
            thoughts,
        ),
    )


# Our adapters


async def chat_by_us(exchange: Exchange, url: str, http: httpx2.AsyncClient) -> Answer | Failure:
    server = exchange.cassette.split("-")[0]
    base_url = url.removesuffix("/chat/completions")
    model = OpenAIChatModel(exchange.request["model"], http=http, base_url=base_url, server=server)
    return await read_by(model, is_streamed=exchange.is_streamed)


async def responses_by_us(exchange: Exchange, url: str, http: httpx2.AsyncClient) -> Answer | Failure:
    model = OpenAIResponsesModel(exchange.request["model"], http=http, base_url=url.removesuffix("/responses"))
    return await read_by(model, is_streamed=exchange.is_streamed)


async def messages_by_us(exchange: Exchange, url: str, http: httpx2.AsyncClient) -> Answer | Failure:
    model = AnthropicModel(exchange.request["model"], http=http, base_url=url.removesuffix("/messages"))
    return await read_by(model, is_streamed=exchange.is_streamed)


async def gemini_by_us(exchange: Exchange, url: str, http: httpx2.AsyncClient) -> Answer | Failure:
    base_url, _, rest = url.partition("/models/")
    return await read_by(
        GeminiModel(rest.split(":")[0], http=http, base_url=base_url), is_streamed=exchange.is_streamed
    )


async def read_by(model: ProviderModel, *, is_streamed: bool) -> Answer | Failure:
    """The response, after its pieces were seen to make the same text and calls."""
    request = ModelRequest([UserMessage("as recorded")])
    try:
        if not is_streamed:
            return answer_of(await model.respond(request))
        text, calls = "", dict[int, list[Any]]()
        async for delta in model.stream(request):
            if isinstance(delta, TextDelta):
                text += delta.text
            elif isinstance(delta, ToolCallDelta):
                made = f"call_{delta.index + 1}"  # the id where the server gives none
                call = calls.setdefault(delta.index, [made, "", ""])
                call[0], call[1] = delta.id or call[0], delta.name or call[1]
                call[2] += delta.arguments
            elif isinstance(delta, ModelDone):
                answer = answer_of(delta.response)
                assert text == answer.text
                assert [(id, name, json.loads(arguments)) for id, name, arguments in calls.values()] == answer.calls
                return answer
    except ProviderError as error:
        return Failure(error.status)
    raise AssertionError("no end")


def answer_of(response: Any) -> Answer:
    calls: list[tuple[str | None, str, Any]] = [
        (call.id, call.name, json.loads(call.arguments)) for call in response.tool_calls
    ]
    return Answer(response.text, calls, response.usage)


READERS: dict[str, tuple[str, Read, Read]] = {  # by wire format: the SDK's package, its reader, ours
    "chat": ("openai", chat_by_sdk, chat_by_us),
    "responses": ("openai", responses_by_sdk, responses_by_us),
    "messages": ("anthropic", messages_by_sdk, messages_by_us),
    "generateContent": ("google.genai", gemini_by_sdk, gemini_by_us),
}


def recordings() -> list[Any]:
    """Each recording with the reason to skip it, if there is one."""
    found: list[Any] = []
    for cassette in cassettes(*READERS):
        package = READERS[cassette.split("-")[1]][0]
        is_there = find_spec(package.split(".")[0]) is not None and find_spec(package) is not None
        reason = f"the package '{package}' is not installed; `make sdks` does that"
        found.append(pytest.param(cassette, marks=pytest.mark.skipif(not is_there, reason=reason)))
    return found


@pytest.fixture(scope="module", params=[7, 1024])
def cut_replay(request: pytest.FixtureRequest) -> Iterator[Replay]:
    """The recorded exchanges, streams cut into pieces of each size."""
    with replaying(request.param) as server:
        yield server


@pytest.fixture
async def client() -> AsyncIterator[httpx2.AsyncClient]:
    """The client that both sides read through: the SDKs stand on httpx2."""
    async with httpx2.AsyncClient(trust_env=False) as http:
        yield http


REFUSED = "groq-chat-tool-use-failed-error-streaming"
"""Groq answers a call that breaks the schema with an error, from which we read the call; the SDK raises the error."""


@pytest.mark.parametrize("cassette", recordings())
async def test_the_official_sdk_finds_the_same_text_calls_and_usage(
    cassette: str, cut_replay: Replay, client: httpx2.AsyncClient
) -> None:
    _, by_sdk, by_us = READERS[cassette.split("-")[1]]
    recorded = exchanges(cassette)

    cut_replay.rewind(cassette)
    theirs = [await by_sdk(one, cut_replay.base_url(cassette, one.path.split("?")[0]), client) for one in recorded]
    cut_replay.rewind(cassette)
    ours = [await by_us(one, cut_replay.base_url(cassette, one.path.split("?")[0]), client) for one in recorded]

    if cassette == REFUSED:
        refused = ours.pop(0)
        assert isinstance(theirs.pop(0), Failure)
        assert isinstance(refused, Answer)
        assert [name for _, name, _ in refused.calls] == ["get_something_by_name"]
    assert ours == theirs
