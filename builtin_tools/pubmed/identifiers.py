"""The ids by which people name an article: PMID, DOI and PMCID, in the spellings in which they are passed on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from builtin_tools.pubmed.article import Article

__all__ = ["Identifier", "read_identifier"]

_PMID = re.compile(
    r"(?:https?://(?:www\.)?(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/pubmed)/|pmid:?)?0*([1-9]\d{0,8})/?"
)
_PMCID = re.compile(r"(?:https?://\S+/)?(pmc[1-9]\d{0,9})/?")
_DOI = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:?)?(10\.\d{4,9}/[^\s\"\[\]<>]+)")


@dataclass(frozen=True, slots=True)
class Identifier:
    """An article's id. `value` is written as PubMed searches for it; DOIs and PMCIDs are the same in either case."""

    kind: Literal["pmid", "doi", "pmcid"]
    value: str

    @property
    def term(self) -> str:
        """The id as a search, with its field: https://pubmed.ncbi.nlm.nih.gov/help/#search-tags."""
        return f'"{self.value}"[doi]' if self.kind == "doi" else f"{self.value}[{self.kind}]"

    def names(self, article: Article) -> bool:
        own = {"pmid": article.pmid, "doi": article.doi, "pmcid": article.pmcid}[self.kind]
        return own is not None and own.casefold() == self.value.casefold()


def read_identifier(text: str) -> Identifier | None:
    """The id in `PMID: 219391`, `https://doi.org/10.1000/182` or `PMC5442267`; None for anything else."""
    word = "".join(text.split())
    if found := _DOI.fullmatch(word.rstrip(".,;")) or _DOI.fullmatch(word.lower().rstrip(".,;")):
        return Identifier("doi", found[1])
    if found := _PMCID.fullmatch(word.lower()):
        return Identifier("pmcid", found[1].upper())
    if found := _PMID.fullmatch(word.lower()):
        return Identifier("pmid", found[1])
    return None
