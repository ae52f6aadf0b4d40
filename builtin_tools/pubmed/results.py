"""What the PubMed tools answer: typed values for the application, each with its text for the model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from builtin_tools.pubmed.article import Article
from builtin_tools.text import shortened

__all__ = ["Abstracts", "RelatedArticles", "Relation", "SearchResults"]

Relation: TypeAlias = Literal["similar", "cited_by", "references"]

SERVED = 9_999
"""PubMed gives the first 9,999 articles of a search, however many it found."""

_SOURCE = "source: PubMed (NLM); cite each article by title, journal, date, PMID and DOI"
_WITH_SEARCH = 1_200
_ALL_ABSTRACTS = 40_000
LONGEST_ABSTRACT = 40_000
"""The most that is shown of one abstract; no real one is as long."""

_NAMED = 20


@dataclass(frozen=True, slots=True)
class SearchResults:
    """What a search found.

    Attributes:
        total: How many articles match in all.
        next_offset: Where the next page begins; None when there is none, or PubMed would not give it.
        translation: How PubMed read the query.
        not_found: Phrases and fields of the query that PubMed does not know, and searched without.
        suggestion: Another spelling, of a search that found nothing.
        missing: PMIDs that were found, but whose records did not come.
        notes: What was done otherwise than asked, and what PubMed said besides.
        has_abstracts: The text for the model shows the abstracts' beginnings; the values hold them anyway.
    """

    query: str
    results: tuple[Article, ...] = ()
    total: int = 0
    offset: int = 0
    next_offset: int | None = None
    translation: str = ""
    not_found: tuple[str, ...] = ()
    suggestion: str | None = None
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    has_abstracts: bool = False

    def to_content(self) -> str:
        """Numbered articles, then what there is besides; of an empty search, that it was empty, and why."""
        first, last = self.offset + 1, self.offset + len(self.results)
        query = shortened(self.query, 300)
        lines = [f'{first} to {last} of {self.total} articles for "{query}" (PubMed)'] if self.results else []
        if not self.results:
            lines.append(
                f'No results for "{query}"' + (f" at offset {self.offset}" if self.offset else "") + " (PubMed)"
            )
        for number, article in enumerate(self.results, first):
            lines.append(f"[{number}] {article.head()}")
            if self.has_abstracts:
                lines.append(_abstract(article, _WITH_SEARCH))
        if self.not_found:
            lines.append(f"note: PubMed does not know, and searched without: {_named(self.not_found)}")
        if self.translation:
            lines.append(f"note: PubMed read it as: {shortened(self.translation, 400)}")
        if self.suggestion:
            lines.append(f'note: did you mean "{shortened(self.suggestion, 300)}"?')
        if self.missing:
            lines.append(f"note: no record came for PMID {_named(self.missing)}")
        lines += [f"note: {note}" for note in self.notes]
        if self.next_offset is not None:
            lines.append(f"more: {self.total - last} articles; continue with offset={self.next_offset}")
        elif self.total > SERVED:
            lines.append(f"note: PubMed gives only the first {SERVED:,}; narrow the query to see others")
        return "\n".join([*lines, _SOURCE] if self.results else lines)


@dataclass(frozen=True, slots=True)
class Abstracts:
    """Articles that were asked for by their ids, in that order.

    Attributes:
        missing: What was asked for and is not in PubMed, as it was given.
        max_abstract_chars: How much of each abstract the text for the model shows; the values hold all of it.
        notes: What was done otherwise than asked.
    """

    articles: tuple[Article, ...] = ()
    missing: tuple[str, ...] = ()
    max_abstract_chars: int = 3_000
    notes: tuple[str, ...] = ()

    def to_content(self) -> str:
        """Each article with its abstract by section, then what is missing."""
        asked = len(self.articles) + len(self.missing)
        lines = [f"{len(self.articles)} of {asked} records (PubMed)"]
        shown = min(self.max_abstract_chars, _ALL_ABSTRACTS // max(len(self.articles), 1))
        for number, article in enumerate(self.articles, 1):
            lines += [f"[{number}] {article.head()}", article.details(), _abstract(article, shown)]
            lines.append(f"copyright: {shortened(article.copyright, 200)}" if article.copyright else "")
        if self.missing:
            lines.append(f"missing: {_named(self.missing)} (PubMed has no such record)")
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(filter(None, [*lines, _SOURCE if self.articles else ""]))


@dataclass(frozen=True, slots=True)
class RelatedArticles:
    """Articles that PubMed relates to one of its own.

    Attributes:
        total: How many there are; `results` has the first of them.
        missing: PMIDs that are related, but whose records did not come.
    """

    pmid: str
    kind: Relation
    results: tuple[Article, ...] = ()
    total: int = 0
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def to_content(self) -> str:
        words = {
            "similar": f"articles similar to PMID {self.pmid}",
            "cited_by": f"articles that cite PMID {self.pmid}",
            "references": f"articles that PMID {self.pmid} refers to",
        }[self.kind]
        if not self.total:
            lines = [f"PubMed lists no {words}.", "note: it answers the same for a PMID that it does not have"]
        else:
            lines = [f"{len(self.results)} of {self.total} {words} (PubMed)"]
        lines += [f"[{number}] {article.head()}" for number, article in enumerate(self.results, 1)]
        if self.missing:
            lines.append(f"note: no record came for PMID {_named(self.missing)}")
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join([*lines, _SOURCE] if self.results else lines)


def _abstract(article: Article, length: int) -> str:
    text = article.abstract_text
    if not text:
        return "abstract: none in PubMed"
    if len(text) <= length:
        return f"abstract:\n{text}"
    shown = shortened(text, length)
    most = min(len(text), LONGEST_ABSTRACT)
    more = (
        f'pubmed_fetch shows more: ids ["{article.pmid}"], max_abstract_chars {most}' if most > length else article.url
    )
    return f"abstract:\n{shown}\ntruncated: {len(text) - len(shown) + 1} more characters of this abstract; {more}"


def _named(words: Iterable[str]) -> str:
    told = [shortened(word, 100) for word in words]
    more = f" and {len(told) - _NAMED} more" if len(told) > _NAMED else ""
    return ", ".join(told[:_NAMED]) + more
