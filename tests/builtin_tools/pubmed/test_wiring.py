"""PubMed's tools of `BuiltinTools`."""

from __future__ import annotations

from typing import Any

import pytest
from dependency_injector import providers

import toolkit
from containers import BuiltinTools
from tests.builtin_tools.pubmed.answers import Eutils, hits, links
from tests.http.clients import ManualClock
from tests.http.loopback import GUARD, LoopbackServer, serving

CALLS = {"pubmed_search": {"query": "asthma"}, "pubmed_fetch": {"ids": ["7"]}, "pubmed_related": {"pmid": "7"}}
TOOLS = pytest.mark.parametrize("name", CALLS)


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TOOLWIRE_CONTACT", "NCBI_API_KEY", "SEARCH_PUBMED_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def tools_over(http: Any, server: LoopbackServer, **pubmed: Any) -> BuiltinTools:
    config = {
        "contact": "ada@example.org",
        "timeout": GUARD,
        "pubmed": {"base_url": f"{server.url}/eutils", **pubmed},
    }
    tools = BuiltinTools(config=config, http=http)
    tools.clock.override(providers.Factory(ManualClock))
    return tools


@TOOLS
async def test_a_tool_works_with_nothing_to_open(http: Any, name: str) -> None:
    answers = Eutils({"esearch": hits("7"), "elink": links("pubmed_pubmed", "7")})
    async with serving(answers) as server:
        tool = getattr(tools_over(http, server), name)()
        result = await toolkit.execute(tool, CALLS[name])

    assert toolkit.definition(tool).name == name
    assert not result.is_error, result.content
    assert server.requests[0].form["email"] == "ada@example.org"
    assert "api_key" not in server.requests[0].form


@TOOLS
@pytest.mark.parametrize("config", [{}, {"pubmed": None}, {"pubmed": {"api_key": "k"}}], ids=str)
async def test_without_a_contact_a_tool_answers_not_configured(name: str, config: dict[str, Any]) -> None:
    tools = BuiltinTools(config=config, http=None)

    result = await toolkit.execute(getattr(tools, name)(), CALLS[name])

    assert result.content.startswith("not configured: PubMed ")


@pytest.mark.parametrize("variable", ["NCBI_API_KEY", "SEARCH_PUBMED_API_KEY"])
async def test_the_key_may_come_from_the_environment_and_is_read_when_a_tool_is_built(
    http: Any, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    async with serving(Eutils()) as server:
        tools = tools_over(http, server)
        await toolkit.execute(tools.pubmed_fetch(), {"ids": ["7"]})
        monkeypatch.setenv(variable, "late")
        await toolkit.execute(tools.pubmed_fetch(), {"ids": ["8"]})

    assert [request.form.get("api_key") for request in server.requests] == [None, "late"]


async def test_the_tools_of_one_container_share_the_pace_of_their_key(http: Any) -> None:
    async with serving(Eutils()) as server:
        without, with_key = tools_over(http, server), tools_over(http, server, api_key="k")

    assert without.pubmed_pace() is without.pubmed_pace()
    assert (without.pubmed_pace().interval, with_key.pubmed_pace().interval) == (0.35, 0.11)
