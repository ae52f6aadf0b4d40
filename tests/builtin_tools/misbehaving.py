"""How a server may misbehave, and what has to come of it: a table that each service's tests go through."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import toolkit
from builtin_tools.http import ServiceError
from tests.http.clients import ManualClock
from tests.http.loopback import GUARD, LoopbackServer, Received, Reply, serving

PAGE = "<!DOCTYPE html><html><head><title>Sorry</title></head><body><p>Something &nbsp; went wrong.<br></body></html>"
HTML = {"Content-Type": "text/html"}


@dataclass(frozen=True)
class Misbehaviour:
    """What the server answers, again and again.

    Attributes:
        kind: The error's, when it goes on.
        asked: How often it is asked then.
        waits: The seconds that are waited before each further try, where the server says how long.
        recovers: Whether one bad answer is got over when a good one follows.
        breaks_connection: Whether the connection has to be given up.
    """

    reply: Reply
    kind: str
    asked: int
    waits: tuple[float, ...] | None = None
    recovers: bool = False
    breaks_connection: bool = False


MISBEHAVIOUR: dict[str, Misbehaviour] = {
    "429 with Retry-After": Misbehaviour(
        Reply("slow down", status=429, headers={"Retry-After": "7"}), "rate_limited", 3, (7.0, 7.0), recovers=True
    ),
    "429 without Retry-After": Misbehaviour(Reply(status=429), "rate_limited", 3, recovers=True),
    "429 with a long Retry-After": Misbehaviour(
        Reply(status=429, headers={"Retry-After": "3600"}), "rate_limited", 1, ()
    ),
    "503": Misbehaviour(Reply(PAGE, status=503, headers=HTML), "unavailable", 3, recovers=True),
    "body cut off": Misbehaviour(
        Reply('{"half": ', breaks_off=True), "unavailable", 3, recovers=True, breaks_connection=True
    ),
    "a web page for data": Misbehaviour(Reply(PAGE, headers=HTML), "malformed_response", 1),
    "404 with a web page": Misbehaviour(Reply(PAGE, status=404, headers=HTML), "not_found", 1),
    "403": Misbehaviour(Reply("go away", status=403), "unauthorized", 1),
    "a redirect": Misbehaviour(Reply(status=302, headers={"Location": "http://127.0.0.1:9/"}), "unavailable", 1),
    "a body of 100 MB": Misbehaviour(Reply(blanks=100_000_000), "malformed_response", 1, breaks_connection=True),
    "no encoding": Misbehaviour(Reply("no gzip at all", headers={"Content-Encoding": "gzip"}), "malformed_response", 1),
}

EACH = pytest.mark.parametrize("name", MISBEHAVIOUR)
RECOVERABLE = pytest.mark.parametrize("name", [name for name, one in MISBEHAVIOUR.items() if one.recovers])


async def shows_its_error(
    name: str, tool_over: Callable[[LoopbackServer], Any], arguments: dict[str, Any], clock: ManualClock
) -> None:
    """A call ends with the error of the table, told in one line, and the server is left alone."""
    expected = MISBEHAVIOUR[name]
    async with serving(expected.reply) as server:
        result = await toolkit.execute(tool_over(server), arguments)
        if expected.breaks_connection:
            await server.until_no_connection()

    assert isinstance(result.error, ServiceError), result
    assert (result.error.kind, len(server.requests)) == (expected.kind, expected.asked)
    assert result.is_error
    assert result.content == str(result.error)
    assert "\n" not in result.content
    assert server.url not in result.content
    if expected.waits is not None:
        assert [seconds for seconds in clock.slept if seconds >= 1] == [*expected.waits]


async def shows_recovery(
    name: str, good: Callable[[Received], Reply], tool_over: Callable[[LoopbackServer], Any], arguments: dict[str, Any]
) -> None:
    """One bad answer is got over by another try."""
    bad = [MISBEHAVIOUR[name].reply]

    async with serving(lambda request: bad.pop() if bad else good(request)) as server:
        result = await toolkit.execute(tool_over(server), arguments)

    assert not result.is_error, result.content
    assert server.requests[0].target == server.requests[1].target
    assert server.requests[0].body == server.requests[1].body


async def shows_a_hang_ends(
    tool_over: Callable[[LoopbackServer], Any], arguments: dict[str, Any], clock: ManualClock, seconds: float
) -> None:
    """A server that takes a request and answers nothing costs the timeout, three times, and no connection."""
    async with serving(Reply(never=True)) as server:
        async with asyncio.timeout(GUARD):
            result = await toolkit.execute(tool_over(server), arguments)
        await server.until_no_connection()

    assert len([waited for waited in clock.slept if waited >= 0.5]) == 2
    assert f"did not answer within {seconds:g} seconds" in result.content
