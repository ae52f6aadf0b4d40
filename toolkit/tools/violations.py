"""How arguments break their schema: where (a JSONPath) and in which way, and the text that the model reads."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable

from msgspec import Struct

from toolkit.errors import escaped

__all__ = [
    "MAX_TEXT",
    "MAX_VIOLATIONS",
    "InvalidArguments",
    "Violation",
    "child_path",
    "json_path",
    "printable",
    "text_of",
]

MAX_TEXT = 2_000
"""Characters of the text of all violations together."""

MAX_VIOLATIONS = 50
"""Listed for one value. As many hardly find room in the text, and an array may hold thousands."""

_MAX_MESSAGE = 300
_is_name = re.compile(r"[^\W\d]\w*\Z").match


class Violation(Struct, frozen=True):
    """One way in which a value breaks its schema. `path` is a JSONPath such as `$.days[0]`."""

    path: str
    message: str


class InvalidArguments(ValueError):
    """Arguments that must not reach a handler. The text is for the model: what is wrong, and where."""


def text_of(violations: Iterable[Violation]) -> str:
    """`$.city: is required; $.days[0]: 11 is greater than the maximum of 10`, under 2,000 characters.

    A long message (one that repeats a big value or a long enum) is cut; violations that find no room are counted.
    """
    violations = list(violations)
    parts: list[str] = []
    room = MAX_TEXT - 40  # for the count of those left out
    left_out = 0
    for violation in violations:
        part = f"{printable(violation.path, _MAX_MESSAGE)}: {printable(violation.message, _MAX_MESSAGE)}"
        if left_out or len(part) + 2 > room:
            left_out += 1
            continue
        parts.append(part)
        room -= len(part) + 2
    if left_out:
        parts.append(f"and {'at least ' if len(violations) >= MAX_VIOLATIONS else ''}{left_out} more")
    return "; ".join(parts)


def child_path(path: str, child: str | int) -> str:
    """The JSONPath (RFC 9535) of a member or an item: `$.city`, `$.days[0]`, `$['x-y']`."""
    if isinstance(child, int):
        return f"{path}[{child}]"
    if _is_name(child):
        return f"{path}.{child}"
    quoted = json.dumps(child, ensure_ascii=False)[1:-1].replace('\\"', '"').replace("'", "\\'")
    return f"{path}['{quoted}']"


def json_path(steps: Iterable[str | int], start: str = "$") -> str:
    """The JSONPath of what the keys and indices lead to from `start`: `$.days[0]`."""
    return functools.reduce(child_path, steps, start)


def printable(text: str, limit: int) -> str:
    """The text cut in the middle to `limit` characters, and then with control characters and the like as escapes."""
    if len(text) > limit:
        half = (limit - 3) // 2
        text = f"{text[:half]}...{text[-half:]}"
    return escaped(text)
