"""Which version of JSON Schema a schema is written in, by its `$schema`."""

from __future__ import annotations

from typing import Any, Final, Literal

__all__ = ["Dialect", "dialect_of"]

Dialect = Literal["Draft4", "Draft6", "Draft7", "Draft201909", "Draft202012"]
"""Both libraries name their classes so, followed by `Validator`."""

_DEFAULT: Final[Dialect] = "Draft202012"

_DIALECTS: Final[dict[str, Dialect]] = {
    "json-schema.org/draft-04/schema": "Draft4",
    "json-schema.org/draft-06/schema": "Draft6",
    "json-schema.org/draft-07/schema": "Draft7",
    "json-schema.org/draft/2019-09/schema": "Draft201909",
    "json-schema.org/draft/2020-12/schema": "Draft202012",
    "json-schema.org/schema": "Draft202012",  # "the latest one"
}


def dialect_of(schema: dict[str, Any]) -> Dialect | None:
    """The dialect that `$schema` names, 2020-12 without one, and None for a name that is not known.

    `http` and `https`, with and without the empty fragment, are the same name: all four are seen in the wild.
    """
    if "$schema" not in schema:
        return _DEFAULT
    name = schema["$schema"]
    return _DIALECTS.get(name.removesuffix("#").partition("://")[2]) if isinstance(name, str) else None
