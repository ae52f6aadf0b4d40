"""Every built-in tool, one row each, and one server that stands for all of their services.

The arguments of a row are the example of the tool's own description, so that what a model is shown is what is called.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from dependency_injector import providers

import toolkit
from containers import BuiltinTools
from tests.builtin_tools.linear.answers import ISSUE, answering, issue, label, page, state, team, user
from tests.builtin_tools.pubmed.answers import Eutils, hits, links, record
from tests.builtin_tools.web_search.providers import NAMES, one_page
from tests.builtin_tools.wikipedia.answers import ADA, search_answer
from tests.http.clients import ManualClock
from tests.http.loopback import GUARD, Received, Reply
from toolkit import ToolResult

CONTACT = "ada@contact.example"
ZONE = "a_zone_of_ada"
VARIABLES = (
    "TOOLWIRE_CONTACT",
    "NCBI_API_KEY",
    "SEARCH_PUBMED_API_KEY",
    "LINEAR_API_KEY",
    "LINEAR_TEAM_ID",
    "TAVILY_API_KEY",
    "BRAVE_API_KEY",
    "BRAVE_SEARCH_API_KEY",
    "EXA_API_KEY",
    "SEARCH_EXA_API_KEY",
    "SERPER_API_KEY",
    "SEARXNG_URL",
    "FIRECRAWL_API_KEY",
    "SEARCH_FIRECRAWL_API_KEY",
    "SEARCH_BRIGHTDATA_API_KEY",
    "SEARCH_BRIGHTDATA_SERP_ZONE",
    "WEB_SEARCH_PROVIDER",
    "WEB_SEARCH_ALLOW_KEYLESS",
)


@dataclass(frozen=True)
class Row:
    """One tool.

    Attributes:
        told: What the text has to hold, so that who reads only that can cite or go on.
        needs: What is missing without a configuration; a blank where nothing is.
        hidden: Whether a model is shown it only where the configuration switches it on.
        payloads: The folder of recorded answers.
    """

    told: tuple[str, ...]
    needs: str = ""
    hidden: bool = False
    payloads: str = ""


_SEARCH = ("Ada", "https://ada.example.org/", "2026-03-25")
_PUBMED = ("A title.", "PMID", "https://pubmed.ncbi.nlm.nih.gov/", "2020")
_ISSUE = ("ENG-1", "Login redirects twice", "https://linear.app/acme/issue/ENG-1/login")

TOOLS: dict[str, Row] = {
    "web_search": Row(_SEARCH, payloads="websearch"),
    "fetch_url": Row(("Tea is a drink.", "url: http://127.0.0.1"), payloads="web_pages"),
    "wikipedia_search": Row(("Ada Lovelace", "https://en.wikipedia.org"), "contact", payloads="wikipedia"),
    "wikipedia_page": Row(("Notes.", "https://en.wikipedia.org/wiki/Ada_Lovelace"), "contact", payloads="wikipedia"),
    "pubmed_search": Row(_PUBMED, "contact", payloads="pubmed"),
    "pubmed_fetch": Row(_PUBMED, "contact", payloads="pubmed"),
    "pubmed_related": Row(_PUBMED, "contact", payloads="pubmed"),
    "linear_search_issues": Row(_ISSUE, "linear.api_key", payloads="linear"),
    "linear_list_issues": Row(_ISSUE, "linear.api_key", payloads="linear"),
    "linear_get_issue": Row(_ISSUE, "linear.api_key", payloads="linear"),
    "linear_list": Row(("In Progress",), "linear.api_key", payloads="linear"),
    "linear_create_issue": Row(_ISSUE, "linear.writes", hidden=True, payloads="linear"),
    "linear_update_issue": Row(_ISSUE, "linear.writes", hidden=True, payloads="linear"),
    "linear_add_comment": Row(
        ("https://linear.app/acme/issue/ENG-1#c",), "linear.writes", hidden=True, payloads="linear"
    ),
    "linear_delete_issue": Row(("ENG-1",), "linear.deletes", hidden=True, payloads="linear"),
    "exa_web_search": Row(_SEARCH, "web_search.exa.api_key", hidden=True, payloads="websearch"),
    "firecrawl_search": Row(_SEARCH, "web_search.firecrawl.api_key", hidden=True, payloads="websearch"),
    "brightdata_search": Row(_SEARCH[:2], "web_search.brightdata.api_key", hidden=True, payloads="websearch"),
}
EACH = pytest.mark.parametrize("name", TOOLS)

# A name for a test: the tool's own, and `web_search` once for each provider that is asked over HTTP.
ASKED = [*TOOLS, *(f"web_search/{provider}" for provider in NAMES if provider != "brightdata")]
EACH_SERVICE = pytest.mark.parametrize("asked", ASKED)


def config_for(url: str, key: str = "a key", asked: str = "", **more: Any) -> dict[str, Any]:
    """The whole configuration, with a key wherever one can be. `asked` may name the search provider to take."""
    provider = asked.partition("/")[2] or "tavily"
    accounts = {name: {"base_url": f"{url}/{name}", "api_key": key} for name in NAMES}
    accounts["brightdata"]["serp_zone"] = ZONE
    return {
        "contact": CONTACT,
        "timeout": GUARD,
        "wikipedia": {"base_url": f"{url}/wikipedia/{{language}}"},
        "pubmed": {"base_url": f"{url}/pubmed", "api_key": key},
        "linear": {"base_url": f"{url}/linear", "api_key": key, "writes": True, "deletes": True},
        "web_search": {"provider": provider, "branded": True, **accounts},
        "fetch_url": {"allow_private": True},
        **more,
    }


def tool_of(tools: Any, asked: str) -> Any:
    """The tool, as its provider gives it."""
    return getattr(tools, asked.partition("/")[0])()


def alone(http: Any, config: Any = None) -> BuiltinTools:
    """The container, with a clock that nobody waits for."""
    tools = BuiltinTools(http=http) if config is None else BuiltinTools(config=config, http=http)
    tools.clock.override(providers.Factory(ManualClock))
    return tools


async def called(tools: Any, asked: str, url: str) -> ToolResult:
    tool = tool_of(tools, asked)
    return await toolkit.execute(tool, arguments_of(tool, url))


def arguments_of(tool: Any, url: str) -> dict[str, Any]:
    """The example of the tool's description; an address in it is moved to the server."""
    description = toolkit.definition(tool).description
    _, marker, example = description.partition("Example: ")
    assert marker, f"no example in: {description}"
    arguments: dict[str, Any] = json.loads(example)
    return {**arguments, "url": f"{url}/page"} if "url" in arguments else arguments


_eutils = Eutils({"esearch": hits("219391"), "elink": links("pubmed_pubmed_citedin", "35649368")})


def _ids(request: Received) -> Iterator[str]:
    yield from request.form.get("id", "").split(",")


def _pubmed(request: Received) -> Reply:
    known = {f"pmid_{pmid}": record(pmid) for pmid in _ids(request)}
    return Eutils(_eutils.programs, **known)(request)


def _wikipedia(request: Received) -> Reply:
    return search_answer("Ada Lovelace") if request.params.get("list") == "search" else ADA


_linear = answering(
    searchIssues=page(issue()),
    issues=page(issue()),
    issue=issue(),
    teams=page(team()),
    viewer=user("ada"),
    issueLabels=page(label("Bug")),
    workflowStates=page(state("In Progress")),
    issueCreate={"success": True, "issue": issue()},
    issueUpdate={"success": True, "issue": issue()},
    commentCreate={"success": True, "comment": {"id": ISSUE, "url": "https://linear.app/acme/issue/ENG-1#c"}},
    issueDelete={"success": True, "entity": {"identifier": "ENG-1", "title": "Login"}},
)


def fine(request: Received) -> Reply:
    """What every service answers when all is well."""
    service = request.path.split("/")[1]
    if service in NAMES:
        return one_page(service)
    if service == "page":
        return Reply("Tea is a drink.", headers={"Content-Type": "text/plain"})
    return {"wikipedia": _wikipedia, "pubmed": _pubmed, "linear": _linear}[service](request)


def said_in(request: Received) -> str:
    """All that a request says, in one text."""
    headers = "\n".join(f"{name}: {value}" for name, value in request.headers.items())
    return f"{request.target}\n{headers}\n\n{request.body.decode('latin-1')}"
