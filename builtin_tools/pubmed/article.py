"""What PubMed knows of an article or of a chapter of a book."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from builtin_tools.text import shortened

__all__ = ["AbstractSection", "Article", "Correction", "OtherAbstract"]

_AUTHORS_TOLD = 3
_CORRECTIONS_TOLD = 5

# MeSH renamed the type of the notices; records of both names are served.
_NOTICES = frozenset({"Retraction of Publication", "Retraction Notice"})
_RETRACTED = frozenset({"RetractionIn", "RetractedandRepublishedIn"})
# What a correction makes of the article, in the order in which it matters, and how the other record is called.
_STATUSES = {
    "RetractionIn": ("RETRACTED", "notice"),
    "RetractedandRepublishedIn": ("RETRACTED, and published again", "as"),
    "RetractionOf": ("RETRACTION NOTICE", "of"),
    "ExpressionOfConcernIn": ("EXPRESSION OF CONCERN", "notice"),
    "ExpressionOfConcernFor": ("NOTICE OF CONCERN", "about"),
    "CorrectedandRepublishedIn": ("corrected, and published again", "as"),
    "ErratumIn": ("corrected", "erratum"),
    "ErratumFor": ("ERRATUM", "for"),
    "UpdateIn": ("updated", "by"),
    "UpdateOf": ("an update", "of"),
    "CorrectedandRepublishedFrom": ("a corrected version", "of"),
    "RetractedandRepublishedFrom": ("a version after retraction", "of"),
    "RepublishedIn": ("published again", "as"),
    "RepublishedFrom": ("a republication", "of"),
}


@dataclass(frozen=True, slots=True)
class AbstractSection:
    """A part of an abstract; `label` is a blank where it has none."""

    label: str
    text: str

    def to_content(self) -> str:
        return f"{self.label}: {self.text}" if self.label else self.text


@dataclass(frozen=True, slots=True)
class OtherAbstract:
    """An abstract in another language, or in plain words. `kind` is PubMed's, such as `plain-language-summary`."""

    kind: str
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Correction:
    """What another publication does to this one.

    Attributes:
        kind: PubMed's word, such as `RetractionIn` or `ErratumIn`.
        pmid: The other record, or None when it is not in PubMed.
        source: Where the other one was published.
    """

    kind: str
    pmid: str | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class Article:
    """One record.

    Attributes:
        authors: Such as `Lovelace A`, or the name of a group; all of them, in their order.
        journal: The journal's full name; of a chapter, the book's.
        date: The day it appeared online, else the issue's: ISO 8601, as exact as it is known (`2020`, `2020-04`).
        issue: The issue and pages as one cites them: `2022 May 31;39(9):110870`, `2020 Apr-Jun;57(2):216-220`.
        types: Such as `Review` or `Retracted Publication`.
        language: Of the text, as PubMed's three letters: `eng`, `ger`.
        original_title: The title in that language, or a blank.
        abstract: By section.
        mesh: The subject headings, main topics first.
        corrections: Retractions, corrections, updates and the like.
        book: The accession of a book's chapter, such as `NBK1403`; a blank for an article.
        editors: A book's.
        copyright: Who holds the rights of the abstract.
    """

    pmid: str
    title: str
    authors: tuple[str, ...] = ()
    journal: str = ""
    date: str = ""
    issue: str = ""
    types: tuple[str, ...] = ()
    doi: str | None = None
    pmcid: str | None = None
    language: str = ""
    original_title: str = ""
    abstract: tuple[AbstractSection, ...] = ()
    other_abstracts: tuple[OtherAbstract, ...] = ()
    mesh: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    corrections: tuple[Correction, ...] = ()
    book: str = ""
    editors: tuple[str, ...] = ()
    copyright: str = ""

    @property
    def url(self) -> str:
        return f"https://pubmed.ncbi.nlm.nih.gov/{self.pmid}/"

    @property
    def is_retracted(self) -> bool:
        return "Retracted Publication" in self.types or any(c.kind in _RETRACTED for c in self.corrections)

    @property
    def is_retraction_notice(self) -> bool:
        return not _NOTICES.isdisjoint(self.types) or any(c.kind == "RetractionOf" for c in self.corrections)

    @property
    def status(self) -> str:
        """What has to be known before the article is relied on, or a blank: `RETRACTED (notice PMID 123)`."""
        told = [_told(words, link, self._others(kind)) for kind, (words, link) in _STATUSES.items()]
        found = [text for text in told if text]
        if self.is_retracted and not any(text.startswith("RETRACTED") for text in found):
            found.insert(0, "RETRACTED")
        if self.is_retraction_notice and not any(text.startswith("RETRACTION NOTICE") for text in found):
            found.insert(0, "RETRACTION NOTICE")
        return "; ".join(found)

    def _others(self, kind: str) -> list[str]:
        others = [correction for correction in self.corrections if correction.kind == kind]
        return [f"PMID {other.pmid}" if other.pmid else shortened(other.source, 100) for other in others]

    @property
    def abstract_text(self) -> str:
        """The whole abstract, a section a line; where there is none, the first other one."""
        if self.abstract:
            return "\n".join(section.to_content() for section in self.abstract)
        return next((f"({other.kind}) {other.text}" for other in self.other_abstracts), "")

    def head(self) -> str:
        """What one needs to cite it, and its status before all else; no line is longer than 900 characters."""
        ids = [f"PMID {self.pmid}", f"DOI {self.doi or 'none'}", self.pmcid, self.book]
        lines = [
            f"status: {shortened(self.status, 800)}" if self.status else "",
            shortened(self.title, 500) or "(without a title)",
            f"original title: {shortened(self.original_title, 500)}" if self.original_title else "",
            f"authors: {_some(self.authors, _AUTHORS_TOLD)}" if self.authors else "authors: none listed",
            f"{'book' if self.book else 'journal'}: {self._source()}",
            shortened(", ".join(filter(None, ids)), 400),
            shortened(self.url, 100),
            f"types: {_some(self.types)}" if self.types else "",
            f"language: {shortened(self.language, 100)}" if self.language not in ("", "eng") else "",
        ]
        return "\n".join(filter(None, lines))

    def details(self) -> str:
        """Headings, keywords, and which abstracts there are besides."""
        others = self.other_abstracts if self.abstract else self.other_abstracts[1:]
        kinds = [f"{other.kind}{f' ({other.language})' if other.language else ''}" for other in others]
        lines = [
            f"MeSH: {_some(self.mesh)}" if self.mesh else "",
            f"keywords: {_some(self.keywords)}" if self.keywords else "",
            f"other abstracts: {_some(kinds)}" if kinds else "",
        ]
        return "\n".join(filter(None, lines))

    def _source(self) -> str:
        place = shortened(self.journal, 200) or "not named"
        if self.editors:
            place += f", edited by {_some(self.editors, _AUTHORS_TOLD)}"
        dated = f"date {self.date}" if self.date else "without a date"
        return ", ".join(filter(None, [place, shortened(self.issue, 200), dated]))


def _told(words: str, link: str, others: list[str]) -> str:
    if not others:
        return ""
    more = f" and {len(others) - _CORRECTIONS_TOLD} more" if len(others) > _CORRECTIONS_TOLD else ""
    return f"{words} ({link} {', '.join(others[:_CORRECTIONS_TOLD])}{more})"


def _some(words: Sequence[str], count: int = 10, chars: int = 400) -> str:
    """The first of the words, as many as there is room for, with what is left out as a number."""
    told: list[str] = []
    for word in words[:count]:
        if told and len(word) > chars:
            break
        told.append(shortened(word, 150))
        chars -= len(told[-1]) + 2
    more = len(words) - len(told)
    return "; ".join(told) + (f"; and {more} more" if more else "")
