"""Python types as JSON sees them: their JSON Schema, and the way from a JSON value to an instance.

msgspec makes the shape of a type where it can; pydantic makes it where the annotation asks for that, or where msgspec
can't. Two parameters of one handler may need one each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from toolkit.errors import ConfigurationError
from toolkit.tools.schemas.annotations import name_of, with_lists
from toolkit.tools.schemas.definitions import adopt
from toolkit.tools.schemas.msgspec_maker import MsgspecMaker
from toolkit.tools.schemas.protocol import ConversionError, Field, SchemaMaker, Shape, UnsupportedType
from toolkit.tools.violations import Violation

__all__ = [
    "ConversionError",
    "Field",
    "MsgspecMaker",
    "SchemaMaker",
    "Shape",
    "UnsupportedType",
    "shape_of_fields",
    "shape_of_type",
]

_Convert = Callable[[Any], Any]


def shape_of_type(annotation: Any) -> Shape:
    """The JSON Schema of a type, and the conversion to it.

    Raises:
        ConfigurationError: neither msgspec nor pydantic has a schema for it, or pydantic is needed and not installed.

    Example:
        >>> shape_of_type(list[int]).schema
        {'type': 'array', 'items': {'type': 'integer'}}
    """
    annotation = with_lists(annotation)
    return _maker_of(annotation, "").shape_of_type(annotation)


def shape_of_fields(fields: Sequence[Field]) -> Shape:
    """The JSON Schema of a closed object with these fields, and the conversion of such an object's members.

    Raises:
        ConfigurationError: as `shape_of_type`; the text names the parameter.

    Example:
        >>> from datetime import date
        >>> shape = shape_of_fields([Field("day", date), Field("hours", int, default=8)])
        >>> shape.convert({"day": "2024-05-31"})
        {'day': datetime.date(2024, 5, 31)}
    """
    fields = [replace(field, annotation=with_lists(field.annotation)) for field in fields]
    try:
        return MsgspecMaker().shape_of_fields(fields)
    except UnsupportedType:
        makers = [_maker_of(field.annotation, field.name) for field in fields]
    by_maker: list[tuple[SchemaMaker, list[Field]]] = []
    for maker, field in zip(makers, fields, strict=True):
        for known, group in by_maker:
            if type(known) is type(maker):
                group.append(field)
                break
        else:
            by_maker.append((maker, [field]))
    if len(by_maker) == 1:
        return by_maker[0][0].shape_of_fields(fields)
    shapes = [(group, maker.shape_of_fields(group)) for maker, group in by_maker]
    converters = [
        ([field.name for field in group], shape.convert) for group, shape in shapes if shape.convert is not None
    ]
    schema = _merged(fields, [shape.schema for _, shape in shapes])
    return Shape(schema, _converter(converters) if converters else None)


def _maker_of(annotation: Any, parameter: str) -> SchemaMaker:
    """The first maker that knows the type."""
    try:
        MsgspecMaker().shape_of_type(annotation)
        return MsgspecMaker()
    except UnsupportedType as error:
        by_msgspec = error
    maker = _pydantic_maker()
    by_pydantic: UnsupportedType | None = None
    if maker is not None:
        try:
            maker.shape_of_type(annotation)
            return maker
        except UnsupportedType as error:
            by_pydantic = error
    raise ConfigurationError(_text_of(annotation, parameter, by_msgspec, by_pydantic)) from by_msgspec


def _pydantic_maker() -> SchemaMaker | None:
    try:
        from toolkit.tools.schemas.pydantic_maker import PydanticMaker
    except ModuleNotFoundError as error:
        if error.name not in {"pydantic", "pydantic_core"}:
            raise
        return None
    return PydanticMaker()


def _text_of(annotation: Any, parameter: str, by_msgspec: UnsupportedType, by_pydantic: UnsupportedType | None) -> str:
    subject = f"parameter {parameter!r}: " if parameter else ""
    if by_pydantic is None and by_msgspec.pydantic_may_help:
        return f"{subject}{by_msgspec}; pydantic may know it, and is not installed: pip install 'toolwire[pydantic]'"
    unknown = by_msgspec.unknown if by_pydantic is None else by_pydantic.unknown
    if unknown is None:
        also = "" if by_pydantic is None or str(by_pydantic) == str(by_msgspec) else f"; by pydantic: {by_pydantic}"
        return f"{subject}no JSON Schema can be made: {by_msgspec}{also}"
    name = name_of(unknown)
    inject = ""
    if parameter and isinstance(unknown, type):
        inject = f"if the application's container should fill it in, mark it Annotated[{name}, Inject()]; else "
    return (
        f"{subject}{name} has no JSON Schema; {inject}give it a type that JSON has: "
        f"str, int, list, ..., a dataclass, a TypedDict, a msgspec Struct or a pydantic model"
    )


def _merged(fields: Sequence[Field], schemas: Sequence[dict[str, Any]]) -> dict[str, Any]:
    definitions: dict[str, Any] = {}
    parts = [adopt(definitions, schema) for schema in schemas]
    properties = {name: schema for part in parts for name, schema in part["properties"].items()}
    required = {name for part in parts for name in part.get("required", ())}
    merged = parts[0] | {"properties": {field.name: properties[field.name] for field in fields}}
    merged.pop("required", None)
    closing = merged.pop("additionalProperties")
    if required:
        merged["required"] = [field.name for field in fields if field.name in required]
    merged["additionalProperties"] = closing
    return merged | ({"$defs": definitions} if definitions else {})


def _converter(parts: Sequence[tuple[Sequence[str], _Convert]]) -> _Convert:
    def convert(arguments: dict[str, Any]) -> dict[str, Any]:
        converted = dict(arguments)
        violations: list[Violation] = []
        for names, convert_part in parts:
            try:
                converted |= convert_part({name: arguments[name] for name in names if name in arguments})
            except ConversionError as error:
                violations += error.violations
        if violations:
            raise ConversionError(violations)
        return converted

    return convert
