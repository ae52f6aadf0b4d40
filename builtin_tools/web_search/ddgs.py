"""DuckDuckGo through the library `ddgs`, which reads the pages that people see. The extra `ddgs` brings it.

The library is synchronous and has a client of its own, so the application's HTTP client, its proxies and its overrides
don't reach it. It breaks when DuckDuckGo changes its pages, and DuckDuckGo's terms are against it. So it is never
chosen by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeVar, cast

from builtin_tools.http import ServiceError
from builtin_tools.web_search.protocol import Found, Hit, SearchQuery
from builtin_tools.web_search.queries import left_out, with_sites

__all__ = ["Ddgs", "DdgsLibrary", "SearchThread", "open_library"]

T = TypeVar("T")

_CHARS = 500
_BACKEND = "duckduckgo"  # one company is told the query; the library's own choice would ask up to ten


class DdgsLibrary(Protocol):
    """What is used of `ddgs.DDGS`."""

    def text(self, query: str, **settings: Any) -> list[dict[str, Any]]: ...

    def news(self, query: str, **settings: Any) -> list[dict[str, Any]]: ...


class SearchThread:
    """One thread, and so one search at a time. It ends when nobody holds it any more."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="toolwire-ddgs")

    async def run(self, work: Callable[[], T]) -> T:
        """What `work` gives. Work that waits is dropped when the caller is cancelled; work that runs goes on."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)


def open_library(timeout: float) -> DdgsLibrary:
    """The library, with so many seconds for each of its requests.

    Raises:
        ImportError: the extra is not installed.
    """
    import ddgs

    library: Any = ddgs  # it exports its class lazily, in a way that type checkers can't follow
    return cast("DdgsLibrary", library.DDGS(timeout=max(1, round(timeout))))


class Ddgs:
    """Searches DuckDuckGo, in a thread.

    Args:
        thread: Shared by an application's searches.
        timeout: Seconds to wait. The thread can't be stopped: it ends with the library's own request.
    """

    name = "DuckDuckGo"

    def __init__(
        self, thread: SearchThread, *, timeout: float, library: Callable[[float], DdgsLibrary] = open_library
    ) -> None:
        self._thread = thread
        self._timeout = timeout
        self._library = library

    async def search(self, query: SearchQuery) -> Found:
        text = with_sites(query, provider=self.name, chars=_CHARS)
        region, notes = _region(query)
        settings: dict[str, Any] = {"max_results": query.max_results, "backend": _BACKEND, "region": region}
        if query.recency != "none":
            settings["timelimit"] = query.recency[0]
        try:
            async with asyncio.timeout(self._timeout):
                found = await self._thread.run(lambda: self._ask(text, settings, is_news=query.topic == "news"))
        except TimeoutError as error:
            raise self._failure(
                "unavailable", f"did not answer within {self._timeout:g} seconds", is_temporary=True
            ) from error
        if not found:
            # The library says the same when it was turned away, which DuckDuckGo does with a status of 202.
            return Found((), (*notes, "DuckDuckGo may have turned the search away: the library `ddgs` can't tell"))
        return Found(tuple(_hit(each) for each in found), notes)

    def _ask(self, text: str, settings: dict[str, Any], *, is_news: bool) -> list[dict[str, Any]]:
        """In the thread. The texts of the library's exceptions hold the query, and stay with the developer."""
        try:
            library = self._library(self._timeout)
        except ImportError as error:
            raise self._failure(
                "not_configured",
                "needs the library `ddgs`, which is not installed",
                advice="Tell the user to run: pip install 'toolwire[ddgs]'",
            ) from error
        try:
            return library.news(text, **settings) if is_news else library.text(text, **settings)
        except Exception as error:
            names = {cls.__name__ for cls in type(error).__mro__}
            if "RatelimitException" in names:
                raise self._failure("rate_limited", "allows no more searches for now", is_temporary=True) from error
            if "TimeoutException" in names:
                raise self._failure("unavailable", "did not answer in time", is_temporary=True) from error
            if "DDGSException" in names and "No results found" in str(error):
                return []
            raise self._failure("unavailable", "could not be searched") from error

    def _failure(self, kind: Any, cause: str, **more: Any) -> ServiceError:
        return ServiceError(kind, f"{self.name} {cause}", provider=self.name, operation="search", **more)


def _region(query: SearchQuery) -> tuple[str, tuple[str, ...]]:
    """DuckDuckGo's regions are a country with a language, such as `at-de`; `wt-wt` is the whole world."""
    if query.country and query.language:
        country = {"GB": "uk"}.get(query.country, query.country.lower())
        return f"{country}-{query.language.partition('-')[0].lower()}", ()
    asked = (("country without a language", query.country), ("language without a country", query.language))
    return "wt-wt", left_out(Ddgs.name, *asked)


def _hit(entry: dict[str, Any]) -> Hit:
    fields = {name: value for name, value in entry.items() if isinstance(value, str)}
    return Hit(fields.get("title"), fields.get("href") or fields.get("url"), fields.get("body"), fields.get("date"))
