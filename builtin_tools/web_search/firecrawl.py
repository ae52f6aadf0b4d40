"""Firecrawl: https://docs.firecrawl.dev/api-reference/endpoint/search"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from builtin_tools.http import Answer, ServiceError
from builtin_tools.web_search.connection import Connection, body_with, error_body
from builtin_tools.web_search.protocol import Found, Hit, SearchQuery
from builtin_tools.web_search.queries import left_out, with_sites

__all__ = ["Firecrawl", "FirecrawlItem", "FirecrawlItems"]

_CHARS = 500


class FirecrawlItem(Struct, frozen=True):
    """A page, a piece of news or an image as Firecrawl writes it; everything may be missing."""

    url: str | None = None
    title: str | None = None
    description: str | None = None
    snippet: str | None = None
    category: str | None = None
    date: str | None = None
    imageUrl: str | None = None  # noqa: N815 - Firecrawl's spelling

    def hit(self) -> Hit:
        return Hit(self.title, self.url, self.description or self.snippet, self.date)


class FirecrawlItems(Struct, frozen=True):
    """What was found, by kind."""

    web: tuple[FirecrawlItem, ...] = ()
    news: tuple[FirecrawlItem, ...] = ()
    images: tuple[FirecrawlItem, ...] = ()


class _Body(Struct, frozen=True):
    data: FirecrawlItems | None = None
    success: bool = True
    error: str = ""


class Firecrawl:
    """Searches the web or the news; it reads no pages for it."""

    name = "Firecrawl"

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def search(self, query: SearchQuery) -> Found:
        body: dict[str, Any] = {"limit": query.max_results, "sources": ["news" if query.topic == "news" else "web"]}
        if query.recency != "none":
            body["tbs"] = f"qdr:{query.recency[0]}"
        if query.country:
            body["country"] = query.country
        found = await self.items(query, body)
        return Found(
            tuple(item.hit() for item in found.news or found.web), left_out(self.name, ("language", query.language))
        )

    async def items(self, query: SearchQuery, body: Mapping[str, Any]) -> FirecrawlItems:
        """The results of the query's text and domains; the rest of the request is in Firecrawl's own words."""
        headers = {"Authorization": f"Bearer {self._connection.account.key()}"}
        return await self._connection.post("/v2/search", {**_domains(query), **body}, _read, headers)


def _domains(query: SearchQuery) -> dict[str, Any]:
    """The query with its domains. Firecrawl takes one of its two lists at a time, so both go into the query."""
    if query.include_domains and query.exclude_domains:
        return {"query": with_sites(query, provider=Firecrawl.name, chars=_CHARS)}
    lists = {"includeDomains": query.include_domains, "excludeDomains": query.exclude_domains}
    return {"query": query.text, **{name: names for name, names in lists.items() if names}}


def _read(answer: Answer) -> FirecrawlItems:
    if not 200 <= answer.status < 300:
        raise _failure(answer)
    body = body_with(answer, _Body, "data", "error")
    if not body.success or body.error:
        raise answer.refusal(body.error or "no success", kind="unavailable")
    return body.data or FirecrawlItems()


def _failure(answer: Answer) -> ServiceError:
    return answer.refusal((error_body(answer, _Body) or _Body()).error)
