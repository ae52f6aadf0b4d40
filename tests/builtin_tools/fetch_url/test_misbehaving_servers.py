"""Servers that misbehave, over loopback, through both libraries: a typed error or the page, and nothing open."""

from __future__ import annotations

import asyncio
import gzip
import sys
import threading
import tracemalloc
import zlib
from collections.abc import Callable, Iterable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

import toolkit
from builtin_tools.http import ServiceError
from tests.builtin_tools.fetch_url.web import NameBook, page, sending, tool_over
from tests.http.clients import ManualClock
from tests.http.loopback import GUARD, Reply, serving

OK = page("fine")
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"


async def asked(http: Any, url: str, clock: ManualClock | None = None, **settings: Any) -> Any:
    return await toolkit.execute(tool_over(http, allow_private=True, clock=clock, **settings), {"url": url})


def chunked(pieces: Iterable[bytes]) -> Iterator[bytes]:
    yield HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    for piece in pieces:
        yield b"%x\r\n%b\r\n" % (len(piece), piece)
    yield b"0\r\n\r\n"


@pytest.mark.parametrize(
    ("replies", "slept"),
    [
        pytest.param([Reply(status=429, headers={"Retry-After": "3"}), OK], [3.0], id="429 with Retry-After"),
        pytest.param([Reply(status=429), OK], None, id="429 without"),
        pytest.param([Reply(status=503), Reply(status=502), OK], None, id="503 and 502"),
        pytest.param([Reply(status=504), OK], None, id="504"),
        pytest.param(
            [Reply("cut", headers={"Content-Type": "text/plain"}, breaks_off=True), OK], None, id="a body cut off"
        ),
    ],
)
async def test_a_temporary_failure_is_tried_again(http: Any, clock: ManualClock, replies: Any, slept: Any) -> None:
    async with serving(replies) as server:
        result = await asked(http, server.url, clock)
        await server.until_no_connection()

    assert result.value.text == "fine"
    assert len(server.requests) == len(replies)
    assert slept in (None, clock.slept)


@pytest.mark.parametrize(
    ("reply", "kind", "text", "requests"),
    [
        pytest.param(
            Reply(status=429, headers={"Retry-After": "60"}),
            "rate_limited",
            "allows no more requests for now. Wait 60 seconds",
            1,
            id="429 with a long Retry-After",
        ),
        pytest.param(
            Reply(status=429, headers={"Retry-After": "11"}),
            "rate_limited",
            "Wait 11 seconds",
            1,
            id="429 with a Retry-After of more than half of the timeout",
        ),
        pytest.param(Reply(status=429), "rate_limited", "allows no more requests for now", 3, id="429 for ever"),
        pytest.param(Reply(status=500), "unavailable", "failed (HTTP 500)", 1, id="500"),
        pytest.param(Reply(status=503), "unavailable", "failed (HTTP 503)", 3, id="503 for ever"),
        pytest.param(Reply(status=404), "not_found", "has nothing at this address (HTTP 404)", 1, id="404"),
        pytest.param(Reply(status=410), "not_found", "HTTP 410", 1, id="410"),
        pytest.param(Reply(status=403), "unauthorized", "refused the request (HTTP 403)", 1, id="403"),
        pytest.param(Reply(status=401), "unauthorized", "HTTP 401", 1, id="401"),
        pytest.param(Reply(status=304), "unavailable", "HTTP 304", 1, id="304 that nobody asked for"),
        pytest.param(
            Reply(status=302, headers={"Location": "/"}),
            "unavailable",
            "redirects in a circle",
            1,
            id="a redirect loop",
        ),
        pytest.param(Reply(status=301), "malformed_response", "does not say where to", 1, id="a redirect to nowhere"),
        pytest.param(
            page("not gzip", Content_Encoding="gzip"), "malformed_response", "can't be unpacked", 1, id="false gzip"
        ),
        pytest.param(
            Reply(gzip.compress(b"x" * 999)[:-12], headers={"Content-Encoding": "gzip", "Content-Type": "text/plain"}),
            "malformed_response",
            "can't be unpacked",
            1,
            id="gzip cut off",
        ),
        pytest.param(
            page("?", Content_Encoding="br"), "unsupported_content", "not asked for", 1, id="another compression"
        ),
        pytest.param(
            page("?", Content_Encoding="gzip, gzip"), "unsupported_content", "not asked for", 1, id="gzip in gzip"
        ),
    ],
)
async def test_other_failures_are_told_by_their_kind(
    http: Any, clock: ManualClock, reply: Reply, kind: str, text: str, requests: int
) -> None:
    async with serving(reply) as server:
        result = await asked(http, f"{server.url}/", clock)
        await server.until_no_connection()

    assert isinstance(result.error, ServiceError)
    assert result.error.kind == kind
    assert text in result.content
    assert len(server.requests) == requests


async def test_more_than_five_redirects_are_not_followed(http: Any, clock: ManualClock) -> None:
    async with serving(lambda got: Reply(status=307, headers={"Location": f"{got.path}x"})) as server:
        result = await asked(http, f"{server.url}/x", clock)
        await server.until_no_connection()

    assert "the page redirects more than 5 times" in result.content
    assert len(server.requests) == 6


async def test_five_redirects_are_followed_and_the_last_address_is_told(http: Any, clock: ManualClock) -> None:
    def answer(got: Any) -> Reply:
        number = int(got.path[1:])
        return Reply(status=302, headers={"Location": str(number + 1)}) if number < 5 else OK

    async with serving(answer) as server:
        result = await asked(http, f"{server.url}/0", clock)

    assert result.value.url == f"{server.url}/5"
    assert result.value.requested_url == f"{server.url}/0"
    assert f"url: {server.url}/5" in result.content


async def test_a_server_that_is_not_there_is_tried_three_times(http: Any, clock: ManualClock) -> None:
    async with serving(OK) as server:
        pass  # gone at the end of the block

    result = await asked(http, server.url, clock)

    assert result.content.startswith('unavailable: "127.0.0.1" could not be reached.')
    assert len(clock.slept) == 2


async def test_a_server_that_hangs_does_not_outlast_the_timeout(http: Any) -> None:
    async with serving(Reply(never=True)) as server:
        async with asyncio.timeout(GUARD):
            result = await asked(http, server.url, timeout=0.1)
        await server.until_no_connection()

    assert result.content.startswith("unavailable: ")
    assert "within 0.1 seconds" in result.content


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param(lambda: chunked(iter(lambda: b"x", None)), id="of a body"),
        pytest.param(lambda: iter(lambda: b"X", b""), id="of a status line"),
        pytest.param(lambda: _headers_without_end(), id="of headers"),
    ],
)
async def test_a_drip_without_end_does_not_outlast_the_timeout(
    http: Any, pieces: Callable[[], Iterable[bytes]]
) -> None:
    async with sending(pieces, pause=0.002) as server:
        async with asyncio.timeout(GUARD):
            result = await asked(http, server.url, timeout=0.3)
        await server.until_no_connection()

    assert result.content.startswith("unavailable: ")


def _headers_without_end() -> Iterator[bytes]:
    yield HEAD
    while True:
        yield b"X-More: yes\r\n"


async def test_a_resolver_that_hangs_does_not_outlast_the_timeout(http: Any) -> None:
    class Silent(NameBook):
        async def addresses(self, host: str) -> list[str]:
            await asyncio.Event().wait()
            return []

    async with asyncio.timeout(GUARD):
        result = await toolkit.execute(tool_over(http, Silent(), timeout=0.05), {"url": "http://page.example/"})

    assert "the page was not there within 0.05 seconds" in result.content


async def test_markup_that_takes_too_long_does_not_outlast_the_timeout(
    http: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    slow = SimpleNamespace(load_html=lambda _: go_on.wait(GUARD) and None)
    monkeypatch.setitem(sys.modules, "trafilatura", slow)
    async with serving(page("<p>Some words.", "text/html")) as server:
        try:
            async with asyncio.timeout(GUARD / 2):
                result = await asked(http, server.url, timeout=0.3)
        finally:
            go_on.set()

    assert "the page was not there within 0.3 seconds" in result.content


async def test_a_slow_chain_of_redirects_has_one_timeout_in_all(http: Any) -> None:
    def answer(got: Any) -> Reply:
        return Reply(never=True) if got.path == "/2" else Reply(status=302, headers={"Location": f"{got.path}2"})

    async with serving(answer) as server:
        async with asyncio.timeout(GUARD):
            result = await asked(http, f"{server.url}/", timeout=0.2)
        await server.until_no_connection()

    assert "within 0.2 seconds" in result.content


async def test_a_body_of_100_megabytes_is_given_up_after_5(http: Any) -> None:
    piece = b"x" * 65_536

    async with sending(lambda: chunked(piece for _ in range(1_600))) as server:
        result = await asked(http, server.url)
        await server.until_no_connection()

    assert result.content.startswith("unsupported content: the page has more than 5 MB, which is not read.")
    assert server.sent < 50_000_000  # what was under way in the buffers of both sides comes on top of the 5 MB


async def test_a_length_of_100_megabytes_is_believed_and_nothing_is_read(http: Any) -> None:
    head = HEAD + b"Content-Length: 100000000\r\n\r\n"

    async with sending(lambda: [head]) as server:
        result = await asked(http, server.url)

    assert result.content.startswith("unsupported content: the page has more than 5 MB, which is not read.")


async def test_a_gzip_bomb_is_given_up_at_5_megabytes_and_never_held_in_memory(http: Any) -> None:
    bomb = _bomb()
    head = HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb)
    assert len(bomb) < 200_000

    async with sending(lambda: [head, bomb]) as server:
        tracemalloc.start()
        try:
            result = await asked(http, server.url)
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        await server.until_no_connection()

    assert result.content.startswith("unsupported content: the page has more than 5 MB, which is not read.")
    assert most < 25_000_000


def _bomb() -> bytes:
    """100 MB of zeros, in 100 KB."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    return b"".join([*(packer.compress(bytes(1_000_000)) for _ in range(100)), packer.flush()])


async def test_headers_without_measure_are_an_error(http: Any) -> None:
    async with sending(
        lambda: [HEAD, *(b"X-%d: %b\r\n" % (n, b"x" * 60_000) for n in range(50)), b"\r\nfine"]
    ) as server:
        result = await asked(http, server.url)
        await server.until_no_connection()

    assert result.is_error
    assert result.content.startswith("unavailable: ")


async def test_cancelling_leaves_no_connection_open(http: Any) -> None:
    async with serving(Reply(never=True)) as server:
        task = asyncio.create_task(asked(http, server.url))
        async with asyncio.timeout(GUARD):
            await server.arrived.wait()

        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

        await server.until_no_connection()


async def test_no_connection_stays_open_after_a_page(http: Any) -> None:
    async with serving(OK) as server:
        assert not (await asked(http, server.url)).is_error
        await server.until_no_connection()  # the client has not been closed

    assert not http.is_closed


async def test_a_hundred_pages_at_once_are_all_read(http: Any) -> None:
    async with serving(lambda got: page(got.path)) as server:
        tool = tool_over(http, allow_private=True)
        results = await asyncio.gather(
            *(toolkit.execute(tool, {"url": f"{server.url}/{number}"}) for number in range(100))
        )
        await server.until_no_connection()

    assert [result.value.text for result in results] == [f"/{number}" for number in range(100)]
