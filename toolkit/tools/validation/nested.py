"""Parameters for which some models send JSON inside a string, where only an object or an array can be meant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, cast

from toolkit.tools.arguments import parse_json
from toolkit.tools.validation.dialects import Dialect
from toolkit.tools.validation.subschemas import target_of
from toolkit.tools.violations import InvalidArguments

__all__ = ["containers_of", "decode_nested"]

_ALL: Final = frozenset({"null", "boolean", "number", "string", "array", "object"})
_CLASSES: Final = {"array": list, "object": dict}


def containers_of(schema: dict[str, Any], dialect: Dialect) -> tuple[tuple[str, tuple[type, ...]], ...]:
    """The properties that can be an object or an array and can never be a string, each with `dict`, `list` or both.

    What is not understood is taken to allow everything, strings too, so such a property is left alone.
    """
    types: dict[str, frozenset[str]] = {}
    scanner = _Scanner(schema, dialect)
    for part in scanner.parts(schema, set()):
        properties = part.get("properties")
        if isinstance(properties, dict):
            for name, child in cast("dict[str, Any]", properties).items():
                types[name] = types.get(name, _ALL) & scanner.types(child)
    return tuple(
        (name, tuple(_CLASSES[kind] for kind in sorted(kinds & _CLASSES.keys())))
        for name, kinds in types.items()
        if "string" not in kinds and kinds & _CLASSES.keys()
    )


def decode_nested(arguments: dict[str, Any], candidates: tuple[tuple[str, tuple[type, ...]], ...]) -> dict[str, Any]:
    """The arguments with such strings decoded, in a new dict; the same dict when there are none."""
    decoded: dict[str, Any] | None = None
    for name, kinds in candidates:
        text = arguments.get(name)
        if not isinstance(text, str):
            continue
        try:
            value = parse_json(text)
        except InvalidArguments:
            continue  # the schema refuses the string as it stands, and the model is told so
        if value.__class__ in kinds:
            decoded = decoded or dict(arguments)
            decoded[name] = value
    return arguments if decoded is None else decoded


class _Scanner:
    """Reads which types of JSON a schema can allow at most. Schemas may refer to themselves."""

    def __init__(self, root: dict[str, Any], dialect: Dialect) -> None:
        self._root = root
        self._dialect = dialect
        self._found: dict[int, frozenset[str]] = {}

    def parts(self, schema: Any, seen: set[int]) -> Iterator[dict[str, Any]]:
        """The object schemas that all must hold together: the schema, what it refers to, and its `allOf`."""
        if not isinstance(schema, dict) or id(cast("object", schema)) in seen:
            return
        part = cast("dict[str, Any]", schema)
        seen.add(id(part))
        if "$ref" in part:
            yield from self.parts(target_of(self._root, part["$ref"]), seen)
            if self._dialect in ("Draft4", "Draft6", "Draft7"):
                return  # keywords beside a `$ref` count since 2019-09 only
        yield part
        for member in _list(part.get("allOf")):
            yield from self.parts(member, seen)

    def types(self, schema: Any) -> frozenset[str]:
        if schema is False:
            return frozenset()
        known = self._found.get(id(schema))
        if known is not None:
            return known
        self._found[id(schema)] = _ALL  # what a schema says of itself within itself adds nothing
        kinds = _ALL
        for part in self.parts(schema, set()):
            if "type" in part:
                kinds &= _named(part["type"])
            if "const" in part and self._dialect != "Draft4":
                kinds &= frozenset({_type_of(part["const"])})
            if "enum" in part:
                kinds &= frozenset(map(_type_of, _list(part["enum"])))
            for keyword in ("anyOf", "oneOf"):
                if keyword in part:
                    kinds &= frozenset[str]().union(*map(self.types, _list(part[keyword])))
        self._found[id(schema)] = kinds
        return kinds


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _named(names: object) -> frozenset[str]:
    listed = cast("list[object]", names) if isinstance(names, list) else [names]
    return frozenset("number" if name == "integer" else name for name in listed if isinstance(name, str))


def _type_of(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"
