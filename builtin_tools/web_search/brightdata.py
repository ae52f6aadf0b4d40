"""Bright Data's SERP API: the first page of Google. https://docs.brightdata.com/scraping-automation/serp-api"""

from __future__ import annotations

from urllib.parse import urlencode

from msgspec import Struct

from builtin_tools.http import Answer
from builtin_tools.web_search.accounts import Account
from builtin_tools.web_search.connection import Connection, body_with

__all__ = ["BrightData", "BrightDataEntry"]

_ZONE = "`web_search.brightdata.serp_zone` (or the variable SEARCH_BRIGHTDATA_SERP_ZONE)"


class BrightDataEntry(Struct, frozen=True):
    """A result as Bright Data reads it off Google's page; everything may be missing."""

    link: str | None = None
    url: str | None = None
    title: str | None = None
    description: str | None = None
    rank: int | None = None
    global_rank: int | None = None


class _Body(Struct, frozen=True):
    organic: tuple[BrightDataEntry, ...] = ()


class BrightData:
    """Searches Google through a SERP zone of a Bright Data account.

    Args:
        zone: The zone's name; it is made in Bright Data's control panel.
    """

    name = "Bright Data"

    def __init__(self, connection: Connection, *, zone: str | None) -> None:
        self._connection = connection
        self._zone = zone

    async def entries(
        self, text: str, *, limit: int, country: str | None = None, language: str | None = None
    ) -> tuple[BrightDataEntry, ...]:
        """The organic results. `brd_json=1` has the page read into JSON, which then comes as it is."""
        headers = {"Authorization": f"Bearer {self._connection.account.key()}"}
        if not self._zone:
            raise Account(self.name, None, _ZONE).missing("the name of a SERP zone")
        asked = {"q": text, "num": str(limit), "brd_json": "1"}
        if country:
            asked["gl"] = country.lower()
        if language:
            asked["hl"] = language.lower()
        body = {"zone": self._zone, "url": f"https://www.google.com/search?{urlencode(asked)}", "format": "raw"}
        return (await self._connection.post("/request", body, _read, headers)).organic


def _read(answer: Answer) -> _Body:
    """The reason of a failure is in a header; the body is a text or blank. Some failures come with status 200."""
    said = answer.headers.get("x-brd-error") or answer.headers.get("x-brd-err-msg") or ""
    code = answer.headers.get("x-brd-error-code") or answer.headers.get("x-brd-err-code")
    if 200 <= answer.status < 300 and not said:
        return body_with(answer, _Body, "organic", "general", "input")
    if 200 <= answer.status < 300:
        raise answer.refusal(said, kind="unavailable", code=code)
    raise answer.refusal(said or _text_of(answer), code=code)


def _text_of(answer: Answer) -> str:
    is_text = answer.headers.get("content-type", "").startswith("text/plain")
    return answer.content[:1_000].decode("utf-8", "replace") if is_text else ""
