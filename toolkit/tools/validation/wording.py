"""What is wrong with a value, in words and with paths, out of the errors of `jsonschema`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, cast

from toolkit.tools.violations import MAX_VIOLATIONS, Violation, json_path, printable

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

__all__ = ["Found", "in_document_order", "own_words_of_rust", "worded"]

Found = tuple[tuple[str | int, ...], str]
"""Where, as the steps of a path, and what."""

_MAX_VALUE: Final = 100
_NOTHING: Final = "no value is allowed here"
_MAX_NEAREST: Final = 3
_KINDS: Final = ("type", "enum", "const", None)  # None is the schema `false`


def worded(error: ValidationError) -> Iterator[Found]:
    """The violations that one error stands for; a failed `anyOf` or `oneOf` has those of the branch that was meant."""
    keyword = cast("str | None", error.validator)
    if keyword in ("anyOf", "oneOf") and error.context:
        yield from _of_branches(error)
    elif keyword is None:  # the schema `false`
        yield tuple(error.absolute_path), _NOTHING
    else:
        yield tuple(error.absolute_path), _short(error)


def in_document_order(found: list[Found], value: Any) -> list[Violation]:
    """Sorted by where in the value they stand; what is missing comes after what is there."""
    ranks: dict[int, dict[str, int]] = {}

    def position(steps: tuple[str | int, ...]) -> tuple[int, ...]:
        ranked: list[int] = []
        here: object = value
        for step in steps:
            if isinstance(here, dict):
                members = cast("dict[str, object]", here)
                order = ranks.get(id(members))
                if order is None:
                    order = ranks[id(members)] = {name: rank for rank, name in enumerate(members)}
                ranked.append(order.get(str(step), len(order)))
                here = members.get(str(step))
            elif isinstance(here, list) and isinstance(step, int) and step < len(cast("list[object]", here)):
                ranked.append(step)
                here = cast("list[object]", here)[step]
            else:
                ranked.append(0)
        return tuple(ranked)

    ordered = sorted(dict.fromkeys(found), key=lambda each: position(each[0]))
    return [Violation(json_path(steps), message) for steps, message in ordered[:MAX_VIOLATIONS]]


def own_words_of_rust(validator: Any, value: Any, *, only_first: bool) -> list[Found]:
    """The texts of jsonschema-rs itself. It collects all its errors before it gives one; `only_first` stops there."""
    if not only_first:
        return [(tuple(error.instance_path), error.message) for error in validator.iter_errors(value)]
    try:
        validator.validate(value)
    except ValueError as error:
        return [(tuple(getattr(error, "instance_path", ())), getattr(error, "message", str(error)))]
    return []


def _short(error: ValidationError) -> str:
    """jsonschema's message, with a long value in front of it cut, so that the reason behind it is not."""
    message = error.message
    if len(message) > 2 * _MAX_VALUE:
        value = repr(cast("object", error.instance))
        if len(value) > _MAX_VALUE and message.startswith(value):
            message = printable(value, _MAX_VALUE) + message[len(value) :]
    return message


def _of_branches(error: ValidationError) -> Iterator[Found]:
    branches: dict[Any, list[ValidationError]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.relative_schema_path[0], []).append(inner)
    farness = {branch: max(map(_farness, errors)) for branch, errors in branches.items()}
    least = min(farness.values())
    meant = [errors for branch, errors in branches.items() if farness[branch] == least]
    if len(meant) == 1:
        for inner in meant[0]:
            yield from worded(inner)
        return
    deciding = [next(inner for inner in errors if _farness(inner) == least) for errors in meant]
    if least and len({tuple(inner.absolute_path) for inner in deciding}) == 1:
        expected = dict.fromkeys(expected for inner in deciding for expected in _expected(inner))
        value = printable(repr(cast("object", deciding[0].instance)), _MAX_VALUE)
        told = f"{value} is not {' or '.join(expected)}" if expected else _NOTHING
        yield tuple(deciding[0].absolute_path), told
        return
    nearest = [found for inner in min(meant, key=len) for found in worded(inner)][:_MAX_NEAREST]
    reasons = "; ".join(f"{json_path(steps)}: {message}" for steps, message in nearest)
    value = printable(repr(cast("object", error.instance)), _MAX_VALUE)
    yield (
        tuple(error.absolute_path),
        f"{value} is not valid under any of the {len(branches)} given schemas; of the nearest one, {reasons}",
    )


def _farness(error: ValidationError) -> int:
    """How surely an error says that its branch was not meant: 2, the value is of another kind; 1, its tag differs."""
    if error.validator in _KINDS:
        depth = len(error.relative_path)
        return 2 if depth == 0 else 1 if depth == 1 and error.validator in ("const", "enum") else 0
    return 0


def _expected(error: ValidationError) -> list[str]:
    value: Any = error.validator_value
    if error.validator == "const":
        return [printable(repr(value), _MAX_VALUE)]
    if error.validator == "enum":
        return [printable(repr(option), _MAX_VALUE) for option in value[:20]]
    if error.validator == "type":
        return [f"of type {name!r}" for name in ([value] if isinstance(value, str) else value)]
    return []
