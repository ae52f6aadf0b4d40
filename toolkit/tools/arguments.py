"""What a model sent as arguments, as a dict of JSON values: nothing repaired, nothing guessed, nothing dropped.

msgspec reads the text. It refuses what is not JSON, `NaN`, overflow, lone surrogates and huge integers, and takes the
last of repeated keys silently; their absence is proved (`tools/proofs.py`). Only a text that was refused, or where the
proof fails, is read a second time, by the standard library, whose errors say where they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from math import isfinite, isnan
from typing import Any, Final, cast

import msgspec

from toolkit.tools.proofs import MAX_DEPTH, SHORT, has_no_repeated_key, is_proved
from toolkit.tools.violations import InvalidArguments, json_path, printable

__all__ = [
    "MAX_DEPTH",
    "UNREADABLE",
    "decode",
    "parse_arguments",
    "parse_json",
    "prove",
    "refuse_non_json",
]

UNREADABLE: Final = (msgspec.DecodeError, UnicodeEncodeError, RecursionError)
"""What `decode` raises."""

decode: Final = msgspec.json.Decoder().decode
"""A JSON text, with the last of repeated keys and whatever depth: only the beginning of reading it."""

_MAX_DIGITS: Final = 4_300
"""Of an integer: Python's own limit for reading and writing one, so a longer one would fail in every later step."""

_PLENTY: Final = 2**63
_HUGE: Final = 10**_MAX_DIGITS


def parse_arguments(raw: str | bytes | dict[str, Any] | None) -> dict[str, Any]:
    r"""The arguments of a tool call. Blank text, `null` and None are `{}`.

    A dict must hold JSON values all through (dict, list, str, int, float, bool, None); it is returned as it is, neither
    copied nor changed.

    Raises:
        InvalidArguments: the text is not JSON or not an object; it holds `NaN`, an infinity (also by overflow), an
            integer of over 4,300 digits, a repeated key, a lone surrogate, a raw line break in a string (it is
            written `\n`), or is nested more than 200 deep. Its text is short, and for the model.

    Example:
        >>> parse_arguments('{"city": "Oslo"}')
        {'city': 'Oslo'}
    """
    match raw:
        case None | "":
            return {}
        case str() | bytes():
            pass
        case dict():
            refuse_non_json(raw)
            return raw
        case _:  # pyright: ignore[reportUnnecessaryComparison]  # a provider may send a list
            raise InvalidArguments(f"the arguments must be a JSON object, not {_kind(raw)}")
    try:
        value: Any = parse_json(raw)
    except InvalidArguments:
        if not raw.strip():
            return {}
        raise
    if value.__class__ is dict:
        arguments: dict[str, Any] = value
        return arguments
    if value is None:
        return {}
    raise InvalidArguments(f"the arguments must be a JSON object, not {_kind(value)}")


def parse_json(text: str | bytes) -> Any:
    """A JSON value of any type, read as strictly as arguments are. Raises `InvalidArguments`."""
    match text:
        case str():
            pass
        case bytes():
            try:
                text = text.decode()
            except UnicodeDecodeError as error:
                raise InvalidArguments(f"the arguments are not UTF-8 text: byte {error.start} is wrong") from None
    try:
        value = decode(text)
    except UNREADABLE:
        return _read_slowly(text)
    return prove(text, value)


def prove(text: str, value: Any) -> Any:
    """The value that was decoded of a text, if it is all that the text says. Raises `InvalidArguments`."""
    if has_no_repeated_key(text, value) if len(text) <= SHORT else is_proved(text, value):
        return value
    return _read_slowly(text)


class _Fault:
    """Stands in a value where something is that JSON, or this toolkit, does not have."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.steps: list[str | int] = []
        """The keys and indices that lead to it, the innermost first."""


def refuse_non_json(value: object) -> None:
    """Raises `InvalidArguments`, with the path, when a value holds what JSON has not."""
    try:
        fault = _fault_in(value, 1)
    except RecursionError:  # the caller's own stack is deep already
        raise InvalidArguments(_TOO_DEEP) from None
    if fault is not None:
        raise InvalidArguments(f"{printable(json_path(reversed(fault.steps)), 300)}: {fault.text}")


def _read_slowly(text: str) -> Any:
    """The value after all, if the proofs above only failed to prove; else `InvalidArguments`, saying what and where."""
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer, parse_float=_float
        )
        refuse_non_json(value)
    except json.JSONDecodeError as error:
        raise InvalidArguments(_syntax_fault(text, error)) from None
    except RecursionError:
        raise InvalidArguments(_TOO_DEEP) from None
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                members[key] = _Fault(f"the key {printable(repr(key), 60)} is repeated")
            seen.add(key)
    return members


def _constant(name: str) -> _Fault:
    return _Fault(f"{name} is not JSON")


def _integer(digits: str) -> int | _Fault:
    if len(digits.lstrip("-")) > _MAX_DIGITS:
        return _Fault(_TOO_LONG)
    return int(digits)


def _float(number: str) -> float | _Fault:
    value = float(number)
    if not isfinite(value):
        return _Fault(f"the number {printable(number, 40)} is too large (it overflows to infinity)")
    return value


_TOO_DEEP = f"the arguments are nested too deep: at most {MAX_DEPTH} objects and arrays may lie inside one another"
_TOO_LONG = f"the integer has more than {_MAX_DIGITS:,} digits"


def _fault_in(value: object, depth: int) -> _Fault | None:
    """The first thing in a value that is no JSON. Its path is put together on the way back, so JSON pays for none."""
    children: Iterable[tuple[str | int, object]]
    if isinstance(value, dict):
        members = cast("dict[str, object]", value)
        fault = next(filter(None, map(_fault_of_key, members)), None)
        if fault is not None:
            return fault
        children = members.items()
    elif isinstance(value, list):
        children = enumerate(cast("list[object]", value))
    else:
        return _fault_of_scalar(value)
    if depth > MAX_DEPTH:
        raise InvalidArguments(_TOO_DEEP)
    for step, child in children:
        if not _is_plain(child):
            fault = _fault_in(child, depth + 1)
            if fault is not None:
                fault.steps.append(step)
                return fault
    return None


def _fault_of_key(key: object) -> _Fault | None:
    if not isinstance(key, str):
        return _Fault(f"a key is of type {printable(type(key).__name__, 60)}, not a string")
    if not _is_text(key):
        return _Fault(f"the key {printable(repr(key), 60)} holds a lone surrogate, which is no character")
    return None


def _fault_of_scalar(value: object) -> _Fault | None:
    kind = value.__class__
    if _is_plain(value):
        return None
    if kind is str:
        is_text = _is_text(cast("str", value))
        return None if is_text else _Fault("the string holds a lone surrogate, which is no character")
    if kind is int:
        return None if -_HUGE < cast("int", value) < _HUGE else _Fault(_TOO_LONG)
    if kind is float:
        return None if isfinite(cast("float", value)) else _Fault(f"{_name_of(cast('float', value))} is not JSON")
    if isinstance(value, _Fault):
        return value
    return _Fault(f"a value of type {printable(kind.__name__, 60)} is not JSON")


def _name_of(value: float) -> str:
    return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _is_plain(value: object) -> bool:
    """Whether a value is seen at once to be JSON, so that most of them cost no path and no generator."""
    kind = value.__class__
    if kind is str:
        return cast("str", value).isascii()
    if kind is int:
        return -_PLENTY < cast("int", value) < _PLENTY
    return kind is bool or value is None


def _is_text(value: str) -> bool:
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _syntax_fault(text: str, error: json.JSONDecodeError) -> str:
    where = f"line {error.lineno}, column {error.colno} (character {error.pos})"
    if _is_cut_off(text, error):
        return f"the arguments are not JSON: the text seems cut off after {len(text)} characters ({error.msg}: {where})"
    nearby = printable(repr(text[max(0, error.pos - 20) : error.pos + 20]), 120)
    hint = _hint(text, error.pos)
    return f"the arguments are not JSON: {error.msg}: {where}, near {nearby}{'; ' + hint if hint else ''}"


def _is_cut_off(text: str, error: json.JSONDecodeError) -> bool:
    """Whether the error is that the text ends: inside a string, a number or a literal, or before the next token."""
    if error.msg.startswith("Unterminated string"):
        return True
    rest = text[error.pos : error.pos + 10].rstrip()  # the longest unfinished token is a literal
    if rest in ("-", ".", "e", "E", "e-", "e+", "E-", "E+") or any(
        x.startswith(rest) for x in ("true", "false", "null")
    ):
        return True
    return error.msg.startswith("Invalid \\uXXXX escape") and len(rest) <= 5 and '"' not in rest


def _hint(text: str, position: int) -> str:
    """What a model most likely did; it is told, and nothing is mended."""
    before, found = text[max(0, position - 20) : position].rstrip(), text[position : position + 1]
    if text.startswith("\ufeff"):
        return "leave out the byte order mark (U+FEFF) at its start"
    if text.lstrip().startswith("```"):
        return "send the JSON alone, without a Markdown fence"
    if found == "'":
        return "strings and keys stand in double quotes"
    if found in ("\n", "\r", "\t"):
        return "inside a string a line break is written \\n and a tab \\t"
    if (before[-1:] == "," and found in ("}", "]")) or found == ",":
        return "a comma stands only between two entries"
    return ""


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, str):
        return "a string; send the object itself, not JSON inside a string"
    if isinstance(value, (int, float)):
        return "a number"
    return "an array" if isinstance(value, list) else printable(f"a value of type {type(value).__name__}", 80)
