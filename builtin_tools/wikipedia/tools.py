"""The tools that a model calls: `wikipedia_search` and `wikipedia_page`."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from msgspec import Meta

from builtin_tools.http import ServiceError
from builtin_tools.text import Offset, clamped, piece_end, shortened
from builtin_tools.wikipedia.article import INTRO, Article
from builtin_tools.wikipedia.client import WikipediaClient
from builtin_tools.wikipedia.results import SearchResults, WikipediaText
from toolkit import Tool

__all__ = ["WikipediaPage", "WikipediaSearch"]

_SECTIONS_TOLD = 30


class WikipediaSearch(Tool):
    """Search Wikipedia, the encyclopedia, for people, places, things and ideas. Gives titles with a snippet each; read
    an article with wikipedia_page, by its title. Prefer a few keywords to a whole question.
    Example: {"query": "Ada Lovelace analytical engine", "limit": 3}"""

    name = "wikipedia_search"

    def __init__(self, client: WikipediaClient) -> None:
        self.client = client

    async def handler(
        self,
        query: Annotated[str, Meta(min_length=1, max_length=300)],
        limit: int = 5,
        language: Annotated[str, Meta(max_length=20)] = "en",
    ) -> SearchResults:
        """
        Args:
            query: Keywords, such as "Ada Lovelace analytical engine".
            limit: How many results, 1 to 20.
            language: Code of the Wikipedia to search, such as "en", "de" or "simple".
        """
        limit, notes = clamped("limit", limit, 1, 20)
        found = await self.client.search(query, limit=limit, language=language)
        return replace(found, notes=notes)


class WikipediaPage(Tool):
    """Read a Wikipedia article by its title. Gives the introduction, or with `section` a part or the whole of it. Long
    texts come in pieces. Tables, and some lists and formulas, are missing. Cite the source that stands at the end.
    Example: {"title": "Ada Lovelace", "section": "Work"}"""

    name = "wikipedia_page"
    max_result_tokens = 35_000  # a piece of 30,000 characters, 4 bytes each, with head and foot: it is cut by offset

    def __init__(self, client: WikipediaClient) -> None:
        self.client = client

    async def handler(
        self,
        title: Annotated[str, Meta(min_length=1, max_length=255)],
        section: Annotated[str, Meta(max_length=500)] = INTRO,
        language: Annotated[str, Meta(max_length=20)] = "en",
        offset: Offset = 0,
        max_chars: int = 8_000,
    ) -> WikipediaText:
        """
        Args:
            title: Title of the article, as wikipedia_search gives it.
            section: Name of a section, "intro" for the introduction, or "all" for the whole article.
            language: Code of the Wikipedia to read, such as "en", "de" or "simple".
            offset: Where to go on in a long text: the number that the piece before gave, from 0.
            max_chars: Length of a piece, 100 to 30000 characters.
        """
        max_chars, notes = clamped("max_chars", max_chars, 100, 30_000)
        if offset < 0:
            offset, notes = 0, (*notes, f"offset can't be under 0, so 0 was used instead of {offset}")
        article = await self.client.article(title, language=language)
        name, text = _part_of(article, section)
        if offset and offset >= len(text):
            raise ServiceError(
                "invalid_input",
                f"offset {offset} is past the end: this text has {len(text)} characters",
                provider="Wikipedia",
                operation="page",
            )
        if not text:
            notes = (*notes, "this part has no text; it may consist of tables, lists or formulas, which are left out")
        end = piece_end(text, offset, max_chars)
        return WikipediaText(
            title=article.title,
            url=article.url,
            language=article.language,
            section=name,
            text=text[offset:end],
            revision=article.revision,
            offset=offset,
            next_offset=end if end < len(text) else None,
            total_chars=len(text),
            sections=article.sections,
            redirected_from=article.redirected_from,
            redirected_to=article.redirected_to,
            normalized_from=article.normalized_from,
            languages=article.languages,
            is_disambiguation=article.is_disambiguation,
            choices=article.choices,
            notes=notes,
        )


def _part_of(article: Article, section: str) -> tuple[str, str]:
    found = article.part(section.strip() or INTRO)
    if found is not None:
        return found
    names = [shortened(heading.title, 100) for heading in article.sections]
    more = f" and {len(names) - _SECTIONS_TOLD} more" if len(names) > _SECTIONS_TOLD else ""
    raise ServiceError(
        "not_found",
        f'"{shortened(article.title, 255)}" has no section "{shortened(section, 100)}"',
        advice=f"Its sections: {'; '.join(names[:_SECTIONS_TOLD])}{more}." if names else "It has no sections.",
        provider="Wikipedia",
        operation="page",
    )
