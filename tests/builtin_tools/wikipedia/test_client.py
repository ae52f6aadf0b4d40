"""The Wikipedia client over both HTTP libraries, against a loopback server."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

import toolkit
from builtin_tools.http import ErrorKind, ServiceError
from builtin_tools.wikipedia import Choice, WikipediaClient, WikipediaPage, wikimedia_pace
from tests.builtin_tools.wikipedia.answers import (
    ADA,
    CONTACT,
    MISSING,
    client_over,
    page_answer,
    recorded,
    search_answer,
    settings_for,
)
from tests.http.clients import LIBRARIES, ManualClock, open_client
from tests.http.loopback import GUARD, Received, Reply, serving


async def test_a_search_asks_the_editions_action_api_and_says_who_asks(http: Any, clock: ManualClock) -> None:
    async with serving(search_answer("Ada Lovelace")) as server:
        await client_over(http, server, clock).search("ada  lovelace\n", limit=3, language="zh-yue")

    (request,) = server.requests
    assert (request.method, request.path) == ("GET", "/zh-yue/w/api.php")
    assert request.headers["user-agent"] == f"Acme/2.1 ({CONTACT})"
    asked = {"action", "format", "formatversion", "errorformat", "list", "srsearch", "srlimit"}
    assert {key: value for key, value in request.params.items() if key in asked} == {
        "action": "query",
        "format": "json",
        "formatversion": "2",
        "errorformat": "plaintext",
        "list": "search",
        "srsearch": "ada lovelace",
        "srlimit": "3",
    }
    assert "maxlag" not in request.params


async def test_a_page_is_asked_for_by_one_title_with_redirects_followed(http: Any, clock: ManualClock) -> None:
    title = "AC/DC: What? & more + 100% «É»"
    async with serving(ADA) as server:
        await client_over(http, server, clock).article(title)

    (request,) = server.requests
    assert request.path == "/en/w/api.php"
    assert request.params["titles"] == title
    assert request.params["redirects"] == "1"
    assert request.params["explaintext"] == "1"


async def test_an_article_comes_with_all_that_has_to_be_told_of_it(http: Any, clock: ManualClock) -> None:
    async with serving(ADA) as server:
        article = await client_over(http, server, clock).article("Ada Lovelace")

    assert (article.title, article.url) == ("Ada Lovelace", "https://en.wikipedia.org/wiki/Ada_Lovelace")
    assert article.revision == datetime(2026, 3, 25, 15, 46, tzinfo=UTC)
    assert article.languages == 121
    assert (article.redirected_from, article.normalized_from, article.is_disambiguation) == (None, None, False)


async def test_a_redirect_and_its_section_are_told(http: Any, clock: ManualClock) -> None:
    redirects = [{"from": "Countess", "to": "Ada Lovelace", "tofragment": "Early_life"}]
    async with serving(page_answer({"title": "Ada Lovelace", "extract": "A."}, redirects=redirects)) as server:
        article = await client_over(http, server, clock).article("Countess")

    assert (article.title, article.redirected_from) == ("Ada Lovelace", "Countess")
    assert article.redirected_to == "Early life"
    assert article.normalized_from is None


async def test_a_title_written_differently_is_told(http: Any, clock: ManualClock) -> None:
    normalized = [{"fromencoded": False, "from": "ada_Lovelace", "to": "Ada Lovelace"}]
    async with serving(page_answer({"title": "Ada Lovelace", "extract": "A."}, normalized=normalized)) as server:
        article = await client_over(http, server, clock).article("ada_Lovelace")

    assert (article.normalized_from, article.redirected_from) == ("ada_Lovelace", None)


async def test_without_an_address_in_the_answer_the_public_one_is_made(http: Any, clock: ManualClock) -> None:
    async with serving(page_answer({"title": "What? / ü (x)", "fullurl": "javascript:alert(1)"})) as server:
        article = await client_over(http, server, clock).article("What? / ü (x)", language="de")

    assert article.url == "https://de.wikipedia.org/wiki/What%3F_/_%C3%BC_(x)"


@pytest.mark.parametrize("name", ["page_missing_pageid_minus1.json", "own"])
async def test_a_missing_page_is_not_found_and_near_titles_are_offered(
    http: Any, clock: ManualClock, name: str
) -> None:
    missing = MISSING if name == "own" else recorded(name)
    near = search_answer("Ada Lovelace", "Ada (programming language)", searchinfo={"suggestion": "ada"})
    async with serving(lambda request: near if "srsearch" in request.params else missing) as server:
        with pytest.raises(ServiceError) as caught:
            await client_over(http, server, clock).article("Ada Lovelase")

    assert (caught.value.kind, caught.value.code) == ("not_found", "missing")
    assert str(caught.value) == (
        'not found: Wikipedia (language en) has no page "Ada Lovelase". '
        "Near titles: Ada Lovelace; Ada (programming language); ada."
    )


async def test_a_missing_page_is_not_found_even_when_the_search_for_near_titles_fails(
    http: Any, clock: ManualClock
) -> None:
    async with serving(lambda request: Reply(status=500) if "srsearch" in request.params else MISSING) as server:
        with pytest.raises(ServiceError, match="Use wikipedia_search to find the title") as caught:
            await client_over(http, server, clock).article("Ada Lovelase")

    assert caught.value.kind == "not_found"


@pytest.mark.parametrize(
    ("query", "text"),
    [
        pytest.param(
            {"pages": [{"title": "A", "invalid": True, "invalidreason": "Bad\ntitle."}]}, "Bad title", id="invalid"
        ),
        pytest.param({"pages": {"-1": {"title": "A", "invalid": ""}}}, "can be no title", id="invalid, version 1"),
        pytest.param({"pages": [{"title": "Special:Log", "special": True}]}, "of the software", id="special"),
        pytest.param({"interwiki": [{"title": "de:Berlin", "iw": "de"}]}, r"another wiki \(de\)", id="another wiki"),
    ],
)
async def test_what_can_be_no_article_is_an_invalid_title(
    http: Any, clock: ManualClock, query: dict[str, Any], text: str
) -> None:
    async with serving(Reply({"query": query})) as server:
        with pytest.raises(ServiceError, match=text) as caught:
            await client_over(http, server, clock).article("Whatever")

    assert caught.value.kind == "invalid_input"
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "title",
    ["", "   ", "\t\n", "a|b", "A#b", "C#", "<b>", "[[A]]", "{{A}}", "a" * 256, "é" * 128, "\ud800", "\x1f"],
    ids=ascii,
)
async def test_a_title_that_can_be_none_is_refused_before_anything_is_sent(
    http: Any, clock: ManualClock, title: str
) -> None:
    async with serving(ADA) as server:
        with pytest.raises(ServiceError) as caught:
            await client_over(http, server, clock).article(title)

    assert caught.value.kind == "invalid_input"
    assert server.requests == []


async def test_a_title_of_255_bytes_is_asked_for(http: Any, clock: ManualClock) -> None:
    title = "é" * 127 + "a"
    async with serving(page_answer({"title": title})) as server:
        assert (await client_over(http, server, clock).article(title)).title == title


@pytest.mark.parametrize("query", ["", "  \n ", "\x00", "x" * 301, "\udfff"], ids=ascii)
async def test_a_query_that_can_be_none_is_refused_before_anything_is_sent(
    http: Any, clock: ManualClock, query: str
) -> None:
    async with serving(search_answer()) as server:
        with pytest.raises(ServiceError) as caught:
            await client_over(http, server, clock).search(query)

    assert caught.value.kind == "invalid_input"
    assert server.requests == []


@pytest.mark.parametrize(
    "language",
    [
        "evil.example/#",
        "en.evil",
        "../",
        "en/../..",
        "EN",
        "en\n",
        "\u0435n",
        "\uff45\uff4e",
        "en@127.0.0.1",
        "zh-hans",
        "",
        "{language}",
        "\ud800",
        "x" * 5_000,
    ],
    ids=lambda language: ascii(language)[:20],
)
async def test_a_hostile_language_code_reaches_no_host_name(http: Any, clock: ManualClock, language: str) -> None:
    async with serving(ADA) as server:
        client = client_over(http, server, clock)
        for asking in (client.article("Ada Lovelace", language=language), client.search("ada", language=language)):
            with pytest.raises(ServiceError) as caught:
                await asking
            assert caught.value.kind == "invalid_input"
            assert len(str(caught.value)) < 200
            str(caught.value).encode()

    assert server.requests == []


async def test_a_persian_title_keeps_its_joiners(http: Any, clock: ManualClock) -> None:
    title = "می\u200cشود"
    async with serving(page_answer({"title": title})) as server:
        await client_over(http, server, clock).article(title, language="fa")

    assert server.requests[0].params["titles"] == title


async def test_without_a_contact_nothing_is_sent(http: Any, clock: ManualClock) -> None:
    async with serving(ADA) as server:
        client = client_over(http, server, clock, contact=None)
        for asking in (client.article("Ada Lovelace"), client.search("ada")):
            with pytest.raises(ServiceError, match=r"^not configured: .*`contact`.*TOOLWIRE_CONTACT") as caught:
                await asking
            assert caught.value.kind == "not_configured"

    assert server.requests == []


async def test_a_disambiguation_page_gives_choices_by_a_second_request(http: Any, clock: ManualClock) -> None:
    page = {"title": "Mercury", "pageprops": {"disambiguation": ""}}
    extract = "Mercury may refer to:\nMercury (planet), the nearest to the Sun\nMercury (element), a metal"
    links = [{"ns": 0, "title": "Mercury (element)"}, {"ns": 0, "title": "Mercury (planet)"}, {"ns": 4, "title": "X:Y"}]

    def answer(request: Received) -> Reply:
        is_second = request.params["prop"] == "links"
        return page_answer({**page, "links": links} if is_second else {**page, "extract": extract})

    async with serving(answer) as server:
        article = await client_over(http, server, clock).article("Mercury")

    assert article.is_disambiguation
    assert article.choices == (
        Choice("Mercury (planet)", "the nearest to the Sun"),
        Choice("Mercury (element)", "a metal"),
    )
    assert len(server.requests) == 2


async def test_a_recorded_disambiguation_page_gives_choices(http: Any, clock: ManualClock) -> None:
    async with serving(recorded("disambiguation_query.json")) as server:
        article = await client_over(http, server, clock).article("Douglas Adams (disambiguation)")

    titles = [choice.title for choice in article.choices]
    assert titles[:3] == ["Douglas Adams", "Douglas Adams (engineer)", "Douglas Q. Adams"]
    assert "Talk:Douglas Adams (disambiguation)" not in titles
    assert article.choices[0].hint == "was an English writer and dramatist."
    assert "<" not in article.text


async def test_a_recorded_search_is_read(http: Any, clock: ManualClock) -> None:
    async with serving(recorded("search_python_programming_fv1.json")) as server:
        found = await client_over(http, server, clock).search("python programming", limit=10)

    assert (len(found.results), found.total) == (10, 6045)
    first = found.results[0]
    assert (first.title, first.words) == ("Python (programming language)", 11448)
    assert first.url == "https://en.wikipedia.org/wiki/Python_(programming_language)"
    assert first.updated == datetime(2026, 3, 25, 15, 46, tzinfo=UTC)
    assert first.snippet.startswith("Python is a high-level, general-purpose programming language.")
    assert not any("<" in result.snippet or "&" in result.snippet for result in found.results)
    assert any('"guiding principles"' in result.snippet for result in found.results)


async def test_a_recorded_generator_search_is_ranked_by_its_index(http: Any, clock: ManualClock) -> None:
    async with serving(recorded("android_full_text_search_results.json")) as server:
        found = await client_over(http, server, clock).search("queens", limit=20)

    titles = [result.title for result in found.results]
    assert len(titles) == 20
    assert titles.index("Queens") == 2
    assert found.results[2].description == "borough of New York City, New York, United States"


async def test_the_facts_of_the_pages_are_joined_to_the_ranked_hits(http: Any, clock: ManualClock) -> None:
    pages = [
        {
            "pageid": 2,
            "index": 2,
            "title": "B",
            "fullurl": "https://en.wikipedia.org/wiki/B",
            "description": "a letter",
        },
        {"pageid": 1, "index": 1, "title": "A", "pageprops": {"disambiguation": ""}},
    ]
    async with serving(search_answer("A", "B", pages=pages)) as server:
        found = await client_over(http, server, clock).search("letters")

    assert [(result.title, result.is_disambiguation) for result in found.results] == [("A", True), ("B", False)]
    assert (found.results[1].url, found.results[1].description) == ("https://en.wikipedia.org/wiki/B", "a letter")


async def test_markup_goes_and_entities_are_decoded_in_snippets(http: Any, clock: ManualClock) -> None:
    snippet = '<span class="searchmatch">Tom</span> &amp;  Jerry &lt;b&gt; &#039;59 &amp;amp;\n'
    hits = [{"title": "T", "pageid": 1, "snippet": snippet}, {"title": "U", "pageid": 2, "snippet": "word " * 200}]
    async with serving(Reply({"query": {"search": hits}})) as server:
        found = await client_over(http, server, clock).search("tom")

    assert found.results[0].snippet == "Tom & Jerry <b> '59 &amp;"
    assert len(found.results[1].snippet) <= 300
    assert found.results[1].snippet.endswith("word…")


@pytest.mark.parametrize(
    ("warnings", "texts"),
    [
        pytest.param({"search": {"*": "The offset\nis too large."}}, ("The offset is too large.",), id="version 1"),
        pytest.param({"search": {"warnings": "Too large."}}, ("Too large.",), id="version 2"),
        pytest.param([{"code": "w", "text": "Too large.", "module": "search"}], ("Too large.",), id="plaintext"),
        pytest.param(None, (), id="none"),
    ],
)
async def test_an_empty_search_may_lack_the_query_and_keeps_its_warnings(
    http: Any, clock: ManualClock, warnings: Any, texts: tuple[str, ...]
) -> None:
    async with serving(Reply({"batchcomplete": True, "warnings": warnings})) as server:
        found = await client_over(http, server, clock).search("zxqv")

    assert (found.results, found.warnings) == ((), texts)


@pytest.mark.parametrize("name", ["page_info_with_warnings.json", "android_prefix_search_results_empty.json"])
async def test_recorded_answers_with_warnings_or_without_hits_are_no_errors(
    http: Any, clock: ManualClock, name: str
) -> None:
    async with serving(recorded(name)) as server:
        client = client_over(http, server, clock)
        if "page" in name:
            assert (await client.article("Python_(programming_language)")).title == "Python (programming language)"
        else:
            assert (await client.search("zxqv")).results == ()


@pytest.mark.parametrize(
    ("body", "kind", "code"),
    [
        ({"error": {"code": "nosrsearch", "info": "The parameter must be set."}}, "invalid_input", "nosrsearch"),
        ({"errors": [{"code": "unknown_action", "text": "Unrecognized value."}]}, "unavailable", "unknown_action"),
        ({"errors": [{"code": "readapidenied", "text": "No."}]}, "unauthorized", "readapidenied"),
        ({"error": {"code": "x", "info": "y"}, "query": {"search": []}}, "unavailable", "x"),
    ],
)
async def test_an_error_in_an_answer_of_200_is_an_error(
    http: Any, clock: ManualClock, body: dict[str, Any], kind: ErrorKind, code: str
) -> None:
    async with serving(Reply(body, headers={"MediaWiki-API-Error": code})) as server:
        with pytest.raises(ServiceError, match=f'Wikipedia answered "{code}"') as caught:
            await client_over(http, server, clock).search("ada")

    assert (caught.value.kind, caught.value.code, caught.value.status) == (kind, code, 200)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"error": {"code": "x" * 50_000, "info": "y" * 50_000}}, id="code"),
        pytest.param({"query": {"pages": [{"invalid": True, "invalidreason": "x " * 50_000}]}}, id="reason"),
        pytest.param({"query": {"interwiki": [{"title": "de:Berlin", "iw": "x" * 50_000}]}}, id="wiki"),
        pytest.param(
            {"query": {"pages": [{"missing": True}], "search": [{"title": f"{n}" * 50_000} for n in range(5)]}},
            id="near titles",
        ),
        pytest.param(
            {"query": {"pages": [{"title": "A", "extract": f"== {'x ' * 50_000} ==\n" * 40}]}}, id="names of sections"
        ),
    ],
)
async def test_what_wikipedia_says_of_a_failure_is_told_in_a_few_words(
    http: Any, clock: ManualClock, body: dict[str, Any]
) -> None:
    async with serving(Reply(body)) as server:
        page = WikipediaPage(client_over(http, server, clock))
        result = await toolkit.execute(page, {"title": "Ada", "section": "Life"})

    assert isinstance(result.error, ServiceError)
    assert len(result.content) < 4_000


@pytest.mark.parametrize("body", [{}, {"message": "hello"}, {"query": {}}], ids=str)
async def test_json_that_answers_something_else_is_malformed_and_never_an_empty_success(
    http: Any, clock: ManualClock, body: dict[str, Any]
) -> None:
    async with serving(Reply(body)) as server:
        client = client_over(http, server, clock)
        for asking in (client.search("ada"), client.article("Ada")):
            with pytest.raises(ServiceError, match="no answer to the question") as caught:
                await asking
            assert caught.value.kind == "malformed_response"


async def test_a_page_is_not_called_missing_by_an_answer_without_pages(http: Any, clock: ManualClock) -> None:
    async with serving(Reply({"batchcomplete": True})) as server:
        with pytest.raises(ServiceError) as caught:
            await client_over(http, server, clock).article("Ada")

    assert caught.value.kind == "malformed_response"


@pytest.mark.parametrize(
    ("name", "kind"), [("error_nosrsearch_fv1.json", "invalid_input"), ("android_api_error.json", "unavailable")]
)
async def test_recorded_errors_are_errors(http: Any, clock: ManualClock, name: str, kind: ErrorKind) -> None:
    async with serving(recorded(name)) as server:
        with pytest.raises(ServiceError) as caught:
            await client_over(http, server, clock).search("ada")

    assert caught.value.kind == kind


@pytest.mark.parametrize("code", ["maxlag", "ratelimited", "readonly", "internal_api_error_DBQueryError"])
@pytest.mark.parametrize("status", [200, 503])
async def test_a_busy_wiki_is_asked_again(http: Any, clock: ManualClock, code: str, status: int) -> None:
    busy = Reply({"error": {"code": code, "info": "Later."}}, status=status, headers={"Retry-After": "3"})
    async with serving([busy, busy, ADA]) as server:
        article = await client_over(http, server, clock).article("Ada Lovelace")

    assert article.title == "Ada Lovelace"
    assert clock.slept == [3.0, 3.0]
    assert len(server.requests) == 3


async def test_a_wiki_that_stays_busy_is_unavailable(http: Any, clock: ManualClock) -> None:
    async with serving(Reply({"errors": [{"code": "maxlag", "text": "Waiting for a database."}]})) as server:
        with pytest.raises(ServiceError) as caught:
            await client_over(http, server, clock).article("Ada Lovelace")

    assert (caught.value.kind, caught.value.code) == ("unavailable", "maxlag")
    assert len(server.requests) == 3


async def test_a_refused_user_agent_is_told_as_such(http: Any, clock: ManualClock) -> None:
    refusal = Reply(
        f"Please set a user-agent and respect our robot policy (you are {CONTACT})",
        status=403,
        headers={"Content-Type": "text/plain"},
    )
    async with serving(refusal) as server:
        with pytest.raises(ServiceError) as caught:
            await client_over(http, server, clock).search("ada")

    assert caught.value.kind == "unauthorized"
    assert "`contact` and `user_agent`" in str(caught.value)
    assert CONTACT not in f"{caught.value} {vars(caught.value)}"
    assert caught.value.body is not None
    assert "robot policy" in caught.value.body


async def test_too_many_requests_are_waited_for_and_then_told(http: Any, clock: ManualClock) -> None:
    limit = Reply("Too many requests", status=429, headers={"Retry-After": "8", "Content-Type": "text/plain"})
    async with serving([limit, limit, ADA]) as server:
        assert (await client_over(http, server, clock).article("Ada Lovelace")).title == "Ada Lovelace"
    assert clock.slept == [8.0, 8.0]

    async with serving(
        Reply({"errors": [{"code": "x", "text": "y"}]}, status=429, headers={"Retry-After": "60"})
    ) as server:
        with pytest.raises(ServiceError, match="Wait 60 seconds") as caught:
            await client_over(http, server, clock).article("Ada Lovelace")
    assert caught.value.kind == "rate_limited"
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "body",
    ["<!DOCTYPE html><p>Our servers are busy", '{"query": {"pages": [', "[]", '{"query": {"search": "none"}}', ""],
)
async def test_an_answer_of_200_that_is_no_answer_is_malformed(http: Any, clock: ManualClock, body: str) -> None:
    async with serving(Reply(body, headers={"Content-Type": "text/html"})) as server:
        with pytest.raises(ServiceError) as caught:
            await client_over(http, server, clock).search("ada")

    assert caught.value.kind == "malformed_response"
    assert len(server.requests) == 1


async def test_an_article_is_fetched_once_in_five_minutes(http: Any, clock: ManualClock) -> None:
    async with serving(ADA) as server:
        client = client_over(http, server, clock)
        first = await client.article("Ada Lovelace")
        assert await client.article("Ada Lovelace") is first
        assert len(server.requests) == 1

        await client.article("Ada Lovelace", language="de")
        clock.elapsed += 300
        await client.article("Ada Lovelace")
        assert len(server.requests) == 3


async def test_searches_that_differ_in_anything_are_asked_anew(http: Any, clock: ManualClock) -> None:
    async with serving(search_answer("A")) as server:
        client = client_over(http, server, clock)
        for _ in range(2):
            await client.search("a")
            await client.search("b")
            await client.search("a", limit=6)
            await client.search("a", language="de")

    assert len(server.requests) == 4


async def test_a_failure_is_not_kept(http: Any, clock: ManualClock) -> None:
    async with serving([Reply(status=500), ADA]) as server:
        client = client_over(http, server, clock)
        with pytest.raises(ServiceError):
            await client.article("Ada Lovelace")

        assert (await client.article("Ada Lovelace")).title == "Ada Lovelace"


async def test_requests_start_three_tenths_of_a_second_apart_and_three_go_at_once(
    http: Any, clock: ManualClock
) -> None:
    async with serving(search_answer("A")) as server:
        client = client_over(http, server, clock)
        for number in range(4):
            await client.search(f"query {number}")

    assert len(server.requests) == 4
    assert clock.slept == pytest.approx([0.3, 0.3, 0.3])
    assert wikimedia_pace().at_once == 3


async def test_cancelling_leaves_no_connection_and_no_place_taken(http: Any, clock: ManualClock) -> None:
    async with serving(lambda request: Reply(never=True) if request.params.get("titles") == "Slow" else ADA) as server:
        client = client_over(http, server, clock)
        tasks = [asyncio.create_task(client.article("Slow")) for _ in range(5)]
        async with asyncio.timeout(GUARD):
            await server.arrived.wait()

        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        await server.until_no_connection()

        assert all(isinstance(end, asyncio.CancelledError) for end in ended)
        assert (await client.article("Ada Lovelace")).title == "Ada Lovelace"


@pytest.mark.parametrize("library", LIBRARIES)
def test_pace_and_cache_serve_two_event_loops_in_sequence(library: Any, clock: ManualClock) -> None:
    pace = wikimedia_pace(clock)

    async def ask() -> list[str]:
        async with serving(search_answer("A")) as server, open_client(library) as http:
            client = WikipediaClient(http, settings_for(server), pace=pace, clock=clock)
            found = await asyncio.gather(*(client.search(f"query {number}") for number in range(5)))
            return [result.results[0].title for result in found]

    assert asyncio.run(ask()) == asyncio.run(ask()) == ["A"] * 5
