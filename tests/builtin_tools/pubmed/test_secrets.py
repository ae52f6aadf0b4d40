"""The key, and nothing that shows it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

import toolkit
from builtin_tools.pubmed import PubMedClient, PubMedFetch, PubMedRelated, PubMedSearch
from tests.builtin_tools.keys import KEYS
from tests.builtin_tools.pubmed.answers import CONTACT, Eutils, client_over, hits, links, settings_for
from tests.http.clients import LIBRARIES, ManualClock, open_client
from tests.http.loopback import Received, Reply, serving

CALLS = [(PubMedSearch, {"query": "asthma"}), (PubMedFetch, {"ids": ["7"]}), (PubMedRelated, {"pmid": "7"})]


def echoing(form: str) -> Any:
    """A server that says back what it was told."""

    def answer(request: Received) -> Reply:
        told = request.form["api_key"]
        replies = {
            "error": Reply({"error": f"API key invalid: {told}", "api-key": told}, status=400),
            "error in 200": Reply({"esearchresult": {"ERROR": f"no {told}"}, "error": f"no {told}"}),
            "text": Reply(f"no {told} and {request.body.decode()}", status=403),
            "page": Reply(f"<html>{told}</html>"),
            "limit": Reply(request.body, status=429),
            "cut off": Reply(request.body, breaks_off=True),
            "XML": Reply(f"<eSearchResult><ERROR><![CDATA[{told}]]></ERROR></eSearchResult>"),
        }
        return replies[form]

    return answer


def shown_by(error: BaseException | None) -> Iterator[str]:
    """All that an exception and its causes show."""
    while error is not None:
        yield f"{error!r} {error} {vars(error)}"
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("form", ["error", "error in 200", "text", "page", "limit", "cut off", "XML"])
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(key=KEYS)
async def test_no_failure_shows_the_key_to_anyone(
    library: Any, form: str, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.clear()
    shown: list[str] = []
    async with serving(echoing(form)) as server, open_client(library) as http:
        client = client_over(http, server, ManualClock(), key=key)
        for tool, arguments in CALLS:
            result = await toolkit.execute(tool(client), arguments)
            assert result.is_error
            shown += [result.content, repr(result), *shown_by(result.error)]
        shown += [repr(client), repr(client.settings), str(client.settings)]
    shown += [f"{record.getMessage()} {record.__dict__}" for record in caplog.records]

    assert caplog.records
    assert [text for text in shown if key in text or CONTACT in text] == []
    assert all(request.form["api_key"] == key for request in server.requests)


@pytest.mark.parametrize("library", LIBRARIES)
async def test_no_success_shows_the_key_to_anyone(library: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    key = "0123456789abcdef"
    shown: list[str] = []
    answers = Eutils({"esearch": hits("7"), "elink": links("pubmed_pubmed", "9")})
    async with serving(answers) as server, open_client(library) as http:
        client = PubMedClient(http, settings_for(server, key=key), clock=ManualClock())
        for tool, arguments in CALLS:
            result = await toolkit.execute(tool(client), arguments)
            assert not result.is_error
            shown += [result.content, repr(result)]
    shown += [f"{record.getMessage()} {record.__dict__}" for record in caplog.records]

    assert any("esearch.fcgi" in text for text in shown)
    assert [text for text in shown if key in text or CONTACT in text] == []
