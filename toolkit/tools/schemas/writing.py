"""From a Python type to its JSON Schema. One writer for both makers, so that a type looks the same from either."""

from __future__ import annotations

import datetime
import decimal
import enum
import inspect
import re
import sys
import types
import uuid
from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Mapping,
    MutableMapping,
    MutableSequence,
    MutableSet,
    Sequence,
    Set,
)
from pathlib import PurePath
from typing import Annotated, Any, ForwardRef, Literal, TypeVar, Union, cast, get_args, get_origin

import msgspec

from toolkit.tools.schemas.annotations import asks_for_pydantic, is_qualifier, name_of, notes_of
from toolkit.tools.schemas.bounds import bounded
from toolkit.tools.schemas.defaults import json_form
from toolkit.tools.schemas.definitions import PREFIX, adopt, define, finished, free_name
from toolkit.tools.schemas.json_values import with_arrays
from toolkit.tools.schemas.members import (
    Member,
    docstring_of,
    is_dataclass,
    is_named_tuple,
    is_typed_dict,
    members_of,
)
from toolkit.tools.schemas.protocol import Field, UnsupportedType

__all__ = ["DECIMAL_TEXT", "Foreign", "SchemaWriter", "Write", "choice"]

DECIMAL_TEXT = r"^[+-]?[0-9.]+([eE][+-]?[0-9]+)?$"
"""Keeps `"NaN"` and `"Infinity"` out; the rest is for the conversion to judge."""

_PLAIN: dict[Any, dict[str, Any]] = {
    Any: {},
    object: {},
    inspect.Parameter.empty: {},
    None: {"type": "null"},
    types.NoneType: {"type": "null"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    bytes: {"type": "string", "contentEncoding": "base64"},
    datetime.date: {"type": "string", "format": "date"},
    datetime.datetime: {"type": "string", "format": "date-time"},
    datetime.time: {"type": "string", "format": "time"},
    datetime.timedelta: {"type": "string", "format": "duration"},
    uuid.UUID: {"type": "string", "format": "uuid"},
}
_ARRAYS = frozenset({list, Sequence, MutableSequence, Collection})
_SETS = frozenset({set, frozenset, Set, MutableSet})
_OBJECTS = frozenset({dict, Mapping, MutableMapping})
_TYPE_NAMES: dict[type[object], str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    types.NoneType: "null",
}


Write = Callable[[Any], dict[str, Any]]
Foreign = Callable[[Any, UnsupportedType, Write], dict[str, Any]]


class _RefersToItself(Exception):
    """Found inside a type alias: a reference to the alias. The writer goes back to where it met it."""

    def __init__(self, alias: Any) -> None:
        self.alias = alias


class SchemaWriter:
    """Writes schemas that share their `$defs`. Use one for one shape.

    Args:
        foreign: Gives the schema of a type that is unknown here, or raises `UnsupportedType`. It gets the type, the
            reason why it is foreign, and this writer's way to write a type that stands inside; what it gives may have
            `$defs` of its own.
    """

    def __init__(self, foreign: Foreign) -> None:
        self._foreign = foreign
        self._definitions: dict[str, Any] = {}
        self._names: dict[Any, str] = {}
        self._open_aliases: list[Any] = []

    def schema_of_type(self, annotation: Any) -> dict[str, Any]:
        """The whole, self-contained schema of one type."""
        return self._whole(self._schema(annotation))

    def schema_of_fields(self, fields: Sequence[Field]) -> dict[str, Any]:
        """The whole, self-contained schema of a closed object with these fields."""
        members = [
            Member(field.name, field.annotation, field.default is msgspec.UNSET, field.default) for field in fields
        ]
        schema = self._object(members)
        for field in fields:
            if field.description is not None:
                schema["properties"][field.name].setdefault("description", field.description)
        return self._whole(schema)

    def _whole(self, schema: dict[str, Any]) -> dict[str, Any]:
        whole: dict[str, Any] = with_arrays(finished(schema, self._definitions))  # examples may be tuples
        return whole

    def _schema(self, annotation: Any) -> dict[str, Any]:
        origin = get_origin(annotation)
        if origin is Annotated:
            return self._annotated(annotation)
        if origin is Literal:
            return self._literal(annotation)
        if origin is Union or origin is types.UnionType:
            return self._union(get_args(annotation))
        if is_qualifier(origin):
            return self._schema(get_args(annotation)[0])
        if origin is not None:
            return self._generic(annotation, origin)
        if isinstance(annotation, str | ForwardRef):
            if self._open_aliases:  # an alias that is written in text names itself
                raise _RefersToItself(self._open_aliases[0])
            raise UnsupportedType(f"the annotation {annotation!r} is not evaluated", pydantic_may_help=False)
        if _is_alias(annotation):
            return self._alias(annotation, annotation.__value__)
        if isinstance(annotation, TypeVar):
            return self._union(annotation.__constraints__) if annotation.__constraints__ else self._bound(annotation)
        if (supertype := getattr(annotation, "__supertype__", None)) is not None:
            return self._schema(supertype)
        return self._class(annotation)

    def _bound(self, variable: TypeVar) -> dict[str, Any]:
        return {} if variable.__bound__ is None else self._schema(variable.__bound__)

    def _class(self, cls: Any) -> dict[str, Any]:
        if isinstance(cls, Hashable) and cls in _PLAIN:
            return dict(_PLAIN[cls])
        if not isinstance(cls, type):
            return self._not_known(cls)
        if cls is decimal.Decimal:  # models send numbers as readily as texts
            return {"anyOf": [{"type": "number"}, {"type": "string", "pattern": DECIMAL_TEXT}]}
        if hasattr(cls, "__pydantic_core_schema__") or hasattr(cls, "__get_pydantic_core_schema__"):
            return self._not_known(cls, f"{name_of(cls)} is a type of pydantic's")
        if issubclass(cls, enum.Enum):
            return self._named(cls, lambda: self._enum(cls))
        if issubclass(cls, PurePath):
            return {"type": "string"}
        if cls in _ARRAYS or cls is tuple:
            return {"type": "array"}
        if cls in _SETS:
            return {"type": "array", "uniqueItems": True}
        if cls in _OBJECTS:
            return {"type": "object"}
        if self._has_members(cls):
            return self._with_members(cls, cls)
        return self._not_known(cls)

    def _has_members(self, cls: Any) -> bool:
        return is_typed_dict(cls) or is_dataclass(cls) or is_named_tuple(cls) or issubclass(cls, msgspec.Struct)

    def _generic(self, annotation: Any, origin: Any) -> dict[str, Any]:
        arguments = get_args(annotation)
        if _is_alias(origin):
            return self._alias(annotation, origin.__value__[arguments])
        if origin is tuple:
            return self._tuple(arguments)
        if origin in _ARRAYS:
            return {"type": "array", **self._items(arguments[0])}
        if origin in _SETS:
            return {"type": "array", **self._items(arguments[0]), "uniqueItems": True}
        if origin in _OBJECTS:
            return self._mapping(*arguments)
        if hasattr(origin, "__pydantic_core_schema__") or not isinstance(origin, type):
            return self._not_known(annotation)
        return self._with_members(annotation, origin) if self._has_members(origin) else self._not_known(annotation)

    def _items(self, item: Any) -> dict[str, Any]:
        schema = self._schema(item)
        return {"items": schema} if schema else {}

    def _tuple(self, arguments: tuple[Any, ...]) -> dict[str, Any]:
        if len(arguments) == 2 and arguments[1] is ...:
            return {"type": "array", **self._items(arguments[0])}
        schema: dict[str, Any] = {"type": "array"}
        if arguments:
            schema["prefixItems"] = [self._schema(argument) for argument in arguments]
        return schema | {"minItems": len(arguments), "maxItems": len(arguments)}

    def _mapping(self, key: Any, value: Any) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "object"}
        names = self._schema(key)
        if self._is_text(names):
            names.pop("type", None)  # a name is always text, so that much goes without saying
            if names:
                schema["propertyNames"] = names
        values = self._schema(value)
        return schema | ({"additionalProperties": values} if values else {})

    def _is_text(self, schema: dict[str, Any]) -> bool:
        """False for numbers: as keys they come as text, which their schema doesn't say."""
        if "$ref" in schema:
            schema = self._definitions[schema["$ref"].removeprefix(PREFIX)]
        return bool(schema.get("type") == "string")

    def _union(self, arguments: tuple[Any, ...]) -> dict[str, Any]:
        branches: list[dict[str, Any]] = []
        may_be_null = False
        for argument in arguments:
            if argument is msgspec.UnsetType:
                continue
            schema = self._schema(argument)
            for branch in schema["anyOf"] if schema.keys() == {"anyOf"} else [schema]:
                if branch == {"type": "null"}:
                    may_be_null = True
                elif branch not in branches:
                    branches.append(branch)
        if may_be_null:
            branches.append({"type": "null"})
        return branches[0] if len(branches) == 1 else {"anyOf": branches}

    def _literal(self, annotation: Any) -> dict[str, Any]:
        values = [value.value if isinstance(value, enum.Enum) else value for value in get_args(annotation)]
        if any(isinstance(value, enum.Enum) and not isinstance(value, str) for value in get_args(annotation)):
            raise UnsupportedType(
                f"{name_of(annotation)} names members of an enum; name their values, or use the enum",
                pydantic_may_help=False,
            )
        return choice(values)

    def _enum(self, cls: type[enum.Enum]) -> dict[str, Any]:
        values = [json_form(member.value) for member in cls]
        if msgspec.UNSET in values:
            raise UnsupportedType(f"{name_of(cls)} has members that JSON has no form for", pydantic_may_help=False)
        return choice(values) | _described(cls)

    def _annotated(self, annotation: Any) -> dict[str, Any]:
        inner, *metadata = get_args(annotation)
        mine = [item for item in metadata if not asks_for_pydantic(item)]
        notes = notes_of(mine)
        if len(mine) < len(metadata):
            schema = self._not_known(annotation, f"{name_of(annotation)} asks for pydantic")
            return notes.keywords | (bounded(schema, notes) or schema)
        within = bounded(self._schema(inner), notes)
        if within is None:
            within = self._not_known(annotation, f"JSON Schema has no words for the bounds of {name_of(annotation)}")
        return within | notes.keywords

    def _alias(self, alias: Any, value: Any) -> dict[str, Any]:
        if alias in self._open_aliases:
            raise _RefersToItself(alias)
        self._open_aliases.append(alias)
        try:
            return self._schema(value)
        except _RefersToItself as error:
            if error.alias != alias:
                raise
            return self._not_known(alias, f"the type alias {alias} refers to itself")
        finally:
            self._open_aliases.pop()

    def _with_members(self, annotation: Any, cls: Any) -> dict[str, Any]:
        try:
            members = members_of(annotation)
        except TypeError as error:  # such as too many arguments of a generic class
            if isinstance(error, UnsupportedType):
                raise
            raise UnsupportedType(f"the members of {name_of(cls)} can't be read: {error}") from error
        if members is None:
            return self._not_known(annotation, f"some members of {name_of(cls)} are for pydantic to fill in")
        if is_named_tuple(cls) or (issubclass(cls, msgspec.Struct) and cls.__struct_config__.array_like):
            return self._named(annotation, lambda: self._array(cls, members) | _described(cls))
        return self._named(annotation, lambda: self._object(members, cls) | _described(cls))

    def _object(self, members: Sequence[Member], cls: Any = None) -> dict[str, Any]:
        properties: dict[str, Any] = {}
        required: list[str] = []
        if (tag := _tag_of(cls)) is not None:
            properties[tag[0]] = choice([tag[1]])
            required.append(tag[0])
        for member in members:
            properties[member.name] = self._member(member)
            if member.required:
                required.append(member.name)
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        if required:
            schema["required"] = required
        return schema | {"additionalProperties": False}

    def _array(self, cls: Any, members: Sequence[Member]) -> dict[str, Any]:
        """A NamedTuple, or an array-like Struct. Members' names stand in the descriptions: JSON has no other place."""
        items: list[dict[str, Any]] = []
        if (tag := _tag_of(cls)) is not None:
            items.append(choice([tag[1]]))
        least = len(items)
        for member in members:
            items.append({"description": member.name} | self._member(member))
            if member.required:
                least = len(items)
        schema: dict[str, Any] = {"type": "array"}
        if items:
            schema["prefixItems"] = items
        return schema | ({"minItems": least} if least else {}) | {"maxItems": len(items)}

    def _member(self, member: Member) -> dict[str, Any]:
        schema = self._schema(member.annotation)
        if member.default is not msgspec.UNSET and (form := json_form(member.default)) is not msgspec.UNSET:
            schema["default"] = form
        return schema

    def _named(self, key: Any, write: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        if key not in self._names:
            name = free_name(self._definitions, _definition_name(key))
            self._names[key] = name
            self._definitions[name] = {}  # holds the name while the members, which may refer to it, are written
            try:
                self._definitions[name] = write()
            except BaseException:
                del self._names[key], self._definitions[name]
                raise
        return {"$ref": PREFIX + self._names[key]}

    def _not_known(self, annotation: Any, reason: str | None = None) -> dict[str, Any]:
        error = UnsupportedType(
            reason or f"{name_of(annotation)} has no JSON Schema",
            unknown=annotation if reason is None else None,
            pydantic_may_help=reason is not None or _may_be_known_to_pydantic(annotation),
        )
        schema = adopt(self._definitions, self._foreign(annotation, error, self._schema))
        if isinstance(annotation, type) and "properties" in schema:
            return {"$ref": PREFIX + define(self._definitions, _definition_name(annotation), schema)}
        return schema


def choice(values: Sequence[object]) -> dict[str, Any]:
    """One of these values, with their type where it is one and the same."""
    kinds = {type(value) for value in values}
    name = _TYPE_NAMES.get(kinds.pop()) if len(kinds) == 1 else None
    return ({} if name is None else {"type": name}) | {"enum": list(values)}


def _described(cls: Any) -> dict[str, Any]:
    text = docstring_of(cls)
    return {} if text is None else {"description": text}


def _tag_of(cls: Any) -> tuple[str, str | int] | None:
    if cls is None or not issubclass(cls, msgspec.Struct) or cls.__struct_config__.tag_field is None:
        return None
    return cls.__struct_config__.tag_field, cast("str | int", cls.__struct_config__.tag)


def _is_alias(annotation: Any) -> bool:
    return type(annotation).__name__ == "TypeAliasType"  # typing's, and typing_extensions' of before 3.12


def _may_be_known_to_pydantic(annotation: Any) -> bool:
    """Whether pydantic has a chance: it knows many a class of the standard library, and types made for it."""
    cls = get_origin(annotation) or annotation
    package = str(getattr(cls, "__module__", "")).partition(".")[0]
    return package in sys.stdlib_module_names or package in {"pydantic", "pydantic_core"}


def _definition_name(key: Any) -> str:
    origin = get_origin(key)
    if origin is None:
        name = str(key.__name__)
    else:
        name = f"{origin.__name__}[{', '.join(name_of(argument) for argument in get_args(key))}]"
    return re.sub(r"[^A-Za-z0-9._-]", "_", name)
