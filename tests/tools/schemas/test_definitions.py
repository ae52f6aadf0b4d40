"""Bringing `$defs` together without mixing them up."""

from __future__ import annotations

from typing import Any

from toolkit.tools.schemas.definitions import adopt, finished


def test_equal_definitions_are_shared() -> None:
    definitions: dict[str, Any] = {"A": {"type": "string"}}

    adopted = adopt(definitions, {"$ref": "#/$defs/A", "$defs": {"A": {"type": "string"}}})

    assert adopted == {"$ref": "#/$defs/A"}
    assert definitions == {"A": {"type": "string"}}


def test_a_definition_that_differs_gets_a_name_of_its_own_and_so_do_those_that_refer_to_it() -> None:
    parent = {"type": "array", "items": {"$ref": "#/$defs/Child"}}
    definitions: dict[str, Any] = {"Parent": parent, "Child": {"type": "string"}}

    adopted = adopt(
        definitions,
        {"properties": {"a": {"$ref": "#/$defs/Parent"}}, "$defs": {"Parent": parent, "Child": {"type": "integer"}}},
    )

    assert adopted == {"properties": {"a": {"$ref": "#/$defs/Parent_2"}}}
    assert definitions == {
        "Parent": parent,
        "Child": {"type": "string"},
        "Parent_2": {"type": "array", "items": {"$ref": "#/$defs/Child_2"}},
        "Child_2": {"type": "integer"},
    }


def test_what_only_looks_like_a_reference_is_left_alone() -> None:
    definitions: dict[str, Any] = {"A": {"type": "string"}}
    data = {"$ref": "#/$defs/A"}
    schema = {
        "properties": {"$ref": {"type": "string", "default": data}},
        "enum": [data],
        "examples": [data],
        "$defs": {"A": {"type": "integer", "default": data}},
    }

    adopted = adopt(definitions, schema)

    assert adopted == {"properties": {"$ref": {"type": "string", "default": data}}, "enum": [data], "examples": [data]}


def test_a_reference_at_the_top_is_resolved_and_unused_definitions_are_left_out() -> None:
    definitions: dict[str, Any] = {
        "Top": {"type": "object", "properties": {"a": {"$ref": "#/$defs/Used"}}},
        "Used": {"type": "string"},
        "Unused": {"type": "null"},
    }

    schema = finished({"$ref": "#/$defs/Top", "description": "Mine."}, definitions)

    assert schema == {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/Used"}},
        "description": "Mine.",
        "$defs": {"Used": {"type": "string"}},
    }
