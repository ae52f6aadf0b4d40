"""JSON values as Python has them: dicts with text for keys, lists, texts, numbers, true, false, null."""

from __future__ import annotations

from typing import Any, TypeGuard, cast

__all__ = ["has_integral_floats", "integral_floats_as_integers", "is_array", "is_object", "with_arrays"]


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def is_array(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def has_integral_floats(value: Any) -> bool:
    """Whether a 5.0 stands anywhere in it."""
    if isinstance(value, float):
        return value.is_integer()
    if is_array(value):
        return any(map(has_integral_floats, value))
    return is_object(value) and any(map(has_integral_floats, value.values()))


def integral_floats_as_integers(value: Any) -> Any:
    """The value with 5 for 5.0: to JSON Schema they are one number, to the strict readers of ints they are not."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if is_array(value):
        return [integral_floats_as_integers(item) for item in value]
    if is_object(value):
        return {key: integral_floats_as_integers(item) for key, item in value.items()}
    return value


def with_arrays(value: Any) -> Any:
    """A copy with a list for every tuple: JSON writes both as an array. What contains itself stays as it is."""
    try:
        return _with_arrays(value)
    except RecursionError:
        return value


def _with_arrays(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_with_arrays(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {key: _with_arrays(item) for key, item in cast("dict[Any, Any]", value).items()}
    return value
