"""What resists a cancellation is ended by force, and nothing waits for it in a circle meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Coroutine
from typing import Any

import anyio
import pytest
from dependency_injector import containers

from tests.faults.virtual_time import VirtualLoop, counted_workers
from toolkit import Agent, CleanupError, Limits, RunError, Tool, execute, tool
from toolkit.injection import RunScoped, application, dep, provide
from toolkit.testing import ScriptedModel, call, calls, says


def in_virtual_time(main: Coroutine[Any, Any, Any]) -> VirtualLoop:
    """Runs it; that it spins is an error. Gives the loop, whose time says how long it took."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(main)
        loop = runner.get_loop()
    assert isinstance(loop, VirtualLoop)
    return loop


class Line:
    pass


class Holder(Tool):
    """Hold a line."""

    name = "hold"

    def __init__(self, line: Line) -> None:
        pass

    async def handler(self) -> str:
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()


async def lose_line() -> None:
    await asyncio.sleep(1)
    raise ConnectionError("lost")


async def open_line() -> AsyncIterator[Line]:
    async with anyio.create_task_group() as group:
        group.start_soon(lose_line)
        yield Line()


def test_a_run_whose_object_fails_waits_without_spinning_for_calls_that_resist() -> None:
    class Application(containers.DeclarativeContainer):
        line = RunScoped(open_line)
        model = provide(ScriptedModel, [calls(call("hold"), call("hold"))])
        agent = provide(
            Agent, model=dep(model), tools=[provide(Holder, line=dep(line))], limits=Limits(close_timeout=5.0)
        )

    async def main() -> None:
        async with application(Application()) as app:
            with pytest.raises(RunError, match="lost"), pytest.warns(RuntimeWarning, match="'hold' went on for 5 s"):
                await app.agent().run("go")

    assert in_virtual_time(main()).time() == pytest.approx(6.0, abs=0.01)


def test_one_call_outside_a_run_waits_without_spinning_in_a_cancelled_scope_of_anyio() -> None:
    @tool
    async def tidy() -> None:
        """Take a while to end."""
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(5)

    async def main() -> None:
        with anyio.move_on_after(1):
            await execute(tidy, {})

    assert in_virtual_time(main()).time() == pytest.approx(6.0, abs=0.01)


def test_a_run_whose_object_fails_waits_without_spinning_for_a_thread() -> None:
    curtain = threading.Event()

    class Stare(Tool):
        """Stare at a line."""

        name = "stare"

        def __init__(self, line: Line) -> None:
            pass

        def handler(self) -> None:
            workers.hang(curtain)

    class Application(containers.DeclarativeContainer):
        line = RunScoped(open_line)
        model = provide(ScriptedModel, [calls(call("stare"))])
        agent = provide(
            Agent, model=dep(model), tools=[provide(Stare, line=dep(line))], limits=Limits(close_timeout=5.0)
        )

    async def main() -> None:
        async with application(Application()) as app:
            with pytest.raises(RunError, match="lost"), pytest.warns(RuntimeWarning, match="'stare' still runs"):
                await app.agent().run("go")

    with counted_workers() as workers:
        try:
            assert in_virtual_time(main()).time() == pytest.approx(6.0, abs=0.01)
        finally:
            curtain.set()


def test_an_async_generator_that_is_ended_by_force_has_its_finally_blocks_done() -> None:
    log: list[str] = []

    async def open_stubborn() -> AsyncIterator[Line]:
        try:
            yield Line()
            while True:
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.Event().wait()
        finally:
            log.append("finally")

    class Quick(Tool):
        """Hold a line for a moment."""

        name = "quick"

        def __init__(self, line: Line) -> None:
            pass

        async def handler(self) -> str:
            return ""

    class Application(containers.DeclarativeContainer):
        line = RunScoped(open_stubborn)
        model = provide(ScriptedModel, [calls(call("quick")), says("done")])
        agent = provide(Agent, model=dep(model), tools=[provide(Quick, line=dep(line))])

    async def main() -> None:
        async with application(Application()) as app:
            with pytest.raises(CleanupError, match="took longer than 10 seconds"):
                await app.agent().run("go")
        log.append("over")

    loop = in_virtual_time(main())

    assert log == ["finally", "over"]
    assert loop.complaints == []
