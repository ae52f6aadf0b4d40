"""Shapes by pydantic: for its own types, for its words in annotations, and for unions that msgspec can't tell apart.

Imported only when one of these is met: pydantic is an extra.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, get_args, get_origin

import msgspec
from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic import Field as PydanticField
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from typing_extensions import TypeAliasType  # pydantic's own dependency

from toolkit.tools.schemas import refusals
from toolkit.tools.schemas.annotations import asks_for_pydantic, name_of
from toolkit.tools.schemas.identity import is_json_already
from toolkit.tools.schemas.json_values import (
    has_integral_floats,
    integral_floats_as_integers,
    is_array,
    is_object,
)
from toolkit.tools.schemas.protocol import ConversionError, Field, Shape, UnsupportedType
from toolkit.tools.schemas.pydantic_schemas import described_by_fields, schema_by_pydantic
from toolkit.tools.schemas.writing import SchemaWriter, Write
from toolkit.tools.violations import Violation, json_path

__all__ = ["PydanticMaker"]


class PydanticMaker:
    """A `SchemaMaker` by pydantic, for all but msgspec's Structs.

    Example:
        >>> from datetime import date
        >>> shape = PydanticMaker().shape_of_type(date | str)
        >>> shape.convert("2024-05-31"), shape.convert("tomorrow")
        (datetime.date(2024, 5, 31), 'tomorrow')
    """

    def shape_of_type(self, annotation: Any) -> Shape:
        foreign = _Foreign()
        schema = SchemaWriter(foreign.schema).schema_of_type(annotation)
        return Shape(schema, foreign.converter(annotation))

    def shape_of_fields(self, fields: Sequence[Field]) -> Shape:
        foreign = _Foreign()
        schema = SchemaWriter(foreign.schema).schema_of_fields(fields)
        converters = {field.name: foreign.converter(field.annotation) for field in fields}
        typed = {name: convert for name, convert in converters.items() if convert is not None}
        return Shape(schema, _fields_converter(typed) if typed else None)


class _Foreign:
    """Asks pydantic for what the writer doesn't know, and remembers what that means for the conversion."""

    def __init__(self) -> None:
        self._asked: list[Any] = []
        # Strict reading of JSON is what JSON Schema says: no integers from texts, no 1 from true. A validator though
        # may hand pydantic a text where its type wants a date, and counts on that being read.
        self._strict = True

    def schema(self, annotation: Any, reason: UnsupportedType, write: Write) -> dict[str, Any]:
        self._asked.append(annotation)
        if get_origin(annotation) is Annotated:
            inner, *metadata = get_args(annotation)
            mine = [item for item in metadata if asks_for_pydantic(item)]
            fields = [item for item in mine if isinstance(item, FieldInfo)]
            if len(fields) < len(mine):
                self._strict = False
            elif fields:
                schema = write(inner)  # pydantic's own reading would lose what others say inside
                if (described := described_by_fields(schema, fields)) is not None:
                    return described
        elif not hasattr(get_origin(annotation) or annotation, "__pydantic_validator__"):
            self._strict = False  # a model keeps to its own config
        try:
            return schema_by_pydantic(_translated(annotation))
        except (PydanticUserError, TypeError, NameError) as error:
            raise _unsupported(annotation, error, reason) from error

    def converter(self, annotation: Any) -> Callable[[Any], Any] | None:
        """None where the JSON value is the typed value. Raises `UnsupportedType` for what pydantic doesn't know."""
        readable = _translated(annotation) if any(asked is annotation for asked in self._asked) else annotation
        config = ConfigDict(strict=self._strict, allow_inf_nan=False, val_json_bytes="base64")
        try:
            # A dataclass at the top takes no config; behind an alias it gets it, as it does inside a list.
            adapter: TypeAdapter[Any] = TypeAdapter(_alias_of(readable), config=config)
        except (PydanticUserError, TypeError, NameError) as error:
            raise _unsupported(annotation, error) from error
        return None if is_json_already(annotation) else _converter(adapter)


_numbers = itertools.count()


def _alias_of(annotation: Any) -> Any:
    make: Any = TypeAliasType  # called as a function: to type checkers it is a statement
    return make(f"Value{next(_numbers)}", annotation)


def _translated(annotation: Any) -> Any:
    """`msgspec.Meta`'s bounds in pydantic's words, where JSON Schema has none and pydantic has to hold them."""
    if get_origin(annotation) is not Annotated:
        return annotation
    inner, *metadata = get_args(annotation)
    return Annotated[(inner, *(_field_of(item) if isinstance(item, msgspec.Meta) else item for item in metadata))]


def _field_of(meta: msgspec.Meta) -> Any:
    words = ("ge", "gt", "le", "lt", "multiple_of", "min_length", "max_length", "pattern")
    said = {word: getattr(meta, word) for word in words}
    return PydanticField(**{word: value for word, value in said.items() if value is not None})


def _unsupported(annotation: Any, error: Exception, reason: UnsupportedType | None = None) -> UnsupportedType:
    reason_given = str(error).strip().partition("\n")[0].partition(". ")[0]  # what follows is advice for other uses
    unknown = reason.unknown if reason is not None else None
    return UnsupportedType(f"{name_of(annotation)}: {reason_given}", unknown=unknown, pydantic_may_help=False)


def _converter(adapter: TypeAdapter[Any]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        # As JSON text, for these are JSON values: so a strict model takes a date's text, and a tuple its array.
        return adapter.validate_json(msgspec.json.encode(value))

    def convert(value: Any) -> Any:
        try:
            return read(value)
        except ValidationError as error:
            first = error
        except UnicodeEncodeError as error:
            raise ConversionError([Violation("$", refusals.TEXT)]) from error
        if has_integral_floats(value):
            try:
                return read(integral_floats_as_integers(value))
            except ValidationError as error:
                first = error
        raise ConversionError(_violations(value, first)) from first

    return convert


def _fields_converter(typed: dict[str, Callable[[Any], Any]]) -> Callable[[Any], Any]:
    def convert(arguments: dict[str, Any]) -> dict[str, Any]:
        converted = dict(arguments)
        violations: list[Violation] = []
        for name, convert_one in typed.items():
            if name not in arguments:
                continue
            try:
                converted[name] = convert_one(arguments[name])
            except ConversionError as error:
                violations += error.below(json_path([name]))
        if violations:
            raise ConversionError(violations)
        return converted

    return convert


_MESSAGES = {
    "bytes_invalid_encoding": refusals.BASE64,
    "date_from_datetime_inexact": refusals.DATE,
    "date_from_datetime_parsing": refusals.DATE,
    "date_parsing": refusals.DATE,
    "date_type": refusals.DATE,
    "datetime_from_date_parsing": refusals.DATETIME,
    "datetime_parsing": refusals.DATETIME,
    "datetime_type": refusals.DATETIME,
    "decimal_parsing": refusals.DECIMAL,
    "decimal_type": refusals.DECIMAL,
    "extra_forbidden": "is not expected",
    "finite_number": refusals.OUT_OF_RANGE,
    "float_parsing": refusals.NUMBER,
    "float_type": refusals.NUMBER,
    "int_from_float": refusals.INTEGER,
    "int_parsing": refusals.INTEGER,
    "int_parsing_size": refusals.OUT_OF_RANGE,
    "int_type": refusals.INTEGER,
    "missing": "is required",
    "time_delta_parsing": refusals.DURATION,
    "time_delta_type": refusals.DURATION,
    "time_parsing": refusals.TIME,
    "time_type": refusals.TIME,
    "uuid_parsing": refusals.UUID,
    "uuid_type": refusals.UUID,
}


def _violations(value: Any, error: ValidationError) -> list[Violation]:
    found: list[Violation] = []
    for detail in error.errors(include_url=False, include_input=False):
        message = _MESSAGES.get(detail["type"]) or _worded(detail["msg"])
        steps = _steps(value, detail["loc"], detail["type"] == "missing")
        if steps and detail["loc"][-1] == "[key]":
            message = refusals.of_a_key(str(steps.pop()), message)
        else:
            message = refusals.of_the_value(value, steps, message)
        violation = Violation(json_path(steps), message)
        if violation not in found:  # the branches of a union often say the same
            found.append(violation)
    return found


def _worded(message: str) -> str:
    for start in ("Value error, ", "Assertion failed, "):  # then come an author's own words
        if message.startswith(start):
            return message.removeprefix(start)
    message = message.removeprefix("Input ")
    return message[:1].lower() + message[1:]


def _steps(value: Any, loc: Iterable[str | int], is_missing: bool) -> list[str | int]:
    """Those steps that lead into the value: pydantic's also name the branch of a union and the validator."""
    steps: list[str | int] = []
    here = value
    *_, last = (None, *loc)
    for step in loc:
        if (is_object(here) and step in here) or (is_array(here) and step in range(len(here))):
            here = here[step]  # type: ignore[index]  # each kind of step was looked up in its kind of value
            steps.append(step)
        elif is_missing and step is last:
            steps.append(step)
    return steps
