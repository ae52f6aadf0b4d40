"""A string is decoded where only an object or an array can be meant, once, and strictly."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tools.compiling import (
    DRAFT_7,
    DRAFT_2019,
    compiled,
)
from toolkit.tools.validation import Engine


def decoded(schema: dict[str, Any], arguments: dict[str, Any], engine: Engine | None = None) -> dict[str, Any]:
    return compiled(schema, engine).decode_nested(arguments)


REFERENCED = {
    "$defs": {
        "list": {"type": "array"},
        "text": {"type": "string"},
        "a/b ~c": {"type": "array"},
        "some": {"anyOf": [{}, {"type": "array"}]},
    }
}


@pytest.mark.parametrize(
    ("parameter", "text", "value"),
    [
        pytest.param({"type": "array"}, "[1, 2, 3]", [1, 2, 3], id="an array"),
        pytest.param({"type": "object"}, '{"a": "[1]"}', {"a": "[1]"}, id="an object, once"),
        pytest.param({"type": ["array", "null"]}, "[]", [], id="an array or null"),
        pytest.param({"type": ["array", "object"]}, " {} ", {}, id="an array or an object"),
        pytest.param({"anyOf": [{"type": "array"}, {"type": "null"}]}, "[1]", [1], id="any of"),
        pytest.param({"oneOf": [{"type": "object"}, {"type": "integer"}]}, "{}", {}, id="one of"),
        pytest.param({"allOf": [{"type": ["array", "string"]}, {"type": ["array", "object"]}]}, "[]", [], id="all of"),
        pytest.param({"enum": [[1], [2]]}, "[2]", [2], id="an enum of arrays"),
        pytest.param({"const": {"a": 1}}, '{"a": 1}', {"a": 1}, id="a constant object"),
        pytest.param({"$ref": "#/$defs/list"}, "[1]", [1], id="a reference"),
        pytest.param({"$ref": "#/$defs/a~1b%20~0c"}, "[1]", [1], id="a reference with escapes"),
        pytest.param({"$ref": "#/$defs/some/anyOf/1"}, "[1]", [1], id="a reference into a list"),
        pytest.param({"$ref": "#/$defs/text", "type": "array"}, '["x"]', '["x"]', id="a contradiction"),
        pytest.param(
            {"type": "array", "items": {"type": "string"}}, "[1]", [1], id="an array of other items, refused later"
        ),
        pytest.param(
            {"type": "array", "anyOf": [{"minItems": 1}, {"maxItems": 3}]}, "[1]", [1], id="a choice without types"
        ),
        pytest.param({"type": "array"}, '{"a": 1}', '{"a": 1}', id="JSON of another type"),
        pytest.param({"type": "object"}, "null", "null", id="null for an object"),
        pytest.param({"type": "array"}, "[1, 2", "[1, 2", id="no JSON"),
        pytest.param({"type": "array"}, "[1, 2,]", "[1, 2,]", id="nearly JSON"),
        pytest.param({"type": "array"}, "[NaN]", "[NaN]", id="NaN"),
        pytest.param({"type": "object"}, '{"a": 1, "a": 2}', '{"a": 1, "a": 2}', id="a repeated key"),
        pytest.param({"type": "array"}, "[" * 201 + "]" * 201, "[" * 201 + "]" * 201, id="too deep"),
        pytest.param({"type": "array"}, "", "", id="an empty string"),
        pytest.param({"type": "array"}, '"[1]"', '"[1]"', id="twice encoded"),
        pytest.param({"type": "string"}, "[1]", "[1]", id="a string"),
        pytest.param({"type": ["string", "array"]}, "[1]", "[1]", id="a string or an array"),
        pytest.param({}, "[1]", "[1]", id="anything"),
        pytest.param(True, "[1]", "[1]", id="true"),
        pytest.param(False, "[1]", "[1]", id="false"),
        pytest.param({"items": {"type": "integer"}}, "[1]", "[1]", id="a string, as items say nothing of it"),
        pytest.param({"anyOf": [{"type": "array"}, {"minLength": 1}]}, "[1]", "[1]", id="any of, one unknown"),
        pytest.param(
            {"anyOf": [{"type": "array"}, {"$ref": "#/$defs/text"}]}, "[1]", "[1]", id="any of, a reference to a string"
        ),
        pytest.param({"enum": [[1], "[1]"]}, "[1]", "[1]", id="an enum with a string"),
        pytest.param({"$ref": "#/$defs/absent/../x", "$defs": {}}, "[1]", "[1]", id="an unknown reference"),
        pytest.param({"type": "integer"}, "[1]", "[1]", id="an integer"),
    ],
)
def test_a_string_is_decoded_where_only_an_object_or_array_can_be_meant(parameter: Any, text: str, value: Any) -> None:
    if isinstance(parameter, dict) and "absent" in parameter.get("$ref", ""):
        parameter = {"$ref": "#/$defs/elsewhere"}
        schema = {
            "$defs": {"elsewhere": {"$id": "http://a.example/x", "type": "array"}},
            "properties": {"p": parameter},
        }
    else:
        schema = {**REFERENCED, "properties": {"p": parameter, "q": {"type": "string"}}}
    arguments = {"q": "[1]", "p": text, "r": "[2]"}

    result = decoded(schema, arguments)

    assert result == {"q": "[1]", "p": value, "r": "[2]"}
    assert list(result) == ["q", "p", "r"]
    assert arguments == {"q": "[1]", "p": text, "r": "[2]"}
    assert (result is arguments) == (value == text)


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param(
            {"$ref": "#/$defs/arguments", "$defs": {"arguments": {"properties": {"p": {"type": "array"}}}}}, id="$ref"
        ),
        pytest.param({"allOf": [{"properties": {"p": {"type": "array"}}}, {"required": ["p"]}]}, id="allOf"),
        pytest.param({"allOf": [{"properties": {"p": {}}}, {"properties": {"p": {"type": "array"}}}]}, id="twice"),
    ],
)
def test_the_parameters_may_stand_behind_a_reference(schema: dict[str, Any]) -> None:
    assert decoded(schema, {"p": "[1]"}) == {"p": [1]}


@pytest.mark.parametrize(("dialect", "value"), [(DRAFT_7, "[1]"), (DRAFT_2019, [1])])
def test_what_stands_beside_a_reference_is_ignored_where_the_dialect_ignores_it(dialect: str, value: Any) -> None:
    schema = {
        "$schema": dialect,
        "definitions": {"any": {}},
        "properties": {"p": {"$ref": "#/definitions/any", "type": "array"}},
    }

    assert decoded(schema, {"p": "[1]"}) == {"p": value}


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"properties": {"p": {"$ref": "#/properties/p"}}}, id="itself"),
        pytest.param(
            {"allOf": [{"$ref": "#"}, {"$ref": "#"}], "properties": {"p": {"$ref": "#"}}}, id="the whole, twice"
        ),
        pytest.param(
            {
                "$defs": {"n": {"anyOf": [{"$ref": "#/$defs/n"}, {"$ref": "#/$defs/n"}, {"type": "array"}]}},
                "properties": {"p": {"$ref": "#/$defs/n"}},
            },
            id="a choice of itself",
        ),
    ],
)
def test_schemas_that_refer_to_themselves_are_read_to_an_end(schema: dict[str, Any]) -> None:
    assert decoded(schema, {"p": "[1]"}) == {"p": "[1]"}
