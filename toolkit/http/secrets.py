"""Values that must not be shown, and texts from which they are taken out."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

__all__ = ["Secret", "without"]

_HIDDEN = "[hidden]"
_SHORTEST = 8  # characters


class Secret:
    """A key or token. It is written as `[hidden]` wherever it is printed; `reveal()` gives the value."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __repr__(self) -> str:
        return f"Secret({_HIDDEN})"

    def __str__(self) -> str:
        return _HIDDEN

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._value == other._value

    def __hash__(self) -> int:
        return hash((Secret, self._value))

    def __reduce__(self) -> str:
        raise TypeError("a Secret is not written to files or sent to other processes")


def without(confidential: Iterable[str], text: str) -> str:
    """The text with each confidential value replaced, also as addresses, JSON and HTML write it: servers echo what they
    got. A value of under 8 characters is no key that a service gives; it is replaced where it stands as a word only, so
    that the rest of the text stays readable."""
    forms = {form for value in confidential if value for form in _spellings(value)}
    for form in sorted(forms, key=len, reverse=True):
        if len(form) >= _SHORTEST:
            text = text.replace(form, _HIDDEN)
        else:
            text = re.sub(rf"(?<!\w){re.escape(form)}(?!\w)", _HIDDEN, text)
    return text


def _spellings(value: str) -> Iterable[str]:
    yield from (value, quote(value, safe=""), quote_plus(value), html.escape(value))
    for is_ascii in (True, False):
        as_json = json.dumps(value, ensure_ascii=is_ascii)[1:-1]
        yield from (as_json, as_json.replace("/", "\\/"))  # PHP's json_encode writes `\/`
