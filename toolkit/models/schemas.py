"""Tool schemas for providers that take a part of JSON Schema: what fits as it is, and what has to be said in words.

Nothing is lost silently: a keyword that a dialect can't say stands in the description. What the model sends is always
validated against the original.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any, cast

import msgspec

from toolkit.tools.schemas.definitions import mapped
from toolkit.tools.validation.subschemas import subschemas, target_of

__all__ = ["in_words", "inlined", "is_recursive", "is_strict", "modern", "of_object"]

_STRICT_KEYWORDS = frozenset(
    {
        "$defs",
        "$ref",
        "additionalProperties",
        "anyOf",
        "const",
        "description",
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "items",
        "maxItems",
        "maximum",
        "minItems",
        "minimum",
        "multipleOf",
        "pattern",
        "properties",
        "required",
        "title",
        "type",
    }
)
_STRICT_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})
_STRICT_DEPTH = 10  # levels of objects
_NO_WORDS = frozenset({"$schema", "$id", "$comment", "$anchor", "examples", "title", "readOnly", "writeOnly"})


def is_strict(schema: dict[str, Any]) -> bool:
    """Whether a provider's strict mode takes the schema as it is.

    OpenAI's rules: every schema says its type, every object is closed and requires all that it has, every array says
    what it holds, nothing stands beside a reference, the top is one object, and only some keywords are known
    (https://platform.openai.com/docs/guides/structured-outputs, supported schemas). A parameter with a default is not
    required, so a tool that has one is sent without strict mode rather than with another schema.
    """
    if schema.get("type") != "object" or not schema.get("properties") or "anyOf" in schema:
        return False
    return all(path.count(".") <= 2 * _STRICT_DEPTH and _is_strict_part(inner) for path, inner in subschemas(schema))


def _is_strict_part(schema: dict[str, Any]) -> bool:
    if not _STRICT_KEYWORDS.issuperset(schema) or schema.get("format", "date") not in _STRICT_FORMATS:
        return False
    if "$ref" in schema:
        return schema.keys() == {"$ref"} and (schema["$ref"] == "#" or str(schema["$ref"]).startswith("#/$defs/"))
    kinds: Any = schema.get("type", ())
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    if not kinds:
        return "anyOf" in schema and "properties" not in schema
    if "array" in kinds and not isinstance(schema.get("items"), dict):
        return False
    if "object" not in kinds:
        return True
    properties: dict[str, Any] = schema.get("properties", {})
    return (
        schema.get("additionalProperties") is False
        and properties.keys() == set(schema.get("required", ()))
        and all(isinstance(inner, dict) for inner in properties.values())
    )


def is_recursive(schema: dict[str, Any]) -> bool:
    """Whether a `$ref` of the schema leads back to what it stands in, so that inlining it would never end."""
    return _resolved(schema, schema, ()) is None


def inlined(schema: dict[str, Any]) -> dict[str, Any] | None:
    """The schema without `$ref`, each replaced by what it means; None for a recursive one."""
    resolved: dict[str, Any] | None = _resolved(schema, schema, ())
    return resolved


def _resolved(schema: Any, root: dict[str, Any], above: tuple[str, ...]) -> Any:
    """The schema with its references followed, or None where one leads back to those `above`."""
    failed = False

    def resolve(inner: dict[str, Any]) -> dict[str, Any]:
        nonlocal failed
        reference = inner.get("$ref")
        if reference is None or failed:
            return inner
        target = None if reference in above else target_of(root, reference)
        whole = None if target is None else _resolved(target, root, (*above, reference))
        if whole is None:
            failed = True
            return inner
        if not isinstance(whole, dict):
            return {"not": {}} if whole is False else {}
        beside = {key: value for key, value in inner.items() if key != "$ref"}
        return {**whole, **beside}

    if schema is root:
        schema = {key: value for key, value in root.items() if key not in ("$defs", "definitions")}
    result = mapped(schema, resolve)
    return None if failed else result


def in_words(schema: dict[str, Any], keywords: AbstractSet[str]) -> dict[str, Any]:
    """The schema without these keywords, which stand in its description, as JSON; the schemas inside stay as they are.

    Annotations that constrain nothing (`title`, `examples`) are left out without a word.
    """
    kept = {key: value for key, value in schema.items() if key not in keywords}
    said = [key for key in schema if key in keywords and key not in _NO_WORDS]
    if said:
        words = ", ".join(f"{key}: {msgspec.json.encode(schema[key]).decode()}" for key in said)
        kept["description"] = f"{kept.get('description', '')} ({words})".strip()
    return kept


def of_object(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of arguments in the words of draft 2020-12, and with its type, which validation takes for granted."""
    schema = modern(schema)
    return schema if "type" in schema else {"type": "object", **schema}


def modern(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema in the words of draft 2020-12, which is the one that providers read."""
    if "definitions" in schema and "$defs" not in schema:
        schema = {"$defs" if key == "definitions" else key: value for key, value in schema.items()}

    def modernised(inner: dict[str, Any]) -> dict[str, Any]:
        reference = inner.get("$ref")
        if isinstance(reference, str) and reference.startswith("#/definitions/"):
            inner = {**inner, "$ref": reference.replace("#/definitions/", "#/$defs/", 1)}
        items = inner.get("items")
        if isinstance(items, list):  # a tuple, in draft 7
            rest = {key: value for key, value in inner.items() if key not in ("additionalItems", "items")}
            first = [mapped(item, modernised) for item in cast("list[Any]", items)]
            return {**rest, "prefixItems": first, "items": inner.get("additionalItems", True)}
        return inner

    result: dict[str, Any] = mapped(schema, modernised)
    result.pop("$schema", None)
    return result
