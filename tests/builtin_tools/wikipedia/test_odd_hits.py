"""Hits of a search that lack what others have."""

from __future__ import annotations

from typing import Any

import toolkit
from builtin_tools.wikipedia import WikipediaSearch
from builtin_tools.wikipedia.wire import texts_of
from tests.builtin_tools.wikipedia.answers import client_over
from tests.http.clients import ManualClock
from tests.http.loopback import Reply, serving


async def test_a_hit_without_a_title_is_left_out_and_a_line_without_content_too(http: Any, clock: ManualClock) -> None:
    hits = [
        {"pageid": 1, "snippet": "nameless"},
        {"title": " ", "pageid": 2, "snippet": "blank"},
        {"title": "Ada Lovelace", "snippet": ""},
        {"title": "Charles Babbage", "pageid": 4, "snippet": "<b>An</b> engine"},
    ]
    async with serving(Reply({"query": {"search": hits}})) as server:
        search = WikipediaSearch(client_over(http, server, clock))
        result = await toolkit.execute(search, {"query": "engines", "limit": 2})

    assert result.content == (
        '2 results for "engines" (Wikipedia, language en)\n'
        "[1] Ada Lovelace\n"
        "https://en.wikipedia.org/wiki/Ada_Lovelace\n"
        "[2] Charles Babbage\n"
        "https://en.wikipedia.org/wiki/Charles_Babbage\n"
        "An engine\n"
        "source: Wikipedia, CC BY-SA 4.0"
    )


def test_the_texts_of_warnings_are_read_in_their_order_however_deep_they_lie() -> None:
    warnings: Any = {"main": {"*": "Second.", "note": "no"}, "info": [{"text": "Third."}, "no"]}
    for _ in range(5_000):
        warnings = {"first": {"text": "First."}, "more": [warnings]}

    assert texts_of(warnings) == (*["First."] * 5_000, "Second.", "Third.")
