"""What stands inside `Annotated[...]`: descriptions and bounds, whoever's words they are in."""

from __future__ import annotations

import types
from collections.abc import Container, Iterable, Reversible
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec

__all__ = ["Notes", "asks_for_pydantic", "bare", "is_qualifier", "name_of", "notes_of", "with_lists"]

_BOUNDS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}
_LENGTHS = {"min_length": "min", "max_length": "max"}

# These bound nothing that JSON Schema could say, so only the library that runs them may take the type.
_RUN_BY_PYDANTIC = frozenset({"Predicate", "Timezone"})


class Notes(msgspec.Struct, frozen=True):
    """What an `Annotated` says of its type, in the words of JSON Schema.

    Attributes:
        keywords: `description`, `title`, `examples` and what `msgspec.Meta(extra_json_schema=...)` gives.
        bounds: `minimum`, `exclusiveMaximum`, `multipleOf`, ...: for numbers.
        lengths: `min` and `max`: of a text, an array, an object.
        pattern: For a text.
    """

    keywords: dict[str, Any]
    bounds: dict[str, Any]
    lengths: dict[str, int]
    pattern: str | None = None


def notes_of(metadata: Iterable[Any]) -> Notes:
    """What these objects say. Known: a plain string (a description), `Doc`, `msgspec.Meta`, `annotated_types`.

    Others are ignored: they are notes to somebody else. Later ones win, as they stand further out.
    """
    keywords: dict[str, Any] = {}
    bounds: dict[str, Any] = {}
    lengths: dict[str, int] = {}
    pattern: str | None = None
    for item in metadata:
        if isinstance(item, str):
            keywords["description"] = item
        elif isinstance(item, msgspec.Meta):
            keywords.update(_keywords_of(item))
            pattern = item.pattern or pattern
            _take_bounds(item, bounds, lengths)
        elif _is_doc(item):
            keywords["description"] = item.documentation
        elif type(item).__module__ == "annotated_types":  # by name: the package is pydantic's and may be absent
            _take_bounds(item, bounds, lengths)
    return Notes(keywords, bounds, lengths, pattern)


def _keywords_of(meta: msgspec.Meta) -> dict[str, Any]:
    said = {"title": meta.title, "description": meta.description, "examples": meta.examples}
    return {key: value for key, value in said.items() if value is not None} | dict(meta.extra_json_schema or {})


def _take_bounds(item: Any, bounds: dict[str, Any], lengths: dict[str, int]) -> None:
    for attribute, keyword in _BOUNDS.items():
        if (value := getattr(item, attribute, None)) is not None:
            bounds[keyword] = value
    for attribute, keyword in _LENGTHS.items():
        if value := getattr(item, attribute, None):  # a minimum of 0 says nothing
            lengths[keyword] = value
        elif value == 0 and keyword == "max":
            lengths[keyword] = 0


def _is_doc(item: Any) -> bool:
    return type(item).__name__ in {"Doc", "DocInfo"} and isinstance(getattr(item, "documentation", None), str)


def asks_for_pydantic(item: object) -> bool:
    """Whether this metadata means something to pydantic alone: `Field(...)`, a validator, a constraint of its own."""
    if isinstance(item, type):
        return False
    kind = type(item)
    package = kind.__module__.partition(".")[0]
    if package in {"pydantic", "pydantic_core"}:
        return True
    if kind.__module__ == "annotated_types":
        return kind.__name__ in _RUN_BY_PYDANTIC
    return hasattr(item, "__get_pydantic_core_schema__") or hasattr(item, "__get_pydantic_json_schema__")


def bare(annotation: Any) -> Any:
    """The type without `Annotated`, `NewType`, `Final` and the like around it."""
    while True:
        origin = get_origin(annotation)
        if origin is Annotated or is_qualifier(origin):
            annotation = get_args(annotation)[0]
        elif (supertype := getattr(annotation, "__supertype__", None)) is not None:
            annotation = supertype
        else:
            return annotation


_LISTS: tuple[Any, ...] = (Iterable, Reversible, Container)


def with_lists(annotation: Any) -> Any:
    """The annotation with `list` for `Iterable`, so that a handler may go through it more than once."""
    if any(annotation is kind for kind in _LISTS):
        return list
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in _LISTS:
        return list[with_lists(arguments[0])]  # type: ignore[misc]  # the argument is known at run time only
    if origin is Annotated:
        inner = with_lists(arguments[0])
        return annotation if inner is arguments[0] else Annotated[(inner, *arguments[1:])]
    if origin is None or origin is Literal or not arguments:
        return annotation
    changed = tuple(map(with_lists, arguments))
    if all(one is other for one, other in zip(changed, arguments, strict=True)):
        return annotation
    if origin in (Union, types.UnionType):
        return Union[changed]  # noqa: UP007 - the arms are known at run time only
    return origin[changed]


def is_qualifier(origin: Any) -> bool:
    """`Required`, `NotRequired`, `ReadOnly`, `Final`: words about a field and not its type, by either `typing`."""
    return getattr(origin, "_name", None) in {"Required", "NotRequired", "ReadOnly", "Final"}


def name_of(annotation: Any) -> str:
    """The type as its author would write it: `WeatherClient`, `list[Point]`."""
    if isinstance(annotation, type) and not get_args(annotation):
        return annotation.__qualname__.rpartition("<locals>.")[2]
    return repr(annotation).replace("typing.", "").replace("collections.abc.", "")
