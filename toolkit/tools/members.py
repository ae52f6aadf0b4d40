"""Reading a tool's members, from an object that is there or from a class before any instance is."""

from __future__ import annotations

import dataclasses
import dis
import functools
import inspect
import itertools
import operator
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, cast

from msgspec import UNSET, Struct

from toolkit.errors import ConfigurationError
from toolkit.tools.parameters import label_of
from toolkit.tools.protocol import DEFAULTS, OPTIONAL_MEMBERS, REQUIRED_MEMBERS

__all__ = [
    "MEMBERS",
    "ClassMembers",
    "Look",
    "Members",
    "ObjectMembers",
    "annotated_names",
    "attributes_of",
    "changed_members",
    "differs_per_instance",
    "gives_tools",
    "has_constructor",
    "look_at",
    "own_members",
    "read_member",
    "read_members",
    "undeclared",
]

MEMBERS = (*REQUIRED_MEMBERS, *OPTIONAL_MEMBERS)


def read_member(target: Any, member: str, default: Any = None) -> Any:
    """An attribute of a tool or a class of tools.

    Raises:
        ConfigurationError: it is a property, or the like, that raises something else than AttributeError.
    """
    try:
        return getattr(target, member, default)
    except Exception as error:
        owner = label_of(target if isinstance(target, type) else type(target))
        raise ConfigurationError(f"reading '{member}' of {owner} failed: {type(error).__name__}: {error}") from error


def read_members(target: Any, default: Any = None) -> list[Any]:
    """All members of a tool or a class of tools, in the order of `MEMBERS`. Raises as `read_member` does."""
    try:
        return _each(MEMBERS, target, default)
    except Exception:  # noqa: BLE001 - it is read once more, to tell which one
        return [read_member(target, member, default) for member in MEMBERS]


def gives_tools(target: Any) -> bool:
    """True for what has `tools(ctx)` and is no tool itself: an object that gives tools, or a class of such objects."""
    return callable(read_member(target, "tools")) and not callable(read_member(target, "handler"))


def attributes_of(tool: Any) -> dict[str, Any]:
    """What an object has itself: its `__dict__`, and nothing where it has slots."""
    found: dict[str, Any] = read_member(tool, "__dict__", {})
    return found


class Look(Struct, frozen=True, eq=False):
    """A look at a tool, or at a class of tools, that is taken again for each call: so it takes no step of Python's.

    Attributes:
        read: Reads the members that there were.
        found: What they were.
        absent: The other members.
        are_free_of: Of the names that a class has itself, and of those of each class above it: whether they are free
            of others.
    """

    source: Any
    read: Callable[[Any], Any]
    found: Any
    absent: tuple[str, ...]
    are_free_of: tuple[Callable[[Iterable[str]], bool], ...]

    def finds_the_same(self) -> bool:
        """Whether no member was set, replaced or taken away since."""
        try:
            is_same = bool(self.read(self.source) == self.found)
        except Exception:  # noqa: BLE001 - one is gone, or can't be read any more: it is named when it is read again
            return False
        for is_free_of in self.are_free_of:
            is_same = is_same and is_free_of(self.absent)
        return is_same


def look_at(source: Any) -> Look:
    """The first look. Only of a class is it known where a member would stand; of an object each is tried."""
    present = [member for member in MEMBERS if hasattr(source, member)] if isinstance(source, type) else []
    if not present:
        read = functools.partial(_each, MEMBERS)
        return Look(source, read, read(source), (), ())
    absent = tuple(member for member in MEMBERS if member not in present)
    names = (vars(parent).keys() for parent in source.__mro__ if parent is not object)
    of_class = operator.attrgetter("__mro__", *present)  # its parents may change, too
    return Look(source, of_class, of_class(source), absent, tuple(keys.isdisjoint for keys in names))


def _each(members: Sequence[str], source: Any, default: Any = None) -> list[Any]:
    return [*map(getattr, itertools.repeat(source), members, itertools.repeat(default))]


class Members(Protocol):
    """One way to look at a tool."""

    def get(self, member: str, default: Any = None) -> Any:
        """The member as an instance shows it: a method without `self`."""
        ...

    def needs_instance(self, member: str) -> bool:
        """Whether it is a method of instances, and neither static nor a class method."""
        ...


class ObjectMembers:
    """The members of a tool that is there."""

    def __init__(self, tool: Any) -> None:
        self._tool = tool

    def get(self, member: str, default: Any = None) -> Any:
        return read_member(self._tool, member, default)

    def needs_instance(self, member: str) -> bool:
        return getattr(self.get(member), "__self__", None) is self._tool


class ClassMembers:
    """The members of a class of tools."""

    def __init__(self, cls: type) -> None:
        self._cls = cls

    def get(self, member: str, default: Any = None) -> Any:
        found = inspect.getattr_static(self._cls, member, default)
        if self.needs_instance(member):
            return cast("Any", type(found)).__get__(found, self._cls, self._cls)  # the class stands in for an instance
        return read_member(self._cls, member, default)

    def needs_instance(self, member: str) -> bool:
        found: Any = inspect.getattr_static(self._cls, member, None)
        if isinstance(found, (staticmethod, classmethod, types.MethodType, type)):
            return False
        return hasattr(cast("Any", type(found)), "__get__")


def differs_per_instance(cls: type) -> bool:
    """Whether an instance may have other members than its class, so that one has to be built to know them."""
    return any(_is_set_per_instance(cls, member) for member in MEMBERS) or any(
        inspect.getattr_static(cls, member, UNSET) is UNSET for member in REQUIRED_MEMBERS
    )


def undeclared(cls: type) -> list[str]:
    """The required members that neither the class has, nor, as far as can be seen, its instances."""
    return [
        member
        for member in REQUIRED_MEMBERS
        if inspect.getattr_static(cls, member, UNSET) is UNSET and not _is_set_per_instance(cls, member)
    ]


def has_constructor(cls: type) -> bool:
    """Whether the class, or a class above it, has a constructor of its own, which may set what can't be seen."""
    return any(isinstance(vars(base).get(name), types.FunctionType) for base in cls.__mro__ for name in _CONSTRUCTORS)


def annotated_names(cls: type) -> set[str]:
    """The names that the body of a class annotates. Nothing is evaluated."""
    if sys.version_info >= (3, 14):
        import annotationlib

        return set(annotationlib.get_annotations(cls, format=annotationlib.Format.FORWARDREF))
    annotations = vars(cls).get("__annotations__")
    # The builtin classes have a descriptor there.
    return set(cast("dict[str, Any]", annotations)) if isinstance(annotations, dict) else set()


def own_members(tool: Any) -> dict[str, Any]:
    """The members that an object has itself, and not by its class."""
    return {member: value for member, value in attributes_of(tool).items() if member in MEMBERS}


def changed_members(tool: Any, described: type | None, described_own: dict[str, Any]) -> Iterator[str]:
    """The members in which a tool differs from what it was described by.

    Args:
        described: The class that it was described by; that of the tool may be one below, which keeps its guards.
        described_own: What the described object had itself.
    """
    cls = cast("type[Any]", type(tool))
    own = own_members(tool)
    for member in MEMBERS:
        if member in own or member in described_own:
            expected = described_own.get(member, _of_class(described, member))
            found = own.get(member, _of_class(cls, member))
        elif cls is not described and member in _GUARDS:
            expected, found = _of_class(described, member), _of_class(cls, member)
        else:
            continue
        if member in _HOOKS:  # the tool's own is asked, whichever that is
            expected, found = expected is None, found is None
        if found is not expected and found != expected:
            yield member


_HOOKS = ("on_before_call", "on_after_call")
_GUARDS = (*_HOOKS, "needs_approval")


def _of_class(cls: type | None, member: str) -> Any:
    return read_member(cls, member, DEFAULTS.get(member))


_CONSTRUCTORS = ("__init__", "__new__", "__post_init__", "__attrs_post_init__")


def _is_set_per_instance(cls: type, member: str) -> bool:
    found: Any = inspect.getattr_static(cls, member, UNSET)
    above = cls.__mro__
    if isinstance(found, functools.cached_property) or inspect.isdatadescriptor(found):  # a property, a slot
        return True
    if dataclasses.is_dataclass(cls) and any(field.name == member for field in dataclasses.fields(cls)):
        return True
    if found is UNSET:
        said = (member in annotated_names(base) for base in above if "__init_subclass__" not in vars(base))  # not Tool
        if any(said) or inspect.getattr_static(cast("Any", cls), "__getattr__", None) is not None:
            return True
    return any(_stores(vars(base).get(name), member) for base in above for name in _CONSTRUCTORS)


def _stores(constructor: Any, member: str) -> bool:
    """True when a constructor stores the attribute of its own object: `self.name = name`."""
    constructor = inspect.unwrap(constructor) if callable(constructor) else constructor
    if not isinstance(constructor, types.FunctionType) or not constructor.__code__.co_varnames:
        return False
    own = constructor.__code__.co_varnames[0]
    loaded: Any = None
    for step in dis.get_instructions(constructor):
        if step.opname == "STORE_ATTR" and step.argval == member and _last(loaded) == own:
            return True
        if step.opname != "CACHE":
            loaded = step.argval
    return False


def _last(loaded: Any) -> Any:
    """What was pushed last; newer Pythons push two variables in one instruction."""
    return cast("tuple[Any, ...]", loaded)[-1] if isinstance(loaded, tuple) else loaded
