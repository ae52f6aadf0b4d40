"""An agent that is listed as a tool is refused, with what to do: to write a tool that runs it."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from dependency_injector import containers, providers

from tests.injection.parts import Echo, answers, asking
from toolkit import Agent, ConfigurationError, Inject, Tool, definition, tool
from toolkit.injection import application, check, dep, provide
from toolkit.testing import ScriptedModel, call, calls, says

ADVICE = "is an agent, and an agent is no tool; write a tool that takes it, in its constructor or as agent: Annotated["


def analysing() -> ScriptedModel:
    return ScriptedModel([says("It is a bolt.")])


class Analyst(Agent):
    """Analyses."""


ANALYST = provide(Agent, name="Parts analyst")

LISTED: dict[str, Any] = {
    "its name": "analyst",
    "its provider": ANALYST,
    "its class": Analyst,
    "the agent": Agent(name="Parts analyst"),
    "one by a provider": providers.Object(Analyst()),
    "another provider": provide(Analyst),
    "a singleton": providers.Singleton(Agent),
}


def application_of(*tools: Any) -> Any:
    class Application(containers.DeclarativeContainer):
        analyst = ANALYST
        agent = provide(Agent, tools=[*tools])

    return Application()


@pytest.mark.parametrize("listed", LISTED.values(), ids=LISTED.keys())
def test_an_agent_that_is_listed_as_a_tool_is_found(listed: Any) -> None:
    with pytest.raises(ConfigurationError) as refused:
        check(application_of(listed))

    assert str(refused.value).startswith("'agent': ")
    assert ADVICE in str(refused.value)


def test_the_advice_names_the_provider() -> None:
    with pytest.raises(ConfigurationError) as refused:
        check(application_of("analyst"))

    assert str(refused.value) == (
        "'agent': provider 'analyst' is an agent, and an agent is no tool; write a tool that takes it, in its "
        'constructor or as agent: Annotated[Agent, Inject("analyst")], and awaits agent.run(...)'
    )


@pytest.mark.parametrize("listed", LISTED.values(), ids=LISTED.keys())
async def test_a_run_that_is_given_an_agent_as_a_tool_says_the_same(listed: Any) -> None:
    async with application(application_of()) as app:
        with pytest.raises(ConfigurationError) as refused:
            await app.agent().run("go", model=asking(), tools=[listed])

    assert ADVICE in str(refused.value)


async def test_a_bound_agent_that_is_listed_as_a_tool_says_the_same() -> None:
    async with application(application_of()) as app:
        with pytest.raises(ConfigurationError, match="BoundAgent is an agent, and an agent is no tool"):
            await app.agent().run("go", model=asking(), tools=[app.agent("analyst")])


@pytest.mark.parametrize("listed", [Analyst, Analyst(), provide(Analyst)], ids=["class", "agent", "provider"])
async def test_an_agent_without_a_container_says_the_same(listed: Any) -> None:
    with pytest.raises(ConfigurationError) as refused:
        await Agent(asking(), tools=[listed]).run("go")

    assert ADVICE in str(refused.value)


@pytest.mark.parametrize("ask", [definition, tool])
def test_an_agent_that_is_described_as_a_tool_says_the_same(ask: Any) -> None:
    with pytest.raises(ConfigurationError) as refused:
        ask(Analyst)

    assert ADVICE in str(refused.value)


class HasHandler(Agent):
    """Is an agent, and a tool as well."""

    name = "ask_analyst"
    description = "Ask the analyst."

    async def handler(self, question: str) -> str:
        return (await self.run(question, model=analysing())).response


class GetsHandler(Agent):
    name = "ask_analyst"
    description = "Ask the analyst."

    def __init__(self) -> None:
        super().__init__()
        self.handler = self.ask

    async def ask(self, question: str) -> str:
        return (await self.run(question, model=analysing())).response


async def ask_analyst(question: str) -> str:
    return "It is a bolt."


class GetsHandlerUnseen(Agent):
    name = "ask_analyst"
    description = "Ask the analyst."

    def __init__(self) -> None:
        super().__init__()
        for name in ("handler",):
            setattr(self, name, ask_analyst)


class AnswersToHandler(Agent):
    name = "ask_analyst"
    description = "Ask the analyst."

    def __getattr__(self, name: str) -> Any:
        if name == "handler":
            return HasHandler.handler.__get__(self)
        raise AttributeError(name)


def make_tool() -> Agent:
    return HasHandler()


@pytest.mark.parametrize(
    "listed",
    [
        HasHandler,
        HasHandler(),
        provide(HasHandler),
        provide(GetsHandler),
        GetsHandler(),
        provide(GetsHandlerUnseen),
        provide(AnswersToHandler),
        AnswersToHandler(),
        providers.Factory(make_tool),
        providers.Factory(Agent, name="ask_analyst").add_attributes(description="Ask.", handler=ask_analyst),
    ],
    ids=[
        "class",
        "object",
        "provider",
        "set",
        "object set",
        "set unseen",
        "getattr",
        "object getattr",
        "function",
        "attributes",
    ],
)
async def test_an_agent_that_is_a_tool_as_well_may_be_listed(listed: Any) -> None:
    model = ScriptedModel([calls(call("ask_analyst", {"question": "What is it?"})), says("done")])
    container = application_of(listed)

    check(container)
    async with application(container) as app:
        run = await app.agent().run("go", model=model)

    assert answers(run) == ["It is a bolt."]


def test_an_agent_with_a_handler_that_lacks_a_description_is_told_of_that() -> None:
    class Undescribed(Agent):
        async def handler(self) -> str:
            return ""

    with pytest.raises(ConfigurationError, match="Undescribed has no description"):
        definition(Undescribed)


async def test_an_agent_that_makes_its_own_list_is_left_to_the_run() -> None:
    class Lists(Agent):
        tools = ("analyst",)

        def __init__(self) -> None:
            self.tools = (Echo,)

    class Application(containers.DeclarativeContainer):
        analyst = provide(Agent)
        agent = provide(Lists)

    async with application(Application()) as app:
        assert answers(await app.agent().run("go", model=asking("echo"))) == ["hello"]


class AskAnalyst(Tool):
    """Ask the analyst."""

    def __init__(self, agent: Annotated[Agent, Inject("analyst")]) -> None:
        self.agent = agent

    async def handler(self, question: str) -> str:
        return (await self.agent.run(question)).response


@tool(name="ask_analyst")
async def asks_analyst(question: str, agent: Annotated[Agent, Inject("analyst")]) -> str:
    """Ask the analyst."""
    return (await agent.run(question)).response


@pytest.mark.parametrize("asker", [AskAnalyst, asks_analyst], ids=["constructor", "handler"])
async def test_a_tool_that_takes_the_agent_runs_it(asker: Any) -> None:
    class Application(containers.DeclarativeContainer):
        model = providers.Factory(analysing)
        echo = provide(Echo)
        analyst = provide(Agent, model=dep(model), tools=[echo])
        agent = provide(Agent, tools=[asker])

    container = Application()
    model = ScriptedModel([calls(call("ask_analyst", {"question": "What is it?"})), says("done")])

    check(container)
    async with application(container) as app:
        run = await app.agent().run("go", model=model)

    assert answers(run) == ["It is a bolt."]
