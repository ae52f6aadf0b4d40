"""Cancelling a call: it reaches the handler, waits for its `finally` blocks, and is never lost."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import Any

import pytest

from tests.tools.making import made
from toolkit import ToolError, execute, tool
from toolkit.tools.threads import WorkerThreads


async def cancelled(running: asyncio.Task[Any], entered: asyncio.Event | threading.Event, times: int = 1) -> bool:
    """Cancels a call whose handler is at work; True when it ended as cancelled."""
    await (entered.wait() if isinstance(entered, asyncio.Event) else asyncio.to_thread(entered.wait))
    for _ in range(times):
        running.cancel()
        await asyncio.sleep(0)
    try:
        await running
    except asyncio.CancelledError:
        return True
    return False


@pytest.mark.parametrize("times", [1, 2])
async def test_a_cancelled_call_ends_when_the_handlers_finally_blocks_are_done(times: int) -> None:
    entered, steps = asyncio.Event(), list[str]()

    async def handler() -> None:
        """Do it."""
        try:
            entered.set()
            await asyncio.Event().wait()
        finally:
            for step in range(5):
                await asyncio.sleep(0)
                steps.append(f"step {step}")

    running = asyncio.create_task(tool(handler).execute())

    assert await cancelled(running, entered, times)
    assert steps == [f"step {step}" for step in range(5)]


@pytest.mark.parametrize("ending", ["returns", "fails", "tells", "group"])
async def test_a_handler_can_not_talk_its_way_out_of_a_cancellation(ending: str) -> None:
    entered = asyncio.Event()

    async def handler() -> str:
        """Do it."""
        try:
            entered.set()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            match ending:
                case "fails":
                    raise RuntimeError("while cleaning up") from None
                case "tells":
                    raise ToolError("while cleaning up") from None
                case "group":
                    raise ExceptionGroup("while cleaning up", [ValueError()]) from None
        return "done all the same"

    assert await cancelled(asyncio.create_task(tool(handler).execute()), entered)


async def test_a_cancelled_call_waits_for_the_thread_that_is_at_work() -> None:
    entered, release, ended = threading.Event(), threading.Event(), threading.Event()

    def handler() -> None:
        """Do it."""
        entered.set()
        release.wait()
        ended.set()
        raise RuntimeError("nobody reads it")

    running = asyncio.create_task(tool(handler).execute())
    await asyncio.to_thread(entered.wait)
    running.cancel()
    await asyncio.sleep(0)
    assert not running.done()
    release.set()

    with pytest.raises(asyncio.CancelledError):
        await running
    assert ended.is_set()


async def test_a_thread_that_does_not_end_in_time_is_named_in_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolkit.tools.execution.DEFAULT_GRACE", 0.01)
    entered, release = threading.Event(), threading.Event()

    def handler() -> None:
        """Do it."""
        entered.set()
        release.wait()

    with pytest.warns(RuntimeWarning, match=r"tool 'handler' still runs in its thread, 0.01 s after it was cancelled"):
        assert await cancelled(asyncio.create_task(tool(handler).execute()), entered)
    release.set()


async def test_a_cancelled_call_that_waits_for_a_thread_never_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolkit.tools.threads._workers", WorkerThreads(limit=1))
    entered, release, ran = threading.Event(), threading.Event(), list[str]()
    busy = asyncio.create_task(execute(made(lambda arguments, ctx: (entered.set(), release.wait()), "thread")))
    await asyncio.to_thread(entered.wait)
    waiting = asyncio.create_task(execute(made(lambda arguments, ctx: ran.append("cancelled"), "thread")))
    for _ in range(3):  # until it waits
        await asyncio.sleep(0)

    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    release.set()
    await busy
    await execute(made(lambda arguments, ctx: ran.append("next"), "thread"))

    assert ran == ["next"]


async def test_a_call_that_is_thrown_away_half_way_cancels_its_handler() -> None:
    steps: list[str] = []
    ended = asyncio.Event()

    async def handler() -> None:
        """Do it."""
        try:
            steps.append("entered")
            await asyncio.Event().wait()
        finally:
            ended.set()

    call = tool(handler).execute()
    call.send(None)
    await asyncio.sleep(0)
    assert steps == ["entered"]

    call.close()

    await ended.wait()


async def test_the_callers_own_time_limit_holds() -> None:
    async def handler() -> str:
        """Do it."""
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return "swallowed"

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await tool(handler).execute()


async def test_an_anyio_scope_around_the_call_holds_too() -> None:
    import anyio

    async def handler() -> str:
        """Do it."""
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return "swallowed"

    with anyio.move_on_after(0.01) as scope:
        await tool(handler).execute()

    assert scope.cancelled_caught


async def test_no_task_is_left_when_the_loop_ends_around_a_call() -> None:
    entered, steps = asyncio.Event(), list[str]()

    async def handler() -> None:
        """Do it."""
        try:
            entered.set()
            await asyncio.Event().wait()
        finally:
            steps.append("finally")

    running = asyncio.create_task(tool(handler).execute())
    await entered.wait()
    for task in asyncio.all_tasks() - {asyncio.current_task()}:  # as asyncio.run does at its end
        task.cancel()
    await asyncio.gather(running, return_exceptions=True)

    assert running.cancelled()
    assert steps == ["finally"]
    assert asyncio.all_tasks() == {asyncio.current_task()}
