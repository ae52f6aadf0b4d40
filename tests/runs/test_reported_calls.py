"""What users report of the calls of a turn: what reaches a handler, what a failure does to others, what comes back."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.runs.parts import Before, Gate, assert_consistent, no_task_is_left
from toolkit import Agent, ConfigurationError, RunContext, Tool, ToolCall, ToolError, ToolResult, tool
from toolkit.hooks import Allow, Deny
from toolkit.messages import ToolMessage
from toolkit.testing import ScriptedModel, call, calls, says

NOTHING = {"None": None, "null": "null", "no text": "", "blanks": " \n", "an object": "{}", "a dict": {}}
NO_OBJECT = {"a list": [], "a list in text": "[]", "a number": "3", "true": "true", "a text": '"x"'}


def greeting(kind: str, ran: list[str]) -> Any:
    def greet(name: str = "you") -> str:
        ran.append(name)
        return f"hello {name}"

    async def greet_later(name: str = "you") -> str:
        return greet(name)

    handler = greet_later if kind == "async" else greet
    return Tool.define(name="greet", description="Greet.", handler=handler, run_in_thread=kind == "thread")


async def greeted(kind: str, arguments: Any) -> tuple[Any, list[str]]:
    ran: list[str] = []
    model = ScriptedModel([calls(ToolCall("c1", "greet", arguments)), says("done")])
    run = await Agent(model, [greeting(kind, ran)]).run("go")
    assert_consistent(run)
    return run.calls[0], ran


@pytest.mark.parametrize("kind", ["async", "thread", "on the loop"])
@pytest.mark.parametrize("arguments", NOTHING.values(), ids=NOTHING)
async def test_no_arguments_in_any_form_are_no_arguments_to_any_kind_of_handler(arguments: Any, kind: str) -> None:
    record, ran = await greeted(kind, arguments)

    assert (record.result.content, ran) == ("hello you", ["you"])


@pytest.mark.parametrize("kind", ["async", "thread", "on the loop"])
@pytest.mark.parametrize("arguments", NO_OBJECT.values(), ids=NO_OBJECT)
async def test_what_is_no_object_reaches_no_kind_of_handler(arguments: Any, kind: str) -> None:
    record, ran = await greeted(kind, arguments)

    assert "must be a JSON object" in record.result.content
    assert (record.result.is_error, ran) == (True, [])


async def test_a_guard_is_shown_what_the_handler_gets_also_where_the_model_encoded_it_twice() -> None:
    shown: list[Any] = []
    got: list[Any] = []

    @tool
    async def add_up(values: list[int]) -> int:
        """Add numbers up."""
        got.append(values)
        return sum(values)

    guard = Before(lambda ctx, call: shown.append(call.arguments["values"]))
    model = ScriptedModel([calls(call("add_up", '{"values": "[1, 2, 3]"}')), says("6")])

    run = await Agent(model, [add_up], hooks=[guard]).run("go")

    assert shown == got == [[1, 2, 3]]
    assert run.calls[0].arguments == {"values": [1, 2, 3]}


# What one call does to another


@pytest.mark.parametrize(
    "failure",
    [ToolResult(None, "not found", is_error=True), ToolError("not found"), ValueError("not found")],
    ids=["an error result", "a tool error", "an exception"],
)
async def test_a_failing_call_cancels_none_of_its_siblings(failure: Any) -> None:
    failed = asyncio.Event()

    @tool
    async def fall() -> Any:
        """Fail."""
        failed.set()
        if isinstance(failure, Exception):
            raise failure
        return failure

    @tool
    async def work(n: int) -> int:
        """Work on after the failure."""
        await failed.wait()
        await asyncio.sleep(0)
        return n

    siblings = [call("work", {"n": n}) for n in range(6)]
    model = ScriptedModel([calls(*siblings[:3], call("fall"), *siblings[3:]), says("done")])

    run = await Agent(model, [fall, work]).run("go")

    assert [record.result.value for record in run.calls if record.name == "work"] == list(range(6))
    assert [record.result.is_error for record in run.calls] == [False] * 3 + [True] + [False] * 3
    await no_task_is_left()


async def test_an_approval_that_a_guard_waits_for_outlives_the_failure_of_a_sibling() -> None:
    asked = Gate()
    order: list[str] = []

    @tool
    async def fall() -> str:
        """Fail while the approval is asked for."""
        await asked.arrived.wait()
        order.append("failed")
        asked.open.set()
        raise ValueError

    class Refund(Tool):
        """Refund."""

        name = "refund"
        needs_approval = True

        async def handler(self) -> str:
            order.append("refunded")
            return "refunded"

    async def ask(ctx: RunContext, told: Any) -> Any:
        if told.name == "refund":
            await asked.pass_through()
            return Allow()
        return None

    model = ScriptedModel([calls(call("refund"), call("fall")), says("done")])

    run = await Agent(model, [fall, Refund], hooks=[Before(ask)]).run("go")

    assert order == ["failed", "refunded"]
    assert [record.result.content for record in run.calls] == ["refunded", "tool 'fall' failed: ValueError"]


class AtMost:
    """Denies further calls of a tool once it was called so often in the run."""

    def __init__(self, name: str, count: int) -> None:
        self.name, self.count = name, count

    def on_before_call(self, ctx: RunContext, call: Any) -> Any:
        if call.name != self.name:
            return None
        ctx.state[self.name] = made = ctx.state.get(self.name, 0) + 1
        return Deny(f"{self.name} may be called {self.count} times") if made > self.count else None


async def test_a_guard_may_limit_the_calls_of_one_tool_in_each_run_and_leave_the_others() -> None:
    ran: list[str] = []

    @tool
    async def search() -> str:
        """Search."""
        ran.append("search")
        return "found"

    @tool
    async def read() -> str:
        """Read."""
        ran.append("read")
        return "read"

    agent = Agent(tools=[search, read], hooks=[AtMost("search", 2)])
    for _ in range(2):
        wanted = [call("search"), call("read"), call("search"), call("search"), call("read")]
        run = await agent.run("go", model=ScriptedModel([calls(*wanted), says("done")]))

        assert [record.result.is_error for record in run.calls] == [False, False, False, True, False]
        assert run.calls[3].result.content == "search may be called 2 times"
    assert (ran.count("search"), ran.count("read")) == (4, 4)


# What comes back

RETURNED: dict[str, tuple[Any, str]] = {
    "nothing": (None, ""),
    "an empty text": ("", ""),
    "a result without content": (ToolResult(None), ""),
    "an exception without a text": (ValueError(), "tool 'act' failed: ValueError"),
    "a tool error without a text": (ToolError(""), ""),
    "no JSON": (object(), "tool 'act' returned a value that can't be written as JSON: object"),
}


@pytest.mark.parametrize(("returned", "content"), RETURNED.values(), ids=RETURNED)
async def test_whatever_a_handler_does_the_model_is_sent_a_text_under_the_calls_own_id(
    returned: Any, content: str
) -> None:
    @tool
    async def act() -> Any:
        """Act."""
        if isinstance(returned, Exception):
            raise returned
        return returned

    model = ScriptedModel([calls(call("act", id="one"), call("act", id="two")), says("done")])

    await Agent(model, [act]).run("go")

    sent = [message for message in model.requests[1].messages if isinstance(message, ToolMessage)]
    assert [(message.call_id, message.content) for message in sent] == [("one", content), ("two", content)]


async def test_two_services_that_name_a_tool_alike_are_told_apart_by_a_name_of_ones_own() -> None:
    class Github(Tool):
        """Create an issue on GitHub."""

        name = "create_issue"

        async def handler(self) -> str:
            return "github"

    class Linear(Github):
        """Create an issue on Linear."""

    class NamedLinear(Linear):
        """Create an issue on Linear."""

        name = "linear_create_issue"

    with pytest.raises(ConfigurationError, match=r"two tools are named 'create_issue'.*another name"):
        await Agent(ScriptedModel([says("never")]), [Github, Linear]).run("go")
    model = ScriptedModel([calls(call("create_issue"), call("linear_create_issue")), says("done")])
    run = await Agent(model, [Github, NamedLinear]).run("go")

    assert [definition.name for definition in model.requests[0].tools] == ["create_issue", "linear_create_issue"]
    assert [record.result.is_error for record in run.calls] == [False, False]
