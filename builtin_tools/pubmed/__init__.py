"""PubMed: the client of NCBI's E-utilities, and the three tools over it."""

from builtin_tools.pubmed.article import AbstractSection, Article, Correction, OtherAbstract
from builtin_tools.pubmed.client import PubMedClient, ncbi_pace
from builtin_tools.pubmed.results import Abstracts, RelatedArticles, Relation, SearchResults
from builtin_tools.pubmed.settings import PubMedSettings
from builtin_tools.pubmed.tools import PubMedFetch, PubMedRelated, PubMedSearch

__all__ = [
    "AbstractSection",
    "Abstracts",
    "Article",
    "Correction",
    "OtherAbstract",
    "PubMedClient",
    "PubMedFetch",
    "PubMedRelated",
    "PubMedSearch",
    "PubMedSettings",
    "RelatedArticles",
    "Relation",
    "SearchResults",
    "ncbi_pace",
]
