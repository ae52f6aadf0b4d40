"""Keeping at most so much of what was worked out, in a dict that threads share without a lock."""

from __future__ import annotations

from typing import Any

__all__ = ["make_room"]


def make_room(kept: dict[Any, Any], most: int) -> None:
    """Lets the oldest entries of a dict go until one more makes `most`, whatever other threads do to it meanwhile."""
    while len(kept) >= most:
        try:
            kept.pop(next(iter(kept)), None)
        except (RuntimeError, StopIteration):  # between its two steps another thread kept something, or forgot it all
            continue
