"""The graph of a container as Mermaid."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any

from dependency_injector import containers, providers

from toolkit import Agent, Inject, Invocation, Tool, tool
from toolkit.injection import AppScoped, RunScoped, overriding, provide
from toolkit.injection.drawing import draw


class Http:
    """An HTTP client."""


class Database:
    """A connection."""


async def open_database() -> AsyncIterator[Database]:
    yield Database()


class Notes(Tool):
    """Take notes."""

    def __init__(self, database: Database, invocation: Invocation) -> None:
        self.database = database

    def handler(self) -> str:
        return "noted"


class Fetch(Tool):
    """Fetch a page."""

    def __init__(self, http: Http) -> None:
        self.http = http

    def handler(self) -> str:
        return "fetched"


class Application(containers.DeclarativeContainer):
    http = AppScoped(Http)
    database = RunScoped(open_database)
    fetch = providers.Factory(Fetch, http=http)
    agent = provide(Agent, tools=[Notes, fetch])


def test_lifetimes_are_groups_and_needs_are_arrows_and_tools_are_dotted() -> None:
    drawn = draw(Application())

    assert drawn == (
        "flowchart LR\n"
        "    subgraph application\n"
        '        p1["http<br/>Http"]\n'
        "    end\n"
        "    subgraph run\n"
        '        p2["database<br/>open_database"]\n'
        '        p6["ScopeValue(Invocation)"]\n'
        "    end\n"
        '    p3["fetch<br/>Fetch"]\n'
        '    p4["agent<br/>Agent"]\n'
        '    p5["Notes"]\n'
        "    p3 --> p1\n"
        "    p5 --> p2\n"
        "    p5 --> p6\n"
        "    p4 -.-> p5\n"
        "    p4 -.-> p3\n"
    )


def test_tools_in_a_list_of_providers_are_dotted_too() -> None:
    class Application(containers.DeclarativeContainer):
        http = providers.Singleton(Http)
        fetch = providers.Factory(Fetch, http=http)
        agent = providers.Factory(Agent, tools=providers.List(fetch))

    drawn = draw(Application())

    assert "-.->" in drawn
    assert "List" not in drawn


def test_what_is_overridden_is_drawn_as_it_answers_now() -> None:
    container = Application()

    with overriding(container, fetch=Fetch(Http())):
        inside = draw(container)

    assert '"fetch<br/>Object"' in inside
    assert draw(container) == draw(Application())


def test_a_container_that_is_wired_wrongly_is_drawn_all_the_same() -> None:
    class Incomplete(containers.DeclarativeContainer):
        missing = providers.Dependency()
        needing = providers.Factory(Fetch, http=missing)
        agent = provide(Agent, tools=["nowhere", needing])

    drawn = draw(Incomplete())

    assert '"missing<br/>Dependency"' in drawn


def test_providers_that_need_each_other_are_drawn_in_a_circle() -> None:
    class Circular(containers.DeclarativeContainer):
        one: providers.Factory[object] = providers.Factory(object)
        two = providers.Factory(object, one)
        one.add_args(two)

    drawn = draw(Circular())

    assert "p1 --> p2" in drawn
    assert "p2 --> p1" in drawn


class Clock:
    """Tells the time."""


@tool
async def remember(text: str, database: Annotated[Database, Inject()]) -> str:
    """Remember a text."""
    return text


class Auditor:
    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def on_before_call(self, ctx: Any, call: Any) -> None: ...


def test_hooks_and_function_tools_are_dotted_with_what_is_injected_into_them() -> None:
    class Watched(containers.DeclarativeContainer):
        clock = providers.Factory(Clock)
        database = RunScoped(open_database)
        auditor = providers.Factory(Auditor, clock)
        agent = provide(Agent, tools=[remember], hooks=["auditor"])

    drawn = draw(Watched())

    def number_of(label: str) -> str:
        [box] = [line.strip() for line in drawn.splitlines() if f'["{label}"]' in line]
        return box.partition("[")[0]

    agent, told = number_of("agent<br/>Agent"), number_of("remember")
    auditor, clock = number_of("auditor<br/>Auditor"), number_of("clock<br/>Clock")
    database = number_of("database<br/>open_database")
    arrows = {line.strip() for line in drawn.splitlines() if "->" in line}
    assert arrows == {
        f"{agent} -.-> {told}",
        f"{told} --> {database}",
        f"{agent} -.-> {auditor}",
        f"{auditor} --> {clock}",
    }
