"""The wait that a server asks for."""

from __future__ import annotations

from datetime import UTC
from email.utils import parsedate_to_datetime

__all__ = ["read_retry_after"]


def read_retry_after(value: str | None, now: float) -> float | None:
    """Seconds to wait by a `Retry-After` header: seconds or an HTTP date (RFC 9110, 10.2.3). Nonsense gives None.

    Args:
        value: The header.
        now: Seconds since 1970; a date that has passed gives 0.
    """
    text = (value or "").strip()
    if text.isascii() and text.isdecimal():
        return float(text[:9])
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, OverflowError):  # the latter: a year or a zone of twenty digits
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, date.timestamp() - now)
