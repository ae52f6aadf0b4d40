"""What a request needs of a tool's schema is worked out once for the tool, and not once for each request."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from benchmarks.requests import ADAPTERS, CLOSED, OPEN, Refusing, asked, calls_of, tools_of
from toolkit.messages import UserMessage
from toolkit.models import ModelRequest
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


@pytest.mark.parametrize("schema", [OPEN, CLOSED], ids=["open", "closed"])
@pytest.mark.parametrize("adapter", ADAPTERS)
async def test_a_tool_takes_at_most_20_function_calls_of_a_later_request(adapter: str, schema: dict[str, Any]) -> None:
    make, name = ADAPTERS[adapter]
    http = Refusing()
    model = make(name, http=http, api_key="key")

    without = await calls_of(model, ModelRequest([UserMessage("go")]))
    first = ModelRequest([UserMessage("go")], tools_of(schema, 100))
    await asked(model, first)
    sent = http.sent
    with_tools = await calls_of(model, first)

    assert (with_tools - without) / 100 <= 20
    assert http.sent == sent
    assert all(f"tool_{number}".encode() in sent for number in range(100))
