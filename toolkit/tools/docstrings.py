"""What a docstring says: the description of a tool, and of each parameter."""

from __future__ import annotations

import inspect
import re

from msgspec import Struct

__all__ = ["Docstring", "read_docstring"]

_SECTIONS = re.compile(
    r"^\s*(args|arguments|parameters|params|other parameters|returns?|yields?|raises|attributes|example|examples|note|"
    r"notes)\s*:?\s*$|^\s*(:param|:raises|:returns?:|@param)",
    re.IGNORECASE | re.MULTILINE,
)


class Docstring(Struct, frozen=True):
    """`text` is the description without the sections; `parameters` maps names to descriptions."""

    text: str
    parameters: dict[str, str]


def read_docstring(docstring: str | None) -> Docstring:
    """Google, numpy and reST styles are understood."""
    text = inspect.cleandoc(docstring or "").strip()
    if _SECTIONS.search(text) is None:
        return Docstring(text, {})
    import docstring_parser

    # The parser takes the first line for the summary, also when a section begins there.
    parsed = docstring_parser.parse(f"\n\n{text}" if _SECTIONS.match(text) else text)
    parts = (parsed.short_description, parsed.long_description)
    description = "\n\n".join(part.strip() for part in parts if part)
    return Docstring(
        description, {param.arg_name: _folded(param.description) for param in parsed.params if param.description}
    )


def _folded(text: str) -> str:
    return " ".join(text.split())
