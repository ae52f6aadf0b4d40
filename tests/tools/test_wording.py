"""A value that breaks a schema is told how and where: by keyword, by the branch that was meant, in order."""

from __future__ import annotations

import datetime
from typing import Any, TypedDict

import pytest

from tests.tools.compiling import (
    DRAFT_7,
    DRAFT_2019,
    both_engines,
    compiled,
    words,
)
from toolkit import Tool
from toolkit.tools.arguments import MAX_DEPTH, parse_arguments
from toolkit.tools.kept_specifications import specify
from toolkit.tools.validation import Engine
from toolkit.tools.violations import MAX_TEXT, InvalidArguments, Violation, text_of

TOOL = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "array", "items": {"type": "integer", "maximum": 10}, "uniqueItems": True},
        "units": {"enum": ["metric", "imperial"]},
        "place": {"type": "object", "properties": {"lat": {"type": "number"}}, "required": ["lat", "lon"]},
        "code": {"type": "string", "pattern": r"^[A-Z]+-\d+$"},
        "price": {"type": "number", "multipleOf": 0.01},
    },
    "required": ["city"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("value", "told"),
    [
        pytest.param({}, ["$.city: 'city' is a required property"], id="missing"),
        pytest.param(
            {"city": "Oslo", "days": [11, 3, 12], "surprise": 1, "x-y": 2, "it's": 3},
            [
                "$.days[0]: 11 is greater than the maximum of 10",
                "$.days[2]: 12 is greater than the maximum of 10",
                "$.surprise: Additional properties are not allowed ('surprise' was unexpected)",
                "$['x-y']: Additional properties are not allowed ('x-y' was unexpected)",
                """$['it\\'s']: Additional properties are not allowed ("it's" was unexpected)""",
            ],
            id="too large, and unexpected",
        ),
        pytest.param(
            {"units": "si", "place": {"lat": "x"}, "days": [True, 1.5], "code": "sup", "price": 0.001},
            [
                "$.units: 'si' is not one of ['metric', 'imperial']",
                "$.place.lat: 'x' is not of type 'number'",
                "$.place.lon: 'lon' is a required property",
                "$.days[0]: True is not of type 'integer'",
                "$.days[1]: 1.5 is not of type 'integer'",
                r"$.code: 'sup' does not match '^[A-Z]+-\\d+$'",
                "$.price: 0.001 is not a multiple of 0.01",
                "$.city: 'city' is a required property",
            ],
            id="many",
        ),
        pytest.param([], ["$: [] is not of type 'object'"], id="another type"),
    ],
)
@both_engines
def test_every_violation_is_worded_with_its_path_in_the_order_of_the_value(
    value: Any, told: list[str], engine: Engine
) -> None:
    assert words(TOOL, value, engine) == told


@pytest.mark.parametrize(
    ("schema", "value", "told"),
    [
        pytest.param({"properties": {"y": False}}, {"y": 1}, ["$.y: no value is allowed here"], id="the schema false"),
        pytest.param({"prefixItems": [{}, False]}, [1, 2], ["$[1]: no value is allowed here"], id="false in a tuple"),
        pytest.param(
            {"$schema": DRAFT_7, "items": False}, [1], ["$[0]: no value is allowed here"], id="false for items"
        ),
        pytest.param(
            {"prefixItems": [{}], "items": False},
            [1, 2],
            ["$: Expected at most 1 item but found 1 extra: 2"],
            id="too many",
        ),
        pytest.param(
            {"prefixItems": [{}], "items": {"type": "integer"}},
            ["a", "b"],
            ["$[1]: 'b' is not of type 'integer'"],
            id="items behind a tuple",
        ),
        pytest.param(
            {"propertyNames": {"maxLength": 2}}, {"abc": 1}, ["$.abc: the name 'abc' is too long"], id="names"
        ),
        pytest.param(
            {"dependentRequired": {"a": ["b", "c"]}},
            {"a": 1, "c": 1},
            ["$.b: 'b' is a dependency of 'a'"],
            id="dependent",
        ),
        pytest.param(
            {"$schema": DRAFT_7, "dependencies": {"a": ["b"]}},
            {"a": 1},
            ["$: 'b' is a dependency of 'a'"],
            id="dependencies",
        ),
        pytest.param(
            {"patternProperties": {"^x": {"type": "integer"}}, "additionalProperties": False},
            {"xa": "1", "ya": 1},
            ["$.xa: '1' is not of type 'integer'", "$.ya: 'ya' does not match any of the regexes: '^x'"],
            id="patterns of names",
        ),
        pytest.param(
            {"patternProperties": {r"^\d$": {}}, "additionalProperties": False},
            {"1\n": 1, "٣": 1, "1": 1},
            [r"$['1\n']: '1\n' does not match", "$['٣']: '٣' does not match"],
            id="patterns of names are ECMA's",
        ),
        pytest.param(
            {"additionalProperties": {"type": "integer"}},
            {"a": 1, "b": "x"},
            ["$.b: 'x' is not of type 'integer'"],
            id="others",
        ),
        pytest.param(
            {"properties": {"a": {}}, "unevaluatedProperties": False},
            {"b": 1, "a": 1, "c 'd'": 2},
            [
                "$.b: Unevaluated properties are not allowed ('b' was unexpected)",
                "$['c \\'d\\'']: Unevaluated properties are not",
            ],
            id="unevaluated",
        ),
        pytest.param(
            {"$schema": DRAFT_2019, "allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": {"type": "string"}},
            {"a": 1, "b": 1, "c": "x"},
            ["$.b: Unevaluated properties are not valid under the given schema ('b' was unexpected)"],
            id="unevaluated and of another type",
        ),
        pytest.param(
            {"contains": {"type": "integer"}},
            ["a"],
            ["$: ['a'] does not contain items matching the given schema"],
            id="contains",
        ),
        pytest.param(
            {"contains": {"const": 1}, "minContains": 2},
            [1, 2],
            ["$: Too few items match the given schema (expected at least 2 but only 1 matched)"],
            id="contains too few",
        ),
        pytest.param(
            {"contains": {"const": 1}, "maxContains": 1},
            [1, 1],
            ["$: Too many items match the given schema (expected at most 1)"],
            id="contains too many",
        ),
        pytest.param(
            {"not": {"type": "string"}}, "x", ["$: 'x' should not be valid under {'type': 'string'}"], id="not"
        ),
        pytest.param(
            {"if": {"required": ["a"]}, "then": {"required": ["b"]}},
            {"a": 1},
            ["$.b: 'b' is a required property"],
            id="if and then",
        ),
        pytest.param(
            {"$schema": DRAFT_7, "contains": {"const": 1}, "minContains": 2, "maxItems": 1},
            [1, 2],
            ["$: [1, 2] is too long"],
            id="counts that draft 7 does not have",
        ),
        pytest.param(
            {"$schema": DRAFT_2019, "prefixItems": [{}], "items": {"type": "integer"}},
            ["a"],
            ["$[0]: 'a' is not of type 'integer'"],
            id="a tuple that 2019-09 does not have",
        ),
        pytest.param({"const": {"a": 1}}, {}, ["$: {'a': 1} was expected"], id="const"),
        pytest.param(
            {"not": {"pattern": "^a"}}, "ab", ["$: 'ab' should not be valid under"], id="a pattern inside not"
        ),
    ],
)
@both_engines
def test_the_words_fit_the_keyword(schema: dict[str, Any], value: Any, told: list[str], engine: Engine) -> None:
    found = words(schema, value, engine)

    assert len(found) == len(told)
    assert all(text.startswith(start) for text, start in zip(found, told, strict=True)), found


ANIMAL = {
    "oneOf": [
        {
            "type": "object",
            "properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}},
            "required": ["kind", "lives"],
        },
        {"type": "object", "properties": {"kind": {"const": "dog"}}, "required": ["kind"]},
    ]
}


@pytest.mark.parametrize(
    ("schema", "value", "told"),
    [
        pytest.param(
            {"anyOf": [{"type": "object", "required": ["q"]}, {"type": "null"}]},
            {},
            ["$.q: 'q' is a required property"],
            id="an optional object: what it lacks",
        ),
        pytest.param(
            {"anyOf": [{"type": "integer"}, {"type": ["null", "boolean"]}]},
            "x",
            ["$: 'x' is not of type 'integer' or of type 'null' or of type 'boolean'"],
            id="types",
        ),
        pytest.param(
            {"oneOf": [{"const": "a"}, {"enum": ["b", 3]}, {"type": "null"}]},
            "x",
            ["$: 'x' is not 'a' or 'b' or 3 or of type 'null'"],
            id="constants",
        ),
        pytest.param(
            ANIMAL, {"kind": "cat"}, ["$.lives: 'lives' is a required property"], id="the branch with the tag"
        ),
        pytest.param(ANIMAL, {"kind": "cow"}, ["$.kind: 'cow' is not 'cat' or 'dog'"], id="an unknown tag"),
        pytest.param(
            ANIMAL,
            {},
            [
                "$: {} is not valid under any of the 2 given schemas; "
                "of the nearest one, $.kind: 'kind' is a required property"
            ],
            id="no tag",
        ),
        pytest.param(
            {"items": {"anyOf": [{"anyOf": [{"type": "integer"}, {"maximum": 3}]}, {"type": "null"}]}},
            [9.5],
            ["$[0]: 9.5 is greater than the maximum of 3"],
            id="in one another",
        ),
        pytest.param(
            {"oneOf": [{}, {"type": "integer"}, True]},
            1,
            ["$: 1 fits 3 of the given schemas, of which exactly one"],
            id="too many fit",
        ),
        pytest.param(
            {"anyOf": [False, {"type": "integer"}]}, "x", ["$: 'x' is not of type 'integer'"], id="beside false"
        ),
        pytest.param({"anyOf": [False, False]}, 1, ["$: no value is allowed here"], id="only false"),
    ],
)
@both_engines
def test_a_failed_choice_is_worded_by_the_branch_that_was_meant(
    schema: dict[str, Any], value: Any, told: list[str], engine: Engine
) -> None:
    found = words(schema, value, engine)

    assert len(found) == len(told)
    assert all(text.startswith(start) for text, start in zip(found, told, strict=True)), found


@both_engines
def test_violations_of_a_reference_that_never_ends_are_a_violation_wherever_the_stack_ends(engine: Engine) -> None:
    validator = compiled({"not": {"$ref": "#"}}, engine)

    def further_down(frames: int) -> list[Violation]:
        return further_down(frames - 1) if frames else validator.violations({})

    assert [frames for frames in range(60) if len(further_down(frames)) != 1] == []


def test_what_jsonschema_has_no_words_for_has_those_of_the_judge() -> None:
    base64 = {"contentEncoding": "base64"}

    found = words({"$schema": DRAFT_7, "properties": {"a": base64, "b": base64}}, {"b": "!", "a": "?"})

    assert found == [
        '$.b: "!" is not compliant with "base64" content encoding',
        '$.a: "?" is not compliant with "base64" content encoding',
    ]


def test_a_text_for_the_model_can_always_be_sent() -> None:
    assert text_of([Violation("$.a", "\ud800 is odd")]) == "$.a: \\ud800 is odd"


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({1: 2}, id="a key that is no text"),
        pytest.param({"x": object()}, id="any object"),
        pytest.param({"x": float("nan")}, id="NaN"),
        pytest.param({"x": "\ud800"}, id="a lone surrogate"),
        pytest.param({"\ud800": 1}, id="a lone surrogate as a key"),
        pytest.param({"x": {1}}, id="a set"),
    ],
)
def test_what_is_no_json_is_a_violation_and_not_an_exception(value: Any) -> None:
    schema = {"properties": {"x": {"type": "string", "pattern": "^a"}}, "additionalProperties": False}

    found = compiled(schema).violations(value)

    assert found
    text_of(found).encode()


@both_engines
def test_nesting_that_can_be_parsed_can_be_decided_and_worded(engine: Engine) -> None:
    schema = {"$defs": {"n": {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}}}, "$ref": "#/$defs/n"}
    deep = parse_arguments('{"n":' * MAX_DEPTH + "1" + "}" * MAX_DEPTH)
    validator = compiled(schema, engine)

    found = validator.violations(deep)

    assert not validator.is_valid(deep)
    assert len(found) == 1
    assert len(text_of(found)) < MAX_TEXT


@pytest.mark.parametrize("name", ["größe", "_n", "x-y", "it's"])
def test_a_place_is_written_alike_whether_the_schema_or_the_type_refuses_what_stands_there(name: str) -> None:
    class Measure(Tool):
        """Measure."""

        input_schema = TypedDict("Measured", {name: datetime.date})  # type: ignore[misc]  # named by the test's cases

        async def handler(self, arguments: Any) -> None: ...

    specification = specify(Measure())

    with pytest.raises(InvalidArguments) as by_schema:
        specification.read({name: 1})
    with pytest.raises(InvalidArguments) as by_type:
        specification.convert({name: "2024-13-01"})

    place = str(by_schema.value).partition(": ")[0]
    assert str(by_type.value).startswith(f"{place}: ")
