"""Copies of JSON values, so that nobody changes what another one holds."""

from __future__ import annotations

from typing import Any, cast

import msgspec

__all__ = ["copied", "copied_json", "not_shared"]

_SCALARS = frozenset((str, int, float, bool, type(None)))


def copied(value: Any) -> Any:
    """A copy that shares no dict or list with the value, and has no subclass of one, such as an `OrderedDict`.

    What else it holds is kept as it is, so that it can be refused.
    """
    if value.__class__ is dict or issubclass(value.__class__, dict):
        members: dict[Any, Any] = value
        for item in members.values():  # most are flat
            if item.__class__ not in _SCALARS:
                return {key: copied(item) for key, item in members.items()}
        return {**members}
    if isinstance(value, list):
        return [copied(item) for item in cast("list[Any]", value)]
    return value


def copied_json(arguments: dict[str, Any]) -> dict[str, Any]:
    """A copy of arguments that are known to be JSON, through and through: in a fifth of the time where they are large.

    msgspec makes it. It would turn what is no JSON (a date, a set) into something that is.
    """
    for item in arguments.values():  # most are flat
        if item.__class__ not in _SCALARS:
            copy: dict[str, Any] = msgspec.to_builtins(arguments)
            return copy
    return {**arguments}


def not_shared(arguments: Any) -> Any:
    """As `copied`, of what was sent. What nests too deep, or contains itself, is given back, and refused as it is."""
    try:
        return copied(arguments)
    except RecursionError:
        return arguments
