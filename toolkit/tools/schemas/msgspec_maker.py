"""Shapes by msgspec: its decoder says which types it can take and makes the instances."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Any, NoReturn, TypedDict, cast

import msgspec

from toolkit.tools.schemas import refusals
from toolkit.tools.schemas.annotations import name_of
from toolkit.tools.schemas.identity import is_json_already, is_made_anew
from toolkit.tools.schemas.json_values import has_integral_floats, integral_floats_as_integers, is_object
from toolkit.tools.schemas.protocol import ConversionError, Field, Shape, UnsupportedType
from toolkit.tools.schemas.writing import SchemaWriter, Write
from toolkit.tools.violations import Violation, json_path

__all__ = ["MsgspecMaker"]


class MsgspecMaker:
    """A `SchemaMaker` by msgspec: fast, and for all but pydantic's own types and some unions.

    Example:
        >>> from datetime import date
        >>> shape = MsgspecMaker().shape_of_type(date)
        >>> shape.schema
        {'type': 'string', 'format': 'date'}
        >>> shape.convert("2024-05-31")
        datetime.date(2024, 5, 31)
    """

    def shape_of_type(self, annotation: Any) -> Shape:
        schema = SchemaWriter(_refuse).schema_of_type(annotation)
        _check(annotation)
        return Shape(schema, None if is_json_already(annotation) else _converter(annotation))

    def shape_of_fields(self, fields: Sequence[Field]) -> Shape:
        schema = SchemaWriter(_refuse).schema_of_fields(fields)
        for field in fields:
            _check(field.annotation)
        typed = {field.name: field.annotation for field in fields if not is_json_already(field.annotation)}
        if not typed:
            return Shape(schema)
        is_new = all(is_made_anew(field.annotation) for field in fields)
        return Shape(schema, _fields_converter([field.name for field in fields], typed), is_new)


def _refuse(annotation: Any, reason: UnsupportedType, write: Write) -> NoReturn:
    raise reason


def _check(annotation: Any) -> None:
    """Raises `UnsupportedType` for what msgspec can't read, such as a union of two object types."""
    try:
        msgspec.json.Decoder(annotation)
    except (TypeError, NotImplementedError, RecursionError) as error:
        raise UnsupportedType(f"{name_of(annotation)}: {str(error).replace('`', '')}") from error
    except NameError as error:
        raise UnsupportedType(
            f"{name_of(annotation)} names {error.name!r}, which isn't there at run time", pydantic_may_help=True
        ) from error


def _read(value: Any, annotation: Any) -> Any:
    # Strict: the lax mode would also make numbers and dates out of texts, "5" into 5.
    return msgspec.convert(value, annotation, str_keys=True, dec_hook=_make)


def _make(cls: type[Any], value: Any) -> Any:
    if issubclass(cls, PurePath) and isinstance(value, str):
        return cls(value)
    return value  # msgspec says then what it is instead


def _converter(annotation: Any) -> Callable[[Any], Any]:
    def convert(value: Any) -> Any:
        try:
            return _read(value, annotation)
        except ValueError as error:  # msgspec's, and of texts that UTF-8 can't write
            return _retried(value, annotation, error)

    return convert


def _fields_converter(names: Sequence[str], typed: dict[str, Any]) -> Callable[[Any], Any]:
    # One call for all of them costs less than a call for each, and its options cost too: paths and keys that are
    # numbers need them, and go the longer way.
    together = cast("Any", TypedDict)("Arguments", {name: typed.get(name, Any) for name in names}, total=False)

    def convert(arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            converted: dict[str, Any] = msgspec.convert(arguments, together)
        except ValueError:
            converted = one_by_one(arguments)
        # A handler may take more than the fields (`**kwargs`); these stay as they are.
        return converted if len(converted) == len(arguments) else arguments | converted

    def one_by_one(arguments: dict[str, Any]) -> dict[str, Any]:
        converted: dict[str, Any] = {}
        violations: list[Violation] = []
        for name, value in arguments.items():
            try:
                converted[name] = _converter(typed[name])(value) if name in typed else value
            except ConversionError as error:
                violations += error.below(json_path([name]))
        if violations:
            raise ConversionError(violations)
        return converted

    return convert


def _retried(value: Any, annotation: Any, error: ValueError) -> Any:
    if "got `float`" in str(error) and has_integral_floats(value):
        value = integral_floats_as_integers(value)
        try:
            return _read(value, annotation)
        except ValueError as second:
            error = second
    if isinstance(error.__cause__, TypeError):  # a mistake in a `__post_init__`, not in the value
        raise error.__cause__
    raise ConversionError([_violation(value, annotation, error)]) from error


_MESSAGES = (
    (re.compile(r"Invalid RFC3339 encoded datetime"), refusals.DATETIME),
    (re.compile(r"Invalid RFC3339 encoded date"), refusals.DATE),
    (re.compile(r"Invalid RFC3339 encoded time"), refusals.TIME),
    (
        re.compile(r"Invalid ISO8601 duration|Only units .*ISO8601 durations|Duration is out of range"),
        refusals.DURATION,
    ),
    (re.compile(r"Invalid UUID"), refusals.UUID),
    (re.compile(r"Invalid decimal string"), refusals.DECIMAL),
    (re.compile(r"Invalid base64 encoded string"), refusals.BASE64),
    (re.compile(r"Number out of range|Integer value out of range"), refusals.OUT_OF_RANGE),
    (re.compile(r"Expected `int`, got .*"), refusals.INTEGER),
    (re.compile(r"Expected `float`, got .*"), refusals.NUMBER),
)
_LOCATED = re.compile(r"(?P<message>.*) - at (?:`(?P<part>key|value)` in )?`(?P<path>\$.*)`", re.DOTALL)


def _violation(value: Any, annotation: Any, error: ValueError) -> Violation:
    if not isinstance(error, msgspec.ValidationError):
        return Violation("$", refusals.TEXT)
    text = str(error)
    located = _LOCATED.fullmatch(text)
    if located is None:
        return Violation("$", refusals.of_the_value(value, (), _worded(text, error)))
    message = _worded(located["message"], error)
    steps = _steps(value, annotation, located["path"], text)
    if located["part"] == "key" and steps is not None:
        key = _culprit(value, annotation, steps, text)
        if key is not None:
            message = refusals.of_a_key(key, message)
    elif steps is not None:
        message = refusals.of_the_value(value, steps, message)
    return Violation(located["path"] if steps is None else json_path(steps), message)


def _worded(message: str, error: ValueError) -> str:
    if isinstance(error.__cause__, ValueError):  # what a `__post_init__` says, in its own words
        return message
    for pattern, words in _MESSAGES:
        if pattern.fullmatch(message):
            return words
    return message[:1].lower() + message[1:].replace("`", "")


def _steps(value: Any, annotation: Any, path: str, text: str) -> list[str | int] | None:
    """The path in steps. msgspec writes `[...]` for a key of a dict; which one it was is found by trying each."""
    steps: list[str | int] = []
    here = value
    rest = path.removeprefix("$")
    while rest:
        key: str | int | None
        if rest.startswith("[...]"):
            key = _culprit(value, annotation, steps, text)
            rest = rest.removeprefix("[...]")
        elif rest.startswith("["):
            index, _, rest = rest[1:].partition("]")
            key = int(index) if index.isdecimal() else None
        else:
            key = next((name for name in _names_in(here) if _starts_with(rest, name)), None)
            rest = rest[len(str(key)) + 1 :]
        if key is None:
            return None
        steps.append(key)
        try:
            here = here[key]
        except (LookupError, TypeError):
            return None if rest else steps
    return steps


def _names_in(value: Any) -> list[str]:
    return sorted(value, key=len, reverse=True) if is_object(value) else []


def _starts_with(path: str, name: str) -> bool:
    return path.startswith(f".{name}") and path[len(name) + 1 : len(name) + 2] in {"", ".", "["}


def _culprit(value: Any, annotation: Any, steps: Sequence[str | int], text: str) -> str | None:
    """The key of the dict at `steps` that gives this error: half of the keys at a time, for a dict may be large."""
    here = value
    for step in steps:
        here = here[step]
    suspects: list[str] = list(here) if is_object(here) else []
    while len(suspects) > 1:
        half = suspects[: len(suspects) // 2]
        guilty = _fails_so(_reduced(value, steps, half), annotation, text)
        suspects = half if guilty else suspects[len(half) :]
    return suspects[0] if suspects and _fails_so(_reduced(value, steps, suspects), annotation, text) else None


def _fails_so(value: Any, annotation: Any, text: str) -> bool:
    try:
        _read(value, annotation)
    except ValueError as error:
        return str(error) == text
    return False


def _reduced(value: Any, steps: Sequence[str | int], keys: Sequence[str]) -> Any:
    """The value with only these keys in the dict at `steps`."""
    if not steps:
        return {key: value[key] for key in keys}
    first, *others = steps
    changed = value.copy()
    changed[first] = _reduced(value[first], others, keys)
    return changed
