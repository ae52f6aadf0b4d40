"""JSON values as Python has them: copied, and compared as JSON compares them."""

from __future__ import annotations

from typing import Any, cast

__all__ = ["copied", "is_flat", "is_same"]


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


def is_same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal. `true` is not 1, as it is to Python; 1.0 is 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        first, second = cast("dict[Any, Any]", one), cast("dict[Any, Any]", other)
        return first.keys() == second.keys() and all(is_same(value, second[key]) for key, value in first.items())
    if isinstance(one, list) and isinstance(other, list):
        left, right = cast("list[Any]", one), cast("list[Any]", other)
        return len(left) == len(right) and all(map(is_same, left, right))
    return bool(one == other)
