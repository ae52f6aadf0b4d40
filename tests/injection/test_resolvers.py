"""`Resolver`: the contract, for a dependency-injector container and for mappings; and what else is said of mappings."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from dependency_injector import containers

from tests.injection.resolver_contract import (
    NAMES,
    Connection,
    First,
    LogKeeper,
    ResolverContract,
    Second,
    Session,
    User,
    fails,
    open_connection,
    open_session,
)
from toolkit import ConfigurationError
from toolkit.injection import Resolver, RunScoped, provide, resolver_for
from toolkit.injection.mapping import MappingResolver
from toolkit.tools.resolver import RunScope


class Container(containers.DeclarativeContainer):
    connection = RunScoped(open_connection)
    session = RunScoped(open_session, connection)
    first = provide(First, connection=connection, session=session)  # type: ignore[arg-type]
    broken = RunScoped(fails, *())


class TestDependencyInjector(ResolverContract):
    def wiring(self) -> Resolver:
        class WithoutBrokenByType(Container):
            broken = RunScoped(broken_untold)

        return resolver_for(WithoutBrokenByType())


def broken_untold():  # type: ignore[no-untyped-def]
    raise OSError("broken")


class TestMappingOfNames(ResolverContract):
    def wiring(self) -> Resolver:
        return resolver_for({**NAMES, "broken": broken_untold})


class TestMappingOfTypes(ResolverContract):
    def wiring(self) -> Resolver:
        return resolver_for(
            {Connection: open_connection, Session: open_session, "first": First, "broken": broken_untold}
        )


def test_a_mapping_and_a_container_meet_the_protocols() -> None:
    resolvers: list[Resolver] = [resolver_for(Container()), resolver_for({}), MappingResolver()]
    scopes: list[RunScope] = [resolver.open_run({}, None) for resolver in resolvers]

    assert len(scopes) == 3


@pytest.mark.parametrize("given", [None, 3, [First], Container])
def test_there_is_no_resolver_for_anything_else(given: Any) -> None:
    with pytest.raises(ConfigurationError, match="there is no resolver for"):
        resolver_for(given)


@pytest.mark.parametrize("sources", [{3: First}, {"first": 3}, {None: First}])
def test_a_mapping_is_of_names_or_types_to_callables(sources: Any) -> None:
    with pytest.raises(ConfigurationError, match="a mapping of names or types to callables can't have"):
        resolver_for(sources)


def test_two_callables_that_give_one_class_are_refused_with_their_names() -> None:
    resolver = resolver_for({"a": open_connection, "b": open_connection, "c": First, "d": First})

    with pytest.raises(ConfigurationError, match="more than one provider gives that: 'a', 'b'"):
        resolver.tool(Second, frozenset())
    with pytest.raises(ConfigurationError, match="more than one callable gives First: 'c', 'd'"):
        resolver.tool(First, frozenset())


async def test_a_generator_that_answers_a_cancellation_with_one_of_its_own_has_not_failed_to_close() -> None:
    async def cancels_anew() -> AsyncIterator[Connection]:
        try:
            yield Connection([])
        except asyncio.CancelledError:
            raise asyncio.CancelledError("mine") from None

    resolver = resolver_for({"it": cancels_anew})
    scope = resolver.open_run({}, None)
    await scope.build(resolver.tool("it", frozenset()))

    assert await scope.close(asyncio.CancelledError("theirs"), None) == []


class Egg:
    pass


class Hen:
    def __init__(self, egg: Egg) -> None: ...


def make_egg(hen: Hen) -> Egg:
    return Egg()


def test_a_circle_is_found_before_anything_is_built() -> None:
    with pytest.raises(ConfigurationError, match="cyclic dependency: egg -> hen -> egg"):
        resolver_for({"egg": make_egg, "hen": Hen}).tool("egg", frozenset())


def needs_user(user: User) -> Connection:
    return Connection([])


def test_a_value_that_is_needed_deep_down_and_not_given_is_found_before_anything_is_built() -> None:
    resolver = resolver_for({"connection": needs_user})

    with pytest.raises(ConfigurationError, match="parameter 'user' of connection takes User"):
        resolver.tool(Second, frozenset())
    assert resolver.tool(Second, frozenset({User})).product is Second


class Listed(Second):
    """Uses the connection, and who asks."""


def test_a_tool_of_the_mapping_is_looked_into_as_well_by_class_and_by_name() -> None:
    resolver = resolver_for({"connection": needs_user, "listed": Listed})

    for listed in (Listed, "listed"):
        with pytest.raises(ConfigurationError, match="parameter 'user' of connection takes User"):
            resolver.tool(listed, frozenset())


@asynccontextmanager
async def managed() -> AsyncIterator[Connection]:
    LogKeeper.log.append("open")
    yield Connection([])
    LogKeeper.log.append("close")


async def test_a_decorated_generator_is_opened_and_closed() -> None:
    LogKeeper.log = []
    resolver = resolver_for({"managed": managed})
    scope = resolver.open_run({}, None)

    made = await scope.build(resolver.tool("managed", frozenset()))
    await scope.close(None, None)

    assert type(made) is Connection
    assert LogKeeper.log == ["open", "close"]


async def test_opening_takes_no_longer_than_the_open_timeout() -> None:
    async def hangs() -> AsyncIterator[Connection]:
        await asyncio.Event().wait()
        yield Connection([])

    resolver = resolver_for({"hangs": hangs})
    scope = resolver.open_run({}, 0.01)

    with pytest.raises(TimeoutError, match=r"opening hangs took longer than 0\.01 seconds"):
        await scope.build(resolver.tool("hangs", frozenset()))


async def test_the_path_of_a_failure_leads_through_the_mapping() -> None:
    LogKeeper.log = []
    resolver = resolver_for({"connection": fails, "session": open_session, "first": First})
    scope = resolver.open_run({}, None)

    with pytest.raises(OSError, match="broken") as failed:
        await scope.build(resolver.tool("first", frozenset()))

    assert failed.value.__notes__ == ["while building 'first' -> connection"]
