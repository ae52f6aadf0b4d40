"""Every provider over HTTP: how a tool for it is made, and a small answer of its kind."""

from __future__ import annotations

from typing import Any

import toolkit
from builtin_tools.web_search import BrightDataSearch, WebSearch, WebSearchClient, WebSearchSettings
from tests.http.clients import ManualClock
from tests.http.loopback import GUARD, LoopbackServer, Reply
from tests.shared_files import shared
from toolkit import ToolResult

KEY = "sk+secret/1234567890"
ZONE = "serp_zone_of_ada"
BRANDED = "brightdata"
PROVIDERS = ("tavily", "brave", "exa", "serper", "searxng", "firecrawl")
EVERY = (*PROVIDERS, BRANDED)
NAMES = {
    "tavily": "Tavily",
    "brave": "Brave",
    "exa": "Exa",
    "serper": "Serper",
    "searxng": "SearXNG",
    "firecrawl": "Firecrawl",
    "brightdata": "Bright Data",
}


def recorded(name: str, status: int = 200, **headers: str) -> Reply:
    """A recorded answer; the test is skipped where there is none."""
    return Reply(shared(f"payloads/websearch/{name}.json").read_bytes(), status=status, headers=headers)


def answer_of(provider: str, *pages: tuple[str, str, str, str]) -> Reply:
    """Pages (title, address, snippet, date) in the form in which the provider writes them."""
    title, url, snippet, date = {
        "tavily": ("title", "url", "content", "published_date"),
        "brave": ("title", "url", "description", "page_age"),
        "exa": ("title", "url", "text", "publishedDate"),
        "serper": ("title", "link", "snippet", "date"),
        "searxng": ("title", "url", "content", "publishedDate"),
        "firecrawl": ("title", "url", "description", "date"),
        "brightdata": ("title", "link", "description", "date"),
    }[provider]
    results = [{title: page[0], url: page[1], snippet: page[2], date: page[3] or None} for page in pages]
    body: dict[str, Any] = {
        "tavily": {"results": results, "response_time": "0.5"},
        "brave": {"type": "search", "web": {"results": results}},
        "exa": {"results": results},
        "serper": {"organic": results},
        "searxng": {"results": results, "answers": [{"answer": "an object"}]},
        "firecrawl": {"success": True, "data": {"web": results}},
        "brightdata": {"organic": results},
    }[provider]
    return Reply(body)


def one_page(provider: str) -> Reply:
    return answer_of(provider, ("Ada", "https://ada.example.org/", "Wrote the first program.", "2026-03-25T15:46:00Z"))


def config_for(provider: str, server: LoopbackServer, key: str = KEY, **more: Any) -> dict[str, Any]:
    """The configuration for one provider that lives on the loopback server."""
    account: dict[str, Any] = {"base_url": server.url, "api_key": key, "serp_zone": ZONE}
    if provider == "searxng":
        account = {"base_url": server.url.replace("http://", "http://ada:sk%2Bsecret%2F1234567890@")}
    chosen = {} if provider == BRANDED else {"provider": provider}
    return {"timeout": GUARD, "web_search": {**chosen, provider: account}, **more}


def client_over(http: Any, config: Any, clock: Any = None, **environment: str) -> WebSearchClient:
    return WebSearchClient(http, WebSearchSettings.read(config, environment=environment), clock=clock or ManualClock())


async def asked(http: Any, config: Any, clock: Any = None, **arguments: Any) -> ToolResult:
    """What `web_search` answers a model."""
    return await toolkit.execute(WebSearch(client_over(http, config, clock)), {"query": "ada", **arguments})


async def asked_of(provider: str, http: Any, config: Any, clock: Any = None, **arguments: Any) -> ToolResult:
    """What `web_search` answers a model; for Bright Data, its own tool."""
    if provider != BRANDED:
        return await asked(http, config, clock, **arguments)
    return await toolkit.execute(BrightDataSearch(client_over(http, config, clock)), {"query": "ada", **arguments})
