"""Bringing schemas together: what stands in `$defs`, under which name, and who refers to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolkit.tools.schemas.json_values import is_object

__all__ = ["PREFIX", "adopt", "define", "finished", "free_name", "mapped"]

PREFIX = "#/$defs/"

# Where the keywords of draft 2020-12 hold schemas. Everything else is data: a default may well have a key "$ref".
_ONE = frozenset(
    {
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_LIST = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_MAPPING = frozenset({"$defs", "dependentSchemas", "patternProperties", "properties"})


def mapped(schema: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """The schema with `change` done to it and to every schema inside it, innermost first."""
    if not is_object(schema):
        return schema  # true and false are schemas too
    result: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _ONE:
            value = mapped(value, change)
        elif key in _LIST:
            value = [mapped(item, change) for item in value]
        elif key in _MAPPING:
            value = {name: mapped(item, change) for name, item in value.items()}
        result[key] = value
    return change(result)


def define(definitions: dict[str, Any], name: str, schema: dict[str, Any]) -> str:
    """Put the schema under `name`, or `name_2`, ... where another has that. Gives the name."""
    name = free_name(definitions, name, schema)
    definitions[name] = schema
    return name


def free_name(definitions: dict[str, Any], name: str, schema: dict[str, Any] | None = None) -> str:
    """`name`, unless another schema has it."""
    candidate, number = name, 2
    while candidate in definitions and (schema is None or definitions[candidate] != schema):
        candidate, number = f"{name}_{number}", number + 1
    return candidate


def adopt(definitions: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without its own `$defs`, which now stand in `definitions`, under names that are free there."""
    own: dict[str, Any] = schema.get("$defs", {})
    rest = {key: value for key, value in schema.items() if key != "$defs"}
    names = {name: name for name in own}
    settled = False
    while not settled:  # renaming one makes those that refer to it differ too, so look again
        settled = True
        for name, definition in own.items():
            taken = set(names.values()) - {names[name]}
            renamed = _with_refs(definition, names)
            if names[name] in definitions and definitions[names[name]] != renamed:
                names[name] = free_name({**definitions, **dict.fromkeys(taken)}, name)
                settled = False
    for name, definition in own.items():
        definitions[names[name]] = _with_refs(definition, names)
    return _with_refs(rest, names)


def _with_refs(schema: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    def change(part: dict[str, Any]) -> dict[str, Any]:
        target = _target_of(part)
        return part if target is None else part | {"$ref": PREFIX + names.get(target, target)}

    changed: dict[str, Any] = mapped(schema, change)
    return changed


def _target_of(schema: dict[str, Any]) -> str | None:
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith(PREFIX):
        return reference.removeprefix(PREFIX)
    return None


def finished(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """One self-contained schema: a `$ref` at the top is resolved in place, and `$defs` holds what is referred to."""
    result = dict(schema)
    while (target := _target_of(result)) is not None:
        siblings = {key: value for key, value in result.items() if key != "$ref"}
        result = {**definitions[target], **siblings}
    used: dict[str, Any] = {}
    _collect(result, definitions, used)
    if used:
        result["$defs"] = {name: used[name] for name in sorted(used)}
    return result


def _collect(schema: dict[str, Any], definitions: dict[str, Any], used: dict[str, Any]) -> None:
    found: list[str] = []

    def look(part: dict[str, Any]) -> dict[str, Any]:
        target = _target_of(part)
        if target is not None and target not in used:
            found.append(target)
        return part

    mapped(schema, look)
    for name in found:
        if name not in used:
            used[name] = definitions[name]
            _collect(definitions[name], definitions, used)
