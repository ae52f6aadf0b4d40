"""What a docstring says: the description of a tool, and of each parameter."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable

from msgspec import Struct

__all__ = ["Docstring", "read_docstring"]

_TITLES = r"(?:args?|arguments|(?:other |keyword )?param(?:eter)?s|returns?|yields?|raises|attributes)"
_GOOGLE = re.compile(rf"{_TITLES}:\s*", re.IGNORECASE).fullmatch
_NUMPY = re.compile(rf"{_TITLES}\s*", re.IGNORECASE).fullmatch
_UNDERLINE = re.compile(r"-{3,}\s*|={3,}\s*").fullmatch
_FIELD = re.compile(
    r":(?:param|parameter|arg|argument|key|keyword|type|returns?|rtype|raises?|yields?|ivar|cvar|var)\b.*:.*"
).fullmatch


class Docstring(Struct, frozen=True):
    """`text` is the description without the sections; `parameters` maps names to descriptions."""

    text: str
    parameters: dict[str, str]


def read_docstring(docstring: str | None) -> Docstring:
    """Google, numpy and reST styles are understood.

    The description is the author's own text, word by word; only the sections that speak of parameters, results, errors
    and attributes are taken out. Notes and examples are for the model too.
    """
    lines = inspect.cleandoc(docstring or "").split("\n")
    kept: list[str] = []
    place = 0
    while place < len(lines):
        end = _end_of_section(lines, place)
        if end == place:
            kept.append(lines[place])
            place += 1
        else:
            place = end
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()
    return Docstring(text, {} if len(kept) == len(lines) else _parameters("\n".join(lines)))


def _end_of_section(lines: list[str], start: int) -> int:
    """The line after the section that begins at `start`; `start` itself where none does."""
    if _is_numpy_title(lines, start):
        if _NUMPY(lines[start]) is None:
            return start
        return _first(lines, start + 2, lambda place: _is_numpy_title(lines, place))
    if _GOOGLE(lines[start]) or _FIELD(lines[start]):
        return _first(lines, start + 1, lambda place: bool(lines[place]) and not lines[place][0].isspace())
    return start


def _is_numpy_title(lines: list[str], place: int) -> bool:
    return place + 1 < len(lines) and bool(lines[place].strip()) and _UNDERLINE(lines[place + 1]) is not None


def _first(lines: list[str], start: int, is_found: Callable[[int], bool]) -> int:
    return next((place for place in range(start, len(lines)) if is_found(place)), len(lines))


def _parameters(text: str) -> dict[str, str]:
    import docstring_parser

    # The parser takes the first line for the summary, also when a section begins there.
    parsed = docstring_parser.parse(f"\n\n{text}")
    return {param.arg_name: " ".join(param.description.split()) for param in parsed.params if param.description}
