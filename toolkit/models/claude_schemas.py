"""Schemas as Claude takes them: those that only describe a tool, and those that a grammar holds it to."""

from __future__ import annotations

from typing import Any

from toolkit.models.schemas import in_words, is_recursive, modern
from toolkit.tools.schemas.definitions import mapped
from toolkit.tools.validation.subschemas import subschemas

__all__ = ["GrammarRoom", "described", "held", "weight"]

# `input_schema` is JSON Schema 2020-12 without these at its top
# (https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools).
_NOT_ON_TOP = frozenset({"$schema", "allOf", "anyOf", "not", "oneOf", "if", "then", "else"})

# What the grammar knows (https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations).
_HELD = frozenset(
    {
        "$defs",
        "$ref",
        "additionalProperties",
        "anyOf",
        "const",
        "description",
        "enum",
        "format",
        "items",
        "minItems",
        "properties",
        "required",
        "title",
        "type",
    }
)
_HELD_FORMATS = frozenset({"date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uri", "uuid"})
_OPEN = frozenset({"allOf", "if", "patternProperties", "prefixItems", "unevaluatedProperties"})


class GrammarRoom:
    """What one request may hold: 20 strict tools, 24 optional parameters and 16 of several types.

    https://platform.claude.com/docs/en/build-with-claude/structured-outputs#schema-complexity-limits
    """

    def __init__(self) -> None:
        self._tools = 20
        self._optional = 24
        self._unions = 16

    def takes(self, weight: tuple[int, int], *, is_tool: bool = True) -> bool:
        """Whether there is room for a schema of that weight, which takes it."""
        optional, unions = weight
        if (is_tool and not self._tools) or optional > self._optional or unions > self._unions:
            return False
        self._tools -= is_tool
        self._optional -= optional
        self._unions -= unions
        return True


def described(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a tool's arguments. What may not stand at its top is said in its description."""
    return {**in_words(modern(schema), _NOT_ON_TOP), "type": "object"}


def held(schema: dict[str, Any]) -> dict[str, Any] | None:
    """The schema as a grammar holds it, with the rest of it in words; None where that would be another schema.

    Objects are closed, which narrows what the original allows. A recursive schema, an object of any names and a value
    of any kind can't be held.
    """
    schema = modern(schema)
    if is_recursive(schema):
        return None
    can_hold = True

    def hold(inner: dict[str, Any]) -> dict[str, Any]:
        nonlocal can_hold
        can_hold = can_hold and _can_hold(inner)
        return _held(inner) if can_hold else inner

    result: dict[str, Any] = mapped(schema, hold)
    return result if can_hold else None


def _can_hold(schema: dict[str, Any]) -> bool:
    if not _OPEN.isdisjoint(schema):
        return False
    if "$ref" in schema:
        return schema.keys() <= {"$defs", "$ref", "default", "description", "title"}
    values = schema.get("enum", [schema.get("const")])
    if any(isinstance(value, (dict, list)) for value in values):
        return False
    kinds: Any = schema.get("type", ())
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    if not kinds:
        return not {"anyOf", "const", "enum", "oneOf"}.isdisjoint(schema)
    if "array" in kinds and not isinstance(schema.get("items"), dict):
        return False
    if "object" not in kinds:
        return True
    properties: dict[str, Any] = schema.get("properties", {})
    return (
        schema.get("additionalProperties", False) is False
        and (bool(properties) or "additionalProperties" in schema)
        and all(isinstance(inner, dict) for inner in properties.values())
    )


def _held(schema: dict[str, Any]) -> dict[str, Any]:
    if "oneOf" in schema and "anyOf" not in schema:
        schema = {"anyOf" if key == "oneOf" else key: value for key, value in schema.items()}
    unheld = schema.keys() - _HELD
    if "format" in schema and schema["format"] not in _HELD_FORMATS:
        unheld.add("format")
    if schema.get("minItems", 0) > 1:
        unheld.add("minItems")
    schema = in_words(schema, unheld)
    if "$ref" in schema and not schema.keys() <= {"$defs", "$ref"}:  # nothing may stand beside it
        reference = schema.pop("$ref")
        schema = {"anyOf": [{"$ref": reference}], **schema}
    if "properties" in schema or "additionalProperties" in schema:
        schema = {**schema, "properties": schema.get("properties", {}), "additionalProperties": False}
    return schema


def weight(schema: dict[str, Any]) -> tuple[int, int]:
    """How many parameters of the schema may be left out, and how many are of several types: what it takes of a room."""
    optional = unions = 0
    for _, inner in subschemas(schema):
        properties: dict[str, Any] = inner.get("properties", {})
        optional += len(properties.keys() - set(inner.get("required", ())))
        unions += sum("anyOf" in one or isinstance(one.get("type"), list) for one in properties.values())
    return optional, unions
