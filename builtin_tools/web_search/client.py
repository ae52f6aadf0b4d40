"""Searching the web with whichever provider there is a key for."""

from __future__ import annotations

from builtin_tools.http import AnswerCache, Clock, HttpClient, ServiceError, SystemClock
from builtin_tools.web_search.brave import Brave
from builtin_tools.web_search.brightdata import BrightData
from builtin_tools.web_search.connection import Connection
from builtin_tools.web_search.ddgs import Ddgs, SearchThread
from builtin_tools.web_search.exa import Exa
from builtin_tools.web_search.firecrawl import Firecrawl
from builtin_tools.web_search.paces import SearchPaces
from builtin_tools.web_search.protocol import SearchProvider, SearchQuery
from builtin_tools.web_search.reading import read_results
from builtin_tools.web_search.results import WebResults
from builtin_tools.web_search.searxng import Searxng
from builtin_tools.web_search.serper import Serper
from builtin_tools.web_search.settings import PROVIDERS, WebSearchSettings
from builtin_tools.web_search.tavily import Tavily

__all__ = ["WebSearchClient"]

_KEYED = tuple(name for name in PROVIDERS if name not in ("searxng", "ddgs"))


class WebSearchClient:
    """Searches of the web, typed, over any of the providers.

    Example:
        ```python
        client = WebSearchClient(http, WebSearchSettings.read({"web_search": {"provider": "brave"}}))
        found = await client.search(checked_query("analytical engine", max_results=5))
        ```

    Args:
        http: An `httpx.AsyncClient` or `httpx2.AsyncClient`; it stays open.
        paces: Shared by all clients of one application; its own when left out.
        cache: The same. Failures are not kept.
        thread: The same; only the provider `ddgs` uses it.
    """

    def __init__(
        self,
        http: HttpClient,
        settings: WebSearchSettings,
        *,
        paces: SearchPaces | None = None,
        cache: AnswerCache | None = None,
        thread: SearchThread | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.settings = settings
        self._http = http
        self._clock = SystemClock() if clock is None else clock
        self._paces = SearchPaces(clock=clock) if paces is None else paces
        self._cache = AnswerCache(clock=clock) if cache is None else cache
        self._thread = SearchThread() if thread is None else thread

    async def search(self, query: SearchQuery) -> WebResults:
        """The best results, each page once.

        Raises:
            ServiceError: `not_configured` before anything is sent, where there is no key; what the provider answers.
        """
        provider = self.provider()
        key = (provider.name, self.settings, query)  # what one key may see, another one need not
        found: WebResults | None = self._cache.get(self._http, key)
        if found is None:
            answered = await provider.search(query)
            results, notes = read_results(answered.hits, query.max_results)
            found = WebResults(query.text, provider.name, results, (*answered.notes, *notes))
            self._cache.put(self._http, key, found)
        return found

    def provider(self) -> SearchProvider:
        """The provider of the settings. `auto` takes the first with a key, in the order of `PROVIDERS`; else the
        SearXNG whose address is set; else Tavily without a key, where that is allowed. `ddgs` has to be named.

        Raises:
            ServiceError: `not_configured`: `auto` finds nothing.
        """
        name = self.settings.provider
        if name == "auto":
            name = next((keyed for keyed in _KEYED if self.settings.account(keyed).api_key), "")
            name = name or ("searxng" if self.settings.searxng.base_url else "")
            name = name or ("tavily" if self.settings.allow_keyless else "")
        match name:
            case "tavily":
                return Tavily(self._connection(name), allow_keyless=self.settings.allow_keyless)
            case "brave":
                return Brave(self._connection(name))
            case "exa":
                return self.exa()
            case "serper":
                return Serper(self._connection(name))
            case "firecrawl":
                return self.firecrawl()
            case "searxng":
                return Searxng(self._connection(name))
            case "ddgs":
                return Ddgs(self._thread, timeout=self.settings.timeout)
            case _:
                raise ServiceError(
                    "not_configured",
                    "no provider of web searches has a key",
                    advice="Tell the user to set one of the variables TAVILY_API_KEY, BRAVE_API_KEY, EXA_API_KEY, "
                    "SERPER_API_KEY, FIRECRAWL_API_KEY or SEARXNG_URL; do not retry.",
                    operation="search",
                )

    def exa(self) -> Exa:
        """Exa, whichever provider is set."""
        return Exa(self._connection("exa"))

    def firecrawl(self) -> Firecrawl:
        """Firecrawl, whichever provider is set."""
        return Firecrawl(self._connection("firecrawl"))

    def brightdata(self) -> BrightData:
        """Bright Data, which the branded tool alone uses."""
        return BrightData(self._connection("brightdata"), zone=self.settings.brightdata_zone)

    def _connection(self, name: str) -> Connection:
        return Connection(
            self._http,
            self.settings.account(name),
            self._paces.of(name),
            self.settings.timeout,
            self.settings.user_agent,
            self._clock,
        )
