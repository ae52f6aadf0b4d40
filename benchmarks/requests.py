"""What a request costs beside HTTP: how each adapter writes it, with tools and with a long conversation.

python -m benchmarks.requests          a table of CPU times and function calls

The client of HTTP takes the bytes and answers with an error at once, so that nothing but the writing is different from
one line to the next.
"""

from __future__ import annotations

import asyncio
import cProfile
import pstats
import statistics
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from time import process_time
from typing import Any

from toolkit.errors import ProviderError
from toolkit.messages import AssistantMessage, ImagePart, Message, ToolCall, ToolDefinition, ToolMessage, UserMessage
from toolkit.models import AnthropicModel, GeminiModel, ModelRequest, OpenAIChatModel, OpenAIResponsesModel

ROUNDS = 21
PER_ROUND = 10

ADAPTERS: dict[str, tuple[Callable[..., Any], str]] = {
    "OpenAIChatModel": (OpenAIChatModel, "gpt-5"),
    "OpenAIResponsesModel": (OpenAIResponsesModel, "gpt-5"),
    "AnthropicModel": (AnthropicModel, "claude-sonnet-4-6"),
    "GeminiModel": (GeminiModel, "gemini-3.8-flash"),
}

CLOSED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "The city's name."},
        "days": {"type": "array", "items": {"type": "integer"}},
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
    },
    "required": ["city", "days", "unit"],
    "additionalProperties": False,
}
"""A schema that strict modes take."""

OPEN: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "The city's name."},
        "days": {"type": "array", "items": {"type": "object", "properties": {"day": {"type": "integer"}}}},
        "unit": {"anyOf": [{"type": "string", "enum": ["celsius", "fahrenheit"]}, {"type": "null"}]},
    },
    "required": ["city"],
}
"""One that they don't take."""


class Refusing:
    """A client of HTTP that refuses every request, and keeps what it was sent last."""

    sent = b""

    @asynccontextmanager
    async def stream(self, method: str, url: str, *, content: bytes, **_: Any) -> AsyncGenerator[Any, None]:
        self.sent = content
        yield _Refusal()


class _Refusal:
    status_code = 500
    headers: dict[str, str] = {}  # noqa: RUF012 - nobody changes it

    async def aiter_bytes(self) -> AsyncIterator[bytes]:
        yield b"{}"


def tools_of(schema: dict[str, Any], count: int, does: str = "something") -> tuple[ToolDefinition, ...]:
    """So many tools, each with a schema of its own."""
    return tuple(ToolDefinition(f"tool_{number}", f"Do {does}.", {**schema}) for number in range(count))


def conversation(turns: int) -> list[Message]:
    """A prompt, and so many turns of one call and its result."""
    messages: list[Message] = [UserMessage("go")]
    for number in range(turns):
        arguments = f'{{"city": "City {number}", "days": [1, 2], "unit": "celsius"}}'
        messages.append(AssistantMessage("", (ToolCall(f"call_{number}", "tool_0", arguments),)))
        messages.append(ToolMessage(f"call_{number}", "tool_0", "Sunny, 21 degrees."))
    return messages


async def asked(model: Any, request: ModelRequest) -> None:
    """One request, which is refused."""
    try:
        await model.respond(request)
    except ProviderError:
        return
    raise AssertionError("the request was not refused")


async def calls_of(model: Any, request: ModelRequest) -> float:
    """Function calls of a request that was asked before."""
    await asked(model, request)
    profile = cProfile.Profile()
    profile.enable()
    await asked(model, request)
    profile.disable()
    total: float = pstats.Stats(profile).total_calls  # type: ignore[attr-defined]  # typeshed leaves it out
    return total


async def _measured(make: Callable[[], Any], requests: list[ModelRequest]) -> list[tuple[float, float]]:
    """CPU microseconds and function calls of each request, the requests taking turns."""
    model = make()
    calls = [await calls_of(model, request) for request in requests]
    times: list[list[float]] = [[] for _ in requests]
    for _ in range(ROUNDS):
        for request, taken in zip(requests, times, strict=True):
            begun = process_time()
            for _ in range(PER_ROUND):
                await asked(model, request)
            taken.append((process_time() - begun) / PER_ROUND * 1e6)
    return [*zip(map(statistics.median, times), calls, strict=True)]


async def _first(make: Callable[[], Any], schema: dict[str, Any], count: int) -> float:
    """CPU microseconds of the first request with tools that nobody has met."""
    taken: list[float] = []
    for number in range(ROUNDS):
        model, request = make(), ModelRequest([UserMessage("go")], tools_of(schema, count, f"{make} {number}"))
        begun = process_time()
        await asked(model, request)
        taken.append((process_time() - begun) * 1e6)
    return statistics.median(taken)


async def main() -> None:
    prompt: list[Message] = [UserMessage("go")]
    kinds = {
        "a prompt": ModelRequest(prompt),
        "10 tools": ModelRequest(prompt, tools_of(OPEN, 10)),
        "100 tools": ModelRequest(prompt, tools_of(OPEN, 100)),
        "100 tools, strict": ModelRequest(prompt, tools_of(CLOSED, 100)),
        "400 messages": ModelRequest(conversation(200), tools_of(OPEN, 1)),
        "1 MB of image": ModelRequest([UserMessage([ImagePart(bytes(range(256)) * 4_000)])]),
    }
    print("| µs of CPU, function calls | " + " | ".join(kinds) + " | 100 tools, the first time |")
    print("|---|" + "---|" * (len(kinds) + 1))
    for label, (adapter, name) in ADAPTERS.items():

        def make(adapter: Callable[..., Any] = adapter, name: str = name) -> Any:
            return adapter(name, http=Refusing(), api_key="key")

        cells = [f"{time:,.0f}, {calls:,.0f}" for time, calls in await _measured(make, list(kinds.values()))]
        print(f"| `{label}` | " + " | ".join([*cells, f"{await _first(make, OPEN, 100):,.0f}"]) + " |")


if __name__ == "__main__":
    asyncio.run(main())
