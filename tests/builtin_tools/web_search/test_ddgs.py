"""DuckDuckGo through the library `ddgs`: in one thread, in bounded time, and only when it is named."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import Any

import ddgs
import pytest
from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

import toolkit
from builtin_tools.http import ServiceError
from builtin_tools.web_search import SearchThread, WebSearch, checked_query
from builtin_tools.web_search.ddgs import Ddgs, open_library
from tests.builtin_tools.web_search.providers import client_over
from tests.http.clients import ManualClock
from tests.http.loopback import GUARD, Reply, serving

FOUND = [{"title": "<b>Ada</b>", "href": "https://a.example/", "body": "words"}, {"title": None, "href": "x"}]


class Library:
    """Stands where `ddgs.DDGS` stands, and answers what it is told."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, str, dict[str, Any]]] = []
        self.threads: list[str] = []

    def __call__(self, timeout: float) -> Library:
        return self

    def text(self, query: str, **settings: Any) -> list[dict[str, Any]]:
        return self._answer("text", query, settings)

    def news(self, query: str, **settings: Any) -> list[dict[str, Any]]:
        return self._answer("news", query, settings)

    def _answer(self, kind: str, query: str, settings: dict[str, Any]) -> list[dict[str, Any]]:
        self.asked.append((kind, query, settings))
        self.threads.append(threading.current_thread().name)
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        found: list[dict[str, Any]] = answer() if callable(answer) else answer
        return found


def searching(library: Library, *, timeout: float = GUARD, thread: SearchThread | None = None) -> Ddgs:
    return Ddgs(thread or SearchThread(), timeout=timeout, library=library)


async def test_a_search_runs_in_its_own_thread_and_asks_one_company() -> None:
    library = Library(FOUND)

    found = await searching(library).search(
        checked_query("ada", max_results=3, recency="week", country="gb", language="en", include_domains=["b.example"])
    )

    assert [hit.url for hit in found.hits] == ["https://a.example/", "x"]
    settings = {"max_results": 3, "backend": "duckduckgo", "region": "uk-en", "timelimit": "w"}
    assert library.asked == [("text", "ada site:b.example", settings)]
    assert library.threads == ["toolwire-ddgs_0"]


async def test_news_are_searched_as_news() -> None:
    library = Library([{"title": "Ada", "url": "https://a.example/", "body": "words", "date": "2025-01-31T10:00:00"}])

    found = await searching(library).search(checked_query("ada", max_results=3, topic="news"))

    assert library.asked[0][0] == "news"
    assert (found.hits[0].url, found.hits[0].published) == ("https://a.example/", "2025-01-31T10:00:00")


@pytest.mark.parametrize("setting", [{"country": "AT"}, {"language": "de"}])
async def test_a_region_needs_both_country_and_language(setting: dict[str, str]) -> None:
    library = Library(FOUND)

    found = await searching(library).search(checked_query("ada", max_results=3, **setting))  # type: ignore[arg-type]

    assert library.asked[0][2]["region"] == "wt-wt"
    assert "was left out" in found.notes[0]


async def test_the_librarys_error_of_no_results_is_an_empty_search_that_tells_the_doubt() -> None:
    found = await searching(Library(DDGSException("No results found."))).search(checked_query("ada", max_results=3))

    assert found.hits == ()
    assert "may have turned the search away" in found.notes[0]


@pytest.mark.parametrize(
    ("raised", "kind", "text"),
    [
        (RatelimitException("https://duckduckgo.com?q=ada 202"), "rate_limited", "allows no more searches for now"),
        (TimeoutException("https://duckduckgo.com?q=ada"), "unavailable", "did not answer in time"),
        (DDGSException("https://duckduckgo.com?q=ada"), "unavailable", "could not be searched"),
        (ValueError("https://duckduckgo.com?q=ada"), "unavailable", "could not be searched"),
        (ImportError("no ddgs"), "unavailable", "could not be searched"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
async def test_what_the_library_raises_is_a_failure_without_its_text(raised: Exception, kind: str, text: str) -> None:
    with pytest.raises(ServiceError) as caught:
        await searching(Library(raised)).search(checked_query("ada", max_results=3))

    assert caught.value.kind == kind
    assert text in str(caught.value)
    assert "q=ada" not in str(caught.value)
    assert caught.value.__cause__ is raised


async def test_without_the_extra_the_command_that_installs_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ddgs", None)

    result = await toolkit.execute(
        WebSearch(client_over(object(), {"web_search": {"provider": "ddgs"}})), {"query": "ada"}
    )

    assert result.content == (
        "not configured: DuckDuckGo needs the library `ddgs`, which is not installed. Tell the user to run: pip "
        "install 'toolwire[ddgs]'"
    )


class Hanging:
    """An answer of the library that comes when the test lets it."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.released = threading.Event()
        self._loop = asyncio.get_running_loop()

    def __call__(self) -> list[dict[str, Any]]:
        self._loop.call_soon_threadsafe(self.started.set)
        self.released.wait(GUARD)
        return FOUND

    async def until_started(self) -> None:
        async with asyncio.timeout(GUARD):
            await self.started.wait()


async def test_a_search_whose_thread_is_busy_is_given_up_after_its_timeout_and_never_run() -> None:
    hanging, library, thread = Hanging(), Library(FOUND), SearchThread()
    query = checked_query("ada", max_results=3)
    busy = asyncio.create_task(thread.run(hanging))
    await hanging.until_started()

    with pytest.raises(ServiceError, match=r"did not answer within 0\.05 seconds"):
        await searching(library, timeout=0.05, thread=thread).search(query)
    hanging.released.set()
    await busy

    assert await thread.run(lambda: len(library.asked)) == 0


async def test_a_cancelled_search_ends_at_once_and_the_next_one_waits_for_its_thread() -> None:
    hanging, thread = Hanging(), SearchThread()
    library = Library(hanging, FOUND)
    query = checked_query("ada", max_results=3)
    first = asyncio.create_task(searching(library, thread=thread).search(query))
    await hanging.until_started()

    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    second = asyncio.create_task(searching(library, thread=thread).search(query))
    await asyncio.sleep(0)
    assert len(library.asked) == 1
    hanging.released.set()
    await second

    assert len(library.asked) == 2


async def test_a_cancelled_search_that_still_waits_is_never_run() -> None:
    hanging, thread = Hanging(), SearchThread()
    library = Library(hanging, FOUND)
    query = checked_query("ada", max_results=3)
    first = asyncio.create_task(searching(library, thread=thread).search(query))
    await hanging.until_started()

    waiting = asyncio.create_task(searching(library, thread=thread).search(query))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    hanging.released.set()
    await first

    assert await thread.run(lambda: len(library.asked)) == 1


def test_the_library_that_is_installed_has_what_is_used_of_it() -> None:
    assert isinstance(open_library(0.2), ddgs.DDGS)


async def test_the_library_turned_away_by_its_proxy_is_a_failure_or_an_empty_search(
    monkeypatch: pytest.MonkeyPatch, clock: ManualClock
) -> None:
    """The real library, whose every request goes to a proxy on the loopback interface."""
    async with serving(Reply("no", status=403)) as server:
        monkeypatch.setenv("DDGS_PROXY", server.url)
        result = await toolkit.execute(
            WebSearch(client_over(object(), {"timeout": GUARD, "web_search": {"provider": "ddgs"}})), {"query": "ada"}
        )

    assert {request.method for request in server.requests} == {"CONNECT"}
    assert {request.target for request in server.requests} == {"html.duckduckgo.com:443"}
    assert result.is_error
    assert result.content.startswith("unavailable: DuckDuckGo could not be searched.")
