"""Opening and closing end in bounded time, also where an object swallows its cancellation."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

import pytest
from dependency_injector import containers

from toolkit import Agent, CleanupError, Limits, Tool
from toolkit.injection import RunScoped, application, provide
from toolkit.testing import ScriptedModel, call, calls, says


class Session:
    """What a tool needs."""


async def for_ever() -> None:
    while True:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()


class StubbornSession(Session):
    async def aclose(self) -> None:
        await for_ever()


async def stubborn_end() -> AsyncIterator[Session]:
    try:
        yield Session()
    finally:
        await for_ever()


async def stubborn_start() -> Session:
    await for_ever()
    return Session()


class Ask(Tool):
    """Ask."""

    def __init__(self, session: Session) -> None:
        self.session = session

    async def handler(self) -> str:
        return "asked"


async def run_with(source: Callable[..., Any], limits: Limits) -> Any:
    class Application(containers.DeclarativeContainer):
        session = RunScoped(source)
        agent = provide(Agent, tools=[Ask], limits=limits)

    model = ScriptedModel([calls(call("ask")), says("Done.")])
    async with application(Application()) as app:
        return await app.agent().run("Ask!", model=model)


@pytest.mark.parametrize("source", [StubbornSession, stubborn_end], ids=["aclose", "generator"])
async def test_a_close_that_swallows_its_cancellation_is_ended_by_force(source: Callable[..., Any]) -> None:
    with pytest.raises(CleanupError, match=r"took longer than 0\.01 seconds") as ended:
        await run_with(source, Limits(close_timeout=0.01))

    assert isinstance(ended.value.__cause__, TimeoutError)
    assert ended.value.run.response == "Done."


async def test_an_opening_that_swallows_its_cancellation_is_a_failure_of_the_call() -> None:
    run = await run_with(stubborn_start, Limits(open_timeout=0.01))

    assert run.calls[0].result.content == "tool 'ask' failed: TimeoutError"
    assert "opening stubborn_start took longer than 0.01 seconds" in str(run.calls[0].error)


class BusySession(Session):
    """Keeps the event loop for longer than it may take, and only then waits for something."""

    async def aclose(self) -> None:
        time.sleep(0.02)  # noqa: ASYNC251 - this is what it is about
        for _ in range(5):
            await asyncio.sleep(0)


async def test_time_in_which_a_close_keeps_the_event_loop_counts_as_soon_as_it_waits() -> None:
    with pytest.raises(CleanupError, match=r"took longer than 0\.01 seconds"):
        await run_with(BusySession, Limits(close_timeout=0.01))


async def test_without_a_limit_a_close_may_wait_for_as_long_as_it_takes() -> None:
    run = await run_with(BusySession, Limits(close_timeout=None))

    assert run.outcome == "completed"
