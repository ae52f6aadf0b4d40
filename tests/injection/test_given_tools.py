"""Tools that are known only in a run, given by `tools(ctx)` or built to be described: a run sees them as they are."""

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


LISTS: dict[str, tuple[int, Callable[[int], list[Any]]]] = {
    "classes": (50, lambda count: [Kit(*(type(f"Tool{at}", (Step,), {"__doc__": "It."}) for at in range(count)))]),
    "instances": (85, lambda count: [Kit(*(Named(f"tool_{at}") for at in range(count)))]),
    "singletons": (110, lambda count: [providers.Singleton(Named, f"tool_{at}") for at in range(count)]),
}


@pytest.mark.parametrize(("most", "listed"), LISTS.values(), ids=LISTS)
async def test_each_tool_more_takes_at_most_so_many_function_calls(
    most: int, listed: Callable[[int], list[Any]]
) -> None:
    counts: list[int] = []
    for count in (10, 30):
        async with application(container_of(*listed(count))) as app:
            counts.append(await calls_of(lambda app=app: app.agent().run("go", model=ScriptedModel([says("done")]))))  # type: ignore[misc]

    assert (counts[1] - counts[0]) / 20 <= most


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


async def test_a_guard_that_is_set_on_a_given_tool_during_a_run_is_asked_at_its_next_call() -> None:
    given = Named("first")

    async def guard() -> str:
        """Set the guard."""
        given.needs_approval = True
        return "set"

    async with application(container_of(Kit(given), tool(guard))) as app:
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


async def test_a_schema_that_is_changed_in_place_for_a_run_is_shown_and_held_to_in_that_run() -> None:
    class Query(Tool):
        """Query a table."""

        def __init__(self) -> None:
            self.input_schema: Any = {"type": "object", "properties": {"table": {}}, "required": ["table"]}

        async def handler(self, arguments: Any) -> str:
            return f"rows of {arguments['table']}"

    class Queries:
        query = Query()

        def tools(self, ctx: RunContext) -> list[Any]:
            self.query.input_schema["properties"]["table"]["enum"] = ctx.context
            return [self.query]

    async with application(container_of(Queries())) as app:
        for own, other in (("a", "b"), ("b", "a"), ("a", "b")):
            model = ScriptedModel([calls(call("query", {"table": own}), call("query", {"table": other})), says("done")])
            run = await app.agent().run("go", model=model, context=[own])
            assert [record.result.is_error for record in run.calls] == [False, True]
            assert model.requests[0].tools[0].input_schema["properties"]["table"]["enum"] == [own]


async def test_a_tool_of_one_provider_never_stands_for_that_of_another_which_gave_the_same_object() -> None:
    tenant = "a"

    class Search(Named):
        """Search."""

        def __init__(self, of: str) -> None:
            super().__init__("search")
            self.of = of

        async def handler(self) -> str:
            return f"data of {self.of}"

    container = containers.DynamicContainer()
    container.search_a = providers.Singleton(Search, "a")
    container.search_b = providers.Singleton(Search, "b")
    container.search = providers.Selector(lambda: tenant, a=container.search_a, b=container.search_b)
    container.any_ = provide(Agent, tools=["search"])
    container.fixed = provide(Agent, tools=["search_a"])

    async def told(agent: str) -> str:
        run = await app.agent(agent).run("go", model=ScriptedModel([calls(call("search")), says("done")]))
        return run.calls[0].result.content

    async with application(container) as app:
        assert await told("any_") == "data of a"
        tenant = "b"
        assert await told("fixed") == "data of a"
        assert await told("any_") == "data of b"


async def test_a_singleton_that_shows_something_else_each_time_has_nothing_asked_again() -> None:
    asked: list[str] = []

    class Clock(Tool):
        """Tell the time."""

        def __init__(self) -> None:
            self.reads = 0

        @property
        def description(self) -> str:  # type: ignore[override]
            self.reads += 1
            return f"Tell the time, {self.reads}."

        async def handler(self) -> str:
            return "noon"

    class Seldom(Tool):
        """Be there, or not."""

        async def handler(self) -> str:
            return "there"

        @staticmethod
        def available_if(ctx: RunContext) -> bool:
            asked.append("available_if")
            return True

    class Giving(Kit):
        def tools(self, ctx: RunContext) -> Sequence[Any]:
            asked.append("tools(ctx)")
            return super().tools(ctx)

    async with application(container_of(providers.Singleton(Clock), Giving(Step), Seldom)) as app:
        for _ in range(2):
            model = ScriptedModel([calls(call("clock"))] * 3 + [says("done")])
            run = await app.agent().run("go", model=model)
            assert [record.result.content for record in run.calls] == ["noon"] * 3
            assert len({tuple(shown.description for shown in request.tools) for request in model.requests}) == 1

    assert asked == ["tools(ctx)", "available_if"] * 2


class Failing(Named):
    """Fail."""

    fails = False

    @property
    def timeout(self) -> float | None:  # type: ignore[override]
        if self.fails:
            raise LookupError("gone")
        return None


async def test_a_member_that_can_not_be_read_any_more_is_named() -> None:
    given = Failing("first")
    async with application(container_of(providers.Singleton(lambda: given))) as app:
        assert await offered(app) == ["first: Fail."]
        given.fails = True
        with pytest.raises(
            ConfigurationError, match=r"reading 'timeout' of .*Failing failed: LookupError: gone"
        ) as caught:
            await offered(app)

    assert caught.value.run is not None


async def test_a_member_that_can_not_be_read_any_more_when_the_tool_is_called_ends_the_run_with_its_name() -> None:
    given = Failing("first")

    @tool
    async def break_it() -> str:
        """Break it."""
        given.fails = True
        return "broken"

    async with application(container_of(given, break_it)) as app:
        model = ScriptedModel([calls(call("break_it")), calls(call("first")), says("done")])
        with pytest.raises(ConfigurationError, match=r"reading 'timeout' of .*Failing failed") as caught:
            await app.agent().run("go", model=model)

    assert caught.value.run is not None
