"""Who says whether a value is valid: `jsonschema-rs`, or `jsonschema` where the first can't be installed."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Protocol, cast
from urllib.parse import quote

from toolkit.tools.validation.patterns import python_pattern
from toolkit.tools.validation.subschemas import pointers_of

if TYPE_CHECKING:
    from jsonschema_rs import Validator as RustValidator

__all__ = ["MAX_MATCHED", "Judge", "PythonJudge", "RustJudge", "refuse_to_fetch", "rust_validator"]

MAX_MATCHED: Final = 1_000
"""Characters of a string that Python's `re`, which can take very long, is given. Only without jsonschema-rs."""

_DOCUMENT: Final = "urn:toolwire:schema"


class Judge(Protocol):
    """Answers yes or no. The words come from elsewhere, and ask it where Python would answer slowly or wrongly."""

    def meets(self, keyword: str, value: Any, instance: Any) -> bool:
        """Whether an instance meets one keyword alone: a `pattern`, `multipleOf`, `uniqueItems` or `enum`."""
        ...

    def of_subschema(self, schema: dict[str, Any]) -> Callable[[Any], bool] | None:
        """The quick answer for one part of the schema, so that only what is wrong is looked at; None: look at all."""
        ...


class RustJudge:
    """jsonschema-rs. It never blocks on a pattern, and is exact about decimals."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._schema = schema
        self._keywords: dict[tuple[str, int], Callable[[Any], bool]] = {}
        self._subschemas: dict[int, Callable[[Any], bool] | None] = {}
        self._pointers: dict[int, str] | None = None
        self._registry: Any = None

    def meets(self, keyword: str, value: Any, instance: Any) -> bool:
        key = (keyword, id(value))  # the value lives in the schema, and so does its id
        check = self._keywords.get(key)
        if check is None:
            check = self._keywords[key] = rust_validator({keyword: value}).is_valid
        return check(instance)

    def of_subschema(self, schema: dict[str, Any]) -> Callable[[Any], bool] | None:
        key = id(schema)
        if key not in self._subschemas:
            self._subschemas[key] = self._compile(key)
        return self._subschemas[key]

    def _compile(self, key: int) -> Callable[[Any], bool] | None:
        import jsonschema_rs

        if self._pointers is None:
            self._pointers = pointers_of(self._schema)
            self._registry = jsonschema_rs.Registry([(_DOCUMENT, self._schema)], retriever=refuse_to_fetch)
        pointer = self._pointers.get(key)
        if pointer is None:
            return None
        try:
            return rust_validator(
                {"$ref": f"{_DOCUMENT}#{quote(pointer, safe='/~')}"}, registry=self._registry
            ).is_valid
        except ValueError:  # it can't stand alone; then it is looked at in the slow way
            return None


def refuse_to_fetch(uri: str) -> Any:
    """The retriever of both libraries: whoever wrote a schema does not make this process open files or connections."""
    raise ValueError(f"{uri} is not followed")


def rust_validator(schema: dict[str, Any], registry: Any = None) -> RustValidator:
    """A validator of jsonschema-rs. `format` is an annotation in every dialect; its own default differs in draft 7."""
    import jsonschema_rs

    return jsonschema_rs.validator_for(schema, validate_formats=False, retriever=refuse_to_fetch, registry=registry)


class PythonJudge:
    """Python's own answers, made to agree with jsonschema-rs, for the places where that can't be installed."""

    def __init__(self) -> None:
        self._options: dict[int, frozenset[object]] = {}

    def meets(self, keyword: str, value: Any, instance: Any) -> bool:
        if keyword == "pattern":
            return len(instance) <= MAX_MATCHED and python_pattern(value).search(instance) is not None
        if keyword == "multipleOf":
            return (_fraction(instance) / _fraction(value)).denominator == 1
        if keyword == "uniqueItems":
            return len({_frozen(item) for item in instance}) == len(instance)
        options = self._options.get(id(value))
        if options is None:
            options = self._options[id(value)] = frozenset(map(_frozen, value))
        return _frozen(instance) in options

    def of_subschema(self, schema: dict[str, Any]) -> Callable[[Any], bool] | None:
        return None


def _fraction(number: float) -> Fraction:
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


def _frozen(value: Any) -> object:
    """Something that is equal for values that JSON Schema calls equal: 1 and 1.0 are, 1 and true are not."""
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return frozenset((key, _frozen(child)) for key, child in members.items())
    if isinstance(value, list):
        return tuple(map(_frozen, cast("list[object]", value)))
    return (bool, value) if isinstance(value, bool) else value
