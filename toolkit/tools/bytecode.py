"""What constructors set on an object, read from their instructions."""

from __future__ import annotations

import dataclasses
import dis
import inspect
import types
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, cast

from msgspec import UNSET

__all__ = ["attributes_set", "is_made_plainly", "stores"]

_CONSTRUCTORS = ("__init__", "__post_init__", "__attrs_pre_init__", "__attrs_post_init__")
_OF_ATTRIBUTES = ("__getattr__", "__getattribute__", "__setattr__")
_READS = ("LOAD_ATTR", "LOAD_METHOD")


def stores(constructor: Any, member: str) -> bool:
    """True when a constructor stores the attribute of its own object: `self.name = name`."""
    constructor = inspect.unwrap(constructor) if callable(constructor) else constructor
    if not isinstance(constructor, types.FunctionType):
        return False
    code = constructor.__code__
    return any(
        following.opname == "STORE_ATTR" and following.argval == member and _loaded(step)[-1:] == (_own(code),)
        for step, following in pairwise(_steps(code))
    )


def is_made_plainly(cls: type) -> bool:
    """Whether to call the class gives an object of the class itself: no `__new__` and no metaclass has a say in it."""
    call = inspect.getattr_static(cast("Any", type(cls)), "__call__")
    return call is vars(type)["__call__"] and all("__new__" not in vars(base) for base in _written(cls))


def attributes_set(cls: type) -> set[str] | None:
    """The names of the attributes that constructors set on an object of the class itself.

    None where others may be there: a constructor hands its object on, keeps it in a closure, or is no Python; or the
    class has a say in what an attribute is.
    """
    if not is_made_plainly(cls) or _decides(cls):
        return None
    reading = _Reading(cls)
    reading.found.update(_fields_of(cls))
    constructors = [
        vars(base)[name]
        for base in _written(cls)
        for name in _CONSTRUCTORS
        if name in vars(base) and not _is_generated(base, name)
    ]
    return reading.found if all(map(reading.is_clear, constructors)) else None


class _Reading:
    """Reads the constructors of a class, and the methods that they call.

    Attributes:
        found: The names of the attributes that they set.
    """

    def __init__(self, cls: type) -> None:
        self.found: set[str] = set()
        self._cls = cls
        self._read: set[types.CodeType] = set()

    def is_clear(self, function: Any) -> bool:
        """Whether a method does nothing with its object but to set and read attributes, and to call such methods."""
        if not isinstance(function, types.FunctionType):
            return False
        code = function.__code__
        if code in self._read:
            return True
        self._read.add(code)
        own = _own(code)
        if not code.co_argcount or own in code.co_cellvars:
            return False
        if not all(
            self._is_clear_step(step, following, own)
            for step, following in pairwise(_steps(code))
            if own in _variables(step)
        ):
            return False
        above = code.co_names if "super" in code.co_names else ()
        found = [vars(base).get(name) for base in self._cls.__mro__ for name in above]
        return all(self.is_clear(method) for method in found if isinstance(method, types.FunctionType))

    def _is_clear_step(self, step: dis.Instruction, following: dis.Instruction, own: str) -> bool:
        if own in _variables(step)[:-1]:
            return False
        if following.opname == "LOAD_SUPER_ATTR":
            return True
        if following.opname not in ("STORE_ATTR", *_READS):
            return False
        is_plain = _is_plain(self._cls, following.argval)
        there: Any = inspect.getattr_static(self._cls, following.argval, UNSET)
        if following.opname == "STORE_ATTR":
            self.found.add(following.argval)
            return is_plain or isinstance(there, types.FunctionType)
        return is_plain or isinstance(there, (staticmethod, classmethod)) or self.is_clear(there)


def _variables(step: dis.Instruction) -> tuple[str, ...]:
    """The variables that an instruction has to do with; newer Pythons have some with two."""
    if "_FAST" not in step.opname and "_DEREF" not in step.opname:
        return ()
    argument: Any = step.argval
    return cast("tuple[str, ...]", argument) if isinstance(argument, tuple) else (argument,)


def _loaded(step: dis.Instruction) -> tuple[str, ...]:
    """The variables that an instruction pushes, the last one on top."""
    if step.opname == "STORE_FAST_LOAD_FAST":
        return _variables(step)[1:]
    return _variables(step) if step.opname.startswith("LOAD") else ()


def _steps(code: types.CodeType) -> list[dis.Instruction]:
    return [step for step in dis.get_instructions(code) if step.opname not in ("CACHE", "EXTENDED_ARG")]


def _own(code: types.CodeType) -> str:
    return code.co_varnames[0] if code.co_varnames else ""


def _decides(cls: type) -> bool:
    """Whether the class has a say in what any attribute of its objects is."""
    return any(
        name in vars(base) and not _is_generated(base, name) for base in _written(cls) for name in _OF_ATTRIBUTES
    )


def _fields_of(cls: Any) -> set[str]:
    return {field.name for field in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else set()


def _is_generated(cls: type, name: str) -> bool:
    """Whether `@dataclass` has written the method: one that stores the fields, or keeps them from being changed."""
    method: Any = vars(cls)[name]
    is_text = isinstance(method, types.FunctionType) and method.__code__.co_filename == "<string>"
    return is_text and "__dataclass_params__" in vars(cls)


def _is_plain(cls: type, attribute: str) -> bool:
    """Whether an attribute is what was stored there: it is a slot, or nothing of the class, or a value."""
    there: Any = inspect.getattr_static(cls, attribute, UNSET)
    return isinstance(there, types.MemberDescriptorType) or not hasattr(cast("Any", type(there)), "__get__")


def _written(cls: type) -> Iterator[type]:
    """The class and those above it, but for `object`."""
    return (base for base in cls.__mro__ if base is not object)
