"""The words in which a model is told why a value is no instance of its type, whichever library found out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolkit.tools.violations import printable

__all__ = [
    "BASE64",
    "DATE",
    "DATETIME",
    "DECIMAL",
    "DURATION",
    "INTEGER",
    "NUMBER",
    "OUT_OF_RANGE",
    "TEXT",
    "TIME",
    "UUID",
    "of_a_key",
    "of_the_value",
]

DATE = "is not a date such as 2024-05-31"
DATETIME = "is not a date and time such as 2024-05-31T14:30:00Z"
TIME = "is not a time such as 14:30:00"
DURATION = "is not a duration of days, hours, minutes and seconds such as P1DT2H30M"
UUID = "is not a UUID"
DECIMAL = "is not a decimal number"
BASE64 = "is not base64 text"
INTEGER = "is not an integer"
NUMBER = "is not a number"
TEXT = "is not text that can be written as UTF-8"
OUT_OF_RANGE = "is out of range"


_MAX_VALUE = 100
_OF_VALUES = frozenset({DATE, DATETIME, TIME, DURATION, UUID, DECIMAL, BASE64, INTEGER, NUMBER, OUT_OF_RANGE})


def of_the_value(value: Any, steps: Iterable[str | int], message: str) -> str:
    """The message with the value that it speaks of before it, as a schema's refusals have: `'zz' is not a UUID`.

    Args:
        value: The whole, in which the steps lead to what was refused.
    """
    if message not in _OF_VALUES:
        return message
    try:
        for step in steps:
            value = value[step]
        return f"{printable(repr(value), _MAX_VALUE)} {message}"
    except (LookupError, TypeError, ValueError):  # it is not there, or an integer too long to be written
        return message


def of_a_key(key: str, message: str) -> str:
    """The message about an object's key, for the object's path."""
    return f"its key {key!r} {message}"
