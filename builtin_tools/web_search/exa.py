"""Exa: https://docs.exa.ai/reference/search"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec import Struct

from builtin_tools.http import Answer, ErrorKind, ServiceError
from builtin_tools.web_search.connection import Connection, error_body
from builtin_tools.web_search.protocol import Found, Hit, SearchQuery
from builtin_tools.web_search.queries import left_out

__all__ = ["Exa", "ExaPage"]

_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}
_KINDS: dict[str, ErrorKind] = {
    "NO_MORE_CREDITS": "quota_exhausted",
    "API_KEY_BUDGET_EXCEEDED": "quota_exhausted",
    "INVALID_REQUEST_BODY": "invalid_input",
    "INVALID_API_KEY": "unauthorized",
}


class ExaPage(Struct, frozen=True):
    """A result as Exa writes it; everything may be missing."""

    url: str | None = None
    title: str | None = None
    publishedDate: str | None = None  # noqa: N815 - Exa's spelling
    author: str | None = None
    score: float | None = None
    highlights: tuple[str, ...] | None = None
    text: str | None = None

    @property
    def passages(self) -> str:
        """What is quoted of the page."""
        return " … ".join(self.highlights or ()) or self.text or ""


class _Body(Struct, frozen=True):
    results: tuple[ExaPage, ...]


class _Failure(Struct, frozen=True):
    error: Any = None
    message: Any = None
    tag: str | None = None


class Exa:
    """Searches by meaning, in Exa's index."""

    name = "Exa"

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def search(self, query: SearchQuery) -> Found:
        body: dict[str, Any] = {"query": query.text, "numResults": query.max_results}
        if query.recency != "none":
            now = datetime.fromtimestamp(self._connection.clock.now(), UTC)
            since = now - timedelta(days=_DAYS[query.recency])
            body["startPublishedDate"] = since.strftime("%Y-%m-%dT%H:%M:%S.000Z")
        if query.include_domains:
            body["includeDomains"] = query.include_domains
        if query.exclude_domains:
            body["excludeDomains"] = query.exclude_domains
        if query.topic == "news":
            body["category"] = "news"
        if query.country:
            body["userLocation"] = query.country
        pages = await self.pages(body)
        return Found(
            tuple(Hit(page.title, page.url, page.passages, page.publishedDate) for page in pages),
            left_out(self.name, ("language", query.language)),
        )

    async def pages(self, body: Mapping[str, Any]) -> tuple[ExaPage, ...]:
        """The results of a request in Exa's own words; passages of each page come with it."""
        headers = {"x-api-key": self._connection.account.key()}
        asked = {**body, "contents": {"highlights": True}}
        return (await self._connection.post("/search", asked, _read, headers)).results


def _read(answer: Answer) -> _Body:
    if 200 <= answer.status < 300:
        return answer.json(_Body)
    raise _failure(answer)


def _failure(answer: Answer) -> ServiceError:
    """Old errors are `{error, message, statusCode}`, new ones `{requestId, error, tag}`."""
    body = error_body(answer, _Failure) or _Failure()
    said = [text for text in (body.error, body.message) if isinstance(text, str)]
    return answer.refusal(": ".join(said), kind=_KINDS.get(body.tag or ""), code=body.tag)
