"""What a schema can allow at most. What is not understood is taken to allow everything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, cast

from toolkit.tools.validation.dialects import Dialect
from toolkit.tools.validation.subschemas import target_of

__all__ = ["ALL_TYPES", "Scanner", "list_of"]

ALL_TYPES: Final = frozenset({"null", "boolean", "number", "string", "array", "object"})


class Scanner:
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
        for member in list_of(part.get("allOf")):
            yield from self.parts(member, seen)

    def types(self, schema: Any) -> frozenset[str]:
        if schema is False:
            return frozenset()
        known = self._found.get(id(schema))
        if known is not None:
            return known
        self._found[id(schema)] = ALL_TYPES  # what a schema says of itself within itself adds nothing
        kinds = ALL_TYPES
        for part in self.parts(schema, set()):
            if "type" in part:
                kinds &= _named(part["type"])
            if "const" in part and self._dialect != "Draft4":
                kinds &= frozenset({_type_of(part["const"])})
            if "enum" in part:
                kinds &= frozenset(map(_type_of, list_of(part["enum"])))
            for keyword in ("anyOf", "oneOf"):
                if keyword in part:
                    kinds &= frozenset[str]().union(*map(self.types, list_of(part[keyword])))
        self._found[id(schema)] = kinds
        return kinds


def list_of(value: object) -> list[object]:
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
