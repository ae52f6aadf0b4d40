"""The tools that a model calls: `pubmed_search`, `pubmed_fetch` and `pubmed_related`."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from msgspec import Meta

from builtin_tools.pubmed.client import PubMedClient
from builtin_tools.pubmed.results import LONGEST_ABSTRACT, SERVED, Abstracts, RelatedArticles, Relation, SearchResults
from builtin_tools.text import clamped
from toolkit import Tool

__all__ = ["PubMedFetch", "PubMedRelated", "PubMedSearch"]

Year = Annotated[int, Meta(ge=1000, le=3000)]
Number = Annotated[int, Meta(ge=0, le=999_999_999)]  # a PMID has at most nine digits here; PubMed is at eight


class PubMedSearch(Tool):
    """Search PubMed, the index of medical and biological literature. Gives title, authors, journal, date, PMID and
    DOI of each article, and whether it was retracted or corrected; read abstracts with pubmed_fetch. The query may be
    plain words, or PubMed's syntax with field tags ([ti] title, [tiab] title or abstract, [au] author, [ta] journal,
    [mh] MeSH heading, [pt] publication type, [la] language) and AND, OR, NOT in capitals:
    "asthma"[mh] AND review[pt], or Lovelace A[au] AND telomere[tiab].
    Example: {"query": "statins muscle pain", "limit": 5, "year_from": 2020}"""

    name = "pubmed_search"
    max_result_tokens = 25_000  # 20 articles, each with a head of at most 3,500 characters and 1,200 of an abstract

    def __init__(self, client: PubMedClient) -> None:
        self.client = client

    async def handler(
        self,
        query: Annotated[str, Meta(min_length=1, max_length=2_000)],
        limit: int = 5,
        offset: int = 0,
        sort: Literal["relevance", "pub_date"] = "relevance",
        year_from: Year | None = None,
        year_to: Year | None = None,
        article_types: Annotated[list[Annotated[str, Meta(max_length=100)]], Meta(max_length=10)] | None = None,
        include_abstract: bool = False,
    ) -> SearchResults:
        """
        Args:
            query: Words or PubMed syntax, such as "statins muscle pain" or "asthma"[mh] AND child*[tiab].
            limit: How many articles, 1 to 20.
            offset: How many to leave out, 0 to 9998: the number that the page before gave.
            sort: Best match first, or newest first.
            year_from: First year of publication, such as 2020.
            year_to: Last year of publication.
            article_types: Only these types, such as ["Review", "Randomized Controlled Trial"].
            include_abstract: Show the beginning of each abstract, too.
        """
        limit, notes = clamped("limit", limit, 1, 20)
        offset, more = clamped("offset", offset, 0, SERVED - 1)
        found = await self.client.search(
            query,
            limit=limit,
            offset=offset,
            sort=sort,
            year_from=year_from,
            year_to=year_to,
            article_types=article_types or (),
        )
        return replace(found, notes=(*notes, *more, *found.notes), has_abstracts=include_abstract)


class PubMedFetch(Tool):
    """Read articles of PubMed by their ids. Gives the abstract by section, with all that is needed to cite it, subject
    headings, and retractions, corrections and errata. PubMed has abstracts, not full texts. Find ids with
    pubmed_search; ids that PubMed does not have are listed as missing. Example: {"ids": ["219391", "35649368"]}"""

    name = "pubmed_fetch"
    max_result_tokens = 30_000  # all abstracts together have 40,000 characters, each head has at most 3,500

    def __init__(self, client: PubMedClient) -> None:
        self.client = client

    async def handler(
        self,
        ids: Annotated[list[Annotated[str, Meta(max_length=500)] | Number], Meta(min_length=1, max_length=20)],
        max_abstract_chars: int = 3_000,
    ) -> Abstracts:
        """
        Args:
            ids: PMIDs, DOIs or PMCIDs, such as ["219391", "10.1016/j.celrep.2022.110870"].
            max_abstract_chars: How much of each abstract, 100 to 40000 characters.
        """
        max_abstract_chars, notes = clamped("max_abstract_chars", max_abstract_chars, 100, LONGEST_ABSTRACT)
        found = await self.client.articles([str(one) for one in ids])
        return replace(found, max_abstract_chars=max_abstract_chars, notes=(*notes, *found.notes))


class PubMedRelated(Tool):
    """Find articles of PubMed that belong to one that you have: similar ones, those that cite it, or its references.
    Gives them as pubmed_search does. Citations and references are known for a part of the articles only.
    Example: {"pmid": "219391", "kind": "cited_by"}"""

    name = "pubmed_related"
    max_result_tokens = 20_000  # 20 articles with heads of at most 3,500 characters

    def __init__(self, client: PubMedClient) -> None:
        self.client = client

    async def handler(
        self,
        pmid: Annotated[str, Meta(min_length=1, max_length=100)] | Number,
        kind: Relation = "similar",
        limit: int = 5,
    ) -> RelatedArticles:
        """
        Args:
            pmid: PMID of the article, such as "219391".
            kind: Similar articles, articles that cite it, or articles that it refers to.
            limit: How many articles, 1 to 20.
        """
        limit, notes = clamped("limit", limit, 1, 20)
        found = await self.client.related(str(pmid), kind, limit=limit)
        return replace(found, notes=(*notes, *found.notes))
