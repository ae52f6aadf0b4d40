"""Patterns in Python's `re`, where jsonschema-rs can't be installed: read as ECMA 262 has them, kept from hanging."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["may_explode", "python_pattern"]


def python_pattern(pattern: str) -> re.Pattern[str]:
    r"""The pattern for Python: `$` is the end, and not before a last line break; `\d` and `\w` are ASCII."""
    return re.compile("".join(r"\Z" if token == "$" else token for token in _tokens(pattern)), re.ASCII)


def may_explode(pattern: str) -> bool:
    """Whether a repeated group holds a repetition or alternatives: each character of a string may double the time.

    It errs on the safe side: `(-[a-z]+)*` is meant too, though it is harmless.
    """
    variable = [False]  # for every open group, whether something in it has more than one way to match
    closed = False  # whether the group that was just closed had
    for token in _tokens(pattern):
        if token in ("*", "+") or token.startswith("{"):
            if closed:
                return True
            variable[-1] = True
        if token == "|" or token == "?":
            variable[-1] = True
        closed = False
        if token.startswith("("):
            variable.append(False)
        elif token == ")" and len(variable) > 1:
            closed = variable.pop()
            variable[-1] = variable[-1] or closed
    return False


_token = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\?(?:[:=!]|<[=!]|P?<\w+>))?|\{\d+,?\d*\}|.", re.DOTALL)


def _tokens(pattern: str) -> Iterator[str]:
    """A pattern in its pieces: escapes, whole classes, the starts of groups, bounds, and single characters."""
    return (match.group() for match in _token.finditer(pattern))
