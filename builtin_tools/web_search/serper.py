"""Serper, which resells the results of Google: https://serper.dev"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from builtin_tools.http import Answer, ErrorKind, ServiceError
from builtin_tools.web_search.connection import Connection, body_with, error_body
from builtin_tools.web_search.protocol import Found, Hit, SearchQuery
from builtin_tools.web_search.queries import with_sites

__all__ = ["Serper"]

_CHARS = 2_000


class _Result(Struct, frozen=True):
    title: str | None = None
    link: str | None = None
    snippet: str | None = None
    date: str | None = None


class _Body(Struct, frozen=True):
    organic: tuple[_Result, ...] = ()
    news: tuple[_Result, ...] = ()


class _Failure(Struct, frozen=True):
    message: str = ""


class Serper:
    """Searches Google, the web or the news."""

    name = "Serper"

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def search(self, query: SearchQuery) -> Found:
        headers = {"X-API-KEY": self._connection.account.key()}
        # Ten results come anyway, and cost one credit; more are never needed.
        body: dict[str, Any] = {"q": with_sites(query, provider=self.name, chars=_CHARS)}
        if query.recency != "none":
            body["tbs"] = f"qdr:{query.recency[0]}"
        if query.country:
            body["gl"] = query.country.lower()
        if query.language:
            body["hl"] = query.language.lower()
        path = "/news" if query.topic == "news" else "/search"
        found = await self._connection.post(path, body, _read, headers)
        return Found(tuple(Hit(each.title, each.link, each.snippet, each.date) for each in found.organic or found.news))


def _read(answer: Answer) -> _Body:
    if 200 <= answer.status < 300:
        return body_with(answer, _Body, "organic", "news", "searchParameters")
    raise _failure(answer)


def _failure(answer: Answer) -> ServiceError:
    said = (error_body(answer, _Failure) or _Failure()).message
    is_used_up = answer.status == 400 and "credits" in said.lower()  # "Not enough credits" comes as 400
    kind: ErrorKind | None = "quota_exhausted" if is_used_up else None
    return answer.refusal(said, kind=kind)
