"""`overriding`: replaced for the runs that this task and its children start inside the block, and for nothing else."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import weakref
from collections.abc import AsyncIterator
from contextlib import ExitStack
from copy import deepcopy
from typing import Annotated, Any

import pytest
from dependency_injector import containers, providers

from tests.injection.parts import answers, asking, in_turns
from toolkit import Agent, ConfigurationError, Inject, Tool, tool
from toolkit.injection import AppScoped, RunScoped, application, dep, overriding, provide, resolver_for
from toolkit.testing import ScriptedModel, says
from toolkit.tools.resolver import Recipe


class Http:
    def __init__(self, name: str = "real") -> None:
        self.name = name
        self.closed = 0

    async def aclose(self) -> None:
        self.closed += 1


class Service:
    """Holds an http client."""

    def __init__(self, http: Any, clock: Any = "clock") -> None:
        self.http = http
        self.clock = clock


class Ask(Tool):
    """Say which client there is."""

    name = "ask"

    def __init__(self, service: Service) -> None:
        self.service = service

    async def handler(self) -> str:
        return getattr(self.service.http, "name", str(self.service.http))


class FakeAsk(Tool):
    """Say that it is a fake."""

    name = "fake_ask"

    async def handler(self, loudly: bool = False) -> str:
        return "faked"


class NeedsFake(Tool):
    """Say which fake there is."""

    name = "needs"

    def __init__(self, http: Http) -> None:
        self.http = http

    async def handler(self) -> str:
        return f"needs {self.http.name}"


async def open_http(name: str = "real") -> AsyncIterator[Http]:
    http = Http(name)
    try:
        yield http
    finally:
        http.closed += 1


def container_of(http_provider: Any, service_kind: Any = providers.Factory) -> Any:
    class Application(containers.DeclarativeContainer):
        http = http_provider
        service = service_kind(Service, http)
        ask = provide(Ask, service=dep(service))
        agent = provide(Agent, tools=["ask"])

    return Application()


async def heard(agent: Any, **options: Any) -> str:
    run = await agent.run("go", model=asking("ask"), **options)
    assert run.calls[0].error is None, run.calls[0].error
    return answers(run)[0]


KINDS = [
    pytest.param(lambda: providers.Factory(Http), providers.Factory, id="Factory below a Factory"),
    pytest.param(lambda: providers.Singleton(Http), providers.Factory, id="Singleton below a Factory"),
    pytest.param(lambda: AppScoped(open_http), providers.Factory, id="AppScoped below a Factory"),
    pytest.param(lambda: RunScoped(open_http), providers.Factory, id="RunScoped below a Factory"),
    pytest.param(lambda: providers.Factory(Http), providers.Singleton, id="below a Singleton"),
    pytest.param(lambda: AppScoped(open_http), providers.Singleton, id="AppScoped below a Singleton"),
    pytest.param(lambda: providers.Factory(Http), providers.ThreadSafeSingleton, id="below a ThreadSafeSingleton"),
    pytest.param(lambda: AppScoped(open_http), AppScoped, id="AppScoped below an AppScoped"),
    pytest.param(lambda: RunScoped(open_http), RunScoped, id="RunScoped below a RunScoped"),
]


@pytest.mark.parametrize(("http", "service"), KINDS)
async def test_a_fake_is_seen_inside_the_block_only_however_it_is_held(http: Any, service: Any) -> None:
    async with application(container_of(http(), service)) as app:
        agent = app.agent()
        before = await heard(agent)
        with overriding(app.container, http=Http("fake")):
            inside = [await heard(agent), await heard(app.agent())]
        after = [await heard(agent), await heard(app.agent())]

    assert before == "real"
    assert inside == ["fake", "fake"]
    assert after == ["real", "real"]


@pytest.mark.parametrize(("http", "service"), KINDS)
async def test_the_first_run_of_all_may_be_inside_the_block(http: Any, service: Any) -> None:
    async with application(container_of(http(), service)) as app:
        with overriding(app.container, http=Http("fake")):
            inside = await heard(app.agent())
        after = await heard(app.agent())

    assert (inside, after) == ("fake", "real")


@pytest.mark.parametrize(("http", "service"), KINDS)
async def test_the_application_may_be_opened_inside_the_block(http: Any, service: Any) -> None:
    container = container_of(http(), service)

    with overriding(container, http=Http("fake")):
        async with application(container) as app:
            agent = app.agent()
            inside = await heard(agent)
    async with application(container) as app:
        after = await heard(app.agent())

    assert (inside, after) == ("fake", "real")


@pytest.mark.parametrize(("http", "service"), KINDS)
async def test_an_application_that_was_opened_in_a_block_that_is_over_goes_on_with_the_real_thing(
    http: Any, service: Any
) -> None:
    container = container_of(http(), service)

    async with ExitStackOf(container) as (app, block):
        inside = await heard(app.agent())
        block.close()
        after = [await heard(app.agent()), await heard(app.agent())]

    assert inside == "fake"
    assert after == ["real", "real"]


async def test_the_next_application_has_a_singleton_of_its_own_though_the_last_was_opened_in_a_block() -> None:
    states: list[int] = []

    class Notes(Ask):
        """Note whether the client is closed."""

        name = "ask"

        async def handler(self) -> str:
            states.append(self.service.http.closed)
            return str(self.service.http.name)

    class Application(containers.DeclarativeContainer):
        http = AppScoped(open_http)
        service = providers.Singleton(Service, http)
        ask = provide(Notes, service=dep(service))
        agent = provide(Agent, tools=["ask"])

    container = Application()

    for _ in range(2):
        async with ExitStackOf(container) as (app, block):
            block.close()
            await heard(app.agent())
    async with application(container) as app:
        await heard(app.agent())

    assert states == [0, 0, 0]


class ExitStackOf:
    """An application that is opened inside a block which ends before it does."""

    def __init__(self, container: Any) -> None:
        self.block = ExitStack()
        self.container = container

    async def __aenter__(self) -> tuple[Any, ExitStack]:
        self.block.enter_context(overriding(self.container, http=Http("fake")))
        self.application = application(self.container)
        return await self.application.__aenter__(), self.block

    async def __aexit__(self, *error: Any) -> None:
        await self.application.__aexit__(*error)


@pytest.mark.parametrize(("http", "service"), KINDS)
async def test_concurrent_tasks_each_see_their_own_fake_and_a_bystander_none(http: Any, service: Any) -> None:
    everybody_is_inside = asyncio.Barrier(6)

    async def with_fake(agent: Any, name: str) -> list[str]:
        with overriding(app.container, http=Http(name)):
            first = await heard(agent)
            await everybody_is_inside.wait()
            return [first, await heard(agent)]

    async def without(agent: Any) -> list[str]:
        first = await heard(agent)
        await everybody_is_inside.wait()
        return [first, await heard(agent)]

    async with application(container_of(http(), service)) as app:
        agent = app.agent()
        all_heard = await asyncio.gather(*(with_fake(agent, f"fake {n}") for n in range(5)), without(agent))
        after = await heard(agent)

    assert all_heard == [*([f"fake {n}"] * 2 for n in range(5)), ["real", "real"]]
    assert after == "real"


@pytest.mark.parametrize(("http", "service"), KINDS)
async def test_the_innermost_block_wins_and_the_outer_one_comes_back(http: Any, service: Any) -> None:
    async with application(container_of(http(), service)) as app:
        agent = app.agent()
        with overriding(app.container, http=Http("outer")):
            outer = await heard(agent)
            with overriding(app.container, http=Http("inner")):
                inner = await heard(agent)
            again = await heard(agent)

    assert (outer, inner, again) == ("outer", "inner", "outer")


@pytest.mark.parametrize("service_kind", [providers.Factory, providers.Singleton, AppScoped])
@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["the first ends first", "the last ends first"])
async def test_blocks_may_end_in_any_order_and_nothing_of_an_ended_one_is_left(
    service_kind: Any, order: tuple[int, int]
) -> None:
    class Tells(Ask):
        """Say all."""

        name = "ask"

        async def handler(self) -> str:
            return f"{self.service.http} {self.service.clock}"

    class Application(containers.DeclarativeContainer):
        http = providers.Object("real")
        clock = providers.Object("clock")
        service = service_kind(Service, http, clock)
        ask = provide(Tells, service=dep(service))
        agent = provide(Agent, tools=["ask"])

    async with application(Application()) as app:
        agent = app.agent()
        blocks = [overriding(app.container, http="fake"), overriding(app.container, clock="stopped")]
        for block in blocks:
            block.__enter__()
        both = await heard(agent)
        blocks[order[0]].__exit__(None, None, None)
        one = await heard(agent)
        blocks[order[1]].__exit__(None, None, None)
        none = await heard(agent)

    assert both == "fake stopped"
    assert one == ("real stopped" if order[0] == 0 else "fake clock")
    assert none == "real clock"


async def test_a_singleton_above_a_fake_is_one_for_the_whole_block_and_for_blocks_inside_it() -> None:
    seen: list[Any] = []

    class Keeps(Ask):
        """Keep the service."""

        name = "ask"

        async def handler(self) -> str:
            seen.append(self.service)
            return "kept"

    class Application(containers.DeclarativeContainer):
        http = providers.Object("real")
        other = providers.Object("other")
        service = providers.Singleton(Service, http)
        ask = provide(Keeps, service=dep(service))
        agent = provide(Agent, tools=["ask"])

    async with application(Application()) as app:
        with overriding(app.container, http="fake"):
            await heard(app.agent())
            await heard(app.agent())
            with overriding(app.container, other="unrelated"):
                await heard(app.agent())
            directly = app.container.service()
        real = app.container.service()

    assert seen == [directly] * 3
    assert real is not directly
    assert real.http == "real"


async def test_a_singleton_above_an_app_wide_object_above_a_fake_is_made_in_each_run_and_never_closed_early() -> None:
    states: list[int] = []

    class Pool:
        def __init__(self, url: str) -> None:
            self.url, self.closed = url, 0

        async def aclose(self) -> None:
            self.closed += 1

    class Notes(Ask):
        """Note whether the pool is closed."""

        name = "ask"

        async def handler(self) -> str:
            states.append(self.service.http.closed)
            return str(self.service.http.url)

    class Application(containers.DeclarativeContainer):
        url = providers.Object("db://real")
        pool = AppScoped(Pool, url)
        service = providers.Singleton(Service, pool)
        ask = provide(Notes, service=dep(service))
        agent = provide(Agent, tools=["ask"])

    async with application(Application()) as app:
        with overriding(app.container, url="db://fake"):
            inside = [await heard(app.agent()), await heard(app.agent())]
        after = await heard(app.agent())

    assert inside == ["db://fake", "db://fake"]
    assert after == "db://real"
    assert states == [0, 0, 0]


async def test_a_run_that_was_started_inside_the_block_keeps_its_fakes_to_its_end() -> None:
    is_running, may_go_on = asyncio.Event(), asyncio.Event()

    class Waits(Tool):
        """Wait."""

        name = "waits"

        async def handler(self) -> str:
            is_running.set()
            await may_go_on.wait()
            return "waited"

    class Application(containers.DeclarativeContainer):
        http = providers.Factory(Http)
        service = providers.Singleton(Service, http)
        ask = provide(Ask, service=dep(service))
        waits = provide(Waits)
        agent = provide(Agent, tools=["waits", "ask"])

    async with application(Application()) as app:
        with overriding(app.container, http=Http("fake")):
            running = asyncio.create_task(app.agent().run("go", model=in_turns("waits", "ask")))
            await is_running.wait()
        may_go_on.set()
        run = await running

    assert answers(run) == ["waited", "fake"]


async def test_children_of_the_task_see_the_fake_and_siblings_do_not() -> None:
    async with application(container_of(providers.Factory(Http))) as app:
        agent = app.agent()
        sibling_may_run = asyncio.Event()

        async def sibling() -> str:
            await sibling_may_run.wait()
            return await heard(agent)

        older = asyncio.create_task(sibling())
        with overriding(app.container, http=Http("fake")):
            child = await asyncio.create_task(heard(agent))
            sibling_may_run.set()
            other = await older

    assert child == "fake"
    assert other == "real"


async def test_sync_handlers_in_threads_and_executors_see_the_fake() -> None:
    class Looks(Tool):
        """Look into the container, from a thread."""

        name = "ask"

        def handler(self) -> str:
            return str(container.http().name)

    class Application(containers.DeclarativeContainer):
        http = providers.Singleton(Http)
        agent = provide(Agent, tools=[Looks])

    container = Application()

    async with application(container) as app:
        with overriding(container, http=Http("fake")):
            inside = await heard(app.agent())
            in_thread = await asyncio.to_thread(lambda: container.http().name)
            in_loop_of_its_own = await asyncio.to_thread(
                lambda: asyncio.run(heard(Agent(tools=[provide_looks(container)])))
            )
        after = await heard(app.agent())

    assert (inside, in_thread, in_loop_of_its_own, after) == ("fake", "fake", "fake", "real")


def provide_looks(container: Any) -> Any:
    @tool(name="ask")
    async def ask() -> str:
        """Look into the container."""
        return str(container.http().name)

    return ask


async def test_stream_and_a_run_in_a_fresh_context_are_what_their_context_says() -> None:
    async with application(container_of(providers.Factory(Http))) as app:
        agent = app.agent()
        outside = contextvars.copy_context()
        with overriding(app.container, http=Http("fake")):
            async with agent.stream("go", model=asking("ask")) as stream:
                async for _ in stream:
                    pass
            elsewhere = await asyncio.create_task(heard(agent), context=outside)

    assert answers(stream.run) == ["fake"]
    assert elsewhere == "real"


# What may be given


async def test_a_provider_may_be_named_by_itself_or_by_its_class() -> None:
    class Application(containers.DeclarativeContainer):
        http = providers.Factory(Http)
        service = providers.Factory(Service, http)
        ask = provide(Ask, service=dep(service))
        agent = provide(Agent, tools=["ask"])

    async with application(Application()) as app:
        with overriding(app.container, {app.container.http: Http("by itself")}):
            by_itself = await heard(app.agent())
        with overriding(app.container, {Application.http: Http("by its class")}):
            by_class = await heard(app.agent())

    assert (by_itself, by_class) == ("by itself", "by its class")


class Inner(containers.DeclarativeContainer):
    config = providers.Configuration()
    http: Any = providers.Dependency()
    service = providers.Singleton(Service, http, config.clock)
    ask = provide(Ask, service=dep(service))


class Outer(containers.DeclarativeContainer):
    config = providers.Configuration(strict=True)
    http = AppScoped(open_http, config.http.name)
    tools = providers.Container(Inner, http=http, config=config.inner)
    agent = provide(Agent, tools=["tools.ask"])


def outer() -> Any:
    container = Outer()
    container.config.from_dict({"http": {"name": "real", "other": 1}, "inner": {"clock": "real clock"}})
    return container


@pytest.mark.parametrize("key", ["tools.http", "http", Inner, Outer], ids=["nested", "outer", "Inner.http", "class"])
async def test_a_nested_name_replaces_a_provider_of_an_embedded_container(key: Any) -> None:
    wanted = {Inner: lambda c: c.tools.http, Outer: lambda c: Outer.tools.http}
    async with application(outer()) as app:
        target = wanted[key](app.container) if key in wanted else key
        with overriding(app.container, {target: Http("fake")}):
            inside = [await heard(app.agent()), await heard(app.agent())]
        after = await heard(app.agent())

    assert inside == ["fake", "fake"]
    assert after == "real"


@pytest.mark.parametrize(
    "replacement",
    [
        pytest.param({"config.http.name": "fake"}, id="one option"),
        pytest.param({"config": {"http": {"name": "fake"}, "inner": {"clock": "c"}}}, id="all"),
    ],
)
async def test_configuration_may_be_replaced_though_dependency_injector_keeps_what_it_read(replacement: Any) -> None:
    container = outer()
    async with application(container) as app:
        before = await heard(app.agent())
        with overriding(container, replacement):
            inside = [await heard(app.agent()), container.config.http.name()]
        after = [await heard(app.agent()), container.config.http.name()]

    assert before == "real"
    assert inside == ["fake", "fake"]
    assert after == ["real", "real"]
    assert container.config.http.other() == 1


def test_two_options_of_one_configuration_may_be_replaced_at_once() -> None:
    container = outer()

    with overriding(container, {"config.http.name": "fake", "config.inner.clock": "stopped"}):
        inside = container.config.http(), container.tools.config.clock()

    assert inside == ({"name": "fake", "other": 1}, "stopped")
    assert container.tools.config.clock() == "real clock"


async def test_a_provider_replaces_and_any_other_value_is_used_as_it_is() -> None:
    closed: list[str] = []

    async def open_fake() -> AsyncIterator[Http]:
        yield Http("opened")
        closed.append("fake")

    there = Http("there")

    async with application(container_of(AppScoped(open_http))) as app:
        agent = app.agent()
        with overriding(app.container, http=providers.Factory(Http, "made")):
            made = await heard(agent)
        with overriding(app.container, http=there):
            as_it_is = await heard(agent)
        with overriding(app.container, http=RunScoped(open_fake)):
            opened = [await heard(agent), await heard(agent)]
        with overriding(app.container, http=AppScoped(open_fake)):
            opened_by_app = await heard(agent)
        with overriding(app.container, http=providers.Factory(Service, AppScoped(open_fake)).provided.http):
            opened_below = await heard(agent)
        closed_by_their_runs = list(closed)

    assert (made, as_it_is, opened) == ("made", "there", ["opened", "opened"])
    assert (opened_by_app, opened_below) == ("opened", "opened")
    assert there.closed == 0
    assert closed_by_their_runs == closed == ["fake"] * 4


async def test_a_class_may_stand_in_for_a_tool_and_is_described_by_itself() -> None:
    async with application(container_of(providers.Factory(Http))) as app:
        agent = app.agent()
        model = ScriptedModel([says("hello")])
        await agent.run("go", model=model)
        with overriding(app.container, ask=FakeAsk):
            inside = asking("fake_ask")
            run = await agent.run("go", model=inside)
        after = ScriptedModel([says("hello")])
        await agent.run("go", model=after)

    assert answers(run) == ["faked"]
    assert [shown.name for shown in inside.requests[0].tools] == ["fake_ask"]
    assert list(inside.requests[0].tools[0].input_schema["properties"]) == ["loudly"]
    assert [shown.name for shown in (*model.requests[0].tools, *after.requests[0].tools)] == ["ask", "ask"]


@pytest.mark.parametrize(
    "replacement", [FakeAsk, FakeAsk(), providers.Factory(FakeAsk), providers.Object(FakeAsk())], ids=repr
)
async def test_a_tool_listed_as_a_class_is_replaced_through_its_provider(replacement: Any) -> None:
    class Application(containers.DeclarativeContainer):
        http = providers.Factory(Http)
        service = providers.Factory(Service, http)
        ask = provide(Ask, service=dep(service))
        agent = provide(Agent, tools=[Ask])

    async with application(Application()) as app:
        with overriding(app.container, ask=replacement):
            run = await app.agent().run("go", model=asking("fake_ask"))
        after = await heard(app.agent())

    assert answers(run) == ["faked"]
    assert after == "real"


async def test_a_class_that_stands_in_is_built_by_type_with_values_and_fakes() -> None:
    async with application(container_of(providers.Factory(Http))) as app:
        with overriding(app.container, ask=NeedsFake, http=providers.Factory(Http, "fake")):
            by_type = await app.agent().run("go", model=asking("needs"))
        with overriding(app.container, {"ask": NeedsFake}):
            by_value = await app.agent().run("go", model=asking("needs"), values={Http: Http("a value")})
        with overriding(app.container, ask=Ask):  # the very class that the provider gives
            by_itself = await heard(app.agent())

    assert answers(by_type) == ["needs fake"]
    assert answers(by_value) == ["needs a value"]
    assert by_itself == "real"


async def test_an_injected_parameter_and_available_if_see_the_fake() -> None:
    @tool
    async def ask(http: Annotated[Http, Inject()], named: Annotated[Any, Inject("http")]) -> str:
        """Say which client there is."""
        return f"{http.name} {named.name}"

    class Application(containers.DeclarativeContainer):
        http = providers.Factory(Http)
        agent = provide(Agent, tools=[ask])

    async with application(Application()) as app:
        with overriding(app.container, http=Http("fake")):
            inside = await heard(app.agent())
        after = await heard(app.agent())

    assert (inside, after) == ("fake fake", "real real")


async def test_the_agent_and_its_model_may_be_replaced() -> None:
    class Application(containers.DeclarativeContainer):
        model: Any = providers.Object(ScriptedModel([says("real")]))
        agent = provide(Agent, model=dep(model))

    async with application(Application()) as app:
        bound = app.agent()
        with overriding(app.container, model=ScriptedModel([says("scripted")])):
            with_model = await bound.run("go")
        with overriding(app.container, agent=Agent(ScriptedModel([says("another")]))):
            with_agent = await bound.run("go")
            bound_inside = app.agent()
        after = await bound_inside.run("go")

    assert (with_model.response, with_agent.response, after.response) == ("scripted", "another", "real")


# What is refused


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("htpp", "the container has no provider 'htpp' to override; it has agent, config, http, tools, tools.ask"),
        ("tools.htpp", "the container has no provider 'tools.htpp' to override"),
        ("http.name", "the container has no provider 'http.name' to override"),
        ("tools", "'tools' is a container inside the container; override what is in it, by a nested name"),
        (providers.Factory(Http), "the container has no provider <dependency_injector.providers.Factory"),
        (3, "the container has no provider 3 to override"),
    ],
)
def test_what_the_container_does_not_have_is_refused_with_the_names_it_has(key: Any, text: str) -> None:
    with pytest.raises(ConfigurationError) as refused, overriding(outer(), {key: 1}):
        pass

    assert text in str(refused.value)


def test_a_refused_override_leaves_nothing_behind() -> None:
    container = container_of(providers.Factory(Http))

    with pytest.raises(ConfigurationError), overriding(container, http=Http("fake"), htpp=1):
        pass

    assert container.http().name == "real"


@pytest.mark.parametrize("given", [containers.DeclarativeContainer, {}, None])
def test_something_that_is_no_container_is_refused(given: Any) -> None:
    with pytest.raises(ConfigurationError, match="overriding takes a container"), overriding(given, http=1):
        pass


# Beside dependency-injector's own


async def test_dependency_injectors_own_override_goes_on_working_below_and_inside() -> None:
    async with application(container_of(providers.Factory(Http))) as app:
        agent, http = app.agent(), app.container.http
        with http.override(providers.Factory(Http, "theirs")):
            theirs = await heard(agent)
            with overriding(app.container, http=Http("ours")):
                ours = await heard(agent)
            theirs_again = await heard(agent)
        real = await heard(agent)
        with overriding(app.container, http=Http("ours")):
            with http.override(Http("theirs, inside")):
                inside = await heard(agent)
            ours_again = await heard(agent)
        real_again = await heard(agent)

    assert (theirs, ours, theirs_again, real) == ("theirs", "ours", "theirs", "real")
    assert (inside, ours_again, real_again) == ("theirs, inside", "ours", "real")


async def test_their_override_of_a_tool_changes_what_the_model_is_shown() -> None:
    async with application(container_of(providers.Factory(Http))) as app:
        agent = app.agent()
        first, second, third = (ScriptedModel([says("hello")]) for _ in range(3))
        await agent.run("go", model=first)
        with app.container.ask.override(providers.Factory(FakeAsk)):
            await agent.run("go", model=second)
        await agent.run("go", model=third)

    shown = [[definition.name for definition in model.requests[0].tools] for model in (first, second, third)]
    assert shown == [["ask"], ["fake_ask"], ["ask"]]


async def test_their_override_by_something_asynchronous_is_opened_and_forgotten() -> None:
    async with application(container_of(RunScoped(open_http))) as app:
        agent = app.agent()
        with app.container.http.override(RunScoped(open_http, "theirs")):
            theirs = await heard(agent)
        real = await heard(agent)

    assert (theirs, real) == ("theirs", "real")


def test_a_dependency_with_a_default_keeps_it_after_the_block() -> None:
    class Application(containers.DeclarativeContainer):
        http = providers.Dependency(default=Http("default"))

    container = Application()

    with overriding(container, http=Http("fake")):
        inside = container.http().name

    assert (inside, container.http().name) == ("fake", "default")


def test_an_undefined_dependency_is_undefined_after_the_block_too() -> None:
    class Application(containers.DeclarativeContainer):
        http: Any = providers.Dependency()

    container = Application()
    with overriding(container, http=Http("fake")):
        pass

    with pytest.raises(ConfigurationError, match="a dependency is not defined"):
        container.http()


async def test_a_container_that_was_overridden_may_be_copied() -> None:
    container = container_of(providers.Factory(Http))
    with overriding(container, http=Http("fake")):
        copied = deepcopy(container)
        original_inside, copy_inside = container.http().name, copied.http().name

    assert (original_inside, copy_inside) == ("fake", "real")
    assert copied.service().http.name == "real"


async def test_a_replacement_that_needs_what_it_replaces_is_a_circle_found_at_the_runs_start() -> None:
    async with application(container_of(providers.Factory(Http))) as app:
        with overriding(app.container, service=providers.Factory(Service, app.container.service)):
            with pytest.raises(ConfigurationError, match="cyclic dependency: Service -> Service"):
                await app.agent().run("go", model=asking("ask"))
            scope = resolver_for(app.container).open_run({}, None)
            with pytest.raises(ConfigurationError, match="cyclic dependency: Service -> Service") as refused:
                await scope.build(Recipe("the service", key=app.container.service))

    assert refused.value.__context__ is None, "it was found while another error was explained"


async def test_a_tool_that_is_a_singleton_above_a_fake_is_still_built_only_when_it_is_called() -> None:
    built: list[str] = []

    class Counts(Ask):
        """Count."""

        name = "ask"

        def __init__(self, service: Any) -> None:
            super().__init__(service)
            built.append(service.http)

    class Application(containers.DeclarativeContainer):
        http = providers.Object("real")
        service = providers.Factory(Service, http)
        ask = providers.Singleton(Counts, service)
        agent = provide(Agent, tools=["ask"])

    async with application(Application()) as app:
        with overriding(app.container, http="fake"):
            await app.agent().run("go", model=ScriptedModel([says("nothing to do")]))
            untouched = list(built)
            await heard(app.agent())

    assert untouched == []
    assert built == ["fake"]


# Nothing is left


async def test_nothing_that_was_built_with_a_fake_outlives_the_block() -> None:
    left: list[weakref.ref[Any]] = []

    class Heavy(Service):
        def __init__(self, http: Any) -> None:
            super().__init__(http)
            left.append(weakref.ref(self))

    class Application(containers.DeclarativeContainer):
        http = providers.Factory(Http)
        single = providers.Singleton(Heavy, http)
        shared = AppScoped(Heavy, http)
        resource = providers.Resource(Heavy, http)
        ask = provide(Ask, service=dep(providers.List(single, shared, resource).provided[0]))
        agent = provide(Agent, tools=["ask"])

    async with application(Application()) as app:
        opened_for_real = len(left)
        with overriding(app.container, http=Http("fake")):
            await heard(app.agent())
            await heard(app.agent())
        gc.collect()

        assert len(left) - opened_for_real >= 3
        assert [reference() for reference in left[opened_for_real:] if reference() is not None] == []


async def test_an_app_wide_twin_used_outside_of_a_run_says_why_there_is_none() -> None:
    async with application(container_of(providers.Object("url"), AppScoped)) as app:
        with (
            overriding(app.container, http="fake"),
            pytest.raises(ConfigurationError, match="each run opens its own, and outside there is none"),
        ):
            app.container.service()
