"""The shape of what a handler is sent: that of its parameters, or of its `input_schema` for the one that takes it."""

from __future__ import annotations

import copy
import inspect
import typing
from collections.abc import Callable
from typing import Any

from msgspec import UNSET

from toolkit.errors import ConfigurationError
from toolkit.tools.docstrings import read_docstring
from toolkit.tools.parameters import Parameter, function_of, label_of, without_none
from toolkit.tools.schemas import shape_of_fields, shape_of_type
from toolkit.tools.schemas.definitions import adopt
from toolkit.tools.schemas.json_values import with_arrays
from toolkit.tools.schemas.protocol import ConversionError, Field, Shape
from toolkit.tools.violations import Violation, child_path

__all__ = ["shape_and_parameter", "shape_of_parameters"]

_NO_OBJECTS = (str, bytes, int, float, bool, list, tuple, set, frozenset)
_NO_ARGUMENTS = ("$schema", "$id", "title", "description", "type")
_JSON_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")


def shape_of_parameters(offered: list[Parameter], handler: Callable[..., Any], owner: str) -> Shape:
    """The shape of an object with a member for each parameter that a model fills in; a `**kwargs` leaves it open.

    Raises:
        ConfigurationError: a parameter has no JSON Schema, or no name that JSON could give.
    """
    described = read_docstring(getattr(function_of(handler), "__doc__", None)).parameters
    fields: list[Field] = []
    extras: Parameter | None = None
    for parameter in offered:
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            raise ConfigurationError(
                f"the handler of {owner} takes *{parameter.name}, and JSON arguments have names; "
                f"declare a list instead: {parameter.name}: list[...]"
            )
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            if typing.get_origin(parameter.annotation) is typing.Unpack:
                raise ConfigurationError(
                    f"the handler of {owner} takes **{parameter.name} of a TypedDict; declare each key as a parameter, "
                    f"or set input_schema to the TypedDict and take it as one parameter"
                )
            extras = parameter
            continue
        annotation = Any if parameter.annotation is UNSET else parameter.annotation
        fields.append(Field(parameter.name, annotation, parameter.default, described.get(parameter.name)))
    try:
        shape = shape_of_fields(fields)
        return shape if extras is None else _opened(shape, extras, {field.name for field in fields})
    except ConfigurationError as error:
        raise ConfigurationError(f"{owner}: {error}") from error


def _opened(shape: Shape, extras: Parameter, known: set[str]) -> Shape:
    """The shape of a handler that takes `**kwargs`: other names are welcome, of the annotated type."""
    extra = shape_of_type(Any if extras.annotation is UNSET else extras.annotation)
    definitions: dict[str, Any] = {}
    schema = adopt(definitions, shape.schema)
    schema["additionalProperties"] = adopt(definitions, extra.schema) or True
    if definitions:
        schema["$defs"] = definitions

    def convert(arguments: dict[str, Any]) -> dict[str, Any]:
        converted = {name: value for name, value in arguments.items() if name in known}
        violations: list[Violation] = []
        try:
            if shape.convert is not None:
                converted = shape.convert(converted)
        except ConversionError as error:
            violations += error.violations
        for name in (name for name in arguments if name not in known):
            try:
                converted[name] = arguments[name] if extra.convert is None else extra.convert(arguments[name])
            except ConversionError as error:
                violations += error.below(child_path("$", name))
        if violations:
            raise ConversionError(violations)
        return converted

    return Shape(schema, None if shape.convert is None and extra.convert is None else convert)


def _shape_of_schema(input_schema: Any, owner: str) -> Shape:
    if isinstance(input_schema, dict):
        schema = typing.cast("dict[str, Any]", input_schema)
        kinds = schema.get("type", "object")
        if isinstance(kinds, str) and kinds in _JSON_TYPES and kinds != "object":
            raise ConfigurationError(
                f"input_schema of {owner} describes a value of type '{kinds}', and the arguments of a call are always "
                f"an object; put it into the properties of one"
            )
        return Shape(with_arrays(copy.deepcopy(schema)))  # a copy: a later change of the dict must not reach it
    if isinstance(input_schema, type) or typing.get_origin(input_schema) is not None:
        try:
            shape = shape_of_type(input_schema)
        except ConfigurationError as error:
            raise ConfigurationError(f"input_schema of {owner}: {error}") from error
        if shape.schema.get("type") == "object":
            return shape
    raise ConfigurationError(
        f"input_schema of {owner} is {input_schema!r}; it has to be a JSON Schema (a dict) or a type whose JSON is an "
        f"object (dataclass, TypedDict, msgspec Struct, pydantic model)"
    )


def shape_and_parameter(input_schema: Any, offered: list[Parameter], owner: str) -> tuple[Shape, str | None]:
    """What a schema gives, and the parameter that takes it; None where the handler takes keywords only, or nothing.

    Raises:
        ConfigurationError: it describes no object, or the handler has no parameter for one.
    """
    shape = _shape_of_schema(input_schema, owner)
    if isinstance(input_schema, dict):
        if not offered and _describes_nothing(shape.schema):
            return Shape(shape.schema, _left_out), None
        if [parameter.kind for parameter in offered] == [inspect.Parameter.VAR_KEYWORD]:
            return shape, None
    return shape, _only_parameter(offered, owner)


def _describes_nothing(schema: dict[str, Any]) -> bool:
    """Whether a hand-written schema describes no argument, so that a handler without parameters misses none."""
    return all(key in _NO_ARGUMENTS or not value for key, value in schema.items())


def _left_out(arguments: dict[str, Any]) -> dict[str, Any]:
    """What a handler without parameters gets, whatever an open schema lets a model send."""
    return {}


def _only_parameter(offered: list[Parameter], owner: str) -> str:
    named = [p for p in offered if not p.is_variadic]
    required = [p for p in named if p.is_required]
    if len(required) == 1 or (not required and len(named) == 1):
        taking = (required or named)[0]
        annotated = without_none(taking.annotation)
        if (typing.get_origin(annotated) or annotated) in _NO_OBJECTS:
            raise ConfigurationError(
                f"{owner} has an input_schema, so its handler gets all arguments as one value, and '{taking.name}' is "
                f"annotated {label_of(annotated)}; take a dict (or the type that is the schema), or leave input_schema "
                f"out to have the schema derived from the parameters"
            )
        return taking.name
    raise ConfigurationError(
        f"{owner} has an input_schema, so its handler gets the arguments as one value and takes one parameter for "
        f"them; it takes {', '.join(p.name for p in named) or 'none'}. Annotate what the run fills in (RunContext, "
        f"Annotated[..., Inject()]), or leave input_schema out to have the schema derived from the parameters"
    )
