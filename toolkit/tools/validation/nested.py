"""Parameters for which some models send JSON inside a string, where only an object or an array can be meant."""

from __future__ import annotations

from typing import Any, Final, cast

from toolkit.tools.arguments import parse_json
from toolkit.tools.validation.dialects import Dialect
from toolkit.tools.validation.scanning import ALL_TYPES, Scanner
from toolkit.tools.violations import InvalidArguments

__all__ = ["containers_of", "decode_nested"]

_CLASSES: Final = {"array": list, "object": dict}


def containers_of(schema: dict[str, Any], dialect: Dialect) -> tuple[tuple[str, tuple[type, ...]], ...]:
    """The properties that can be an object or an array and can never be a string, each with `dict`, `list` or both.

    What is not understood is taken to allow everything, strings too, so such a property is left alone.
    """
    types: dict[str, frozenset[str]] = {}
    scanner = Scanner(schema, dialect)
    for part in scanner.parts(schema, set()):
        properties = part.get("properties")
        if isinstance(properties, dict):
            for name, child in cast("dict[str, Any]", properties).items():
                types[name] = types.get(name, ALL_TYPES) & scanner.types(child)
    return tuple(
        (name, tuple(_CLASSES[kind] for kind in sorted(kinds & _CLASSES.keys())))
        for name, kinds in types.items()
        if "string" not in kinds and kinds & _CLASSES.keys()
    )


def decode_nested(arguments: dict[str, Any], candidates: tuple[tuple[str, tuple[type, ...]], ...]) -> dict[str, Any]:
    """The arguments with such strings decoded, in a new dict; the same dict when there are none."""
    decoded: dict[str, Any] | None = None
    for name, kinds in candidates:
        text = arguments.get(name)
        if not isinstance(text, str):
            continue
        try:
            value = parse_json(text)
        except InvalidArguments:
            continue  # the schema refuses the string as it stands, and the model is told so
        if value.__class__ in kinds:
            decoded = decoded or dict(arguments)
            decoded[name] = value
    return arguments if decoded is None else decoded
