"""The members of a class that JSON writes as an object: a dataclass, a TypedDict, a msgspec Struct, a NamedTuple."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from typing import Annotated, Any, Generic, Protocol, TypeVar, cast, get_args, get_origin, get_type_hints

import msgspec

from toolkit.tools.schemas.annotations import asks_for_pydantic, is_qualifier, name_of
from toolkit.tools.schemas.protocol import UnsupportedType

__all__ = ["Member", "docstring_of", "is_dataclass", "is_named_tuple", "is_typed_dict", "members_of"]


class Member(msgspec.Struct, frozen=True):
    """One member, under the name that JSON has for it. `default` is UNSET where there is none to show."""

    name: str
    annotation: Any
    required: bool
    default: Any = msgspec.UNSET


def is_typed_dict(cls: Any) -> bool:
    return hasattr(cls, "__total__") and isinstance(cls, type) and issubclass(cls, dict)


def is_dataclass(cls: Any) -> bool:
    return isinstance(cls, type) and dataclasses.is_dataclass(cls)


def is_named_tuple(cls: Any) -> bool:
    return hasattr(cls, "_fields") and isinstance(cls, type) and issubclass(cls, tuple)


def members_of(annotation: Any) -> list[Member] | None:
    """The members in their order, of a class or of a generic one with its arguments (`Box[int]`).

    None where only pydantic could fill them in: a dataclass with an `InitVar`, a `pydantic.Field` for a default, or a
    member that `__init__` doesn't take and that has no default.
    """
    cls = get_origin(annotation) or annotation
    try:
        if issubclass(cls, msgspec.Struct):
            return _members_of_struct(annotation)
        hints = _hints_of(annotation)
    except NameError as error:
        raise UnsupportedType(
            f"an annotation of {name_of(cls)} names {error.name!r}, which its module doesn't have at run time "
            f"(it stands behind TYPE_CHECKING, or inside a function)",
            pydantic_may_help=False,
        ) from error
    if is_typed_dict(cls):
        return _members_of_typed_dict(cls, hints)
    if is_named_tuple(cls):
        defaults: dict[str, Any] = cls._field_defaults
        return [
            Member(name, hints.get(name, Any), name not in defaults, defaults.get(name, msgspec.UNSET))
            for name in cls._fields
        ]
    return _members_of_dataclass(cls, hints)


def _members_of_struct(annotation: Any) -> list[Member]:
    fields = msgspec.structs.fields(annotation)
    return [
        Member(
            field.encode_name,
            field.type,
            field.required,
            msgspec.UNSET if field.default is msgspec.NODEFAULT else field.default,
        )
        for field in fields
    ]


def _members_of_dataclass(cls: Any, hints: dict[str, Any]) -> list[Member] | None:
    if any(isinstance(hint, dataclasses.InitVar) for hint in hints.values()):
        return None
    members: list[Member] = []
    for field in dataclasses.fields(cls):
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if asks_for_pydantic(field.default):
            return None
        if not field.init:
            if required:
                return None
            continue
        default = msgspec.UNSET if field.default is dataclasses.MISSING else field.default
        members.append(Member(field.name, hints[field.name], required, default))
    return members


def _members_of_typed_dict(cls: Any, hints: dict[str, Any]) -> list[Member]:
    members: list[Member] = []
    for name, hint in hints.items():
        required = name in cls.__required_keys__
        # Under `from __future__ import annotations`, `__required_keys__` was made without seeing these words.
        metadata: tuple[Any, ...] = ()
        while is_qualifier(get_origin(hint)) or get_origin(hint) is Annotated:
            origin = get_origin(hint)
            if origin is Annotated:
                metadata = (*hint.__metadata__, *metadata)
            elif origin._name in {"Required", "NotRequired"}:
                required = origin._name == "Required"
            hint = get_args(hint)[0]
        members.append(Member(name, Annotated[(hint, *metadata)] if metadata else hint, required))
    return members


def _hints_of(annotation: Any) -> dict[str, Any]:
    """The evaluated annotations of a class and its bases, with type variables replaced by their arguments."""
    cls = get_origin(annotation) or annotation
    arguments = _type_arguments(annotation)
    hints: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        own = inspect.get_annotations(base)
        if not own or base in {object, Generic, Protocol}:
            continue
        # A class may name itself, also where it stands inside a function and its module doesn't have it.
        names: dict[str, Any] = {cls.__name__: cls, base.__name__: base, **vars(base)}
        scope = vars(sys.modules[base.__module__]) if base.__module__ in sys.modules else {}
        evaluated = get_type_hints(base, globalns=dict(scope), localns=names, include_extras=True)
        for name in own:
            hints[name] = _substituted(evaluated[name], arguments.get(base, {}))
    return hints


def _type_arguments(annotation: Any) -> dict[Any, dict[Any, Any]]:
    """For each class in the family tree of `annotation`, what its type variables stand for."""
    found: dict[Any, dict[Any, Any]] = {}

    def visit(alias: Any, outer: dict[Any, Any]) -> None:
        cls = get_origin(alias) or alias
        parameters: tuple[Any, ...] = getattr(cls, "__parameters__", ())
        arguments = [_substituted(argument, outer) for argument in get_args(alias)]
        own = found.setdefault(cls, dict(zip(parameters, arguments, strict=False)))
        for base in cast("tuple[Any, ...]", getattr(cls, "__orig_bases__", ())):
            if get_origin(base) not in {Generic, Protocol, None}:
                visit(base, own)

    visit(annotation, {})
    return found


def _substituted(hint: Any, arguments: dict[Any, Any]) -> Any:
    if isinstance(hint, TypeVar):
        return arguments.get(hint, hint)
    parameters: tuple[Any, ...] = getattr(hint, "__parameters__", ())
    if not parameters or get_origin(hint) is None:  # a bare generic class has parameters too, and keeps them
        return hint
    return hint[tuple(arguments.get(parameter, parameter) for parameter in parameters)]


def docstring_of(cls: Any) -> str | None:
    """What its author wrote, and None for the signature that `dataclass` and `NamedTuple` put there."""
    text = cls.__doc__
    if not isinstance(text, str) or not text.strip() or text == "An enumeration.":
        return None
    if (is_dataclass(cls) or is_named_tuple(cls)) and text.startswith(f"{cls.__name__}("):
        return None
    return inspect.cleandoc(text)
