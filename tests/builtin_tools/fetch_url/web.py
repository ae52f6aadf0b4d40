"""A web without a network: names that resolve as told, and a transport that remembers what would have been sent."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from builtin_tools.fetch_url import FetchSettings, FetchUrl, WebClient
from tests.http.clients import ManualClock
from tests.http.loopback import GUARD, Reply

PUBLIC = "93.184.216.34"
PUBLIC_V6 = "2606:2800:220:1:248:1893:25c8:1946"


class NameBook:
    """Resolves by a table; a list of lists is one answer after the other. Remembers what it was asked."""

    def __init__(self, names: Mapping[str, Any] | None = None) -> None:
        self.names = dict(names or {})
        self.asked: list[str] = []

    async def addresses(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        found = self.names.get(host)
        if found is None:
            raise OSError("Name or service not known")
        if found and isinstance(found[0], list):
            return found.pop(0) if len(found) > 1 else found[0]
        return found


class Sent:
    """The requests that reached the network's edge: each would have been a connection."""

    def __init__(self) -> None:
        self.requests: list[Any] = []

    @property
    def urls(self) -> list[str]:
        return [str(request.url) for request in self.requests]


def remembering(library: Any, answer: Callable[[Any], Any]) -> tuple[Any, Sent]:
    """A client of the library whose requests are answered by a function, and what it was asked."""
    sent = Sent()

    def handle(request: Any) -> Any:
        sent.requests.append(request)
        return answer(request)

    return library.AsyncClient(transport=library.MockTransport(handle), trust_env=False), sent


def tool_over(
    http: Any, resolver: NameBook | None = None, *, clock: ManualClock | None = None, **settings: Any
) -> FetchUrl:
    """The tool over a client. It refuses what is private, unless a test says otherwise."""
    settings = {"timeout": GUARD, **settings}
    client = WebClient(http, FetchSettings(**settings), resolver=resolver or NameBook(), clock=clock or ManualClock())
    return FetchUrl(client)


@dataclass
class RawServer:
    """Sends what it is given, byte for byte, to whoever asks; counts what was taken."""

    port: int = 0
    sent: int = 0
    connections: set[asyncio.Task[None]] = field(default_factory=set)
    names: list[str | None] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def until_no_connection(self) -> None:
        async with asyncio.timeout(GUARD):
            while self.connections:
                await asyncio.wait(self.connections)


@asynccontextmanager
async def sending(
    pieces: Callable[[], Iterable[bytes]], *, pause: float = 0.0, tls: ssl.SSLContext | None = None
) -> AsyncIterator[RawServer]:
    """A server whose whole answer, head and all, is `pieces()`, each `pause` seconds after the other."""
    served = RawServer()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        served.connections.add(task)
        try:
            await reader.readuntil(b"\r\n\r\n")
            for piece in pieces():
                writer.write(piece)
                await writer.drain()
                served.sent += len(piece)
                await asyncio.sleep(pause)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            served.connections.discard(task)
            writer.close()

    if tls is not None:
        tls.sni_callback = lambda _, name, __: served.names.append(name)
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    served.port = server.sockets[0].getsockname()[1]
    try:
        yield served
    finally:
        server.close()
        await served.until_no_connection()
        await server.wait_closed()


@dataclass
class Tunnel:
    port: int = 0
    asked: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@asynccontextmanager
async def tunnelling(to_port: int) -> AsyncIterator[Tunnel]:
    """A proxy for `CONNECT`, which leads to a port of this computer whatever it is asked for."""
    tunnel = Tunnel()
    tasks: set[asyncio.Task[None]] = set()

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while piece := await reader.read(65_536):
                writer.write(piece)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        head = await reader.readuntil(b"\r\n\r\n")
        tunnel.asked.append(head.decode().split(" ")[1])
        their_reader, their_writer = await asyncio.open_connection("127.0.0.1", to_port)
        writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
        await asyncio.gather(copy(reader, their_writer), copy(their_reader, writer))
        tasks.discard(task)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    tunnel.port = server.sockets[0].getsockname()[1]
    try:
        yield tunnel
    finally:
        server.close()
        if tasks:
            await asyncio.wait(tasks, timeout=GUARD)
        await server.wait_closed()


def page(text: str, media_type: str = "text/plain", **headers: str) -> Reply:
    return Reply(text, headers={"Content-Type": media_type, **{k.replace("_", "-"): v for k, v in headers.items()}})
