"""How a body is compressed."""

from __future__ import annotations

__all__ = ["times_packed"]


def times_packed(encoding: str) -> int:
    """How often a body of this `Content-Encoding` is compressed: once for each coding that stands in it."""
    return sum(coding.strip().lower() not in ("", "identity") for coding in encoding.split(","))
