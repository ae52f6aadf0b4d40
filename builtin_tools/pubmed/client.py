"""PubMed through NCBI's E-utilities: search, records, and what is related."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, TypeVar

from builtin_tools.http import Answer, AnswerCache, Clock, HttpClient, Pace, Request, Service, ServiceError
from builtin_tools.pubmed.article import Article
from builtin_tools.pubmed.identifiers import Identifier, read_identifier
from builtin_tools.pubmed.results import SERVED, Abstracts, RelatedArticles, Relation, SearchResults
from builtin_tools.pubmed.settings import PubMedSettings
from builtin_tools.pubmed.wire import Hits, links_reader, read_articles, read_hits, read_spelling
from builtin_tools.text import line_to_send, shortened

__all__ = ["PubMedClient", "ncbi_pace"]

T = TypeVar("T")

_PROVIDER = "PubMed"
_QUERY_CHARS = 2_000
_TYPE_CHARS = 80
_IDS = 200
_NEVER_IN_TYPES = '"[]()'
_LINKS: dict[Relation, str] = {
    "similar": "pubmed_pubmed",
    "cited_by": "pubmed_pubmed_citedin",
    "references": "pubmed_pubmed_refs",
}


def ncbi_pace(clock: Clock | None = None, *, has_key: bool = False) -> Pace:
    """Three requests a second, or ten with a key: NCBI's limits, with a tenth to spare. https://www.ncbi.nlm.nih.gov/books/NBK25497/"""
    return Pace(at_once=3, interval=0.11 if has_key else 0.35, clock=clock)


class PubMedClient:
    """Articles of PubMed, typed. All is asked by POST: the key stays out of URLs, and long lists of ids fit.

    Example:
        ```python
        client = PubMedClient(http, PubMedSettings(Identity(contact="ada@example.org")))
        found = await client.search('"asthma"[mh] AND review[pt]')
        ```

    Args:
        http: An `httpx.AsyncClient` or `httpx2.AsyncClient`; it stays open.
        pace: Shared by all clients of one application that have the same key; its own when left out.
        cache: The same. Failures are not kept.

    Raises (all methods):
        ServiceError: `invalid_input` before anything is sent, for what PubMed could not take; `not_configured` when
            no contact is set; what the service answers.
    """

    def __init__(
        self,
        http: HttpClient,
        settings: PubMedSettings,
        *,
        pace: Pace | None = None,
        cache: AnswerCache | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.settings = settings
        self._http = http
        self._cache = AnswerCache(clock=clock) if cache is None else cache
        key = settings.api_key.reveal() if settings.api_key else None
        confidential = (key, settings.identity.contact, settings.identity.header)
        self._service = Service(
            _PROVIDER,
            http,
            pace=ncbi_pace(clock, has_key=key is not None) if pace is None else pace,
            timeout=settings.timeout,
            clock=clock,
            confidential=tuple(value for value in confidential if value),
        )

    async def search(
        self,
        query: str,
        *,
        limit: int = 5,
        offset: int = 0,
        sort: Literal["relevance", "pub_date"] = "relevance",
        year_from: int | None = None,
        year_to: int | None = None,
        article_types: Sequence[str] = (),
    ) -> SearchResults:
        """The articles that match. `query` has up to 2,000 characters of PubMed's syntax, `limit` is 1 to 200.

        PubMed gives the first 9,999 articles only, so `offset` is 0 to 9,998, and a page that would cross that border
        is shorter.
        """
        query = _checked_query(query)
        form = {
            "term": _with_types(query, article_types),
            "retmax": str(min(limit, SERVED - offset)),
            "retstart": str(offset),
            "sort": sort,
            **_years(year_from, year_to),
        }
        key = ("search", self.settings.base_url, *sorted(form.items()))
        found: SearchResults | None = self._cache.get(self._http, key)
        if found is None:
            hits = await self._hits(form)
            pmids = hits.ids[:limit]
            articles = await self._records(pmids) if pmids else {}
            found = SearchResults(
                query=query,
                results=_listed(articles, pmids),
                total=hits.count,
                offset=offset,
                next_offset=_next_offset(offset + len(pmids), hits.count) if pmids else None,
                translation=hits.translation,
                not_found=hits.not_found,
                suggestion=None if hits.count else await self._spelling(query),
                missing=tuple(pmid for pmid in pmids if pmid not in articles),
                notes=_notes_of(hits, offset),
            )
            self._cache.put(self._http, key, found)
        return found

    async def articles(self, ids: Sequence[str]) -> Abstracts:
        """The articles of up to 200 ids, in the order of the ids; each may be a PMID, a DOI or a PMCID.

        What PubMed does not have is in `missing`, as it was given. So is what can be no id.
        """
        if not 1 <= len(ids) <= _IDS:
            raise _invalid(f"{len(ids)} ids were given; it has to be 1 to {_IDS}")
        wanted = {text: read_identifier(text) for text in dict.fromkeys(map(_checked_id, ids))}
        pmids = [one.value for one in wanted.values() if one is not None and one.kind == "pmid"]
        others = [one for one in wanted.values() if one is not None and one.kind != "pmid"]
        pmids += await self._pmids_of(others) if others else []
        known = await self._records(dict.fromkeys(pmids)) if pmids else {}
        found: dict[str, Article] = {}
        missing: list[str] = []
        for text, one in wanted.items():
            article = next((a for a in known.values() if one is not None and one.names(a)), None)
            if article is None:
                missing.append(text)
            else:
                found[article.pmid] = article
        notes = tuple(f'"{shortened(text, 100)}" is no PMID, DOI or PMCID' for text in missing if wanted[text] is None)
        return Abstracts(articles=tuple(found.values()), missing=tuple(missing), notes=notes)

    async def related(self, pmid: str, kind: Relation = "similar", *, limit: int = 5) -> RelatedArticles:
        """Articles like it, best first; those that cite it; or those that it refers to. `limit` is 1 to 200."""
        one = read_identifier(_checked_id(pmid))
        if one is None or one.kind != "pmid":
            raise _invalid(
                f'"{shortened(_checked_id(pmid), 100)}" is no PMID',
                advice="Give a PMID such as 219391; pubmed_fetch finds the one of a DOI.",
            )
        key = ("related", self.settings.base_url, one.value, kind, limit)
        found: RelatedArticles | None = self._cache.get(self._http, key)
        if found is None:
            form = {
                "dbfrom": "pubmed",
                "id": one.value,
                "linkname": _LINKS[kind],
                "cmd": "neighbor_score" if kind == "similar" else "neighbor",
                "retmode": "json",
            }
            links = await self._ask("related", "elink", form, links_reader(_LINKS[kind], one.value))
            pmids = links[:limit]
            articles = await self._records(pmids) if pmids else {}
            found = RelatedArticles(
                pmid=one.value,
                kind=kind,
                results=_listed(articles, pmids),
                total=len(links),
                missing=tuple(pmid for pmid in pmids if pmid not in articles),
            )
            self._cache.put(self._http, key, found)
        return found

    async def _hits(self, form: Mapping[str, str]) -> Hits:
        return await self._ask("search", "esearch", {**form, "retmode": "json"}, read_hits)

    async def _pmids_of(self, ids: Sequence[Identifier]) -> tuple[str, ...]:
        """Candidates: PubMed searches for the words of an id that it does not have."""
        term = " OR ".join(one.term for one in ids)
        return (await self._hits({"term": term, "retmax": str(2 * len(ids))})).ids

    async def _records(self, pmids: Iterable[str]) -> dict[str, Article]:
        """The records by their PMIDs; those that PubMed does not have are left out."""
        known: dict[str, Article] = {}
        unknown: list[str] = []
        for pmid in pmids:
            article: Article | None = self._cache.get(self._http, self._article_key(pmid))
            if article is None:
                unknown.append(pmid)
            else:
                known[pmid] = article
        if unknown:
            form = {"id": ",".join(unknown), "retmode": "xml"}
            for article in await self._ask("fetch", "efetch", form, read_articles):
                known[article.pmid] = article
                self._cache.put(self._http, self._article_key(article.pmid), article)
        return known

    def _article_key(self, pmid: str) -> tuple[str, str, str]:
        return ("article", self.settings.base_url, pmid)

    async def _spelling(self, query: str) -> str | None:
        try:
            corrected = await self._ask("spelling", "espell", {"term": query}, read_spelling)
        except ServiceError:  # the search found nothing all the same
            return None
        return corrected if corrected and corrected.casefold() != query.casefold() else None

    async def _ask(self, operation: str, program: str, form: Mapping[str, str], decode: Callable[[Answer], T]) -> T:
        identity = self.settings.identity
        identity.check_contact(_PROVIDER, operation)
        request = Request(
            operation,
            f"{self.settings.base_url}/{program}.fcgi",
            method="POST",
            form={"db": "pubmed", **form, **self.settings.introduction},
            headers={"User-Agent": identity.header},
        )
        return await self._service.read(request, decode)


def _listed(articles: Mapping[str, Article], pmids: Iterable[str]) -> tuple[Article, ...]:
    return tuple(articles[pmid] for pmid in pmids if pmid in articles)


def _next_offset(end: int, total: int) -> int | None:
    return end if end < min(total, SERVED) else None


def _notes_of(hits: Hits, offset: int) -> tuple[str, ...]:
    notes = [f"PubMed left out: {shortened(', '.join(hits.ignored), 200)}"] if hits.ignored else []
    notes += [f"PubMed says: {shortened(message, 200)}" for message in hits.messages[:3] if hits.count]
    if not hits.ids and 0 < hits.count <= offset:
        notes.append(f"only {hits.count} articles match; use a smaller offset")
    return tuple(notes)


def _with_types(query: str, article_types: Sequence[str]) -> str:
    types = [_checked_line("article type", text) for text in article_types]
    for text in types:
        if len(text) > _TYPE_CHARS or any(character in text for character in _NEVER_IN_TYPES):
            raise _invalid(f'"{shortened(text, 60)}" is no article type', advice='Use one such as "Review".')
    wanted = " OR ".join(f'"{text}"[pt]' for text in types)
    return f"({query}) AND ({wanted})" if wanted else query


def _years(year_from: int | None, year_to: int | None) -> dict[str, str]:
    """The filter by publication date, of which NCBI wants both ends."""
    if year_from is None and year_to is None:
        return {}
    first, last = 1000 if year_from is None else year_from, 3000 if year_to is None else year_to
    if first > last:
        raise _invalid(f"year_from {first} is after year_to {last}")
    return {"datetype": "pdat", "mindate": f"{first:04}", "maxdate": f"{last:04}"}


def _checked_query(query: str) -> str:
    query = _checked_line("query", query)
    if len(query) > _QUERY_CHARS:
        raise _invalid(f"the query has {len(query)} characters; {_QUERY_CHARS} are the most")
    return query


def _checked_id(text: str) -> str:
    return _checked_line("id", text)


def _checked_line(name: str, value: str) -> str:
    try:
        value = line_to_send(value)
    except ValueError as error:
        raise _invalid(f"the {name} {error}") from None
    if not value:
        raise _invalid(f"the {name} is blank")
    return value


def _invalid(cause: str, *, advice: str | None = None) -> ServiceError:
    return ServiceError("invalid_input", cause, advice=advice, provider=_PROVIDER)
