"""Which types a JSON value is an instance of already, so that there is nothing to convert."""

from __future__ import annotations

import inspect
import types
from collections.abc import Collection, Hashable, Iterator, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin

from toolkit.tools.schemas.annotations import asks_for_pydantic, bare, is_qualifier
from toolkit.tools.schemas.members import is_typed_dict, members_of

__all__ = ["is_json_already", "is_made_anew"]

# Not int and not float: JSON Schema takes 5.0 for an integer and 5 for a number.
_SAME: frozenset[Any] = frozenset({Any, object, inspect.Parameter.empty, None, types.NoneType, str, bool, list, dict})
_CONTAINERS = frozenset({list, dict, Sequence, MutableSequence, Collection, Mapping, MutableMapping})


def is_json_already(annotation: Any, _seen: tuple[Any, ...] = ()) -> bool:
    """Whether every JSON value that is valid for the type is what a handler wants, as it is."""
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *metadata = get_args(annotation)
        return not any(map(asks_for_pydantic, metadata)) and is_json_already(inner, _seen)
    if is_qualifier(origin):
        return is_json_already(get_args(annotation)[0], _seen)
    if origin is Literal:
        return all(isinstance(value, str | bool | None) and type(value) in _SAME for value in get_args(annotation))
    if origin is Union or origin is types.UnionType:
        return all(is_json_already(argument, _seen) for argument in get_args(annotation))
    if isinstance(origin, type) and origin in _CONTAINERS:
        arguments = get_args(annotation)
        if len(arguments) == 2 and bare(arguments[0]) is not str:
            return False
        return all(is_json_already(argument, _seen) for argument in arguments)
    if isinstance(annotation, TypeVar):
        return annotation.__bound__ is None and not annotation.__constraints__
    if (supertype := getattr(annotation, "__supertype__", None)) is not None:
        return is_json_already(supertype, _seen)
    if is_typed_dict(annotation):
        if annotation in _seen:  # nothing against it so far, and the rest is being looked at
            return True
        members = members_of(annotation) or []
        return all(is_json_already(member.annotation, (*_seen, annotation)) for member in members)
    return isinstance(annotation, Hashable) and annotation in _SAME


def is_made_anew(annotation: Any) -> bool:
    """Whether msgspec makes each dict and list of a value anew, so that what it reads shares none with the value.

    What is JSON already is not read at all, so it must have none. The type must be one that msgspec takes.
    """
    from msgspec import inspect as described  # late: few tools need it

    as_it_is = is_json_already(annotation)
    pending: list[described.Type | described.Field] = [described.type_info(annotation)]
    met: set[int] = set()
    while pending:
        part = pending.pop()
        if isinstance(part, described.AnyType | described.CustomType | described.RawType | described.ExtType):
            return False  # given as it is
        if as_it_is and isinstance(part, described.CollectionType | described.DictType | described.TypedDictType):
            return False
        if id(part) not in met:
            met.add(id(part))
            pending += _parts_of(part)
    return True


def _parts_of(part: Any) -> Iterator[Any]:
    from msgspec import inspect as described

    for name in part.__struct_fields__:
        member: Any = getattr(part, name)
        for each in cast("tuple[object, ...]", member if isinstance(member, tuple) else (member,)):
            if isinstance(each, described.Type | described.Field):
                yield each
