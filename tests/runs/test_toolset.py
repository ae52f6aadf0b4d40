"""Which tools a run offers: listed, given by others, available or not; and what is kept from run to run."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any

import pytest
from msgspec import Meta

from tests.runs.parts import add, echo
from toolkit import Agent, ConfigurationError, DeadlineExceeded, Inject, RunContext, RunError, Tool
from toolkit.hooks import Deny
from toolkit.testing import ScriptedModel, call, calls, says


class Clock:
    pass


class ForAdmins(Tool):
    """Delete everything."""

    name = "delete_all"
    built: list[str] = []  # noqa: RUF012 - of the test that uses it

    def __init__(self) -> None:
        type(self).built.append("built")

    @staticmethod
    def available_if(ctx: RunContext) -> bool:
        return ctx.invocation.actor_id == "admin"

    async def handler(self) -> str:
        return "deleted"


async def test_a_tool_that_is_not_available_is_hidden_and_unknown_and_not_built() -> None:
    agent = Agent(tools=[ForAdmins, echo])
    models = [ScriptedModel([calls(call("delete_all")), says("done")]) for _ in range(3)]

    runs = [await agent.run("go", model=models[at], actor_id=actor) for at, actor in enumerate(["u", "admin", "u"])]

    assert [[d.name for d in model.requests[0].tools] for model in models] == [
        ["echo"],
        ["delete_all", "echo"],
        ["echo"],
    ]
    assert [run.calls[0].result.content for run in runs] == [
        "unknown tool 'delete_all'; the tools are echo",
        "deleted",
        "unknown tool 'delete_all'; the tools are echo",
    ]
    assert ForAdmins.built == ["built"]


async def test_available_if_may_be_async_and_take_what_is_injected_and_is_asked_once_for_each_run() -> None:
    asked: list[Any] = []

    class Timed(Tool):
        """Tell the time."""

        name = "now"

        @classmethod
        async def available_if(cls, ctx: RunContext, clock: Annotated[Clock, Inject()]) -> bool:
            asked.append(clock)
            return True

        async def handler(self) -> str:
            return "noon"

    clock = Clock()
    model = ScriptedModel([calls(call("now")), calls(call("now")), says("noon")])

    await Agent(model, tools=[Timed]).run("go", values={Clock: clock})

    assert asked == [clock]


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
async def test_an_available_if_that_raises_fails_the_run_before_the_model_is_asked(is_async: bool) -> None:
    cause = OSError("secret-7")

    def fail(ctx: RunContext) -> bool:
        raise cause

    async def fail_later(ctx: RunContext) -> bool:
        raise cause

    class Broken(Tool):
        """Break."""

        name = "broken"
        available_if = staticmethod(fail_later if is_async else fail)

        async def handler(self) -> str:
            return "never"

    model = ScriptedModel([])

    with pytest.raises(RunError, match="available_if of tool 'broken' failed with OSError") as caught:
        await Agent(model, tools=[Broken]).run("go")

    assert caught.value.__cause__ is cause
    assert caught.value.run.outcome == "failed"
    assert model.requests == []


class Kit:
    def __init__(self, given: Any) -> None:
        self.given = given

    def tools(self, ctx: RunContext) -> Any:
        if isinstance(self.given, BaseException):
            raise self.given
        return self.given


async def test_objects_with_tools_may_give_such_objects() -> None:
    model = ScriptedModel([says("hello")])

    await Agent(model, tools=[Kit([add, Kit([echo]), Kit(())])]).run("go")

    assert [definition.name for definition in model.requests[0].tools] == ["add", "echo"]


class GivingItself:
    def tools(self, ctx: RunContext) -> Iterator[Any]:
        yield self


class GivingItsClass:
    def tools(self, ctx: RunContext) -> list[Any]:
        return [GivingItsClass]


class GivingAnother:
    def tools(self, ctx: RunContext) -> list[Any]:
        return [add, GivingAnother()]


@pytest.mark.parametrize("listed", [GivingItself(), GivingItsClass, GivingAnother(), GivingAnother])
async def test_objects_with_tools_that_give_one_another_without_end_are_told(listed: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"tools\(ctx\) of Giving\w+ is asked by way of 32 others.*by itself"):
        await Agent(ScriptedModel([]), tools=[listed]).run("go")


class Yielding:
    def tools(self, ctx: RunContext) -> Iterator[Any]:
        yield add
        yield echo


class YieldingLater:
    async def tools(self, ctx: RunContext) -> AsyncIterator[Any]:
        yield add
        yield echo


@pytest.mark.parametrize(
    "giving",
    [Kit((add, echo)), Kit({1: add, 2: echo}.values()), Yielding(), YieldingLater()],
    ids=["tuple", "values of a dict", "generator", "async generator"],
)
async def test_tools_may_be_given_by_anything_that_can_be_iterated(giving: Any) -> None:
    model = ScriptedModel([says("hello")])

    await Agent(model, tools=[giving]).run("go")

    assert [definition.name for definition in model.requests[0].tools] == ["add", "echo"]


def failing_late() -> Iterator[Any]:
    yield add
    raise OSError("secret-7")


@pytest.mark.parametrize(
    ("given", "kind", "text"),
    [
        (failing_late(), RunError, r"tools\(ctx\) of Kit failed with OSError"),
        ("add", ConfigurationError, r"tools\(ctx\) of Kit gave str; it gives a list of tools"),
        (OSError("secret-7"), RunError, r"tools\(ctx\) of Kit failed with OSError"),
        (None, ConfigurationError, r"tools\(ctx\) of Kit gave NoneType; it gives a list of tools"),
        ([5], ConfigurationError, "is no tool"),
        (asyncio.CancelledError(), RunError, r"tools\(ctx\) of Kit failed with CancelledError"),
    ],
    ids=["raises when it is iterated", "a text", "raises", "nothing", "no tools", "raises a cancellation of its own"],
)
async def test_an_object_with_tools_that_gives_none_fails_the_run(given: Any, kind: Any, text: str) -> None:
    model = ScriptedModel([])

    with pytest.raises(kind, match=text):
        await Agent(model, tools=[Kit(given)]).run("go")

    assert model.requests == []


async def test_a_tools_function_that_resists_its_cancellation_does_not_let_the_run_start() -> None:
    class Deaf:
        async def tools(self, ctx: RunContext) -> Any:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                return [add]

    model = ScriptedModel([])

    with pytest.raises(DeadlineExceeded):
        await Agent(model, tools=[Deaf()]).run("go", timeout=0.01)

    assert model.requests == []


class Fresh(Tool):
    """Made for one run."""

    name = "fresh"

    async def handler(self) -> str:
        return "fresh"


async def test_tools_that_are_made_for_each_run_are_not_kept_for_ever() -> None:
    agent = Agent()
    made: list[weakref.ref[Any]] = []

    for _ in range(200):
        fresh = Fresh()
        made.append(weakref.ref(fresh))
        await agent.run("go", model=ScriptedModel([calls(call("fresh")), says("done")]), tools=[fresh])
    del fresh
    gc.collect()

    assert sum(ref() is not None for ref in made) < 100


async def test_an_agent_keeps_nothing_of_the_runs_it_made() -> None:
    agent = Agent(ScriptedModel([calls(call("add", {"a": 1, "b": 2})), says("3")] * 3), tools=[add])

    class Context:
        pass

    refs: list[weakref.ref[Any]] = []
    for _ in range(3):
        context = Context()
        refs.append(weakref.ref(context))
        await agent.run("go", context=context)
    del context
    gc.collect()

    assert [ref() for ref in refs] == [None] * 3


class Changing(Tool):
    """Take a step."""

    name = "act"

    def __init__(self) -> None:
        self.hooks_asked = 0

    async def handler(self, n: int = 0) -> str:
        return "acted"


def _changing(kind: str) -> tuple[Any, Any]:
    """What is listed, and what a test changes."""
    cls = type("FreshChanging", (Changing,), {"__doc__": "Take a step."})
    if kind == "class":
        return cls, cls
    instance = cls()
    return instance, instance if kind == "instance" else cls


async def _second_run_after(listed: Any, change: Any, *, arguments: Any = None) -> Any:
    agent = Agent(tools=[listed])
    await agent.run("go", model=ScriptedModel([calls(call("act")), says("done")]))
    change()
    model = ScriptedModel([calls(call("act", arguments)), says("done")])
    return (await agent.run("go", model=model)).calls[0], model


@pytest.mark.parametrize("kind", ["class", "instance", "class of an instance"])
async def test_a_flag_that_is_set_after_a_run_holds_in_the_next(kind: str) -> None:
    listed, changed = _changing(kind)

    record, _ = await _second_run_after(listed, lambda: setattr(changed, "needs_approval", True))

    assert "needs an approval" in record.result.content


async def test_a_guard_that_a_class_gets_after_a_run_is_asked_in_the_next() -> None:
    listed, changed = _changing("class")

    record, _ = await _second_run_after(
        listed, lambda: setattr(changed, "on_before_call", lambda self, ctx, call: Deny("closed"))
    )

    assert record.result.content == "closed"


async def test_a_tool_that_became_unavailable_is_unknown() -> None:
    listed, changed = _changing("class")

    record, model = await _second_run_after(
        listed, lambda: setattr(changed, "available_if", staticmethod(lambda ctx: False))
    )

    assert "unknown tool" in record.result.content
    assert model.requests[1].tools == ()


async def test_a_description_that_has_changed_is_told_once_the_tool_was_called() -> None:
    listed, changed = _changing("class")

    _, model = await _second_run_after(listed, lambda: setattr(changed, "description", "Take another step."))

    assert model.requests[1].tools[0].description == "Take another step."


async def test_the_new_schema_of_a_handler_is_what_its_arguments_have_to_meet() -> None:
    listed, changed = _changing("class")

    async def handler(self: Any, n: Annotated[int, Meta(le=5)]) -> str:
        return "stepped"

    record, _ = await _second_run_after(listed, lambda: setattr(changed, "handler", handler), arguments={"n": 9})

    assert "$.n" in record.result.content
