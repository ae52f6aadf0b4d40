"""Cancels a run after its k-th turn of the event loop, for every k, and looks at what is left.

The scenario opens as many kinds of things as there are, in one run: a run-scoped generator that holds a task group open
(so that closing it in another task raises), tools with `aclose`, an object for one call only, hooks that wait, two
calls at once of which one is exclusive, a model that waits. Each notes when it is opened and closed, and in which task.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Annotated, Any, Literal

import anyio
from dependency_injector import containers, providers

from tests.runs.parts import assert_paired
from toolkit import Agent, Inject, Run, RunContext, Tool
from toolkit.injection import CallScoped, RunScoped, application, dep, provide
from toolkit.models import ModelRequest, ModelResponse
from toolkit.testing import call, calls, says

Way = Literal["run", "stream"]
Style = Literal["task", "scope", "group", "both"]

_Opened = tuple[str, "asyncio.Task[Any] | None"]


class Log:
    """What happened in one run."""

    def __init__(self) -> None:
        self.opened: list[_Opened] = []
        self.closed: list[_Opened] = []
        self.handlers: list[str] = []
        self.run: Run[Any] | None = None
        self.cancelled = False

    def open(self, name: str) -> None:
        self.opened.append((name, asyncio.current_task()))

    def close(self, name: str) -> None:
        self.closed.append((name, asyncio.current_task()))

    def begin(self, name: str) -> None:
        assert not self.cancelled, f"{name} began after the cancellation had reached the run"
        self.handlers.append(f"{name} begins")

    def end(self, name: str) -> None:
        self.handlers.append(f"{name} ends")


class Connection:
    pass


class Lease:
    pass


async def breathe() -> None:
    await asyncio.sleep(0)
    await asyncio.sleep(0)


async def open_connection(log: Log) -> AsyncIterator[Connection]:
    await breathe()
    async with anyio.create_task_group():
        log.open("connection")
        try:
            yield Connection()
        finally:
            with anyio.CancelScope(shield=True):
                await breathe()
            log.close("connection")


async def open_lease(log: Log) -> AsyncIterator[Lease]:
    await breathe()
    log.open("lease")
    try:
        yield Lease()
    finally:
        with anyio.CancelScope(shield=True):
            await breathe()
        log.close("lease")


class Noting(Tool):
    """Note what happens."""

    description = "Note what happens."

    def __init__(self, connection: Connection, log: Log) -> None:
        self.log = log
        log.open(self.name)

    async def work(self) -> str:
        self.log.begin(self.name)
        try:
            await breathe()
        finally:
            try:
                await asyncio.sleep(0)
            finally:  # the cancellation may come right here
                self.log.end(self.name)
        return self.name

    async def aclose(self) -> None:
        with anyio.CancelScope(shield=True):
            await breathe()
        self.log.close(self.name)


class FirstTool(Noting):
    name = "first"
    exclusive = True

    async def handler(self, lease: Annotated[Lease, Inject("lease")]) -> str:
        return await self.work()


class SecondTool(Noting):
    name = "second"
    exclusive = True

    async def on_before_call(self, ctx: RunContext, call: Any) -> None:
        await breathe()

    async def handler(self, lease: Annotated[Lease, Inject("lease")]) -> str:
        return await self.work()


class Hooks:
    def __init__(self, log: Log) -> None:
        self.log = log

    async def on_before_model(self, ctx: RunContext, request: Any) -> None:
        self.log.run = ctx.run
        await asyncio.sleep(0)

    async def on_before_call(self, ctx: RunContext, call: Any) -> None:
        await asyncio.sleep(0)

    async def on_after_call(self, ctx: RunContext, info: Any) -> None:
        await asyncio.sleep(0)


class WaitingModel:
    async def respond(self, request: ModelRequest) -> ModelResponse:
        await breathe()
        if len(request.messages) == 1:
            return calls(call("first"), call("second"))
        if len(request.messages) == 4:
            return calls(call("second"))
        return says("done")


class Application(containers.DeclarativeContainer):
    log: Any = providers.Dependency(instance_of=Log)
    connection = RunScoped(open_connection, log)
    lease = CallScoped(open_lease, log)
    first = provide(FirstTool, connection=dep(connection), log=dep(log))
    second = provide(SecondTool, connection=dep(connection), log=dep(log))
    hooks = provide(Hooks, log=dep(log))
    model = provide(WaitingModel)
    agent = provide(Agent, model=dep(model), tools=["first", "second"], hooks=["hooks"])


async def _run(agent: Any, log: Log) -> None:
    log.run = await agent.run("go")


async def _stream(agent: Any, log: Log) -> None:
    async with agent.stream("go") as stream:
        log.run = stream.run
        async for _ in stream:
            pass


_WAYS: dict[Way, Callable[[Any, Log], Any]] = {"run": _run, "stream": _stream}


class _Caller:
    """The task that runs the agent, and how it is cancelled."""

    def __init__(self, way: Way, style: Style, agent: Any, log: Log) -> None:
        self._style = style
        self._scope = anyio.CancelScope()
        self._group: anyio.abc.TaskGroup | None = None
        self._work = lambda: _WAYS[way](agent, log)
        main = {"task": self._plainly, "scope": self._in_scope, "group": self._in_group, "both": self._in_scope}
        self.task = asyncio.create_task(main[style]())

    async def _plainly(self) -> None:
        await self._work()

    async def _in_scope(self) -> None:
        with self._scope:
            await self._work()
        if self._scope.cancelled_caught:
            raise asyncio.CancelledError

    async def _in_group(self) -> None:
        async with anyio.create_task_group() as self._group:
            self._group.start_soon(self._work)
        if self._group.cancel_scope.cancelled_caught:
            raise asyncio.CancelledError

    def cancel(self) -> None:
        if self._style in ("task", "both"):
            self.task.cancel()
        if self._style in ("scope", "both"):
            self._scope.cancel()
        if self._style == "group" and self._group is not None:
            self._group.cancel_scope.cancel()


async def cancel_after(turns: int, way: Way, style: Style, times: int) -> tuple[Log, bool]:
    """Runs the scenario, cancels it after so many turns of the loop, and gives the log, and whether it was in time."""
    log = Log()
    async with application(Application(log=providers.Object(log))) as app:
        caller = _Caller(way, style, app.agent(), log)
        for _ in range(turns):
            if caller.task.done():
                break
            await asyncio.sleep(0)
        in_time = not caller.task.done()
        for _ in range(times):
            caller.cancel()
            await asyncio.sleep(0)
        await asyncio.wait((caller.task,))
        with suppress(asyncio.CancelledError):
            caller.task.result()
        assert_nothing_is_left(log)
    return log, in_time


def assert_nothing_is_left(log: Log) -> None:
    """What holds after every run, however it ended."""
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert sorted(map(repr, log.opened)) == sorted(map(repr, log.closed)), "not all closed once, in their own task"
    of_run = [entry for entry in log.opened if entry[0] != "lease"]
    assert [entry for entry in log.closed if entry[0] != "lease"] == of_run[::-1], "not closed in reverse order"
    begun = [line for line in log.handlers if line.endswith("begins")]
    ended = [line for line in log.handlers if line.endswith("ends")]
    assert len(begun) == len(ended), "a handler's finally block was not done"
    if log.run is not None:
        assert log.run.outcome in ("completed", "cancelled")
        assert_paired(log.run.messages)
        assert log.run.messages.is_sealed
