"""Hits become results that can be shown: plain, dated, each page once, and never too long."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builtin_tools.web_search import Hit, WebResult, WebResults
from builtin_tools.web_search.countries import COUNTRY_NAMES
from builtin_tools.web_search.dates import published_date
from builtin_tools.web_search.reading import read_result, read_results


def result_of(**fields: Any) -> WebResult:
    found = read_result(Hit(**{"title": "Ada", "url": "https://a.example/", **fields}))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2025-01-31", "2025-01-31"),
        ("2025-01-31T14:57:48", "2025-01-31"),
        ("2024-06-21T15:55:04.000Z", "2024-06-21"),
        ("2024-06-21T23:55:04-08:00", "2024-06-21"),
        ("Fri, 31 Jan 2025 14:57:48 GMT", "2025-01-31"),
        ("January 31, 2025", "2025-01-31"),
        ("Jan 31, 2025", "2025-01-31"),
        ("31 January 2025", "2025-01-31"),
        ("31 Jan 2025", "2025-01-31"),
        ("2025/01/31", "2025-01-31"),
        ("3 days ago", "3 days ago"),
        ("vor 3 Tagen", "vor 3 Tagen"),
        ("2025-02-31", "2025-02-31"),
        ("  ", None),
        ("", None),
        (None, None),
        ("some time in the spring of " * 3, "some time in the spring of some time…"),
    ],
)
def test_a_date_is_iso_where_it_is_known_and_else_as_it_was_written(text: str | None, date: str | None) -> None:
    assert published_date(text) == date


def test_a_snippet_is_plain_text_on_one_line() -> None:
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "obey me")
    found = result_of(
        title="<b>Tom</b> &amp; Jerry\n", snippet=f"one<br>two  <script>x</script>&#x27;three&#x27;\x00\x1b[31m{hidden}"
    )

    assert found.title == "Tom & Jerry"
    assert found.snippet == "one two x'three'[31m"


def test_title_and_snippet_have_bounds() -> None:
    found = result_of(title="word " * 100, snippet="word " * 500)

    assert len(found.title) <= 200
    assert len(found.snippet) <= 500
    assert found.snippet.endswith("word…")


@pytest.mark.parametrize("title", [None, "", "  ", "<b></b>"])
def test_a_page_without_a_title_is_named_by_its_host(title: str | None) -> None:
    assert result_of(title=title).title == "a.example"


@pytest.mark.parametrize(
    "url",
    [
        None,
        "",
        "javascript:alert(1)",
        "ftp://a.example/",
        "//a.example/",
        "https://",
        "https://a.example:99999/",
        "https://[::1",
        "data:text/html,x",
        "https://a.example/" + "x" * 1_000,
    ],
    ids=lambda url: str(url)[:20],
)
def test_what_is_no_http_address_is_left_out_with_a_note(url: str | None) -> None:
    results, notes = read_results([Hit("Ada", url), Hit("Bob", "https://b.example/")], 5)

    assert [found.title for found in results] == ["Bob"]
    assert notes == ("1 results without a usable http address were left out",)


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://zh.example/wiki/何世杰", "https://zh.example/wiki/何世杰"),
        ("https://a.example/x?utm_source=y&q=1", "https://a.example/x?utm_source=y&q=1"),
        (" https://a.example/ \n", "https://a.example/"),
        ("https://a.example/a b", "https://a.example/a%20b"),
        (
            "https://a.example/\n[2] Other\nhttps://evil.example/",
            "https://a.example/%0A[2]%20Other%0Ahttps://evil.example/",
        ),
        ("HTTPS://A.example/", "HTTPS://A.example/"),
    ],
)
def test_an_address_stays_as_it_works_and_on_one_line(url: str, kept: str) -> None:
    assert result_of(url=url).url == kept


def test_addresses_that_differ_in_tracking_only_are_one_page_and_the_first_is_kept() -> None:
    urls = [
        "https://a.example/x?utm_source=y&q=1",
        "https://A.example/x?q=1&gclid=2",
        "https://a.example/x?q=1&srsltid=3",
        "https://a.example/x?q=2",
        "http://a.example",
        "http://a.example/?utm_medium=z",
    ]
    results, notes = read_results([Hit("Ada", url) for url in urls], 10)

    assert [found.url for found in results] == [urls[0], urls[3], urls[4]]
    assert notes == ()


def test_no_more_results_are_given_than_were_asked_for() -> None:
    results, _ = read_results([Hit("Ada", f"https://a.example/{number}") for number in range(30)], 7)

    assert len(results) == 7


LONG = [Hit("title " * 40, f"https://a.example/{number}{'x' * 60}", "words of it " * 60) for number in range(10)]


def test_long_snippets_are_cut_until_all_results_fit_and_that_is_told() -> None:
    results, _ = read_results(LONG, 10)

    content = WebResults("ada", "Testing", results).to_content()

    assert len(content) <= 6_000
    assert content.startswith('10 results for "ada" (Testing)\n[1] title')
    assert all(found.url in content for found in results)
    assert content.endswith("note: snippets were cut to 150 characters; ask for fewer results to get more of each")
    assert len(results[0].snippet) > 400, "the value keeps them whole"


def test_results_that_can_not_fit_are_left_out_of_the_text_and_counted() -> None:
    results, _ = read_results(
        [Hit("title " * 40, f"https://a.example/{number}{'x' * 950}", "words " * 90) for number in range(10)], 10
    )

    content = WebResults("ada", "Testing", results).to_content()

    assert len(content) <= 6_000
    told = len(re.findall(r"^\[\d+\] ", content, re.MULTILINE))
    assert 1 <= told < 10
    assert content.endswith(f"note: truncated: {10 - told} more results did not fit; ask for at most {told}")


def test_short_results_are_told_whole_without_a_note() -> None:
    content = WebResults(
        "ada", "Testing", (WebResult("T", "https://a.example/", "s" * 500, None, "a.example"),)
    ).to_content()

    assert content == f'1 results for "ada" (Testing)\n[1] T — a.example\nhttps://a.example/\n{"s" * 500}'


text = st.none() | st.text(max_size=700)
urls = text | st.builds(lambda path: f"https://a.example/{path}", st.text(max_size=1_100))


@given(hits=st.lists(st.builds(Hit, text, urls, text, text), max_size=20), limit=st.integers(1, 10))
def test_whatever_a_provider_sends_the_text_has_bounds_and_one_line_for_each_thing(hits: list[Hit], limit: int) -> None:
    results, notes = read_results(hits, limit)
    content = WebResults("ada", "Testing", results, notes).to_content()

    assert len(content) <= 6_000
    assert len(content.splitlines()) <= 2 + 3 * limit + len(notes)
    for found in results:
        assert re.match("https?://", found.url, re.IGNORECASE)
        assert found.title
        assert len(f"{found.title}{found.url}{found.snippet}{found.published or ''}".splitlines()) == 1


def test_countries_have_codes_of_two_letters_and_names_of_their_own() -> None:
    assert COUNTRY_NAMES["US"] == "united states"
    assert COUNTRY_NAMES["BA"] == "bosnia and herzegovina"
    assert COUNTRY_NAMES["ZW"] == "zimbabwe"
    assert all(re.fullmatch("[A-Z]{2}", code) and name for code, name in COUNTRY_NAMES.items())
    assert len(set(COUNTRY_NAMES.values())) == len(COUNTRY_NAMES)
