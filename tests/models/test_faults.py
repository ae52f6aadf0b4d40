"""Servers that misbehave: each ends in the right typed error or recovers, and nothing is left open."""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import logging
import traceback
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from tests.http.clients import ManualClock
from tests.http.loopback import LoopbackServer, Reply, serving
from tests.models.asking import ran
from tests.models.providers import FORMATS, Format, sse
from toolkit import Agent, DeadlineExceeded
from toolkit.errors import (
    AuthenticationError,
    BadRequestError,
    BrokenStreamError,
    ContentRefusedError,
    ContextLengthError,
    ModelError,
    OverloadedError,
    ProviderError,
    RateLimitError,
    UnexpectedReplyError,
    UnreachableError,
)
from toolkit.events import TextDelta
from toolkit.models import RetryingModel

KEY = "sk-secret-5d41402abc4b"
BOMB = gzip.compress(gzip.compress(bytes(30_000_000)))
FORMAT = pytest.mark.parametrize("wire", FORMATS, ids=lambda wire: wire.name)
WAY = pytest.mark.parametrize("is_streamed", [False, True], ids=["whole", "streamed"])


def model_of(wire: Format, server: LoopbackServer, http: Any, **more: Any) -> Any:
    return wire.model("a-model", http=http, base_url=f"{server.url}/v1", api_key=KEY, **more)


async def failure(wire: Format, reply: Any, http: Any, *, is_streamed: bool, **more: Any) -> ProviderError:
    """What a run ends with over this server; afterwards no connection and no task is left."""
    async with serving(reply) as server:
        with pytest.raises(ProviderError) as caught:
            await ran(Agent(model_of(wire, server, http, **more)), "Hi", is_streamed=is_streamed)
        error = caught.value
        await left_open(server, http)
    assert error.run.outcome == "failed"
    return error


SERVERS = ("LoopbackServer.serve", "BaseSelectorEventLoop._accept_connection2")


async def left_open(server: LoopbackServer, http: Any) -> None:
    """Fails unless no task of a run is left, and every connection of the client is idle."""
    gc.collect()
    for _ in range(3):  # httpx leaves generators inside its own to the garbage collector; their closing takes a turn
        await asyncio.sleep(0)
    tasks = {task.get_coro() for task in asyncio.all_tasks() - {asyncio.current_task()}}
    names = {getattr(coroutine, "__qualname__", type(coroutine).__name__) for coroutine in tasks}
    assert names - set(SERVERS) == set()
    pool = http._transport._pool
    assert [connection for connection in pool.connections if not connection.is_idle()] == []


@FORMAT
@WAY
async def test_an_answer_arrives_whole_however_it_is_sent(wire: Format, is_streamed: bool, http: Any) -> None:
    reply = Reply(pieces=[wire.begun, wire.ended]) if is_streamed else Reply(wire.whole)

    async with serving(reply) as server:
        run = await ran(Agent(model_of(wire, server, http)), "Hi", is_streamed=is_streamed)

    assert run.response == "Hello"


STATUSES: list[tuple[int, dict[str, Any], type[ProviderError], bool]] = [
    (400, {"message": "no such field", "type": "invalid_request_error"}, BadRequestError, False),
    (400, {"message": "prompt is too long: 9 > 8", "type": "invalid_request_error"}, ContextLengthError, False),
    (400, {"message": "too much", "code": "context_length_exceeded"}, ContextLengthError, False),
    (400, {"message": "no", "code": "content_filter"}, ContentRefusedError, False),
    (401, {"message": "bad key", "type": "authentication_error"}, AuthenticationError, False),
    (403, {"message": "not yours", "status": "PERMISSION_DENIED"}, AuthenticationError, False),
    (404, {"message": "no such model", "status": "NOT_FOUND"}, BadRequestError, False),
    (408, {"message": "slow"}, OverloadedError, True),
    (429, {"message": "too many", "code": "rate_limit_exceeded"}, RateLimitError, True),
    (429, {"message": "all spent", "code": "insufficient_quota"}, RateLimitError, False),
    (500, {"message": "oops", "type": "server_error"}, OverloadedError, True),
    (529, {"message": "busy", "type": "overloaded_error"}, OverloadedError, True),
]


@FORMAT
@pytest.mark.parametrize(("status", "body", "kind", "is_temporary"), STATUSES, ids=lambda value: str(value)[:40])
async def test_a_refused_request_is_a_typed_error(
    wire: Format, status: int, body: dict[str, Any], kind: type[ProviderError], is_temporary: bool, http: Any
) -> None:
    reply = Reply({"error": body}, status=status, headers={"x-request-id": "req_1", "retry-after": "7"})

    error = await failure(wire, reply, http, is_streamed=True)

    assert type(error) is kind
    assert (error.status, error.request_id, error.retry_after) == (status, "req_1", 7.0)
    assert error.is_temporary is is_temporary
    assert body["message"] in str(error)


@FORMAT
@WAY
@pytest.mark.parametrize("status", [200, 502])
async def test_a_page_of_html_is_no_answer(wire: Format, is_streamed: bool, status: int, http: Any) -> None:
    reply = Reply("<html><body>Welcome!</body></html>", status=status, headers={"Content-Type": "text/html"})

    error = await failure(wire, reply, http, is_streamed=is_streamed)

    assert type(error) is (UnexpectedReplyError if status == 200 else OverloadedError)
    assert "Welcome" not in str(error)


@FORMAT
@WAY
async def test_a_redirect_is_an_error_and_the_key_goes_nowhere_else(wire: Format, is_streamed: bool, http: Any) -> None:
    async with serving(Reply(wire.whole)) as elsewhere:
        moved = Reply(status=307, headers={"Location": f"{elsewhere.url}/v1"})

        error = await failure(wire, moved, http, is_streamed=is_streamed)

        assert elsewhere.requests == []
    assert (type(error), error.status) == (UnexpectedReplyError, 307)


@FORMAT
@WAY
@pytest.mark.parametrize("location", ["mailto:ada@a.example", "ftp://xn--a/"])
async def test_a_redirect_that_can_not_be_read_is_an_unexpected_reply(
    wire: Format, is_streamed: bool, location: str, http: Any
) -> None:
    error = await failure(wire, Reply(status=302, headers={"Location": location}), http, is_streamed=is_streamed)

    assert type(error) is UnexpectedReplyError


@FORMAT
async def test_a_cookie_that_can_not_be_sent_back_is_an_unexpected_reply(wire: Format, http: Any) -> None:
    async with serving(Reply(wire.whole, headers={"Set-Cookie": "name=caf\u00e9"})) as server:
        agent = Agent(model_of(wire, server, http))
        await agent.run("Hi")
        with pytest.raises(UnexpectedReplyError, match="headers can't be read"):
            await agent.run("Hi again")


@FORMAT
@WAY
@pytest.mark.parametrize("status", [200, 500])
async def test_a_reply_that_is_packed_twice_is_not_unpacked(
    wire: Format, is_streamed: bool, status: int, http: Any
) -> None:
    reply = Reply(BOMB, status=status, headers={"Content-Encoding": "gzip, gzip"})

    tracemalloc.start()
    try:
        error = await failure(wire, reply, http, is_streamed=is_streamed)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert (type(error), error.status) == (UnexpectedReplyError, status)
    assert most < 10_000_000


@FORMAT
@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b'"text"', b"\xff\xfe", b"{}"], ids=lambda body: repr(body)
)
async def test_junk_in_place_of_an_answer_is_an_unexpected_reply(wire: Format, body: bytes, http: Any) -> None:
    error = await failure(wire, Reply(body), http, is_streamed=False)

    assert type(error) is UnexpectedReplyError


@FORMAT
@pytest.mark.parametrize("junk", [b"data: {\n\n", b"data: junk\n\n", b"data: \xff\n\n"])
async def test_junk_inside_a_stream_is_an_unexpected_reply(wire: Format, junk: bytes, http: Any) -> None:
    error = await failure(wire, Reply(pieces=[wire.begun, junk, wire.ended]), http, is_streamed=True)

    assert type(error) is UnexpectedReplyError
    assert error.run.response == "Hel"


@FORMAT
@pytest.mark.parametrize("breaks_off", [False, True], ids=["ends early", "breaks off"])
async def test_a_stream_that_stops_in_the_middle_is_broken(wire: Format, breaks_off: bool, http: Any) -> None:
    error = await failure(wire, Reply(pieces=[wire.begun], breaks_off=breaks_off), http, is_streamed=True)

    assert type(error) is BrokenStreamError
    assert error.run.response == "Hel"


@FORMAT
async def test_an_answer_that_breaks_off_is_broken(wire: Format, http: Any) -> None:
    error = await failure(wire, Reply(wire.whole, breaks_off=True), http, is_streamed=False)

    assert type(error) is BrokenStreamError


@FORMAT
async def test_an_error_inside_a_stream_is_an_error(wire: Format, http: Any) -> None:
    error = await failure(wire, Reply(pieces=[wire.begun, wire.error]), http, is_streamed=True)

    assert type(error) is OverloadedError
    assert error.is_temporary
    assert "busy" in str(error)


@FORMAT
async def test_an_event_of_ten_megabytes_is_read(wire: Format, http: Any) -> None:
    long = "x" * 10_000_000
    begun = wire.begun.replace(b"Hel", long.encode())

    async with serving(Reply(pieces=[begun, wire.ended])) as server:
        texts: list[str] = []
        async with Agent(model_of(wire, server, http)).stream("Hi") as stream:
            async for event in stream:
                if isinstance(event, TextDelta):
                    texts.append(event.text)

    assert texts == [long, "lo"]


@FORMAT
@WAY
async def test_more_than_can_be_an_answer_is_not_read_to_its_end(wire: Format, is_streamed: bool, http: Any) -> None:
    reply = Reply(blanks=200_000_000, headers={"Content-Type": "application/json"})

    async with serving(reply) as server:
        with pytest.raises(UnexpectedReplyError, match="sent more than"):
            await ran(Agent(model_of(wire, server, http)), "Hi", is_streamed=is_streamed)

        assert server.sent < 150_000_000


@FORMAT
@WAY
async def test_a_server_that_answers_nothing_is_unreachable(wire: Format, is_streamed: bool, http: Any) -> None:
    error = await failure(wire, Reply(never=True), http, is_streamed=is_streamed, timeout=0.05)

    assert type(error) is UnreachableError
    assert error.is_temporary
    assert "sent nothing for 0.05 seconds" in str(error)


@FORMAT
async def test_an_address_without_a_server_is_unreachable(wire: Format, http: Any) -> None:
    async with serving(Reply()) as server:
        model = model_of(wire, server, http)

    with pytest.raises(UnreachableError) as caught:
        await Agent(model).run("Hi")

    assert "127.0.0.1" in str(caught.value)


@FORMAT
async def test_a_stream_of_a_byte_now_and_then_ends_with_the_runs_deadline(wire: Format, http: Any) -> None:
    async with serving(Reply(pieces=[wire.begun[:1], wire.begun[1:2]], hangs=True)) as server:
        with pytest.raises(DeadlineExceeded):
            await ran(Agent(model_of(wire, server, http)), "Hi", is_streamed=True, timeout=0.2)

        await asyncio.wait_for(server.hung_up.wait(), 20)
        await left_open(server, http)


@FORMAT
@WAY
async def test_a_rate_limit_is_waited_for_and_the_request_sent_again(
    wire: Format, is_streamed: bool, http: Any
) -> None:
    clock = ManualClock()
    fine = Reply(pieces=[wire.begun, wire.ended]) if is_streamed else Reply(wire.whole)
    limited = Reply({"error": {"message": "slow down"}}, status=429, headers={"Retry-After": "3"})

    async with serving([limited, fine]) as server:
        run = await ran(Agent(RetryingModel(model_of(wire, server, http), clock=clock)), "Hi", is_streamed=is_streamed)

    assert run.response == "Hello"
    assert clock.slept == [3.0]
    assert server.requests[0].body == server.requests[1].body


@FORMAT
async def test_cancelling_a_streamed_run_closes_its_connection_at_once(wire: Format, http: Any) -> None:
    async with serving(Reply(pieces=[wire.begun], hangs=True)) as server:
        seen = asyncio.Event()

        async def read() -> None:
            async with Agent(model_of(wire, server, http)).stream("Hi") as stream:
                async for event in stream:
                    if isinstance(event, TextDelta):
                        seen.set()

        task = asyncio.create_task(read())
        await seen.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.hung_up.wait(), 20)
        await left_open(server, http)


@FORMAT
async def test_leaving_a_stream_early_closes_its_connection(wire: Format, http: Any) -> None:
    async with serving(Reply(pieces=[wire.begun], hangs=True)) as server:
        async with Agent(model_of(wire, server, http)).stream("Hi") as stream:
            async for event in stream:
                if isinstance(event, TextDelta):
                    break

        await asyncio.wait_for(server.hung_up.wait(), 20)
        await left_open(server, http)


@FORMAT
async def test_a_server_that_streams_though_asked_for_a_whole_answer_is_understood(wire: Format, http: Any) -> None:
    async with serving(Reply(pieces=[wire.begun, wire.ended])) as server:
        run = await Agent(model_of(wire, server, http)).run("Hi")

    assert run.response == "Hello"


@FORMAT
async def test_a_whole_answer_that_a_server_names_a_stream_is_understood(wire: Format, http: Any) -> None:
    async with serving(Reply(wire.whole, headers={"Content-Type": "text/event-stream"})) as server:
        run = await Agent(model_of(wire, server, http)).run("Hi")

    assert run.response == "Hello"


@FORMAT
async def test_a_stream_that_nobody_asked_for_is_held_to_its_end(wire: Format, http: Any) -> None:
    error = await failure(wire, Reply(pieces=[wire.begun]), http, is_streamed=False)

    assert isinstance(error, BrokenStreamError)


@FORMAT
async def test_an_error_inside_a_stream_that_nobody_asked_for_is_an_error(wire: Format, http: Any) -> None:
    error = await failure(wire, Reply(pieces=[wire.begun, wire.error]), http, is_streamed=False)

    assert isinstance(error, OverloadedError)


@FORMAT
async def test_a_server_that_answers_whole_though_asked_for_a_stream_is_understood(wire: Format, http: Any) -> None:
    async with serving(Reply(wire.whole)) as server:
        run = await ran(Agent(model_of(wire, server, http)), "Hi", is_streamed=True)

    assert run.response == "Hello"


def echoing(status: int) -> Callable[[Any], Reply]:
    """A server that repeats all that it was sent, headers included, as servers with a debugging page do."""

    def answer(request: Any) -> Reply:
        text = json.dumps({"headers": dict(request.headers), "url": request.target})
        return Reply({"error": {"message": text, "code": KEY}}, status=status, headers={"x-request-id": "r"})

    return answer


SECRETS = [
    pytest.param(lambda wire: echoing(401), id="an error that repeats the headers"),
    pytest.param(lambda wire: echoing(500), id="a failure that repeats the headers"),
    pytest.param(lambda wire: Reply(pieces=[wire.begun, sse({"error": {"message": f"bad key {KEY}"}})]), id="inside"),
    pytest.param(lambda wire: Reply(never=True), id="no answer"),
    pytest.param(lambda wire: Reply(wire.whole, breaks_off=True), id="a broken answer"),
    pytest.param(lambda wire: Reply(b"{"), id="junk"),
    pytest.param(lambda wire: Reply(pieces=[wire.begun, wire.ended]), id="an answer"),
]


@FORMAT
@WAY
@pytest.mark.parametrize("reply", SECRETS)
async def test_a_key_is_nowhere_but_in_its_header(
    wire: Format, is_streamed: bool, reply: Any, http: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    seen: list[str] = []

    async with serving(reply(wire)) as server:
        model = model_of(wire, server, http, timeout=0.2)
        seen += [repr(model), str(model)]
        try:
            run = await ran(Agent(model), "Hi", is_streamed=is_streamed)
        except ModelError as error:
            run = error.run
            seen += [*traceback.format_exception(error), repr(error), str(error), repr(vars(error))]

    assert server.requests
    assert KEY in "".join(server.requests[0].headers.values())
    seen += [repr(run), repr(run.messages), *(record.getMessage() for record in caplog.records)]
    assert [text for text in seen if KEY in text] == []
