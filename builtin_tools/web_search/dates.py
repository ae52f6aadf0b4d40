"""The dates of web pages, which every provider writes in its own way."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from email.utils import parsedate_to_datetime
from functools import partial

from builtin_tools.text import one_line, shortened

__all__ = ["published_date"]

_LONGEST = 40
_FORMS = ("%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y", "%Y/%m/%d")


def published_date(text: str | None) -> str | None:
    """`YYYY-MM-DD` where the text is a date in a form that is known; else the text, such as `"3 days ago"`.

    Known are ISO 8601, the form of mail headers, and days with the English name of the month. The day is that of the
    text, in its own time zone.
    """
    text = one_line(text or "")
    if not text:
        return None
    for read in _READERS:
        try:
            return read(text).isoformat()
        except (ValueError, OverflowError):
            continue
    return shortened(text, _LONGEST)


def _iso(text: str) -> date:
    return datetime.fromisoformat(text).date()


def _mail(text: str) -> date:
    return parsedate_to_datetime(text).date()


def _in_words(text: str, form: str) -> date:
    return datetime.strptime(text, form).date()


_READERS: tuple[Callable[[str], date], ...] = (_iso, _mail, *(partial(_in_words, form=form) for form in _FORMS))
