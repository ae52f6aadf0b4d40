"""Where schemas stand inside a schema. What merely looks like one, in an `enum` or a `default`, is data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast
from urllib.parse import unquote

from toolkit.tools.violations import json_path

__all__ = ["children", "pointers_of", "subschemas", "target_of"]

_ONE = (
    "additionalItems",
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
)
_LIST = ("allOf", "anyOf", "items", "oneOf", "prefixItems")
_NAMED = ("$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties")


def subschemas(schema: dict[str, Any], path: str = "$") -> Iterator[tuple[str, dict[str, Any]]]:
    """The schema itself and every object schema inside it, each with its JSONPath, parents first."""
    yield path, schema
    for steps, child in children(schema):
        yield from subschemas(child, json_path(steps, path))


def children(schema: dict[str, Any]) -> Iterator[tuple[tuple[str | int, ...], dict[str, Any]]]:
    """The object schemas directly inside a schema, each with the keys and indices that lead to it."""
    for keyword, value in schema.items():
        if isinstance(value, dict):
            if keyword in _ONE:
                yield (keyword,), cast("dict[str, Any]", value)
            elif keyword in _NAMED:
                for name, child in cast("dict[str, Any]", value).items():
                    if isinstance(child, dict):
                        yield (keyword, name), cast("dict[str, Any]", child)
        elif isinstance(value, list) and keyword in _LIST:
            for index, child in enumerate(cast("list[object]", value)):
                if isinstance(child, dict):
                    yield (keyword, index), cast("dict[str, Any]", child)


def target_of(root: dict[str, Any], reference: object) -> Any:
    """What a `$ref` into the same document (`#`, `#/$defs/a~1b`) points to; None when that is not known here.

    Schemas with an `$id` inside them may mean another document by `#`: nothing is known about those.
    """
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        return None
    target: Any = root
    for part in reference.split("/")[1:]:
        key = unquote(part).replace("~1", "/").replace("~0", "~")
        if isinstance(target, dict):
            target = cast("dict[str, Any]", target).get(key)
        elif isinstance(target, list) and key.isdecimal() and int(key) < len(cast("list[object]", target)):
            target = cast("list[object]", target)[int(key)]
        else:
            return None
        if isinstance(target, dict) and ("$id" in target or "id" in target):
            return None
    return cast("Any", target)


def pointers_of(root: dict[str, Any]) -> dict[int, str]:
    """The JSON Pointer of every object in a document, by the object's `id`."""
    pointers: dict[int, str] = {}
    waiting: list[tuple[str, Any]] = [("", root)]
    while waiting:
        pointer, value = waiting.pop()
        if isinstance(value, dict):
            pointers[id(cast("object", value))] = pointer
            for key, child in cast("dict[str, Any]", value).items():
                waiting.append((f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}", child))
        elif isinstance(value, list):
            waiting.extend((f"{pointer}/{index}", child) for index, child in enumerate(cast("list[object]", value)))
    return pointers
