"""Copies of JSON values, so that nobody changes what another one holds."""

from __future__ import annotations

from typing import Any, cast

__all__ = ["copied", "is_flat"]

_SCALARS = frozenset((str, int, float, bool, type(None)))


def is_flat(arguments: dict[str, Any]) -> bool:
    """Whether no value is an object or array, so that `{**arguments}` is a full copy."""
    for value in arguments.values():  # noqa: SIM110 - asked for every call: no generator
        if value.__class__ not in _SCALARS:
            return False
    return True


def copied(value: Any) -> Any:
    """A copy that shares no dict or list with the value, and has no subclass of one, such as an `OrderedDict`."""
    if value.__class__ is dict or issubclass(value.__class__, dict):
        members: dict[Any, Any] = value
        if is_flat(members):
            return {**members}
        return {key: copied(item) for key, item in members.items()}
    if isinstance(value, list):
        return [copied(item) for item in cast("list[Any]", value)]
    return value
