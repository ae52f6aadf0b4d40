"""What Linear answers when it does not answer: the error of the right kind, or the recovery."""

from __future__ import annotations

from typing import Any

import pytest

import toolkit
from builtin_tools.http import ErrorKind, Secret, ServiceError
from builtin_tools.linear import LinearClient, LinearGetIssue, LinearSearchIssues, LinearSettings
from tests.builtin_tools.linear.answers import (
    KEY,
    NOT_FOUND,
    answering,
    client_over,
    failed,
    fields_sent,
    issue,
    page,
    settings_for,
)
from tests.http.clients import ManualClock
from tests.http.loopback import Reply, serving

FINE = Reply({"data": {"issue": issue()}})


def limited(**headers: str) -> Reply:
    body = {"errors": [{"message": "Rate limit exceeded", "extensions": {"code": "RATELIMITED", "statusCode": 429}}]}
    return Reply(body, status=400, headers=headers)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(Reply(status=500), id="500"),
        pytest.param(Reply("<html>busy</html>", status=503), id="503"),
        pytest.param(Reply(status=429), id="429"),
        pytest.param(limited(), id="400, rate limited, without a wait"),
        pytest.param(Reply('{"data": {"iss', breaks_off=True), id="cut off"),
        pytest.param(failed("boom", "INTERNAL_SERVER_ERROR", "internal error"), id="internal error"),
        pytest.param(failed("boom", "LOCK_TIMEOUT", "lock timeout"), id="lock timeout"),
    ],
)
async def test_a_failure_that_may_pass_is_tried_again(http: Any, clock: ManualClock, reply: Reply) -> None:
    async with serving([reply, reply, FINE]) as server:
        found = await client_over(http, server, clock).issue("ENG-1")

    assert found.issue.identifier == "ENG-1"
    assert len(server.requests) == 3
    first, second = clock.slept
    assert 0.5 <= first <= 1.0 <= second <= 2.0


@pytest.mark.parametrize(
    ("reply", "kind", "text"),
    [
        (NOT_FOUND, "not_found", "Linear answered: Could not find referenced Issue. Check the spelling"),
        (failed("Argument Validation Error", "INVALID_INPUT"), "invalid_input", "Argument Validation Error."),
        (
            failed(
                "Argument Validation Error",
                "INVALID_INPUT",
                validationErrors=[{"property": "id", "constraints": {"isUuid": "id must be a UUID"}}, "odd"],
            ),
            "invalid_input",
            "Linear answered: Argument Validation Error: id must be a UUID. Change the arguments",
        ),
        (failed("no", "FORBIDDEN", "forbidden"), "unauthorized", "Tell the user; do not retry."),
        (failed("no", "FEATURE_NOT_ACCESSIBLE", "feature not accessible"), "unauthorized", "do not retry"),
        (failed("no", "USAGE_LIMIT_EXCEEDED", "usage limit exceeded"), "quota_exhausted", "do not retry"),
        (failed("Cannot query", "GRAPHQL_VALIDATION_FAILED", "graphql error"), "invalid_input", "Cannot query"),
        (failed("no", "NEW_CODE", "new type"), "unavailable", "Linear answered: no."),
        (Reply({"errors": [{"message": "no", "extensions": {"code": 7, "type": None}}]}), "unavailable", "no."),
        (Reply({"errors": [{}]}, status=400), "invalid_input", "an error without a text"),
        (Reply({"errors": [{"message": "no"}]}, status=403), "unauthorized", "Linear answered: no."),
        (Reply("<html>denied</html>", status=403), "unauthorized", "refused the request (HTTP 403)"),
        (Reply({"error": "no such path"}, status=404), "not_found", "HTTP 404"),
        (Reply("<html>welcome</html>"), "malformed_response", "can't be read"),
        (Reply(""), "malformed_response", "can't be read"),
        (Reply({"data": {"issue": None}}), "malformed_response", "can't be read"),
        (Reply({"data": {"issue": {"identifier": 5}}}), "malformed_response", "can't be read"),
        (Reply({"data": []}), "malformed_response", "can't be read"),
        (Reply("[" * 200_000), "malformed_response", "can't be read"),
        (Reply(b'{"data": {"issue": {"title": "\xff"}}}'), "malformed_response", "can't be read"),
        (Reply(status=302, headers={"Location": "http://127.0.0.1:9/"}), "unavailable", "not followed"),
    ],
    ids=str,
)
async def test_another_failure_is_told_at_once_in_one_line(
    http: Any, clock: ManualClock, reply: Reply, kind: ErrorKind, text: str
) -> None:
    async with serving(reply) as server:
        result = await toolkit.execute(LinearGetIssue(client_over(http, server, clock)), {"id": "ENG-1"})

    assert isinstance(result.error, ServiceError)
    assert result.error.kind == kind
    assert text in result.content
    assert result.content == str(result.error)
    assert "\n" not in result.content
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"X-RateLimit-Requests-Remaining": "0", "X-RateLimit-Requests-Reset": "1700000012000"}, 12.0),
        ({"X-RateLimit-Complexity-Remaining": "0", "X-RateLimit-Complexity-Reset": "1700000003500"}, 3.5),
        (
            {
                "X-RateLimit-Requests-Remaining": "10",
                "X-RateLimit-Requests-Reset": "1700003600000",
                "X-RateLimit-Endpoint-Remaining": "0",
                "X-RateLimit-Endpoint-Reset": "1700000005000",
            },
            5.0,
        ),
        ({"Retry-After": "2", "X-RateLimit-Requests-Remaining": "0", "X-RateLimit-Requests-Reset": "9e99"}, 2.0),
    ],
)
async def test_the_wait_that_linear_tells_is_kept(
    http: Any, clock: ManualClock, headers: dict[str, str], wait: float
) -> None:
    async with serving([limited(**headers), FINE]) as server:
        await client_over(http, server, clock).issue("ENG-1")

    assert clock.slept == [pytest.approx(wait)]


@pytest.mark.parametrize(
    "headers",
    [
        {"X-RateLimit-Requests-Remaining": "0", "X-RateLimit-Requests-Reset": "1600000000000"},
        {"X-RateLimit-Requests-Remaining": "0", "X-RateLimit-Requests-Reset": "soon"},
        {"X-RateLimit-Requests-Remaining": "0", "X-RateLimit-Requests-Reset": "9" * 400},
        {"X-RateLimit-Requests-Remaining": "0"},
        {"X-RateLimit-Requests-Remaining": "1", "X-RateLimit-Requests-Reset": "1700000012000"},
    ],
)
async def test_a_wait_that_makes_no_sense_is_not_kept(http: Any, clock: ManualClock, headers: dict[str, str]) -> None:
    async with serving([limited(**headers), FINE]) as server:
        await client_over(http, server, clock).issue("ENG-1")

    (slept,) = clock.slept
    assert 0.5 <= slept <= 1.0


async def test_a_wait_of_more_than_20_seconds_is_told_to_the_model(http: Any, clock: ManualClock) -> None:
    async with serving(limited(**{"Retry-After": "60"})) as server:
        with pytest.raises(ServiceError, match=r"^rate limited: .* Wait 60 seconds before trying again\.$") as caught:
            await client_over(http, server, clock).issue("ENG-1")

    assert (caught.value.code, caught.value.status, caught.value.retry_after) == ("RATELIMITED", 400, 60.0)
    assert len(server.requests) == 1


async def test_a_hang_ends_in_time_and_leaves_nothing_open(http: Any, clock: ManualClock) -> None:
    async with serving(Reply(never=True)) as server:
        with pytest.raises(ServiceError, match=r"did not answer within 0\.2 seconds"):
            await client_over(http, server, clock, timeout=0.2).issue("ENG-1")
        await http.aclose()
        await server.until_no_connection()

    assert len(server.requests) == 3


async def test_an_answer_of_100_megabytes_is_not_read(http: Any, clock: ManualClock) -> None:
    async with serving(Reply(b" " * 100_000_000)) as server:
        with pytest.raises(ServiceError, match="more than 10 MB") as caught:
            await client_over(http, server, clock).issue("ENG-1")
        await http.aclose()
        await server.until_no_connection()

    assert caught.value.kind == "malformed_response"
    assert len(server.requests) == 1


async def test_searches_keep_to_thirty_a_minute_and_other_requests_do_not(http: Any, clock: ManualClock) -> None:
    async with serving(answering(searchIssues=page(), issue=issue())) as server:
        client = client_over(http, server, clock)
        for _ in range(3):
            await client.search("x")
            await client.issue("ENG-1")

    assert clock.slept == [2.0, 2.0]
    assert fields_sent(server) == ["searchIssues", "issue"] * 3


async def test_without_a_key_nothing_is_sent(http: Any, clock: ManualClock) -> None:
    async with serving(FINE) as server:
        tool = LinearSearchIssues(client_over(http, server, clock, api_key=None))
        result = await toolkit.execute(tool, {"query": "login"})

    assert result.content == (
        "not configured: there is no key for Linear. Tell the user to set `linear.api_key` (or the variable "
        "LINEAR_API_KEY); do not retry."
    )
    assert server.requests == []


@pytest.mark.parametrize(
    ("key", "header"),
    [
        (KEY, KEY),
        ("lin_oauth_abc", "Bearer lin_oauth_abc"),
        ("Bearer abc", "Bearer abc"),
        ("bearer  lin_api_abc", "Bearer lin_api_abc"),
    ],
)
async def test_a_personal_key_goes_bare_and_a_token_as_bearer(
    http: Any, clock: ManualClock, key: str, header: str
) -> None:
    async with serving(FINE) as server:
        await LinearClient(http, settings_for(server, api_key=Secret(key)), clock=clock).issue("ENG-1")

    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/graphql")
    assert request.headers["authorization"] == header
    assert request.headers["content-type"] == "application/json"
    assert request.headers["user-agent"].startswith("toolwire/")


def test_settings_come_from_the_configuration_and_then_from_the_environment() -> None:
    environment = {"LINEAR_API_KEY": " lin_api_env ", "LINEAR_TEAM_ID": "ENG"}

    given = LinearSettings.read({"linear": {"api_key": "lin_api_1", "team": "DES", "writes": True}}, environment)
    absent = LinearSettings.read(None, environment)
    nothing = LinearSettings.read({"linear": None}, {})

    assert (given.api_key, given.team, given.writes, given.deletes) == (Secret("lin_api_1"), "DES", True, False)
    assert (absent.api_key, absent.team, absent.writes) == (Secret("lin_api_env"), "ENG", False)
    assert (nothing.api_key, nothing.team, nothing.endpoint) == (None, None, "https://api.linear.app/graphql")


@pytest.mark.parametrize("url", ["http://localhost:8000", "http://localhost:8000/", "http://localhost:8000/graphql"])
def test_the_address_may_be_given_with_or_without_its_path(url: str) -> None:
    assert LinearSettings.read({"linear": {"base_url": url}}, {}).endpoint == "http://localhost:8000/graphql"


def test_the_contact_is_not_told_to_linear() -> None:
    settings = LinearSettings.read({"contact": "ada@example.org", "user_agent": "Acme/2.1"}, {})

    assert settings.identity.header == "Acme/2.1"
