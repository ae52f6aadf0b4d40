"""What the Wikipedia tools answer: typed values for the application, each with its text for the model."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

__all__ = ["Choice", "Heading", "SearchResult", "SearchResults", "WikipediaText"]

LICENCE = "Wikipedia, CC BY-SA 4.0"

_HEADINGS_TOLD = 60


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One article that matches.

    Attributes:
        title: To be used with `wikipedia_page`.
        snippet: The words around the match, or the first sentences; without markup.
        description: A few words on what it is, or a blank.
        words: The article's length.
        updated: When it was last edited.
    """

    title: str
    url: str
    snippet: str = ""
    description: str = ""
    words: int | None = None
    updated: datetime | None = None
    is_disambiguation: bool = False

    def to_content(self) -> str:
        facts = [
            self.description,
            "disambiguation page" if self.is_disambiguation else "",
            "" if self.words is None else f"{self.words} words",
            f"updated {self.updated:%Y-%m-%d}" if self.updated else "",
        ]
        told = ", ".join(fact for fact in facts if fact)
        return "\n".join(
            line for line in (f"{self.title} — {told}" if told else self.title, self.url, self.snippet) if line
        )


@dataclass(frozen=True, slots=True)
class SearchResults:
    """What a search found, best first.

    Attributes:
        total: How many articles match in all, when the server says so.
        suggestion: Another spelling that the server offers.
        searched_for: The query that was run instead of the given one, or None.
        warnings: What the server said besides; no errors.
        notes: What was done otherwise than asked.
    """

    query: str
    language: str
    results: tuple[SearchResult, ...] = ()
    total: int | None = None
    suggestion: str | None = None
    searched_for: str | None = None
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def to_content(self) -> str:
        """Numbered results, then notes and source; of an empty search, that it was empty."""
        count = len(self.results)
        of = f" of {self.total}" if self.total is not None and self.total > count else ""
        lines = [
            f'{count}{of} results for "{self.query}" (Wikipedia, language {self.language})'
            if count
            else f'No results for "{self.query}" (Wikipedia, language {self.language}).'
        ]
        lines += [f"[{number}] {result.to_content()}" for number, result in enumerate(self.results, 1)]
        if self.searched_for:
            lines.append(f'note: searched for "{self.searched_for}" instead')
        if self.suggestion:
            lines.append(f'note: did you mean "{self.suggestion}"?')
        lines += [f"note: {note}" for note in self.notes]
        if not count:
            lines += [f"note: Wikipedia says: {warning}" for warning in self.warnings]
            return "\n".join(lines)
        return "\n".join([*lines, f"source: {LICENCE}"])


@dataclass(frozen=True, slots=True)
class Heading:
    """A section's name, and its depth: 2 for a section, 3 for one inside it, and so on."""

    title: str
    level: int


@dataclass(frozen=True, slots=True)
class Choice:
    """An article that a disambiguation page leads to. `hint` is the page's line about it, or a blank."""

    title: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class WikipediaText:
    """A piece of an article, or the choices of a disambiguation page.

    Attributes:
        url: The article's address.
        revision: When this text was last edited.
        section: What was asked for: `"intro"`, `"all"`, or the section's name.
        text: Plain text; headings stand as `== History ==`. Tables and most formulas are not in it.
        offset: Where the piece begins in the section, in characters.
        next_offset: Where the next piece begins; None when there is no more.
        total_chars: The length of the whole section.
        sections: All of the article's headings, in order.
        redirected_from: The title that was asked for, when it redirects to this article.
        redirected_to: The section that the redirect leads to, or None.
        normalized_from: The title that was asked for, when it is this title written differently.
        languages: In how many other languages there is such an article.
        choices: What a disambiguation page leads to; empty for an article.
        notes: What was done otherwise than asked.
    """

    title: str
    url: str
    language: str
    section: str
    text: str
    revision: datetime | None = None
    offset: int = 0
    next_offset: int | None = None
    total_chars: int = 0
    sections: tuple[Heading, ...] = ()
    redirected_from: str | None = None
    redirected_to: str | None = None
    normalized_from: str | None = None
    languages: int | None = None
    is_disambiguation: bool = False
    choices: tuple[Choice, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def attribution(self) -> str:
        """Title, address, language, date and licence: what CC BY-SA asks those to tell who pass the text on."""
        date = f", revision of {self.revision:%Y-%m-%d}" if self.revision else ""
        return f'"{self.title}", {self.url}, language {self.language}{date}. {LICENCE}'

    def to_content(self) -> str:
        """The text with a head that says what it is, and a foot that says what is missing and where it is from."""
        lines = [f"{self.title} — {self._part()}"]
        if self.redirected_from:
            place = f', to its section "{self.redirected_to}"' if self.redirected_to else ""
            lines.append(f'note: redirected from "{self.redirected_from}"{place}')
        if self.normalized_from:
            lines.append(f'note: the title "{self.normalized_from}" was read as "{self.title}"')
        lines += [f"note: {note}" for note in self.notes]
        if self.text:
            lines += ["", self.text, ""]
        if self.choices:
            lines += self._choices()
        if self.next_offset is not None:
            rest = self.total_chars - self.next_offset
            lines.append(f"truncated: {rest} more characters; continue with offset={self.next_offset}")
        if self.sections and self.offset == 0 and not self.is_disambiguation:
            told = [heading.title for heading in self.sections[:_HEADINGS_TOLD]]
            more = len(self.sections) - len(told)
            lines.append("sections: " + "; ".join(told) + (f"; and {more} more" if more else ""))
        return "\n".join([*lines, f"source: {self.attribution}"])

    def _part(self) -> str:
        if self.is_disambiguation:
            return "a disambiguation page"
        part = {"intro": "introduction", "all": "whole article"}.get(self.section, f'section "{self.section}"')
        if self.offset or self.next_offset is not None:
            part += f", characters {self.offset} to {self.offset + len(self.text)} of {self.total_chars}"
        return part

    def _choices(self) -> list[str]:
        told = self.choices[:10]
        lines = ["The title has several meanings. Call wikipedia_page again with one of these titles:"]
        lines += [f"- {choice.title}" + (f" — {choice.hint}" if choice.hint else "") for choice in told]
        more = len(self.choices) - len(told)
        if more:
            lines.append(f'and {more} more; section="all" gives the whole list')
        return lines
