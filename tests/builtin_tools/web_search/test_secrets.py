"""No key is shown: not by a log, an exception, a repr, or a text for the model, whatever the provider answers."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import traceback
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builtin_tools.keys import KEYS
from tests.builtin_tools.web_search.providers import EVERY, KEY, asked_of, config_for
from tests.http.clients import LIBRARIES, ManualClock, open_client
from tests.http.loopback import GUARD, Received, Reply, serving
from toolkit import ToolResult

FORMS = (KEY, quote(KEY, safe=""), base64.b64encode(f"ada:{KEY}".encode()).decode())


def echo(status: int, field: str) -> Any:
    """A server that gives the whole request back in a field of its answer, as a careless one would."""

    def answer(request: Received) -> Reply:
        said = f"{request.target} {dict(request.headers)} {request.body!r}"
        body = {"detail": {"error": said}, "error": said, "message": said} if field == "json" else said
        kind = "text/plain" if field == "text" else "application/json"
        return Reply(json.dumps(body) if field == "json" else said, status, {"Content-Type": kind, "x-brd-error": KEY})

    return answer


def shown(result: ToolResult) -> str:
    error = result.error
    told = f"{result!r} {result.content} {result.value!r} {error!r}"
    if error is not None:
        told += f"{vars(error)} {''.join(traceback.format_exception(error))}"
    return told


@pytest.mark.parametrize("field", ["json", "text"])
@pytest.mark.parametrize("status", [200, 400, 401, 403, 422, 429, 500])
@pytest.mark.parametrize("provider", EVERY)
async def test_a_server_that_gives_the_key_back_makes_nothing_show_it(
    http: Any, clock: ManualClock, caplog: pytest.LogCaptureFixture, provider: str, status: int, field: str
) -> None:
    caplog.set_level(logging.DEBUG)
    async with serving(echo(status, field)) as server:
        result = await asked_of(provider, http, config_for(provider, server), clock)

    everything = shown(result) + "".join(record.getMessage() for record in caplog.records if _is_told(record))
    assert server.requests
    assert not [form for form in FORMS if form in everything]


def _is_told(record: logging.LogRecord) -> bool:
    # At DEBUG, httpcore and httpcore2 write the headers of an answer, where this server puts the key. Nobody else does.
    return "receive_response_headers.complete" not in record.getMessage()


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("provider", [name for name in EVERY if name != "searxng"])
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(key=KEYS, status=st.sampled_from([200, 400, 403, 422, 429]))
def test_whatever_the_key_is_nothing_shows_it(
    caplog: pytest.LogCaptureFixture, library: Any, provider: str, key: str, status: int
) -> None:
    caplog.set_level(logging.INFO)

    async def ask() -> ToolResult:
        async with serving(echo(status, "json")) as server, open_client(library) as http, asyncio.timeout(GUARD):
            return await asked_of(provider, http, config_for(provider, server, key), ManualClock())

    caplog.clear()
    result = asyncio.run(ask())

    assert key not in shown(result) + caplog.text
