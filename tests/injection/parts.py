"""What the tests of injection share: things to open, tools that use them, and models that call the tools."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

from toolkit import Tool
from toolkit.testing import ScriptedModel, call, calls, says


class Connection:
    """Something that is opened, and closed once by whoever opened it."""

    def __init__(self, url: str = "db://here") -> None:
        self.url = url
        self.closed = 0
        self.task = asyncio.current_task() if _is_running() else None

    async def aclose(self) -> None:
        self.closed += 1
        self.closed_in = asyncio.current_task()


class SyncConnection:
    def __init__(self, url: str = "db://here") -> None:
        self.url = url
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


class Client:
    """Holds a connection, and is itself nothing to close."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection


def connect(url: str = "db://here") -> Connection:
    return Connection(url)


async def connect_async(url: str = "db://here") -> Connection:
    await asyncio.sleep(0)
    return Connection(url)


def connection_open(url: str = "db://here") -> Iterator[Connection]:
    connection = Connection(url)
    try:
        yield connection
    finally:
        connection.closed += 1


async def connection_open_async(url: str = "db://here") -> AsyncIterator[Connection]:
    connection = Connection(url)
    await asyncio.sleep(0)
    try:
        yield connection
    finally:
        await connection.aclose()


class UsesConnection(Tool):
    """Tell the address of the connection."""

    name = "first"

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    async def handler(self) -> str:
        return self.connection.url


class AlsoUsesConnection(UsesConnection):
    """Tell the address of the same connection."""

    name = "second"


class Echo(Tool):
    """Say it again."""

    name = "echo"

    async def handler(self, text: str = "hello") -> str:
        return text


def asking(*names: str, turns: int = 1) -> ScriptedModel:
    """A model that calls the tools, all in one turn, that often; then answers."""
    return ScriptedModel([*([calls(*(call(name) for name in names))] * turns if names else []), says("done")])


def in_turns(*names: str) -> ScriptedModel:
    """A model that calls the tools, each in a turn of its own; then answers."""
    return ScriptedModel([*(calls(call(name)) for name in names), says("done")])


def answers(run: Any) -> list[str]:
    """What the tools said."""
    return [record.result.content for record in run.calls]


def _is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
