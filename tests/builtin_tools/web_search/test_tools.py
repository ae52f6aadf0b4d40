"""`web_search` as a model calls it."""

from __future__ import annotations

from typing import Any

import pytest

import toolkit
from builtin_tools.web_search import WebResult, WebResults, WebSearch
from tests.builtin_tools.web_search.providers import PROVIDERS, answer_of, asked, client_over, config_for, one_page
from tests.http.clients import ManualClock
from tests.http.loopback import Reply, serving

PAGES = [(f"Page {number}", f"https://a.example/{number}", "words", "") for number in range(12)]


def test_the_model_is_shown_a_closed_schema_and_what_comes_back() -> None:
    definition = toolkit.definition(WebSearch)

    assert definition.name == "web_search"
    for word in ("snippet", "fetch_url", "keywords", "Cite", "no\ninstructions"):
        assert word.replace("\n", " ") in " ".join(definition.description.split())
    schema = definition.input_schema
    assert schema["required"] == ["query"]
    assert schema["additionalProperties"] is False
    assert set(schema["properties"]) == {
        "query",
        "max_results",
        "recency",
        "include_domains",
        "exclude_domains",
        "topic",
        "country",
        "language",
    }
    assert all(part["description"] for part in schema["properties"].values())
    assert (schema["properties"]["query"]["minLength"], schema["properties"]["query"]["maxLength"]) == (1, 400)
    assert schema["properties"]["recency"]["enum"] == ["none", "day", "week", "month", "year"]


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_every_provider_gives_the_same_value_and_text(http: Any, clock: ManualClock, provider: str) -> None:
    async with serving(one_page(provider)) as server:
        result = await asked(http, config_for(provider, server), clock)

    assert isinstance(result.value, WebResults)
    assert result.value.results == (
        WebResult("Ada", "https://ada.example.org/", "Wrote the first program.", "2026-03-25", "ada.example.org"),
    )
    assert result.content == (
        f'1 results for "ada" ({result.value.provider})\n'
        "[1] Ada — ada.example.org, 2026-03-25\n"
        "https://ada.example.org/\n"
        "Wrote the first program."
    )


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_an_empty_search_is_a_statement_and_no_error(http: Any, clock: ManualClock, provider: str) -> None:
    async with serving(answer_of(provider)) as server:
        result = await asked(http, config_for(provider, server), clock, query="zxqv")

    assert not result.is_error
    assert result.content == f'No results for "zxqv" ({result.value.provider}).'


async def test_brave_answers_an_overdone_query_without_a_web_part(http: Any, clock: ManualClock) -> None:
    async with serving(Reply({"type": "search", "query": {"bad_results": True}})) as server:
        result = await asked(http, config_for("brave", server), clock)

    assert result.content == 'No results for "ada" (Brave).'


async def test_brave_ranks_by_its_mixed_list(http: Any, clock: ManualClock) -> None:
    reply = answer_of("brave", *PAGES[:4])
    order = [{"type": "videos", "all": True}, *({"type": "web", "index": index} for index in (2, 0, 9, 2))]
    body = {**reply.body, "mixed": {"main": order}}  # type: ignore[dict-item]
    async with serving(Reply(body)) as server:
        result = await asked(http, config_for("brave", server), clock)

    assert [found.title for found in result.value.results] == ["Page 2", "Page 0", "Page 1", "Page 3"]


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(("asked_for", "given"), [(0, 1), (-5, 1), (11, 10), (10**9, 10)])
async def test_a_number_of_results_out_of_range_is_moved_into_it_with_a_note(
    http: Any, clock: ManualClock, provider: str, asked_for: int, given: int
) -> None:
    async with serving(answer_of(provider, *PAGES)) as server:
        result = await asked(http, config_for(provider, server), clock, max_results=asked_for)

    assert len(result.value.results) == given
    assert f"note: max_results has to be 1 to 10, so {given} was used instead of {asked_for}" in result.content


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": ""},
        {"query": "x" * 401},
        {"query": 5},
        {"max_results": "5"},
        {"max_results": 1.5},
        {"recency": "decade"},
        {"topic": "finance"},
        {"include_domains": ["a.example"] * 11},
        {"include_domains": "a.example"},
        {"country": "AUT"},
        {"api_key": "mine"},
        {"base_url": "https://evil.example"},
    ],
    ids=str,
)
async def test_arguments_of_the_wrong_form_are_refused(
    http: Any, clock: ManualClock, arguments: dict[str, Any]
) -> None:
    async with serving(one_page("tavily")) as server:
        result = await asked(http, config_for("tavily", server), clock, **arguments)

    assert result.is_error
    assert server.requests == []


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"query": " \t\n"}, "the query is blank"),
        ({"query": "\x00\x1f"}, "the query is blank"),
        ({"include_domains": ["https://a.example/x"]}, '"https://a.example/x" is no host name; give one such as'),
        ({"exclude_domains": ["a.example OR site:b.example"]}, "is no host name"),
        ({"include_domains": [""]}, "is no host name"),
        ({"include_domains": ["localhost"]}, "is no host name"),
        ({"include_domains": ["-a.example"]}, "is no host name"),
        ({"include_domains": ["a.example\nx"]}, "is no host name"),
        ({"include_domains": ["a" * 64 + ".example"]}, "is no host name"),
        ({"country": "1!"}, "country has to be two letters"),
        ({"language": "german!"}, "language has to be a code"),
    ],
    ids=ascii,
)
async def test_what_no_provider_could_take_is_refused_in_words_before_anything_is_sent(
    http: Any, clock: ManualClock, arguments: dict[str, Any], text: str
) -> None:
    async with serving(one_page("tavily")) as server:
        result = await asked(http, config_for("tavily", server), clock, **arguments)

    assert result.content.startswith("invalid input: ")
    assert text in result.content
    assert server.requests == []


async def test_blank_settings_count_as_none(http: Any, clock: ManualClock) -> None:
    async with serving(one_page("tavily")) as server:
        result = await asked(
            http,
            config_for("tavily", server),
            clock,
            country="",
            language=" ",
            include_domains=[],
            exclude_domains=None,
        )

    assert result.value.notes == ()
    assert b"country" not in server.requests[0].body


async def test_the_same_search_is_answered_from_memory_for_300_seconds(http: Any, clock: ManualClock) -> None:
    async with serving(one_page("tavily")) as server:
        tool = WebSearch(client_over(http, config_for("tavily", server), clock))
        for arguments in ({}, {}, {"max_results": 4}, {"recency": "day"}, {}):
            await toolkit.execute(tool, {"query": "ada", **arguments})
        assert len(server.requests) == 3

        clock.elapsed += 301
        await toolkit.execute(tool, {"query": "ada"})

    assert len(server.requests) == 4


async def test_a_failure_is_not_remembered(http: Any, clock: ManualClock) -> None:
    async with serving([Reply(status=500), one_page("tavily")]) as server:
        tool = WebSearch(client_over(http, config_for("tavily", server), clock))
        results = [await toolkit.execute(tool, {"query": "ada"}) for _ in range(2)]

    assert [result.is_error for result in results] == [True, False]


async def test_tavily_is_asked_100_times_a_minute_at_most(http: Any, clock: ManualClock) -> None:
    async with serving(one_page("tavily")) as server:
        tool = WebSearch(client_over(http, config_for("tavily", server), clock))
        for number in range(4):
            await toolkit.execute(tool, {"query": f"ada {number}"})

    assert sum(clock.slept) == pytest.approx(3 * 0.6)
