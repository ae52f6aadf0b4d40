"""What lives for one call is opened and closed in the task of that call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any

import anyio
import pytest
from dependency_injector import containers

from toolkit import Agent, Inject, tool
from toolkit.injection import CallScoped, RunScoped, application, provide
from toolkit.testing import ScriptedModel, call, calls, says


class Connection:
    """What the run's sessions share."""


class Session:
    """What a call works with."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.task = asyncio.current_task()


turns: dict[int, asyncio.Event] = {}


@tool
async def work(place: int, session: Annotated[Session, Inject()]) -> str:
    """Work; the call of place 0 ends first, though the other was opened later."""
    if place == 0:
        turns[1].set()
        await turns[0].wait()
    else:
        await turns[1].wait()
        turns[0].set()
        await turns[2].wait()
    turns[2].set()
    return "worked"


async def open_in_a_scope(connection: Connection) -> AsyncIterator[Session]:
    with anyio.move_on_after(60):
        yield Session(connection)


async def open_with_a_task_group(connection: Connection) -> AsyncIterator[Session]:
    async with anyio.create_task_group() as group:
        group.start_soon(anyio.sleep_forever)
        yield Session(connection)
        group.cancel_scope.cancel()


closed_by: list[bool] = []


async def open_in_its_task(connection: Connection) -> AsyncIterator[Session]:
    session = Session(connection)
    try:
        yield session
    finally:
        closed_by.append(session.task is asyncio.current_task())


@pytest.mark.parametrize("source", [open_in_a_scope, open_with_a_task_group, open_in_its_task])
async def test_calls_at_once_may_hold_scopes_and_end_in_any_order(source: Callable[..., Any]) -> None:
    turns.update({place: asyncio.Event() for place in range(3)})
    closed_by.clear()
    opened: list[Connection] = []

    async def connect() -> AsyncIterator[Connection]:
        with anyio.move_on_after(60):
            await asyncio.sleep(0)  # the other call asks meanwhile
            task = asyncio.current_task()
            opened.append(Connection())
            yield opened[-1]
            closed_by.append(task is asyncio.current_task())

    class Application(containers.DeclarativeContainer):
        connection = RunScoped(connect)
        session = CallScoped(source, connection)
        agent = provide(Agent, tools=[work])

    model = ScriptedModel([calls(call("work", {"place": 0}), call("work", {"place": 1})), says("Done.")])
    async with application(Application()) as app:
        run = await app.agent().run("Work!", model=model)

    assert [record.result.content for record in run.calls] == ["worked", "worked"]
    assert len(opened) == 1
    assert closed_by
    assert all(closed_by)
