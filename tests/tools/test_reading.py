"""Short and long arguments, of closed and of open schemas, are read as strictly: each has a quicker way of its own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolkit import RunContext, Tool
from toolkit.tools.kept_specifications import specify
from toolkit.tools.proofs import MAX_DEPTH, SHORT
from toolkit.tools.specification import ToolSpecification
from toolkit.tools.violations import InvalidArguments

RECORD = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "name": {"type": "string"}, "tags": {"type": "array"}},
    "required": ["id"],
}
OPEN = {
    "type": "object",
    "properties": {"items": {"type": "array", "items": RECORD}, "day": {"type": "string"}, "more": {}},
}
FLAT = {"type": "array", "items": {"type": "string"}}
CLOSED_RECORD = {
    **RECORD,
    "properties": {"id": {"type": "integer"}, "name": {"type": "string"}, "tags": FLAT},
    "additionalProperties": False,
}
CLOSED = {
    "type": "object",
    "properties": {"items": {"type": "array", "items": CLOSED_RECORD}, "day": {"type": "string"}},
    "additionalProperties": False,
}

both_schemas = pytest.mark.parametrize("schema", [OPEN, CLOSED], ids=["open", "closed"])
short_and_long = pytest.mark.parametrize("count", [1, 100], ids=["short", "long"])
names = pytest.mark.parametrize(
    "name", ["n", "at 12:30", "a[0] {", "]} x", ":[", r"C:\dir", 'say "[hi]": {', "\n", "é"], ids=ascii
)


def specified(schema: dict[str, Any]) -> ToolSpecification:
    def handler(arguments: dict[str, Any]) -> str:
        return ""

    return specify(Tool.define(name="store", description="Store.", handler=handler, input_schema=schema))


def records(count: int, name: str = "n") -> dict[str, Any]:
    return {"items": [{"id": number, "name": name, "tags": ["a", name]} for number in range(count)], "day": name}


def told(schema: dict[str, Any], text: str) -> str:
    with pytest.raises(InvalidArguments) as caught:
        specified(schema).read(text)
    return str(caught.value)


@both_schemas
@short_and_long
@names
def test_what_meets_the_schema_is_read_as_it_is(schema: dict[str, Any], count: int, name: str) -> None:
    arguments = records(count, name)

    assert specified(schema).read(json.dumps(arguments)) == arguments
    assert specified(schema).read(json.dumps(arguments, ensure_ascii=False, indent=1)) == arguments
    assert specified(schema).read(json.dumps(arguments, separators=(",", ":"))) == arguments


@both_schemas
@short_and_long
@names
def test_a_repeated_key_is_found(schema: dict[str, Any], count: int, name: str) -> None:
    text = json.dumps(records(count, name))

    assert "$.items[0].id: the key 'id' is repeated" in told(schema, text.replace('"id": 0', '"id": 1, "id": 0'))
    assert "$.day: the key 'day' is repeated" in told(schema, text.replace('"items"', '"day": "", "items"'))
    assert "$.items: the key 'items' is repeated" in told(schema, text.replace("{", '{"items": [{"id": 1}], ', 1))


@both_schemas
@short_and_long
@names
def test_what_breaks_the_schema_is_told(schema: dict[str, Any], count: int, name: str) -> None:
    text = json.dumps(records(count, name))

    assert "$.items[0].id: '0' is not of type 'integer'" in told(schema, text.replace('"id": 0', '"id": "0"'))


@both_schemas
@short_and_long
def test_a_text_is_decoded_where_only_an_array_can_be_meant(schema: dict[str, Any], count: int) -> None:
    arguments = records(count)

    assert specified(schema).read(json.dumps({**arguments, "items": json.dumps(arguments["items"])})) == arguments


@both_schemas
@names
@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 254, 300, 900])
def test_what_is_nested_too_deep_is_told_so_before_the_schema_is_looked_at(
    schema: dict[str, Any], name: str, depth: int
) -> None:
    text = json.dumps(records(100, name))[:-1] + ', "more": ' + "[" * (depth - 1) + "]" * (depth - 1) + "}"

    assert "nested too deep" in told(schema, text)


def test_what_the_validator_cannot_look_at_is_told_to_be_nested_too_deep() -> None:
    distinct = {"allOf": [{"uniqueItems": True}, {"type": "array", "items": {"type": "string"}}]}
    schema = {"type": "object", "properties": {"a": distinct}, "additionalProperties": False}
    deep = "[" * 300 + "]" * 300

    assert specified(schema).validator.is_bounded()
    assert "nested too deep" in told(schema, f'{{"a": [{deep}, {deep}]}}')


@names
def test_what_is_nested_as_deep_as_may_be_is_read_where_the_schema_lets_it(name: str) -> None:
    text = json.dumps(records(100, name))[:-1] + ', "more": ' + "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1) + "}"

    assert specified(OPEN).read(text) == json.loads(text)
    assert "nested too deep" in told(OPEN, text.replace("[[", "[[[", 1).replace("]]", "]]]", 1))


@pytest.mark.parametrize("quote", ["", '"', "\\"], ids=["bare", "in quotes", "after backslashes"])
@pytest.mark.parametrize("pair", ["[]", "{}", "[{", "}]"])
def test_brackets_in_strings_hide_no_depth(pair: str, quote: str) -> None:
    """Were those in strings taken for real ones, each would pair with one that is real."""
    shut, opened = [quote + pair[1] + quote], [quote + pair[0] + quote]
    deep: Any = [*[shut] * 300, *[[*[shut] * 3, [opened]]] * 3]
    for _ in range(MAX_DEPTH):
        deep = [shut, deep, opened]

    assert "nested too deep" in told(OPEN, json.dumps({"more": deep}))


@both_schemas
def test_a_text_just_too_long_for_the_short_way_is_read_all_the_same(schema: dict[str, Any]) -> None:
    for length in (SHORT - 1, SHORT, SHORT + 1):
        text = json.dumps({"day": ""})
        text = text.replace('""', '"' + "x" * (length - len(text)) + '"')

        assert len(text) == length
        assert specified(schema).read(text) == json.loads(text)
        assert "repeated" in told(schema, text.replace("xxxxxxxxxxxx", '", "day": "', 1))


def test_a_name_that_the_tool_takes_itself_is_refused() -> None:
    def handler(ctx: RunContext, **named: str) -> str:
        return ""

    with pytest.raises(InvalidArguments, match="is not an argument of this tool"):
        specify(Tool.define(name="store", description="Store.", handler=handler)).read('{"ctx": "x"}')
