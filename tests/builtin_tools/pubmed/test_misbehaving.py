"""The PubMed tools and a server that misbehaves."""

from __future__ import annotations

from typing import Any

import pytest

import toolkit
from builtin_tools.http import ServiceError
from builtin_tools.pubmed import PubMedFetch, PubMedRelated, PubMedSearch
from tests.builtin_tools.misbehaving import EACH, RECOVERABLE, shows_a_hang_ends, shows_its_error, shows_recovery
from tests.builtin_tools.pubmed.answers import XML, Eutils, client_over, hits, links, record, records
from tests.http.clients import ManualClock
from tests.http.loopback import Reply, serving

TOOLS = pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        pytest.param(PubMedSearch, {"query": "asthma"}, id="pubmed_search"),
        pytest.param(PubMedFetch, {"ids": ["7"]}, id="pubmed_fetch"),
        pytest.param(PubMedRelated, {"pmid": "7"}, id="pubmed_related"),
    ],
)
GOOD = Eutils({"esearch": hits("7"), "elink": links("pubmed_pubmed", "9")})


@TOOLS
@EACH
async def test_a_misbehaving_server_is_a_named_error(
    http: Any, clock: ManualClock, tool: Any, arguments: dict[str, Any], name: str
) -> None:
    await shows_its_error(name, lambda server: tool(client_over(http, server, clock)), arguments, clock)


@TOOLS
@RECOVERABLE
async def test_a_short_misbehaviour_is_got_over(
    http: Any, clock: ManualClock, tool: Any, arguments: dict[str, Any], name: str
) -> None:
    await shows_recovery(name, GOOD, lambda server: tool(client_over(http, server, clock)), arguments)


@TOOLS
async def test_a_server_that_hangs_costs_the_timeout_and_no_connection(
    http: Any, clock: ManualClock, tool: Any, arguments: dict[str, Any]
) -> None:
    await shows_a_hang_ends(lambda server: tool(client_over(http, server, clock, timeout=0.05)), arguments, clock, 0.05)


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(Reply("<html>sorry</html>", status=500), id="500"),
        pytest.param(Reply({"error": "API rate limit exceeded", "count": "11"}), id="the limit with status 200"),
        pytest.param(Reply(b"<PubmedArticleSet><PubmedArticle>", headers=XML), id="XML that ends too early"),
        pytest.param(Reply(b"", headers=XML), id="an empty body"),
    ],
)
async def test_what_ncbi_does_now_and_then_is_got_over(http: Any, clock: ManualClock, bad: Reply) -> None:
    async with serving([bad, bad, records(record("7"))]) as server:
        result = await toolkit.execute(PubMedFetch(client_over(http, server, clock)), {"ids": ["7"]})

    assert [article.pmid for article in result.value.articles] == ["7"]
    assert len(server.requests) == 3


async def test_500_again_and_again_is_unavailable(http: Any, clock: ManualClock) -> None:
    async with serving(Reply(status=500)) as server:
        result = await toolkit.execute(PubMedFetch(client_over(http, server, clock)), {"ids": ["7"]})

    assert isinstance(result.error, ServiceError)
    assert (result.error.kind, len(server.requests)) == ("unavailable", 3)


async def test_an_error_in_the_second_request_is_no_empty_success(http: Any, clock: ManualClock) -> None:
    async with serving(Eutils({"esearch": hits("7"), "efetch": Reply(status=404)})) as server:
        result = await toolkit.execute(PubMedSearch(client_over(http, server, clock)), {"query": "asthma"})

    assert result.is_error
    assert result.content.startswith("not found: PubMed has nothing at this address")
