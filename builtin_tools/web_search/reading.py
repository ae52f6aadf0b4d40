"""From a provider's hits to results that can be shown: plain text, addresses that lead somewhere, each page once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from builtin_tools.text import one_line, plain_text, shortened
from builtin_tools.web_search.dates import published_date
from builtin_tools.web_search.protocol import Hit
from builtin_tools.web_search.results import WebResult

__all__ = ["plain", "read_result", "read_results"]

_TITLE = 200
_SNIPPET = 500
_URL = 1_000
_TRACKING = re.compile(r"utm_\w+|srsltid|gclid")
# Controls, and the invisible "tag" characters, in which text can be hidden from people and told to models.
_UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\U000e0000-\U000e007f]")


def read_results(hits: Iterable[Hit], limit: int) -> tuple[tuple[WebResult, ...], tuple[str, ...]]:
    """The first `limit` results that have an address, each page once; and a note where some had none."""
    found: dict[str, WebResult] = {}
    without_address = 0
    for hit in hits:
        result = read_result(hit)
        if result is None:
            without_address += 1
        else:
            found.setdefault(_place(result.url), result)
    told = f"{without_address} results without a usable http address were left out" if without_address else ""
    return tuple(found.values())[:limit], (told,) if told else ()


def read_result(hit: Hit) -> WebResult | None:
    """The result; None when its address is not one of http or https, or is longer than 1,000 characters."""
    url = _address(hit.url or "")
    if url is None:
        return None
    source = urlsplit(url).hostname or ""
    return WebResult(
        title=plain(hit.title, _TITLE) or source,
        url=url,
        snippet=plain(hit.snippet, _SNIPPET),
        published=published_date(plain(hit.published, 100)),
        source=source,
    )


def plain(text: str | None, length: int) -> str:
    """One line of plain text, at most `length` characters of it."""
    return shortened(one_line(plain_text(_UNSEEN.sub("", text or ""))), length)


def _address(url: str) -> str | None:
    url = url.strip()
    if re.search(r"[\s\x00-\x1f\x7f\"<>\\]", url):  # such an address could end its line, and begin one of its own
        url = quote(url, safe="%/:=&?~#+!$,;'@()*[]", encoding="utf-8")
    try:
        parts = urlsplit(url)
        is_sound = parts.scheme.lower() in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return None
    return url if is_sound and len(url) <= _URL else None


def _place(url: str) -> str:
    """What two addresses of one page have in common: without what only tells where the reader came from."""
    parts = urlsplit(url)
    pairs = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if not _TRACKING.fullmatch(pair[0])]
    return urlunsplit((parts.scheme.lower(), parts.netloc.lower(), parts.path or "/", urlencode(pairs), parts.fragment))
