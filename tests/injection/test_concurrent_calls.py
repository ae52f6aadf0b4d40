"""Calls of one turn run at the same time, and runs do; what they share is opened once, and nothing else is shared."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator
from typing import Annotated, Any

import pytest
from dependency_injector import containers, providers

from tests.injection.parts import Connection, asking, connection_open_async
from toolkit import Agent, ConfigurationError, Inject, Invocation, RunContext, Tool, tool
from toolkit.injection import AppScoped, CallScoped, RunScoped, ScopeValue, application, dep, provide
from toolkit.testing import ScriptedModel, call, calls, says


async def test_two_concurrent_calls_that_need_the_same_new_connection_open_it_once() -> None:
    opened: list[Connection] = []
    is_opening, may_open = asyncio.Event(), asyncio.Event()

    async def slow() -> AsyncIterator[Connection]:
        opened.append(Connection())
        is_opening.set()
        await may_open.wait()
        yield opened[-1]

    class First(Tool):
        """Use it."""

        def __init__(self, connection: Any) -> None:
            self.connection = connection

        async def handler(self) -> str:
            return self.connection.url

    class Second(First):
        """Use it."""

        @staticmethod
        def on_before_call(ctx: Any, call: Any) -> None:
            return None

    class Application(containers.DeclarativeContainer):
        db = RunScoped(slow)
        first = provide(First, connection=dep(db))
        second = provide(Second, connection=dep(db))
        agent = provide(Agent, tools=["first", "second"])

    async with application(Application()) as app:
        running = asyncio.create_task(app.agent().run("go", model=asking("first", "second", "first")))
        await is_opening.wait()
        may_open.set()
        run = await running

    assert len(opened) == 1
    assert [record.result.is_error for record in run.calls] == [False, False, False]


async def test_fifty_concurrent_runs_share_nothing_of_a_run_and_all_of_the_application() -> None:
    runs = 50
    all_are_here = asyncio.Event()
    seen: dict[str, tuple[Any, Any, Any]] = {}
    opened: list[str] = []

    async def open_http() -> AsyncIterator[object]:
        opened.append("http")
        yield object()

    class Meets(Tool):
        """Wait for all the others."""

        name = "meets"

        def __init__(self, connection: Any, http: Any, actor: str) -> None:
            self.connection, self.http, self.actor = connection, http, actor

        async def handler(self, ctx: RunContext) -> str:
            assert self.actor == ctx.invocation.actor_id
            seen[self.actor] = (self.connection, self.http, self)
            if len(seen) == runs:
                all_are_here.set()
            await all_are_here.wait()
            return self.actor

    class Application(containers.DeclarativeContainer):
        http = AppScoped(open_http)
        db = RunScoped(connection_open_async)
        invocation = ScopeValue(Invocation)
        meets = provide(Meets, connection=dep(db), http=dep(http), actor=dep(invocation.provided.actor_id))
        agent = provide(Agent, tools=["meets"])

    async with application(Application()) as app:
        agent = app.agent()
        done = await asyncio.gather(
            *(agent.run("go", model=asking("meets"), actor_id=f"u{number}") for number in range(runs))
        )

    assert [run.calls[0].result.content for run in done] == [f"u{number}" for number in range(runs)]
    assert len({id(connection) for connection, _, _ in seen.values()}) == runs
    assert len({id(tool) for _, _, tool in seen.values()}) == runs
    assert len({id(http) for _, http, _ in seen.values()}) == 1
    assert opened == ["http"]
    assert all(connection.closed == 1 for connection, _, _ in seen.values())


async def test_nothing_of_a_run_survives_it() -> None:
    left: list[weakref.ref[Any]] = []

    class Heavy:
        pass

    class Holds(Tool):
        """Hold something."""

        name = "holds"

        def __init__(self, heavy: Any, fresh: Any) -> None:
            left.extend((weakref.ref(self), weakref.ref(heavy), weakref.ref(fresh)))
            self.held = heavy, fresh

        async def handler(self) -> str:
            return "held"

    class Application(containers.DeclarativeContainer):
        heavy = RunScoped(Heavy)
        holds = provide(Holds, heavy=dep(heavy), fresh=dep(providers.Factory(Heavy)))
        agent = provide(Agent, tools=["holds"])

    async with application(Application()) as app:
        agent = app.agent()
        for _ in range(3):
            await agent.run("go", model=asking("holds"))
        gc.collect()

        assert len(left) == 9
        assert [reference() for reference in left if reference() is not None] == []


async def test_listing_tools_by_type_anew_in_each_run_keeps_nothing_in_the_resolver() -> None:
    class Gives:
        """Lists tools at each run's start."""

        def tools(self, ctx: RunContext) -> list[Any]:
            return [Plain, takes_value]

    class Application(containers.DeclarativeContainer):
        agent = provide(Agent, tools=[Gives()])

    async with application(Application()) as app:
        agent: Any = app.agent()
        await agent.run("go", model=asking("plain", "takes_value"), values={CallLog: CallLog()})
        resolver = agent._bound_resolver
        sizes = len(resolver.memory()), len(resolver.plans())
        for _ in range(5):
            await agent.run("go", model=asking("plain", "takes_value"), values={CallLog: CallLog()})

        assert (len(resolver.memory()), len(resolver.plans())) == sizes


class Plain(Tool):
    """Needs nothing but who asks."""

    def __init__(self, invocation: Invocation) -> None:
        self.invocation = invocation

    async def handler(self) -> str:
        return "plain"


class CallLog:
    """What the tests of call scopes look at."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.given: list[Any] = []


@tool
async def takes_value(log: Annotated[CallLog, Inject()]) -> str:
    """Take a value of the run."""
    return ""


def call_scoped(log: CallLog) -> Any:
    async def open_entry(db: Any) -> AsyncIterator[object]:
        log.lines.append("open")
        try:
            yield object()
        except BaseException as error:
            log.lines.append(f"saw {type(error).__name__}")
            raise
        finally:
            log.lines.append("close")

    @tool
    async def audits(
        text: str, entry: Annotated[Any, Inject("entry")], again: Annotated[Any, Inject("wrapped")]
    ) -> str:
        """Write into the log of the call."""
        log.given.append((entry, again))
        log.lines.append(text)
        if text == "fail":
            raise ValueError("no")
        return text

    class Application(containers.DeclarativeContainer):
        db = RunScoped(connection_open_async)
        entry = CallScoped(open_entry, db)
        wrapped = providers.List(entry)
        agent = provide(Agent, tools=[audits])

    return Application()


async def test_an_object_of_a_call_is_opened_for_it_and_closed_with_it_within_the_run() -> None:
    log = CallLog()
    model = ScriptedModel(
        [calls(call("audits", {"text": "one"})), calls(call("audits", {"text": "fail"})), says("done")]
    )

    async with application(call_scoped(log)) as app:
        await app.agent().run("go", model=model)

    (first, listed), (second, _) = log.given
    assert log.lines == ["open", "one", "close", "open", "fail", "saw ValueError", "close"]
    assert first is not second
    assert listed == [first]


async def test_concurrent_calls_have_an_object_each() -> None:
    log = CallLog()
    model = ScriptedModel([calls(*(call("audits", {"text": f"{number}"}) for number in range(5))), says("done")])

    async with application(call_scoped(log)) as app:
        await app.agent().run("go", model=model)

    assert len({id(entry) for entry, _ in log.given}) == 5
    assert log.lines.count("close") == 5


async def test_a_tool_of_one_run_that_would_hold_an_object_of_a_call_is_refused_at_its_start() -> None:
    model = ScriptedModel([])
    container = call_scoped(CallLog())

    async with application(container) as app:
        with pytest.raises(ConfigurationError, match="lives for one call; only parameters of a handler"):
            await app.agent().run("go", model=model, tools=[provide(Plain, invocation=dep(container.entry))])

    assert model.requests == []
