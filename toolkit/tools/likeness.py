"""Whether two tools of one class would be described alike, as those that are configured in a constructor often are.

A run builds such a tool to know its members, and another one in the next run, whose members are mostly the same. To see
that takes a fraction of what it takes to describe a tool.
"""

from __future__ import annotations

import inspect
from collections.abc import Set
from types import FunctionType, MethodType
from typing import Any, cast

import msgspec
from msgspec import Struct

from toolkit.tools.members import MEMBERS, attributes_of, read_members

__all__ = ["Likeness", "likeness_of"]


class Likeness(Struct, frozen=True):
    """What decides how a tool of a class is described.

    Attributes:
        written: As JSON: what is plain data as it is, else its identity.
        held: Whose identities these are. While they live, nothing else has them.
    """

    written: bytes
    held: list[Any]


def likeness_of(tool: Any, given: Set[type]) -> Likeness | None:
    """What two tools of one class share that are described alike.

    None where that can't be told, or where to keep it would keep alive what may belong to one run: a function or an
    object that the tool has itself.

    Args:
        given: Types of which the run has a value.

    Raises:
        ConfigurationError: a member can't be read.
    """
    own = attributes_of(tool)
    held: list[Any] = [*given]
    told: list[Any] = [sorted(map(id, given))]
    for member, value in zip(MEMBERS, read_members(tool, _ABSENT), strict=True):
        if value.__class__ not in _PLAIN and value is not _ABSENT:
            kind = _kind_of(tool, member, value, is_own=member in own)
            if kind is None:
                return None
            lasting = value.__func__ if isinstance(value, MethodType) else value
            held.append(lasting)
            told.append([kind, id(lasting)])
        else:
            told.append(value)
    try:
        written = msgspec.json.encode(told)
        is_plain = msgspec.json.decode(written) == told  # a tuple, a set or a date would be written, too
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return None
    return Likeness(written, held) if is_plain else None


_ABSENT = ["absent"]  # no member is a list
_PLAIN = frozenset((str, int, float, bool, type(None), dict))


def _kind_of(tool: Any, member: str, value: Any, *, is_own: bool) -> str | None:
    """How a member that is no plain data belongs to the tool; None where it may be another one for each tool."""
    if isinstance(value, type):
        return "type"
    if is_own:
        return None
    cls = cast("type[Any]", type(tool))
    if isinstance(value, MethodType) and type(value.__func__) is FunctionType:
        return "method" if value.__self__ is tool or value.__self__ is cls else None
    of_class = inspect.getattr_static(cls, member, None)
    if isinstance(of_class, staticmethod):
        of_class = of_class.__func__
    return "of the class" if of_class is value else None
