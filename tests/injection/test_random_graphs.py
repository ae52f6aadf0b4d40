"""Random containers: what `check` accepts works, run after run, and what it refuses would have held a run's object."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from dependency_injector import containers, providers
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.injection.parts import asking
from toolkit import Agent, ConfigurationError, Tool
from toolkit.injection import AppScoped, RunScoped, application, dep, provide


@dataclass
class Thing:
    """Something that is open until whoever opened it closes it."""

    needs: tuple[Any, ...]
    closed: list[int] = field(default_factory=list)

    @property
    def is_usable(self) -> bool:
        return not self.closed and all(need.is_usable for need in self.needs)


class Opened:
    """Everything that one example opened, in order."""

    things: list[Thing] = []  # noqa: RUF012 - replaced for each example


def opened(*needs: Any) -> Thing:
    Opened.things.append(Thing(needs))
    return Opened.things[-1]


def close(thing: Thing) -> None:
    assert all(need.is_usable for need in thing.needs), "closed after something that it needs"
    thing.closed.append(1)


def plain(*needs: Any) -> Iterator[Thing]:
    thing = opened(*needs)
    try:
        yield thing
    finally:
        close(thing)


async def later(*needs: Any) -> AsyncIterator[Thing]:
    await asyncio.sleep(0)
    thing = opened(*needs)
    try:
        yield thing
    finally:
        await asyncio.sleep(0)
        close(thing)


KINDS: dict[str, Any] = {
    "Factory": lambda needs: providers.Factory(Thing, providers.List(*needs)),
    "Singleton": lambda needs: providers.Singleton(Thing, providers.List(*needs)),
    "Selector": lambda needs: providers.Selector(lambda: "a", a=providers.Factory(Thing, providers.List(*needs))),
    "Dependency": lambda needs: providers.Dependency(default=providers.Factory(Thing, providers.List(*needs))),
    "AppScoped": lambda needs: AppScoped(plain, *needs),
    "AppScoped later": lambda needs: AppScoped(later, *needs),
    "RunScoped": lambda needs: RunScoped(plain, *needs),
    "RunScoped later": lambda needs: RunScoped(later, *needs),
}

Node = tuple[str, frozenset[int]]


class Uses(Tool):
    """Use everything."""

    name = "use"

    def __init__(self, *needs: Thing) -> None:
        self.needs = needs

    async def handler(self) -> str:
        assert all(need.is_usable for need in self.needs), "something was closed too early"
        return "used"


@st.composite
def graphs(draw: st.DrawFn) -> list[Node]:
    nodes: list[Node] = []
    for place in range(draw(st.integers(1, 7))):
        needs = draw(st.frozensets(st.integers(0, place - 1), max_size=3)) if place else frozenset[int]()
        nodes.append((draw(st.sampled_from(sorted(KINDS))), needs))
    return nodes


def container_of(nodes: list[Node]) -> Any:
    declared: dict[str, Any] = {}
    for place, (kind, needs) in enumerate(nodes):
        declared[f"node_{place}"] = KINDS[kind]([declared[f"node_{need}"] for need in sorted(needs)])
    tool = provide(Uses, *(dep(provider) for provider in declared.values()))
    declared["agent"] = provide(Agent, tools=[tool])
    return type("Application", (containers.DeclarativeContainer,), declared)()


def would_hold_an_object_of_a_run(nodes: list[Node]) -> bool:
    below: list[set[str]] = []
    for kind, needs in nodes:
        kinds = {kind}.union(*(below[need] for need in needs))
        below.append(kinds)
        if kind.startswith(("Singleton", "AppScoped")) and any(found.startswith("RunScoped") for found in kinds):
            return True
    return False


@given(graphs())
@settings(max_examples=150, deadline=None)
def test_what_is_accepted_works_and_what_is_refused_would_not(nodes: list[Node]) -> None:
    Opened.things = []

    async def use() -> list[Any]:
        async with application(container_of(nodes)) as app:
            agent = app.agent()
            first = await agent.run("go", model=asking("use"))
            rest = await asyncio.gather(*(agent.run("go", model=asking("use")) for _ in range(3)))
        return [first, *rest]

    if would_hold_an_object_of_a_run(nodes):
        with pytest.raises(ConfigurationError, match="and would hold RunScoped"):
            asyncio.run(use())
        assert Opened.things == []
        return

    runs = asyncio.run(use())

    assert [run.calls[0].error for run in runs] == [None] * 4
    assert all(thing.closed == [1] for thing in Opened.things)
