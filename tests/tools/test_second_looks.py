"""Whether a tool, or its class, has the members that it had at the first look."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from toolkit import Tool
from toolkit.tools.members import look_at


class Mixin:
    """What several tools have in common."""


class Step(Mixin, Tool):
    """Take a step."""

    timeout = 5.0

    async def handler(self) -> str:
        return "stepped"


def fresh() -> type:
    """A class of tools with a parent of its own, which a test may change."""
    parent = type("Parent", (Mixin,), {})
    return type("Fresh", (parent, Step), {"__doc__": "Take a step."})


CHANGES: dict[str, Callable[[Any], None]] = {
    "a flag is set": lambda cls: setattr(cls, "needs_approval", True),
    "a guard is set": lambda cls: setattr(cls, "on_before_call", lambda self, ctx, call: None),
    "a guard is set on a parent": lambda cls: setattr(cls.__bases__[0], "on_before_call", lambda self, ctx, call: None),
    "a condition is set on a parent": lambda cls: setattr(cls.__bases__[0], "available_if", lambda ctx: False),
    "a handler is replaced on a parent": lambda cls: setattr(cls.__bases__[0], "handler", lambda self: ""),
    "a description is set": lambda cls: setattr(cls, "description", "Take another one."),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_of_a_class_shows_at_the_next_look(change: Callable[[Any], None]) -> None:
    cls = fresh()
    look = look_at(cls)
    assert look.finds_the_same()

    change(cls)

    assert not look.finds_the_same()
    assert look_at(cls).finds_the_same()


def test_a_member_that_was_taken_away_shows_at_the_next_look() -> None:
    cls: Any = type("Own", (), {"name": "own", "description": "Do it.", "handler": lambda self: "", "timeout": 5})
    look = look_at(cls)

    del cls.timeout

    assert not look.finds_the_same()


def test_a_parent_that_was_added_shows_at_the_next_look() -> None:
    class Approved:
        needs_approval = True

    cls: Any = type("Own", (Mixin,), {"name": "own", "description": "Do it.", "handler": lambda self: ""})
    look = look_at(cls)
    assert look.finds_the_same()

    cls.__bases__ = (Approved, Mixin)

    assert not look.finds_the_same()


@pytest.mark.parametrize(("member", "value"), [("needs_approval", True), ("on_before_call", lambda ctx, call: None)])
def test_a_change_of_an_instance_or_of_its_class_shows_at_the_next_look(member: str, value: Any) -> None:
    cls = fresh()
    for changed in (tool := cls(), cls):
        look = look_at(tool)
        assert look.finds_the_same()
        setattr(changed, member, value)
        assert not look.finds_the_same()
        delattr(changed, member)


def test_what_is_no_member_may_change() -> None:
    cls: Any = fresh()
    look = look_at(cls)

    cls.helper = lambda self: 1
    cls.__bases__[0].other = 2

    assert look.finds_the_same()
