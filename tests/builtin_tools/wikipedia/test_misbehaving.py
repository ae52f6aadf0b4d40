"""The Wikipedia tools and a server that misbehaves."""

from __future__ import annotations

from typing import Any

import pytest

from builtin_tools.wikipedia import WikipediaPage, WikipediaSearch
from tests.builtin_tools.misbehaving import EACH, RECOVERABLE, shows_a_hang_ends, shows_its_error, shows_recovery
from tests.builtin_tools.wikipedia.answers import ADA, client_over, search_answer
from tests.http.clients import ManualClock
from tests.http.loopback import Received, Reply

TOOLS = pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        pytest.param(WikipediaSearch, {"query": "ada"}, id="wikipedia_search"),
        pytest.param(WikipediaPage, {"title": "Ada Lovelace"}, id="wikipedia_page"),
    ],
)


def good(request: Received) -> Reply:
    return search_answer("Ada Lovelace") if "srsearch" in request.params else ADA


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
    await shows_recovery(name, good, lambda server: tool(client_over(http, server, clock)), arguments)


@TOOLS
async def test_a_server_that_hangs_costs_the_timeout_and_no_connection(
    http: Any, clock: ManualClock, tool: Any, arguments: dict[str, Any]
) -> None:
    await shows_a_hang_ends(lambda server: tool(client_over(http, server, clock, timeout=0.05)), arguments, clock, 0.05)
