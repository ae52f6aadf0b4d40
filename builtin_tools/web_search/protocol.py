"""What a search is, and what every provider of searches does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

__all__ = ["Found", "Hit", "Recency", "SearchProvider", "SearchQuery", "Topic"]

Recency: TypeAlias = Literal["none", "day", "week", "month", "year"]
Topic: TypeAlias = Literal["general", "news"]


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """What is searched for. Made by `checked_query`, so that every provider may trust it.

    Attributes:
        text: One line, 1 to 400 characters.
        max_results: 1 to 10.
        recency: How old a page may be; `"none"` for any age.
        include_domains: Host names; results come from these only, when there are any.
        exclude_domains: Host names; results come from none of these.
        country: Two capital letters (ISO 3166), or None.
        language: A language code such as `"de"` or `"pt-BR"`, or None.
    """

    text: str
    max_results: int = 5
    recency: Recency = "none"
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    topic: Topic = "general"
    country: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One result as the provider wrote it: with markup, in its own form of date, maybe without an address."""

    title: str | None
    url: str | None
    snippet: str | None = None
    published: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What a provider answered, best first. `notes` are for the model: what was done otherwise than asked."""

    hits: tuple[Hit, ...]
    notes: tuple[str, ...] = ()


class SearchProvider(Protocol):
    """One service that searches the web."""

    @property
    def name(self) -> str:
        """The service's name, as the model reads it."""
        ...

    async def search(self, query: SearchQuery) -> Found:
        """The best results, at least `query.max_results` of them where there are so many.

        Raises:
            ServiceError: what went wrong; `not_configured` before anything is sent when the key is missing.
        """
        ...
