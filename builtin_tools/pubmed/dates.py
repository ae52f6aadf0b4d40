"""The dates of PubMed's records, which are seldom whole: a year, a season, `1998 Dec-1999 Jan`."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element

from builtin_tools.text import one_line

__all__ = ["date_text", "iso_date"]

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_YEAR = re.compile(r"[0-9]{4}")


def iso_date(element: Element | None) -> str:
    """ISO 8601, as exact as the element is: `2022-05-31`, `2023-12`, `2020`; a blank for None or nonsense.

    Of a `MedlineDate`, which is free text, the first year counts.
    """
    if element is None:
        return ""
    year = _YEAR.search(_part(element, "Year") or _part(element, "MedlineDate"))
    if year is None:
        return ""
    month = _month(_part(element, "Month"))
    day = _part(element, "Day")
    if not month:
        return year[0]
    if not (day.isascii() and day.isdecimal() and 1 <= int(day[:3]) <= 31):
        return f"{year[0]}-{month:02}"
    return f"{year[0]}-{month:02}-{int(day):02}"


def date_text(element: Element | None) -> str:
    """The date as a citation has it: `2022 May 31`, `2020 Apr-Jun`, `1999 Spring`."""
    if element is None:
        return ""
    medline = _part(element, "MedlineDate")
    if medline:
        return medline
    month = _month(_part(element, "Month"))
    parts = [
        _part(element, "Year"),
        _MONTHS[month - 1].capitalize() if month else _part(element, "Season"),
        _part(element, "Day").lstrip("0") if month else "",
    ]
    return " ".join(part for part in parts if part)


def _month(text: str) -> int:
    """1 to 12, of a name or a number; 0 for anything else."""
    if text.isascii() and text.isdecimal():
        number = int(text[:3])
        return number if 1 <= number <= 12 else 0
    name = text[:3].lower()
    return _MONTHS.index(name) + 1 if name in _MONTHS else 0


def _part(element: Element, name: str) -> str:
    return one_line(element.findtext(name) or "")
