"""Tools that `tools(ctx)` or a singleton gives: the same ones are described once, and looked at in each run."""

from __future__ import annotations

import cProfile
import gc
import pstats
import weakref
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from dependency_injector import containers, providers

from toolkit import Agent, ConfigurationError, RunContext, Tool, tool
from toolkit.injection import App, application, overriding, provide
from toolkit.testing import ScriptedModel, call, calls, says


class Step(Tool):
    """Take a step."""

    async def handler(self) -> str:
        return "stepped"


class Look(Tool):
    """Look around."""

    async def handler(self) -> str:
        return "looked"


@tool
async def wait() -> str:
    """Wait."""
    return "waited"


class Named(Tool):
    """Whose name is given."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def handler(self) -> str:
        return self.name


class Kit:
    """Gives what it was told to give."""

    def __init__(self, *given: Any) -> None:
        self.given: Sequence[Any] = given
        self.asked = 0

    def tools(self, ctx: RunContext) -> Sequence[Any]:
        self.asked += 1
        return self.given


def container_of(*listed: Any) -> Any:
    """A container with an agent; its providers have names, too."""
    container = containers.DynamicContainer()
    container.step = provide(Step)
    container.look = provide(Look)
    for number, item in enumerate(listed):
        if isinstance(item, providers.Provider):
            setattr(container, f"listed_{number}", item)
    container.agent = provide(Agent, tools=[*listed])
    return container


async def offered(app: App) -> list[str]:
    """The names of the tools in a run, and their descriptions."""
    model = ScriptedModel([says("done")])
    await app.agent().run("go", model=model)
    return [f"{shown.name}: {shown.description}" for shown in model.requests[0].tools]


async def calls_of(one: Callable[[], Awaitable[Any]]) -> int:
    for _ in range(3):
        await one()
    profile = cProfile.Profile()
    profile.enable()
    await one()
    profile.disable()
    count: int = pstats.Stats(profile).total_calls  # type: ignore[attr-defined]  # typeshed leaves it out
    return count


LISTS: dict[str, Callable[[int], list[Any]]] = {
    "instances": lambda count: [Kit(*(Named(f"tool_{number}") for number in range(count)))],
    "classes": lambda count: [Kit(*(type(f"Tool{number}", (Step,), {"__doc__": "It."}) for number in range(count)))],
    "singletons": lambda count: [providers.Singleton(Named, f"tool_{number}") for number in range(count)],
}


@pytest.mark.parametrize("listed", LISTS.values(), ids=LISTS)
async def test_each_tool_more_that_is_given_takes_at_most_60_function_calls(
    listed: Callable[[int], list[Any]],
) -> None:
    counts: list[int] = []
    for count in (10, 30):
        async with application(container_of(*listed(count))) as app:
            counts.append(await calls_of(lambda app=app: app.agent().run("go", model=ScriptedModel([says("done")]))))  # type: ignore[misc]

    assert (counts[1] - counts[0]) / 20 <= 60


async def test_tools_are_asked_for_in_every_run_and_may_be_others_each_time() -> None:
    kit = Kit(Step, wait)
    async with application(container_of(kit)) as app:
        assert await offered(app) == ["step: Take a step.", "wait: Wait."]
        kit.given = [Look, Named("b")]
        assert await offered(app) == ["look: Look around.", "b: Whose name is given."]
        kit.given = [Step, wait]
        assert await offered(app) == ["step: Take a step.", "wait: Wait."]
        kit.given = [wait, Step]
        assert await offered(app) == ["wait: Wait.", "step: Take a step."]

    assert kit.asked == 4


GIVING: dict[str, Callable[[Named], Any]] = {
    "by tools(ctx)": Kit,
    "by a singleton": lambda given: providers.Singleton(lambda: given),
}


@pytest.mark.parametrize("giving", GIVING.values(), ids=GIVING)
async def test_a_member_that_is_set_between_two_runs_shows_in_the_next(giving: Callable[[Named], Any]) -> None:
    given = Named("first")
    async with application(container_of(giving(given))) as app:
        assert await offered(app) == ["first: Whose name is given."]
        given.description = "It."
        assert await offered(app) == ["first: It."]
        given.name = "second"
        assert await offered(app) == ["second: It."]
        del given.description
        assert await offered(app) == ["second: Whose name is given."]


@pytest.mark.parametrize("giving", GIVING.values(), ids=GIVING)
async def test_a_guard_that_is_set_on_a_given_tool_during_a_run_is_asked_at_its_next_call(
    giving: Callable[[Named], Any],
) -> None:
    given = Named("first")

    async def guard() -> str:
        """Set the guard."""
        given.needs_approval = True
        return "set"

    listed = [giving(given), tool(guard)]
    async with application(container_of(*listed)) as app:
        for _ in range(2):
            given.needs_approval = False
            model = ScriptedModel([calls(call("first")), calls(call("guard")), calls(call("first")), says("done")])
            run = await app.agent().run("go", model=model)
            assert [record.result.is_error for record in run.calls] == [False, False, True]


async def test_a_class_whose_provider_is_overridden_is_built_by_the_fake() -> None:
    class Fake(Step):
        """Take no step."""

        name = "step"

        async def handler(self) -> str:
            return "faked"

    container = container_of(Kit(Step))

    async def told() -> list[str]:
        run = await app.agent().run("go", model=ScriptedModel([calls(call("step")), says("done")]))
        return [record.result.content for record in run.calls]

    async with application(container) as app:
        assert await told() == ["stepped"]
        with overriding(container, step=Fake()):
            assert await told() == ["faked"]
        assert await told() == ["stepped"]


async def test_tools_that_are_made_for_each_run_are_told_apart_and_do_not_live_on() -> None:
    made: list[weakref.ref[Named]] = []

    class Making:
        def tools(self, ctx: RunContext) -> list[Any]:
            fresh = Named(f"tool_{len(made)}")
            made.append(weakref.ref(fresh))
            return [fresh]

    async with application(container_of(Making())) as app:
        for number in range(200):
            assert await offered(app) == [f"tool_{number}: Whose name is given."]
        gc.collect()
        assert sum(fresh() is not None for fresh in made) <= 64
    gc.collect()

    assert sum(fresh() is not None for fresh in made) == 0


class User:
    """A value of some runs."""


async def test_what_a_run_has_a_value_for_is_filled_in_though_another_run_had_none() -> None:
    class Greet(Tool):
        """Greet."""

        async def handler(self, user: User) -> str:
            return "hello"

    async with application(container_of(Kit(Greet()))) as app:
        for _ in range(2):
            model = ScriptedModel([calls(call("greet")), says("done")])
            run = await app.agent().run("go", model=model, values={User: User()})
            assert run.calls[0].result.content == "hello"
            with pytest.raises(ConfigurationError, match="User"):
                await app.agent().run("go", model=ScriptedModel([says("done")]))


async def test_a_tool_that_is_built_for_a_run_does_not_live_on() -> None:
    made: list[weakref.ref[Named]] = []

    def make() -> Named:
        fresh = Named(f"tool_{len(made)}")
        made.append(weakref.ref(fresh))
        return fresh

    async with application(container_of(providers.Factory(make))) as app:
        for _ in range(3):
            await offered(app)
        gc.collect()

        assert [fresh() for fresh in made] == [None, None, None]


async def test_a_tool_that_is_built_for_each_run_is_described_by_the_one_of_the_run() -> None:
    names = iter(["first", "second", "third"])

    async with application(container_of(providers.Factory(lambda: Named(next(names))))) as app:
        told = [await offered(app) for _ in range(3)]

    assert told == [[f"{name}: Whose name is given."] for name in ("first", "second", "third")]
