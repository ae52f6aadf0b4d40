"""`wikipedia_search` and `wikipedia_page` as a model calls them."""

from __future__ import annotations

from typing import Any

import pytest

import toolkit
from builtin_tools.http import ServiceError
from builtin_tools.wikipedia import SearchResults, WikipediaPage, WikipediaSearch, WikipediaText
from tests.builtin_tools.wikipedia.answers import (
    ADA,
    CONTACT,
    MISSING,
    client_over,
    page_answer,
    recorded,
    search_answer,
)
from tests.http.clients import ManualClock
from tests.http.loopback import LoopbackServer, Reply, serving


def search_over(http: Any, server: LoopbackServer, clock: ManualClock, **settings: Any) -> WikipediaSearch:
    return WikipediaSearch(client_over(http, server, clock, **settings))


def page_over(http: Any, server: LoopbackServer, clock: ManualClock, **settings: Any) -> WikipediaPage:
    return WikipediaPage(client_over(http, server, clock, **settings))


def long_page(length: int) -> Reply:
    return page_answer({"title": "Long", "extract": "word " * (length // 5)})


def test_the_model_is_shown_names_descriptions_and_closed_schemas() -> None:
    search, page = toolkit.definition(WikipediaSearch), toolkit.definition(WikipediaPage)

    assert (search.name, page.name) == ("wikipedia_search", "wikipedia_page")
    assert "wikipedia_page" in search.description
    assert "missing" in page.description
    assert search.input_schema["required"] == ["query"]
    assert page.input_schema["required"] == ["title"]
    assert set(search.input_schema["properties"]) == {"query", "limit", "language"}
    assert set(page.input_schema["properties"]) == {"title", "section", "language", "offset", "max_chars"}
    for schema in (search.input_schema, page.input_schema):
        assert schema["additionalProperties"] is False
        assert all(part["description"] for part in schema["properties"].values())
    assert search.input_schema["properties"]["limit"]["default"] == 5
    assert page.input_schema["properties"]["max_chars"]["default"] == 8000


async def test_a_search_is_told_in_a_compact_list(http: Any, clock: ManualClock) -> None:
    pages = [
        {
            "pageid": 1,
            "index": 1,
            "title": "Ada",
            "fullurl": "https://en.wikipedia.org/wiki/Ada",
            "description": "given name",
            "pageprops": {"disambiguation": ""},
        }
    ]
    hits = [
        {
            "title": "Ada",
            "pageid": 1,
            "wordcount": 12,
            "timestamp": "2026-03-25T15:46:00Z",
            "snippet": "<b>Ada</b> may",
        },
        {"title": "Ada B", "pageid": 2},
    ]
    body = {"query": {"searchinfo": {"totalhits": 90, "suggestion": "adam"}, "search": hits, "pages": pages}}
    async with serving(Reply(body)) as server:
        result = await toolkit.execute(search_over(http, server, clock), {"query": "ada", "limit": 2})

    assert not result.is_error
    assert isinstance(result.value, SearchResults)
    assert [found.title for found in result.value.results] == ["Ada", "Ada B"]
    assert result.content == (
        '2 of 90 results for "ada" (Wikipedia, language en)\n'
        "[1] Ada — given name, disambiguation page, 12 words, updated 2026-03-25\n"
        "https://en.wikipedia.org/wiki/Ada\n"
        "Ada may\n"
        "[2] Ada B\n"
        "https://en.wikipedia.org/wiki/Ada_B\n"
        'note: did you mean "adam"?\n'
        "source: Wikipedia, CC BY-SA 4.0"
    )


async def test_an_empty_search_is_a_statement_and_no_error(http: Any, clock: ManualClock) -> None:
    body = {"warnings": [{"text": "Odd syntax."}], "query": {"searchinfo": {"totalhits": 0, "rewrittenquery": "zx"}}}
    async with serving(Reply(body)) as server:
        result = await toolkit.execute(search_over(http, server, clock), {"query": "zxqv", "language": "de"})

    assert not result.is_error
    assert result.content == (
        'No results for "zxqv" (Wikipedia, language de).\n'
        'note: searched for "zx" instead\n'
        "note: Wikipedia says: Odd syntax."
    )


@pytest.mark.parametrize(("limit", "used"), [(0, 1), (-3, 1), (21, 20), (10**9, 20)])
async def test_a_limit_out_of_range_is_moved_into_it_with_a_note(
    http: Any, clock: ManualClock, limit: int, used: int
) -> None:
    async with serving(search_answer(*"ABCDEFGHIJKLMNOPQRSTUVWXYZ")) as server:
        result = await toolkit.execute(search_over(http, server, clock), {"query": "ada", "limit": limit})

    assert server.requests[0].params["srlimit"] == str(used)
    assert len(result.value.results) == used
    assert f"note: limit has to be 1 to 20, so {used} was used instead of {limit}" in result.content


@pytest.mark.parametrize("limit", [1, 5, 20])
async def test_a_limit_in_range_needs_no_note(http: Any, clock: ManualClock, limit: int) -> None:
    async with serving(search_answer("A")) as server:
        result = await toolkit.execute(search_over(http, server, clock), {"query": "ada", "limit": limit})

    assert "note:" not in result.content


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"query": ""},
        {"query": "x" * 301},
        {"query": 5},
        {"query": "ada", "limit": "5"},
        {"query": "ada", "limit": 1.5},
        {"query": "ada", "limit": True},
        {"query": "ada", "language": None},
        {"query": "ada", "agent": "Evil/1.0"},
    ],
    ids=str,
)
async def test_arguments_of_the_wrong_type_are_refused(
    http: Any, clock: ManualClock, arguments: dict[str, Any]
) -> None:
    async with serving(search_answer("A")) as server:
        result = await toolkit.execute(search_over(http, server, clock), arguments)

    assert result.is_error
    assert server.requests == []


@pytest.mark.parametrize("arguments", [{"query": "  "}, {"query": "\t\n"}])
async def test_a_blank_query_is_refused_in_words(http: Any, clock: ManualClock, arguments: dict[str, Any]) -> None:
    async with serving(search_answer("A")) as server:
        result = await toolkit.execute(search_over(http, server, clock), arguments)

    assert result.is_error
    assert result.content == "invalid input: the query is blank. Change the arguments and call again."


async def test_the_introduction_is_given_with_sections_and_source(http: Any, clock: ManualClock) -> None:
    async with serving(ADA) as server:
        result = await toolkit.execute(page_over(http, server, clock), {"title": "Ada Lovelace"})

    assert not result.is_error
    assert isinstance(result.value, WikipediaText)
    assert result.value.languages == 121
    assert result.content == (
        "Ada Lovelace — introduction\n"
        "\n"
        "Ada Lovelace was a mathematician.\n"
        "She wrote a program.\n"
        "\n"
        "sections: Life; Childhood; Work; References\n"
        'source: "Ada Lovelace", https://en.wikipedia.org/wiki/Ada_Lovelace, language en, revision of 2026-03-25. '
        "Wikipedia, CC BY-SA 4.0"
    )


@pytest.mark.parametrize(
    ("section", "text"),
    [
        ("life", "Born in 1815.\n\n=== Childhood ===\nShe studied."),
        ("Childhood", "She studied."),
        ("", "Ada Lovelace was a mathematician.\nShe wrote a program."),
    ],
)
async def test_a_section_is_given_by_its_name(http: Any, clock: ManualClock, section: str, text: str) -> None:
    async with serving(ADA) as server:
        result = await toolkit.execute(page_over(http, server, clock), {"title": "Ada", "section": section})

    assert result.value.text == text
    assert f"\n{text}\n" in result.content


async def test_the_whole_article_is_given_for_all(http: Any, clock: ManualClock) -> None:
    async with serving(ADA) as server:
        result = await toolkit.execute(page_over(http, server, clock), {"title": "Ada", "section": "all"})

    assert result.content.startswith("Ada Lovelace — whole article\n")
    assert "== Work ==\nNotes." in result.value.text


async def test_a_section_without_text_says_why(http: Any, clock: ManualClock) -> None:
    async with serving(ADA) as server:
        result = await toolkit.execute(page_over(http, server, clock), {"title": "Ada", "section": "References"})

    assert not result.is_error
    assert "this part has no text" in result.content


async def test_a_section_that_is_not_there_is_not_found_and_the_others_are_named(http: Any, clock: ManualClock) -> None:
    async with serving(ADA) as server:
        result = await toolkit.execute(page_over(http, server, clock), {"title": "Ada", "section": "Death"})

    assert result.is_error
    assert result.content == (
        'not found: "Ada Lovelace" has no section "Death". Its sections: Life; Childhood; Work; References.'
    )


async def test_a_long_text_comes_in_pieces_that_say_how_to_go_on(http: Any, clock: ManualClock) -> None:
    pieces: list[str] = []
    async with serving(long_page(1_000)) as server:
        tool = page_over(http, server, clock)
        offset: int | None = 0
        while offset is not None:
            result = await toolkit.execute(tool, {"title": "Long", "max_chars": 300, "offset": offset})
            assert len(result.value.text) <= 300
            pieces.append(result.value.text)
            offset = result.value.next_offset
            assert ("truncated" in result.content) is (offset is not None)
            if offset is not None:
                assert f"{999 - offset} more characters; continue with offset={offset}" in result.content

    assert "".join(pieces) == ("word " * 200).strip()
    assert len(server.requests) == 1


async def test_the_sections_are_listed_with_the_first_piece_only(http: Any, clock: ManualClock) -> None:
    extract = f"{'word ' * 50}\n== Life ==\n{'word ' * 50}"
    async with serving(page_answer({"title": "Long", "extract": extract})) as server:
        tool = page_over(http, server, clock)
        asked = {"title": "Long", "section": "all", "max_chars": 200}
        first = await toolkit.execute(tool, asked)
        second = await toolkit.execute(tool, {**asked, "offset": first.value.next_offset})

    assert "\nsections: Life\n" in first.content
    assert "sections:" not in second.content
    assert second.value.sections == first.value.sections


async def test_an_offset_past_the_end_is_refused_with_the_length(http: Any, clock: ManualClock) -> None:
    async with serving(long_page(1_000)) as server:
        result = await toolkit.execute(page_over(http, server, clock), {"title": "Long", "offset": 999})

    assert result.is_error
    assert "offset 999 is past the end: this text has 999 characters" in result.content


@pytest.mark.parametrize(
    ("arguments", "note", "length"),
    [
        ({"max_chars": 1}, "max_chars has to be 100 to 30000, so 100 was used instead of 1", 100),
        ({"max_chars": 50_000}, "max_chars has to be 100 to 30000, so 30000 was used instead of 50000", 30_000),
        ({"offset": -5}, "offset can't be under 0, so 0 was used instead of -5", 8_000),
    ],
)
async def test_numbers_out_of_range_are_moved_into_it_with_a_note(
    http: Any, clock: ManualClock, arguments: dict[str, int], note: str, length: int
) -> None:
    async with serving(long_page(60_000)) as server:
        result = await toolkit.execute(page_over(http, server, clock), {"title": "Long", **arguments})

    assert f"note: {note}" in result.content
    assert length * 0.8 <= len(result.value.text) <= length


async def test_the_longest_piece_in_a_wide_script_is_not_cut_by_the_toolkit(http: Any, clock: ManualClock) -> None:
    async with serving(page_answer({"title": "長", "extract": "長い文" * 20_000})) as server:
        result = await toolkit.execute(page_over(http, server, clock), {"title": "長", "max_chars": 30_000})

    assert result.value.text in result.content


async def test_redirects_and_other_spellings_are_told(http: Any, clock: ManualClock) -> None:
    redirects = [{"from": "Countess", "to": "Ada Lovelace", "tofragment": "Life"}]
    async with serving(
        [
            page_answer({"title": "Ada Lovelace", "extract": "A."}, redirects=redirects),
            page_answer({"title": "Ada Lovelace", "extract": "A."}, normalized=[{"from": "ada", "to": "Ada"}]),
        ]
    ) as server:
        tool = page_over(http, server, clock)
        first = await toolkit.execute(tool, {"title": "Countess"})
        second = await toolkit.execute(tool, {"title": "ada_Lovelace"})

    assert 'note: redirected from "Countess", to its section "Life"\n' in first.content
    assert 'note: the title "ada_Lovelace" was read as "Ada Lovelace"\n' in second.content


async def test_a_disambiguation_page_answers_with_choices(http: Any, clock: ManualClock) -> None:
    titles = [f"Mercury {number:02}" for number in range(12)]
    page = {
        "title": "Mercury",
        "pageprops": {"disambiguation": ""},
        "extract": "Mercury may refer to:\nMercury 03, a probe",
        "links": [{"ns": 0, "title": title} for title in titles],
    }
    async with serving(page_answer(page)) as server:
        result = await toolkit.execute(page_over(http, server, clock), {"title": "Mercury"})

    assert not result.is_error
    assert result.value.is_disambiguation
    assert len(result.value.choices) == 12
    assert result.content.startswith("Mercury — a disambiguation page\n")
    assert "\n- Mercury 03 — a probe\n- Mercury 00\n" in result.content
    assert 'and 2 more; section="all" gives the whole list' in result.content


async def test_a_missing_page_is_an_error_result_with_near_titles(http: Any, clock: ManualClock) -> None:
    near = search_answer("Ada Lovelace")
    async with serving(lambda request: near if "srsearch" in request.params else MISSING) as server:
        result = await toolkit.execute(page_over(http, server, clock), {"title": "Ada Lovelase"})

    assert result.is_error
    assert isinstance(result.error, ServiceError)
    assert result.content == str(result.error)
    assert result.content.endswith("Near titles: Ada Lovelace.")


async def test_without_a_contact_the_tools_answer_not_configured(http: Any, clock: ManualClock) -> None:
    async with serving(ADA) as server:
        page = await toolkit.execute(page_over(http, server, clock, contact=None), {"title": "Ada"})
        search = await toolkit.execute(search_over(http, server, clock, contact=None), {"query": "ada"})

    assert page.is_error
    assert search.is_error
    assert page.content == search.content
    assert page.content.startswith("not configured: ")
    assert "\n" not in page.content


@pytest.mark.parametrize(
    "reply",
    [
        Reply(f"who are you, {CONTACT}", status=403),
        Reply(status=429, headers={"Retry-After": "60"}),
        Reply({"error": {"code": "x", "info": f"line\nline {CONTACT}"}}),
        Reply("<html>", status=502),
        Reply("<html>"),
    ],
    ids=["403", "429", "error body", "502", "html"],
)
async def test_every_failure_is_one_line_for_the_model_without_the_contact(
    http: Any, clock: ManualClock, reply: Reply
) -> None:
    async with serving(reply) as server:
        result = await toolkit.execute(page_over(http, server, clock), {"title": "Ada"})

    assert result.is_error
    assert "\n" not in result.content
    assert CONTACT not in result.content
    assert server.url not in result.content
    assert isinstance(result.error, ServiceError)


async def test_recorded_answers_read_well(http: Any, clock: ManualClock) -> None:
    async with serving(
        [recorded("search_python_programming_fv1.json"), recorded("extract_full_wiki_sections.json")]
    ) as server:
        found = await toolkit.execute(search_over(http, server, clock), {"query": "python", "limit": 3})
        title = found.value.results[0].title
        page = await toolkit.execute(page_over(http, server, clock), {"title": title, "section": "History"})

    assert found.content.startswith('3 of 6045 results for "python"')
    assert page.content.startswith('Python (programming language) — section "History"\n')
    assert "sections: History; Design philosophy and features;" in page.content
    assert len(page.content) < 10_000
