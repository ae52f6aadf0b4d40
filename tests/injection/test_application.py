"""`application(container)`: opens the app-wide objects, dependencies first, and closes them in reverse, in any case."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import pytest
from dependency_injector import containers, providers

from tests.injection.parts import Client, Connection, asking, connection_open_async
from toolkit import Agent, ConfigurationError, Tool
from toolkit.injection import AppScoped, RunScoped, application, dep, overriding, provide, resolver_for
from toolkit.testing import ScriptedModel, call, calls, says

Log = list[str]


def opening(name: str, log: Log, fails: str = "") -> Callable[..., AsyncIterator[str]]:
    async def opened(*needs: Any) -> AsyncIterator[str]:
        if fails == "open":
            raise OSError(f"{name} can't be opened")
        log.append(f"open {name}")
        try:
            yield name
        except BaseException as error:
            log.append(f"{name} saw {type(error).__name__}")
            raise
        finally:
            log.append(f"close {name}")
            if fails == "close":
                raise OSError(f"{name} can't be closed")

    return opened


class Uses(Tool):
    """Use what was injected."""

    name = "use"
    seen: Any = None

    def __init__(self, injected: Any) -> None:
        self.injected = injected

    async def handler(self) -> str:
        type(self).seen = self.injected
        return "used"


async def test_dependencies_are_opened_first_and_closed_last() -> None:
    log: Log = []

    class Application(containers.DeclarativeContainer):
        a_service: providers.Provider[Any] = providers.Dependency()
        config = AppScoped(opening("config", log))
        pool = AppScoped(opening("pool", log), config)
        agent = provide(Agent)

    container = Application(a_service=AppScoped(opening("service", log), Application.pool))
    container.a_service.override(AppScoped(opening("service", log), container.pool))

    async with application(container) as app:
        opened = list(log)

    assert app.container is container
    assert opened == ["open config", "open pool", "open service"]
    assert log[3:] == ["close service", "close pool", "close config"]


async def test_everything_is_closed_in_reverse_when_the_body_fails_and_sees_its_error() -> None:
    log: Log = []

    class Application(containers.DeclarativeContainer):
        a = AppScoped(opening("a", log))
        b = AppScoped(opening("b", log), a)

    with pytest.raises(ValueError, match="the body failed") as failed:
        async with application(Application()):
            raise ValueError("the body failed")

    assert log[2:] == ["b saw ValueError", "close b", "a saw ValueError", "close a"]
    assert not getattr(failed.value, "__notes__", [])


async def test_one_that_fails_to_open_closes_the_earlier_and_is_named() -> None:
    log: Log = []

    class Application(containers.DeclarativeContainer):
        a = AppScoped(opening("a", log))
        b = AppScoped(opening("b", log, fails="open"), a)
        c = AppScoped(opening("c", log), b)

    with pytest.raises(OSError, match="b can't be opened") as failed:
        async with application(Application()):
            raise AssertionError("it is not open")

    assert log == ["open a", "a saw OSError", "close a"]
    assert any("while building AppScoped(" in note for note in failed.value.__notes__)


async def test_a_failing_close_after_a_good_end_is_raised_and_the_others_are_closed() -> None:
    log: Log = []

    class Application(containers.DeclarativeContainer):
        a = AppScoped(opening("a", log))
        b = AppScoped(opening("b", log, fails="close"))

    with pytest.raises(OSError, match="b can't be closed"):
        async with application(Application()):
            pass

    assert "close a" in log


async def test_two_failing_closes_are_raised_together() -> None:
    log: Log = []

    class Application(containers.DeclarativeContainer):
        a = AppScoped(opening("a", log, fails="close"))
        b = AppScoped(opening("b", log, fails="close"))

    with pytest.raises(BaseExceptionGroup) as failed:
        async with application(Application()):
            pass

    assert {str(error) for error in failed.value.exceptions} == {"a can't be closed", "b can't be closed"}


async def test_a_failing_close_does_not_hide_the_bodys_error() -> None:
    log: Log = []

    class Application(containers.DeclarativeContainer):
        a = AppScoped(opening("a", log, fails="close"))

    with pytest.raises(ValueError, match="the body failed") as failed:
        async with application(Application()):
            raise ValueError("the body failed")

    assert any("a can't be closed" in note for note in failed.value.__notes__)


async def test_opening_and_closing_have_their_time_limits() -> None:
    log: Log = []

    async def never_open(_: Any) -> AsyncIterator[str]:
        await asyncio.Event().wait()
        yield "never"

    async def never_closed(_: Any) -> AsyncIterator[str]:
        try:
            yield "it"
        finally:
            await asyncio.Event().wait()

    class Opens(containers.DeclarativeContainer):
        a = AppScoped(opening("a", log))
        b = AppScoped(never_open, a)

    class Closes(containers.DeclarativeContainer):
        a = AppScoped(opening("a", log))
        b = AppScoped(never_closed, a)

    with pytest.raises(TimeoutError, match=r"opening .*never_open took longer than 0\.01 seconds"):
        async with application(Opens(), open_timeout=0.01):
            pass
    with pytest.raises(TimeoutError, match=r"closing .*never_closed took longer than 0\.01 seconds"):
        async with application(Closes(), close_timeout=0.01):
            pass

    assert log == ["open a", "a saw TimeoutError", "close a", "open a", "close a"]


async def test_what_an_embedded_container_and_a_listed_provider_need_is_opened_too() -> None:
    log: Log = []

    class Inner(containers.DeclarativeContainer):
        http = AppScoped(opening("inner", log))

    class Application(containers.DeclarativeContainer):
        inner = providers.Container(Inner)
        agent = provide(Agent, tools=[provide(Uses, injected=dep(AppScoped(opening("listed", log))))])

    async with application(Application()) as app:
        opened = sorted(log)
        await app.agent().run("go", model=asking("use"))

    assert opened == ["open inner", "open listed"]
    assert log.count("open listed") == 1


async def test_it_can_be_used_from_a_task_that_does_not_descend_from_the_lifespan() -> None:
    class Application(containers.DeclarativeContainer):
        db = AppScoped(connection_open_async)
        client = providers.Factory(Client, db)
        service = providers.Singleton(Client, db)
        use = provide(Uses, injected=dep(client))
        agent = provide(Agent, tools=["use"])

    is_open, may_close = asyncio.Event(), asyncio.Event()
    opened: list[Any] = []

    async def lifespan() -> None:
        async with application(Application()) as app:
            opened.append(app)
            is_open.set()
            await may_close.wait()

    async def route() -> Any:
        app = opened[0]
        run = await app.agent().run("go", model=asking("use"))
        return run, app.container.db(), app.container.service()

    serving = asyncio.create_task(lifespan())
    await is_open.wait()
    run, connection, service = await asyncio.create_task(route())
    in_a_thread = await asyncio.to_thread(opened[0].container.service)
    may_close.set()
    await serving

    assert run.outcome == "completed"
    assert Uses.seen.connection is connection
    assert service.connection is connection
    assert in_a_thread is service
    assert connection.closed == 1


async def test_entered_and_left_in_two_tasks_its_task_groups_are_closed_where_they_were_opened() -> None:
    log: Log = []

    async def grouped() -> AsyncIterator[Any]:
        async with anyio.create_task_group() as group:
            yield group
        log.append("closed")

    class Application(containers.DeclarativeContainer):
        group = AppScoped(grouped)

    entered = application(Application())
    await asyncio.create_task(entered.__aenter__())
    await asyncio.create_task(entered.__aexit__(None, None, None))

    assert log == ["closed"]


async def test_two_applications_of_one_class_do_not_see_each_other() -> None:
    class Application(containers.DeclarativeContainer):
        db = AppScoped(connection_open_async)
        service = providers.Singleton(Client, db)

    async with application(Application()) as one, application(Application()) as other:
        connections = one.container.db(), other.container.db()
        services = one.container.service(), other.container.service()

    assert connections[0] is not connections[1]
    assert [service.connection for service in services] == list(connections)
    assert [connection.closed for connection in connections] == [1, 1]


class Shows(Uses):
    """Show what was injected."""

    name = "use"
    all: Any = None

    async def handler(self) -> str:
        Shows.all.append(self.injected)
        return "shown"


async def test_two_applications_of_one_container_do_not_see_each_other() -> None:
    class Application(containers.DeclarativeContainer):
        db = AppScoped(connection_open_async)
        service = providers.Singleton(Client, db)
        use = provide(Shows, injected=dep(service))
        agent = provide(Agent, tools=["use"])

    Shows.all = []
    container = Application()

    async with application(container) as one, application(container) as other:
        await one.agent().run("go", model=asking("use"))
        await other.agent().run("go", model=asking("use"))
        await one.agent().run("go", model=asking("use"))
        open_states = [service.connection.closed for service in Shows.all]
        with pytest.raises(ConfigurationError, match="2 applications of its container are open"):
            container.db()

    first, second, third = Shows.all
    assert first is third
    assert first is not second
    assert first.connection is not second.connection
    assert open_states == [0, 0, 0]


def test_two_event_loops_in_sequence_work_with_one_container() -> None:
    class Application(containers.DeclarativeContainer):
        db = AppScoped(connection_open_async)
        service = providers.Singleton(Client, db)
        use = provide(Shows, injected=dep(service))
        agent = provide(Agent, tools=["use"])

    Shows.all = []
    container = Application()

    async def main() -> str:
        async with application(container) as app:
            run = await app.agent().run("go", model=asking("use"))
        return run.outcome

    outcomes = [asyncio.run(main()), asyncio.run(main())]

    assert outcomes == ["completed", "completed"]
    first, second = Shows.all
    assert first is not second
    assert first.connection is not second.connection
    assert [first.connection.closed, second.connection.closed] == [1, 1]


async def test_a_singleton_without_anything_app_wide_is_dependency_injectors_own() -> None:
    class Application(containers.DeclarativeContainer):
        pool = providers.Singleton(Connection)

    container = Application()
    before = container.pool()

    async with application(container):
        inside = container.pool()

    assert before is inside
    assert container.pool.last_overriding is None


async def test_a_run_that_is_the_first_to_need_an_app_wide_object_has_the_application_open_it() -> None:
    log: Log = []
    tasks: list[Any] = []

    async def late() -> AsyncIterator[str]:
        tasks.append(asyncio.current_task())
        async with anyio.create_task_group():
            log.append("open")
            yield "late"
        log.append("close")
        tasks.append(asyncio.current_task())

    class Application(containers.DeclarativeContainer):
        config = providers.Configuration()
        which = providers.Selector(
            config.which,
            none=providers.Object("none"),
            late=AppScoped(late),
            broken=AppScoped(opening("b", log, "open")),
        )
        use = provide(Uses, injected=dep(which))
        agent = provide(Agent, tools=["use"])

    container = Application()
    container.config.from_dict({"which": "none"})

    async with application(container) as app:
        container.config.from_dict({"which": "late"})
        runs = await asyncio.gather(*(app.agent().run("go", model=asking("use")) for _ in range(3)))
        container.config.from_dict({"which": "broken"})
        failed = await app.agent().run("go", model=asking("use"))
        still_open = list(log)

    assert [run.calls[0].result.is_error for run in runs] == [False, False, False]
    assert isinstance(failed.calls[0].error, OSError)
    assert still_open == ["open"]
    assert log == ["open", "close"]
    assert tasks[0] is tasks[1]


async def test_a_background_failure_of_an_app_wide_object_ends_the_body_with_the_real_error() -> None:
    log: Log = []
    may_fail = asyncio.Event()

    async def background() -> None:
        await may_fail.wait()
        raise ConnectionResetError("the server went away")

    async def session(_: Any) -> AsyncIterator[str]:
        async with anyio.create_task_group() as group:
            group.start_soon(background)
            yield "session"

    class Application(containers.DeclarativeContainer):
        a = AppScoped(opening("a", log))
        it = AppScoped(session, a)

    async def serve() -> None:
        async with application(Application()):
            may_fail.set()
            await asyncio.Event().wait()

    with pytest.raises(BaseExceptionGroup) as failed:
        await serve()

    assert "the server went away" in repr(failed.value.exceptions)
    assert log == ["open a", "a saw CancelledError", "close a"]
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


@pytest.mark.parametrize("kind", ["native", "anyio"])
async def test_a_cancelled_application_closes_everything(kind: str) -> None:
    log: Log = []

    async def slow_to_close(_: Any) -> AsyncIterator[str]:
        try:
            yield "it"
        finally:
            for _ in range(3):
                await asyncio.sleep(0)
            log.append("closed slowly")

    class Application(containers.DeclarativeContainer):
        a = AppScoped(opening("a", log))
        b = AppScoped(slow_to_close, a)

    if kind == "anyio":
        with anyio.CancelScope() as scope:
            async with application(Application()):
                scope.cancel()
                await asyncio.sleep(0)
    else:

        async def serve() -> None:
            async with application(Application()):
                is_open.set()
                await asyncio.Event().wait()

        is_open = asyncio.Event()
        serving = asyncio.create_task(serve())
        await is_open.wait()
        serving.cancel()
        for _ in range(2):  # and again, while it closes
            await asyncio.sleep(0)
            serving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await serving

    assert log == ["open a", "closed slowly", "a saw CancelledError", "close a"]


async def test_a_cancellation_while_it_opens_gives_up_and_closes_what_is_open() -> None:
    log: Log = []
    is_opening = asyncio.Event()

    async def never_open(_: Any) -> AsyncIterator[str]:
        is_opening.set()
        try:
            await asyncio.Event().wait()
            yield "never"
        finally:
            log.append("given up")

    class Application(containers.DeclarativeContainer):
        a = AppScoped(opening("a", log))
        b = AppScoped(never_open, a)

    async def serve() -> None:
        async with application(Application(), open_timeout=None):
            raise AssertionError("it is not open")

    serving = asyncio.create_task(serve())
    await is_opening.wait()
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving

    assert log == ["open a", "given up", "a saw CancelledError", "close a"]


async def test_an_opening_that_cancels_itself_fails_and_does_not_hang() -> None:
    async def cancels_itself() -> AsyncIterator[str]:
        raise asyncio.CancelledError
        yield "never"

    class Application(containers.DeclarativeContainer):
        a = AppScoped(cancels_itself)

    with pytest.raises(RuntimeError, match="cancelled from inside"):
        async with application(Application()):
            pass


@pytest.mark.parametrize("given", [{"http": object}, None])
async def test_something_that_is_no_container_is_refused(given: Any) -> None:
    with pytest.raises(ConfigurationError, match="application takes a container, such as Application"):
        async with application(given):
            pass


async def test_a_class_of_containers_has_to_be_called() -> None:
    class Shop(containers.DeclarativeContainer):
        pass

    with pytest.raises(ConfigurationError, match=r"Shop is a class of containers: call it, Shop\(\)"):
        async with application(Shop):
            pass


class Support(Agent[str]):
    name = "support"


def make_agent() -> Support:
    return Support()


async def test_an_agent_is_found_by_its_name_and_bound_however_its_provider_is_declared() -> None:
    class Application(containers.DeclarativeContainer):
        agent = provide(Agent)
        typed = provide(Agent[str])
        support = provide(Support)
        made = providers.Factory(make_agent)
        shared = providers.Singleton(Support)
        there = providers.Object(Support())
        chosen = providers.Selector(lambda: "a", a=provide(Support), b=provide(Agent))

    async with application(Application()) as app:
        for name in ("agent", "typed", "support", "made", "shared", "there", "chosen"):
            run = await app.agent(name).run("go", model=ScriptedModel([says(name)]))
            assert run.response == name


async def test_a_name_that_is_no_agents_is_a_configuration_error() -> None:
    class Application(containers.DeclarativeContainer):
        agent = provide(Agent)
        db = RunScoped(Connection)
        untold = providers.Factory(lambda: Agent())

    async with application(Application()) as app:
        with pytest.raises(ConfigurationError, match="no provider 'agnet'; did you mean 'agent'"):
            app.agent("agnet")
        with pytest.raises(ConfigurationError, match="'db' gives Connection, and no agent"):
            app.agent("db")
        with pytest.raises(ConfigurationError, match="not known before it is built, and no agent"):
            app.agent("untold")


class Embedded(containers.DeclarativeContainer):
    agent = provide(Agent, model=ScriptedModel([]), name="embedded")


class Office(containers.DeclarativeContainer):
    names = providers.Singleton(dict)
    model = providers.Dependency()
    analyst = provide(Agent[str], model=dep(model), name="analyst")
    embedded = providers.Container(Embedded)


class HeadOffice(Office):
    boss = provide(Agent, model=dep(Office.model), name="boss")


async def test_an_agent_is_had_by_its_provider_as_by_its_name() -> None:
    container: Any = HeadOffice(model=ScriptedModel([says("by the class"), says("by the container")]))

    async with application(container) as app:
        by_class = await app.agent(HeadOffice.analyst).run("go")
        by_container = await app.agent(container.analyst).run("go")
        bound = [repr(app.agent(given)) for given in (Office.analyst, HeadOffice.boss, HeadOffice.embedded.agent)]

    assert [by_class.response, by_container.response] == ["by the class", "by the container"]
    assert bound == [f"<BoundAgent of provider '{name}'>" for name in ("analyst", "boss", "embedded.agent")]


async def test_an_agent_had_by_its_provider_is_what_overrides_it_for_this_container_only() -> None:
    here, elsewhere = HeadOffice(model=ScriptedModel([])), HeadOffice(model=ScriptedModel([says("own")]))

    async with application(here) as app, application(elsewhere) as other:
        bound = app.agent(Office.analyst)
        with overriding(here, analyst=Agent(ScriptedModel([says("fake")]))):
            answers = [await agent.run("go") for agent in (bound, other.agent(Office.analyst))]

    assert [answer.response for answer in answers] == ["fake", "own"]


async def test_a_provider_that_is_no_agents_or_of_another_container_is_a_configuration_error() -> None:
    async with application(HeadOffice(model=ScriptedModel([]))) as app:
        agent: Any = app.agent
        with pytest.raises(ConfigurationError, match="'names' gives dict, and no agent"):
            agent(Office.names)
        for strange in (Embedded.agent, provide(Agent)):
            with pytest.raises(ConfigurationError) as caught:
                agent(strange)
            assert str(caught.value) == (
                "AgentFactory(Agent) is no provider of the container, nor of its class; the container has 'analyst', "
                "'boss', 'embedded', 'embedded.agent', 'model', 'names'"
            )
        with pytest.raises(ConfigurationError, match="Agent'> is neither a provider of the container"):
            agent(Agent)


async def test_a_misspelt_argument_of_a_bound_agents_run_is_told_with_the_one_that_was_meant() -> None:
    class Application(containers.DeclarativeContainer):
        agent = provide(Agent, model=ScriptedModel([]))

    async with application(Application()) as app:
        agent: Any = app.agent()
        with pytest.raises(TypeError, match=r"run\(\) got an unexpected keyword argument 'actorid'"):
            await agent.run("hi", actorid="u1")
        with pytest.raises(TypeError, match="a run takes no 'actorid'; did you mean 'actor_id'"):
            agent.stream("hi", actorid="u1")


async def test_each_run_builds_its_agent_model_and_hooks_anew() -> None:
    built: list[Any] = []

    class Hook:
        def __init__(self, connection: Any) -> None:
            built.append(("hook", connection))

        def on_before_call(self, ctx: Any, call: Any) -> None:
            return None

    class Model(ScriptedModel):
        def __init__(self, connection: Any) -> None:
            super().__init__([says("done")])
            built.append(("model", connection))

    class Application(containers.DeclarativeContainer):
        db = RunScoped(connection_open_async)
        hook = providers.Factory(Hook, db)
        model = providers.Factory(Model, db)
        agent = provide(Agent, model=dep(model), hooks=["hook"])

    async with application(Application()) as app:
        agent = app.agent()
        await agent.run("go")
        await agent.run("go")

    assert sorted(kind for kind, _ in built) == ["hook", "hook", "model", "model"]
    assert len({id(connection) for _, connection in built}) == 2


async def test_without_an_application_an_app_wide_object_is_not_opened_by_a_run() -> None:
    class Application(containers.DeclarativeContainer):
        db = AppScoped(connection_open_async)
        use = provide(Uses, injected=dep(db))

    agent = Agent(ScriptedModel([says("done")]))
    agent._resolver = resolver_for(Application())
    scope = agent._resolver.open_run({}, None)

    with pytest.raises(ConfigurationError, match="open one with `async with application"):
        await scope.build(agent._resolver.tool("use", frozenset()))


async def test_nothing_is_left_running_when_it_is_closed() -> None:
    class Application(containers.DeclarativeContainer):
        db = AppScoped(connection_open_async)
        use = provide(Uses, injected=dep(db))
        agent = provide(Agent, tools=["use"])

    tasks, threads = asyncio.all_tasks(), threading.active_count()

    async with application(Application()) as app:
        await app.agent().run("go", model=asking("use"))

    assert asyncio.all_tasks() == tasks
    assert threading.active_count() == threads
    assert app.container.db.open_in == []


def test_a_provider_that_is_asked_of_the_application_is_told_where_it_is() -> None:
    class Application(containers.DeclarativeContainer):
        client = providers.Object("a client")
        agent = provide(Agent, tools=[])
        second = provide(Agent, tools=[])

    async def ask(name: str) -> str:
        async with application(Application()) as app:
            with pytest.raises(AttributeError) as refused:
                getattr(app, name)
        return str(refused.value)

    known = "and its container has a provider of that name:"
    assert asyncio.run(ask("second")) == f"""the application has no attribute 'second', {known} app.agent("second")"""
    assert asyncio.run(ask("client")) == f"the application has no attribute 'client', {known} app.container.client()"
    assert asyncio.run(ask("nothing")) == "the application has no attribute 'nothing'"


async def test_to_leave_the_application_waits_for_no_run_and_closes_its_objects_under_it() -> None:
    log: Log = []
    begun, left = asyncio.Event(), asyncio.Event()

    class Waits(Uses):
        """Wait until the application was left."""

        async def handler(self) -> str:
            begun.set()
            await left.wait()
            log.append("handler is done")
            return "done"

    class Application(containers.DeclarativeContainer):
        pool = AppScoped(opening("pool", log))
        model = providers.Object(ScriptedModel([calls(call("use")), says("Done.")]))
        agent = provide(Agent, model=dep(model), tools=[provide(Waits, injected=dep(pool))])

    async with application(Application()) as app:
        running = asyncio.create_task(app.agent().run("go"))
        await begun.wait()
    left.set()
    run = await running

    assert log == ["open pool", "close pool", "handler is done"]
    assert run.outcome == "completed"
