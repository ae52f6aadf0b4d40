"""An agent of the container that a tool takes, and runs in its handler: a run of its own, over the same application."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from dependency_injector import containers, providers

from tests.injection.parts import answers
from toolkit import (
    Agent,
    ConfigurationError,
    DeadlineExceeded,
    Inject,
    Invocation,
    Limits,
    RunContext,
    Tool,
    ToolResult,
    Usage,
    tool,
)
from toolkit.context import RequestedCall
from toolkit.hooks import Decision, Deny
from toolkit.injection import AppScoped, RunScoped, application, check, dep, overriding, provide
from toolkit.models import ModelResponse
from toolkit.testing import ScriptedModel, call, calls, says


@dataclass
class Report:
    text: str


class Stock:
    """Of the application."""

    def __init__(self, pieces: dict[str, int]) -> None:
        self.pieces = pieces
        self.is_asked = asyncio.Event()


class Session:
    """Of a run."""

    def __init__(self, stock: Stock) -> None:
        self.stock = stock
        self.ended = ""


class FindPart(Tool):
    """Tell how many of a part are in stock."""

    def __init__(self, session: Session) -> None:
        self.session = session

    async def handler(self, number: str) -> int:
        self.session.stock.is_asked.set()
        if number == "never":
            await asyncio.Event().wait()
        return self.session.stock.pieces[number]


class Staff:
    """A guard that its container configures."""

    def __init__(self, names: list[str]) -> None:
        self.names = names

    def on_before_call(self, ctx: RunContext, call: RequestedCall) -> Decision | None:
        return None if ctx.invocation.actor_id in self.names else Deny("this is for the staff")


class Ask(Tool):
    """Ask the analyst."""

    def __init__(self, analyst: Annotated[Agent[Report], Inject("analyst")], invocation: Invocation) -> None:
        self.analyst = analyst
        self.invocation = invocation

    async def handler(self, question: str) -> Report:
        return (await self.analyst.run(question, actor_id=self.invocation.actor_id)).output


@tool(name="ask")
async def ask_by_function(
    question: str, analyst: Annotated[Agent[Report], Inject("analyst")], invocation: Invocation
) -> Report:
    """Ask the analyst."""
    return (await analyst.run(question, actor_id=invocation.actor_id)).output


SESSIONS: list[Session] = []


async def open_session(stock: Stock) -> AsyncGenerator[Session, None]:
    session = Session(stock)
    SESSIONS.append(session)
    try:
        yield session
    except BaseException as error:
        session.ended = type(error).__name__
        raise
    else:
        session.ended = "well"


class Warehouse(containers.DeclarativeContainer):
    config = providers.Configuration(strict=True)
    stock = AppScoped(Stock, config.pieces)
    session = RunScoped(open_session, stock)
    find_part = provide(FindPart, session=dep(session))
    staff = provide(Staff, names=dep(config.staff))
    analyst_model: providers.Dependency[Any] = providers.Dependency()
    analyst = provide(Agent, model=dep(analyst_model), tools=[find_part], hooks=[staff], output_type=Report)
    agent = provide(Agent, tools=[Ask])


@pytest.fixture(autouse=True)
def no_sessions() -> None:
    SESSIONS.clear()


def warehouse(kind: type[Any] = Warehouse, number: str = "P-1") -> Any:
    return kind(config={"pieces": {"P-1": 2}, "staff": ["ada"]}, analyst_model=analyst_asking(number))


def analyst_asking(number: str) -> ScriptedModel:
    return ScriptedModel([calls(call("find_part", {"number": number})), says('{"text": "told"}')])


def asking() -> ScriptedModel:
    return ScriptedModel([calls(call("ask", {"question": "How many?"})), says("Two.")])


def told_inside(container: Any) -> str:
    """What the inner model read as the result of its call."""
    content: str = container.analyst_model().requests[1].messages[-1].content
    return content


@pytest.mark.parametrize("asks", [Ask, ask_by_function], ids=["in a constructor", "in a handler"])
async def test_an_agent_in_a_tool_has_the_objects_and_the_configuration_of_its_application(asks: Any) -> None:
    class Mine(Warehouse):
        agent = provide(Agent, tools=[asks])

    container = warehouse(Mine)
    async with application(container) as app:
        run = await app.agent().run("?", model=asking(), actor_id="ada")

    assert run.calls[0].result.value == Report("told")
    assert told_inside(container) == "2"
    assert [session.ended for session in SESSIONS] == ["well"]


async def test_its_own_guards_are_asked_inside() -> None:
    container = warehouse()
    async with application(container) as app:
        await app.agent().run("?", model=asking(), actor_id="eve")

    assert told_inside(container) == "this is for the staff"


async def test_the_guards_of_the_outer_agent_are_asked_about_the_tool_only() -> None:
    asked: list[str] = []

    class Watch:
        def on_before_call(self, ctx: RunContext, call: RequestedCall) -> None:
            asked.append(call.name)

    class Watched(Warehouse):
        agent = provide(Agent, tools=[Ask], hooks=[Watch()])

    async with application(warehouse(Watched)) as app:
        await app.agent().run("?", model=asking(), actor_id="ada")

    assert asked == ["ask"]


async def test_overrides_of_tasks_at_once_reach_what_an_agent_in_a_tool_lists() -> None:
    container = warehouse()

    async def told(pieces: int) -> str:
        with overriding(container, stock=Stock({"P-1": pieces}), analyst_model=analyst_asking("P-1")):
            await app.agent().run("?", model=asking(), actor_id="ada")
            return told_inside(container)

    async with application(container) as app:
        answered = await asyncio.gather(told(7), told(8))

    assert answered == ["7", "8"]


async def test_usage_limits_and_events_of_the_outer_run_are_not_those_of_the_inner_one() -> None:
    class AskForRun(Tool):
        """Ask the analyst, and keep the run."""

        name = "ask"

        def __init__(self, analyst: Annotated[Agent[Report], Inject("analyst")]) -> None:
            self.analyst = analyst

        async def handler(self, question: str) -> ToolResult:
            run = await self.analyst.run(question)
            return ToolResult(run, run.response)

    class Limited(Warehouse):
        agent = provide(Agent, tools=[AskForRun], limits=Limits(max_tokens=10, max_turns=2, max_tool_calls=1))

    container = warehouse(Limited)
    inner = ScriptedModel(
        [
            *[calls(call("find_part", {"number": "P-1"}))] * 3,
            ModelResponse('{"text": "told"}', usage=Usage(input_tokens=1_000)),
        ]
    )
    async with application(container) as app:
        with overriding(container, analyst_model=inner):
            async with app.agent().stream("?", model=asking()) as stream:
                events = [type(event).__name__ async for event in stream]

    run: Any = stream.run
    assert (run.outcome, run.turns, run.usage.total_tokens) == ("completed", 2, 0)
    assert run.calls[0].result.content == '{"text": "told"}'
    assert run.calls[0].result.value.usage.total_tokens == 1_000
    assert events.count("ToolCallStarted") == 1


class HurriedAsk(Ask):
    """Ask the analyst, who has no time."""

    name = "ask"
    timeout = 0.05


class Hurried(Warehouse):
    agent = provide(Agent, tools=[HurriedAsk])


async def test_a_tool_that_takes_too_long_has_closed_its_inner_run() -> None:
    async with application(warehouse(Hurried, "never")) as app:
        run = await app.agent().run("?", model=asking(), actor_id="ada")

    assert answers(run) == ["tool 'ask' took longer than 0.05 seconds"]
    assert [session.ended for session in SESSIONS] == ["CancelledError"]


async def test_the_timeout_of_the_outer_run_closes_the_inner_one() -> None:
    async with application(warehouse(Warehouse, "never")) as app:
        with pytest.raises(DeadlineExceeded):
            await app.agent().run("?", model=asking(), actor_id="ada", timeout=0.05)

        assert [session.ended for session in SESSIONS] == ["CancelledError"]


async def test_a_cancellation_of_the_outer_run_closes_the_inner_one() -> None:
    async with application(warehouse(Warehouse, "never")) as app:
        task = asyncio.create_task(app.agent().run("?", model=asking(), actor_id="ada"))
        await app.container.stock().is_asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

        assert [session.ended for session in SESSIONS] == ["CancelledError"]


@pytest.mark.parametrize("listed", ["analyst", Warehouse.analyst, Agent()], ids=["name", "provider", "object"])
async def test_an_agent_that_is_listed_as_a_tool_is_told_what_to_write_instead(listed: Any) -> None:
    class Listing(Warehouse):
        agent = provide(Agent, tools=[listed])

    with pytest.raises(ConfigurationError, match="is an agent, and an agent is no tool; write a tool that takes it"):
        async with application(warehouse(Listing)) as app:
            await app.agent().run("?", model=asking())


@pytest.mark.parametrize(
    ("listed", "instead"),
    [("find_part", "[find_part] in place of ['find_part']"), (FindPart, "[find_part] in place of [FindPart]")],
    ids=["name", "class"],
)
async def test_what_only_a_container_could_find_is_told_when_the_tool_is_called(listed: Any, instead: str) -> None:
    class Unfound(Warehouse):
        analyst = provide(Agent, model=dep(Warehouse.analyst_model), tools=[listed], output_type=Report)

    container = warehouse(Unfound)
    check(container)
    async with application(container) as app:
        run = await app.agent().run("?", model=asking(), actor_id="ada")

    assert answers(run) == ["tool 'ask' failed: ConfigurationError"]
    assert isinstance(run.calls[0].error, ConfigurationError)
    assert "this agent has no container" in str(run.calls[0].error).lower()
    assert f"list the provider itself: {instead}" in str(run.calls[0].error)
