"""Copies of JSON values, so that nobody changes what another one holds."""

from __future__ import annotations

from typing import Any, cast

__all__ = ["copied"]

_SCALARS = frozenset((str, int, float, bool, type(None)))


def copied(value: Any) -> Any:
    """A copy that shares no dict or list with the value, and has no subclass of one, such as an `OrderedDict`."""
    if value.__class__ is dict or issubclass(value.__class__, dict):
        members: dict[Any, Any] = value
        for item in members.values():  # most are flat
            if item.__class__ not in _SCALARS:
                return {key: copied(item) for key, item in members.items()}
        return {**members}
    if isinstance(value, list):
        return [copied(item) for item in cast("list[Any]", value)]
    return value
