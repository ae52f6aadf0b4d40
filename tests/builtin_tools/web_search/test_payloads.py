"""Every recorded answer of a search provider is read to the right values, through both HTTP libraries."""

from __future__ import annotations

from typing import Any

import pytest

from builtin_tools.http import ServiceError
from builtin_tools.web_search import WebResults
from tests.builtin_tools.web_search.providers import asked, config_for, recorded
from tests.http.clients import ManualClock
from tests.http.loopback import serving
from tests.shared_files import names_in

READ = {
    "tavily_search_basic": (
        "tavily",
        [
            "https://medium.com/ai-agent-insider/pydantic-ai-agent-framework-02b138e8db71",
            "https://ai.pydantic.dev/",
            "https://www.youtube.com/watch?v=-WB0T0XmDrY",
            "https://medium.com/@tahirbalarabe2/what-is-pydantic-ai-15cc81dea3c3",
            "https://www.reddit.com/r/LLMDevs/comments/1iih8az/pydantic_ai/",
        ],
        {
            1: {"title": "Pydantic AI - Pydantic AI", "source": "ai.pydantic.dev", "published": None},
            2: {
                "snippet": "Pydantic AI lets you integrate large language models like GPT-5 **directly into your "
                "Python applications**."
            },
        },
        (),
    ),
    "brave_web_search": (
        "brave",
        [
            "https://community.n8n.io/c/tutorials/28",
            "https://docs.n8n.io/learning-path/",
            "https://blog.n8n.io/tag/tutorial/",
            "https://www.youtube.com/watch?v=ZbIVOy_GPyQ",
            "https://blog.n8n.io/",
            "https://docs.n8n.io/courses/level-one/",
            "https://medium.com/@syrom_85473/a-practical-n8n-workflow-example-from-a-to-z-part-1-use-case-learning-"
            "journey-and-setup-1f4efcfb81b1",
            "https://docs.n8n.io/try-it-out/quickstart/",
        ],
        {
            0: {
                "title": "Tutorials - n8n Community",
                "published": None,
                "source": "community.n8n.io",
                "snippet": "Join the n8n Community to connect with other users, learn from detailed discussions, and "
                "share your automation insights. Explore topics and get support.",
            },
            3: {"published": "2025-01-31"},
            6: {"published": "2025-01-19"},
        },
        (),
    ),
    "exa_search_highlights": (
        "exa",
        ["https://pydantic.dev/docs/ai/overview/", "https://github.com/pydantic/pydantic-ai"],
        {
            0: {"title": "Pydantic AI | Pydantic Docs", "published": None},
            1: {
                "published": "2024-06-21",
                "snippet": "AI Agent Framework, the Pydantic way ... ### Pydantic AI is a Python agent framework "
                "designed to help you quickly, confidently, and painlessly build production grade applications and "
                "workflows with Generative AI.",
            },
        },
        (),
    ),
    "searxng_json_zh": (
        "searxng",
        [
            "https://www.bilibili.com/video/BV1Nt4y1D7pW/",
            "https://zh.m.wikipedia.org/wiki/何世杰",
            "https://space.bilibili.com/163637592/",
            "https://www.36kr.com/p/1467640415030021",
        ],
        {
            1: {"source": "zh.m.wikipedia.org", "published": "2024-01-15"},
            2: {"published": None, "snippet": "哔哩哔哩老师好我叫何同学的个人空间。"},
            3: {"published": "2021-11-02"},
        },
        ("some engines gave no answer: google images: CAPTCHA",),
    ),
    "serper_knowledge_graph": (
        "serper",
        [
            "https://www.amazon.com/",
            "https://www.amazon.jobs/",
            "https://en.wikipedia.org/wiki/Amazon_(company)",
            "https://facebook.com/Amazon/",
        ],
        {
            2: {"title": "Amazon (company) - Wikipedia", "source": "en.wikipedia.org", "published": None},
            3: {
                "snippet": "Amazon.com, Seattle, Washington. 30191833 likes · 93201 talking about this. Official "
                "Facebook page of www.amazon.com."
            },
        },
        (),
    ),
}

REFUSED = {
    "brave_error_422_token_invalid": (
        "brave",
        422,
        "unauthorized",
        "SUBSCRIPTION_TOKEN_INVALID",
        'unauthorized: Brave answered "The provided subscription token is invalid." (HTTP 422). Tell the user; do not '
        "retry.",
    ),
    "brave_error_422_validation_country": (
        "brave",
        422,
        "invalid_input",
        None,
        "invalid input: Brave answered \"Unable to validate request parameter(s) query.country: Input should be 'AR', "
        "'AU' or 'ALL'\" (HTTP 422). Change the arguments and call again.",
    ),
    "brave_error_429_rate": (
        "brave",
        429,
        "rate_limited",
        None,
        'rate limited: Brave answered "Request rate limit exceeded for plan" (HTTP 429). Wait 1 seconds before trying '
        "again.",
    ),
    "exa_error_401": (
        "exa",
        401,
        "unauthorized",
        None,
        'unauthorized: Exa answered "Unauthorized: Invalid API key" (HTTP 401). Tell the user; do not retry.',
    ),
    "serper_error_403": (
        "serper",
        403,
        "unauthorized",
        None,
        'unauthorized: Serper answered "Unauthorized." (HTTP 403). Tell the user; do not retry.',
    ),
    "tavily_error_400_query_too_long": (
        "tavily",
        400,
        "invalid_input",
        None,
        'invalid input: Tavily answered "Query is too long. Max query length is 400 characters." (HTTP 400). Change '
        "the arguments and call again.",
    ),
}


@pytest.mark.parametrize("name", READ)
async def test_a_recorded_answer_is_read_by_value(http: Any, clock: ManualClock, name: str) -> None:
    provider, urls, fields, notes = READ[name]
    async with serving(recorded(name)) as server:
        result = await asked(http, config_for(provider, server), clock, max_results=10)

    assert not result.is_error
    assert isinstance(result.value, WebResults)
    assert [found.url for found in result.value.results] == urls
    for index, wanted in fields.items():
        found = result.value.results[index]
        assert {field: getattr(found, field) for field in wanted} == wanted
    assert result.value.notes == notes
    assert not any("<strong>" in found.snippet or "&#x27;" in found.snippet for found in result.value.results)


@pytest.mark.parametrize("name", READ)
async def test_a_model_can_cite_every_result_of_a_recorded_answer_from_at_most_6000_characters(
    http: Any, clock: ManualClock, name: str
) -> None:
    provider, *_ = READ[name]
    async with serving(recorded(name)) as server:
        result = await asked(http, config_for(provider, server), clock, max_results=10)

    assert len(result.content) <= 6_000
    for found in result.value.results:
        date = f", {found.published}" if found.published else ""
        assert f"{found.title} — {found.source}{date}\n{found.url}\n" in result.content


@pytest.mark.parametrize("name", REFUSED)
async def test_a_recorded_failure_is_the_named_error(http: Any, clock: ManualClock, name: str) -> None:
    provider, status, kind, code, content = REFUSED[name]
    headers = {"X-RateLimit-Limit": "1, 15000", "X-RateLimit-Remaining": "0, 1400", "X-RateLimit-Reset": "1, 1419704"}
    async with serving(recorded(name, status, **(headers if status == 429 else {}))) as server:
        result = await asked(http, config_for(provider, server), clock)

    assert isinstance(result.error, ServiceError)
    assert (result.error.kind, result.error.status, result.error.code) == (kind, status, code)
    assert result.error.url == server.url + server.requests[0].path
    assert result.content == content


def test_no_recorded_answer_is_left_out() -> None:
    names = {name.removesuffix(".json") for name in names_in("payloads/websearch", "*.json")}

    assert names <= {*READ, *REFUSED}
