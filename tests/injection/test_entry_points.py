"""An override is seen by the runs that are started inside its block, whatever starts them there."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
import pytest
from dependency_injector import containers, providers
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from toolkit import Agent, Tool
from toolkit.injection import AppScoped, application, overriding, provide
from toolkit.testing import ScriptedModel, call, calls, says


class Clock:
    """What the tool asks."""

    time = "real"


class Stopped(Clock):
    time = "stopped"


class Clerk:
    """Something app-wide above the clock."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock


class Ask(Tool):
    """Ask."""

    def __init__(self, clock: Clock, clerk: Clerk) -> None:
        self.clock = clock
        self.clerk = clerk

    async def handler(self) -> str:
        return f"{self.clock.time} {self.clerk.clock.time}"


class Application(containers.DeclarativeContainer):
    clock = providers.Singleton(Clock)
    clerk = AppScoped(Clerk, clock)
    agent = provide(Agent, tools=[Ask])


async def told(container: Any) -> str:
    """What a run tells, in an application of its own."""
    model = ScriptedModel([calls(call("ask")), says("There.")])
    async with application(container) as app:
        run = await app.agent().run("Ask!", model=model)
    return run.calls[0].result.content


async def in_this_task(container: Any) -> str:
    return await told(container)


async def in_a_child_task(container: Any) -> str:
    return await asyncio.create_task(told(container))


async def in_a_task_group_of_anyio(container: Any) -> str:
    answers: list[str] = []

    async def tell() -> None:
        answers.append(await told(container))

    async with anyio.create_task_group() as group:
        group.start_soon(tell)
    return answers[0]


async def in_a_thread_of_asyncio(container: Any) -> str:
    return await asyncio.to_thread(lambda: asyncio.run(told(container)))


async def in_a_thread_of_anyio(container: Any) -> str:
    return await anyio.to_thread.run_sync(lambda: asyncio.run(told(container)))


async def from_a_thread_of_anyio(container: Any) -> str:
    return await anyio.to_thread.run_sync(lambda: anyio.from_thread.run(told, container))


async def in_an_executor_with_the_context(container: Any) -> str:
    context = contextvars.copy_context()  # an executor does not hand it on by itself
    with ThreadPoolExecutor(1) as executor:
        return await asyncio.get_running_loop().run_in_executor(
            executor, lambda: context.run(asyncio.run, told(container))
        )


async def in_a_portal(container: Any) -> str:
    def call_portal() -> str:
        with anyio.from_thread.start_blocking_portal() as portal:
            return portal.call(told, container)

    return await asyncio.to_thread(call_portal)


ENTRY_POINTS: list[Callable[[Any], Awaitable[str]]] = [
    in_this_task,
    in_a_child_task,
    in_a_task_group_of_anyio,
    in_a_thread_of_asyncio,
    in_a_thread_of_anyio,
    from_a_thread_of_anyio,
    in_an_executor_with_the_context,
    in_a_portal,
]


@pytest.mark.parametrize("enter", ENTRY_POINTS, ids=lambda enter: enter.__name__)
async def test_an_override_is_seen(enter: Callable[[Any], Awaitable[str]]) -> None:
    container = Application()

    with overriding(container, clock=Stopped()):
        inside = await enter(container)

    assert inside == "stopped stopped"
    assert await enter(container) == "real real"


async def test_an_executor_without_the_context_is_no_child_and_sees_no_override() -> None:
    container = Application()
    with overriding(container, clock=Stopped()), ThreadPoolExecutor(1) as executor:
        told_there = await asyncio.get_running_loop().run_in_executor(executor, lambda: asyncio.run(told(container)))

    assert told_there == "real real"


def web_application(container: Any) -> Starlette:
    @asynccontextmanager
    async def lifespan(web: Starlette) -> AsyncIterator[None]:
        async with application(container) as app:
            web.state.app = app
            yield

    async def ask(request: Request) -> PlainTextResponse:
        model = ScriptedModel([calls(call("ask")), says("There.")])
        run = await request.app.state.app.agent().run("Ask!", model=model)
        return PlainTextResponse(run.calls[0].result.content)

    return Starlette(routes=[Route("/", ask)], lifespan=lifespan)


def test_a_request_of_a_test_client_sees_the_override_of_the_test_that_sends_it() -> None:
    container = Application()
    with TestClient(web_application(container)) as client:
        before = client.get("/").text
        with overriding(container, clock=Stopped()):
            inside = client.get("/").text
        after = client.get("/").text

    assert (before, inside, after) == ("real real", "stopped stopped", "real real")


def test_a_client_that_was_opened_inside_the_block_sees_the_override_too() -> None:
    container = Application()
    with overriding(container, clock=Stopped()), TestClient(web_application(container)) as client:
        inside = client.get("/").text

    assert inside == "stopped stopped"


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_under_the_runner_of_anyio(anyio_backend: str) -> None:
    container = Application()

    with overriding(container, clock=Stopped()):
        assert await told(container) == "stopped stopped"
