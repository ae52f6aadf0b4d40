"""What a model writes for an issue, a priority or a moment, read into what Linear takes."""

from __future__ import annotations

import re
from datetime import date, datetime
from itertools import pairwise
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from builtin_tools.http import ServiceError
from builtin_tools.text import one_line, shortened

__all__ = ["PRIORITIES", "PriorityName", "invalid", "is_id", "issue_id", "moment", "priority_number", "quoted"]

PriorityName: TypeAlias = Literal["none", "urgent", "high", "medium", "normal", "low"]

PRIORITIES: dict[str, int] = {"none": 0, "urgent": 1, "high": 2, "medium": 3, "normal": 3, "low": 4}
"""Linear's numbers; "normal" is what it called "medium" before."""

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE | re.ASCII)
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,14}-[0-9]{1,9}", re.ASCII)
_DURATION = re.compile(r"-?P(?=[0-9T])([0-9]+[YMWD])*(T([0-9]+[HMS])+)?", re.ASCII)


def is_id(text: str) -> bool:
    """Whether it is a UUID, as Linear's own ids are."""
    return _ID.fullmatch(text) is not None


def issue_id(text: str) -> str:
    """`ENG-123`, a UUID, or an issue's address, as what Linear takes for an issue's id.

    Raises:
        ServiceError: `invalid_input`: it is none of them.
    """
    given = text.strip()
    if given.lower().startswith(("https://", "http://")):
        given = _in_address(given)
    if is_id(given):
        return given.lower()
    if _IDENTIFIER.fullmatch(given):
        return given.upper()
    raise invalid(
        f"{quoted(text)} names no issue",
        advice='Give an identifier such as "ENG-123", an id, or its address; linear_search_issues finds it.',
    )


def _in_address(address: str) -> str:
    """What follows `/issue/`, or a blank."""
    try:
        segments = urlsplit(address).path.split("/")
    except ValueError:  # brackets that hold no IPv6 address
        return ""
    return next((after for before, after in pairwise(segments) if before == "issue"), "")


def priority_number(priority: int | str) -> int:
    """0 (none) to 4 (low); 1 is urgent."""
    return PRIORITIES[priority] if isinstance(priority, str) else priority


def moment(text: str) -> str:
    """A date, a date with time, or an ISO 8601 duration into the past such as `-P7D`.

    Raises:
        ServiceError: `invalid_input`: it is none of them.
    """
    given = text.strip()
    if _DURATION.fullmatch(given):
        return given if given.startswith("-") else f"-{given}"
    try:
        if len(given) == len("2026-11-30"):
            return date.fromisoformat(given).isoformat()
        return datetime.fromisoformat(given).isoformat()
    except ValueError:
        raise invalid(
            f"{quoted(text)} is no moment", advice='Give a date such as "2026-11-30", or "-P7D" for the last 7 days.'
        ) from None


def invalid(cause: str, *, advice: str | None = None) -> ServiceError:
    return ServiceError("invalid_input", cause, advice=advice, provider="Linear")


def quoted(text: str) -> str:
    """What a model wrote, short enough to be told back."""
    return f'"{shortened(one_line(text), 100)}"'
