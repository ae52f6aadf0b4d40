"""Cancels a run after its k-th turn of the event loop, for every k, and looks at what is left.

The scenario opens as many kinds of things as there are, in one run: a run-scoped generator that holds a descriptor and
a task group open (so that closing it in another task raises), tools with `aclose`, an object for one call only, hooks
that wait, two calls at once of which one is exclusive, a model that waits. Each notes when it is opened and closed, and
in which task.

The checkers take a recording, a `Log` or two `Surroundings`, so that a test can hand each a broken one.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import anyio
from dependency_injector import containers, providers

from tests.runs.parts import assert_paired
from toolkit import Agent, Inject, Run, RunContext, Tool
from toolkit.injection import CallScoped, RunScoped, application, dep, provide
from toolkit.messages import Message
from toolkit.models import ModelRequest, ModelResponse
from toolkit.testing import call, calls, says
from toolkit.tools import threads

Way = Literal["run", "stream"]
Style = Literal["task", "scope", "group", "both"]

CANCELLED = "the run is cancelled"
"""The event after which no handler may begin."""

_Opened = tuple[str, "asyncio.Task[Any] | None"]


class Log:
    """What happened in one run.

    Attributes:
        opened: What was opened, in which task.
        closed: What was closed, in which task.
        events: What handlers did, and when the task that runs the agent got a cancellation, in their order.
        run: The run, as soon as somebody saw it.
    """

    def __init__(self) -> None:
        self.opened: list[_Opened] = []
        self.closed: list[_Opened] = []
        self.events: list[str] = []
        self.run: Run[Any] | None = None

    def open(self, name: str) -> None:
        self.opened.append((name, asyncio.current_task()))

    def close(self, name: str) -> None:
        self.closed.append((name, asyncio.current_task()))

    def begin(self, name: str) -> None:
        self.events.append(f"{name} begins")

    def end(self, name: str) -> None:
        self.events.append(f"{name} ends")

    def cancel(self) -> None:
        self.events.append(CANCELLED)


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
        descriptor = os.open(os.devnull, os.O_RDONLY)
        log.open("connection")
        try:
            yield Connection()
        finally:
            with anyio.CancelScope(shield=True):
                await breathe()
            os.close(descriptor)
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

    def cancel(self) -> bool:
        """False when there was nothing to cancel: it is done, or its group is not there yet."""
        if self.task.done() or (self._style == "group" and self._group is None):
            return False
        if self._style in ("task", "both"):
            self.task.cancel()
        if self._style in ("scope", "both"):
            self._scope.cancel()
        if self._group is not None:
            self._group.cancel_scope.cancel()
        return True


async def cancel_after(turns: int, way: Way, style: Style, times: int, turns_between: int = 1) -> tuple[Log, bool]:
    """Runs the scenario, cancels it after so many turns of the loop, and gives the log, and whether it was in time.

    Args:
        times: How often it is cancelled.
        turns_between: Turns of the loop from one cancellation to the next.
    """
    log = Log()
    async with application(Application(log=providers.Object(log))) as app:
        before = Surroundings.now()
        caller = _Caller(way, style, app.agent(), log)
        await _let_run(caller.task, turns)
        in_time = not caller.task.done()
        for _ in range(times):
            if caller.cancel():  # what was about to run stands in the loop's queue before the cancellation
                asyncio.get_running_loop().call_soon(log.cancel)
            await _let_run(caller.task, turns_between)
        await asyncio.wait((caller.task,))
        with suppress(asyncio.CancelledError):
            caller.task.result()
        assert_nothing_is_left(before, Surroundings.now())
    assert_recording_is_sound(log)
    return log, in_time


async def _let_run(task: asyncio.Task[Any], turns: int) -> None:
    for _ in range(turns):
        if task.done():
            return
        await asyncio.sleep(0)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a run could leave behind, as it is at one moment.

    Attributes:
        tasks: Of this event loop.
        descriptors: Number and target of each open file; empty where there is no /proc.
        threads: Names of the threads, but for workers that wait for work: those are kept for the next call.
    """

    tasks: frozenset[asyncio.Task[Any]]
    descriptors: frozenset[str]
    threads: Counter[str]

    @classmethod
    def now(cls) -> Surroundings:
        return cls(frozenset(asyncio.all_tasks()), _descriptors(), _threads_at_work())


def _descriptors() -> frozenset[str]:
    found: set[str] = set()
    with suppress(FileNotFoundError):  # no /proc
        for number in os.listdir("/proc/self/fd"):
            with suppress(FileNotFoundError):  # the one that listed them
                found.add(f"{number}: {Path('/proc/self/fd', number).readlink()}")
    return frozenset(found)


def _threads_at_work() -> Counter[str]:
    frames = sys._current_frames()
    at_work: Counter[str] = Counter()
    for thread in threading.enumerate():
        frame = frames.get(thread.ident or 0)
        working = thread.name != "toolwire worker"
        while frame is not None and not working:  # the lambda of `in_thread` stands under whatever it works on
            code = frame.f_code
            working = code.co_filename == threads.__file__ and code.co_name == "<lambda>"
            frame = frame.f_back
        if working:
            at_work[thread.name] += 1
    return at_work


def assert_nothing_is_left(before: Surroundings, after: Surroundings) -> None:
    """A run leaves no task, no descriptor, and no thread that is not idle."""
    assert not after.tasks - before.tasks, "a task is left"
    assert not after.descriptors - before.descriptors, "a descriptor is left open"
    assert not after.threads - before.threads, "a thread is left at work"


def assert_recording_is_sound(log: Log) -> None:
    """What holds of every run, however it ended."""
    assert_each_is_closed_once_in_its_task(log)
    assert_closed_in_reverse(log)
    assert_each_handler_ended(log.events)
    assert_no_handler_began_after_the_cancellation(log.events)
    if log.run is not None:
        assert log.run.outcome in ("completed", "cancelled"), "it ended otherwise"
        assert_each_call_has_one_result(log.run.messages)
        assert log.run.messages.is_sealed, "its transcript can still change"


def assert_each_is_closed_once_in_its_task(log: Log) -> None:
    assert Counter(log.opened) == Counter(log.closed), "not all closed once, in their own task"


def assert_closed_in_reverse(log: Log) -> None:
    """In each task: a lease belongs to the task of its call, and everything else to the run's owner."""
    for owner in {task for _, task in log.opened}:
        opened = [name for name, task in log.opened if task is owner and name != "lease"]
        closed = [name for name, task in log.closed if task is owner and name != "lease"]
        assert closed == opened[::-1], "not closed in reverse order"


def assert_each_handler_ended(events: Sequence[str]) -> None:
    began = sorted(event.removesuffix(" begins") for event in events if event.endswith(" begins"))
    ended = sorted(event.removesuffix(" ends") for event in events if event.endswith(" ends"))
    assert began == ended, "a handler's finally block was not done"


def assert_no_handler_began_after_the_cancellation(events: Sequence[str]) -> None:
    after = events[events.index(CANCELLED) :] if CANCELLED in events else ()
    late = [event for event in after if event.endswith(" begins")]
    assert not late, "a handler began after the cancellation"


def assert_each_call_has_one_result(messages: Sequence[Message]) -> None:
    assert_paired(messages)
