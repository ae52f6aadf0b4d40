"""The seam between a Python type and JSON: its JSON Schema, and the way from a JSON value to an instance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from msgspec import UNSET, Struct, UnsetType

from toolkit.tools.violations import Violation

__all__ = ["ConversionError", "Field", "SchemaMaker", "Shape", "UnsupportedType"]


class Field(Struct, frozen=True):
    """One parameter of a handler that the model fills in.

    Attributes:
        annotation: Its type, evaluated; `Any` where the signature has none.
        default: Its default, or UNSET when it is required. Shown in the schema where JSON can express it.
        description: From the docstring; a description inside the annotation wins.
    """

    name: str
    annotation: Any
    default: Any | UnsetType = UNSET
    description: str | None = None


class Shape(Struct, frozen=True):
    """What a type looks like in JSON.

    Attributes:
        schema: JSON Schema, draft 2020-12, of an object for fields; self-contained (`$defs` inside).
        convert: From a JSON value that is valid for `schema` to the typed value; raises `ConversionError`. None when
            the JSON value is the typed value already, so that a call can skip it. For fields, it goes from the
            arguments to a dict of the converted arguments that were sent: defaults are left to the handler.
        is_new: Whether what `convert` gives shares no dict or list with the value, so that the value need not be copied
            before.
    """

    schema: dict[str, Any]
    convert: Callable[[Any], Any] | None = None
    is_new: bool = False


class ConversionError(ValueError):
    """A value is valid for the schema and yet no instance of the type (a `date` of `"2024-13-01"`)."""

    def __init__(self, violations: Sequence[Violation]) -> None:
        super().__init__("; ".join(f"{v.path}: {v.message}" for v in violations))
        self.violations = violations

    def below(self, path: str) -> list[Violation]:
        """Its violations where the value stands at `path`: `$[0]` is `$.days[0]` below `$.days`."""
        return [Violation(path + found.path.removeprefix("$"), found.message) for found in self.violations]


class UnsupportedType(TypeError):
    """This maker has no schema for the type. The text says for which, and why.

    `unknown` is the class that the maker doesn't know, where that is the reason. `pydantic_may_help` is False where no
    other maker could do better: a class of the application, a name that isn't there at run time.
    """

    def __init__(self, message: str, *, unknown: Any = None, pydantic_may_help: bool = True) -> None:
        super().__init__(message)
        self.unknown = unknown
        self.pydantic_may_help = pydantic_may_help


class SchemaMaker(Protocol):
    """Makes shapes out of types. Two exist, held to one table of types: msgspec's and pydantic's."""

    def shape_of_type(self, annotation: Any) -> Shape:
        """The shape of one type. Raises `UnsupportedType`."""
        ...

    def shape_of_fields(self, fields: Sequence[Field]) -> Shape:
        """The shape of a closed object with these fields. Raises `UnsupportedType`."""
        ...
