"""A small HTTP server on the loopback interface. It answers as it is told, and remembers what it was asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, urlsplit

GUARD = 20.0  # seconds after which a test that hangs fails; nothing waits for it


@dataclass(frozen=True)
class Reply:
    body: bytes | str | Mapping[str, Any] | list[Any] = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    never: bool = False  # take the request, and answer nothing
    breaks_off: bool = False  # promise more than is sent
    endless: bool = False  # send, and go on sending
    blanks: int = 0  # a body of so many spaces, sent until the client hangs up; `server.sent` counts them

    pieces: Sequence[bytes] | None = None  # a body in chunks, in place of `body`; with `breaks_off` it never ends
    hangs: bool = False  # after the pieces, until the client hangs up; `server.hung_up` is set then

    def content(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        return self.body.encode() if isinstance(self.body, str) else json.dumps(self.body).encode()


@dataclass(frozen=True)
class Received:
    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def params(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.target).query, keep_blank_values=True))

    @property
    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body.decode(), keep_blank_values=True))


Answers: TypeAlias = Reply | Iterable[Reply] | Callable[[Received], Reply]


class LoopbackServer:
    def __init__(self, answers: Answers) -> None:
        self.requests: list[Received] = []
        self.arrived = asyncio.Event()
        self.hung_up = asyncio.Event()
        self.connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self.at_once = 0
        self.most_at_once = 0
        self.sent = 0
        self.url = ""
        if isinstance(answers, Reply):
            self._answer: Callable[[Received], Reply] = lambda _: answers
        elif callable(answers):
            self._answer = answers
        else:
            queue = iter(answers)
            self._answer = lambda _: next(queue, Reply("the test's server has no more answers", status=599))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.connections[task] = writer
        try:
            while (request := await _read_request(reader)) is not None:
                self.requests.append(request)
                self.arrived.set()
                reply = self._answer(request)
                self.at_once += 1
                self.most_at_once = max(self.most_at_once, self.at_once)
                try:
                    if reply.never:
                        await reader.read()  # until the client hangs up
                        return
                    if reply.endless:
                        await _send_without_end(writer)
                    if reply.blanks:
                        await self._send_blanks(reply, writer)
                        continue
                    if reply.pieces is not None:
                        await self._send_pieces(reply, reply.pieces, reader, writer)
                    else:
                        writer.write(_written(reply))
                        await writer.drain()
                    if reply.breaks_off:
                        return
                finally:
                    self.at_once -= 1
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            del self.connections[task]
            writer.close()

    async def _send_pieces(
        self, reply: Reply, pieces: Sequence[bytes], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        writer.write(_head(reply, {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"}))
        for piece in pieces:
            writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            await writer.drain()
        if reply.hangs:
            await reader.read()
            self.hung_up.set()
        elif not reply.breaks_off:
            writer.write(b"0\r\n\r\n")
            await writer.drain()

    async def _send_blanks(self, reply: Reply, writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 {reply.status} Status\r\nContent-Length: {reply.blanks}\r\n\r\n".encode())
        for _ in range(reply.blanks // 10_000):
            writer.write(b" " * 10_000)
            await writer.drain()
            self.sent += 10_000

    async def until_no_connection(self) -> None:
        async with asyncio.timeout(GUARD):
            while self.connections:
                await asyncio.wait(self.connections)


@asynccontextmanager
async def serving(answers: Answers) -> AsyncIterator[LoopbackServer]:
    """The server, under `server.url`, until the end of the block."""
    served = LoopbackServer(answers)
    server = await asyncio.start_server(served.serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()[:2]
    served.url = f"http://{host}:{port}"
    try:
        yield served
    finally:
        server.close()
        for writer in served.connections.values():
            writer.close()  # ends its task; a cancelled one would be logged as an error by Python 3.11
        await served.until_no_connection()
        await server.wait_closed()


async def _read_request(reader: asyncio.StreamReader) -> Received | None:
    line = await reader.readline()
    if not line:
        return None
    method, target, _ = line.decode("latin-1").split(" ", 2)
    headers: dict[str, str] = {}
    while (line := await reader.readline()).strip():
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method, target, headers, body)


async def _send_without_end(writer: asyncio.StreamWriter) -> None:
    """Until the client hangs up, which is a ConnectionError."""
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"1\r\n[\r\n")
        await writer.drain()
        await asyncio.sleep(0.001)


def _written(reply: Reply) -> bytes:
    content = reply.content()
    length = len(content) + (10 if reply.breaks_off else 0)
    return _head(reply, {"Content-Type": "application/json; charset=utf-8", "Content-Length": str(length)}) + content


def _head(reply: Reply, headers: Mapping[str, str]) -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in {**headers, **reply.headers}.items())
    return f"HTTP/1.1 {reply.status} Status\r\n{lines}\r\n".encode()
