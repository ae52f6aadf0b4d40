"""Schemas as Google's API reads them, of tools (`parametersJsonSchema`) and of answers (`responseJsonSchema`)."""

from __future__ import annotations

from typing import Any

from toolkit.models.schemas import in_words, inlined, is_recursive, modern
from toolkit.tools.schemas.definitions import PREFIX, mapped
from toolkit.tools.schemas.json_values import is_array, is_object
from toolkit.tools.validation.subschemas import subschemas, target_of

__all__ = ["readable"]

# Any JSON Schema may be sent, and this is what is heeded of it
# (https://ai.google.dev/api/generate-content#FIELDS.response_json_schema).
_READ = frozenset(
    {
        "$anchor",
        "$defs",
        "$id",
        "$ref",
        "additionalProperties",
        "anyOf",
        "description",
        "enum",
        "format",
        "items",
        "maxItems",
        "maximum",
        "minItems",
        "minimum",
        "oneOf",
        "prefixItems",
        "properties",
        "required",
        "title",
        "type",
    }
)
_READ_FORMATS = frozenset({"date", "date-time", "time"})


def readable(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema in the words that the API reads. What it can't say stands in the descriptions."""
    schema = _with_plain_top(modern(schema))
    if not all(str(inner.get("$ref", PREFIX)).startswith(PREFIX) for _, inner in subschemas(schema)):
        schema = inlined(schema) or schema  # it knows no other places
    is_cyclic = is_recursive(schema)

    def change(inner: dict[str, Any]) -> dict[str, Any]:
        return _readable(_without_endless_demands(inner) if is_cyclic else inner)

    result: dict[str, Any] = mapped(schema, change)
    return result


def _with_plain_top(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with what its own `$ref` means in place of it: nothing may stand beside one."""
    target = target_of(schema, schema["$ref"]) if "$ref" in schema else None
    if not is_object(target):
        return schema
    return {**target, **{key: value for key, value in schema.items() if key != "$ref"}}


def _without_endless_demands(inner: dict[str, Any]) -> dict[str, Any]:
    """The schema in which no property that refers to others is required: what is recursive may stand in no other."""
    properties: dict[str, Any] = inner.get("properties", {})
    demanded = [
        name
        for name in inner.get("required", ())
        if is_object(properties.get(name)) and any("$ref" in found for _, found in subschemas(properties[name]))
    ]
    if not demanded:
        return inner
    told = in_words({**inner, "required": demanded}, {"required"})
    return {**told, "required": [name for name in inner["required"] if name not in demanded]}


def _readable(schema: dict[str, Any]) -> dict[str, Any]:
    schema = _with_choices(schema)
    if "properties" in schema:
        properties: dict[str, Any] = schema["properties"]
        schema = {**schema, "properties": {name: _as_object(inner) for name, inner in properties.items()}}
    if schema.get("items") is True:
        schema = {key: value for key, value in schema.items() if key != "items"}
    elif schema.get("items") is False:
        most = min(len(schema.get("prefixItems", ())), schema.get("maxItems", len(schema.get("prefixItems", ()))))
        schema = {**{key: value for key, value in schema.items() if key != "items"}, "maxItems": most}
    unread = schema.keys() - _READ
    if "format" in schema and schema["format"] not in _READ_FORMATS:
        unread.add("format")
    schema = in_words(schema, unread)
    if "$ref" in schema and any(not key.startswith("$") for key in schema):
        reference = schema.pop("$ref")
        schema = {"anyOf": [{"$ref": reference}], **schema}
    return schema


def _with_choices(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with values to choose from as far as they are texts and numbers, the only ones that an enum takes."""
    if "allOf" in schema and "anyOf" not in schema and len(schema["allOf"]) == 1:
        schema = {"anyOf" if key == "allOf" else key: value for key, value in schema.items()}
    if "const" in schema and "enum" not in schema and _is_choice(schema["const"]):
        schema = {
            "enum" if key == "const" else key: [value] if key == "const" else value for key, value in schema.items()
        }
    values = schema.get("enum")
    if not is_array(values) or all(map(_is_choice, values)):
        return schema
    choices = [value for value in values if value is not None]
    if not choices or not all(map(_is_choice, choices)) or "anyOf" in schema:
        return in_words(schema, {"enum"})
    kind = schema.get("type")
    if kind is not None and "null" not in kind:  # so null would not be taken anyway
        return {**schema, "enum": choices}
    inner: dict[str, Any] = {"enum": choices}
    if is_array(kind):
        inner["type"] = [one for one in kind if one != "null"]
    rest = {key: value for key, value in schema.items() if key not in ("enum", "type")}
    return {"anyOf": [inner, {"type": "null"}], **rest}


def _is_choice(value: Any) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)


def _as_object(schema: Any) -> Any:
    """`true`, which allows anything, as an object, and `false` in words."""
    if is_object(schema):
        return schema
    return {} if schema else {"description": "(must not be given)"}
