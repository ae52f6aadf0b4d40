"""Whether two tools of one class would be described alike, as those that are configured in a constructor often are.

A run builds such a tool to know its members, and another one in the next run, whose members are mostly the same. To see
that takes a fraction of what it takes to describe a tool.
"""

from __future__ import annotations

import functools
import inspect
import marshal
from collections.abc import Set
from types import FunctionType, MethodType
from typing import Any, cast
from weakref import ReferenceType, ref

from msgspec import Struct

from toolkit.tools.members import MEMBERS, attributes_of, read_members

__all__ = ["Likeness", "likeness_of"]


class Likeness(Struct, frozen=True):
    """What decides how a tool of a class is described.

    Attributes:
        written: What is plain data as it is, else its identity.
        named: Whose identities these are. None of them is kept alive, and while they live, nothing else has theirs.
    """

    written: bytes
    named: list[ReferenceType[Any]]

    def holds(self) -> bool:
        """Whether all that it names is there still."""
        return all(named() is not None for named in self.named)


def likeness_of(tool: Any, given: Set[type]) -> Likeness | None:
    """What two tools of one class share that are described alike, but for the objects in them.

    None where that can't be told, or where to keep it would keep alive what may have been made for one tool: a type as
    its own schema, a function as its own handler.

    Args:
        given: Types of which the run has a value.

    Raises:
        ConfigurationError: a member can't be read.
    """
    own = attributes_of(tool)
    told: list[Any] = [sorted(map(id, given))]
    named: list[Any] = [*given]
    for member, value in zip(MEMBERS, read_members(tool, _ABSENT), strict=True):
        if value.__class__ in _PLAIN or value is _ABSENT:
            told.append(value)
            continue
        kind, lasting = _told_of(tool, member, value, is_own=member in own)
        if kind is None:
            return None
        told.append([kind, id(lasting)])
        named.append(lasting)
    try:
        # marshal tells 1 from True and a list from a tuple, and refuses every subclass. That version of it writes no
        # references, so that what is equal is written alike.
        return Likeness(marshal.dumps(told, 2), [*map(ref, named)])
    except (TypeError, ValueError):  # something that is no plain data, or nests too deep
        return None


_ABSENT = ["absent"]  # no member is a list
_PLAIN = frozenset((str, int, float, bool, type(None), dict))
_PARAMETERS = {"available_if": 1, "on_before_call": 2, "on_after_call": 2}


_SCHEMAS = ("input_schema", "output_schema")
_SAYING_OTHERWISE = ("__signature__", "__wrapped__", "__code__")
"""By which an object looks to be called otherwise than its class says, as a mock does."""


def _told_of(tool: Any, member: str, value: Any, *, is_own: bool) -> tuple[str | None, Any]:
    """How a member that is no plain data decides, and by what, which is shared by all tools that have such a one."""
    if member in _SCHEMAS:  # a type, or an alias of one
        return (None, None) if is_own or isinstance(value, dict) else ("schema", value)
    if isinstance(value, type):
        return (None, None) if is_own else ("type", value)
    if isinstance(value, MethodType):
        function: Any = value.__func__
        kind = "method of the tool" if value.__self__ is tool else "method"
        return (kind, function) if type(function) is FunctionType else (None, None)
    if type(value) is FunctionType:
        if not is_own:
            return "function", value
        has_those_parameters = value.__code__.co_argcount == _PARAMETERS.get(member) and _has_no_others(value)
        return ("function with its parameters", value.__code__) if has_those_parameters else (None, None)
    called = vars(cast("type[Any]", type(value))).get("__call__")
    is_partial = isinstance(value, functools.partial)  # which takes what its function takes
    if type(called) is FunctionType and not is_partial and not any(hasattr(value, name) for name in _SAYING_OTHERWISE):
        return "object", called
    return (None, None) if is_own else ("object itself", value)


def _has_no_others(function: FunctionType) -> bool:
    code = function.__code__
    takes_any = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    return not code.co_kwonlyargcount and not takes_any and not hasattr(function, "__wrapped__")
