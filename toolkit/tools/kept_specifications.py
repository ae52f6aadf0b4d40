"""Specifications of tools and of classes of tools: made once, kept, and made anew where a member has changed."""

from __future__ import annotations

import contextlib
from collections.abc import Set
from typing import Any, cast

from msgspec import UNSET
from msgspec.structs import replace

from toolkit.errors import ConfigurationError
from toolkit.messages import ToolDefinition
from toolkit.tools.bounded_store import BoundedStore
from toolkit.tools.declaration import check_declared, specification_by
from toolkit.tools.handlers import types_taken
from toolkit.tools.likeness import Likeness, likeness_of
from toolkit.tools.members import (
    MEMBERS,
    ClassMembers,
    Look,
    Members,
    ObjectMembers,
    attributes_of,
    changed_members,
    differs_per_instance,
    has_constructor,
    look_at,
    own_members,
    read_member,
    read_members,
    undeclared,
)
from toolkit.tools.parameters import label_of
from toolkit.tools.specification import ToolSpecification

__all__ = ["check_class", "check_instance", "definition", "keep_specification", "specify", "specify_class"]

_KEPT = "__toolwire_specification__"
_ALIKE = "__toolwire_described_alike__"
_NOTHING: frozenset[type] = frozenset()
_MEMBERS = frozenset(MEMBERS)


def definition(tool: Any) -> ToolDefinition:
    """What a model is shown of a tool, a class of tools, or a function made by `@tool`.

    Raises:
        ConfigurationError: a member is missing or wrong; or it is a class whose instances differ, so that one has to
            be built first.
    """
    if not isinstance(tool, type):
        return specify(tool).definition
    specification = check_class(tool)
    if specification is None:
        raise ConfigurationError(
            f"the members of {label_of(tool)} are set per instance, so the class alone can't be described; build one, "
            f"and have that described"
        )
    return specification.definition


def check_class(cls: type) -> ToolSpecification | None:
    """As `specify_class`, for a class that is known to be meant as a tool: what it lacks is an error at once."""
    check_declared(cls)
    return specify_class(cls)


def specify_class(cls: type, given: Set[type] = frozenset()) -> ToolSpecification | None:
    """The specification of a class of tools; None when its instances may differ and one has to be built first.

    Args:
        given: Types of which the run has a value: a parameter of the handler with such a type is filled with that, and
            is not in the schema.

    Raises:
        ConfigurationError: a member is wrong.
    """
    # Kept on the class, so that it goes when the class goes; and with a look at its members, which a test may replace.
    taken = _taken(ClassMembers(cls), given, label_of(cls))
    kept: tuple[Look, dict[frozenset[type], ToolSpecification | None]] | None = vars(cls).get(_KEPT)
    if kept is None or not kept[0].finds_the_same():
        read_members(cls)  # what can't be read is named
        kept = (look_at(cls), {})
        with contextlib.suppress(TypeError):  # a builtin class takes no attributes
            type.__setattr__(cls, _KEPT, kept)
    elif taken in kept[1]:
        return kept[1][taken]
    if not has_constructor(cls):
        check_declared(cls)
    members = ClassMembers(cls)
    made = None
    if not differs_per_instance(cls):
        made = replace(specification_by(members, label_of(cls), cls, given=taken), look=kept[0])
    kept[1][taken] = made
    return made


def specify(tool: Any, given: Set[type] = frozenset()) -> ToolSpecification:
    """The specification of a tool that is there. It is the class's where the object has no members of its own.

    Args:
        given: As for `specify_class`.

    Raises:
        ConfigurationError: it is no tool, or a member is wrong.
    """
    own: dict[str, Any] = attributes_of(tool)
    cls = cast("type[Any]", type(tool))
    kept: dict[frozenset[type], ToolSpecification] | None = own.get(_KEPT)
    if kept is not None:
        taken = _taken(ObjectMembers(tool), given, label_of(tool))
        if taken not in kept:
            kept[taken] = _of_object(tool, taken)
        return kept[taken]
    if own.keys().isdisjoint(MEMBERS) and not undeclared(cls):
        of_class = specify_class(cls, given)
        if of_class is not None:
            return of_class
    likeness = likeness_of(tool, given)
    if likeness is None:
        return _of_object(tool, given)
    described = _described_alike(cls)
    found: tuple[ToolSpecification, Likeness] | Any = described.get(likeness.written)
    if found is not UNSET and found[1].holds():
        return replace(found[0], own=own_members(tool), available_if=read_member(tool, "available_if"))
    made = _of_object(tool, given)
    shared = replace(made, own={}, available_if=None)  # without what may be the tool's own
    described.put(likeness.written, (shared, likeness), _size_of(likeness))
    return made


def _of_object(tool: Any, given: Set[type]) -> ToolSpecification:
    cls = cast("type[Any]", type(tool))
    label = label_of(tool) if callable(tool) else label_of(cls)
    members = ObjectMembers(tool)
    return specification_by(members, label, cls, own_members(tool), _taken(members, given, label))


def _size_of(likeness: Likeness) -> int:
    """What a specification takes, roughly: measured were 6 KB, and 77 for a schema of 2.4."""
    return 4_000 + 30 * len(likeness.written)


def _described_alike(cls: type) -> BoundedStore[tuple[ToolSpecification, Likeness]]:
    """What is known of the tools of a class. It goes when the class goes."""
    described: BoundedStore[tuple[ToolSpecification, Likeness]] | None = vars(cls).get(_ALIKE)
    if described is None:
        described = BoundedStore()
        with contextlib.suppress(TypeError):  # a builtin class takes no attributes
            type.__setattr__(cls, _ALIKE, described)
    return described


def keep_specification(tool: Any) -> None:
    """Works out the specification of a tool that can't change, and keeps it on the tool.

    Raises:
        ConfigurationError: a member is wrong.
    """
    tool.__dict__[_KEPT] = {_NOTHING: _of_object(tool, _NOTHING)}


def _taken(members: Members, given: Set[type], label: str) -> frozenset[type]:
    return types_taken(members.get("handler"), given, label) if given else _NOTHING


def check_instance(specification: ToolSpecification, tool: Any) -> None:
    """Raises `ConfigurationError` when a tool that was built has other members than it was described by.

    A flag or guard that it set where its class does not show it (in a helper method, by `setattr`) would be passed
    over else, and the handler would run.
    """
    own: dict[str, Any] = getattr(tool, "__dict__", {})
    if type(tool) is specification.described and not specification.own and _MEMBERS.isdisjoint(own):
        return
    if _KEPT in own:  # a function tool, which can't change
        return
    for member in changed_members(tool, specification.described, specification.own):
        raise ConfigurationError(
            f"{specification.label} has another '{member}' than it was described with, since {label_of(type(tool))} "
            f"sets it where the class does not show that; annotate it in the class ({member}: ...), or set it in the "
            f"constructor by self.{member} = ..."
        )
