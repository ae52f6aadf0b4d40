"""A page's markup as readable text, with its title and date. Needs the extra `fetch`, which is imported here only."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from importlib import import_module
from typing import Any

from builtin_tools.fetch_url.hidden import remove_hidden
from builtin_tools.fetch_url.refusals import PROVIDER
from builtin_tools.http import ServiceError
from builtin_tools.text import one_line

__all__ = ["PageText", "read_html"]

_MAIN_TEXT_UP_TO = 1_000_000
_SHORT = 250
_LINKED_DATA = re.compile(r'"datePublished"\s{0,20}:\s{0,20}"([^"]{4,40})"')
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_DATE_PATHS = (
    "//meta[@property='article:published_time' or @property='og:article:published_time']/@content",
    "//*[@itemprop='datePublished']/@datetime | //*[@itemprop='datePublished']/@content",
    "//meta[@name='citation_publication_date' or @name='citation_date']/@content",
    "//meta[@name='DC.date.issued' or @name='dcterms.issued' or @name='DC.date' or @name='dc.date']/@content",
    "//meta[@name='date' or @name='pubdate' or @name='publish-date' or @name='parsely-pub-date']/@content",
)
_TITLE_PATHS = ("//meta[@property='og:title']/@content", "//title//text()", "//h1[1]//text()")


@dataclass(frozen=True, slots=True)
class PageText:
    """Attributes:
    title: As the page gives it, on one line; a blank where it gives none.
    published: Only where the page says so in its metadata; a date in its text may be any date.
    is_whole: False when no main text was found, so that menus and the like are in the text.
    """

    text: str
    title: str = ""
    published: date | None = None
    is_whole: bool = False


def read_html(markup: str) -> PageText:
    """The main text as Markdown, without menus and hidden nodes. Takes up to seconds: not for the event loop.

    Raises:
        ServiceError: `not_configured`, without the extra; `malformed_response` for what is no markup.
    """
    trafilatura = _trafilatura()
    try:
        tree = trafilatura.load_html(markup)
        if tree is None:  # a fragment, or nothing
            tree = trafilatura.load_html(f"<html><head></head><body><div>{markup}</div></body></html>")
        if tree is None:
            return PageText("")
        title, published = _title_of(tree), _published(tree)
        remove_hidden(tree)
        text = ""
        if len(markup) <= _MAIN_TEXT_UP_TO:
            text = trafilatura.extract(tree, output_format="markdown", include_comments=False, include_tables=True)
        text = text or ""
        if len(text) < _SHORT:  # no article: a list, a form, a page of a few words
            whole = trafilatura.html2txt(tree)
            if len(whole) > 2 * len(text):
                return PageText(_with_lines(whole), title, published, is_whole=True)
    except (ValueError, RecursionError, MemoryError) as error:
        raise ServiceError(
            "malformed_response", "the page's markup can't be read", provider=PROVIDER, operation="fetch"
        ) from error
    return PageText(text.strip(), title, published)


def _trafilatura() -> Any:
    try:
        return import_module("trafilatura")
    except ImportError as error:
        raise ServiceError(
            "not_configured",
            "reading HTML pages needs the extra 'fetch', which is not installed",
            advice="Tell the user to run: pip install 'toolwire[fetch]'; do not retry. Plain text and JSON can be read "
            "without it.",
            provider=PROVIDER,
            operation="fetch",
        ) from error


def _title_of(tree: Any) -> str:
    for path in _TITLE_PATHS:
        title = one_line(" ".join(map(str, tree.xpath(path))))
        if title:
            return title
    return ""


def _published(tree: Any) -> date | None:
    for path in _DATE_PATHS:
        for value in tree.xpath(path):
            found = _date_of(str(value))
            if found:
                return found
    for script in tree.iter("script"):
        if script.get("type") == "application/ld+json":
            linked = _LINKED_DATA.search((script.text or "")[:100_000])
            if linked and (day := _date_of(linked[1])):
                return day
    return None


def _date_of(text: str) -> date | None:
    found = _DATE.match(text.strip().replace("/", "-"))
    try:
        return date.fromisoformat(found[0]) if found else None
    except ValueError:
        return None


def _with_lines(text: str) -> str:
    return "\n".join(line for line in map(one_line, text.splitlines()) if line)
