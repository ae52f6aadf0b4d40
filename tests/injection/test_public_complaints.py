"""What people report in public about injection, each as the behaviour that our users meet instead.

The numbers are issues of ets-labs/python-dependency-injector. Several of these are shown in depth elsewhere: overrides
in test_overriding.py, closing in test_closing.py, paths of failures in test_failures_of_building.py, faults in
test_check.py.
"""

from __future__ import annotations

import asyncio
import contextvars
import gc
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import pytest
from dependency_injector import containers, providers

from tests.injection.parts import (
    Connection,
    answers,
    asking,
    connect,
    connect_async,
    connection_open,
    connection_open_async,
    in_turns,
)
from toolkit import Agent, ConfigurationError, Inject, RunError, Tool, tool
from toolkit.injection import AppScoped, CallScoped, RunScoped, application, check, dep, overriding, provide
from toolkit.testing import ScriptedModel, call, calls


class Service:
    """Stands between a tool and what is opened."""

    def __init__(self, below: Any) -> None:
        self.below = below


class Take(Tool):
    """Keep what was injected where the test can look at it."""

    name = "take"

    def __init__(self, injected: Any, into: list[Any]) -> None:
        self.injected = injected
        self.into = into

    async def handler(self) -> str:
        self.into.append(self.injected)
        return type(self.injected).__name__


class TakeToo(Take):
    """Keep it as well."""

    name = "take_too"


def container_of(provider: Any, seen: list[Any]) -> Any:
    """An agent with two tools that both take what the provider gives."""

    class Application(containers.DeclarativeContainer):
        source = provider
        take = provide(Take, injected=dep(source), into=seen)
        take_too = provide(TakeToo, injected=dep(source), into=seen)
        agent = provide(Agent, tools=["take", "take_too"])

    return Application()


async def taken(app: Any) -> list[str]:
    """What the tool `take` says of its dependency, in one run."""
    return answers(await app.agent().run("go", model=asking("take")))


def events(log: list[str], name: str) -> Callable[..., AsyncIterator[str]]:
    """A source that takes a few turns of the event loop to open and to close, and logs both."""

    async def source(*needs: Any) -> AsyncIterator[str]:
        log.append(f"opening {name}")
        await asyncio.sleep(0)
        log.append(f"opened {name}")
        try:
            yield name
        finally:
            await asyncio.sleep(0)
            log.append(f"closed {name}")

    return source


# Asynchronous sources


@pytest.mark.parametrize("source", [connect_async, connection_open_async], ids=["coroutine", "async generator"])
@pytest.mark.parametrize("scope", [AppScoped, RunScoped])
async def test_what_is_built_above_something_asynchronous_is_no_future(scope: Any, source: Any) -> None:
    """393, 332"""
    seen: list[Any] = []
    service = providers.Factory(Service, providers.Factory(Service, scope(source)))

    async with application(container_of(service, seen)) as app:
        await taken(app)

    assert type(seen[0]) is type(seen[0].below) is Service
    assert type(seen[0].below.below) is Connection


@pytest.mark.parametrize("is_fake_first", [True, False], ids=["the fake first", "the real one first"])
async def test_whether_something_is_awaited_does_not_depend_on_what_was_overridden_before(is_fake_first: bool) -> None:
    """545"""
    seen: list[Any] = []
    container = container_of(providers.Factory(Service, RunScoped(connect_async)), seen)
    fake = Service("fake")

    async with application(container) as app:
        for is_fake in (is_fake_first, not is_fake_first):
            if is_fake:
                with overriding(container, source=fake):
                    await taken(app)
            else:
                await taken(app)
    real, replaced = reversed(seen) if is_fake_first else seen

    assert replaced is fake
    assert type(real) is Service
    assert type(real.below) is Connection


async def test_cancelling_one_who_waits_for_an_object_leaves_it_to_the_others() -> None:
    """941"""
    seen: list[Any] = []
    opening, may_open = asyncio.Event(), asyncio.Event()

    async def shared() -> Connection:
        assert not opening.is_set(), "it is opened once"
        opening.set()
        await may_open.wait()
        return Connection()

    class Application(containers.DeclarativeContainer):
        config = providers.Configuration()
        source = providers.Selector(config.source, nothing=providers.Object(None), shared=AppScoped(shared))
        take = provide(Take, injected=dep(source), into=seen)
        agent = provide(Agent, tools=["take"])

    container = Application(config={"source": "nothing"})

    async with application(container) as app:
        container.config.from_dict({"source": "shared"})  # now a run is the first to need it
        impatient, patient = (asyncio.create_task(taken(app)) for _ in range(2))
        await opening.wait()
        impatient.cancel()
        with pytest.raises(asyncio.CancelledError):
            await impatient
        may_open.set()
        async with asyncio.timeout(10):  # a test that fails had better not hang
            said = [await patient, await taken(app)]

    assert said == [["Connection"], ["Connection"]]
    assert len(set(map(id, seen))) == 1


async def test_a_failure_while_building_ends_the_call_and_names_the_path() -> None:
    """409"""

    async def broken() -> Connection:
        raise OSError("no route")

    async with application(container_of(providers.Factory(Service, RunScoped(broken)), [])) as app, asyncio.timeout(10):
        run = await app.agent().run("go", model=asking("take"))

    error = run.calls[0].error
    assert isinstance(error, OSError)
    assert error.__notes__[0].startswith("while building provider 'take' -> Service -> ")
    assert "broken" in error.__notes__[0]


@pytest.mark.parametrize("source", [connection_open, connection_open_async], ids=["generator", "async generator"])
@pytest.mark.parametrize("plain", [providers.Singleton, providers.Factory])
def test_a_plain_provider_of_a_generator_is_refused(plain: Any, source: Any) -> None:
    """795"""
    with pytest.raises(ConfigurationError, match=r"declare it as RunScoped\(\.\.\.\) or AppScoped\(\.\.\.\)"):
        check(container_of(plain(source), []))


async def test_an_async_generator_receives_what_another_one_gave() -> None:
    """603"""
    received: list[Any] = []

    async def session(connection: Connection) -> AsyncIterator[str]:
        received.append(connection)
        yield "session"

    async with application(container_of(RunScoped(session, RunScoped(connection_open_async)), [])) as app:
        assert await taken(app) == ["str"]

    assert [type(it) for it in received] == [Connection]


# Opening and closing

DIAMOND = [*(f"{word} {name}" for name in ("a", "b", "c", "d") for word in ("opening", "opened"))]


@pytest.mark.parametrize("scope", [AppScoped, RunScoped])
async def test_objects_are_opened_one_after_another_and_closed_in_reverse(scope: Any) -> None:
    """432, 449"""
    log: list[str] = []
    a = scope(events(log, "a"))
    b, c = scope(events(log, "b"), a), scope(events(log, "c"), a)

    async with application(container_of(scope(events(log, "d"), b, c), [])) as app:
        await taken(app)

    assert log == [*DIAMOND, "closed d", "closed c", "closed b", "closed a"]


async def test_synchronous_and_asynchronous_objects_are_closed_when_the_application_is_left() -> None:
    """968, 567, 719"""
    seen: list[Any] = []
    nested = AppScoped(connect), AppScoped(connect_async)  # no generators: their end comes with garbage collection too
    source = AppScoped(Service, providers.Factory(Service, providers.List(*nested)))

    async with application(container_of(source, seen)) as app:
        await taken(app)
        closed_inside = [connection.closed for connection in seen[0].below.below]

    assert closed_inside == [0, 0]
    assert [connection.closed for connection in seen[0].below.below] == [1, 1]


async def test_a_run_inside_a_run_closes_its_own_objects_and_not_those_of_the_outer_one() -> None:
    """699"""
    seen: list[Any] = []
    container = container_of(RunScoped(connection_open_async), seen)

    async with application(container) as app:

        @tool
        async def delegate() -> str:
            """Have another agent do it."""
            await taken(app)
            outer, inner = seen
            return f"outer closed {outer.closed}, inner closed {inner.closed}"

        run = await app.agent().run("go", model=in_turns("take", "delegate"), tools=[delegate])

    outer, inner = seen
    assert answers(run)[1] == "outer closed 0, inner closed 1"
    assert (outer.closed, inner.closed) == (1, 1)


async def test_everything_below_a_tool_is_closed_with_the_run_however_deep_also_when_the_run_fails() -> None:
    """633, 665, 681"""
    seen: list[Any] = []
    deep = RunScoped(Service, providers.Factory(Service, RunScoped(connect_async)))
    failing = ScriptedModel([calls(call("take")), ValueError("no answer")])

    async with application(container_of(deep, seen)) as app:
        await taken(app)
        with pytest.raises(RunError):
            await app.agent().run("go", model=failing)
        closed = [service.below.below.closed for service in seen]

    assert closed == [1, 1]


async def test_a_transaction_is_rolled_back_when_the_run_fails_and_committed_when_it_does_not() -> None:
    """909"""
    log: list[str] = []

    async def transaction() -> AsyncIterator[str]:
        try:
            yield "transaction"
        except RunError:
            log.append("rolled back")
            raise
        log.append("committed")

    async with application(container_of(RunScoped(transaction), [])) as app:
        await taken(app)
        with pytest.raises(RunError):
            await app.agent().run("go", model=ScriptedModel([calls(call("take")), ValueError("no answer")]))

    assert log == ["committed", "rolled back"]


async def test_a_request_in_a_context_of_its_own_opens_and_closes_on_the_event_loop() -> None:
    """595"""
    threads: list[Any] = []

    def session() -> Iterator[Connection]:
        threads.append(threading.current_thread())
        yield Connection()
        threads.append(threading.current_thread())

    async with application(container_of(RunScoped(session), [])) as app:
        request = asyncio.create_task(taken(app), context=contextvars.Context())
        assert await request == ["Connection"]
        threads_of_request = list(threads)

    assert threads_of_request == [threading.current_thread()] * 2


# Scopes


async def test_a_run_has_one_object_for_all_that_need_it_and_the_next_run_another() -> None:
    """907, 760, 26, 495"""
    seen: list[Any] = []

    async with application(container_of(RunScoped(connect_async), seen)) as app:
        for _ in range(2):
            await app.agent().run("go", model=asking("take", "take_too"))

    first, also_first, second, also_second = seen
    assert first is also_first
    assert second is also_second
    assert first is not second


async def test_a_call_has_an_object_of_its_own() -> None:
    """907"""
    seen: list[Any] = []

    @tool
    async def look(connection: Annotated[Connection, Inject()]) -> str:
        """Look."""
        seen.append(connection)
        return str(connection.closed)

    class Application(containers.DeclarativeContainer):
        connection = CallScoped(connect_async)
        agent = provide(Agent, tools=[look])

    async with application(Application()) as app:
        run = await app.agent().run("go", model=asking("look", "look"))

    assert answers(run) == ["0", "0"]
    assert seen[0] is not seen[1]
    assert [connection.closed for connection in seen] == [1, 1]


@pytest.mark.parametrize(
    ("scope", "missing"),
    [(AppScoped, "an application's scope"), (RunScoped, "a run's scope"), (CallScoped, "a call's scope")],
    ids=["app", "run", "call"],
)
def test_an_object_asked_for_outside_of_its_scope_says_which_scope_is_missing(scope: Any, missing: str) -> None:
    """804"""
    with pytest.raises(ConfigurationError, match=rf"{scope.__name__}\(Connection\) is used outside of {missing}"):
        scope(Connection)()


# Wiring


@tool
async def greet(service: Annotated[Service, Inject()]) -> str:
    """Greet."""
    return str(service.below)


async def test_a_marked_parameter_gets_the_object_or_is_refused_before_anything_runs() -> None:
    """578, 587, 611, 783, 521"""

    class Application(containers.DeclarativeContainer):
        agent = provide(Agent, tools=[greet])

    class Complete(Application):
        service = providers.Factory(Service, "hello")

    async with application(Complete()) as app:
        run = await app.agent().run("go", model=asking("greet"))
    with pytest.raises(ConfigurationError, match="parameter 'service'"):
        check(Application())

    assert answers(run) == ["hello"]


async def test_modules_next_to_a_tool_are_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """441, 464, 784"""
    package = tmp_path / "shop_of_complaints"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "migrations.py").write_text("raise SystemExit('a module was imported that nobody listed')")
    (package / "tools.py").write_text(
        "from toolkit import tool\n\n\n@tool\ndef price() -> str:\n    '''Tell the price.'''\n    return '5'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)

    class Application(containers.DeclarativeContainer):
        agent = provide(Agent, tools=[import_module("shop_of_complaints.tools").price])

    async with application(Application()) as app:
        run = await app.agent().run("go", model=asking("price"))

    assert answers(run) == ["5"]


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        (lambda: providers.Factory(Service, bellow=1), "Service has no parameter 'bellow'"),
        (lambda: providers.Factory(Service, bellow=1), "Service needs an argument for 'below'"),
        (lambda: providers.Factory(Service, 1, 2), "Service takes 1 positional arguments and is given 2"),
        (lambda: RunScoped(Service, 1, below=2), "Service is given 'below' twice"),
    ],
    ids=["wrong name", "missing", "too many", "twice"],
)
def test_wrong_arguments_are_found_before_anything_is_built(declared: Any, text: str) -> None:
    """314, 452, 453 (that type checkers find them in `provide` is shown in test_types.py)"""
    with pytest.raises(ConfigurationError) as refused:
        check(container_of(declared(), []))

    assert text in str(refused.value)


@pytest.mark.parametrize("make", [provide, AppScoped, RunScoped])
async def test_an_argument_that_cannot_be_copied_is_passed_as_it_is(make: Any) -> None:
    """734, 757, 712"""
    seen: list[Any] = []
    lock = threading.Lock()

    async with application(container_of(make(Service, lock), seen)) as app:
        await taken(app)

    assert seen[0].below is lock


async def test_a_circle_is_told_by_names_and_is_no_recursion_error() -> None:
    """811, 824, 624, 641"""
    chicken, egg = providers.Factory(Service), providers.Factory(Service)
    chicken.add_args(egg)
    egg.add_args(chicken)
    container = containers.DynamicContainer()
    container.chicken, container.egg = chicken, egg

    with pytest.raises(ConfigurationError, match="cyclic dependency: 'chicken' -> 'egg' -> 'chicken'"):
        async with application(container):
            raise AssertionError("it must not open")


# Overrides and memory


@pytest.mark.parametrize("is_built_before", [True, False], ids=["built before", "built in the block"])
@pytest.mark.parametrize("kept", [providers.Singleton, providers.ThreadSafeSingleton, AppScoped])
async def test_what_is_kept_above_a_fake_is_real_again_after_the_block(kept: Any, is_built_before: bool) -> None:
    """421, 387"""
    seen: list[Any] = []

    class Application(containers.DeclarativeContainer):
        http = providers.Singleton(str, "real")
        service = kept(Service, providers.Singleton(Service, http))
        take = provide(Take, injected=dep(service), into=seen)
        agent = provide(Agent, tools=["take"])

    async with application(Application()) as app:
        if is_built_before:
            await taken(app)
        with overriding(app.container, http="fake"):
            await taken(app)
        await taken(app)

    expected = ["fake", "real"]
    assert [service.below.below for service in seen] == (["real", *expected] if is_built_before else expected)


async def test_runs_leave_no_containers_or_providers_behind() -> None:
    """790"""

    def alive() -> int:
        gc.collect()
        return sum(isinstance(it, (providers.Provider, containers.DynamicContainer)) for it in gc.get_objects())

    async with application(container_of(RunScoped(connect_async), [])) as app:
        await taken(app)
        before = alive()
        for _ in range(20):
            await taken(app)
        after = alive()

    assert after <= before
