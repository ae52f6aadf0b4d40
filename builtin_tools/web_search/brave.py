"""Brave: https://api-dashboard.search.brave.com/app/documentation/web-search/get-started"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from msgspec import Struct, field

from builtin_tools.http import Answer, ErrorKind, ServiceError
from builtin_tools.web_search.connection import Connection, body_with, error_body
from builtin_tools.web_search.protocol import Found, Hit, SearchQuery
from builtin_tools.web_search.queries import with_sites

__all__ = ["Brave"]

_CHARS, _WORDS = 400, 50
_FRESHNESS = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}
# Another country or language is refused with 422, so it is not sent.
_COUNTRIES = frozenset(
    """
    AR AT AU BE BR CA CH CL CN DE DK ES FI FR GB GR HK ID IN IT JP KR MX MY NL NO NZ PH PL PT RU SA SE TR TW US ZA
    """.split()  # noqa: SIM905 - as below
)
_LANGUAGES = frozenset(
    """
    ar bg bn ca cs da de el en en-gb es et eu fi fr gl gu he hi hr hu is it jp kn ko lt lv ml mr ms nb nl pa pl pt-br
    pt-pt ro ru sk sl sr sv ta te th tr uk vi zh-hans zh-hant
    """.split()  # noqa: SIM905 - a list of fifty texts is a page of quotes
)
_OWN_CODES = {
    "ja": "jp",
    "zh": "zh-hans",
    "zh-cn": "zh-hans",
    "zh-tw": "zh-hant",
    "pt": "pt-pt",
    "no": "nb",
    "nn": "nb",
}
_KINDS: dict[str, ErrorKind] = {
    "SUBSCRIPTION_TOKEN_INVALID": "unauthorized",
    "USAGE_LIMIT_EXCEEDED": "quota_exhausted",
    "QUOTA_LIMITED": "quota_exhausted",
    "OPTION_NOT_IN_PLAN": "unauthorized",
}
_LONG_WAIT = 3_600.0


class _Result(Struct, frozen=True):
    title: str | None = None
    url: str | None = None
    description: str | None = None
    age: str | None = None
    page_age: str | None = None


class _Results(Struct, frozen=True):
    results: tuple[_Result, ...] = ()


class _Place(Struct, frozen=True):
    type: str = ""
    index: int | None = None


class _Mixed(Struct, frozen=True):
    main: tuple[_Place, ...] = ()


class _Body(Struct, frozen=True):
    type: str = ""
    web: _Results | None = None
    mixed: _Mixed | None = None
    results: tuple[_Result, ...] = ()  # of the search for news


class _Wrong(Struct, frozen=True):
    loc: tuple[str | int, ...] = ()
    msg: str = ""


class _Meta(Struct, frozen=True):
    errors: tuple[_Wrong, ...] = ()


class _Error(Struct, frozen=True):
    code: str = ""
    detail: str = ""
    meta: _Meta = _Meta()


class _Failure(Struct, frozen=True):
    error: _Error = field(default_factory=_Error)


class Brave:
    """Searches the index of Brave, the web or the news. Domains go into the query, as Brave has no filter of them."""

    name = "Brave"

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def search(self, query: SearchQuery) -> Found:
        key = self._connection.account.key()
        params = {
            "q": with_sites(query, provider=self.name, chars=_CHARS, words=_WORDS),
            "count": str(query.max_results),
        }
        notes: list[str] = []
        if query.recency != "none":
            params["freshness"] = _FRESHNESS[query.recency]
        if query.country in _COUNTRIES:
            params["country"] = query.country
        elif query.country:
            notes.append(f"Brave has no results by the country {query.country}; it was left out")
        language = _language(query.language)
        if language:
            params["search_lang"] = language
        elif query.language:
            notes.append(f'Brave has no results by the language "{query.language}"; it was left out')
        kind = "news" if query.topic == "news" else "web"
        body = await self._connection.get(f"/res/v1/{kind}/search", params, _read, {"X-Subscription-Token": key})
        return Found(tuple(_hit(result) for result in _ranked(body)), tuple(notes))


def _language(asked: str | None) -> str | None:
    code = (asked or "").lower()
    code = _OWN_CODES.get(code, code)
    if code not in _LANGUAGES:
        code = code.partition("-")[0]
        code = _OWN_CODES.get(code, code)
    return code if code in _LANGUAGES else None


def _ranked(body: _Body) -> list[_Result]:
    """The results of the web in the order of the page, in which `mixed` tells their places among videos and news."""
    results = body.web.results if body.web else body.results
    places = body.mixed.main if body.mixed else ()
    first = [place.index for place in places if place.type == "web" and place.index is not None]
    known = dict.fromkeys(index for index in first if 0 <= index < len(results))
    return [results[index] for index in (*known, *(index for index in range(len(results)) if index not in known))]


def _hit(result: _Result) -> Hit:
    return Hit(result.title, result.url, result.description, result.page_age or result.age)


def _read(answer: Answer) -> _Body:
    if 200 <= answer.status < 300:
        body = body_with(answer, _Body, "web", "results", "mixed", "query", "type")
        if body.type != "ErrorResponse":
            return body
    raise _failure(answer)


def _failure(answer: Answer) -> ServiceError:
    error = (error_body(answer, _Failure) or _Failure()).error
    wrong = [f"{'.'.join(map(str, each.loc))}: {each.msg}" for each in error.meta.errors]
    said = f"{error.detail} {'; '.join(wrong)}" if wrong else error.detail
    kind = _KINDS.get(error.code)
    if any("x-subscription-token" in map(str, each.loc) for each in error.meta.errors):
        kind = "unauthorized"
    if answer.status == 429 and kind is None:
        answer = replace(answer, retry_after=_wait(answer))
        if (answer.retry_after or 0.0) > _LONG_WAIT:  # the window of the month, not that of the second
            kind = "quota_exhausted"
    return answer.refusal(said, kind=kind, code=error.code or None)


def _wait(answer: Answer) -> float | None:
    """Seconds until the windows that are used up begin anew. The headers have one entry for each window, such as
    `X-RateLimit-Remaining: 0, 1400` and `X-RateLimit-Reset: 1, 1419704`."""
    if answer.retry_after is not None:
        return answer.retry_after
    resets = _numbers(answer.headers.get("x-ratelimit-reset"))
    left = _numbers(answer.headers.get("x-ratelimit-remaining"))
    used_up = [reset for reset, remaining in zip(resets, left, strict=False) if remaining <= 0]
    return float(max(used_up)) if used_up else float(resets[0]) if resets else None


def _numbers(header: Any) -> list[int]:
    parts = [part.strip() for part in str(header or "").split(",")]
    return [int(part[:12]) for part in parts if part.isascii() and part.isdecimal()]
