"""JSON values as Python has them, compared as JSON compares them."""

from __future__ import annotations

from typing import Any, cast

__all__ = ["is_same"]


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
