"""What a handler gets where the model sends nothing: a default of its own for each call."""

from __future__ import annotations

import collections
import copy
import dataclasses
from collections.abc import Callable, Iterable
from typing import Annotated, Any, cast

import msgspec

from toolkit.errors import ConfigurationError
from toolkit.tools.parameters import Parameter

__all__ = ["Made", "declared", "fresh_default"]


class Made:
    """Stands for a default that is made for each call. JSON has no form for it, so that no schema shows it."""


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
_PLAIN: frozenset[Any] = frozenset({list, set, tuple})


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
    kind = cast("type[Any]", value.__class__)
    if kind in _PLAIN:
        return kind(map(_copied, value))
    if kind is dict:
        return {key: _copied(item) for key, item in value.items()}
    return copy.deepcopy(value) if _can_change(value) else value


_Make = Callable[[], Any]
_MSGSPEC_FIELD = cast("type[Any]", type(msgspec.field()))


def declared(parameter: Parameter, owner: str) -> tuple[Parameter, _Make | None]:
    """The parameter, and what makes its default for each call, where that is not its default itself.

    `n: int = pydantic.Field(3, ge=1)` counts as `n: Annotated[int, Field(ge=1)] = 3`; the `field(...)` of msgspec and
    dataclasses declares a default, or what makes one.

    Raises:
        ConfigurationError: it gives the parameter another name, or its default can't be made by itself.
    """
    said: Any = parameter.default
    kind = cast("type[Any]", type(said))
    annotation = parameter.annotation
    if kind.__name__ == "FieldInfo" and kind.__module__.startswith("pydantic."):  # by name: pydantic may be absent
        given = {"alias": said.alias or said.validation_alias}
        make: Any = None if said.default_factory is None else said.default_factory
        if getattr(said, "default_factory_takes_validated_data", False):
            raise ConfigurationError(
                f"parameter '{parameter.name}' of {owner} has a default_factory that takes the other arguments; make "
                f"it from them in the handler"
            )
        default = msgspec.UNSET if said.is_required() else said.default
        annotation = Annotated[(Any if annotation is msgspec.UNSET else annotation), said]
    elif kind is _MSGSPEC_FIELD:
        given = {"name": said.name}
        make = None if said.default_factory is msgspec.NODEFAULT else said.default_factory
        default = msgspec.UNSET if said.default is msgspec.NODEFAULT else said.default
    elif kind is dataclasses.Field:
        given = {}
        make = None if said.default_factory is dataclasses.MISSING else said.default_factory
        default = msgspec.UNSET if said.default is dataclasses.MISSING else said.default
    else:
        return parameter, fresh_default(said)
    for word, value in given.items():
        if value is not None:
            raise ConfigurationError(
                f"parameter '{parameter.name}' of {owner} has another name by {word}={value!r}, and the model is told "
                f"the parameter's own; name the parameter as the model should"
            )
    if make is not None:
        default = Made()
    elif default is not msgspec.UNSET:
        make = fresh_default(default) or (lambda: default)
    return msgspec.structs.replace(parameter, annotation=annotation, default=default), make
