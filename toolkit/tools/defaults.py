"""What a handler gets where the model sends nothing: a default of its own for each call."""

from __future__ import annotations

import collections
import copy
import dataclasses
from collections.abc import Callable, Iterable
from typing import Any, cast

import msgspec

__all__ = ["fresh_default"]


def fresh_default(default: Any) -> Callable[[], Any] | None:
    """Makes the default of one call, where calls must not share it: a list that one appends to. Else None.

    Plain containers are copied to any depth, and so are dataclasses, Structs and pydantic models that can be changed;
    any other object in them is shared. What can't be copied stays shared.
    """
    if not _can_change(default):
        return None
    try:
        _copied(default)
    except Exception:  # noqa: BLE001 - whatever an object's own way of copying raises
        return None
    return lambda: _copied(default)


_CONTAINERS = (list, dict, set, collections.deque, bytearray)


def _can_change(value: Any) -> bool:
    if isinstance(value, _CONTAINERS):
        return True
    if isinstance(value, (tuple, frozenset)):
        return any(map(_can_change, cast("Iterable[Any]", value)))
    return _is_changeable_record(value) or any(map(_can_change, _members(value)))


def _is_changeable_record(value: Any) -> bool:
    kind = cast("type[Any]", type(value))
    if isinstance(value, msgspec.Struct):
        return not kind.__struct_config__.frozen
    if dataclasses.is_dataclass(kind):
        return not cast("Any", kind).__dataclass_params__.frozen
    return hasattr(kind, "model_fields") and not kind.model_config.get("frozen")


def _members(value: Any) -> list[Any]:
    kind = cast("type[Any]", type(value))
    if isinstance(value, msgspec.Struct):
        return [getattr(value, name) for name in kind.__struct_fields__]
    if dataclasses.is_dataclass(kind):
        return [getattr(value, field.name, None) for field in dataclasses.fields(kind)]
    return [getattr(value, name) for name in kind.model_fields] if hasattr(kind, "model_fields") else []


def _copied(value: Any) -> Any:
    kind: Any = value.__class__
    if kind is list or kind is set or kind is tuple:
        return kind(map(_copied, value))
    if kind is dict:
        return {key: _copied(item) for key, item in value.items()}
    return copy.deepcopy(value) if _can_change(value) else value
