"""What every resolver has to do, whatever container is behind it. Each adapter runs all of it.

An adapter is tested by a `Wiring`: it gives the resolver of a container in which the names of `Parts` stand for these
classes and functions.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Annotated

import pytest

from toolkit import ConfigurationError, Inject, Invocation, Tool, tool
from toolkit.tools.kept_specifications import specify
from toolkit.tools.parameters import Parameter
from toolkit.tools.resolver import Resolver

Log = list[str]


class User:
    """A value of a run."""


class Connection:
    def __init__(self, log: Log) -> None:
        self.log = log


class Session:
    """Opened by a plain generator, on top of a connection."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection


class LogKeeper:
    """Holds the log that the parts write into; a fresh one for each test."""

    log: Log = []  # noqa: RUF012 - replaced for each test


async def open_connection() -> AsyncIterator[Connection]:
    log = LogKeeper.log
    log.append("open connection")
    await asyncio.sleep(0)
    try:
        yield Connection(log)
    except BaseException as error:
        log.append(f"connection saw {error}")
        raise
    finally:
        log.append("close connection")


def open_session(connection: Connection) -> Iterator[Session]:
    LogKeeper.log.append("open session")
    try:
        yield Session(connection)
    finally:
        LogKeeper.log.append("close session")


class First(Tool):
    """Uses both."""

    def __init__(self, connection: Connection, session: Session) -> None:
        self.connection, self.session = connection, session

    async def handler(self) -> str:
        return ""

    async def aclose(self) -> None:
        LogKeeper.log.append("close first")


class Second(Tool):
    """Uses the connection, and who asks."""

    def __init__(self, connection: Connection, who: Invocation) -> None:
        self.connection, self.who = connection, who

    async def handler(self) -> str:
        return ""


class NeedsUser(Tool):
    """Uses a value of the run."""

    def __init__(self, user: User) -> None:
        self.user = user

    async def handler(self) -> str:
        return ""


class NeedsNothing(Tool):
    """Has a default."""

    def __init__(self, user: User | None = None) -> None:
        self.user = user

    async def handler(self) -> str:
        return ""


class Unfillable(Tool):
    """Uses what nobody has."""

    def __init__(self, missing: LogKeeper) -> None: ...

    async def handler(self) -> str:
        return ""


def fails() -> Connection:
    raise OSError("broken")


@tool
async def injected(session: Annotated[Session, Inject()], default: Annotated[int, Inject()] = 3) -> str:
    """Takes a session."""
    return ""


Wiring = Callable[[], Resolver]
NAMES = {"connection": open_connection, "session": open_session, "first": First, "broken": fails}
"""What the container under test gives, by name."""

NO_VALUES: frozenset[type] = frozenset()


def parameter(name: str) -> Parameter:
    return next(found for found in specify(injected).handler.injected if found.name == name)


class ResolverContract:
    """Subclass it, and give `wiring`."""

    @pytest.fixture
    def resolver(self) -> Resolver:
        LogKeeper.log = []
        return self.wiring()

    def wiring(self) -> Resolver:
        raise NotImplementedError

    async def test_a_tool_is_found_by_name_by_class_and_as_an_instance(self, resolver: Resolver) -> None:
        there = NeedsNothing()

        by_name = resolver.tool("first", NO_VALUES)
        by_class = resolver.tool(First, NO_VALUES)
        by_type = resolver.tool(Second, NO_VALUES)
        instance = resolver.tool(there, NO_VALUES)
        function = resolver.tool(injected, NO_VALUES)

        assert by_name.product is by_class.product is First
        assert by_name.identity is by_class.identity
        assert by_type.product is Second
        assert resolver.tool(Second, NO_VALUES).identity is by_type.identity
        assert instance.instance is there
        assert instance.identity is there
        assert function.instance is injected
        assert "first" in by_name.label
        assert "Second" in by_type.label

    async def test_finding_a_tool_builds_nothing(self, resolver: Resolver) -> None:
        resolver.tool("first", NO_VALUES)
        resolver.open_run({}, None)

        assert LogKeeper.log == []

    async def test_a_name_that_is_not_there_is_refused_with_those_that_are(self, resolver: Resolver) -> None:
        with pytest.raises(ConfigurationError, match=r"'thrid'.*'first'"):
            resolver.tool("thrid", NO_VALUES)

    async def test_a_class_that_cannot_be_filled_is_refused_naming_the_parameter(self, resolver: Resolver) -> None:
        with pytest.raises(ConfigurationError, match="parameter 'missing' of Unfillable takes LogKeeper"):
            resolver.tool(Unfillable, NO_VALUES)

    async def test_a_value_that_is_not_given_is_refused_and_one_that_is_fills(self, resolver: Resolver) -> None:
        with pytest.raises(ConfigurationError, match="parameter 'user' of NeedsUser takes User"):
            resolver.tool(NeedsUser, NO_VALUES)
        user = User()
        scope = resolver.open_run({User: user}, None)

        built = await scope.build(resolver.tool(NeedsUser, frozenset({User})))
        optional = await scope.build(resolver.tool(NeedsNothing, frozenset({User})))

        assert built.user is user
        assert optional.user is user
        assert await scope.close(None, None) == []

    async def test_defaults_stand_where_nothing_matches(self, resolver: Resolver) -> None:
        scope = resolver.open_run({}, None)

        assert (await scope.build(resolver.tool(NeedsNothing, NO_VALUES))).user is None
        assert resolver.parameter(parameter("default"), "tool 'injected'", NO_VALUES) is None

    async def test_what_a_run_opens_is_shared_by_its_tools_and_by_no_other_run(self, resolver: Resolver) -> None:
        who = Invocation("u1")
        one, other = resolver.open_run({Invocation: who}, None), resolver.open_run({Invocation: who}, None)

        first = await one.build(resolver.tool(First, NO_VALUES))
        second = await one.build(resolver.tool(Second, NO_VALUES))
        elsewhere = await other.build(resolver.tool(First, NO_VALUES))

        assert second.who is who
        assert first.connection is second.connection is first.session.connection
        assert elsewhere.connection is not first.connection
        assert elsewhere is not first
        assert LogKeeper.log == ["open connection", "open session"] * 2

    async def test_everything_is_closed_last_opened_first(self, resolver: Resolver) -> None:
        scope = resolver.open_run({Invocation: Invocation()}, None)
        await scope.build(resolver.tool(First, NO_VALUES))
        await scope.build(resolver.tool(Second, NO_VALUES))

        failed = await scope.close(None, None)

        assert failed == []
        assert LogKeeper.log[2:] == ["close first", "close session", "close connection"]

    async def test_what_has_to_be_closed_is_not_closed_at_once_and_stays_open(self, resolver: Resolver) -> None:
        scope = resolver.open_run({Invocation: Invocation()}, None)
        await scope.build(resolver.tool(First, NO_VALUES))

        assert not scope.close_at_once()
        await scope.build(resolver.tool(Second, NO_VALUES))
        assert await scope.close(None, None) == []
        assert LogKeeper.log[2:] == ["close first", "close session", "close connection"]

    async def test_generators_see_what_the_run_ended_with(self, resolver: Resolver) -> None:
        scope = resolver.open_run({}, None)
        await scope.build(resolver.tool(First, NO_VALUES))

        failed = await scope.close(ValueError("no answer"), None)

        assert failed == []
        assert "connection saw no answer" in LogKeeper.log
        assert LogKeeper.log[-1] == "close connection"

    @pytest.mark.parametrize("at_once", [True, False])
    async def test_nothing_is_built_after_the_close(self, resolver: Resolver, at_once: bool) -> None:
        scope = resolver.open_run({}, None)
        if at_once:
            assert scope.close_at_once()
        else:
            await scope.close(None, None)

        with pytest.raises(ConfigurationError, match="after the run was closed"):
            await scope.build(resolver.tool(First, NO_VALUES))

        assert LogKeeper.log == []

    async def test_an_error_of_construction_is_raised_with_a_note_of_what_was_built(self, resolver: Resolver) -> None:
        scope = resolver.open_run({}, None)

        with pytest.raises(OSError, match="broken") as failed:
            await scope.build(resolver.tool("broken", NO_VALUES))

        assert any("while building" in note and "broken" in note for note in failed.value.__notes__)
        assert await scope.close(None, None) == []

    async def test_an_injected_parameter_is_filled_for_a_call(self, resolver: Resolver) -> None:
        scope = resolver.open_run({}, None)
        recipe = resolver.parameter(parameter("session"), "tool 'injected'", NO_VALUES)
        assert recipe is not None

        built, call_scope = await scope.build_for_call({"session": recipe})
        if call_scope is not None:
            await call_scope.close(None, None)

        assert isinstance(built["session"], Session)
        assert await scope.close(None, None) == []
        assert LogKeeper.log[-2:] == ["close session", "close connection"]

    async def test_an_instance_is_given_as_it_is_and_never_closed(self, resolver: Resolver) -> None:
        scope = resolver.open_run({}, None)
        there = First(Connection([]), Session(Connection([])))

        built = await scope.build(resolver.tool(there, NO_VALUES))
        await scope.close(None, None)

        assert built is there
        assert LogKeeper.log == []

    async def test_the_memory_is_kept_from_run_to_run(self, resolver: Resolver) -> None:
        resolver.memory()["place"] = 1

        assert resolver.memory()["place"] == 1
