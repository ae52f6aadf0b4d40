"""Searching the web: one tool over many providers, and three that bear a provider's name."""

from builtin_tools.web_search.accounts import Account
from builtin_tools.web_search.branded import BrightDataSearch, ExaWebSearch, FirecrawlSearch
from builtin_tools.web_search.client import WebSearchClient
from builtin_tools.web_search.ddgs import SearchThread
from builtin_tools.web_search.paces import SearchPaces
from builtin_tools.web_search.protocol import Found, Hit, SearchProvider, SearchQuery
from builtin_tools.web_search.queries import checked_query
from builtin_tools.web_search.results import BrightDataResult, ExaResult, FirecrawlResult, WebResult, WebResults
from builtin_tools.web_search.settings import WebSearchSettings
from builtin_tools.web_search.tools import WebSearch

__all__ = [
    "Account",
    "BrightDataResult",
    "BrightDataSearch",
    "ExaResult",
    "ExaWebSearch",
    "FirecrawlResult",
    "FirecrawlSearch",
    "Found",
    "Hit",
    "SearchPaces",
    "SearchProvider",
    "SearchQuery",
    "SearchThread",
    "WebResult",
    "WebResults",
    "WebSearch",
    "WebSearchClient",
    "WebSearchSettings",
    "checked_query",
]
