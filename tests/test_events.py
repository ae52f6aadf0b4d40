"""The events of a run as JSON, for a browser."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from toolkit import Agent, Limits, RunContext, RunError, ToolError, ToolResult, tool
from toolkit.events import CustomEvent, ToolCallStarted, event_to_json
from toolkit.messages import ToolCall
from toolkit.models import ModelRequest, ModelResponse
from toolkit.testing import ScriptedModel, call, calls, says


class Row(BaseModel):
    pounds: float


@dataclass
class Place:
    path: Path
    row: Row


@tool
def look_up(city: str, ctx: RunContext) -> ToolResult:
    """Look a city up."""
    ctx.emit(CustomEvent("progress", Place(Path("a/b"), Row(pounds=1.5))))
    return ToolResult(value={"internal": "never-shown"}, content=f"light rain in {city}")


@tool
def crash() -> str:
    """Crash."""
    raise LookupError("secret of the developer")


@tool
def refuse() -> str:
    """Refuse."""
    raise ToolError("there is no such city")


async def told(model: Any, **options: Any) -> list[dict[str, Any]]:
    """The events of a run, as a browser would read them; also of one that fails."""
    lines: list[str] = []
    async with Agent(model, tools=[look_up, crash, refuse], **options).stream(
        "Go", context={"token": "tok-123"}, actor_id="customer-7", metadata={"note": "note-123"}
    ) as stream:
        try:
            async for event in stream:
                lines.append(event_to_json(event))
        except RunError:
            pass
    whole = "\n".join(lines)
    # None is hexadecimal: the id of a run is, and may well have an "ada" in it.
    for hidden in ("tok-123", "secret of the developer", "never-shown", "note-123", "customer-7"):
        assert hidden not in whole
    assert len(whole.splitlines()) == len(lines)
    events: list[dict[str, Any]] = [json.loads(line) for line in lines]
    assert {event["run_id"] for event in events} == {stream.run.id}
    return events


async def test_every_event_of_a_run_is_written_with_its_type_and_its_own_members() -> None:
    model = ScriptedModel([calls(call("look_up", {"city": "Oslo"}, id="c1")), says("Rain.")])

    events = await told(model)

    duration = events[4]["record"].pop("duration")
    assert duration >= 0
    assert [{**event, "run_id": ""} for event in events] == [
        {"type": "RunStarted", "run_id": ""},
        {"type": "TurnStarted", "run_id": "", "turn": 1},
        {
            "type": "ToolCallStarted",
            "run_id": "",
            "call": {"id": "c1", "name": "look_up", "arguments": {"city": "Oslo"}},
        },
        {"type": "CustomEvent", "run_id": "", "name": "progress", "data": {"path": "a/b", "row": {"pounds": 1.5}}},
        {
            "type": "ToolCallFinished",
            "run_id": "",
            "record": {
                "id": "c1",
                "name": "look_up",
                "arguments": {"city": "Oslo"},
                "content": "light rain in Oslo",
                "is_error": False,
            },
        },
        {"type": "TurnFinished", "run_id": "", "turn": 1},
        {"type": "TurnStarted", "run_id": "", "turn": 2},
        {"type": "TextDelta", "run_id": "", "text": "Rain."},
        {"type": "TurnFinished", "run_id": "", "turn": 2},
        {
            "type": "RunFinished",
            "run_id": "",
            "run": {
                "outcome": "completed",
                "response": "Rain.",
                "turns": 2,
                "usage": {"input_tokens": 0, "output_tokens": 0, "cached_tokens": 0, "reasoning_tokens": 0},
            },
        },
    ]


async def test_a_call_that_fails_is_written_as_the_model_reads_it() -> None:
    events = await told(ScriptedModel([calls(call("crash"), call("refuse")), says("Sorry.")]))

    records = [event["record"] for event in events if event["type"] == "ToolCallFinished"]
    assert {record["name"]: (record["is_error"], record["content"]) for record in records} == {
        "crash": (True, "tool 'crash' failed: LookupError"),
        "refuse": (True, "there is no such city"),
    }


class BrokenModel:
    async def respond(self, request: ModelRequest) -> ModelResponse:
        raise OSError("secret of the developer")


async def test_a_run_that_fails_ends_with_its_outcome() -> None:
    events = await told(BrokenModel())

    assert (events[-1]["type"], events[-1]["run"]["outcome"]) == ("RunFinished", "failed")


async def test_a_run_that_reaches_a_limit_ends_with_its_outcome() -> None:
    events = await told(ScriptedModel([calls(call("refuse"))]), limits=Limits(max_turns=1))

    assert events[-1]["run"]["outcome"] == "partial"


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ('{"city": "Oslo"}', {"city": "Oslo"}),
        ({"city": "Oslo"}, {"city": "Oslo"}),
        (" ", {}),
        ('{"city": ', '{"city": '),
        ("[1]", "[1]"),
        ('{"a": NaN}', '{"a": NaN}'),
    ],
    ids=repr,
)
def test_arguments_are_an_object_also_where_a_provider_sent_text(sent: Any, shown: Any) -> None:
    event = ToolCallStarted("r1", ToolCall("c1", "look_up", sent))

    assert json.loads(event_to_json(event))["call"]["arguments"] == shown


def endless() -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    arguments["city"] = arguments
    return arguments


@pytest.mark.parametrize("arguments", [endless(), {"city": object()}], ids=["endless", "an object"])
async def test_refused_arguments_that_have_no_json_do_not_stop_a_stream(arguments: dict[str, Any]) -> None:
    agent = Agent(ScriptedModel([calls(ToolCall("c1", "look_up", arguments)), says("I can't.")]), tools=[look_up])

    async with agent.stream("Oslo?") as stream:
        lines = [json.loads(event_to_json(event)) async for event in stream]

    [finished] = [line["record"] for line in lines if line["type"] == "ToolCallFinished"]
    assert (finished["arguments"], finished["is_error"]) == ({}, True)
    assert stream.run.response == "I can't."


def test_half_a_character_does_not_stop_a_stream() -> None:
    assert json.loads(event_to_json(CustomEvent("note", "a\ud83d", "r1")))["data"] == "a\ufffd"


@pytest.mark.parametrize("data", [object(), {"error": LookupError("secret of the developer")}], ids=["object", "error"])
def test_what_has_no_json_is_an_error_that_names_the_event_and_the_type(data: Any) -> None:
    with pytest.raises(
        TypeError, match=r"CustomEvent 'note' can't be written as JSON: it holds '(object|LookupError)'"
    ):
        event_to_json(CustomEvent("note", data, "r1"))
