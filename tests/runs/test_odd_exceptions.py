"""Exceptions whose text can't be made: the run ends as it would with any other."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from dependency_injector import containers

from tests.runs.parts import After, Before, add, assert_consistent, read
from toolkit import Agent, CleanupError, HookError, ModelError, RunError, Tool, ToolError, tool
from toolkit.events import RunFinished
from toolkit.injection import RunScoped, application, dep, provide
from toolkit.testing import ScriptedModel, call, calls, says


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__


class UnspeakableForModels(ToolError):
    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__


def fail(error: BaseException) -> Any:
    raise error


def script() -> ScriptedModel:
    return ScriptedModel([calls(call("add", {"a": 1, "b": 2})), says("done")])


@pytest.mark.parametrize(
    ("hook", "content"),
    [
        (Before(lambda ctx, call: fail(Unspeakable())), "blocked by a guard"),
        (Before(lambda ctx, call: fail(UnspeakableForModels())), "UnspeakableForModels"),
    ],
)
async def test_a_guard_that_raises_it_blocks_the_call(hook: Any, content: str) -> None:
    run = await Agent(script(), [add], hooks=[hook]).run("go")

    assert run.calls[0].result.content == content
    assert_consistent(run)


async def test_an_after_hook_or_a_model_that_raises_it_ends_the_run_properly() -> None:
    agents: list[tuple[Agent[str], type[RunError]]] = [
        (Agent(script(), [add], hooks=[After(lambda ctx, info: fail(Unspeakable()))]), HookError),
        (Agent(ScriptedModel([Unspeakable()]), [add]), ModelError),
    ]
    for agent, kind in agents:
        seen: list[Any] = []
        with pytest.raises(kind) as raised:
            await read(agent.stream("go"), seen)

        assert isinstance(seen[-1], RunFinished)
        assert raised.value.run.outcome == "failed"
        assert raised.value.run.messages.is_sealed


async def test_a_handler_that_raises_it_gives_the_model_its_class() -> None:
    @tool
    async def speak(which: int) -> str:
        """Speak."""
        raise (Unspeakable if which else UnspeakableForModels)()

    model = ScriptedModel([calls(call("speak", {"which": 0}), call("speak", {"which": 1})), says("done")])
    run = await Agent(model, [speak]).run("go")

    assert [record.result.content for record in run.calls] == [
        "UnspeakableForModels",
        "tool 'speak' failed: Unspeakable",
    ]


async def test_a_tool_without_a_text_can_be_listed() -> None:
    class Silent(Tool):
        """Say nothing."""

        name = "silent"

        def __repr__(self) -> str:
            raise RuntimeError("no text")

        async def handler(self) -> str:
            return "said"

    run = await Agent(ScriptedModel([calls(call("silent")), says("done")]), [Silent()]).run("go")

    assert run.calls[0].result.value == "said"


class Opened:
    pass


async def test_closing_that_raises_it_is_a_cleanup_error() -> None:
    async def opened() -> AsyncIterator[Opened]:
        yield Opened()
        raise Unspeakable

    class Holding(Tool):
        """Hold something open."""

        name = "hold"

        def __init__(self, opened: Opened) -> None:
            pass

        async def handler(self) -> str:
            return "held"

    class Container(containers.DeclarativeContainer):
        thing = RunScoped(opened)
        hold = provide(Holding, opened=dep(thing))
        agent = provide(Agent, model=ScriptedModel([calls(call("hold")), says("done")]), tools=[hold])

    async with application(Container()) as app:
        with pytest.raises(CleanupError) as raised:
            await app.agent().run("go")

    assert raised.value.run.outcome == "failed"
    assert raised.value.run.messages.is_sealed


@pytest.mark.parametrize("where", ["constructor", "opener"])
async def test_a_tool_error_of_building_is_told_to_the_model_as_it_is(where: str) -> None:
    async def opened() -> AsyncIterator[Opened]:
        if where == "opener":
            raise ToolError("the shop is closed")
        yield Opened()

    class Shop(Tool):
        """Buy."""

        name = "buy"

        def __init__(self, opened: Opened) -> None:
            raise ToolError("the shop is closed")

        async def handler(self) -> str:
            return "bought"

    class Container(containers.DeclarativeContainer):
        thing = RunScoped(opened)
        buy = provide(Shop, opened=dep(thing))
        agent = provide(Agent, model=ScriptedModel([calls(call("buy")), says("done")]), tools=[buy])

    async with application(Container()) as app:
        run = await app.agent().run("go")

    assert run.calls[0].result.content == "the shop is closed"
    assert run.calls[0].result.is_error
