"""Bounds on a schema: which keyword says them of a number, a text, an array, an object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolkit.tools.schemas.annotations import Notes

__all__ = ["base64_length", "bounded"]

_LENGTH_WORDS = {"string": "Length", "array": "Items", "object": "Properties"}


def bounded(schema: dict[str, Any], notes: Notes) -> dict[str, Any] | None:
    """The schema within the notes' bounds. None where JSON Schema can't say them of such a type (a date's `ge`)."""
    result = dict(schema)
    if notes.bounds:
        result = _on_branches(result, lambda branch: _limited(branch, notes.bounds))
    if notes.lengths:
        result = _on_branches(result, lambda branch: _measured(branch, notes.lengths))
    if notes.pattern is not None:
        result = _on_branches(result, lambda branch: _patterned(branch, notes.pattern))
    return None if result is _INEXPRESSIBLE else result


_INEXPRESSIBLE: dict[str, Any] = {}


def _on_branches(schema: dict[str, Any], change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> dict[str, Any]:
    """A union's bound holds for each member but null."""
    if schema is _INEXPRESSIBLE:
        return schema
    branches = schema.get("anyOf")
    if branches is None:
        changed = change(schema)
        return _INEXPRESSIBLE if changed is None else changed
    changed_branches = [branch if branch.get("type") == "null" else change(branch) for branch in branches]
    if None in changed_branches:
        return _INEXPRESSIBLE
    return schema | {"anyOf": changed_branches}


def _limited(schema: dict[str, Any], bounds: dict[str, Any]) -> dict[str, Any] | None:
    return schema | bounds if schema.get("type") in {"integer", "number"} else None


def _measured(schema: dict[str, Any], lengths: dict[str, int]) -> dict[str, Any] | None:
    word = _LENGTH_WORDS.get(schema.get("type", ""))
    if word is None:
        return None
    is_base64 = schema.get("contentEncoding") == "base64"
    return schema | {f"{end}{word}": base64_length(length) if is_base64 else length for end, length in lengths.items()}


def _patterned(schema: dict[str, Any], pattern: str | None) -> dict[str, Any] | None:
    return schema | {"pattern": pattern} if schema.get("type") == "string" else None


def base64_length(length: int) -> int:
    """Characters that so many bytes take."""
    return 4 * ((length + 2) // 3)
