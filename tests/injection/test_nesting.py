"""Scoped objects at any depth of dependency-injector's own providers; none of them turns into a future."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import pytest
from dependency_injector import containers, providers

from tests.injection.parts import Client, Connection, asking, connection_open_async
from toolkit import Agent, ConfigurationError, Tool
from toolkit.injection import AppScoped, RunScoped, application, check, dep, overriding, provide


class Keeper(Tool):
    """Keep what was injected."""

    name = "keep"
    kept: ClassVar[list[Any]] = []

    def __init__(self, injected: Any) -> None:
        self.injected = injected

    async def handler(self) -> str:
        Keeper.kept.append(self.injected)
        return type(self.injected).__name__


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    Keeper.kept.clear()


class Base(containers.DeclarativeContainer):
    config = providers.Configuration()
    db = RunScoped(connection_open_async, config.url)
    shared = AppScoped(connection_open_async, config.url)
    agent = provide(Agent, tools=["keep"])


class Embedded(containers.DeclarativeContainer):
    db: providers.Dependency[Connection] = providers.Dependency(instance_of=Connection)
    own = RunScoped(connection_open_async, "db://embedded")
    client = providers.Factory(Client, connection=db)


class Grouped(containers.DeclarativeContainer):
    deps = providers.DependenciesContainer()
    client = providers.Factory(Client, connection=deps.db)


NESTINGS = [
    pytest.param(lambda c: c.db, lambda kept: kept, id="directly"),
    pytest.param(lambda c: providers.Factory(Client, c.db), lambda kept: kept.connection, id="Factory"),
    pytest.param(
        lambda c: providers.Factory(Client, connection=providers.Factory(Client, connection=c.db)),
        lambda kept: kept.connection.connection,
        id="Factory of Factory",
    ),
    pytest.param(lambda c: providers.Singleton(Client, c.shared), lambda kept: kept.connection, id="Singleton"),
    pytest.param(
        lambda c: providers.ThreadSafeSingleton(Client, c.shared),
        lambda kept: kept.connection,
        id="ThreadSafeSingleton",
    ),
    pytest.param(lambda c: providers.Callable(Client, c.db), lambda kept: kept.connection, id="Callable"),
    pytest.param(lambda c: providers.List(c.db, c.shared), lambda kept: kept[0], id="List"),
    pytest.param(lambda c: providers.Dict(db=c.db), lambda kept: kept["db"], id="Dict"),
    pytest.param(
        lambda c: providers.Selector(c.config.which, db=providers.Factory(Client, c.db), other=c.shared),
        lambda kept: kept.connection,
        id="Selector",
    ),
    pytest.param(
        lambda c: providers.Container(Embedded, db=c.db).client,
        lambda kept: kept.connection,
        id="Container, Dependency",
    ),
    pytest.param(lambda c: providers.Container(Embedded, db=c.db).own, lambda kept: kept, id="inside a Container"),
    pytest.param(
        lambda c: providers.Dependency(default=providers.Factory(Client, c.db)),
        lambda kept: kept.connection,
        id="Dependency by default",
    ),
    pytest.param(
        lambda c: providers.Factory(Client, c.db).provided.connection, lambda kept: kept, id=".provided attribute"
    ),
    pytest.param(lambda c: providers.List(c.db).provided[0], lambda kept: kept, id=".provided item"),
    pytest.param(
        lambda c: providers.Object(Client(Connection("db://here"))), lambda kept: kept.connection, id="Object"
    ),
    pytest.param(lambda c: RunScoped(Client, c.db), lambda kept: kept.connection, id="RunScoped of RunScoped"),
    pytest.param(lambda c: AppScoped(Client, c.shared), lambda kept: kept.connection, id="AppScoped of AppScoped"),
    pytest.param(lambda c: RunScoped(Client, c.shared), lambda kept: kept.connection, id="RunScoped of AppScoped"),
]


@pytest.mark.parametrize(("nest", "find"), NESTINGS)
async def test_a_scoped_object_reaches_a_tool_through_any_provider(nest: Any, find: Any) -> None:
    class Application(Base):
        keep = provide(Keeper, injected=nest(Base))

    container = Application()
    container.config.from_dict({"url": "db://here", "which": "db"})

    async with application(container) as app:
        run = await app.agent().run("go", model=asking("keep"))
        await app.agent().run("go", model=asking("keep"))

    connection = find(Keeper.kept[0])
    assert type(connection) is Connection, "a provider gave something else, such as a future"
    assert not asyncio.isfuture(Keeper.kept[0])
    assert run.calls[0].error is None


async def test_a_dependencies_container_hands_a_scoped_object_on() -> None:
    class Application(Base):
        grouped = providers.Container(Grouped, deps=providers.DependenciesContainer(db=Base.db))
        keep = provide(Keeper, injected=dep(grouped.client))

    container = Application()
    container.config.from_dict({"url": "db://here"})

    async with application(container) as app:
        await app.agent().run("go", model=asking("keep"))

    assert type(Keeper.kept[0].connection) is Connection


async def test_only_the_selected_branch_is_opened_and_it_may_change_between_runs() -> None:
    opened: list[str] = []

    async def open_one(name: str) -> str:
        opened.append(name)
        return name

    class Application(containers.DeclarativeContainer):
        config = providers.Configuration()
        which = providers.Selector(config.which, a=RunScoped(open_one, "a"), b=RunScoped(open_one, "b"))
        keep = provide(Keeper, injected=dep(which))
        agent = provide(Agent, tools=["keep"])

    container = Application()
    container.config.from_dict({"which": "a"})

    async with application(container) as app:
        agent = app.agent()
        await agent.run("go", model=asking("keep"))
        container.config.from_dict({"which": "b"})
        await agent.run("go", model=asking("keep"))

    assert opened == ["a", "b"]
    assert Keeper.kept == ["a", "b"]


async def test_a_branch_that_anything_but_configuration_selects_may_change_too() -> None:
    async def open_one(name: str) -> str:
        return name

    which = ["a"]

    class Application(containers.DeclarativeContainer):
        chosen = providers.Selector(lambda: which[0], a=RunScoped(open_one, "a"), b=RunScoped(open_one, "b"))
        keep = provide(Keeper, injected=dep(chosen))
        agent = provide(Agent, tools=["keep"])

    async with application(Application()) as app:
        await app.agent().run("go", model=asking("keep"))
        which[0] = "b"
        await app.agent().run("go", model=asking("keep"))

    assert Keeper.kept == ["a", "b"]


async def test_a_singleton_above_a_branch_selected_later_is_not_handed_to_the_next_application() -> None:
    which = ["plain"]

    class Application(containers.DeclarativeContainer):
        opened = AppScoped(connection_open_async)
        chosen = providers.Selector(lambda: which[0], plain=providers.Factory(Connection), opened=opened)
        client = providers.Singleton(Client, chosen)
        keep = provide(Keeper, injected=dep(client))
        agent = provide(Agent, tools=["keep"])

    container = Application()
    for _ in range(2):
        which[0] = "plain"
        async with application(container) as app:
            which[0] = "opened"
            await app.agent().run("go", model=asking("keep"))
            assert Keeper.kept[-1].connection.closed == 0

    assert [client.connection.closed for client in Keeper.kept] == [1, 1]


@pytest.mark.parametrize("kind", [providers.Singleton, providers.Resource])
@pytest.mark.parametrize("change", ["branch", "override"])
async def test_what_would_keep_an_object_of_a_run_is_refused_however_late_that_comes_about(
    kind: Any, change: str
) -> None:
    which = ["plain"]

    class Application(containers.DeclarativeContainer):
        db = RunScoped(connection_open_async)
        plain = providers.Factory(Connection)
        chosen = providers.Selector(lambda: which[0], plain=plain, db=db)
        client = kind(Client, chosen)
        keep = provide(Keeper, injected=dep(client))
        agent = provide(Agent, tools=["keep"])

    container = Application()
    async with application(container) as app:
        if change == "branch":
            which[0] = "db"
        else:
            container.plain.override(container.db)
        with pytest.raises(ConfigurationError, match="lives as long as the application and would hold Run"):
            await app.agent().run("go", model=asking("keep"))

    assert Keeper.kept == []


async def test_what_the_application_has_made_stays_as_it_is_whatever_is_selected_later() -> None:
    which = ["shared"]

    class Application(Base):
        chosen = providers.Selector(lambda: which[0], shared=Base.shared, db=Base.db)
        client = AppScoped(Client, chosen)
        single = providers.Singleton(Client, client)
        keep = provide(Keeper, injected=dep(single))

    container = Application(config={"url": "db://here"})
    async with application(container) as app:
        await app.agent().run("go", model=asking("keep"))
        which[0] = "db"
        await app.agent().run("go", model=asking("keep"))

    assert Keeper.kept[0] is Keeper.kept[1]


async def test_branches_within_branches_may_change_in_each_run_and_so_may_what_they_are() -> None:
    async def open_one(name: str) -> str:
        return name

    outer, inner = ["in"], ["a"]

    class Application(containers.DeclarativeContainer):
        nested = providers.Selector(lambda: inner[0], a=RunScoped(open_one, "a"), b=RunScoped(open_one, "b"))
        chosen = providers.Selector(lambda: outer[0], out=RunScoped(open_one, "out"), **{"in": nested})
        keep = provide(Keeper, injected=dep(chosen))
        agent = provide(Agent, tools=["keep"])

    async with application(Application()) as app:

        async def kept() -> Any:
            await app.agent().run("go", model=asking("keep"))
            return Keeper.kept[-1]

        assert [await kept() for _ in range(2)] == ["a", "a"]
        inner[0] = "b"
        assert [await kept() for _ in range(2)] == ["b", "b"]
        outer[0] = "out"
        assert [await kept() for _ in range(2)] == ["out", "out"]
        inner[0], outer[0] = "a", "in"
        assert [await kept() for _ in range(2)] == ["a", "a"]
        app.container.nested.set_providers(a=RunScoped(open_one, "another a"))
        assert [await kept() for _ in range(2)] == ["another a", "another a"]
        with overriding(app.container, nested="replaced"):
            assert [await kept() for _ in range(2)] == ["replaced", "replaced"]
        assert await kept() == "another a"


async def test_a_handler_does_not_reach_into_the_run_through_the_container() -> None:
    class Reaches(Keeper):
        """Try it."""

        name = "keep"

        async def handler(self) -> str:
            with pytest.raises(ConfigurationError, match="used outside of a run's scope"):
                container.db()
            return "refused"

    class Application(Base):
        keep = provide(Reaches, injected=dep(Base.db))

    container = Application()

    async with application(container) as app:
        run = await app.agent().run("go", model=asking("keep"))

    assert run.calls[0].error is None


async def test_a_container_that_is_subclassed_keeps_its_scopes() -> None:
    class Parent(containers.DeclarativeContainer):
        db = RunScoped(connection_open_async, "db://parent")
        keep = provide(Keeper, injected=dep(db))
        agent = provide(Agent, tools=["keep"])

    class Child(Parent):
        db = RunScoped(connection_open_async, "db://child")
        keep = provide(Keeper, injected=dep(db))

    for container in (Parent(), Child()):
        async with application(container) as app:
            await app.agent().run("go", model=asking("keep"))

    assert [connection.url for connection in Keeper.kept] == ["db://parent", "db://child"]


async def make_client() -> Client:
    return Client(Connection())


def client_generator() -> Any:
    yield Client(Connection())


FUTURES = [
    pytest.param(providers.Factory(make_client), "turns all that is built from it into futures", id="Factory"),
    pytest.param(providers.Singleton(make_client), "turns all that is built from it into futures", id="Singleton"),
    pytest.param(providers.Callable(make_client), "turns all that is built from it into futures", id="Callable"),
    pytest.param(providers.Coroutine(make_client), "gives a coroutine", id="Coroutine"),
    pytest.param(providers.Resource(make_client), "turns all that is built from it into futures", id="Resource"),
    pytest.param(providers.Factory(client_generator), "gives a generator that nobody opens", id="generator"),
]


@pytest.mark.parametrize(("provider", "says"), FUTURES)
def test_what_would_turn_into_a_future_below_a_tool_is_refused(provider: Any, says: str) -> None:
    class Application(containers.DeclarativeContainer):
        client = provider
        keep = provide(Keeper, injected=dep(client))
        agent = provide(Agent, tools=["keep"])

    with pytest.raises(ConfigurationError) as refused:
        check(Application())

    assert says in str(refused.value)
    assert "RunScoped(...) or AppScoped(...)" in str(refused.value)


@pytest.mark.parametrize(("provider", "says"), FUTURES)
async def test_a_tool_of_one_run_that_would_get_a_future_is_refused_at_its_start(provider: Any, says: str) -> None:
    class Application(containers.DeclarativeContainer):
        client = provider
        agent = provide(Agent)

    container = Application()

    async with application(container) as app:
        with pytest.raises(ConfigurationError, match=says):
            await app.agent().run("go", model=asking("keep"), tools=[provide(Keeper, injected=dep(container.client))])


async def test_asynchronous_providers_that_no_agent_needs_are_the_users_own_affair() -> None:
    class Application(containers.DeclarativeContainer):
        resource = providers.Resource(make_client)
        client = providers.Factory(make_client)
        agent = provide(Agent)

    async with application(Application()) as app:
        run = await app.agent().run("go", model=asking())

    assert run.response == "done"


async def test_an_object_of_the_run_is_never_seen_outside_of_it() -> None:
    class Application(Base):
        keep = provide(Keeper, injected=dep(Base.db))

    container = Application()
    container.config.from_dict({"url": "db://here"})

    async with application(container) as app:
        await app.agent().run("go", model=asking("keep"))
        with pytest.raises(ConfigurationError, match="used outside of a run's scope"):
            container.db()
