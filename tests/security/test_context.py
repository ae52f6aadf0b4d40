"""The application's live objects stay with it: `context` is in no event, JSON, `repr`, pickle or request."""

from __future__ import annotations

import json
import pickle
from typing import Any

import msgspec
import pytest

from tests.runs.parts import add, fail, read
from toolkit import Agent, RunContext, RunError, Tool, tool
from toolkit.cli.run_json import run_to_json
from toolkit.events import CustomEvent
from toolkit.hooks import Deny, Replace
from toolkit.messages import messages_to_json
from toolkit.testing import ScriptedModel, call, calls, says

SECRET = "key-of-acme"


class Account:
    """A live object of the application, which does not hide what it holds."""

    def __init__(self) -> None:
        self.key = SECRET

    def __repr__(self) -> str:
        return f"Account({self.key})"


class Watch:
    """Has every hook, and looks at the context in each."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.told: list[Any] = []

    def on_before_call(self, ctx: RunContext, call: Any) -> Any:
        self.seen.append(ctx.context.key)
        self.told.append((ctx, call))
        return Deny("not that") if call.arguments.get("a") == 13 else None

    def on_after_call(self, ctx: RunContext, info: Any) -> Any:
        self.seen.append(ctx.context.key)
        self.told.append((ctx, info))
        return Replace("replaced") if info.ok else None

    def on_before_model(self, ctx: RunContext, request: Any) -> None:
        self.seen.append(ctx.context.key)
        self.told.append((ctx, request))

    def on_after_model(self, ctx: RunContext, response: Any) -> None:
        self.seen.append(ctx.context.key)
        self.told.append((ctx, response))


class LedgerTool(Tool):
    """Write into the ledger."""

    name = "ledger"

    async def handler(self, ctx: RunContext) -> str:
        ctx.emit(CustomEvent("progress", "half"))
        return f"the account is open: {ctx.context.key == SECRET}"


@tool
async def leak(ctx: RunContext) -> Any:
    """Give the run's context back, by mistake."""
    return {"ctx": ctx}


def script() -> ScriptedModel:
    return ScriptedModel(
        [
            calls(
                call("ledger"),
                call("leak"),
                call("fail"),
                call("add", {"a": 13, "b": 1}),
                call("add", {"a": "x"}),
                call("nothing"),
            ),
            says("Done."),
        ]
    )


def agent_of(model: Any, watch: Watch) -> Agent[str]:
    def instructions(ctx: RunContext) -> str:
        assert ctx.context.key == SECRET
        return "Be kind."

    return Agent(model, tools=[LedgerTool, leak, fail, add], hooks=[watch], instructions=instructions)


async def test_context_is_in_no_event_request_json_or_repr_of_a_run() -> None:
    model, watch, events = script(), Watch(), []

    run = await read(agent_of(model, watch).stream("go", context=Account(), actor_id="ada"), events)

    assert len(watch.seen) > 8  # it was there for whoever may see it
    assert run.calls[0].result.content == "replaced"
    for text in (
        repr(events),
        repr(model.requests),
        repr((run, run.calls, run.invocation, run.messages, run.state)),
        repr(watch.told),
        json.dumps(run_to_json(run)),
        messages_to_json(run.messages),
    ):
        assert SECRET not in text
    assert SECRET.encode() not in pickle.dumps(run.invocation)
    assert SECRET.encode() not in pickle.dumps(run)


async def test_no_event_can_be_written_as_json_with_the_context_in_it() -> None:
    events: list[Any] = []
    await read(agent_of(script(), Watch()).stream("go", context=Account()), events)

    written: list[bytes] = []
    for event in events:
        try:
            written.append(msgspec.json.encode(event))
        except TypeError:  # it holds a run, or an exception, which no library writes by itself
            assert type(event).__name__ in ("RunFinished", "ToolCallFinished")

    assert len(written) > 5
    assert SECRET.encode() not in b"".join(written)


async def test_context_is_not_told_by_the_errors_that_end_a_run() -> None:
    class Broken(Watch):
        def on_after_model(self, ctx: RunContext, response: Any) -> None:
            raise LookupError(ctx.run.id)

    with pytest.raises(RunError) as raised:
        await agent_of(script(), Broken()).run("go", context=Account())

    assert SECRET not in str(raised.value)
    assert SECRET not in repr(raised.value.run)
    assert SECRET not in json.dumps(run_to_json(raised.value.run, raised.value))


async def test_metadata_is_saved_and_never_sent_to_a_model() -> None:
    model = script()

    run = await agent_of(model, Watch()).run("go", context=Account(), metadata={"trace": "t-1"}, actor_id="ada")

    assert "t-1" not in repr(model.requests)
    assert run_to_json(run)["metadata"] == {"trace": "t-1"}
