"""Arguments of earlier calls as servers get them that take a JSON object, and no text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchmarks.requests import ADAPTERS, Refusing, asked
from toolkit.messages import AssistantMessage, ToolCall, ToolMessage, UserMessage
from toolkit.models import ModelRequest

OBJECTS = pytest.mark.parametrize("adapter", ["AnthropicModel", "GeminiModel"])


async def sent_with(adapter: str, arguments: Any, prompt: str = "go") -> str:
    """The body of a request whose history has one call."""
    make, name = ADAPTERS[adapter]
    http = Refusing()
    history = [
        UserMessage(prompt),
        AssistantMessage("", [ToolCall("c1", "add", arguments)]),
        ToolMessage("c1", "add", "3"),
    ]
    await asked(make(name, http=http, api_key="key"), ModelRequest(history))
    return http.sent.decode()


@OBJECTS
async def test_values_go_out_as_the_model_wrote_them(adapter: str) -> None:
    text = '{ "a" : 1.0, "b": [1e2,  "\\u00e9"], "c": {"d": 12345678901234567890123} }'
    sent = await sent_with(adapter, text)

    assert json.loads(sent)
    assert all(part in sent for part in ('"a":1.0', '[1e2,  "\\u00e9"]', '{"d": 12345678901234567890123}'))


@OBJECTS
@pytest.mark.parametrize(
    "arguments", ["", "null", "[1]", "5", '{"a": 1', '{"a": "\\q"}', '{"a": 01}', '{"a": nul}', None]
)
async def test_what_is_no_object_goes_out_as_an_empty_one(adapter: str, arguments: Any) -> None:
    body = json.loads(await sent_with(adapter, arguments))

    assert calls_in(body) == [{}]


@OBJECTS
async def test_a_number_that_nothing_can_hold_stops_no_request(adapter: str) -> None:
    body = json.loads(await sent_with(adapter, '{"a": 1e999, "b": [1]}', "half a character: \ud800"))

    assert calls_in(body) == [{"a": "1e999", "b": [1]}]


@OBJECTS
async def test_a_dict_goes_out_as_it_is(adapter: str) -> None:
    body = json.loads(await sent_with(adapter, {"a": [1, {"b": None}]}))

    assert calls_in(body) == [{"a": [1, {"b": None}]}]


def calls_in(value: Any) -> list[Any]:
    """The arguments of each call in a body, whatever the provider names them."""
    if isinstance(value, list):
        return [found for item in value for found in calls_in(item)]
    if not isinstance(value, dict):
        return []
    own = [value[key] for key in ("input", "args") if key in value]
    return own or [found for item in value.values() for found in calls_in(item)]
