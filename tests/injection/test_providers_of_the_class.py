"""A provider made outside of a container names the class's providers: it gets what the application has of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from dependency_injector import containers, providers

from toolkit import Agent, Run, RunContext, Tool
from toolkit.injection import AppScoped, RunScoped, application, check, dep, overriding, provide
from toolkit.testing import ScriptedModel, call, calls, says


class Pool:
    """The application's."""

    def __init__(self, url: str, log: list[str]) -> None:
        self.url = url
        log.append("pool")


class Database:
    """A run's."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool


async def open_database(pool: Pool, log: list[str]) -> AsyncIterator[Database]:
    log.append("open")
    try:
        yield Database(pool)
    finally:
        log.append("close")


class Report(Tool):
    """Report."""

    name = "report"

    def __init__(self, database: Database) -> None:
        self.database = database

    async def handler(self) -> str:
        return f"{id(self.database)} {id(self.database.pool)} {self.database.pool.url}"


class Other(Report):
    """Report otherwise."""

    name = "other"


class Place(Tool):
    """Tell where things are."""

    name = "place"

    def __init__(self, url: str) -> None:
        self.url = url

    async def handler(self) -> str:
        return self.url


class Storage(containers.DeclarativeContainer):
    config = providers.Configuration(strict=True)
    log: Any = providers.Dependency()
    pool = AppScoped(Pool, url=config.url, log=log)
    database = RunScoped(open_database, pool, log)


class Application(containers.DeclarativeContainer):
    config = providers.Configuration(strict=True)
    log: Any = providers.Dependency()
    pool = AppScoped(Pool, url=config.url, log=log)
    database = RunScoped(open_database, pool, log)
    report = provide(Report, database=dep(database))
    agent: Any = provide(Agent, tools=["report"])


class Outer(containers.DeclarativeContainer):
    log: Any = providers.Dependency()
    storage: Any = providers.Container(Storage, config=providers.Object({"url": "here"}), log=log)
    report = provide(Report, database=storage.database)
    agent: Any = provide(Agent, tools=["report"])


OTHER = provide(Other, database=dep(Application.database))


class Gives:
    def tools(self, ctx: RunContext) -> list[Any]:
        return [OTHER]


class Listing(Agent[str]):
    tools = (OTHER,)


async def both(app: Any, **arguments: Any) -> Run[str]:
    model = ScriptedModel([calls(call("report"), call("other")), says("done")])
    run: Run[str] = await app.agent().run("go", model=model, **arguments)
    return run


def container_of(cls: Any = Application, **arguments: Any) -> tuple[Any, list[str]]:
    log: list[str] = []
    return cls(log=providers.Object(log), **arguments), log


LISTED_FOR_A_RUN = [
    pytest.param(OTHER, id="provide"),
    pytest.param(providers.Factory(Other, database=Application.database), id="Factory"),
    pytest.param(RunScoped(Other, Application.database), id="RunScoped"),
    pytest.param(provide(Other, database=dep(RunScoped(Database, Application.pool))), id="two steps"),
    pytest.param(Gives(), id="tools(ctx)"),
]


@pytest.mark.parametrize("listed", LISTED_FOR_A_RUN)
async def test_what_is_listed_for_a_run_shares_the_applications_own(listed: Any, request: Any) -> None:
    container, log = container_of(config={"url": "here"})

    async with application(container) as app:
        run = await both(app, tools=[listed, listed])

        report, other = [record.result.content.split() for record in run.calls]
        assert report[1:] == other[1:] == [str(id(app.container.pool())), "here"]
        assert (report[0] == other[0]) is ("two steps" not in request.node.name)
    assert log == ["pool", "open", "close"]


async def test_what_an_agents_class_lists_shares_the_runs_own() -> None:
    container, log = container_of(type("Made", (Application,), {"agent": provide(Listing, tools=["report"])}))
    container.config.from_dict({"url": "here"})

    async with application(container) as app:
        run = await both(app)

    assert run.calls[0].result.content == run.calls[1].result.content
    assert log == ["pool", "open", "close"]


async def test_what_replaces_a_provider_shares_the_runs_own() -> None:
    container, log = container_of(config={"url": "here"})

    async with application(container) as app:
        with overriding(app.container, report=provide(Report, database=dep(Application.database))):
            run = await both(app, tools=[OTHER])

    assert run.calls[0].result.content == run.calls[1].result.content
    assert log == ["pool", "open", "close"]


async def test_what_stands_on_an_embedded_container_shares_the_runs_own() -> None:
    container, log = container_of(Outer)

    async with application(container) as app:
        run = await both(app, tools=[provide(Other, database=Outer.storage.database)])

    assert run.calls[0].result.content == run.calls[1].result.content
    assert log == ["pool", "open", "close"]


async def test_an_option_of_the_classs_configuration_is_the_applications() -> None:
    container, _ = container_of(config={"url": "here"})
    model = ScriptedModel([calls(call("place")), says("done")])

    async with application(container) as app:
        run = await app.agent().run("go", model=model, tools=[provide(Place, url=dep(Application.config.url))])

    assert run.calls[0].result.value == "here"


async def test_two_applications_of_one_class_get_each_their_own() -> None:
    container, log = container_of(config={"url": "here"})
    second, second_log = container_of(config={"url": "there"})

    async with application(container) as app, application(second) as other_app:
        run = await both(app, tools=[OTHER])
        other_run = await both(other_app, tools=[OTHER])

    assert [record.result.content.split()[2] for record in (*run.calls, *other_run.calls)] == [
        "here",
        "here",
        "there",
        "there",
    ]
    assert log == second_log == ["pool", "open", "close"]


async def test_a_singleton_keeps_its_object_from_run_to_run() -> None:
    container, _ = container_of(config={"url": "here"})
    built = []

    def place(url: str) -> Place:
        built.append(url)
        return Place(url)

    listed = providers.Singleton(place, Application.config.url)

    async with application(container) as app:
        for _ in range(3):
            model = ScriptedModel([calls(call("place")), says("done")])
            run = await app.agent().run("go", model=model, tools=[listed])

            assert run.calls[0].result.value == "here"

    assert built == ["here"]


def test_check_finds_no_fault_in_it() -> None:
    container, _ = container_of(config={"url": "here"})

    with overriding(container, report=provide(Report, database=dep(Application.database))):
        check(container)
