"""Each recorded answer of Wikipedia, served with its status and headers: the right values, or the named error."""

from __future__ import annotations

from typing import Any

import pytest

import toolkit
from builtin_tools.http import ServiceError
from builtin_tools.wikipedia import Choice, WikipediaPage, WikipediaSearch, WikipediaText
from tests.builtin_tools.wikipedia.answers import client_over, recorded
from tests.http.clients import ManualClock
from tests.http.loopback import Reply, serving
from tests.shared_files import names_in

PYTHON = "https://en.wikipedia.org/wiki/Python_(programming_language)"
CALLS: dict[str, Any] = {
    "search": (WikipediaSearch, {"query": "python programming", "limit": 20}),
    "page": (WikipediaPage, {"title": "Python_(programming_language)"}),
}

# What is asked, and fields of the value.
VALUES: list[Any] = [
    pytest.param(
        "search_python_programming_fv1.json",
        "search",
        {
            "total": 6045,
            "titles": [
                "Python (programming language)",
                "History of Python",
                "Outline of the Python programming language",
                "Python syntax and semantics",
                "Mojo (programming language)",
                "Core Python Programming",
                "Zen of Python",
                "Flask (web framework)",
                "Glob (programming)",
                "Python",
            ],
            "words": [11448, 4262, 837, 7865, 1480, 316, 1130, 831, 2499, 317],
            "first": [
                (
                    "Python (programming language)",
                    PYTHON,
                    "2026-03-25 15:46:00+00:00",
                    "Python is a high-level, general-purpose programming language. Its design philosophy emphasizes "
                    "code readability with the use of significant indentation",
                )
            ],
        },
        id="a search of version 1",
    ),
    pytest.param(
        "android_full_text_search_results.json",
        "search",
        {"total": None, "third": [("Queens", "borough of New York City, New York, United States")], "count": 20},
        id="a search by generator, whose order is in its index",
    ),
    pytest.param(
        "android_prefix_search_results_empty.json",
        "search",
        {"titles": [], "total": None, "content": 'No results for "python programming" (Wikipedia, language en).'},
        id="an empty search",
    ),
    pytest.param(
        "extract_full_wiki_sections.json",
        "page",
        {
            "title": "Python (programming language)",
            "url": PYTHON,
            "normalized_from": "Python_(programming_language)",
            "redirected_from": None,
            "section": "intro",
            "is_disambiguation": False,
            "headings": [
                ("History", 2),
                ("Design philosophy and features", 2),
                ("Syntax and semantics", 2),
                ("Indentation", 3),
            ],
            "sections_count": 28,
            "starts": "Python is a high-level, general-purpose programming language. Its design philosophy",
        },
        id="a whole article",
    ),
    pytest.param(
        "page_info_with_warnings.json",
        "page",
        {"title": "Python (programming language)", "url": PYTHON, "text": "", "is_disambiguation": False},
        id="a page with warnings",
    ),
    pytest.param(
        "disambiguation_query.json",
        "page",
        {
            "title": "Douglas Adams (disambiguation)",
            "url": "https://en.wikipedia.org/wiki/Douglas_Adams_(disambiguation)",
            "is_disambiguation": True,
            "first_choices": (
                Choice("Douglas Adams", "was an English writer and dramatist."),
                Choice("Douglas Adams (engineer)", "American engineer"),
                Choice("Douglas Q. Adams", "Indo-Europeanist professor of English"),
            ),
            "choices_count": 10,
        },
        id="a disambiguation page",
    ),
]

ERRORS: list[Any] = [
    pytest.param(
        "error_nosrsearch_fv1.json", {"search", "page"}, "invalid_input", "nosrsearch", "must be set", id="error"
    ),
    pytest.param(
        "android_api_error.json", {"search", "page"}, "unavailable", "unknown_action", "oscillate", id="errors"
    ),
    pytest.param(
        "page_missing_pageid_minus1.json", {"page"}, "not_found", "missing", "has no page", id="a missing page"
    ),
    pytest.param(
        "android_rb_page_summary_valid.json",
        {"search", "page"},
        "malformed_response",
        None,
        "no answer to the question",
        id="another API's answer",
    ),
]


def test_every_recorded_answer_has_its_test() -> None:
    assert set(names_in("payloads/wikipedia", "*")) <= {case.values[0] for case in (*VALUES, *ERRORS)}


@pytest.mark.parametrize(("name", "operation", "expected"), VALUES)
async def test_a_recorded_answer_is_read_by_value(
    http: Any, clock: ManualClock, name: str, operation: str, expected: dict[str, Any]
) -> None:
    tool, arguments = CALLS[operation]
    async with serving(recorded(name)) as server:
        result = await toolkit.execute(tool(client_over(http, server, clock)), arguments)

    assert not result.is_error, result.content
    seen = _facts(result)
    assert {field: seen[field] for field in expected} == expected


def _facts(result: Any) -> dict[str, Any]:
    value = result.value
    facts = {field: getattr(value, field) for field in value.__dataclass_fields__} | {"content": result.content}
    if isinstance(value, WikipediaText):
        return facts | {
            "headings": [(heading.title, heading.level) for heading in value.sections[:4]],
            "sections_count": len(value.sections),
            "starts": value.text[:83],
            "first_choices": value.choices[:3],
            "choices_count": len(value.choices),
        }
    return facts | {
        "titles": [one.title for one in value.results],
        "words": [one.words for one in value.results],
        "count": len(value.results),
        "first": [(one.title, one.url, str(one.updated), one.snippet) for one in value.results[:1]],
        "third": [(one.title, one.description) for one in value.results[2:3]],
    }


@pytest.mark.parametrize("operation", CALLS)
@pytest.mark.parametrize(("name", "operations", "kind", "code", "text"), ERRORS)
async def test_a_recorded_failure_is_the_named_error(
    http: Any, clock: ManualClock, name: str, operations: set[str], kind: str, code: str, text: str, operation: str
) -> None:
    tool, arguments = CALLS[operation]
    headers = {"MediaWiki-API-Error": code} if code else {}
    async with serving(Reply(recorded(name).body, headers=headers)) as server:
        result = await toolkit.execute(tool(client_over(http, server, clock)), arguments)

    if operation not in operations:
        assert not result.is_error
        return
    assert isinstance(result.error, ServiceError)
    assert (result.error.kind, result.error.code, result.error.status) == (kind, code, 200)
    assert text in result.content
    assert "\n" not in result.content


@pytest.mark.parametrize(("name", "operation", "_"), VALUES)
@pytest.mark.parametrize("more", [{}, {"section": "all", "max_chars": 500}], ids=["default", "pieces"])
async def test_a_recorded_answer_keeps_its_bounds_and_can_be_cited(
    http: Any, clock: ManualClock, name: str, operation: str, _: Any, more: dict[str, Any]
) -> None:
    tool, arguments = CALLS[operation]
    limit = more.get("max_chars", 8_000)
    async with serving(recorded(name)) as server:
        result = await toolkit.execute(
            tool(client_over(http, server, clock)), arguments | (more if operation == "page" else {})
        )

    assert len(result.content) <= limit + 3_000
    if operation == "page":
        value = result.value
        assert len(value.text) <= limit
        assert ("\ntruncated: " in result.content) is (value.total_chars > len(value.text))
        assert result.content.splitlines()[-1].startswith(f'source: "{value.title}", {value.url}, language en')
    for one in getattr(result.value, "results", ()):
        assert f"{one.title}" in result.content
        assert f"\n{one.url}\n" in result.content
    if "No results" not in result.content:
        assert result.content.endswith("Wikipedia, CC BY-SA 4.0")
