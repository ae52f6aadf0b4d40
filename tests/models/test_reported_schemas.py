"""What users report of tools whose schemas a provider refuses, or gets in pieces: the whole agent is unusable then."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.http.loopback import Reply, serving
from tests.models.providers import ANTHROPIC, CHAT, FORMATS, RESPONSES, Format
from toolkit import Agent, Tool, ToolDefinition, tool
from toolkit.messages import UserMessage
from toolkit.models import ModelRequest
from toolkit.models.schemas import is_strict


def closed(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    required = list(properties)
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
        **more,
    }


NODE = closed({"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}})
STRICT: dict[str, dict[str, Any]] = {
    "texts and numbers": closed({"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}}),
    "an object inside": closed({"place": closed({"city": {"type": "string"}})}),
    "what may be null": closed({"note": {"type": ["string", "null"]}}),
    "a list": closed({"days": {"type": "array", "items": {"type": "integer"}}}),
    "a choice": closed({"units": {"type": "string", "enum": ["metric", "imperial"]}}),
    "one of two types": closed({"id": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}),
    "what refers to itself": closed({"root": {"$ref": "#/$defs/Node"}}, **{"$defs": {"Node": NODE}}),
}
LENIENT: dict[str, dict[str, Any]] = {
    "an object that is not closed": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
    "a parameter that may be left out": {**closed({"a": {"type": "string"}}), "required": []},
    "an object of any names": closed({"headers": {"type": "object"}}),
    "an object of any names, said so": closed({"headers": {"type": "object", "additionalProperties": True}}),
    "a mapping": closed({"headers": {"type": "object", "additionalProperties": {"type": "string"}}}),
    "an object of any names, or null": closed({"headers": {"type": ["object", "null"]}}),
    "an open object, or null": closed(
        {"place": {"type": ["object", "null"], "properties": {"city": {"type": "string"}}, "required": ["city"]}}
    ),
    "an object that does not say that it is one": closed({"place": {"properties": {"city": {"type": "string"}}}}),
    "a value of any kind": closed({"value": {}}),
    "a value of any kind, described": closed({"value": {"description": "Anything."}}),
    "a value of any kind, as true": closed({"value": True}),
    "a list of anything": closed({"items": {"type": "array"}}),
    "a list of anything, as true": closed({"items": {"type": "array", "items": True}}),
    "an open definition": closed({"a": {"$ref": "#/$defs/A"}}, **{"$defs": {"A": {"type": "object"}}}),
    "a reference to a sibling": closed({"a": {"type": "string"}, "b": {"$ref": "#/properties/a"}}),
    "a reference that is described": closed(
        {"a": {"$ref": "#/$defs/A", "description": "A."}}, **{"$defs": {"A": {"type": "string"}}}
    ),
    "a choice that does not say its type": closed({"a": {"enum": ["b", 1]}}),
    "a choice at the top": closed({"a": {"type": "string"}}, anyOf=[closed({"a": {"type": "string"}})]),
    "a keyword that is not known": closed({"a": {"type": "string", "minLength": 1}}),
    "a format that is not known": closed({"a": {"type": "string", "format": "colour"}}),
    "no parameters": {"type": "object", "properties": {}, "additionalProperties": False},
}


@pytest.mark.parametrize("schema", STRICT.values(), ids=STRICT)
def test_a_schema_that_keeps_openais_rules_is_strict(schema: dict[str, Any]) -> None:
    assert is_strict(schema)


@pytest.mark.parametrize("schema", LENIENT.values(), ids=LENIENT)
def test_a_schema_that_breaks_one_of_openais_rules_is_not_strict(schema: dict[str, Any]) -> None:
    assert not is_strict(schema)


def _is_sent_strict(sent: dict[str, Any]) -> bool:
    return bool(sent.get("strict", sent.get("function", {}).get("strict", False)))


@pytest.mark.parametrize("wire", [RESPONSES, ANTHROPIC], ids=lambda wire: wire.name)
async def test_one_tool_that_strict_mode_would_refuse_does_not_stop_the_others(wire: Format, http: Any) -> None:
    @tool
    async def strict(city: str) -> str:
        """Take a city."""
        return city

    @tool
    async def any_value(value: Any) -> str:
        """Take any value."""
        return str(value)

    @tool
    async def any_names(headers: dict[str, str]) -> str:
        """Take any headers."""
        return str(headers)

    async with serving(Reply(wire.whole)) as server:
        model = wire.model("claude-sonnet-4-5" if wire is ANTHROPIC else "m", http=http, base_url=server.url)
        run = await Agent(model, [strict, any_value, any_names]).run("Hi")

    sent = json.loads(server.requests[0].body)["tools"]
    assert [_is_sent_strict(one) for one in sent] == [True, False, False]
    assert run.response == "Hello"


def schema_sent(sent: dict[str, Any]) -> Any:
    written = sent.get("function", sent)
    return written.get("parameters", written.get("input_schema"))


WHOLE: dict[str, dict[str, Any]] = {
    "definitions": closed(
        {"place": {"$ref": "#/$defs/Place"}}, **{"$defs": {"Place": closed({"x": {"type": "null"}})}}
    ),
    "definitions that refer to themselves": STRICT["what refers to itself"],
    "a reference to a sibling": LENIENT["a reference to a sibling"],
    "limits, descriptions and defaults": {
        "type": "object",
        "properties": {"days": {"type": "integer", "minimum": 1, "maximum": 10, "default": 3, "description": "Days."}},
        "additionalProperties": False,
    },
}


@pytest.mark.parametrize("schema", WHOLE.values(), ids=WHOLE)
@pytest.mark.parametrize("wire", [CHAT, RESPONSES, ANTHROPIC], ids=lambda wire: wire.name)
async def test_a_provider_is_sent_every_part_of_a_schema(wire: Format, schema: dict[str, Any], http: Any) -> None:
    made = Tool.define(name="t", description="Do it.", handler=lambda arguments: arguments, input_schema=schema)
    async with serving(Reply(wire.whole)) as server:
        await Agent(wire.model("m", http=http, base_url=server.url), [made]).run("Hi")

    [sent] = json.loads(server.requests[0].body)["tools"]
    assert schema_sent(sent) == schema


@pytest.mark.parametrize("wire", FORMATS, ids=lambda wire: wire.name)
async def test_a_long_or_strange_name_is_sent_as_one_that_every_provider_takes(wire: Format, http: Any) -> None:
    names = ["search." + "a" * 100, "search." + "a" * 99 + "b"]
    tools = [ToolDefinition(name, "Search.", {"type": "object", "properties": {}}) for name in names]
    async with serving(Reply(wire.whole)) as server:
        await wire.model("m", http=http, base_url=server.url).respond(ModelRequest([UserMessage("Hi")], tools))

    told = json.loads(server.requests[0].body)["tools"]
    sent = [one.get("function", one)["name"] for one in told[0].get("functionDeclarations", told)]
    assert [len(name) for name in sent] == [64, 64]
    assert all(name.startswith("search_aaa") and name[51] == "_" for name in sent)
    assert sent[0] != sent[1]
