"""Texts with markup inside, as PubMed's titles and abstracts are: italics, scripts, formulas."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from builtin_tools.pubmed.mathml import formula, local_name
from builtin_tools.text import one_line

__all__ = ["text_of"]

_MARKS = {"sup": "^", "sub": "_"}


class _Writing:
    """Text so far. `last` is what the next piece would touch."""

    def __init__(self, last: str = "") -> None:
        self.pieces: list[str] = []
        self.last = last

    def add(self, text: str | None) -> None:
        if text:
            self.pieces.append(text)
            self.last = text[-1]


def text_of(element: Element | None) -> str:
    """All of an element's text on one line, in its order; a blank for None.

    Bold and italics go. Super- and subscripts are marked by `^` and `_` only where digits would run together:
    `10<sup>6</sup>` is `10^6`, `H<sub>2</sub>O` is `H2O`.
    """
    if element is None:
        return ""
    writing = _Writing()
    _write(element, writing)
    return one_line("".join(writing.pieces))


def _write(element: Element, writing: _Writing) -> None:
    writing.add(element.text)
    for child in element:
        name = local_name(child)
        if name == "math":
            writing.add(formula(child))
        elif name in _MARKS:
            inner = _Writing(writing.last)
            _write(child, inner)
            text = "".join(inner.pieces)
            writing.add(_MARKS[name] if writing.last.isdigit() and _is_number(text) else "")
            writing.add(text)
        else:
            _write(child, writing)
        writing.add(child.tail)


def _is_number(text: str) -> bool:
    return text.lstrip("+-\N{MINUS SIGN}\N{EN DASH}")[:1].isdigit()
