"""Proofs that a decoded value is all that its JSON text says: no repeated key was dropped, and nothing nests too deep.

They look at the characters of the text rather than at the value, which takes far longer to walk. What they can't prove
has to be looked at itself.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

__all__ = ["MAX_DEPTH", "SHORT", "has_no_repeated_key", "is_proved"]

MAX_DEPTH: Final = 200
"""Objects and arrays inside one another. Later steps recurse, and the validator itself ends at 255."""

SHORT: Final = 2 * MAX_DEPTH
"""Characters, with which nothing can be nested too deep: each level has a bracket at its start and one at its end."""

_COUNTED: Final = 300
"""Characters that are looked through, when counting, in the time that one `find` takes."""

_CONTAINERS: Final = frozenset((dict, list))
_ONLY_OBJECTS: Final = frozenset((dict,))
_DEEP: Final = "\n" + " " * MAX_DEPTH
_MOST_INDENTATION: Final = 32_000_000
"""Characters of indentation that a text may grow by, at worst."""

_PASSES: Final = 4
"""Over all brackets of a text, that it is worth to take out the innermost ones in."""

_NO_MARKS: Final = bytes(set(range(256)).difference(b':"[]{}'))
_SQUARE: Final = bytes.maketrans(b"{}", b"[]")

_encode = msgspec.json.Encoder().encode


def has_no_repeated_key(text: str, value: Any) -> bool:
    """Whether it is proved, by counting colons, that no key was dropped. False: look at the keys themselves.

    Every member of an object brings one colon, and strings may hold more. When the text has as many as the objects that
    are near have members, there is nothing else.
    """
    members = _near_members(value)
    return _colons(text, members + 1) == members or _has_as_many_colons(text, value)


def _near_members(value: Any) -> int:
    """The members of an object, of those among its members, and of those in lists that hold nothing else."""
    if value.__class__ is not dict:
        return 0
    members = len(value)
    for child in value.values():
        if child.__class__ is dict:
            members += len(child)
        elif child.__class__ is list and _ONLY_OBJECTS.issuperset(map(type, child)):
            members += sum(map(len, child))
    return members


def _colons(text: str, most: int) -> int:
    """How many there are, or `most` at least. In a long text to find a few costs far less than to count all."""
    if len(text) <= most * _COUNTED:
        return text.count(":")
    at = text.find(":")
    found = 0
    while at >= 0 and found < most:
        found += 1
        at = text.find(":", at + 1)
    return found


def _has_as_many_colons(text: str, value: Any) -> bool:
    """Whether the value, written again, has as many colons as its text: a dropped member took its own with it.

    Only a colon written as an escape (U+003A) could hide that, so such a text proves nothing.
    """
    if "\\" in text and "\\u003" in text:  # one character is found in a tenth of the time
        return False
    return text.count(":") == _encode(value).count(b":")


def is_proved(text: str, value: Any) -> bool:
    """Whether no key was dropped, and nothing lies more than `MAX_DEPTH` deep. False: look at all of it.

    Of a large text its colons, quotes and brackets are looked at, all of them at once. A quote that is written as an
    escape would pass for the end of a string.
    """
    if value.__class__ is dict and _CONTAINERS.isdisjoint(map(type, value.values())):
        return has_no_repeated_key(text, value)
    if "\\" in text:
        return has_no_repeated_key(text, value) and _is_shallow_as_laid_out(text, value)
    marks = text.encode().translate(_SQUARE, _NO_MARKS)
    quoted = marks.translate(None, b":")
    if len(marks) - len(quoted) != _near_members(value) and not _has_as_many_colons(text, value):
        return False
    brackets = quoted.translate(None, b'"')
    if len(brackets) + 2 * quoted.count(b'""') != len(quoted):  # a quote has no other one beside it
        brackets = _without_strings(quoted)
    return _is_shallow(brackets) or _is_shallow_as_laid_out(text, value)


def _without_strings(quoted: bytes) -> bytes:
    # Two quotes side by side may be of different strings. What lies in a string lies in one after they are gone, too.
    return b"".join(quoted.replace(b'""', b"").split(b'"')[::2])


def _is_shallow(brackets: bytes) -> bool:
    """False where it would take long, too: with much that is deep, a pass finds little."""
    most = _PASSES * len(brackets)
    for left in range(MAX_DEPTH, 0, -1):
        if len(brackets) <= 2 * left:
            return True
        most -= len(brackets)
        if most < 0:
            return False
        brackets = brackets.replace(b"[]", b"")  # the innermost
    return not brackets


def _is_shallow_as_laid_out(text: str, value: Any) -> bool:
    """The same of a text with escapes. Most have too few brackets to be deep.

    Of the others, msgspec writes each entry on a line of its own, indented by its depth, which takes a quarter of the
    time of looking at each. A raw line break stands in no string.
    """
    brackets = text.count("{") + text.count("[")
    if brackets <= MAX_DEPTH:
        return True
    if (brackets + text.count(",")) * MAX_DEPTH <= _MOST_INDENTATION and _DEEP not in msgspec.json.format(
        text, indent=1
    ):
        return True
    return _is_shallow_by_level(value)


def _is_shallow_by_level(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for parent in level
            for child in (parent.values() if parent.__class__ is dict else parent)
            if child.__class__ is dict or child.__class__ is list
        ]
        if not level:
            return True
    return False
