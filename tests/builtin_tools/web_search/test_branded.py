"""`exa_web_search`, `firecrawl_search` and `brightdata_search`, under the names and inputs that Ooneex gives them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from dependency_injector import containers, providers

import toolkit
from builtin_tools.web_search import (
    BrightDataResult,
    BrightDataSearch,
    ExaResult,
    ExaWebSearch,
    FirecrawlResult,
    FirecrawlSearch,
)
from containers import BuiltinTools
from tests.builtin_tools.web_search.providers import client_over, config_for, recorded
from tests.http.clients import ManualClock
from tests.http.loopback import Reply, serving
from toolkit import Agent
from toolkit.injection import application, dep, provide
from toolkit.testing import ScriptedModel, call, calls, says

NAMES = ["exa_web_search", "firecrawl_search", "brightdata_search"]


def test_the_model_is_shown_ooneexs_names_and_inputs() -> None:
    inputs = {
        ExaWebSearch: {"query", "numResults", "type", "category", "includeDomains", "excludeDomains"},
        FirecrawlSearch: {"query", "limit", "sources", "includeDomains", "excludeDomains", "location"},
        BrightDataSearch: {"query", "limit", "country", "language"},
    }
    for tool, names in inputs.items():
        definition = toolkit.definition(tool(client_over(object(), None)))
        assert definition.name in NAMES
        assert set(definition.input_schema["properties"]) == names
        assert definition.input_schema["required"] == ["query"]
        assert all(part["description"] for part in definition.input_schema["properties"].values())


async def test_exa_is_asked_in_its_own_words_and_read_whole(http: Any, clock: ManualClock) -> None:
    page = {
        "id": "1",
        "url": "https://a.example/",
        "title": "Ada",
        "publishedDate": "2024-06-21T15:55:04.000Z",
        "author": "A. <b>Byron</b>",
        "score": 0.5,
        "highlights": ["one\n...\ntwo", "three"],
    }
    async with serving(Reply({"results": [page, {"id": "2", "url": "ftp://x"}]})) as server:
        result = await toolkit.execute(
            ExaWebSearch(client_over(http, config_for("exa", server), clock)),
            {
                "query": "ada",
                "numResults": 30,
                "type": "deep",
                "category": "research paper",
                "includeDomains": ["A.example"],
                "excludeDomains": ["b.example"],
            },
        )

    assert json.loads(server.requests[0].body) == {
        "query": "ada",
        "numResults": 10,
        "type": "deep",
        "category": "research paper",
        "includeDomains": ["a.example"],
        "excludeDomains": ["b.example"],
        "contents": {"highlights": True},
    }
    assert result.value.results == (
        ExaResult(
            "Ada",
            "https://a.example/",
            "one ... two … three",
            "2024-06-21",
            "a.example",
            author="A. Byron",
            score=0.5,
            highlights=("one ... two", "three"),
        ),
    )
    assert result.content == (
        '1 results for "ada" (Exa)\n'
        "[1] Ada — a.example, 2024-06-21, by A. Byron, score 0.50\n"
        "https://a.example/\n"
        "one ... two … three\n"
        "note: numResults has to be 1 to 10, so 10 was used instead of 30"
    )


async def test_a_recorded_answer_of_exa_is_read(http: Any, clock: ManualClock) -> None:
    async with serving(recorded("exa_search_highlights")) as server:
        tool = ExaWebSearch(client_over(http, config_for("exa", server), clock))
        result = await toolkit.execute(tool, {"query": "pydantic ai"})

    assert [found.title for found in result.value.results] == [
        "Pydantic AI | Pydantic Docs",
        "AI Agent Framework, the Pydantic way - GitHub",
    ]
    assert all(found.author is None and found.score is None for found in result.value.results)
    assert result.value.results[0].highlights[0].startswith("# Pydantic AI ... GenAI Agent Framework")


async def test_firecrawl_gives_web_news_and_images_each_named(http: Any, clock: ManualClock) -> None:
    body = {
        "success": True,
        "data": {
            "web": [{"url": "https://a.example/", "title": "Ada", "description": "words", "category": "research"}],
            "news": [{"url": "https://b.example/", "title": "Bob", "snippet": "news", "date": "2 days ago"}],
            "images": [{"url": "https://c.example/", "title": "Cat", "imageUrl": "https://c.example/cat.png"}],
        },
    }
    arguments = {"query": "ada", "limit": 2, "sources": ["web", "news", "images", "web"][:3], "location": " Wien "}
    async with serving(Reply(body)) as server:
        tool = FirecrawlSearch(client_over(http, config_for("firecrawl", server), clock))
        result = await toolkit.execute(tool, arguments)

    assert json.loads(server.requests[0].body) == {
        "query": "ada",
        "limit": 2,
        "sources": ["web", "news", "images"],
        "location": "Wien",
    }
    assert result.value.results == (
        FirecrawlResult("Ada", "https://a.example/", "words", None, "a.example", kind="web", category="research"),
        FirecrawlResult("Bob", "https://b.example/", "news", "2 days ago", "b.example", kind="news"),
        FirecrawlResult(
            "Cat", "https://c.example/", "", None, "c.example", kind="images", image_url="https://c.example/cat.png"
        ),
    )
    assert "[1] Ada — a.example, web, research\n" in result.content
    assert "[3] Cat — c.example, images, image https://c.example/cat.png\n" in result.content


async def test_bright_data_gives_ranks_and_drops_what_has_no_address(http: Any, clock: ManualClock) -> None:
    organic = [
        {"link": "https://a.example/", "title": "Ada", "description": "words", "rank": 1, "global_rank": 3},
        {"title": "nowhere", "rank": 2},
        {"url": "https://b.example/", "title": "Bob", "global_rank": 4},
    ]
    async with serving(Reply({"organic": organic})) as server:
        tool = BrightDataSearch(client_over(http, config_for("brightdata", server), clock))
        result = await toolkit.execute(tool, {"query": "ada", "limit": 20})

    assert result.value.results == (
        BrightDataResult("Ada", "https://a.example/", "words", None, "a.example", rank=1),
        BrightDataResult("Bob", "https://b.example/", "", None, "b.example", rank=4),
    )
    assert "[1] Ada — a.example, rank 1\n" in result.content


@pytest.mark.parametrize("tool", [ExaWebSearch, FirecrawlSearch, BrightDataSearch])
@pytest.mark.parametrize("arguments", [{"query": ""}, {"query": "a", "type": "slow"}, {"query": "a", "sources": ["x"]}])
async def test_empty_queries_and_unknown_choices_are_refused(tool: Any, arguments: dict[str, Any]) -> None:
    result = await toolkit.execute(tool(client_over(object(), None)), arguments)

    assert result.is_error


class Desk(containers.DeclarativeContainer):
    config = providers.Configuration()
    http = providers.Dependency(default=object())
    builtin_tools = providers.Container(BuiltinTools, config=config, http=http)
    exa_web_search = builtin_tools.exa_web_search
    firecrawl_search = builtin_tools.firecrawl_search
    brightdata_search = builtin_tools.brightdata_search
    web_search = builtin_tools.web_search
    model = providers.Factory(ScriptedModel, [says("")])
    agent = provide(Agent, model=dep(model), tools=["web_search", *NAMES])


@pytest.mark.parametrize("branded", [None, False, True])
async def test_models_are_offered_them_only_where_the_configuration_says_so(branded: bool | None) -> None:
    model = ScriptedModel([says("")])
    async with application(Desk(config={"web_search": {"branded": branded}})) as app:
        await app.agent().run("hello", model=model)

    offered = [tool.name for tool in model.requests[0].tools]
    assert offered == (["web_search", *NAMES] if branded else ["web_search"])


async def test_a_run_that_is_not_offered_them_treats_them_as_unknown_and_one_that_is_calls_them() -> None:
    async def result_of(branded: bool) -> str:
        model = ScriptedModel([calls(call("exa_web_search", {"query": "ada"})), says("")])
        config = {"web_search": {"branded": branded, "exa": {"api_key": None}}}
        async with application(Desk(config=config)) as app:
            run = await app.agent().run("hello", model=model)
        return run.calls[0].result.content

    assert (await result_of(False)).startswith("unknown tool 'exa_web_search'")
    assert (await result_of(True)).startswith("not configured: Exa needs a key")
