"""How deep a schema lets a value be at most, so that a large one that meets it need not be looked at for that."""

from __future__ import annotations

from typing import Any, cast

from toolkit.tools.validation.dialects import Dialect
from toolkit.tools.validation.scanning import Scanner, list_of

__all__ = ["depth_of"]


def depth_of(schema: dict[str, Any], dialect: Dialect) -> int | None:
    """Objects and arrays that may lie inside one another in a value that meets the schema; None when any number may.

    Example:
        >>> depth_of({"type": "array", "items": {"type": "number"}}, "Draft202012")
        1
    """
    if _holds_documents(schema):
        return None
    try:
        return _Depths(schema, dialect).of(schema)
    except RecursionError:
        return None


def _holds_documents(schema: dict[str, Any]) -> bool:
    """Whether a part may be a document of its own, with rules of its own: `#` means another one wherever it stands."""
    waiting: list[Any] = [*schema.values()]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            members = cast("dict[str, Any]", value)
            if any(isinstance(members.get(name), str) for name in ("$id", "id", "$schema")):
                return True
            waiting += members.values()
        elif isinstance(value, list):
            waiting += cast("list[Any]", value)
    return False


class _Depths:
    def __init__(self, root: dict[str, Any], dialect: Dialect) -> None:
        self._scanner = Scanner(root, dialect)
        self._found: dict[int, int | None] = {}

    def of(self, schema: Any) -> int | None:
        if id(schema) not in self._found:
            self._found[id(schema)] = None  # a schema that leads to itself has no end
            self._found[id(schema)] = self._of(schema)
        return self._found[id(schema)]

    def _of(self, schema: Any) -> int | None:
        parts = [*self._scanner.parts(schema, set())]
        kinds = self._scanner.types(schema)
        here = [self._inside(kind, parts) for kind in ("object", "array") if kind in kinds]
        if None not in here:
            return max((depth + 1 for depth in here if depth is not None), default=0)
        for part in parts:
            for keyword in ("anyOf", "oneOf"):
                options = list_of(part.get(keyword))
                depth = self._most(options)
                if options and depth is not None:
                    return depth
        return None

    def _inside(self, kind: str, parts: list[dict[str, Any]]) -> int | None:
        """The depth of what an object or array may hold. All parts hold, so the first that says it will do."""
        for part in parts:
            depth = self._most(_members(part) if kind == "object" else _items(part))
            if depth is not None:
                return depth
        return None

    def _most(self, schemas: list[Any]) -> int | None:
        depths = [self.of(schema) for schema in schemas]
        return None if None in depths else max((depth for depth in depths if depth is not None), default=0)


def _members(part: dict[str, Any]) -> list[Any]:
    """The schemas of all that an object may hold."""
    schemas = [part.get("additionalProperties", True)]
    for keyword in ("properties", "patternProperties"):
        named = part.get(keyword)
        if isinstance(named, dict):
            schemas += cast("dict[str, Any]", named).values()
    return schemas


def _items(part: dict[str, Any]) -> list[Any]:
    """The schema of all that an array may hold: `items` is only for the rest of it beside others."""
    return [True if "prefixItems" in part else part.get("items", True)]
