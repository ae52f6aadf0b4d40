"""Formulas as one line of text: `x^2`, `a_i`, `(a+1)/b`."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree.ElementTree import Element

from builtin_tools.text import one_line

__all__ = ["formula", "local_name"]


def local_name(element: Element) -> str:
    """The element's name without its namespace."""
    return element.tag.rpartition("}")[2]


def formula(element: Element) -> str:
    """A MathML element as a line. What is not known is written as its parts, one after another.

    The names are those of presentation MathML (https://www.w3.org/TR/mathml-core/); of content MathML, which PubMed
    hardly has, the texts are kept.
    """
    write = _WRITERS.get(local_name(element))
    if write is not None:
        return write(element)
    parts = [one_line(element.text or "")]
    for child in element:
        parts += [formula(child), one_line(child.tail or "")]
    between = "" if local_name(element).startswith("m") else " "
    return between.join(part for part in parts if part)


def _grouped(text: str) -> str:
    return text if len(text) < 2 or text.isalnum() or (text[0], text[-1]) == ("(", ")") else f"({text})"


def _scripts(*marks: str) -> Callable[[Element], str]:
    """Writes a base and its scripts, each after its mark."""

    def write(element: Element) -> str:
        base, *scripts = [*map(formula, element), *[""] * (len(marks) + 1)][: len(marks) + 1]
        return base + "".join(
            f"{mark}{_grouped(script)}" for mark, script in zip(marks, scripts, strict=True) if script
        )

    return write


def _over(element: Element) -> str:
    """An accent, such as an arrow, follows what it stands on."""
    return "".join(map(formula, element))


def _fraction(element: Element) -> str:
    return "/".join(map(_grouped, map(formula, element)))


def _root(element: Element) -> str:
    parts = [*map(formula, element)]
    if local_name(element) == "mroot" and len(parts) == 2:
        return f"{_grouped(parts[0])}^(1/{parts[1]})"
    return f"√{_grouped(''.join(parts))}"


def _fenced(element: Element) -> str:
    separators = "".join(element.get("separators", ",").split())
    parts = [*map(formula, element)]
    inside = "".join(
        part + (separators[min(number, len(separators) - 1)] if separators and number < len(parts) - 1 else "")
        for number, part in enumerate(parts)
    )
    return f"{element.get('open', '(')}{inside}{element.get('close', ')')}"


def _table(element: Element) -> str:
    rows = [", ".join(map(formula, row)) for row in element]
    return f"[{'; '.join(rows)}]"


def _first(element: Element) -> str:
    """Of `semantics`, the formula itself; what follows says the same for other programs."""
    return next(map(formula, element), "")


_WRITERS: dict[str, Callable[[Element], str]] = {
    "msup": _scripts("^"),
    "msub": _scripts("_"),
    "msubsup": _scripts("_", "^"),
    "munder": _scripts("_"),
    "munderover": _scripts("_", "^"),
    "mover": _over,
    "mfrac": _fraction,
    "msqrt": _root,
    "mroot": _root,
    "mfenced": _fenced,
    "mtable": _table,
    "matrix": _table,
    "semantics": _first,
}
