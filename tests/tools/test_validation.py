"""Schemas are compiled when a tool is listed, refused with their path, and decide what JSON Schema says."""

from __future__ import annotations

import copy
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.tools.compiling import (
    DRAFT_4,
    DRAFT_6,
    DRAFT_7,
    DRAFT_2019,
    DRAFT_2020,
    both_engines,
    compiled,
    refusal,
    words,
)
from toolkit.tools.validation import Engine
from toolkit.tools.violations import Violation

# Deciding


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        pytest.param(
            {"type": "integer"}, [1, 1.0, -3, 10**30], [True, 1.5, "1", None], id="1.0 is an integer, true is not"
        ),
        pytest.param({"type": "number"}, [1, 1.5], [True, "1"], id="true is no number"),
        pytest.param({"const": 1}, [1, 1.0], [True, 2], id="1 is not true"),
        pytest.param({"enum": [False, [True]]}, [False, [True]], [0, [1], ["bool"]], id="false is not 0"),
        pytest.param(
            {"uniqueItems": True}, [[1, True], [[1], [True]]], [[1, 1.0], [{"a": 1}, {"a": 1.0}]], id="unique"
        ),
        pytest.param({"multipleOf": 0.01}, [19.99, 0.07, 3], [19.999], id="decimals are exact"),
        pytest.param({"multipleOf": 1e-8}, [12391239123], [1e-9], id="large multiples"),
        pytest.param(
            {"pattern": r"^[A-Z]+-\d+$"}, ["SUP-481"], ["SUP-481\n", "SUP-٤٨١", "sup-1"], id="patterns are ECMA's"
        ),
        pytest.param({"format": "email"}, ["no address"], [], id="a format is an annotation"),
        pytest.param({"$schema": DRAFT_7, "format": "email"}, ["no address"], [], id="a format in draft 7"),
        pytest.param({"$schema": DRAFT_4, "format": "ipv4"}, ["no address"], [], id="a format in draft 4"),
        pytest.param({"type": "string", "nullable": True}, ["x"], [None], id="nullable is not JSON Schema"),
        pytest.param({"properties": {"x": True, "y": False}}, [{"x": [1]}, {}], [{"y": 1}], id="boolean subschemas"),
        pytest.param({}, [1, None, {}], [], id="the empty schema"),
    ],
)
@both_engines
def test_valid_is_what_json_schema_calls_valid(
    schema: dict[str, Any], valid: list[Any], invalid: list[Any], engine: Engine
) -> None:
    validator = compiled(schema, engine)

    assert [value for value in valid if not validator.is_valid(value)] == []
    assert [value for value in invalid if validator.is_valid(value)] == []
    assert all(validator.violations(value) == [] for value in valid)
    assert all(validator.violations(value) for value in invalid)


@pytest.mark.parametrize(
    ("dialect", "valid"),
    [(DRAFT_4, True), (DRAFT_6, True), (DRAFT_7, True), (DRAFT_2019, True), (DRAFT_7[:-1], True), (DRAFT_2020, False)],
)
@both_engines
def test_the_dialect_is_the_one_that_the_schema_names(dialect: str, valid: bool, engine: Engine) -> None:
    tuple_form = {"$schema": dialect, "items": [{"type": "integer"}]}

    if valid:
        assert words(tuple_form, ["x"], engine) == ["$[0]: 'x' is not of type 'integer'"]
        assert compiled(tuple_form, engine).is_valid([1, "x"])
    else:
        assert "$.items" in refusal(tuple_form, engine)


@both_engines
def test_keywords_beside_a_reference_count_since_2019_only(engine: Engine) -> None:
    beside = {"$ref": "#/definitions/any", "definitions": {"any": {}}, "type": "integer"}

    assert compiled({"$schema": DRAFT_7, **beside}, engine).is_valid("x")
    assert not compiled(beside, engine).is_valid("x")


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        pytest.param(
            {
                "$defs": {"a/b": {"type": "integer"}, "c~d %": {"type": "string"}},
                "properties": {"x": {"$ref": "#/$defs/a~1b"}, "y": {"$ref": "#/$defs/c~0d%20%25"}},
            },
            {"x": 1, "y": "s"},
            {"x": "s"},
            id="escapes in pointers",
        ),
        pytest.param(
            {
                "properties": {
                    "headers": {"type": "array", "items": {"type": "string"}},
                    "more": {"$ref": "#/properties/headers"},
                }
            },
            {"more": ["a"]},
            {"more": [1]},
            id="into properties",
        ),
        pytest.param(
            {
                "$defs": {
                    "node": {
                        "properties": {"v": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}},
                        "required": ["v"],
                    }
                },
                "$ref": "#/$defs/node",
            },
            {"v": 1, "next": {"v": 2}},
            {"v": 1, "next": {"next": {}}},
            id="recursive",
        ),
        pytest.param(
            {"properties": {"child": {"$ref": "#"}}, "additionalProperties": False},
            {"child": {"child": {}}},
            {"child": {"x": 1}},
            id="the whole schema",
        ),
        pytest.param(
            {
                "$id": "http://example.com/root",
                "$defs": {"b": {"$id": "part", "type": "integer"}},
                "properties": {"x": {"$ref": "part"}},
            },
            {"x": 1},
            {"x": "1"},
            id="embedded by its $id",
        ),
        pytest.param(
            {"$defs": {"b": {"$anchor": "b", "type": "integer"}}, "properties": {"x": {"$ref": "#b"}}},
            {"x": 1},
            {"x": "1"},
            id="by an anchor",
        ),
        pytest.param(
            {"properties": {"x": {"$ref": DRAFT_2020}}},
            {"x": {"type": "object"}},
            {"x": {"type": "dict"}},
            id="the schema of schemas, which is at hand",
        ),
        pytest.param(
            {
                "properties": {
                    "$ref": {"type": "string"},
                    "type": {"type": "string"},
                    "pattern": {"type": "array"},
                    "properties": {"type": "object"},
                    "items": {"enum": ["("]},
                }
            },
            {"$ref": "r", "type": "t", "pattern": [], "properties": {}},
            {"$ref": 1},
            id="named like keywords",
        ),
        pytest.param(
            {"properties": {"x": {"const": {"$ref": "http://127.0.0.1:1/x", "pattern": "("}}}},
            {"x": {"$ref": "http://127.0.0.1:1/x", "pattern": "("}},
            {"x": {}},
            id="what looks like a schema",
        ),
    ],
)
@both_engines
def test_references_and_names_mean_what_they_should(
    schema: dict[str, Any], valid: Any, invalid: Any, engine: Engine
) -> None:
    validator = compiled(schema, engine)

    assert validator.is_valid(valid)
    assert not validator.is_valid(invalid)
    assert validator.violations(invalid)


@both_engines
def test_a_schema_is_neither_changed_nor_followed_when_it_changes(engine: Engine) -> None:
    schema: dict[str, Any] = {"properties": {"x": {"type": "integer"}, "y": {"enum": [1]}}, "required": ["x"]}
    before = copy.deepcopy(schema)
    validator = compiled(schema, engine)
    validator.violations({"x": "1", "y": 2})

    assert schema == before

    schema["properties"]["x"]["type"] = "string"
    assert not validator.is_valid({"x": "1"})
    assert validator.violations({"x": "1"}) == [Violation("$.x", "'1' is not of type 'integer'")]


def test_the_decision_is_one_call_of_the_compiled_function() -> None:
    assert type(compiled({}).is_valid).__name__ == "builtin_function_or_method"


def test_neither_library_is_imported_before_it_is_needed() -> None:
    program = """
import sys
from toolkit.tools.validation import compile_schema
assert not {"jsonschema", "jsonschema_rs", "referencing"} & set(sys.modules)
validator = compile_schema({"type": "object", "properties": {"x": {"type": "array"}}}, owner="x")
assert validator.is_valid(validator.decode_nested({"x": "[]"}))
assert "jsonschema_rs" in sys.modules and not {"jsonschema", "referencing"} & set(sys.modules)
assert validator.violations([])
assert "jsonschema" in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


# Refusing schemas


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        pytest.param({"type": "dict"}, "$.type: 'dict' is not", id="an unknown type"),
        pytest.param(
            {"properties": {"x": {"type": "float"}}}, "$.properties.x.type: 'float' is not", id="another one, inside"
        ),
        pytest.param(
            {"properties": {"a-b": {"minLength": -1}}}, "$.properties['a-b'].minLength: -1 is less than", id="a number"
        ),
        pytest.param({"required": "x"}, "$.required: 'x' is not of type 'array'", id="required as a string"),
        pytest.param(
            {"anyOf": [{}, {"items": [{}]}]}, "$.anyOf[1].items: [{}] is not of type", id="draft 7's tuples in 2020-12"
        ),
        pytest.param(
            {"$ref": "#/$defs/no"}, "$['$ref']: '#/$defs/no' leads nowhere in this schema", id="a pointer to nowhere"
        ),
        pytest.param(
            {"items": {"$ref": "#no"}}, "$.items['$ref']: '#no' leads nowhere in this schema", id="an anchor to nowhere"
        ),
        pytest.param(
            {"allOf": [{"$ref": "file:///etc/passwd"}]},
            "$.allOf[0]['$ref']: 'file:///etc/passwd' lies outside",
            id="a file",
        ),
        pytest.param(
            {"items": {"$ref": "http://127.0.0.1:1/x#/y"}},
            "$.items['$ref']: 'http://127.0.0.1:1/x#/y' lies outside",
            id="http",
        ),
        pytest.param(
            {"properties": {"x": {"$ref": "other.json"}}},
            "$.properties.x['$ref']: 'other.json' lies outside",
            id="relative",
        ),
        pytest.param(
            {"$id": "http://a.example/b", "not": {"$ref": "c"}}, "$.not['$ref']: 'c' lies outside", id="relative to $id"
        ),
        pytest.param(
            {"$schema": DRAFT_7, "definitions": {"d": {"$ref": "c.json"}}},
            "$.definitions.d['$ref']: 'c.json' lies",
            id="draft 7",
        ),
        pytest.param(
            {"properties": {"x": {"pattern": "("}}},
            "$.properties.x.pattern: the pattern '(' can't be compiled",
            id="a pattern",
        ),
        pytest.param({"patternProperties": {"[": {}}}, "the pattern '[' can't be compiled", id="a pattern of names"),
        pytest.param(
            {"$defs": {"unused": {"pattern": "*"}}},
            ".unused.pattern: the pattern '*' can't be compiled",
            id="an unused pattern",
        ),
        pytest.param(
            {"$schema": "http://a.example/s"},
            "$['$schema']: 'http://a.example/s' is not a dialect known here",
            id="a dialect",
        ),
        pytest.param(
            {"$schema": "http://json-schema.org/draft-03/schema#"}, "is not a dialect known here", id="draft 3"
        ),
        pytest.param({"$schema": 7}, "$['$schema']: 7 is not a dialect known here", id="a dialect that is no text"),
        pytest.param({"default": float("nan")}, "is not JSON: $.default: NaN is not JSON", id="NaN"),
        pytest.param({"enum": [{1}]}, "is not JSON: $.enum[0]: a value of type set is not JSON", id="a set"),
        pytest.param(
            {"properties": {1: {}}}, "is not JSON: $.properties: a key is of type int", id="a name that is no text"
        ),
        pytest.param({"title": "\ud800"}, "is not JSON: $.title: the string holds a lone surrogate", id="a surrogate"),
        pytest.param(None, "must be a dict, not NoneType", id="null"),
        pytest.param([], "must be a dict, not list", id="a list"),
        pytest.param(True, "must be a dict, not bool", id="true"),
    ],
)
@both_engines
def test_what_is_no_schema_is_refused_with_its_owner_and_path(schema: Any, told: str, engine: Engine) -> None:
    text = refusal(schema, engine)

    assert text.startswith("the schema of tool 'get_weather' ")
    assert told in text
    assert len(text) < 600


@both_engines
def test_a_schema_that_is_nested_without_end_is_refused(engine: Engine) -> None:
    schema: dict[str, Any] = {}
    schema["not"] = schema

    assert "nested too deep" in refusal(schema, engine)


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A server that would answer with a valid schema; nobody may ask it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        yield server


@both_engines
def test_nothing_is_ever_fetched(listener: socket.socket, engine: Engine) -> None:
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    for schema in (
        {"$ref": f"{address}/x.json"},
        {"properties": {"x": {"$ref": f"{address}/x.json#/a"}}},
        {"$defs": {"unused": {"$ref": f"{address}/x.json"}}},
        {"$schema": f"{address}/dialect"},
        {"$id": f"{address}/root.json", "items": {"$ref": "x.json"}},
        {"items": {"$dynamicRef": f"{address}/x.json#a"}},
    ):
        assert "is not valid JSON Schema" in refusal(schema, engine)

    harmless = compiled(
        {"$id": f"{address}/root.json", "$defs": {"a": {"type": "integer"}}, "items": {"$ref": "#/$defs/a"}}, engine
    )
    assert harmless.violations(["x"])
    unread = compiled({"x-note": {"$ref": f"{address}/x.json"}, "enum": [{"$ref": f"{address}/x.json"}]}, engine)
    assert unread.violations(["x"])

    with pytest.raises(BlockingIOError):  # nobody is waiting to be accepted
        listener.accept()


@both_engines
def test_no_file_is_ever_read(tmp_path: Path, engine: Engine) -> None:
    (tmp_path / "integer.json").write_text('{"type": "integer"}')

    for schema in (
        {"$ref": (tmp_path / "integer.json").as_uri()},
        {"$id": tmp_path.as_uri() + "/", "$ref": "integer.json"},
    ):
        assert "never followed" in refusal(schema, engine)
