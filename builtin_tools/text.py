"""Texts as a model should read them: no markup, no stray space, no more than asked for."""

from __future__ import annotations

import html
import re
from typing import Annotated, TypeAlias

from msgspec import Meta

__all__ = ["Offset", "clamped", "line_to_send", "one_line", "piece_end", "plain_text", "shortened"]

Offset: TypeAlias = Annotated[int, Meta(le=10_000_000)]
"""Where a piece of a text begins. One under 0 is read as 0, and the model is told; no text is longer than an answer."""

_LINE_END = re.compile(r"(?i)<br\b[^<>]*>|</(?:p|li|dd|dt|tr|h[1-6]|div)\s*>")
_CONTROLS = dict.fromkeys([*range(32), *range(127, 160)], " ")
_TAG = re.compile(r"<[^<>]*>")


def plain_text(markup: str) -> str:
    """The text of a fragment of HTML. Entities are decoded last, so that an escaped tag stays text."""
    text = html.unescape(_TAG.sub("", _LINE_END.sub("\n", markup)))
    return "\n".join(line for line in (" ".join(line.split()) for line in text.splitlines()) if line)


def one_line(text: str) -> str:
    """The text with every run of white space as one space."""
    return " ".join(text.split())


def line_to_send(text: str) -> str:
    """The text on one line and without control characters, as services take it.

    Raises:
        ValueError: it holds half of a character (a lone surrogate), which can't be sent.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("holds half of a character (a lone surrogate)") from None
    return one_line(text.translate(_CONTROLS))


def shortened(text: str, length: int) -> str:
    """The text, or at most `length` characters of it, cut between words and ended by `…`."""
    if len(text) <= length:
        return text
    kept = text[: length - 1]
    border = kept.rfind(" ")
    return f"{kept[:border] if border > length // 2 else kept}…"


def clamped(name: str, value: int, low: int, high: int) -> tuple[int, tuple[str, ...]]:
    """The value within its bounds, and a note for the model when it had to be moved."""
    kept = min(max(value, low), high)
    if kept == value:
        return kept, ()
    return kept, (f"{name} has to be {low} to {high}, so {kept} was used instead of {shortened(str(value), 30)}",)


def piece_end(text: str, offset: int, length: int) -> int:
    """Where a piece of at most `length` characters ends: between lines or words when that costs under a fifth."""
    end = offset + length
    if end >= len(text):
        return len(text)
    shortest = offset + length - length // 5
    for border in ("\n", " "):
        found = text.rfind(border, shortest, end)
        if found >= 0:
            return found + 1
    return end
