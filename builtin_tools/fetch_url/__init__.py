"""Pages of the web: the guarded client, and the tool `fetch_url` over it."""

from builtin_tools.fetch_url.client import Page, WebClient, page_cache
from builtin_tools.fetch_url.protocol import NameResolver, PageClient
from builtin_tools.fetch_url.resolver import SystemResolver
from builtin_tools.fetch_url.results import WebPage
from builtin_tools.fetch_url.settings import FetchSettings
from builtin_tools.fetch_url.tools import FetchUrl

__all__ = [
    "FetchSettings",
    "FetchUrl",
    "NameResolver",
    "Page",
    "PageClient",
    "SystemResolver",
    "WebClient",
    "WebPage",
    "page_cache",
]
