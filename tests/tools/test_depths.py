"""How deep a schema lets a value be at most: what is not certain has no end."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tests.tools.compiling import DRAFT_7, compiled
from toolkit.tools.arguments import MAX_DEPTH
from toolkit.tools.validation.depths import depth_of

NUMBERS = {"type": "array", "items": {"type": "number"}}
RECORD = {"type": "object", "properties": {"id": {"type": "integer"}, "tags": NUMBERS}, "additionalProperties": False}


def depth(schema: dict[str, Any]) -> int | None:
    return depth_of(schema, "Draft7" if "$schema" in schema else "Draft202012")


def closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "most"),
    [
        pytest.param({"type": "string"}, 0, id="a text"),
        pytest.param({"enum": ["a", 1, None]}, 0, id="some scalars"),
        pytest.param(NUMBERS, 1, id="numbers"),
        pytest.param(closed(), 1, id="an empty object"),
        pytest.param(closed(items={"type": "array", "items": RECORD}), 4, id="records"),
        pytest.param(closed(a={"anyOf": [RECORD, NUMBERS, {"type": "null"}]}), 3, id="any of"),
        pytest.param(closed(a={"oneOf": [{"type": "null"}, NUMBERS]}), 2, id="one of"),
        pytest.param({"type": "object", "additionalProperties": NUMBERS}, 2, id="a map"),
        pytest.param(
            {"type": "object", "patternProperties": {"x": RECORD}, "additionalProperties": False}, 3, id="a pattern"
        ),
        pytest.param({"allOf": [{"type": "array"}, {"items": NUMBERS}]}, 2, id="all of"),
        pytest.param({"$ref": "#/$defs/n", "$defs": {"n": NUMBERS}}, 1, id="a reference"),
    ],
)
def test_the_levels_of_a_schema_that_has_an_end_are_counted(schema: dict[str, Any], most: int) -> None:
    assert depth(schema) == most


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({}, id="anything"),
        pytest.param({"type": "object"}, id="any object"),
        pytest.param({"type": "object", "properties": {"a": {"type": "string"}}}, id="an open object"),
        pytest.param({"properties": {"a": {}}, "type": "object", "additionalProperties": False}, id="any member"),
        pytest.param({"type": "array"}, id="any array"),
        pytest.param({"type": ["array", "object"], "items": {"type": "null"}}, id="an array, or any object"),
        pytest.param({"type": "array", "prefixItems": [{}], "items": {"type": "null"}}, id="any first item"),
        pytest.param({"$schema": DRAFT_7, "type": "array", "items": [{"type": "null"}]}, id="any later items"),
        pytest.param({"type": "array", "unevaluatedItems": False}, id="a keyword that is not followed"),
        pytest.param(
            {"type": "object", "patternProperties": {"x": {}}, "additionalProperties": False}, id="any by a pattern"
        ),
        pytest.param({"anyOf": [NUMBERS, {"type": "array"}]}, id="any array as an option"),
        pytest.param({"type": "array", "items": {"$ref": "#"}}, id="itself"),
        pytest.param(closed(next={"anyOf": [{"$ref": "#"}, {"type": "null"}]}), id="itself, as an option"),
        pytest.param({"$ref": "#/$defs/n", "$defs": {"n": {"$id": "urn:n", **NUMBERS}}}, id="another document"),
        pytest.param(
            {
                "anyOf": [{"$id": "https://x.test/", "$ref": "#/$defs/n", "$defs": {"n": {}}}],
                "$defs": {"n": {"type": "string"}},
            },
            id="another document, which has one of the same place",
        ),
        pytest.param({"type": "array", "items": {"$schema": "urn:other", **NUMBERS}}, id="another dialect"),
        pytest.param(
            {"$schema": DRAFT_7, "$ref": "#/definitions/any", **NUMBERS, "definitions": {"any": {}}}, id="beside a $ref"
        ),
        pytest.param({"enum": [[[1]]]}, id="an array among some values"),
    ],
)
def test_a_schema_that_is_open_or_not_understood_has_no_end(schema: dict[str, Any]) -> None:
    assert depth(schema) is None


def nested_schema(levels: int) -> dict[str, Any]:
    """Arrays in one another, written flat."""
    names = [f"a{level}" for level in range(levels)]
    definitions: dict[str, Any] = {
        name: {"type": "array", "items": {"$ref": f"#/$defs/{inner}"}} for name, inner in pairwise(names)
    }
    return {"$ref": "#/$defs/a0", "$defs": {**definitions, names[-1]: NUMBERS}}


def test_a_schema_of_too_many_levels_bounds_nothing() -> None:
    assert compiled(nested_schema(50)).is_bounded()
    assert not compiled(nested_schema(MAX_DEPTH + 1)).is_bounded()
    assert not compiled(nested_schema(2_000)).is_bounded()
