"""The built-in tools, wired: to use alone, or as a part of an application's container."""

from __future__ import annotations

from typing import Any

from dependency_injector import containers, providers

from builtin_tools.fetch_url import FetchSettings, FetchUrl, SystemResolver, WebClient, page_cache
from builtin_tools.http import AnswerCache, SystemClock
from builtin_tools.linear import (
    LinearAddComment,
    LinearClient,
    LinearCreateIssue,
    LinearDeleteIssue,
    LinearGetIssue,
    LinearList,
    LinearListIssues,
    LinearSearchIssues,
    LinearSettings,
    LinearUpdateIssue,
    LinearWriter,
    cache_of_names,
    memory_of_writes,
    pace_of_requests,
    pace_of_searches,
)
from builtin_tools.pubmed import (
    PubMedClient,
    PubMedFetch,
    PubMedRelated,
    PubMedSearch,
    PubMedSettings,
    ncbi_pace,
)
from builtin_tools.web_search import (
    BrightDataSearch,
    ExaWebSearch,
    FirecrawlSearch,
    SearchPaces,
    SearchThread,
    WebSearch,
    WebSearchClient,
    WebSearchSettings,
)
from builtin_tools.wikipedia import (
    WikipediaClient,
    WikipediaPage,
    WikipediaSearch,
    WikipediaSettings,
    wikimedia_pace,
)
from containers.configuration import as_given

__all__ = ["BuiltinTools"]


def _key_state(settings: PubMedSettings) -> str:
    return "with_key" if settings.api_key else "without_key"


class BuiltinTools(containers.DeclarativeContainer):
    """One provider per built-in tool, named as the tool. Nothing has to be opened, and `http` is never closed here.

    Example:
        ```python
        tools = BuiltinTools(config={"contact": "ada@example.org"}, http=http)
        await toolkit.execute(tools.wikipedia_page(), {"title": "Ada Lovelace"})
        ```
        or, inside an application's container,
        ```python
        tools = providers.Container(BuiltinTools, config=config.tools, http=http)
        ```

    Every key of the configuration is optional: `contact` (else `TOOLWIRE_CONTACT`), `user_agent`, `timeout` (seconds,
    10), `wikipedia.base_url` (with `{language}` where the code goes), `fetch_url.allow_private` and
    `fetch_url.allow_proxy` (false; `timeout` is 20 for pages), `pubmed.base_url`, `pubmed.api_key` (else
    `NCBI_API_KEY`, else `SEARCH_PUBMED_API_KEY`), `linear.api_key` (else `LINEAR_API_KEY`), `linear.team` (else
    `LINEAR_TEAM_ID`), `linear.base_url`, `linear.writes` and `linear.deletes` (false), and those of web searches,
    which docs/builtin_tools.md lists. It is read whenever a tool is built. A tool that lacks its contact or key is
    there, and answers `not configured`; tools that write, and the search tools that bear a company's name, are shown
    to a model only where they are switched on.

    Tools and clients are made anew each time, from the `http` of that moment, so that an override reaches them. What
    they share for the container's life, pace and answers, holds no client.
    """

    config = providers.Configuration()
    http: providers.Dependency[Any] = providers.Dependency()
    clock = providers.Factory(SystemClock)

    settings = providers.Callable(as_given, config.provider)

    wikipedia_settings = providers.Factory(WikipediaSettings.read, settings)
    wikipedia_pace = providers.ThreadSafeSingleton(wikimedia_pace, clock=clock)
    wikipedia_cache = providers.ThreadSafeSingleton(AnswerCache, clock=clock)
    wikipedia_client = providers.Factory(
        WikipediaClient, http, wikipedia_settings, pace=wikipedia_pace, cache=wikipedia_cache, clock=clock
    )
    wikipedia_search = providers.Factory(WikipediaSearch, client=wikipedia_client)
    wikipedia_page = providers.Factory(WikipediaPage, client=wikipedia_client)

    fetch_settings = providers.Factory(FetchSettings.read, settings)
    fetch_resolver = providers.Factory(SystemResolver)
    fetch_cache = providers.ThreadSafeSingleton(page_cache, clock=clock)
    fetch_client = providers.Factory(
        WebClient, http, fetch_settings, resolver=fetch_resolver, cache=fetch_cache, clock=clock
    )
    fetch_url = providers.Factory(FetchUrl, client=fetch_client)

    pubmed_settings = providers.Factory(PubMedSettings.read, settings)
    pubmed_pace = providers.Selector(  # NCBI counts callers with a key apart, and lets them ask more often
        providers.Callable(_key_state, pubmed_settings),
        with_key=providers.ThreadSafeSingleton(ncbi_pace, clock=clock, has_key=True),
        without_key=providers.ThreadSafeSingleton(ncbi_pace, clock=clock),
    )
    pubmed_cache = providers.ThreadSafeSingleton(AnswerCache, clock=clock)
    pubmed_client = providers.Factory(
        PubMedClient, http, pubmed_settings, pace=pubmed_pace, cache=pubmed_cache, clock=clock
    )
    pubmed_search = providers.Factory(PubMedSearch, client=pubmed_client)
    pubmed_fetch = providers.Factory(PubMedFetch, client=pubmed_client)
    pubmed_related = providers.Factory(PubMedRelated, client=pubmed_client)

    linear_settings = providers.Factory(LinearSettings.read, settings)
    linear_pace = providers.ThreadSafeSingleton(pace_of_requests, clock=clock)
    linear_search_pace = providers.ThreadSafeSingleton(pace_of_searches, clock=clock)
    linear_names = providers.ThreadSafeSingleton(cache_of_names, clock=clock)
    linear_open_writes = providers.ThreadSafeSingleton(memory_of_writes, clock=clock)
    linear_client = providers.Factory(
        LinearClient,
        http,
        linear_settings,
        pace=linear_pace,
        search_pace=linear_search_pace,
        names=linear_names,
        clock=clock,
    )
    linear_writer = providers.Factory(LinearWriter, linear_client, open_writes=linear_open_writes, clock=clock)
    linear_search_issues = providers.Factory(LinearSearchIssues, client=linear_client)
    linear_list_issues = providers.Factory(LinearListIssues, client=linear_client)
    linear_get_issue = providers.Factory(LinearGetIssue, client=linear_client)
    linear_list = providers.Factory(LinearList, client=linear_client)
    linear_create_issue = providers.Factory(LinearCreateIssue, writer=linear_writer)
    linear_update_issue = providers.Factory(LinearUpdateIssue, writer=linear_writer)
    linear_add_comment = providers.Factory(LinearAddComment, writer=linear_writer)
    linear_delete_issue = providers.Factory(LinearDeleteIssue, writer=linear_writer)

    web_search_settings = providers.Factory(WebSearchSettings.read, settings)
    web_search_paces = providers.ThreadSafeSingleton(SearchPaces, clock=clock)
    web_search_cache = providers.ThreadSafeSingleton(AnswerCache, clock=clock)
    web_search_thread = providers.ThreadSafeSingleton(SearchThread)
    web_search_client = providers.Factory(
        WebSearchClient,
        http,
        web_search_settings,
        paces=web_search_paces,
        cache=web_search_cache,
        thread=web_search_thread,
        clock=clock,
    )
    web_search = providers.Factory(WebSearch, client=web_search_client)
    exa_web_search = providers.Factory(ExaWebSearch, client=web_search_client)
    firecrawl_search = providers.Factory(FirecrawlSearch, client=web_search_client)
    brightdata_search = providers.Factory(BrightDataSearch, client=web_search_client)
