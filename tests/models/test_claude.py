"""What each Claude takes, and schemas as they are sent to it."""

from __future__ import annotations

from typing import Any

import pytest

from toolkit.models.claude_models import Claude, claude_named
from toolkit.models.claude_schemas import GrammarRoom, described, held, weight

UNSAMPLED = Claude(has_sampling=False)
BINDING = Claude(has_sampling=False, has_forced_choice=False, binds_thinking=True)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("claude-3-5-sonnet-20241022", Claude(max_tokens=4096, has_grammar=False)),
        ("claude-opus-4-20250514", Claude(has_grammar=False)),
        ("claude-opus-4-1", Claude(has_grammar=False)),
        ("claude-sonnet-4-5-20250929", Claude()),
        ("claude-haiku-4-5", Claude()),
        ("claude-opus-4-7", UNSAMPLED),
        ("claude-opus-5", UNSAMPLED),
        ("claude-opus-5-5-20260901", BINDING),
        ("claude-fable-5-1", BINDING),
        ("claude-fable-5", UNSAMPLED),
        ("anthropic/claude-opus-4.7", UNSAMPLED),
        ("eu.anthropic.claude-sonnet-5-v1:0", UNSAMPLED),
        ("claude-novella-9", Claude()),
        ("glm-5", Claude(has_grammar=False)),
    ],
)
def test_a_model_is_known_by_the_beginning_of_its_name(name: str, wanted: Claude) -> None:
    assert claude_named(name) == wanted


def closed(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


TEXT = {"type": "string"}
TREE = {"$defs": {"Tree": closed(left={"$ref": "#/$defs/Tree"})}, "$ref": "#/$defs/Tree"}

HELD: dict[str, tuple[dict[str, Any], Any]] = {
    "as it is": (closed(a=TEXT, b={"type": ["integer", "null"]}, c={"enum": [1, 2]}), "as it is"),
    "no parameters": (closed(), "as it is"),
    "objects are closed": ({**closed(a=TEXT), "additionalProperties": True}, None),
    "an object that says nothing of others": (
        {"type": "object", "properties": {"a": TEXT}},
        {"type": "object", "properties": {"a": TEXT}, "additionalProperties": False},
    ),
    "what it can't say stands in words": (
        closed(a={"type": "integer", "minimum": 1, "default": 2, "description": "How many."}),
        closed(a={"type": "integer", "description": "How many. (minimum: 1, default: 2)"}),
    ),
    "formats that it knows and others": (
        closed(a={**TEXT, "format": "date"}, b={**TEXT, "format": "iban"}),
        closed(a={**TEXT, "format": "date"}, b={**TEXT, "description": '(format: "iban")'}),
    ),
    "one item at least and two": (
        closed(a={"type": "array", "items": TEXT, "minItems": 1}, b={"type": "array", "items": TEXT, "minItems": 2}),
        closed(
            a={"type": "array", "items": TEXT, "minItems": 1},
            b={"type": "array", "items": TEXT, "description": "(minItems: 2)"},
        ),
    ),
    "one of": (closed(a={"oneOf": [TEXT, {"type": "null"}]}), closed(a={"anyOf": [TEXT, {"type": "null"}]})),
    "definitions of draft 7": (
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "definitions": {"T": TEXT},
            **closed(a={"$ref": "#/definitions/T"}),
        },
        {"$defs": {"T": TEXT}, **closed(a={"$ref": "#/$defs/T"})},
    ),
    "words beside a reference": (
        {"$defs": {"T": TEXT}, **closed(a={"$ref": "#/$defs/T", "description": "A."})},
        {"$defs": {"T": TEXT}, **closed(a={"anyOf": [{"$ref": "#/$defs/T"}], "description": "A."})},
    ),
    "more than words beside a reference": (
        {"$defs": {"T": TEXT}, **closed(a={"$ref": "#/$defs/T", "minLength": 1})},
        None,
    ),
    "recursive": (TREE, None),
    "any names": ({"type": "object", "additionalProperties": TEXT}, None),
    "any object": (closed(a={"type": "object"}), None),
    "any value": (closed(a={}), None),
    "true": (closed(a=True), None),
    "a list of anything": (closed(a={"type": "array"}), None),
    "a tuple": (closed(a={"type": "array", "prefixItems": [TEXT], "items": TEXT}), None),
    "all of": (closed(a={"allOf": [TEXT]}), None),
    "an object to choose": (closed(a={"enum": [{"b": 1}]}), None),
}


@pytest.mark.parametrize(("schema", "wanted"), HELD.values(), ids=HELD)
def test_a_grammar_holds_a_schema_or_does_not(schema: dict[str, Any], wanted: Any) -> None:
    assert held(schema) == (schema if wanted == "as it is" else wanted)


DESCRIBED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "as it is": (TREE | {"type": "object"}, TREE | {"type": "object"}),
    "no type": ({}, {"type": "object"}),
    "constraints inside": (closed(a={"type": "integer", "minimum": 1}), closed(a={"type": "integer", "minimum": 1})),
    "a choice at the top": (
        {**closed(a=TEXT), "anyOf": [{"required": ["a"]}]},
        {**closed(a=TEXT), "description": '(anyOf: [{"required":["a"]}])'},
    ),
    "a tuple of draft 7": (
        closed(a={"type": "array", "items": [{"$ref": "#/definitions/T"}], "additionalItems": False})
        | {"definitions": {"T": TEXT}},
        closed(a={"type": "array", "prefixItems": [{"$ref": "#/$defs/T"}], "items": False}) | {"$defs": {"T": TEXT}},
    ),
}


@pytest.mark.parametrize(("schema", "wanted"), DESCRIBED.values(), ids=DESCRIBED)
def test_a_tools_schema_is_described_in_the_words_of_2020_12(schema: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert described(schema) == wanted


@pytest.mark.parametrize(
    ("schema", "count"),
    [
        (closed(a=TEXT), 20),
        ({**closed(a=TEXT, b=TEXT, c=TEXT), "required": []}, 8),
        (closed(a={"type": ["string", "null"]}, b={"anyOf": [TEXT, {"type": "null"}]}), 8),
    ],
    ids=["tools", "optional parameters", "parameters of several types"],
)
def test_one_request_has_room_for_so_many_tools(schema: dict[str, Any], count: int) -> None:
    room = GrammarRoom()

    assert sum(room.takes(weight(schema)) for _ in range(30)) == count


def test_an_answers_schema_takes_no_tools_place() -> None:
    room = GrammarRoom()

    assert room.takes(weight(closed(a=TEXT)), is_tool=False)

    assert sum(room.takes(weight(closed(a=TEXT))) for _ in range(30)) == 20
