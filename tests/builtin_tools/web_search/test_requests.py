"""What each provider is asked: every argument of `web_search` in the provider's own words."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from tests.builtin_tools.web_search.providers import (
    EVERY,
    KEY,
    PROVIDERS,
    ZONE,
    answer_of,
    asked,
    asked_of,
    config_for,
    one_page,
)
from tests.http.clients import ManualClock
from tests.http.loopback import Received, Reply, serving

FULL: dict[str, Any] = {
    "query": " ada \n lovelace ",
    "max_results": 7,
    "recency": "week",
    "include_domains": ["Example.ORG", "b.example"],
    "country": "at",
    "language": "de",
}
SITES = "ada lovelace (site:example.org OR site:b.example)"


def sent(request: Received) -> dict[str, Any]:
    return json.loads(request.body) if request.body else request.params


@pytest.mark.parametrize(
    ("provider", "path", "body"),
    [
        (
            "tavily",
            "/search",
            {
                "query": "ada lovelace",
                "max_results": 7,
                "topic": "general",
                "time_range": "week",
                "include_domains": ["example.org", "b.example"],
                "country": "austria",
            },
        ),
        (
            "brave",
            "/res/v1/web/search",
            {"q": SITES, "count": "7", "freshness": "pw", "country": "AT", "search_lang": "de"},
        ),
        (
            "exa",
            "/search",
            {
                "query": "ada lovelace",
                "numResults": 7,
                "startPublishedDate": "2023-11-07T22:13:20.000Z",
                "includeDomains": ["example.org", "b.example"],
                "userLocation": "AT",
                "contents": {"highlights": True},
            },
        ),
        ("serper", "/search", {"q": SITES, "tbs": "qdr:w", "gl": "at", "hl": "de"}),
        (
            "searxng",
            "/search",
            {"q": SITES, "format": "json", "categories": "general", "time_range": "week", "language": "de-AT"},
        ),
        (
            "firecrawl",
            "/v2/search",
            {
                "query": "ada lovelace",
                "limit": 7,
                "sources": ["web"],
                "tbs": "qdr:w",
                "country": "AT",
                "includeDomains": ["example.org", "b.example"],
            },
        ),
    ],
)
async def test_every_argument_goes_out_in_the_providers_words(
    http: Any, clock: ManualClock, provider: str, path: str, body: dict[str, Any]
) -> None:
    async with serving(one_page(provider)) as server:
        result = await asked(http, config_for(provider, server), clock, **FULL)

    assert not result.is_error
    (request,) = server.requests
    assert request.path == path
    assert sent(request) == body
    assert request.method == ("GET" if provider in ("brave", "searxng") else "POST")


@pytest.mark.parametrize(
    ("provider", "path", "body"),
    [
        ("tavily", "/search", {"topic": "news", "exclude_domains": ["b.example"]}),
        ("brave", "/res/v1/news/search", {"q": "ada -site:b.example"}),
        ("exa", "/search", {"category": "news", "excludeDomains": ["b.example"]}),
        ("serper", "/news", {"q": "ada -site:b.example"}),
        ("searxng", "/search", {"categories": "news", "q": "ada -site:b.example"}),
        ("firecrawl", "/v2/search", {"sources": ["news"], "excludeDomains": ["b.example"]}),
    ],
)
async def test_news_and_unwanted_domains_go_out_in_the_providers_words(
    http: Any, clock: ManualClock, provider: str, path: str, body: dict[str, Any]
) -> None:
    async with serving(one_page(provider)) as server:
        await asked(http, config_for(provider, server), clock, topic="news", exclude_domains=["b.example"])

    (request,) = server.requests
    assert request.path == path
    assert sent(request).items() >= body.items()


@pytest.mark.parametrize(
    ("provider", "body"),
    [
        ("brave", {"type": "news", "results": [{"title": "Ada", "url": "https://a.example/", "age": "2 days ago"}]}),
        ("serper", {"news": [{"title": "Ada", "link": "https://a.example/", "date": "2 days ago"}]}),
        ("firecrawl", {"data": {"news": [{"title": "Ada", "url": "https://a.example/", "date": "2 days ago"}]}}),
    ],
)
async def test_news_are_read_where_the_provider_puts_them(
    http: Any, clock: ManualClock, provider: str, body: dict[str, Any]
) -> None:
    async with serving(Reply(body)) as server:
        result = await asked(http, config_for(provider, server), clock, topic="news")

    assert [(found.title, found.url, found.published) for found in result.value.results] == [
        ("Ada", "https://a.example/", "2 days ago")
    ]


async def test_firecrawl_takes_one_list_of_domains_so_two_go_into_the_query(http: Any, clock: ManualClock) -> None:
    async with serving(one_page("firecrawl")) as server:
        await asked(
            http,
            config_for("firecrawl", server),
            clock,
            include_domains=["a.example"],
            exclude_domains=["b.example"],
        )

    body = sent(server.requests[0])
    assert body["query"] == "ada site:a.example -site:b.example"
    assert "includeDomains" not in body
    assert "excludeDomains" not in body


@pytest.mark.parametrize("provider", EVERY)
async def test_the_key_goes_into_the_providers_header_and_nowhere_else(
    http: Any, clock: ManualClock, provider: str
) -> None:
    async with serving(one_page(provider)) as server:
        result = await asked_of(provider, http, config_for(provider, server), clock)

    assert not result.is_error
    (request,) = server.requests
    basic = base64.b64encode(f"ada:{KEY}".encode()).decode()
    name, value = {
        "tavily": ("authorization", f"Bearer {KEY}"),
        "brave": ("x-subscription-token", KEY),
        "exa": ("x-api-key", KEY),
        "serper": ("x-api-key", KEY),
        "searxng": ("authorization", f"Basic {basic}"),
        "firecrawl": ("authorization", f"Bearer {KEY}"),
        "brightdata": ("authorization", f"Bearer {KEY}"),
    }[provider]
    assert request.headers[name] == value
    assert KEY not in f"{request.target}{request.body!r}"
    assert "x-tavily-access-mode" not in request.headers


@pytest.mark.parametrize("provider", EVERY)
async def test_providers_are_told_the_application_and_not_the_contact(
    http: Any, clock: ManualClock, provider: str
) -> None:
    async with serving(one_page(provider)) as server:
        config = config_for(provider, server, user_agent="Acme/2.1", contact="ada@example.org")
        await asked_of(provider, http, config, clock)

    request = server.requests[0]
    assert request.headers["user-agent"] == "Acme/2.1"
    assert "ada@example.org" not in f"{request.headers}{request.body!r}"


async def test_tavily_without_a_key_is_asked_in_its_keyless_mode(http: Any, clock: ManualClock) -> None:
    async with serving(one_page("tavily")) as server:
        result = await asked(http, {"web_search": {"tavily": {"base_url": server.url}}}, clock)

    assert not result.is_error
    assert server.requests[0].headers["x-tavily-access-mode"] == "keyless"
    assert "authorization" not in server.requests[0].headers


async def test_bright_data_is_asked_for_googles_page_as_json_through_the_zone(http: Any, clock: ManualClock) -> None:
    async with serving(one_page("brightdata")) as server:
        await asked_of(
            "brightdata", http, config_for("brightdata", server), clock, query="a&b c", country="at", language="de"
        )

    assert server.requests[0].path == "/request"
    assert sent(server.requests[0]) == {
        "zone": ZONE,
        "url": "https://www.google.com/search?q=a%26b+c&num=5&brd_json=1&gl=at&hl=de",
        "format": "raw",
    }


@pytest.mark.parametrize(
    ("provider", "arguments", "note"),
    [
        ("tavily", {"language": "de"}, "Tavily can't choose by language, so that was left out"),
        ("tavily", {"country": "AT", "topic": "news"}, "Tavily has no news results by the country AT; it was left out"),
        ("tavily", {"country": "XX"}, "Tavily has no general results by the country XX; it was left out"),
        ("brave", {"country": "VN"}, "Brave has no results by the country VN; it was left out"),
        ("brave", {"language": "tlh"}, 'Brave has no results by the language "tlh"; it was left out'),
        ("exa", {"language": "de"}, "Exa can't choose by language, so that was left out"),
        ("searxng", {"country": "AT"}, "SearXNG can't choose by country without a language, so that was left out"),
        ("firecrawl", {"language": "de"}, "Firecrawl can't choose by language, so that was left out"),
    ],
)
async def test_what_a_provider_can_not_do_is_left_out_and_told(
    http: Any, clock: ManualClock, provider: str, arguments: dict[str, Any], note: str
) -> None:
    async with serving(one_page(provider)) as server:
        result = await asked(http, config_for(provider, server), clock, **arguments)

    assert result.value.notes == (note,)
    assert result.content.endswith(f"\nnote: {note}")
    assert not {"country", "search_lang", "language"} & set(sent(server.requests[0]))


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("ja", "jp"),
        ("zh", "zh-hans"),
        ("zh-TW", "zh-hant"),
        ("pt", "pt-pt"),
        ("pt-BR", "pt-br"),
        ("no", "nb"),
        ("de-AT", "de"),
        ("en-GB", "en-gb"),
    ],
)
async def test_brave_gets_its_own_codes_of_languages(http: Any, clock: ManualClock, language: str, code: str) -> None:
    async with serving(one_page("brave")) as server:
        await asked(http, config_for("brave", server), clock, language=language)

    assert sent(server.requests[0])["search_lang"] == code


@pytest.mark.parametrize("recency", ["day", "week", "month", "year"])
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_every_provider_knows_every_recency(http: Any, clock: ManualClock, provider: str, recency: str) -> None:
    async with serving(one_page(provider)) as server:
        await asked(http, config_for(provider, server), clock, recency=recency)

    days = {"day": "11-13", "week": "11-07", "month": "10-14", "year": "2022-11-13"}
    name, value = {
        "tavily": ("time_range", recency),
        "brave": ("freshness", f"p{recency[0]}"),
        "exa": ("startPublishedDate", days[recency]),
        "serper": ("tbs", f"qdr:{recency[0]}"),
        "searxng": ("time_range", recency),
        "firecrawl": ("tbs", f"qdr:{recency[0]}"),
    }[provider]
    assert value in sent(server.requests[0])[name]


async def test_brave_takes_50_words_with_the_domains_and_no_more(http: Any, clock: ManualClock) -> None:
    async with serving(answer_of("brave")) as server:
        config = config_for("brave", server)
        domains = ["a.example"]
        fits = await asked(http, config, clock, query=" ".join(["ada"] * 49), include_domains=domains)
        words = await asked(http, config, clock, query=" ".join(["ada"] * 50), include_domains=domains)
        chars = await asked(http, config, clock, query="a" * 390, include_domains=domains)

    assert not fits.is_error
    assert words.content.startswith("invalid input: the query has 51 words with its domains; Brave takes 50.")
    assert chars.content.startswith("invalid input: the query has 405 characters with its domains; Brave takes 400.")
    assert len(server.requests) == 1
