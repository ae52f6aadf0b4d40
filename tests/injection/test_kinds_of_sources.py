"""`AppScoped`, `RunScoped`: a class, a function, a coroutine function, a generator or an async generator."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Generic, TypeVar

import pytest
from dependency_injector import containers, providers

from tests.injection.parts import (
    AlsoUsesConnection,
    Connection,
    UsesConnection,
    answers,
    asking,
    connect,
    connect_async,
    connection_open,
    connection_open_async,
    in_turns,
)
from toolkit import Agent, ConfigurationError
from toolkit.injection import AppScoped, RunScoped, application, dep, provide

T = TypeVar("T")


class OpensAsCallable:
    async def __call__(self, url: str = "db://here") -> AsyncIterator[Connection]:
        async for connection in connection_open_async(url):
            yield connection


class OpensPlainly:
    def __call__(self, url: str = "db://here") -> Iterator[Connection]:
        yield from connection_open(url)


@contextmanager
def managed(url: str = "db://here") -> Iterator[Connection]:
    yield from connection_open(url)


@asynccontextmanager
async def managed_async(url: str = "db://here") -> AsyncIterator[Connection]:
    async for connection in connection_open_async(url):
        yield connection


class TypedConnection(Connection, Generic[T]):
    """A class that takes a type."""


class Opener:
    async def open(self, url: str = "db://here") -> Connection:
        return await connect_async(url)


SOURCES = [
    pytest.param(Connection, id="class"),
    pytest.param(connect, id="function"),
    pytest.param(connect_async, id="coroutine function"),
    pytest.param(connection_open, id="generator"),
    pytest.param(connection_open_async, id="async generator"),
    pytest.param(TypedConnection[int], id="generic class with its type"),
    pytest.param(functools.partial(connect_async), id="partial of a coroutine function"),
    pytest.param(functools.partial(connection_open_async), id="partial of an async generator"),
    pytest.param(Opener().open, id="bound coroutine method"),
    pytest.param(OpensPlainly(), id="object whose __call__ is a generator"),
    pytest.param(OpensAsCallable(), id="object whose __call__ is an async generator"),
    pytest.param(managed, id="contextmanager"),
    pytest.param(managed_async, id="asynccontextmanager"),
]


def container_of(connection: Any) -> Any:
    class Application(containers.DeclarativeContainer):
        db = connection
        first = provide(UsesConnection, connection=dep(db))
        second = provide(AlsoUsesConnection, connection=dep(db))
        agent = provide(Agent, tools=["first", "second"])

    return Application()


def spied(source: Any, seen: list[Connection]) -> Any:
    """A tool that keeps the connection that it was given."""

    class Spies(UsesConnection):
        """Keep the connection."""

        async def handler(self) -> str:
            seen.append(self.connection)
            return self.connection.url

    class AlsoSpies(Spies):
        """Keep the connection."""

        name = "second"

    class Application(containers.DeclarativeContainer):
        db = source
        first = provide(Spies, connection=dep(db))
        second = provide(AlsoSpies, connection=dep(db))
        agent = provide(Agent, tools=["first", "second"])

    return Application()


@pytest.mark.parametrize("source", SOURCES)
async def test_a_run_opens_one_object_for_all_its_tools_and_closes_it_once(source: Any) -> None:
    seen: list[Connection] = []

    async with application(spied(RunScoped(source, "db://there"), seen)) as app:
        run = await app.agent().run("go", model=in_turns("first", "second"))
        await app.agent().run("go", model=asking("first", "second"))

    assert answers(run) == ["db://there", "db://there"]
    assert seen[0] is seen[1]
    assert seen[2] is seen[3]
    assert seen[0] is not seen[2]
    assert [connection.closed for connection in seen] == [1, 1, 1, 1]


@pytest.mark.parametrize("source", SOURCES)
async def test_an_application_opens_one_object_for_all_its_runs_and_closes_it_with_itself(source: Any) -> None:
    seen: list[Connection] = []

    async with application(spied(AppScoped(source, "db://there"), seen)) as app:
        run = await app.agent().run("go", model=in_turns("first", "second"))
        await app.agent().run("go", model=asking("first", "second"))
        closed_before = [connection.closed for connection in seen]

    assert answers(run) == ["db://there", "db://there"]
    assert len({id(connection) for connection in seen}) == 1
    assert closed_before == [0, 0, 0, 0]
    assert seen[0].closed == 1


@pytest.mark.parametrize("scope", [AppScoped, RunScoped])
async def test_arguments_may_be_providers_and_values_which_are_never_copied(scope: Any) -> None:
    options = {"pool": [1]}
    given: list[Any] = []

    def open_db(url: str, options: dict[str, Any]) -> Connection:
        given.append(options)
        return Connection(url)

    class Application(containers.DeclarativeContainer):
        config = providers.Configuration(strict=True)
        db = scope(open_db, config.url, options=options)
        first = provide(UsesConnection, connection=dep(db))
        agent = provide(Agent, tools=["first"])

    container = Application()
    container.config.from_dict({"url": "db://configured"})

    async with application(container) as app:
        run = await app.agent().run("go", model=asking("first"))

    assert answers(run) == ["db://configured"]
    assert given[0] is options


@pytest.mark.parametrize(
    ("source", "says"),
    [
        pytest.param(lambda: connect_async(), "gave a coroutine", id="coroutine"),
        pytest.param(lambda: connection_open(), "gave a generator", id="generator"),
        pytest.param(lambda: connection_open_async(), "gave a async_generator", id="async generator"),
    ],
)
async def test_a_function_that_only_calls_the_source_is_refused(source: Any, says: str) -> None:
    async with application(container_of(RunScoped(source))) as app:
        with pytest.raises(ConfigurationError, match=f"{says}, and nobody opens that"):
            await app.agent().run("go", model=asking("first"))


async def yields_nothing() -> AsyncIterator[Connection]:
    if False:
        yield Connection()


async def yields_twice() -> AsyncIterator[Connection]:
    yield Connection()
    yield Connection()


def yields_nothing_plainly() -> Iterator[Connection]:
    return
    yield Connection()


def yields_twice_plainly() -> Iterator[Connection]:
    yield Connection()
    yield Connection()


@pytest.mark.parametrize("source", [yields_nothing, yields_nothing_plainly])
async def test_a_generator_that_yields_nothing_is_a_configuration_error(source: Any) -> None:
    async with application(container_of(RunScoped(source))) as app:
        with pytest.raises(ConfigurationError, match="yielded nothing; it has to yield its object once"):
            await app.agent().run("go", model=asking("first"))


@pytest.mark.parametrize("source", [yields_twice, yields_twice_plainly])
async def test_a_generator_that_yields_twice_fails_the_run_when_it_is_closed(source: Any) -> None:
    async with application(container_of(RunScoped(source))) as app:
        with pytest.raises(Exception, match="yielded more than once"):
            await app.agent().run("go", model=asking("first"))


@pytest.mark.parametrize("scope", [AppScoped, RunScoped])
def test_something_that_cannot_be_called_is_refused_where_it_is_declared(scope: Any) -> None:
    with pytest.raises(ConfigurationError, match="takes a class or function and its arguments; it was given 3"):
        scope(3)


async def test_calling_a_scoped_provider_with_arguments_is_refused() -> None:
    async with application(container_of(AppScoped(connect))) as app:
        with pytest.raises(ConfigurationError, match="give them where it is declared"):
            app.container.db("db://elsewhere")


@pytest.mark.parametrize(
    ("scope", "text"),
    [
        (AppScoped, "outside of an application's scope"),
        (RunScoped, "outside of a run's scope"),
    ],
)
def test_a_scoped_provider_called_outside_of_its_scope_says_so(scope: Any, text: str) -> None:
    with pytest.raises(ConfigurationError, match=text):
        container_of(scope(connect)).db()
