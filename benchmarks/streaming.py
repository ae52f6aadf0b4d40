"""What each streamed piece of an answer costs: our adapters against the providers' SDKs, on the same bytes.

.venv-sdks/bin/python -m benchmarks.streaming          a table of ratios; `make sdks` makes that environment

Both sides read through an `httpx2` client of their own whose transport gives one event at a time, without a network.
The SDK gives its typed events and nothing more; ours gives the deltas, and at the end the whole response. They take
turns, in CPU time, and a ratio is made of two times of one round.
"""

from __future__ import annotations

import asyncio
import cProfile
import gc
import pstats
import statistics
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from importlib.metadata import version
from time import process_time
from typing import Any

import httpx
import httpx2

from benchmarks import streamed_answers
from benchmarks.streamed_answers import ARGUMENTS, TEXTS
from toolkit.messages import UserMessage
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
from toolkit.models.sse import EventReader

ROUNDS = 40
STREAMS_PER_ROUND = 4
URL = "http://127.0.0.1/v1"
MESSAGES: Any = [{"role": "user", "content": "How is it in Tromsø?"}]

Reader = Callable[[], Awaitable[tuple[int, int]]]
"""Reads one streamed answer; the number of its pieces of text and of arguments."""


def serving(library: Any, chunks: list[bytes]) -> Any:
    """A client that is answered by these chunks, whatever it asks."""

    async def body() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    def answer(request: Any) -> Any:
        return library.Response(200, headers={"content-type": "text/event-stream"}, content=body())

    return library.AsyncClient(transport=library.MockTransport(answer), trust_env=False)


# Ours


def by_adapter(adapter: Callable[..., Any], chunks: list[bytes]) -> Reader:
    model = adapter("a-model", http=serving(httpx2, chunks), base_url=URL, api_key="key")
    request = ModelRequest([UserMessage("How is it in Tromsø?")])

    async def read() -> tuple[int, int]:
        texts = pieces = 0
        async for delta in model.stream(request):
            if isinstance(delta, TextDelta):
                texts += 1
            elif isinstance(delta, ToolCallDelta):
                pieces += bool(delta.arguments)
            elif isinstance(delta, ModelDone):
                assert len(delta.response.tool_calls) == 1
        return texts, pieces

    return read


def by_our_sse(chunks: list[bytes]) -> Reader:
    client = serving(httpx, chunks)

    async def read() -> tuple[int, int]:
        events = 0
        reader = EventReader()
        async with client.stream("POST", URL) as response:
            async for chunk in response.aiter_bytes():
                events += len(reader.feed(chunk))
        return events + len(reader.finish()), 0

    return read


# Theirs


def by_openai_chat(chunks: list[bytes]) -> Reader:
    import openai

    client = openai.AsyncOpenAI(base_url=URL, api_key="key", http_client=serving(httpx2, chunks))

    async def read() -> tuple[int, int]:
        texts = pieces = 0
        async for chunk in await client.chat.completions.create(model="a-model", messages=MESSAGES, stream=True):
            if chunk.choices:
                delta = chunk.choices[0].delta
                texts += bool(delta.content)
                for call in delta.tool_calls or ():
                    pieces += bool(call.function and call.function.arguments)
        return texts, pieces

    return read


def by_openai_responses(chunks: list[bytes]) -> Reader:
    import openai

    client = openai.AsyncOpenAI(base_url=URL, api_key="key", http_client=serving(httpx2, chunks))

    async def read() -> tuple[int, int]:
        texts = pieces = 0
        async for event in await client.responses.create(model="a-model", input=MESSAGES, stream=True):
            texts += event.type == "response.output_text.delta"
            pieces += event.type == "response.function_call_arguments.delta"
        return texts, pieces

    return read


def by_anthropic(chunks: list[bytes]) -> Reader:
    import anthropic

    client = anthropic.AsyncAnthropic(base_url="http://127.0.0.1", api_key="key", http_client=serving(httpx2, chunks))

    async def read() -> tuple[int, int]:
        texts = pieces = 0
        async for event in await client.messages.create(
            model="a-model", messages=MESSAGES, max_tokens=1000, stream=True
        ):
            if event.type == "content_block_delta":
                texts += event.delta.type == "text_delta"
                pieces += event.delta.type == "input_json_delta"
        return texts, pieces

    return read


def by_google_genai(chunks: list[bytes]) -> Reader:
    from google import genai

    options = genai.types.HttpOptions(base_url="http://127.0.0.1", httpx_async_client=serving(httpx2, chunks))
    models = genai.Client(api_key="key", http_options=options).aio.models

    async def read() -> tuple[int, int]:
        texts = pieces = 0
        async for piece in await models.generate_content_stream(model="a-model", contents="How is it in Tromsø?"):
            for part in piece.candidates[0].content.parts:
                texts += bool(part.text)
                pieces += bool(part.function_call)
        return texts, pieces

    return read


def by_httpx_sse(chunks: list[bytes]) -> Reader:
    from httpx_sse import EventSource

    client = serving(httpx, chunks)

    async def read() -> tuple[int, int]:
        events = 0
        async with client.stream("POST", URL) as response:
            async for _ in EventSource(response).aiter_sse():
                events += 1
        return events, 0

    return read


# Measuring


def function_calls(adapter: Callable[..., Any], chunks: list[bytes]) -> float:
    """Function calls that our adapter takes for one chunk, Python's and C's, those of the HTTP library among them."""

    async def profiled() -> cProfile.Profile:
        read = by_adapter(adapter, chunks)
        await read()
        profile = cProfile.Profile()
        profile.enable()
        assert (await read())[0] == TEXTS
        profile.disable()
        return profile

    calls: int = pstats.Stats(asyncio.run(profiled())).total_calls  # type: ignore[attr-defined]  # not in typeshed
    return calls / len(chunks)


def pairs() -> dict[str, tuple[Reader, Reader, int]]:
    """Ours and theirs, and the number of chunks of one stream."""
    chat, responses = streamed_answers.chat(), streamed_answers.responses()
    claude, gemini = streamed_answers.anthropic(), streamed_answers.gemini()
    return {
        "OpenAIChatModel / openai": (by_adapter(OpenAIChatModel, chat), by_openai_chat(chat), len(chat)),
        "OpenAIResponsesModel / openai": (
            by_adapter(OpenAIResponsesModel, responses),
            by_openai_responses(responses),
            len(responses),
        ),
        "AnthropicModel / anthropic": (by_adapter(AnthropicModel, claude), by_anthropic(claude), len(claude)),
        "GeminiModel / google-genai": (by_adapter(GeminiModel, gemini), by_google_genai(gemini), len(gemini)),
        "sse.py / httpx-sse, chat": (by_our_sse(chat), by_httpx_sse(chat), len(chat)),
        "sse.py / httpx-sse, anthropic": (by_our_sse(claude), by_httpx_sse(claude), len(claude)),
    }


async def microseconds_of(readers: tuple[Reader, Reader], chunks: int) -> tuple[list[float], list[float]]:
    """CPU time for one chunk by ours and by theirs, round by round."""
    found = [await reader() for reader in readers]
    assert found[0] == found[1], f"they found {found}"
    assert found[0] in ((TEXTS, ARGUMENTS), (TEXTS, 1), (chunks, 0)), f"they found {found[0]}"
    times: tuple[list[float], list[float]] = ([], [])
    gc.collect()
    gc.disable()
    try:
        for _ in range(ROUNDS):
            for reader, own in zip(readers, times, strict=True):
                began = process_time()
                for _ in range(STREAMS_PER_ROUND):
                    await reader()
                own.append((process_time() - began) / STREAMS_PER_ROUND / chunks * 1e6)
            gc.collect()
    finally:
        gc.enable()
    return times


async def measure() -> None:
    print(f"{'ours / theirs':32} {'chunks':>6} {'ours, µs':>9} {'theirs, µs':>10} {'ratio':>6} {'10th to 90th':>14}")
    for name, (ours, theirs, chunks) in pairs().items():
        own, other = await microseconds_of((ours, theirs), chunks)
        ratios = [one / most for one, most in zip(own, other, strict=True)]
        tenths = statistics.quantiles(ratios, n=10)
        spread = f"{tenths[0]:.2f} to {tenths[-1]:.2f}"
        medians = f"{statistics.median(own):9.1f} {statistics.median(other):10.1f}"
        print(f"{name:32} {chunks:6} {medians} {statistics.median(ratios):6.2f} {spread:>14}")


def main() -> None:
    packages = ("openai", "anthropic", "google-genai", "httpx-sse", "httpx", "httpx2", "pydantic", "msgspec")
    print(f"Python {sys.version.split()[0]},", ", ".join(f"{package} {version(package)}" for package in packages))
    asyncio.run(measure())


if __name__ == "__main__":
    main()
