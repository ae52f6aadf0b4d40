"""SearXNG, a search engine that one runs oneself: https://docs.searxng.org/dev/search_api.html"""

from __future__ import annotations

import base64
from typing import Any

from msgspec import Struct

from builtin_tools.http import Answer, ServiceError
from builtin_tools.text import one_line, shortened
from builtin_tools.web_search.connection import Connection
from builtin_tools.web_search.protocol import Found, Hit, SearchQuery
from builtin_tools.web_search.queries import left_out, with_sites

__all__ = ["Searxng"]

_CHARS = 2_000
_ENGINES_TOLD = 5


class _Result(Struct, frozen=True):
    title: str | None = None
    url: str | None = None
    content: str | None = None
    publishedDate: str | None = None  # noqa: N815 - SearXNG's spelling


class _Body(Struct, frozen=True):
    results: tuple[_Result, ...]
    unresponsive_engines: tuple[tuple[Any, ...], ...] = ()  # each with its name and the reason


class Searxng:
    """Searches through an instance of SearXNG, which asks the engines that it is set up with."""

    name = "SearXNG"

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def search(self, query: SearchQuery) -> Found:
        params = {
            "q": with_sites(query, provider=self.name, chars=_CHARS),
            "format": "json",
            "categories": query.topic,
        }
        if query.recency != "none":
            params["time_range"] = query.recency
        if query.language:
            country = f"-{query.country}" if query.country and "-" not in query.language else ""
            params["language"] = f"{query.language}{country}"
        notes = () if query.language else left_out(self.name, ("country without a language", query.country))
        body = await self._connection.get("/search", params, _read, self._login())
        silent = "; ".join(map(_engine, body.unresponsive_engines[:_ENGINES_TOLD]))
        if silent and not body.results:
            # Nothing found and nothing searched look alike, and a model would take the one for the other.
            raise ServiceError(
                "unavailable",
                f"SearXNG found nothing, but {len(body.unresponsive_engines)} of its engines gave no answer ({silent})",
                provider=self.name,
                operation="search",
                status=200,
            )
        if silent:
            notes = (*notes, f"some engines gave no answer: {silent}")
        return Found(tuple(Hit(each.title, each.url, each.content, each.publishedDate) for each in body.results), notes)

    def _login(self) -> dict[str, str]:
        login = self._connection.account.api_key
        if login is None:
            return {}
        key = login.reveal()
        if ":" not in key:
            return {"Authorization": f"Bearer {key}"}
        return {"Authorization": f"Basic {base64.b64encode(key.encode()).decode()}"}


def _engine(entry: tuple[Any, ...]) -> str:
    return shortened(one_line(": ".join(map(str, entry))), 60)


def _read(answer: Answer) -> _Body:
    if answer.status == 403:
        raise answer.refusal(
            "JSON is refused here, or this caller is",
            advice="Tell the user to add `json` to `search.formats` in the settings of this SearXNG; do not retry.",
        )
    answer.check_status()
    return answer.json(_Body)
