"""Why a schema is refused when its tool is listed: where in the schema, and what is wrong there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, cast

from toolkit.tools.validation.dialects import Dialect
from toolkit.tools.validation.judges import rust_validator
from toolkit.tools.validation.keywords import local_registry
from toolkit.tools.validation.patterns import may_explode, python_pattern
from toolkit.tools.validation.subschemas import children, subschemas
from toolkit.tools.validation.wording import worded
from toolkit.tools.violations import child_path, json_path, printable

__all__ = ["Refusal", "fault_of_pattern", "fault_of_references", "fault_of_rust", "fault_of_schema"]

Refusal = tuple[str, str]
"""The path inside the schema, and what is wrong there."""

_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")


def fault_of_rust(schema: dict[str, Any], dialect: Dialect, error: Any) -> Refusal:
    """What jsonschema-rs found, in jsonschema's words where it finds the same. A plain ValueError has no path."""
    message = str(getattr(error, "message", error))
    kind = type(getattr(error, "kind", None)).__name__
    steps: list[str | int] = list(getattr(error, "instance_path", ()))
    if kind.endswith("Referencing"):
        return _guilty_reference(schema, message)
    if kind.endswith("Format"):
        return json_path(steps), f"the pattern {_pattern_at(error)} can't be compiled"
    return fault_of_schema(schema, dialect) or (json_path(steps), message)


def fault_of_schema(schema: dict[str, Any], dialect: Dialect) -> Refusal | None:
    """Where a schema breaks the schema of schemas."""
    import jsonschema
    from jsonschema import exceptions

    known = getattr(jsonschema, f"{dialect}Validator")
    error: Any = cast("Any", exceptions).best_match(
        known(known.META_SCHEMA, registry=local_registry()).iter_errors(schema)
    )
    if error is None:
        return None
    steps, message = next(worded(error))
    return json_path(steps), message


def fault_of_pattern(schema: dict[str, Any], *, python: bool) -> Refusal | None:
    """The first pattern that can't be compiled, also in parts that nothing refers to.

    In Python's `re` also the first that could take very long.
    """
    for path, pattern in _patterns(schema):
        if python:
            try:
                python_pattern(pattern)
            except (re.error, OverflowError, RecursionError) as error:
                return path, f"the pattern {_quoted(pattern)} can't be compiled: {error}"
            if may_explode(pattern):
                return path, (
                    f"the pattern {_quoted(pattern)} repeats a repetition, on which Python's `re` can hang; "
                    "install 'jsonschema-rs', or write it otherwise"
                )
        else:
            try:
                rust_validator({"pattern": pattern})
            except ValueError:
                return path, f"the pattern {_quoted(pattern)} can't be compiled"
    return None


def fault_of_references(schema: dict[str, Any], dialect: Dialect) -> Refusal | None:
    """The first reference that leads nowhere inside the schema, as `referencing` resolves them, without fetching."""
    import jsonschema
    from referencing.exceptions import NoSuchResource, Unresolvable
    from referencing.jsonschema import specification_with

    specification = specification_with(getattr(jsonschema, f"{dialect}Validator").META_SCHEMA["$schema"])
    start = local_registry().resolver_with_root(specification.create_resource(schema))

    def walk(part: dict[str, Any], path: str, resolver: Any) -> Refusal | None:
        for keyword in _REFERENCES:
            if isinstance(part.get(keyword), str):
                try:
                    resolver.lookup(part[keyword])
                except (Unresolvable, NoSuchResource, ValueError, LookupError, TypeError):
                    return child_path(path, keyword), _unresolved(part[keyword])
        for steps, child in children(part):
            fault = walk(child, json_path(steps, path), resolver.in_subresource(specification.create_resource(child)))
            if fault is not None:
                return fault
        return None

    return walk(schema, "$", start)


def _guilty_reference(schema: dict[str, Any], message: str) -> Refusal:
    """The first reference whose address or fragment stands in the error of jsonschema-rs, which gives no path."""
    for path, part in subschemas(schema):
        for keyword in _REFERENCES:
            reference = part.get(keyword)
            if isinstance(reference, str):
                address, _, fragment = reference.partition("#")
                if f"{address or fragment}'" in message:
                    return child_path(path, keyword), _unresolved(reference)
    return "$", message


def _unresolved(reference: str) -> str:
    if reference.startswith("#"):
        return f"{_quoted(reference)} leads nowhere in this schema"
    return (
        f"{_quoted(reference)} lies outside this schema, and remote and file references are never followed; "
        "put what it refers to under '$defs'"
    )


def _patterns(schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for path, part in subschemas(schema):
        if isinstance(part.get("pattern"), str):
            yield child_path(path, "pattern"), part["pattern"]
        named = part.get("patternProperties")
        if isinstance(named, dict):
            for pattern in cast("dict[str, Any]", named):
                yield child_path(child_path(path, "patternProperties"), pattern), pattern


def _pattern_at(error: Any) -> str:
    return _quoted(str(error.instance))


def _quoted(text: str) -> str:
    return printable(repr(text), 120)
