"""A web client that goes away in the middle of a streamed answer, as a server of either ASGI version tells it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from dependency_injector import containers
from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse

from tests.http.loopback import GUARD
from tests.runs.parts import Gate, until
from toolkit import Agent, Tool
from toolkit.injection import RunScoped, application, provide
from toolkit.testing import ScriptedModel, call, calls, says


class Connection:
    """Something to open and close."""


class Waits(Tool):
    """Wait at a gate."""

    name = "wait"

    def __init__(self, connection: Connection, gate: Gate, log: list[str]) -> None:
        self.gate, self.log = gate, log

    async def handler(self) -> str:
        try:
            await self.gate.pass_through()
        finally:
            self.log.append("handler ended")
        return "never"


class Server:
    """The server's side of one request whose client goes away once it was sent something."""

    def __init__(self, version: str) -> None:
        self.scope = {"type": "http", "method": "GET", "asgi": {"spec_version": version}}
        self.is_gone = asyncio.Event()
        self.sent: list[bytes] = []

    async def receive(self) -> Any:
        await self.is_gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        if self.is_gone.is_set():
            raise OSError("the client is gone")
        self.sent.append(message.get("body", b""))


@pytest.mark.parametrize("version", ["2.3", "2.4"])
async def test_a_client_that_goes_away_ends_the_run_and_closes_what_it_opened(version: str) -> None:
    gate, log, closed = Gate(), [], asyncio.Event()

    async def connect() -> AsyncIterator[Connection]:
        task = asyncio.current_task()
        try:
            async with asyncio.TaskGroup():
                yield Connection()
        finally:
            assert asyncio.current_task() is task
            log.append("closed")
            closed.set()

    class Container(containers.DeclarativeContainer):
        connection = RunScoped(connect)
        agent = provide(Agent, tools=[provide(Waits, connection=connection, gate=gate, log=log)])

    model = ScriptedModel([calls(call("wait")), says("never")])
    server = Server(version)
    async with application(Container()) as app:
        tasks = len(asyncio.all_tasks())

        async def events() -> AsyncIterator[str]:
            async with app.agent().stream("go", model=model) as stream:
                async for event in stream:
                    yield type(event).__name__

        response = StreamingResponse(events())
        request = asyncio.create_task(response(server.scope, server.receive, server.send))
        await gate.arrived.wait()
        server.is_gone.set()
        if version == "2.4":  # here a client that is gone shows when something is sent to it
            gate.open.set()
        with contextlib.suppress(ClientDisconnect):
            await request
        del response, events, request
        async with asyncio.timeout(GUARD):
            await closed.wait()
            await until(lambda: len(asyncio.all_tasks()) == tasks)

    assert log == ["handler ended", "closed"]
    assert server.sent[:2] == [b"", b"RunStarted"]
