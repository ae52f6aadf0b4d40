"""Wikipedia through its Action API: search, and whole articles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TypeVar
from urllib.parse import quote

from builtin_tools.http import Answer, AnswerCache, Clock, HttpClient, Pace, Request, Service, ServiceError
from builtin_tools.text import line_to_send, one_line, plain_text, shortened
from builtin_tools.wikipedia.article import Article, choices_of, cleaned
from builtin_tools.wikipedia.languages import is_edition, near_editions
from builtin_tools.wikipedia.results import SearchResult, SearchResults
from builtin_tools.wikipedia.settings import WikipediaSettings
from builtin_tools.wikipedia.wire import Body, Page, Query, SearchHit, read_body, read_pages, texts_of

__all__ = ["WikipediaClient", "wikimedia_pace"]

T = TypeVar("T")

_PROVIDER = "Wikipedia"
_SNIPPET = 300
_QUERY_CHARS = 300
_TITLE_BYTES = 255
_NEVER_IN_TITLES = "#<>[]{}|"
_ALWAYS = {"format": "json", "formatversion": "2", "errorformat": "plaintext", "utf8": "1"}


def wikimedia_pace(clock: Clock | None = None) -> Pace:
    """Three requests at once, and 200 a minute: Wikimedia's limits for a caller that says who it is (2026)."""
    return Pace(at_once=3, interval=0.3, clock=clock)


class WikipediaClient:
    """Articles of Wikipedia, typed. Every edition shares one pace, as Wikimedia counts them together.

    Example:
        ```python
        client = WikipediaClient(http, WikipediaSettings(Identity(contact="ada@example.org")))
        article = await client.article("Ada Lovelace")
        ```

    Args:
        http: An `httpx.AsyncClient` or `httpx2.AsyncClient`; it stays open.
        pace: Shared by all clients of one application; its own when left out.
        cache: The same. Failures are not kept.

    Raises (both methods):
        ServiceError: `invalid_input` before anything is sent, for what Wikipedia could not take;
            `not_configured` when no contact is set; what the service answers.
    """

    def __init__(
        self,
        http: HttpClient,
        settings: WikipediaSettings,
        *,
        pace: Pace | None = None,
        cache: AnswerCache | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.settings = settings
        self._http = http
        self._cache = AnswerCache(clock=clock) if cache is None else cache
        identity = settings.identity
        self._service = Service(
            _PROVIDER,
            http,
            pace=wikimedia_pace(clock) if pace is None else pace,
            timeout=settings.timeout,
            clock=clock,
            confidential=tuple(value for value in (identity.contact, identity.header) if value),
        )

    async def search(self, query: str, *, limit: int = 5, language: str = "en") -> SearchResults:
        """The best matches. `limit` is 1 to 50; `query` has up to 300 characters of CirrusSearch syntax."""
        query = _checked_text("query", query)
        if len(query) > _QUERY_CHARS:
            raise _invalid(f"the query has {len(query)} characters; {_QUERY_CHARS} are the most")
        key = ("search", self._edition(language), query, limit)
        found: SearchResults | None = self._cache.get(self._http, key)
        if found is None:
            # One request for both: the list knows the snippets and the total, the generator the pages' facts.
            body = await self._ask(
                "search",
                language,
                {
                    "list": "search",
                    "srsearch": query,
                    "srlimit": str(limit),
                    "srprop": "snippet|wordcount|timestamp",
                    "srinfo": "totalhits|suggestion|rewrittenquery",
                    "srenablerewrites": "1",
                    "generator": "search",
                    "gsrsearch": query,
                    "gsrlimit": str(limit),
                    "gsrenablerewrites": "1",
                    "prop": "info|pageprops|description",
                    "inprop": "url",
                    "ppprop": "disambiguation",
                },
                read_body,
            )
            found = _results_of(body, query, language, limit)
            self._cache.put(self._http, key, found)
        return found

    async def article(self, title: str, *, language: str = "en") -> Article:
        """The whole article, redirects followed. A disambiguation page has `choices`.

        Raises:
            ServiceError: also `not_found`, whose text offers near titles.
        """
        title = _checked_title(title)
        key = ("article", self._edition(language), title)
        found: Article | None = self._cache.get(self._http, key)
        if found is None:
            query = await self._ask(
                "page",
                language,
                {
                    "titles": title,
                    "redirects": "1",
                    "converttitles": "1",
                    "prop": "extracts|info|pageprops|revisions|langlinkscount",
                    "explaintext": "1",
                    "exlimit": "1",
                    "exsectionformat": "wiki",
                    "inprop": "url",
                    "ppprop": "disambiguation",
                    "rvprop": "timestamp",
                },
                read_pages,
            )
            page = await self._existing(query, title, language)
            found = _article_of(page, query, title, language)
            if page.is_disambiguation:
                found = replace(found, choices=choices_of(await self._links(page, language), found.text))
            self._cache.put(self._http, key, found)
        return found

    async def _existing(self, query: Query, title: str, language: str) -> Page:
        if query.interwiki:
            raise _invalid(
                f'"{title}" leads to another wiki ({shortened(query.interwiki[0].iw, 40)})',
                advice="Give the title without its prefix, and the edition as `language`.",
            )
        page = query.page_list[0]
        if page.is_invalid:
            reason = shortened(page.invalidreason, 200) or "Wikipedia refuses it"
            raise _invalid(f'"{title}" can be no title: {reason}')
        if page.is_special:
            raise _invalid(f'"{title}" is a page of the software, not an article')
        if page.exists:
            return page
        near = await self._near_titles(title, language)
        raise ServiceError(
            "not_found",
            f'Wikipedia (language {language}) has no page "{shortened(title, 100)}"',
            advice=f"Near titles: {'; '.join(near)}." if near else "Use wikipedia_search to find the title.",
            provider=_PROVIDER,
            operation="page",
            status=200,
            code="missing",
        )

    async def _near_titles(self, title: str, language: str) -> list[str]:
        try:
            found = await self.search(title[:_QUERY_CHARS], limit=5, language=language)
        except ServiceError:  # the page is missing all the same
            return []
        suggestion = [found.suggestion] if found.suggestion else []
        near = [*(result.title for result in found.results), *suggestion]
        return list(dict.fromkeys(shortened(title, _TITLE_BYTES) for title in near))

    async def _links(self, page: Page, language: str) -> list[str]:
        links = page.links
        if not links:
            wanted = {"titles": page.title, "prop": "links", "plnamespace": "0", "pllimit": "max"}
            pages = (await self._ask("choices", language, wanted, read_pages)).page_list
            links = next((found.links for found in pages), ())
        return [link.title for link in links if link.ns == 0 and link.title != page.title]

    async def _ask(self, operation: str, language: str, params: Mapping[str, str], decode: Callable[[Answer], T]) -> T:
        identity = self.settings.identity
        identity.check_contact(_PROVIDER, operation)
        request = Request(
            operation,
            f"{self.settings.address(language)}/w/api.php",
            params={"action": "query", **_ALWAYS, **params},
            headers={"User-Agent": identity.header, "Accept": "application/json"},
        )
        return await self._service.read(request, decode)

    def _edition(self, language: str) -> str:
        """The edition's address. What is no edition's code never comes near a host name."""
        if is_edition(language):
            return self.settings.address(language)
        near = near_editions(language)
        raise _invalid(
            f'"{shortened(one_line(ascii(language)[1:-1]), 40)}" is no language code of Wikipedia',
            advice=f"Did you mean {' or '.join(map(repr, near))}?"
            if near
            else 'Use one such as "en", "de" or "zh-yue".',
        )


def _results_of(body: Body, query: str, language: str, limit: int) -> SearchResults:
    pages = {page.pageid: page for page in body.query.page_list if page.exists}
    hits = body.query.search or tuple(SearchHit(title=page.title, pageid=page.pageid) for page in pages.values())
    hits = tuple(hit for hit in hits if hit.title.strip())  # without one there is neither a name nor an address
    info = body.query.searchinfo
    return SearchResults(
        query=query,
        language=language,
        results=tuple(_result_of(hit, pages.get(hit.pageid, Page()), language) for hit in hits[:limit]),
        total=info.totalhits,
        suggestion=info.suggestion or None,
        searched_for=info.rewrittenquery or None,
        warnings=texts_of(body.warnings),
    )


def _result_of(hit: SearchHit, page: Page, language: str) -> SearchResult:
    return SearchResult(
        title=hit.title,
        url=page.address or _public_url(hit.title, language),
        snippet=shortened(one_line(plain_text(hit.snippet) or page.text), _SNIPPET),
        description=page.summary,
        words=hit.wordcount,
        updated=_time_of(hit.timestamp),
        is_disambiguation=page.is_disambiguation,
    )


def _article_of(page: Page, query: Query, asked: str, language: str) -> Article:
    redirect = query.redirects[-1] if query.redirects else None
    is_other = asked != page.title
    return Article(
        title=page.title,
        url=page.address or _public_url(page.title, language),
        language=language,
        text=cleaned(page.text),
        revision=_time_of(page.revisions[0].timestamp) if page.revisions else None,
        redirected_from=asked if redirect else None,
        redirected_to=redirect.fragment.replace("_", " ") or None if redirect else None,
        normalized_from=asked if is_other and not redirect else None,
        languages=page.langlinkscount,
        is_disambiguation=page.is_disambiguation,
    )


def _checked_text(name: str, value: str) -> str:
    try:
        value = line_to_send(value)
    except ValueError as error:
        raise _invalid(f"the {name} {error}") from None
    if not value:
        raise _invalid(f"the {name} is blank")
    return value


def _checked_title(title: str) -> str:
    title = _checked_text("title", title)
    length = len(title.encode())
    if length > _TITLE_BYTES:
        raise _invalid(f"the title has {length} bytes; {_TITLE_BYTES} are the most")
    held = [character for character in _NEVER_IN_TITLES if character in title]
    if held:
        advice = "A section goes into `section`. " if "#" in held else ""
        raise _invalid(
            f"no title of Wikipedia holds {' or '.join(held)}",
            advice=f"{advice}Use wikipedia_search to find the title.",
        )
    return title


def _invalid(cause: str, *, advice: str | None = None) -> ServiceError:
    return ServiceError("invalid_input", cause, advice=advice, provider=_PROVIDER)


def _public_url(title: str, language: str) -> str:
    return f"https://{language}.wikipedia.org/wiki/{quote(title.replace(' ', '_'), safe='()!*,;:@/~$')}"


def _time_of(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
