"""Keys that stand in no text but by mistake, and how to find a part of one."""

from __future__ import annotations

from hypothesis import strategies as st

_BEGINNING = "Qz7~"

# Hypothesis also takes words that it finds in the source, and a key such as `invalid_input` would be "shown" by any
# error. So each key begins with what is no word.
KEYS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=12, max_size=40).map(_BEGINNING.__add__)


def parts_shown(key: str, text: str) -> bool:
    """Whether the text holds the key, or its beginning, which is what is left of one that was cut."""
    return key in text or _BEGINNING in text
