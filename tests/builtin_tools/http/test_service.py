"""One service over both HTTP libraries, against a loopback server."""

from __future__ import annotations

import asyncio
import gzip
import time
import tracemalloc
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

import pytest

from builtin_tools.http import Answer, Pace, Request, Service, ServiceError
from builtin_tools.http.answers import sanitised
from tests.http.clients import LIBRARIES, ManualClock, open_client
from tests.http.loopback import GUARD, LoopbackServer, Reply, serving
from toolkit.http.retry_after import read_retry_after

OK = Reply({"fine": True})


def decode(answer: Answer) -> dict[str, bool]:
    answer.check_status()
    return answer.json(dict[str, bool])


def service_over(
    http: Any, clock: ManualClock, *, timeout: float = GUARD, confidential: tuple[str, ...] = ()
) -> Service:
    pace = Pace(at_once=3, interval=0.0, clock=clock)
    return Service("Testing", http, pace=pace, timeout=timeout, clock=clock, confidential=confidential)


def to(server: LoopbackServer, path: str = "/api", **parts: Any) -> Request:
    return Request("lookup", f"{server.url}{path}", **parts)


async def test_a_request_goes_out_as_it_was_made(http: Any, clock: ManualClock) -> None:
    async with serving(OK) as server:
        service = service_over(http, clock)
        await service.read(to(server, params={"q": "a|b & c"}, headers={"User-Agent": "Acme/1"}), decode)
        await service.read(to(server, method="POST", form={"id": "1 2"}), decode)
        await service.write(to(server, method="POST", json={"title": "ü"}), decode)

    got, form, json = server.requests
    assert (got.method, got.params, got.headers["user-agent"]) == ("GET", {"q": "a|b & c"}, "Acme/1")
    assert (form.method, form.form) == ("POST", {"id": "1 2"})
    assert json.body.decode().replace(" ", "") in ('{"title":"ü"}', '{"title":"\\u00fc"}')


def test_a_request_shows_nothing_of_what_carries_keys() -> None:
    request = Request("lookup", "http://127.0.0.1/", form={"key": "k-1"}, json={"key": "k-2"}, headers={"Key": "k-3"})

    assert "lookup" in repr(request)
    assert "k-" not in repr(request)


@pytest.mark.parametrize("status", [429, 502, 503, 504])
async def test_a_temporary_failure_is_tried_again(http: Any, clock: ManualClock, status: int) -> None:
    async with serving([Reply(status=status), Reply(status=status), OK]) as server:
        value = await service_over(http, clock).read(to(server), decode)

    assert value == {"fine": True}
    assert len(server.requests) == 3
    first, second = clock.slept
    assert 0.5 <= first <= 1.0 <= second <= 2.0


async def test_a_read_is_tried_three_times_and_no_more(http: Any, clock: ManualClock) -> None:
    async with serving(Reply(status=503)) as server:
        with pytest.raises(ServiceError) as caught:
            await service_over(http, clock).read(to(server), decode)

    assert len(server.requests) == 3
    assert (caught.value.kind, caught.value.status) == ("unavailable", 503)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_input"),
        (401, "unauthorized"),
        (402, "quota_exhausted"),
        (403, "unauthorized"),
        (404, "not_found"),
        (418, "unavailable"),
        (422, "invalid_input"),
        (500, "unavailable"),
        (501, "unavailable"),
    ],
)
async def test_other_failures_are_reported_at_once(http: Any, clock: ManualClock, status: int, kind: str) -> None:
    async with serving(Reply("no", status=status)) as server:
        with pytest.raises(ServiceError) as caught:
            await service_over(http, clock).read(to(server), decode)

    assert len(server.requests) == 1
    assert (caught.value.kind, caught.value.status, caught.value.body) == (kind, status, "no")


async def test_a_write_is_sent_once(http: Any, clock: ManualClock) -> None:
    async with serving(Reply(status=503)) as server:
        with pytest.raises(ServiceError):
            await service_over(http, clock).write(to(server, method="POST", json={}), decode)

    assert len(server.requests) == 1


async def test_a_write_that_its_service_knows_again_is_tried_again(http: Any, clock: ManualClock) -> None:
    async with serving([Reply(status=503), OK]) as server:
        request = to(server, method="POST", json={"id": "made here"})
        value = await service_over(http, clock).write(request, decode, is_repeatable=True)

    assert value == {"fine": True}
    assert [sent.body for sent in server.requests] == [server.requests[0].body] * 2


async def test_the_wait_that_the_server_asks_for_is_kept(http: Any, clock: ManualClock) -> None:
    date = format_datetime(datetime.fromtimestamp(clock.now() + 12, UTC), usegmt=True)
    replies = [
        Reply(status=429, headers={"Retry-After": "7"}),
        Reply(status=503, headers={"Retry-After": date}),
        OK,
    ]
    async with serving(replies) as server:
        await service_over(http, clock).read(to(server), decode)

    assert clock.slept == [7.0, pytest.approx(5.0)]


@pytest.mark.parametrize(
    "waits", [pytest.param(["21"], id="one long wait"), pytest.param(["12", "9"], id="two waits, too long together")]
)
async def test_waits_of_more_than_20_seconds_in_all_are_not_waited(
    http: Any, clock: ManualClock, waits: list[str]
) -> None:
    async with serving([*(Reply(status=429, headers={"Retry-After": wait}) for wait in waits), OK]) as server:
        with pytest.raises(ServiceError) as caught:
            await service_over(http, clock).read(to(server), decode)

    assert len(server.requests) == len(waits)
    assert sum(clock.slept) <= 20
    assert caught.value.kind == "rate_limited"
    assert caught.value.retry_after == float(waits[-1])
    assert str(caught.value) == (
        f"rate limited: Testing allows no more requests for now. Wait {waits[-1]} seconds before trying again."
    )


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0.0),
        (" 15 ", 15.0),
        ("Thu, 01 Jan 1970 00:01:40 GMT", 90.0),
        ("Thu, 01 Jan 1970 00:00:05 GMT", 0.0),
        ("Thu, 01 Jan 1970 00:01:40", 90.0),
        (None, None),
        ("", None),
        ("-5", None),
        ("soon", None),
        ("1e3", None),
        ("٣", None),
        ("9" * 400, 999_999_999.0),
        (f"Thu, 01 Jan {'9' * 20} 00:00:00 GMT", None),
        (f"Thu, 01 Jan 1970 00:01:40 +{'9' * 20}", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(header: str | None, seconds: float | None) -> None:
    assert read_retry_after(header, 10.0) == seconds


def test_a_date_without_a_zone_is_of_utc_wherever_the_computer_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert read_retry_after("Thu, 01 Jan 1970 00:01:40", 10.0) == 90.0
    finally:
        monkeypatch.undo()
        time.tzset()


async def test_a_server_that_refuses_connections_is_tried_again(http: Any, clock: ManualClock) -> None:
    async with serving(OK) as server:
        pass  # gone at the end of the block

    with pytest.raises(ServiceError) as caught:
        await service_over(http, clock).read(to(server), decode)

    assert len(clock.slept) == 2
    assert str(caught.value).startswith("unavailable: Testing could not be reached.")
    assert (caught.value.status, caught.value.body) == (None, None)
    assert caught.value.__cause__ is not None


async def test_an_answer_that_breaks_off_is_tried_again(http: Any, clock: ManualClock) -> None:
    async with serving([Reply({"fine": True}, breaks_off=True), OK]) as server:
        assert await service_over(http, clock).read(to(server), decode) == {"fine": True}

    assert len(server.requests) == 2


async def test_no_answer_within_the_timeout_is_an_error_that_names_it(http: Any, clock: ManualClock) -> None:
    async with serving(Reply(never=True)) as server:
        with pytest.raises(ServiceError, match=r"did not answer within 0\.02 seconds") as caught:
            await service_over(http, clock, timeout=0.02).write(to(server), decode)
        await server.until_no_connection()

    assert caught.value.kind == "unavailable"


async def test_an_answer_that_never_ends_does_not_outlast_the_timeout(http: Any, clock: ManualClock) -> None:
    async with serving(Reply(endless=True)) as server:
        with pytest.raises(ServiceError, match=r"did not answer within 0\.2 seconds"):
            async with asyncio.timeout(GUARD):
                await service_over(http, clock, timeout=0.2).write(to(server), decode)
        await server.until_no_connection()


TOO_LONG = (
    "malformed response: Testing sent an answer of more than 10 MB, which is not read. Go on without it, and say so."
)


async def test_a_body_of_100_mb_is_read_no_further_than_10(http: Any, clock: ManualClock) -> None:
    async with serving(Reply(blanks=100_000_000, status=503)) as server:
        with pytest.raises(ServiceError) as caught:
            await service_over(http, clock).read(to(server), decode)
        await server.until_no_connection()

    assert (str(caught.value), caught.value.status, caught.value.is_temporary) == (TOO_LONG, 503, False)
    assert server.sent < 50_000_000  # some more than 10 MB: what lies in the buffers of the sockets
    assert len(server.requests) == 1


async def test_a_small_body_that_unpacks_to_100_mb_is_not_read(http: Any, clock: ManualClock) -> None:
    bomb = gzip.compress(bytes(100_000_000))
    async with serving(Reply(bomb, headers={"Content-Encoding": "gzip"})) as server:
        with pytest.raises(ServiceError) as caught:
            await service_over(http, clock).read(to(server), decode)
        await server.until_no_connection()

    assert len(bomb) < 200_000
    assert str(caught.value) == TOO_LONG


async def test_a_body_that_is_packed_twice_is_not_unpacked(http: Any, clock: ManualClock) -> None:
    bomb = gzip.compress(gzip.compress(bytes(100_000_000)))
    async with serving(Reply(bomb, headers={"Content-Encoding": "gzip, gzip"})) as server:
        tracemalloc.start()
        try:
            with pytest.raises(ServiceError, match="compressed more than once, which is not read") as caught:
                await service_over(http, clock).read(to(server), decode)
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        await server.until_no_connection()

    assert len(bomb) < 1_000
    assert (caught.value.kind, caught.value.status, len(server.requests)) == ("malformed_response", 200, 1)
    assert most < 10_000_000


async def test_a_body_as_long_as_the_bound_is_read_and_one_byte_more_is_not(http: Any, clock: ManualClock) -> None:
    async with serving([Reply('{"fine":true}'), Reply('{"fine":true }')]) as server:
        pace = Pace(at_once=3, interval=0.0, clock=clock)
        service = Service("Testing", http, pace=pace, timeout=GUARD, max_bytes=13, clock=clock)

        assert await service.read(to(server), decode) == {"fine": True}
        with pytest.raises(ServiceError, match="not read"):
            await service.read(to(server), decode)


async def test_a_client_that_can_not_stream_has_its_long_body_refused(clock: ManualClock) -> None:
    class Answered:
        status_code = 200
        headers: dict[str, str] = {}  # noqa: RUF012
        content = b"x" * 10_000_001

    class Whole:
        async def request(self, method: str, url: str, **settings: Any) -> Any:
            assert settings["follow_redirects"] is False
            return Answered()

    with pytest.raises(ServiceError, match="more than 10 MB"):
        await service_over(Whole(), clock).read(Request("lookup", "http://127.0.0.1/"), decode)


async def test_an_encoding_that_is_none_is_a_malformed_answer(http: Any, clock: ManualClock) -> None:
    async with serving(Reply("not gzip", headers={"Content-Encoding": "gzip"})) as server:
        with pytest.raises(ServiceError) as caught:
            await service_over(http, clock).read(to(server), decode)

    assert caught.value.kind == "malformed_response"
    assert len(server.requests) == 1


async def test_a_cookie_that_can_not_be_sent_back_is_a_malformed_answer(http: Any, clock: ManualClock) -> None:
    async with serving(Reply({"fine": True}, headers={"Set-Cookie": "name=caf\u00e9"})) as server:
        service = service_over(http, clock)
        await service.read(to(server), decode)
        with pytest.raises(ServiceError) as caught:
            await service.read(to(server), decode)

    assert caught.value.kind == "malformed_response"
    assert isinstance(caught.value.__cause__, UnicodeError)


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b'{"fine": tru', b'{"fine": NaN}', b'["fine"]', b'{"fine": "\xff"}', b"[" * 5_000],
    ids=["empty", "html", "cut off", "nan", "another shape", "no utf-8", "too deep"],
)
async def test_what_is_not_the_expected_json_is_a_malformed_answer(http: Any, clock: ManualClock, body: bytes) -> None:
    async with serving(Reply(body)) as server:
        with pytest.raises(ServiceError) as caught:
            await service_over(http, clock).read(to(server), decode)

    assert caught.value.kind == "malformed_response"
    assert str(caught.value) == (
        "malformed response: Testing sent an answer that can't be read. Go on without it, and say so."
    )


async def test_redirects_are_not_followed_even_by_a_client_that_would(clock: ManualClock) -> None:
    for library in LIBRARIES:
        async with (
            serving([Reply(status=302, headers={"Location": "/elsewhere"}), OK]) as server,
            open_client(library.values[0], follow_redirects=True) as http,
        ):
            with pytest.raises(ServiceError, match="sends requests elsewhere"):
                await service_over(http, clock).read(to(server), decode)

        assert [request.path for request in server.requests] == ["/api"]


async def test_errors_show_no_key_contact_header_or_query(http: Any, clock: ManualClock) -> None:
    secret, contact = "sk-1234567890", "ada+bot@example.org"

    async with serving(lambda request: Reply(f"{request.target} {request.headers} {'x' * 900}", status=403)) as server:
        address = server.url.replace("http://", "http://user:pass@")
        request = Request(
            "lookup",
            f"{address}/api/{secret}",
            params={"key": secret, "mail": contact},
            headers={"Authorization": secret, "User-Agent": f"Acme ({contact})"},
        )
        with pytest.raises(ServiceError) as caught:
            await service_over(http, clock, confidential=(secret, contact)).read(request, decode)

    error = caught.value
    shown = f"{error} {error!r} {vars(error)} {request!r}"
    assert secret in server.requests[0].target
    assert error.body is not None
    assert "[hidden]" in error.body
    assert len(error.body) <= 500
    assert error.url == f"{server.url}/api/[hidden]"
    assert "ada+bot" not in f"{error} {error!r} {vars(error)}"
    assert "ada%2Bbot" not in f"{error} {error!r} {vars(error)}"
    assert "user:pass" not in f"{error} {vars(error)}"
    assert secret not in f"{error} {error!r} {vars(error)}"
    assert "Authorization" not in shown


def test_an_address_is_told_without_what_may_be_secret_in_it() -> None:
    assert sanitised("https://user:pass@h.org:8443/a/k1?key=k2#k3", ("k1",)) == "https://h.org:8443/a/[hidden]"


async def test_an_error_carries_what_a_developer_needs(http: Any, clock: ManualClock) -> None:
    def busy(answer: Answer) -> None:
        raise answer.failure("quota_exhausted", "Testing has no\n credits left.", code="NO_MORE_CREDITS")

    async with serving(Reply({"code": "NO_MORE_CREDITS"}, status=400)) as server:
        with pytest.raises(ServiceError) as caught:
            await service_over(http, clock).read(to(server), busy)

    error = caught.value
    assert str(error) == "quota exhausted: Testing has no credits left. Tell the user; do not retry."
    assert (error.provider, error.operation, error.status, error.code) == ("Testing", "lookup", 400, "NO_MORE_CREDITS")
    assert (error.url, error.body) == (f"{server.url}/api", '{"code": "NO_MORE_CREDITS"}')


@pytest.mark.parametrize(
    ("status", "said", "more", "text", "is_temporary"),
    [
        (503, "<b>Come\nback</b> later.", {}, 'unavailable: Testing answered "Come back later." (HTTP 503).', True),
        (503, "  ", {}, "unavailable: Testing failed (HTTP 503).", True),
        (400, "No", {"kind": "quota_exhausted"}, 'quota exhausted: Testing answered "No" (HTTP 400).', False),
        (429, "No", {"kind": "quota_exhausted"}, 'quota exhausted: Testing answered "No" (HTTP 429).', False),
        (429, "No", {"kind": "rate_limited"}, 'rate limited: Testing answered "No" (HTTP 429).', True),
        (400, "secret-key", {}, 'invalid input: Testing answered "[hidden]" (HTTP 400).', False),
        (400, "word " * 100, {}, 'invalid input: Testing answered "word word', False),
    ],
)
def test_a_refusal_is_told_in_the_services_own_words(
    status: int, said: str, more: dict[str, Any], text: str, is_temporary: bool
) -> None:
    answer = Answer("Testing", "lookup", "https://h.org/", status, {}, b"", confidential=("secret-key",))

    error = answer.refusal(said, **more)

    assert str(error).startswith(text)
    assert len(str(error)) < 350
    assert (error.status, error.is_temporary) == (status, is_temporary)


async def test_cancelling_passes_through_and_leaves_no_connection_open(http: Any, clock: ManualClock) -> None:
    async with serving(Reply(never=True)) as server:
        task = asyncio.create_task(service_over(http, clock).read(to(server), decode))
        async with asyncio.timeout(GUARD):
            await server.arrived.wait()

        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

        await server.until_no_connection()
    assert len(server.requests) == 1


async def test_a_retry_is_paced_as_well(http: Any, clock: ManualClock) -> None:
    pace = Pace(at_once=3, interval=5.0, clock=clock)
    async with serving([Reply(status=429, headers={"Retry-After": "0"}), OK]) as server:
        await Service("Testing", http, pace=pace, timeout=GUARD, clock=clock).read(to(server), decode)

    assert clock.slept == [0.0, 5.0]


@pytest.mark.parametrize("library", LIBRARIES)
def test_one_pace_serves_services_in_two_event_loops_in_sequence(library: Any, clock: ManualClock) -> None:
    pace = Pace(at_once=1, interval=0.0, clock=clock)

    async def ask() -> int:
        async with serving(OK) as server, open_client(library) as http:
            service = Service("Testing", http, pace=pace, timeout=GUARD, clock=clock)
            await asyncio.gather(*(service.read(to(server), decode) for _ in range(3)))
            return server.most_at_once

    assert [asyncio.run(ask()), asyncio.run(ask())] == [1, 1]


async def test_an_error_that_is_no_failure_of_the_network_is_left_alone(clock: ManualClock) -> None:
    class Broken:
        async def request(self, method: str, url: str, **settings: Any) -> Any:
            raise RuntimeError("the client has been closed")

    service = service_over(Broken(), clock)

    with pytest.raises(RuntimeError, match="has been closed"):
        await service.read(Request("lookup", "http://127.0.0.1/"), decode)
