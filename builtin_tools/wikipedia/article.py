"""An article's text: cleaned, cut into sections, and read by pieces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from builtin_tools.text import one_line, shortened
from builtin_tools.wikipedia.results import Choice, Heading

__all__ = ["ALL", "INTRO", "Article", "choices_of", "cleaned"]

INTRO = "intro"
ALL = "all"

_MAYBE_HEADING = re.compile(r"^==[^\n]*$", re.MULTILINE)
_DEEPEST = 6
_FORMULA = r"{\displaystyle"


@dataclass(frozen=True, slots=True)
class Article:
    """A whole article.

    Attributes:
        text: The introduction and all sections, with headings such as `== History ==`.
        redirected_from: The title that was asked for, when it redirects here.
        redirected_to: The section that the redirect leads to, or None.
        normalized_from: The title that was asked for, when it is this title written differently.
        choices: What a disambiguation page leads to.
    """

    title: str
    url: str
    language: str
    text: str
    revision: datetime | None = None
    redirected_from: str | None = None
    redirected_to: str | None = None
    normalized_from: str | None = None
    languages: int | None = None
    is_disambiguation: bool = False
    choices: tuple[Choice, ...] = ()

    @property
    def sections(self) -> tuple[Heading, ...]:
        return tuple(line.heading for line in _headings(self.text))

    def part(self, section: str) -> tuple[str, str] | None:
        """The name and text of a part: `"intro"`, `"all"` or a section's name, whatever its case; else None.

        A section holds the sections inside it. Of two sections with one name the first is given.
        """
        wanted = _folded(section)
        headings = list(_headings(self.text))
        if wanted == ALL:
            return ALL, self.text
        if wanted == INTRO:
            return INTRO, self.text[: headings[0].start].strip() if headings else self.text
        for number, (heading, _, begins) in enumerate(headings):
            if _folded(heading.title) == wanted:
                ends = (later.start for later in headings[number + 1 :] if later.heading.level <= heading.level)
                return heading.title, self.text[begins : next(ends, len(self.text))].strip()
        return None


class _HeadingLine(NamedTuple):
    """A heading, and where its line begins and ends in the text."""

    heading: Heading
    start: int
    end: int


def _headings(text: str) -> Iterator[_HeadingLine]:
    """The lines such as `== History ==`, with as many signs behind the title as before it."""
    # Not by one pattern: looking for the signs behind takes the square of the length of a line that has none.
    for match in _MAYBE_HEADING.finditer(text):
        line = match[0].rstrip(" \t")
        level = min(len(line) - len(line.lstrip("=")), len(line) - len(line.rstrip("=")), _DEEPEST)
        title = line[level : len(line) - level].strip(" \t")
        if level >= 2 and title.replace("=", "").strip():
            yield _HeadingLine(Heading(title, level), match.start(), match.end())


def cleaned(extract: str) -> str:
    """The extract without the debris of formulas, and with one blank line where there were more.

    Plain-text extracts hold a formula twice: its MathML, each symbol on an indented line of its own, and then
    `{\\displaystyle ...}`. Only the latter is kept, as `$...$` within its sentence.
    """
    kept: list[str] = []
    indented: list[str] = []
    is_after_formula = False
    for line in extract.splitlines():
        text = line.strip()
        if text.startswith(_FORMULA) and text.endswith("}"):
            while kept and not kept[-1]:
                kept.pop()
            kept[-1:] = [" ".join([*kept[-1:], f"${text[len(_FORMULA) : -1].strip()}$"])]
            indented.clear()
            is_after_formula = True
        elif line.startswith("  ") or (line and not text):
            indented.append(text)
        elif is_after_formula and text and not any(indented):
            kept[-1] += text if text[0] in ",.;:)" else f" {text}"
            indented.clear()
            is_after_formula = False
        else:
            kept += [*indented, text]
            indented.clear()
            is_after_formula = False
    return re.sub(r"\n{3,}", "\n\n", "\n".join([*kept, *indented])).strip()


def choices_of(titles: Iterable[str], text: str) -> tuple[Choice, ...]:
    """The titles in the order in which the page's text speaks of them, each with its line; then the others."""
    remaining = sorted(set(titles), key=lambda title: (-len(title), title))
    found: list[Choice] = []
    for line in map(one_line, text.splitlines()):
        title = next((title for title in remaining if title in line), None)
        if title is not None and not line.startswith("==") and not line.endswith(":"):
            remaining.remove(title)
            hint = line.removeprefix(title).strip(" ,:-\N{EN DASH}\N{EM DASH}")
            found.append(Choice(title, shortened(hint, 120)))
    return (*found, *(Choice(title) for title in sorted(remaining)))


def _folded(name: str) -> str:
    return one_line(name.replace("_", " ").strip("= ")).casefold()
