"""What each of Google's models takes, the names that it takes, and schemas as they are sent to it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.shared_files import names_in, shared_json
from toolkit.models.gemini_models import Gemini, gemini_named
from toolkit.models.gemini_names import own_name, written_name
from toolkit.models.gemini_schemas import readable
from toolkit.models.names import sent_name
from toolkit.tools.validation.subschemas import subschemas

EARLY = Gemini(has_output_beside_tools=False, result_media=frozenset(), wants_signatures=False)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("gemini-1.5-pro", EARLY),
        ("gemini-2.0-flash", EARLY),
        ("models/gemini-2.5-flash-lite", EARLY),
        ("gemini-robotics-er-1.5-preview", EARLY),
        ("gemini-3-pro-preview", Gemini()),
        ("models/gemini-3.8-flash", Gemini()),
        ("gemini-4-argon", Gemini()),
        ("gemini-flash-latest", Gemini()),
        ("Gemini-3.1-Flash-Lite", Gemini()),
        ("tunedModels/gemini-3-of-mine", EARLY),
        ("gemma-3-27b-it", EARLY),
    ],
)
def test_a_model_is_known_by_the_beginning_of_its_name(name: str, wanted: Gemini) -> None:
    assert gemini_named(name) == wanted


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("weather", "weather"), ("_own", "_own"), ("3d", "_3d"), ("-x", "_-x"), ("_3d", "__3d"), ("__3d", "___3d")],
)
def test_a_name_begins_with_a_letter_or_an_underscore(name: str, wanted: str) -> None:
    assert written_name(name) == wanted


@given(st.text(min_size=1, max_size=70), st.text("_3a-", min_size=1, max_size=5))
def test_every_name_is_read_back(any_name: str, odd: str) -> None:
    assert own_name(written_name(any_name)) == sent_name(any_name)
    assert own_name(written_name(odd)) == odd


def closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


TEXT = {"type": "string"}
TREE = {
    "type": "object",
    "properties": {"name": TEXT, "children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}},
    "required": ["name", "children"],
}
READ_TREE = {**TREE, "required": ["name"], "description": '(required: ["children"])'}
AS_IT_IS = {
    "closed": closed(a=TEXT, b={"type": ["integer", "null"]}, c={"enum": [1, 2]}),
    "no parameters": {"type": "object", "properties": {}, "additionalProperties": False},
    "bounds": closed(
        a={"type": "integer", "minimum": 1, "maximum": 9}, b={"type": "array", "minItems": 2, "maxItems": 3}
    ),
    "choices": closed(a={"anyOf": [TEXT, {"type": "null"}]}, b={"oneOf": [TEXT, {"type": "integer"}]}),
    "a tuple": closed(a={"type": "array", "prefixItems": [TEXT, {"type": "integer"}]}),
    "any names": {"type": "object", "additionalProperties": {"type": "integer"}},
    "a definition": {"$defs": {"T": TEXT}, **closed(a={"$ref": "#/$defs/T"})},
    "a known format": closed(a={"type": "string", "format": "date-time"}),
    "a parameter with the name of a keyword": closed(pattern=TEXT, const={"type": "integer"}),
}


@pytest.mark.parametrize("schema", AS_IT_IS.values(), ids=AS_IT_IS)
def test_what_the_api_reads_stays_as_it_is(schema: dict[str, Any]) -> None:
    assert readable(schema) == schema


CHANGED: dict[str, tuple[Any, Any]] = {
    "other constraints": (
        {"type": "string", "minLength": 1, "pattern": "^a", "description": "A."},
        {"type": "string", "description": 'A. (minLength: 1, pattern: "^a")'},
    ),
    "a default": ({"type": "integer", "default": 3}, {"type": "integer", "description": "(default: 3)"}),
    "a bound that is left out": (
        {"type": "number", "exclusiveMinimum": 0},
        {"type": "number", "description": "(exclusiveMinimum: 0)"},
    ),
    "another format": ({"type": "string", "format": "iban"}, {"type": "string", "description": '(format: "iban")'}),
    "a constant": ({"const": "a"}, {"enum": ["a"]}),
    "a constant that is no text": ({"const": True}, {"description": "(const: true)"}),
    "a choice of truth": ({"type": "boolean", "enum": [True]}, {"type": "boolean", "description": "(enum: [true])"}),
    "a choice or null": (
        {"type": ["string", "null"], "enum": ["a", None], "description": "A."},
        {"anyOf": [{"enum": ["a"], "type": ["string"]}, {"type": "null"}], "description": "A."},
    ),
    "a choice or a null that the type excludes": (
        {"type": "string", "enum": ["a", None]},
        {"type": "string", "enum": ["a"]},
    ),
    "only null to choose": ({"enum": [None]}, {"description": "(enum: [null])"}),
    "all of one": ({"allOf": [TEXT], "title": "T"}, {"anyOf": [TEXT], "title": "T"}),
    "all of two": ({"allOf": [TEXT, {}]}, {"description": '(allOf: [{"type":"string"},{}])'}),
    "any value": (True, {}),
    "no value": (False, {"description": "(must not be given)"}),
    "any items": ({"type": "array", "items": True}, {"type": "array"}),
    "no more items": (
        {"type": "array", "prefixItems": [TEXT], "items": False},
        {"type": "array", "prefixItems": [TEXT], "maxItems": 1},
    ),
    "no more items than fewer": (
        {"type": "array", "prefixItems": [TEXT, TEXT], "items": False, "maxItems": 1},
        {"type": "array", "prefixItems": [TEXT, TEXT], "maxItems": 1},
    ),
    "a tuple of draft 7": ({"type": "array", "items": [TEXT]}, {"type": "array", "prefixItems": [TEXT]}),
    "what is not said": ({"type": "string", "examples": ["a"], "$comment": "c"}, TEXT),
}


@pytest.mark.parametrize(("schema", "wanted"), CHANGED.values(), ids=CHANGED)
def test_what_the_api_does_not_read_is_said_otherwise(schema: Any, wanted: Any) -> None:
    assert readable(closed(a=schema)) == closed(a=wanted)


def test_nothing_stands_beside_a_reference() -> None:
    schema = {"$defs": {"T": TEXT}, **closed(a={"$ref": "#/$defs/T", "description": "A.", "default": "x"})}

    read = readable(schema)["properties"]["a"]

    assert read == {"anyOf": [{"$ref": "#/$defs/T"}], "description": 'A. (default: "x")'}


def test_references_to_other_places_are_replaced_by_what_they_mean() -> None:
    schema = closed(a=TEXT, b={"$ref": "#/properties/a"})

    assert readable(schema) == closed(a=TEXT, b=TEXT)


def test_definitions_of_draft_7_have_their_present_name() -> None:
    schema = {"definitions": {"T": TEXT}, **closed(a={"$ref": "#/definitions/T"})}

    assert readable(schema) == {"$defs": {"T": TEXT}, **closed(a={"$ref": "#/$defs/T"})}


def test_what_is_recursive_is_never_required() -> None:
    assert readable({"$defs": {"Tree": TREE}, "$ref": "#/$defs/Tree"}) == {"$defs": {"Tree": READ_TREE}, **READ_TREE}


READ_WORDS = (
    "$anchor $defs $id $ref additionalProperties anyOf description enum format items maxItems maximum minItems minimum "
    "oneOf prefixItems properties required title type"
)
READ = set(READ_WORDS.split())
UNSAID = {"$schema", "$comment", "examples", "readOnly", "writeOnly", "allOf", "const", "definitions"}
REAL = names_in("tool_schemas", "*.json")


@pytest.mark.skipif(not REAL, reason="the shared tool definitions are not here")
def test_of_real_schemas_nothing_is_lost_and_no_other_keyword_is_left() -> None:
    said = 0
    for name in REAL:
        schema = shared_json(f"tool_schemas/{name}")["inputSchema"]

        read = readable(schema)

        assert [inner for _, inner in subschemas(read) if not READ.issuperset(inner)] == []
        words = " ".join(str(inner.get("description")) for _, inner in subschemas(read))
        for _, inner in subschemas(schema):
            for keyword in inner.keys() - READ - UNSAID:
                assert f"{keyword}: {msgspec.json.encode(inner[keyword]).decode()}" in words
                said += 1
    assert said
