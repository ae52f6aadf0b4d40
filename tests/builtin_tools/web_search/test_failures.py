"""Providers that misbehave: the recovery, or the error that names what went wrong, and nothing left open."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from builtin_tools.http import ErrorKind, ServiceError
from tests.builtin_tools.web_search.providers import (
    EVERY,
    NAMES,
    asked,
    asked_of,
    config_for,
    one_page,
)
from tests.http.clients import ManualClock
from tests.http.loopback import GUARD, Reply, serving


@pytest.mark.parametrize("provider", EVERY)
async def test_429_with_retry_after_is_waited_for(http: Any, clock: ManualClock, provider: str) -> None:
    async with serving([Reply(status=429, headers={"Retry-After": "7"}), one_page(provider)]) as server:
        result = await asked_of(provider, http, config_for(provider, server), clock)

    assert not result.is_error
    assert 7.0 in clock.slept
    assert len(server.requests) == 2


@pytest.mark.parametrize("provider", EVERY)
async def test_429_without_retry_after_is_tried_three_times(http: Any, clock: ManualClock, provider: str) -> None:
    async with serving(Reply("slow down", status=429, headers={"Content-Type": "text/html"})) as server:
        result = await asked_of(provider, http, config_for(provider, server), clock)

    assert result.content == (f"rate limited: {NAMES[provider]} allows no more requests for now. Try again later.")
    assert len(server.requests) == 3


@pytest.mark.parametrize("provider", EVERY)
async def test_a_wait_of_a_day_is_told_and_not_waited(http: Any, clock: ManualClock, provider: str) -> None:
    async with serving(Reply(status=429, headers={"Retry-After": "86400"})) as server:
        result = await asked_of(provider, http, config_for(provider, server), clock)

    assert isinstance(result.error, ServiceError)
    assert result.error.retry_after == 86_400.0
    assert result.error.kind == ("quota_exhausted" if provider == "brave" else "rate_limited")
    assert clock.slept == []


@pytest.mark.parametrize("provider", EVERY)
async def test_503_then_200_is_recovered_from(http: Any, clock: ManualClock, provider: str) -> None:
    async with serving([Reply("<html>", status=503), one_page(provider)]) as server:
        result = await asked_of(provider, http, config_for(provider, server), clock)

    assert [found.title for found in result.value.results] == ["Ada"]


@pytest.mark.parametrize("provider", EVERY)
async def test_500_is_reported_at_once_and_the_next_call_is_answered(
    http: Any, clock: ManualClock, provider: str
) -> None:
    async with serving([Reply("<html>", status=500), one_page(provider)]) as server:
        config = config_for(provider, server)
        failed = await asked_of(provider, http, config, clock)
        answered = await asked_of(provider, http, config, clock)

    assert failed.content.startswith(f"unavailable: {NAMES[provider]} failed (HTTP 500).")
    assert not answered.is_error


@pytest.mark.parametrize("provider", EVERY)
async def test_a_body_that_breaks_off_is_asked_for_again(http: Any, clock: ManualClock, provider: str) -> None:
    cut = Reply('{"results": [', breaks_off=True)
    async with serving([cut, one_page(provider)]) as server:
        result = await asked_of(provider, http, config_for(provider, server), clock)

    assert not result.is_error
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "body",
    [
        "<html>nothing here</html>",
        '{"results": [',
        "[]",
        '{"results": 5, "organic": 5, "web": 5, "data": 5}',
        "",
        "{}",
        '{"message": "Not enough credits", "statusCode": 400}',
    ],
)
@pytest.mark.parametrize("provider", EVERY)
async def test_what_is_not_the_expected_json_is_a_malformed_response(
    http: Any, clock: ManualClock, provider: str, body: str
) -> None:
    async with serving(Reply(body)) as server:
        result = await asked_of(provider, http, config_for(provider, server), clock)

    assert result.content == (
        f"malformed response: {NAMES[provider]} sent an answer that can't be read. Go on without it, and say so."
    )
    assert len(server.requests) == 1


ERRORS_WITH_200 = {
    "brave": {"type": "ErrorResponse", "error": {"code": "RATE_LIMITED", "detail": "Slow down."}},
    "firecrawl": {"error": "Slow down."},
}


@pytest.mark.parametrize(("provider", "body"), ERRORS_WITH_200.items(), ids=ERRORS_WITH_200)
async def test_an_error_that_comes_with_status_200_is_told_in_its_words(
    http: Any, clock: ManualClock, provider: str, body: dict[str, Any]
) -> None:
    async with serving(Reply(body)) as server:
        result = await asked_of(provider, http, config_for(provider, server), clock)

    assert result.is_error
    assert "Slow down." in result.content


@pytest.mark.parametrize("provider", EVERY)
async def test_a_provider_that_never_answers_is_given_up_within_the_timeout(
    http: Any, clock: ManualClock, provider: str
) -> None:
    async with serving(Reply(never=True)) as server, asyncio.timeout(GUARD):
        result = await asked_of(provider, http, {**config_for(provider, server), "timeout": 0.02}, clock)
        await server.until_no_connection()

    assert result.content.startswith(f"unavailable: {NAMES[provider]} did not answer within 0.02 seconds.")


@pytest.mark.parametrize("provider", EVERY)
async def test_a_body_of_100_mb_is_not_read(http: Any, clock: ManualClock, provider: str) -> None:
    async with serving(Reply(blanks=100_000_000)) as server:
        result = await asked_of(provider, http, config_for(provider, server), clock)
        await server.until_no_connection()

    assert result.content.startswith(f"malformed response: {NAMES[provider]} sent an answer of more than 10 MB")
    assert server.sent < 50_000_000


@pytest.mark.parametrize("provider", EVERY)
async def test_a_cancelled_search_leaves_no_connection_open(http: Any, clock: ManualClock, provider: str) -> None:
    async with serving(Reply(never=True)) as server:
        task = asyncio.create_task(asked_of(provider, http, config_for(provider, server), clock))
        async with asyncio.timeout(GUARD):
            await server.arrived.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await server.until_no_connection()


@pytest.mark.parametrize(
    ("provider", "status", "body", "kind", "text"),
    [
        ("tavily", 401, {"detail": {"error": "Unauthorized: missing key."}}, "unauthorized", "missing key"),
        ("tavily", 432, {"detail": {"error": "Over the plan's limit."}}, "quota_exhausted", "plan's limit"),
        ("tavily", 433, {"detail": {"error": "Over the limit."}}, "quota_exhausted", "HTTP 433"),
        ("tavily", 403, {"error": "Forbidden here."}, "unauthorized", "Forbidden here"),
        ("tavily", 422, {"detail": [{"loc": ["body"], "msg": "Field wrong"}]}, "invalid_input", "Field wrong"),
        ("tavily", 400, {"detail": "Plain words"}, "invalid_input", "Plain words"),
        ("tavily", 422, f'{{"detail": {"[" * 600}{"]" * 600}}}', "invalid_input", "HTTP 422"),
        (
            "brave",
            422,
            {"error": {"detail": "Wrong", "meta": {"errors": [{"loc": ["header", "x-subscription-token"]}]}}},
            "unauthorized",
            "x-subscription-token",
        ),
        ("brave", 402, {"error": {"code": "USAGE_LIMIT_EXCEEDED", "detail": "Spent"}}, "quota_exhausted", "Spent"),
        ("brave", 400, {"error": {"code": "OPTION_NOT_IN_PLAN", "detail": "Not yours"}}, "unauthorized", "Not yours"),
        ("exa", 402, {"requestId": "1", "error": "No credits", "tag": "NO_MORE_CREDITS"}, "quota_exhausted", "credits"),
        ("exa", 403, {"error": "Budget", "tag": "API_KEY_BUDGET_EXCEEDED"}, "quota_exhausted", "Budget"),
        ("exa", 400, {"error": "Bad", "tag": "INVALID_REQUEST_BODY"}, "invalid_input", "Bad"),
        ("exa", 409, {"error": "Conflict"}, "unavailable", "Conflict"),
        ("serper", 400, {"message": "Not enough credits"}, "quota_exhausted", "Not enough credits"),
        ("serper", 400, {"message": "Missing query"}, "invalid_input", "Missing query"),
        ("searxng", 403, "<html>Forbidden</html>", "unauthorized", "search.formats"),
        ("searxng", 400, "no", "invalid_input", "HTTP 400"),
        ("firecrawl", 401, {"success": False, "error": "Bad token"}, "unauthorized", "Bad token"),
        ("firecrawl", 402, {"success": False, "error": "No credits"}, "quota_exhausted", "No credits"),
        ("firecrawl", 200, {"success": False, "error": "Engine failed"}, "unavailable", "Engine failed"),
        ("brightdata", 401, "Invalid token", "unauthorized", "HTTP 401"),
    ],
)
async def test_a_failure_is_read_by_its_body_first_and_its_status_second(
    http: Any, clock: ManualClock, provider: str, status: int, body: Any, kind: ErrorKind, text: str
) -> None:
    async with serving(Reply(body, status=status)) as server:
        result = await asked_of(provider, http, config_for(provider, server), clock)

    assert isinstance(result.error, ServiceError)
    assert (result.error.kind, result.error.status) == (kind, status)
    assert text in result.content
    assert "\n" not in result.content
    assert len(server.requests) == 1


async def test_tavily_without_a_key_tells_the_wait_and_the_key_when_its_cap_is_reached(
    http: Any, clock: ManualClock
) -> None:
    body = {
        "error": {"code": "keyless_cap", "message": "Cap reached.", "window": "day", "retry_after_seconds": 3600},
    }
    async with serving(Reply(body, status=429)) as server:
        result = await asked(http, {"web_search": {"tavily": {"base_url": server.url}}}, clock)

    assert isinstance(result.error, ServiceError)
    assert (result.error.kind, result.error.code, result.error.retry_after) == ("rate_limited", "keyless_cap", 3600)
    assert "Cap reached." in result.content
    assert "TAVILY_API_KEY" in result.content
    assert clock.slept == []


@pytest.mark.parametrize(
    ("remaining", "reset", "kind", "seconds"),
    [
        ("0, 1400", "2, 1419704", "rate_limited", 2.0),
        ("1, 0", "1, 1419704", "quota_exhausted", 1_419_704.0),
        ("0, 1", "1, 1419704", "rate_limited", 1.0),
        ("0, 0", "1, 60", "rate_limited", 60.0),
        ("", "3", "rate_limited", 3.0),
        ("", "", "rate_limited", None),
        ("x, y", "soon", "rate_limited", None),
    ],
)
async def test_braves_wait_is_that_of_the_window_that_is_used_up(
    http: Any, clock: ManualClock, remaining: str, reset: str, kind: str, seconds: float | None
) -> None:
    headers = {"X-RateLimit-Remaining": remaining, "X-RateLimit-Reset": reset}
    async with serving(Reply({"error": {}}, status=429, headers=headers)) as server:
        result = await asked(http, config_for("brave", server), clock)

    assert isinstance(result.error, ServiceError)
    assert (result.error.kind, result.error.retry_after) == (kind, seconds)


async def test_an_empty_search_whose_engines_were_silent_is_not_taken_for_no_results(
    http: Any, clock: ManualClock
) -> None:
    body = {"results": [], "unresponsive_engines": [["google", "CAPTCHA"], ["bing", "timeout"]]}
    async with serving(Reply(body)) as server:
        result = await asked(http, config_for("searxng", server), clock)

    assert result.content == (
        "unavailable: SearXNG found nothing, but 2 of its engines gave no answer (google: CAPTCHA; bing: timeout). "
        "Go on without it, and say so, or try again later."
    )


async def test_bright_data_fails_by_a_header_even_with_status_200(http: Any, clock: ManualClock) -> None:
    headers = {"x-brd-error": "query was changed", "x-brd-error-code": "unexpected_q"}
    async with serving([Reply("", headers=headers), Reply("", status=400, headers=headers)]) as server:
        config = config_for("brightdata", server)
        results = [await asked_of("brightdata", http, config, clock) for _ in range(2)]

    assert [getattr(result.error, "code", None) for result in results] == ["unexpected_q"] * 2
    assert [getattr(result.error, "kind", None) for result in results] == ["unavailable", "invalid_input"]
    assert all('"query was changed"' in result.content for result in results)
