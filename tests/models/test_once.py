"""What a request needs of a tool's schema is worked out once for the tool, and not once for each request."""

from __future__ import annotations

import cProfile
import pstats
import threading
from typing import Any

import httpx
import pytest

from toolkit.errors import ProviderError
from toolkit.messages import ToolDefinition, UserMessage
from toolkit.models import AnthropicModel, GeminiModel, ModelRequest, OpenAIChatModel, OpenAIResponsesModel
from toolkit.models.once import once_for_each_schema


def counted() -> tuple[Any, list[dict[str, Any]]]:
    met: list[dict[str, Any]] = []

    @once_for_each_schema
    def keys_of(schema: dict[str, Any]) -> list[str]:
        met.append(schema)
        return list(schema)

    return keys_of, met


def test_a_schema_is_worked_out_once() -> None:
    keys_of, met = counted()
    schema = {"type": "object"}

    assert [keys_of(schema) for _ in range(3)] == [["type"]] * 3
    assert met == [schema]


def test_an_equal_schema_is_another_one() -> None:
    keys_of, met = counted()

    for _ in range(3):
        keys_of({"type": "object"})

    assert len(met) == 3


def test_a_schema_that_is_gone_is_never_taken_for_one_that_came_into_its_place_in_memory() -> None:
    keys_of, met = counted()

    for number in range(3_000):
        assert keys_of({f"key {number}": number}) == [f"key {number}"]
    assert len(met) == 3_000


def test_only_so_many_are_kept_and_the_others_are_worked_out_again() -> None:
    keys_of, met = counted()
    schemas: list[dict[str, Any]] = [{str(number): number} for number in range(1_025)]

    for schema in schemas:
        keys_of(schema)
    keys_of(schemas[-1])
    assert len(met) == 1_025
    assert keys_of(schemas[0]) == ["0"]
    assert len(met) == 1_026


def test_threads_may_ask_at_once() -> None:
    keys_of, _ = counted()
    failed: list[str] = []

    def ask(first: int) -> None:
        for number in range(first, first + 2_000):
            if keys_of({str(number): number}) != [str(number)]:
                failed.append(str(number))

    threads = [threading.Thread(target=ask, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failed == []


OPEN: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "The city's name."},
        "days": {"type": "array", "items": {"type": "object", "properties": {"day": {"type": "integer"}}}},
        "unit": {"anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "null"}]},
    },
    "required": ["city"],
}
CLOSED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "The city's name."},
        "days": {"type": "array", "items": {"type": "integer"}},
        "unit": {"type": "string", "enum": ["a", "b"]},
    },
    "required": ["city", "days", "unit"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("schema", [OPEN, CLOSED], ids=["open", "closed"])
@pytest.mark.parametrize(
    ("adapter", "name"),
    [
        (OpenAIChatModel, "gpt-5"),
        (OpenAIResponsesModel, "gpt-5"),
        (AnthropicModel, "claude-sonnet-4-6"),
        (GeminiModel, "gemini-3.8-flash"),
    ],
)
async def test_a_tool_takes_at_most_20_function_calls_of_a_later_request(
    adapter: Any, name: str, schema: dict[str, Any]
) -> None:
    bodies: list[bytes] = []

    def answer(request: httpx.Request) -> httpx.Response:
        bodies.append(request.content)
        return httpx.Response(500, json={})

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http:
        model = adapter(name, http=http, api_key="key")
        tools = tuple(ToolDefinition(f"tool_{number}", "Do something.", {**schema}) for number in range(100))

        async def calls(request: ModelRequest) -> float:
            with pytest.raises(ProviderError, match="500"):
                await model.respond(request)
            profile = cProfile.Profile()
            profile.enable()
            with pytest.raises(ProviderError, match="500"):
                await model.respond(request)
            profile.disable()
            total: float = pstats.Stats(profile).total_calls  # type: ignore[attr-defined]  # typeshed leaves it out
            return total

        without = await calls(ModelRequest([UserMessage("go")]))
        with_tools = await calls(ModelRequest([UserMessage("go")], tools))

    assert (with_tools - without) / 100 <= 20
    assert bodies[-1] == bodies[-2]
    assert all(f"tool_{number}".encode() in bodies[-1] for number in range(100))
