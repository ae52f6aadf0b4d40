"""Taking out characters that nobody sees: a model reads them all the same, and instructions are hidden in them."""

from __future__ import annotations

import re

__all__ = ["visible"]

_INVISIBLE = re.compile(
    "["
    "\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f"  # control characters
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"  # zero width; direction, which turns texts around
    "\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    "\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"  # tags and variation selectors, which can spell any text
    "\ud800-\udfff"
    "]+"
)
# Joiners are letters' companions in Persian, in the scripts of India and in emoji. Elsewhere they carry bits.
_JOINER = re.compile(
    "(?<![\u0600-\u1fff\u2190-\u2bff\ufe0e\ufe0f\U0001f000-\U0001faff])[\u200c\u200d]+|(?<=[\u200c\u200d])[\u200c\u200d]+"
)


def visible(text: str) -> str:
    """The text without invisible characters. Line ends become `\\n`."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x0c", "\n").replace("\x85", "\n")
    return _JOINER.sub("", _INVISIBLE.sub("", text))
