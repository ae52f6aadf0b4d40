"""Tavily: https://docs.tavily.com/documentation/api-reference/endpoint/search"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from msgspec import Struct

from builtin_tools.http import Answer, ErrorKind, ServiceError
from builtin_tools.web_search.connection import Connection, error_body
from builtin_tools.web_search.countries import COUNTRY_NAMES
from builtin_tools.web_search.protocol import Found, Hit, SearchQuery
from builtin_tools.web_search.queries import left_out

__all__ = ["Tavily"]

# 432 and 433 are Tavily's own: the plan's limit, and that of paying as one goes.
_KINDS: dict[int, ErrorKind] = {432: "quota_exhausted", 433: "quota_exhausted"}


class _Result(Struct, frozen=True):
    title: str | None = None
    url: str | None = None
    content: str | None = None
    published_date: str | None = None


class _Body(Struct, frozen=True):
    results: tuple[_Result, ...]


class _KeylessError(Struct, frozen=True):
    code: str | int = ""
    message: str = ""
    retry_after_seconds: float | None = None


class _Failure(Struct, frozen=True):
    detail: Any = None
    error: _KeylessError | str | None = None


class Tavily:
    """Searches with a key, or without one where that is allowed: Tavily's answers are the same, its limits lower.
    https://docs.tavily.com/documentation/keyless"""

    name = "Tavily"

    def __init__(self, connection: Connection, *, allow_keyless: bool) -> None:
        self._connection = connection
        self._allow_keyless = allow_keyless

    async def search(self, query: SearchQuery) -> Found:
        body: dict[str, Any] = {"query": query.text, "max_results": query.max_results, "topic": query.topic}
        if query.recency != "none":
            body["time_range"] = query.recency
        if query.include_domains:
            body["include_domains"] = query.include_domains
        if query.exclude_domains:
            body["exclude_domains"] = query.exclude_domains
        notes = left_out(self.name, ("language", query.language))
        country = COUNTRY_NAMES.get(query.country or "")
        if country and query.topic == "general":
            body["country"] = country
        elif query.country:
            notes = (*notes, f"Tavily has no {query.topic} results by the country {query.country}; it was left out")
        found = await self._connection.post("/search", body, self._read, self._access())
        return Found(
            tuple(Hit(each.title, each.url, each.content, each.published_date) for each in found.results), notes
        )

    def _access(self) -> dict[str, str]:
        account = self._connection.account
        if account.api_key is None and self._allow_keyless:
            return {"X-Tavily-Access-Mode": "keyless"}
        return {"Authorization": f"Bearer {account.key()}"}

    def _read(self, answer: Answer) -> _Body:
        if 200 <= answer.status < 300:
            return answer.json(_Body)
        raise self._failure(answer)

    def _failure(self, answer: Answer) -> ServiceError:
        body = error_body(answer, _Failure) or _Failure()
        kind = _KINDS.get(answer.status)
        if isinstance(body.error, _KeylessError):
            asked = body.error.retry_after_seconds
            if asked is not None and answer.retry_after is None and asked >= 0:
                answer = replace(answer, retry_after=asked)
            setting = self._connection.account.setting
            return answer.refusal(
                body.error.message,
                kind=kind,
                code=str(body.error.code) or None,
                advice=f"Wait, or tell the user to set {setting}: without a key few searches are allowed."
                if answer.status == 429
                else None,
            )
        return answer.refusal(body.error or _words_of(body.detail), kind=kind)


def _words_of(detail: Any) -> str:
    """The text of `detail`, which is a text, an object with one, or a list of what is wrong with each parameter."""
    rows = cast("list[Any]", detail) if isinstance(detail, list) else [detail]
    return "; ".join(filter(None, map(_word_of, rows)))


def _word_of(row: Any) -> str:
    if isinstance(row, dict):
        fields = cast("dict[str, Any]", row)
        row = fields.get("error") or fields.get("msg")
    return row if isinstance(row, str) else ""
