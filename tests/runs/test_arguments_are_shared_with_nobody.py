"""What a handler does to its arguments, however they are typed, shows neither in the record nor in the transcript."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, NotRequired

import msgspec
import pytest
from typing_extensions import TypedDict

from toolkit import Agent, RunContext, Tool
from toolkit.testing import ScriptedModel, call, calls, says


class Item(TypedDict):
    id: int
    tags: list[str]
    more: NotRequired[dict[str, list[int]]]


class LooseItem(TypedDict):
    id: int
    tags: Any


@dataclass
class Order:
    id: int
    lines: list[dict[str, int]]
    notes: dict[str, Any] = field(default_factory=dict)


class Parcel(msgspec.Struct):
    id: int
    tags: list


SENT: dict[Any, Any] = {
    list[Item]: [{"id": 1, "tags": ["a"], "more": {"x": [1]}}],
    list[LooseItem]: [{"id": 1, "tags": ["a"]}],
    list[dict[str, Any]]: [{"id": 1, "tags": ["a"]}],
    dict[str, list[str]]: {"a": ["b"]},
    Sequence[list[int]]: [[1], [2]],
    Mapping[str, Any]: {"a": ["b"]},
    Annotated[list[list[int]], msgspec.Meta(min_length=1)]: [[1], [2]],
    Order: {"id": 1, "lines": [{"a": 1}], "notes": {"b": ["c"]}},
    Parcel: {"id": 1, "tags": [["a"]]},
    Any: {"a": ["b"]},
}
"""By type, a value that holds lists and objects."""


def spoil(value: Any) -> None:
    """Empties every list and dict in a value."""
    if isinstance(value, dict):
        for each in value.values():
            spoil(each)
        value.clear()
    elif isinstance(value, list):
        for each in value:
            spoil(each)
        value.clear()
    elif hasattr(value, "__slots__") or hasattr(value, "__dict__"):
        for name in ("lines", "notes", "tags"):
            spoil(getattr(value, name, None))


def spoiler(annotation: Any, has_count: bool) -> Tool:
    """A tool whose handler spoils what it gets; with a number beside it, which msgspec has to read."""

    async def handler(value: Any, count: Any = 0) -> str:
        spoil(value)
        return "spoilt"

    handler.__annotations__ = {"value": annotation, "count": int if has_count else str, "return": str}
    return Tool.define(name="spoil", description="Spoil.", handler=handler)


@pytest.mark.parametrize("has_count", [True, False], ids=["beside a number", "alone"])
@pytest.mark.parametrize("annotation", SENT, ids=str)
async def test_a_handler_that_empties_its_arguments_changes_no_record(annotation: Any, has_count: bool) -> None:
    sent = {"value": SENT[annotation], "count": 1} if has_count else {"value": SENT[annotation]}
    model = ScriptedModel([calls(call("spoil", json.dumps(sent))), says("done")])

    run = await Agent(model, tools=[spoiler(annotation, has_count)]).run("Spoil it.")

    assert run.calls[0].result.content == "spoilt"
    assert run.calls[0].arguments == sent


async def test_a_handler_that_empties_what_its_context_shows_changes_no_record() -> None:
    async def handler(value: list[Item], ctx: RunContext) -> str:
        assert ctx.call is not None
        shown = json.dumps(ctx.call.arguments)
        spoil(ctx.call.arguments)
        return shown + json.dumps(value)

    sent = {"value": SENT[list[Item]]}
    model = ScriptedModel([calls(call("spoil", json.dumps(sent))), says("done")])

    run = await Agent(model, tools=[Tool.define(name="spoil", description="Spoil.", handler=handler)]).run("Spoil it.")

    assert run.calls[0].result.content == json.dumps(sent) + json.dumps(sent["value"])
    assert run.calls[0].arguments == sent
