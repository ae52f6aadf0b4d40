"""Scenarios of docs/scenarios.md that touch the lifetimes of objects and that no other test shows."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextvars import ContextVar
from typing import Any
from unittest.mock import Mock

import pytest
from dependency_injector import containers, providers

from tests.injection.parts import Connection, Echo, UsesConnection, answers, asking
from tests.runs.parts import After, Before
from toolkit import Agent, CleanupError, ConfigurationError, Tool
from toolkit.injection import RunScoped, application, dep, overriding, provide
from toolkit.testing import ScriptedModel, says

# A child process that belongs to a run

Process = asyncio.subprocess.Process


async def child(started: list[Process]) -> AsyncIterator[Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "input()", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL
    )
    started.append(process)
    try:
        yield process
    finally:
        process.kill()
        await process.wait()


async def neighbour(process: Process, how: str) -> AsyncIterator[str]:
    if how == "opening":
        raise OSError("it could not be opened")
    yield "neighbour"
    if how == "closing":
        raise OSError("it could not be closed")


class UsesChild(Tool):
    """Use the child process."""

    name = "use"

    def __init__(self, process: Process, neighbour: str, used: asyncio.Event, how: str) -> None:
        self.process = process
        self.used = used
        self.how = how

    async def handler(self) -> str:
        assert self.process.returncode is None
        self.used.set()
        if self.how == "cancelled":
            await asyncio.Event().wait()
        return "used"


@pytest.mark.parametrize("how", ["success", "opening", "closing", "cancelled"])
async def test_a_child_process_of_a_run_is_gone_however_the_run_ends(how: str) -> None:
    started: list[Process] = []
    used = asyncio.Event()

    class Application(containers.DeclarativeContainer):
        process = RunScoped(child, started)
        neighbour_of_it = RunScoped(neighbour, process, how)
        use = provide(UsesChild, process=dep(process), neighbour=dep(neighbour_of_it), used=used, how=how)
        agent: Any = provide(Agent, tools=["use"])

    async with application(Application()) as app:
        task = asyncio.create_task(app.agent().run("go", model=asking("use")))
        if how == "closing":
            with pytest.raises(CleanupError, match="could not be closed"):
                await task
        elif how == "cancelled":
            await used.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        else:
            run = await task
            assert run.calls[0].result.is_error is (how == "opening")
        ended = [process.returncode for process in started]

    assert len(ended) == 1
    assert ended[0] is not None


# The caller's context variables

who: ContextVar[str] = ContextVar("who", default="nobody")


class Asker(Tool):
    """Tell who asks."""

    name = "ask"

    def __init__(self, connection: str, seen: dict[str, str]) -> None:
        self.seen = seen
        seen["constructor"] = who.get()

    async def handler(self) -> str:
        self.seen["handler"] = who.get()
        return "asked"

    async def aclose(self) -> None:
        self.seen["close of the tool"] = who.get()


class AskerInThread(Asker):
    """Tell who asks, from a thread."""

    def handler(self) -> str:  # type: ignore[override]
        self.seen["handler"] = who.get()
        return "asked"


@pytest.mark.parametrize("asker", [Asker, AskerInThread])
@pytest.mark.parametrize("is_streamed", [False, True], ids=["run", "stream"])
async def test_the_callers_context_variables_are_seen_wherever_a_run_calls(asker: Any, is_streamed: bool) -> None:
    seen: dict[str, str] = {}

    async def connect() -> AsyncIterator[str]:
        seen["opening"] = who.get()
        yield "connection"
        seen["closing"] = who.get()

    def note(where: str) -> Any:
        return lambda ctx, told: seen.update({where: who.get()})

    hooks = [Before(note("before-hook")), After(note("after-hook"))]

    class Application(containers.DeclarativeContainer):
        connection = RunScoped(connect)
        ask = provide(asker, connection=dep(connection), seen=seen)
        agent: Any = provide(Agent, tools=["ask"], hooks=hooks)

    async with application(Application()) as app:
        who.set("alice")
        if is_streamed:
            async with app.agent().stream("go", model=asking("ask")) as stream:
                async for _ in stream:
                    pass
        else:
            await app.agent().run("go", model=asking("ask"))

    places = ["opening", "constructor", "before-hook", "handler", "after-hook", "close of the tool", "closing"]
    assert seen == dict.fromkeys(places, "alice")


# A tool behind something else


class Box:
    """Holds a tool."""

    def __init__(self) -> None:
        self.echo = Echo()


@pytest.mark.parametrize(
    "provider",
    [
        providers.Factory(Box).provided.echo,
        providers.Singleton(Box).provided.echo,
        providers.Callable(lambda tool: tool, provide(Echo)),
    ],
    ids=["attribute of what is made", "attribute of what is kept", "function of a tool"],
)
async def test_a_tool_behind_another_provider_is_shown_and_works(provider: Any) -> None:
    class Application(containers.DeclarativeContainer):
        behind = provider
        agent: Any = provide(Agent, tools=["behind"])

    model = asking("echo")
    async with application(Application()) as app:
        run = await app.agent().run("go", model=model)

    assert [shown.name for shown in model.requests[0].tools] == ["echo"]
    assert answers(run) == ["hello"]


@pytest.mark.parametrize("mock", [Mock(), Mock(spec=Echo), Mock(return_value=Echo())], ids=["bare", "spec", "callable"])
async def test_a_mock_in_the_place_of_a_tool_is_refused_and_never_left_out(mock: Any) -> None:
    class Application(containers.DeclarativeContainer):
        echo = provide(Echo)
        agent: Any = provide(Agent, tools=["echo"])

    model = ScriptedModel([says("done")])
    async with application(Application()) as app:
        with pytest.raises(ConfigurationError) as refused, overriding(app.container, echo=mock):
            await app.agent().run("go", model=model)

    assert "the name of <Mock" in str(refused.value)
    assert model.requests == []


# A tool alone


async def test_a_tool_works_in_a_unit_test_without_agent_and_container() -> None:
    tool = UsesConnection(Connection("db://fake"))

    assert await tool.handler() == "db://fake"
    assert (await tool.execute({})).content == "db://fake"
