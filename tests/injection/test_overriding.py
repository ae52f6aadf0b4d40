"""`overriding`: replaced for the runs that this task and its children start inside the block, and for nothing else."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import weakref
from contextlib import ExitStack
from typing import Any

import pytest
from dependency_injector import containers, providers

from tests.injection.overridden import Ask, Http, Service, container_of, heard, open_http
from tests.injection.parts import Echo, answers, asking, in_turns
from toolkit import Agent, ConfigurationError, Tool, tool
from toolkit.hooks import Deny
from toolkit.injection import AppScoped, RunScoped, application, check, dep, overriding, provide

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


class Branches(containers.DeclarativeContainer):
    a = providers.Factory(Http, "a")
    b = providers.Factory(Http, "b")
    which = providers.Object(["a"])
    http = providers.Selector(which.provided[0], a=a, b=b)
    service = providers.Singleton(Service, http)
    ask = provide(Ask, service=dep(service))
    agent = provide(Agent, tools=["ask"])


async def test_a_fake_of_a_branch_that_is_selected_in_the_block_does_not_outlive_it() -> None:
    async with application(Branches(which=providers.Object(which := ["a"]))) as app:
        with overriding(app.container, b=Http("fake")):
            which[0] = "b"
            inside = await heard(app.agent())
        after = await heard(app.agent())

    assert (inside, after) == ("fake", "b")


async def test_a_singleton_is_the_same_in_a_block_that_replaces_a_branch_which_is_not_selected() -> None:
    container = Branches()
    with overriding(container, b=Http("fake")):
        inside = container.service()

    assert inside is container.service()
    assert inside.http.name == "a"


@pytest.mark.parametrize("below", [Branches.http, Branches.b], ids=["a Selector", "directly"])
async def test_what_is_built_in_a_block_over_a_later_override_of_the_library_does_not_outlive_it(below: Any) -> None:
    class Application(Branches):
        service = providers.Singleton(Service, below)

    container = Application(which=providers.Object(["b"]))
    with overriding(container, b=Http("fake")), container.b.override(Http("the library's")):
        inside = container.service().http.name

    assert (inside, container.service().http.name) == ("the library's", "b")


async def test_a_singleton_above_fakes_of_two_branches_is_not_found_once_one_of_them_is_gone() -> None:
    container, outer = Branches(which=providers.Object(which := ["b"])), ExitStack()
    outer.enter_context(overriding(container, a=Http("fake a")))
    with overriding(container, b=Http("fake b")):
        heard_in_both = [container.service().http.name]
        which[0] = "a"
        heard_in_both.append(container.service().http.name)
        outer.close()
        heard_in_one = container.service().http.name

    assert heard_in_both == ["fake b", "fake a"]
    assert heard_in_one == "a"


@pytest.mark.parametrize("kind", [lambda: providers.Factory(Http), lambda: AppScoped(Http)], ids=["fake", "app-wide"])
async def test_a_singleton_of_each_thread_or_context_stays_one_above_a_fake_and_above_an_app_wide_object(
    kind: Any,
) -> None:
    class Application(containers.DeclarativeContainer):
        http = kind()
        in_thread = providers.ThreadLocalSingleton(Service, http)
        in_context = providers.ContextLocalSingleton(Service, http)

    async def in_context() -> Any:
        return container.in_context()

    container, block = Application(), ExitStack()
    async with application(container):
        if isinstance(container.http, providers.Factory):
            block.enter_context(overriding(container, http=Http("fake")))
        mine = container.in_thread()
        others = await asyncio.gather(*(asyncio.to_thread(container.in_thread) for _ in range(2)))
        of_two_tasks = [await asyncio.create_task(in_context()) for _ in range(2)]
        of_this_context = container.in_context()
        below_it = await asyncio.create_task(in_context())
        same = container.in_thread()
        block.close()

    assert mine is same
    assert mine not in others
    assert of_two_tasks[0] is not of_two_tasks[1]
    assert of_this_context is below_it


async def test_a_singleton_of_each_context_does_not_outlive_its_application_in_a_context_that_goes_on() -> None:
    class Application(containers.DeclarativeContainer):
        http = AppScoped(Http)
        service = providers.ContextLocalSingleton(Service, http)

    container = Application()
    async with application(container):
        service = weakref.ref(container.service())
        kept = service() is container.service()
    gc.collect()

    assert kept
    assert service() is None


async def test_an_app_wide_twin_used_outside_of_a_run_says_why_there_is_none() -> None:
    async with application(container_of(providers.Object("url"), AppScoped)) as app:
        with (
            overriding(app.container, http="fake"),
            pytest.raises(ConfigurationError, match="each run opens its own, and outside there is none"),
        ):
            app.container.service()


class Plain(containers.DeclarativeContainer):
    name = providers.Object("real")
    told = providers.Factory(str, name)


class Replaced(containers.DeclarativeContainer):
    name = providers.Object("the library's")


def test_of_two_ways_to_override_one_provider_the_later_wins() -> None:
    container = Plain()
    with overriding(container, name="ours"):
        with container.override_providers(name=providers.Object("the library's")):
            inside = container.told()
        between = container.told()
    container.override(Replaced())
    with overriding(container, name="ours"):
        around = container.told()
    after = container.told()

    assert (inside, between, around, after) == ("the library's", "ours", "ours", "the library's")


def test_an_older_block_does_not_come_back_over_a_later_override_when_the_innermost_ends() -> None:
    container = Plain()
    with overriding(container, name="ours"), container.override_providers(name=providers.Object("the library's")):
        with overriding(container, name="inner"):
            inside = container.told()
        after = container.told()

    assert (inside, after) == ("inner", "the library's")


def test_the_end_of_the_librarys_override_leaves_the_blocks_that_began_meanwhile() -> None:
    container = Plain()
    container.name.override(providers.Object("first"))
    container.name.override(providers.Object("second"))

    with overriding(container, name="ours"):
        told = [container.told()]
        container.name.reset_last_overriding()
        told.append(container.told())
        container.name.reset_last_overriding()
        told.append(container.told())
    told.append(container.told())

    assert told == ["ours", "ours", "ours", "real"]


@pytest.mark.parametrize("reset", [lambda c: c.reset_override(), lambda c: c.http.reset_override()])
async def test_a_run_in_a_block_gets_the_fake_though_the_librarys_overrides_were_reset(reset: Any) -> None:
    async with application(container_of(providers.Factory(Http), RunScoped)) as app:
        agent = app.agent()
        with overriding(app.container, http=Http("fake")):
            reset(app.container)
            inside = await heard(agent)
            app.container.http.override(Http("later"))
            with_later = await heard(agent)
            reset(app.container)
            again = await heard(agent)
        after = await heard(agent)

    assert (inside, with_later, again, after) == ("fake", "later", "fake", "real")


async def test_a_run_keeps_its_fakes_to_its_end_though_the_librarys_overrides_were_reset_meanwhile() -> None:
    @tool
    def reset() -> str:
        """Take away what stands on the providers."""
        container.reset_override()
        return "reset"

    class Application(containers.DeclarativeContainer):
        http = providers.Factory(Http)
        ask = provide(Ask, service=dep(providers.Factory(Service, http)))
        agent = provide(Agent, tools=["ask", reset])

    container = Application()
    async with application(container) as app:
        with overriding(container, http=Http("fake")):
            run = await app.agent().run("go", model=in_turns("reset", "ask"))

    assert answers(run) == ["reset", "fake"]


async def test_a_fake_stays_though_the_librarys_overrides_are_reset_while_something_else_is_opened() -> None:
    async def open_slowly() -> str:
        container.http.reset_override()
        return "slow"

    class Application(containers.DeclarativeContainer):
        http = RunScoped(open_http)
        ask = provide(Ask, service=dep(providers.Factory(Service, http, RunScoped(open_slowly))))
        agent = provide(Agent, tools=["ask"])

    container = Application()
    async with application(container) as app:
        with overriding(container, http=Http("fake")):
            inside = await heard(app.agent())
        after = await heard(app.agent())

    assert (inside, after) == ("fake", "real")


@pytest.mark.parametrize("reset", [lambda c: c.reset_override(), lambda c: c.service.reset_override()])
async def test_each_application_has_its_singletons_though_the_librarys_overrides_were_reset_in_it(reset: Any) -> None:
    closed: list[int] = []

    class Notes(Ask):
        """Note whether the client is closed."""

        name = "ask"

        async def handler(self) -> str:
            closed.append(self.service.http.closed)
            return str(self.service.http.name)

    class Application(containers.DeclarativeContainer):
        http = AppScoped(open_http)
        service = providers.Singleton(Service, http)
        ask = provide(Notes, service=dep(service))
        agent = provide(Agent, tools=["ask"])

    container = Application()
    names: list[str] = []
    for _ in range(2):
        async with application(container) as app:
            container.service.override(Service(Http("mock")))
            names.append(await heard(app.agent()))
            reset(container)
            names.append(await heard(app.agent()))

    assert names == ["mock", "real"] * 2
    assert closed == [0] * 4


def enter_and_leave(blocks: list[Any]) -> None:
    with ExitStack() as stack:
        for block in blocks:
            stack.enter_context(block)


@pytest.mark.parametrize("kind", [providers.Singleton, AppScoped])
def test_an_option_that_selects_a_branch_is_not_kept_when_a_block_is_the_first_to_read_it(kind: Any) -> None:
    class Application(containers.DeclarativeContainer):
        config = providers.Configuration(strict=True)
        http = providers.Selector(config.mode, a=providers.Object("a"), b=providers.Object("b"))
        service = kind(Service, http)

    container = Application(config={"mode": "a"})
    with overriding(container, {"config.mode": "b"}):
        inside = container.http()

    assert (inside, container.http()) == ("b", "a")


class Several(containers.DeclarativeContainer):
    first = providers.Object("first")
    second = providers.Singleton(str, "second")


@pytest.mark.parametrize(
    "replacements",
    [
        pytest.param(lambda c: [{"first": c.first}], id="itself"),
        pytest.param(lambda c: [{c.second: Several.second}], id="itself, by its class"),
        pytest.param(lambda c: [{"first": c.second, "second": c.first}], id="one another"),
        pytest.param(lambda c: [{"first": c.second}, {"second": c.first}], id="one another, in two blocks"),
    ],
)
def test_what_is_replaced_by_itself_is_refused_and_replaces_nothing(replacements: Any) -> None:
    container = Several()

    with pytest.raises(ConfigurationError, match="is replaced by itself, or by others"):
        enter_and_leave([overriding(container, replaced) for replaced in replacements(container)])

    assert (container.first(), container.second()) == ("first", "second")


def test_overrides_of_the_library_that_replace_one_another_are_a_fault_of_the_container() -> None:
    container = Several()
    container.first.override(container.second)
    container.second.override(container.first)

    with pytest.raises(ConfigurationError, match="is replaced by itself, or by others"):
        check(container)


async def test_an_app_wide_object_is_the_same_in_a_block_that_replaces_a_branch_which_is_not_selected() -> None:
    opened: list[str] = []

    def open_service(http: Http) -> Service:
        opened.append(http.name)
        return Service(http)

    class Kept(Branches):
        service = AppScoped(open_service, Branches.http)
        ask = provide(Ask, service=dep(service))
        agent = provide(Agent, tools=["ask"])

    async with application(Kept(which=providers.Object(which := ["a"]))) as app:
        with overriding(app.container, b=Http("fake")):
            which[0] = "b"
            inside = await heard(app.agent())

    assert (inside, opened) == ("a", ["a"])


class Guard:
    verdict: Any = Deny("closed today")

    def on_before_call(self, ctx: Any, call: Any) -> Any:
        return self.verdict


class Lenient(Guard):
    verdict = None


@pytest.mark.parametrize("listed", ["guard", Guard], ids=["by name", "by class"])
async def test_a_guard_of_the_container_is_replaced_and_one_is_added_with_the_agent(listed: Any) -> None:
    class Guarded(containers.DeclarativeContainer):
        guard = provide(Guard)
        agent = provide(Agent, hooks=[listed], tools=[Echo])

    async with application(Guarded()) as app:
        before = await app.agent().run("?", model=asking("echo"))
        with overriding(app.container, guard=Lenient()):
            replaced = await app.agent().run("?", model=asking("echo"))
            with overriding(app.container, agent=provide(Agent, hooks=[Guard()], tools=[Echo])):
                added = await app.agent().run("?", model=asking("echo"))

    assert [*map(answers, (before, replaced, added))] == [["closed today"], ["hello"], ["closed today"]]


class Shelf:
    def books(self) -> int:
        return 3


class EmptyShelf(Shelf):
    def books(self) -> int:
        return 0


class Library(containers.DeclarativeContainer):
    shelf = providers.Factory(Shelf)
    echo = provide(Echo)
    kind = providers.Object(Shelf)


class OtherEcho(Echo):
    """Say it too."""


def test_a_class_in_the_place_of_an_object_is_used_as_it_is_and_a_failure_in_the_block_says_so() -> None:
    container = Library()

    with pytest.raises(TypeError) as failed, overriding(container, shelf=EmptyShelf):
        container.shelf().books()

    assert "missing 1 required positional argument" in str(failed.value)
    assert failed.value.__notes__ == [
        "'shelf' gives an object of Shelf, and was replaced by the class EmptyShelf itself, which nothing calls; to "
        "give an object of it, replace by EmptyShelf() or providers.Factory(EmptyShelf)"
    ]


@pytest.mark.parametrize(
    "replacement",
    [{"shelf": EmptyShelf()}, {"shelf": providers.Factory(EmptyShelf)}, {"echo": OtherEcho}, {"kind": EmptyShelf}],
    ids=["object", "provider", "class of a tool", "class for a class"],
)
def test_a_failure_in_a_block_without_such_a_class_is_left_alone(replacement: dict[str, Any]) -> None:
    with pytest.raises(LookupError) as failed, overriding(Library(), replacement):
        raise LookupError

    assert not hasattr(failed.value, "__notes__")
