"""The timeout of one call: what is cancelled, what is left alone, and what the model is told."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.tools.making import KINDS, made, raising
from toolkit import ToolError, execute, tool
from toolkit.tools.threads import WorkerThreads


@pytest.mark.parametrize("seconds", [0.01, 0.01004])
async def test_an_async_handler_that_is_too_slow_is_cancelled_and_its_time_is_told(seconds: float) -> None:
    ended: list[str] = []

    async def handler() -> None:
        """Do it."""
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("finally")

    result = await tool(timeout=seconds)(handler).execute()

    assert result.content == f"tool 'handler' took longer than {seconds:g} seconds"
    assert (result.is_error, type(result.error), ended) == (True, TimeoutError, ["finally"])


async def test_a_timeout_counts_also_where_the_handler_swallows_it() -> None:
    async def swallowing() -> str:
        """Do it."""
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return "in time, really"

    async def excusing() -> None:
        """Do it."""
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise ToolError("not my fault") from None

    for handler in (swallowing, excusing):
        result = await tool(timeout=0.01)(handler).execute()

        assert result.content == f"tool '{handler.__name__}' took longer than 0.01 seconds"
        assert result.value is None


async def test_a_handler_that_never_heeds_its_timeout_is_ended_by_force(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolkit.tools.execution.DEFAULT_GRACE", 0.01)
    closed: list[str] = []

    async def stubborn() -> None:
        """Do it."""
        try:
            while True:
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.Event().wait()
        finally:
            closed.append("closed")

    with pytest.warns(RuntimeWarning, match=r"tool 'stubborn' went on for 0.01 s after it was cancelled"):
        result = await tool(timeout=0.01)(stubborn).execute()

    assert result.content == "tool 'stubborn' took longer than 0.01 seconds"
    assert closed == ["closed"]


async def test_what_is_ended_by_force_leaves_no_finally_block_of_a_generator_undone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("toolkit.tools.execution.DEFAULT_GRACE", 0.01)
    steps: list[str] = []
    complaints: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))

    async def rows() -> AsyncIterator[int]:
        try:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
            await asyncio.Event().wait()
            yield 1
        finally:
            steps.append("outer")
            try:
                await asyncio.Event().wait()
            finally:
                steps.append("inner")
                try:
                    await asyncio.Event().wait()
                finally:
                    steps.append("innermost")

    @tool(timeout=0.01)
    async def count() -> int:
        """Count rows."""
        return len([row async for row in rows()])

    with pytest.warns(RuntimeWarning, match="was ended by force"):
        assert (await count.execute()).is_error
    gc.collect()
    await asyncio.sleep(0)
    gc.collect()

    assert (steps, complaints) == (["outer", "inner", "innermost"], [])


async def test_a_sync_handler_that_is_too_slow_is_left_alone_and_that_is_told() -> None:
    release, ended = threading.Event(), threading.Event()

    def handler() -> None:
        """Do it."""
        release.wait()
        ended.set()

    result = await tool(timeout=0.01)(handler).execute()
    release.set()
    ended.wait()

    assert result.content == "tool 'handler' took longer than 0.01 seconds; the work may still be going on"
    assert isinstance(result.error, TimeoutError)


async def test_the_error_of_abandoned_work_complains_nowhere() -> None:
    release, complaints = threading.Event(), list[Any]()
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda loop, context: complaints.append(context))
    ended: asyncio.Future[None] = loop.create_future()

    def handler() -> None:
        """Do it."""
        try:
            release.wait()
            raise RuntimeError("late")
        finally:
            loop.call_soon_threadsafe(ended.set_result, None)

    await tool(timeout=0.01)(handler).execute()
    release.set()
    await ended
    gc.collect()

    assert complaints == []


async def test_a_sync_handler_on_the_loop_is_late_when_it_is_done() -> None:
    loop = asyncio.get_running_loop()

    def handler() -> str:
        """Do it."""
        until = loop.time() + 0.02
        while loop.time() < until:
            pass
        return "done"

    result = await tool(timeout=0.01, run_in_thread=False)(handler).execute()

    assert result.content == "tool 'handler' took longer than 0.01 seconds"


async def test_a_call_that_finds_no_free_thread_in_time_never_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolkit.tools.threads._workers", WorkerThreads(limit=1))
    entered, release, ran = threading.Event(), threading.Event(), list[str]()
    busy = asyncio.create_task(execute(made(lambda arguments, ctx: (entered.set(), release.wait()), "thread")))
    await asyncio.to_thread(entered.wait)

    result = await execute(made(lambda arguments, ctx: ran.append("late"), "thread", timeout=0.01))
    release.set()
    await busy
    last = await execute(made(lambda arguments, ctx: "last", "thread"))

    assert result.content == "tool 't' took longer than 0.01 seconds, waiting for a free thread"
    assert last.content == "last"
    assert ran == []


@KINDS
async def test_a_failure_within_the_timeout_is_told_as_what_it_is(kind: str) -> None:
    result = await execute(made(raising(ValueError("secret")), kind, timeout=3600))

    assert result.content == "tool 't' failed: ValueError"


@pytest.mark.parametrize("kind", ["thread", "loop"])
async def test_what_a_sync_handler_returns_is_awaited_within_its_timeout(kind: str) -> None:
    result = await execute(made(lambda arguments, ctx: asyncio.Event().wait(), kind, timeout=0.01))

    assert result.content == "tool 't' took longer than 0.01 seconds"


@KINDS
async def test_a_handler_within_its_timeout_is_not_disturbed(kind: str) -> None:
    assert (await execute(made(lambda arguments, ctx: "done", kind, timeout=3600))).content == "done"


async def test_a_time_limit_of_the_handlers_own_is_its_own_affair() -> None:
    async def handler() -> str:
        """Do it."""
        try:
            async with asyncio.timeout(0):
                await asyncio.Event().wait()
        except TimeoutError:
            pass
        await asyncio.sleep(0)
        task = asyncio.create_task(asyncio.Event().wait())
        await asyncio.sleep(0)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        return "went on"

    assert (await tool(timeout=3600)(handler).execute()).content == "went on"
    assert (await tool(handler).execute()).content == "went on"


async def test_a_handler_may_go_on_for_longer_than_the_grace_after_a_limit_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("toolkit.tools.execution.DEFAULT_GRACE", 0.0)

    async def handler() -> str:
        """Do it."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0):
                await asyncio.Event().wait()
        for _ in range(5):
            await asyncio.sleep(0.001)
        return "went on"

    assert (await tool(handler).execute()).content == "went on"
