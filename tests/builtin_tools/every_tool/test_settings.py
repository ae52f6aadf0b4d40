"""Every key of the configuration and every variable that is promised reaches the tools that it is for."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest

import toolkit
from tests.builtin_tools.every_tool.table import (
    EACH,
    EACH_SERVICE,
    VARIABLES,
    alone,
    called,
    config_for,
    fine,
    said_in,
    tool_of,
)
from tests.builtin_tools.linear.answers import TEAM, team, variables_of
from tests.builtin_tools.web_search.providers import NAMES
from tests.http.loopback import Received, Reply, serving
from tests.shared_files import shared
from toolkit.errors import ConfigurationError

VALUE = "value-7f3a9c"
KEYS_OF_VARIABLES = {
    "NCBI_API_KEY": "pubmed_search",
    "SEARCH_PUBMED_API_KEY": "pubmed_fetch",
    "LINEAR_API_KEY": "linear_get_issue",
    "TAVILY_API_KEY": "web_search/tavily",
    "BRAVE_API_KEY": "web_search/brave",
    "EXA_API_KEY": "web_search/exa",
    "SEARCH_EXA_API_KEY": "exa_web_search",
    "SERPER_API_KEY": "web_search/serper",
    "FIRECRAWL_API_KEY": "web_search/firecrawl",
    "SEARCH_FIRECRAWL_API_KEY": "firecrawl_search",
    "SEARCH_BRIGHTDATA_API_KEY": "brightdata_search",
    "SEARCH_BRIGHTDATA_SERP_ZONE": "brightdata_search",
    "TOOLWIRE_CONTACT": "wikipedia_page",
}
OTHER_VARIABLES = {"LINEAR_TEAM_ID", "SEARXNG_URL"}  # each has a test of its own below


def without_keys(config: Any) -> Any:
    """The configuration without what a variable can give."""
    if not isinstance(config, dict):
        return config
    given = {"api_key", "contact"}
    return {key: without_keys(value) for key, value in config.items() if key not in given}


def promised() -> str:
    """What is promised of the configuration, for those who write tests against it."""
    page = shared("API.md").read_text()
    return page.partition("\n## 10.")[2].partition("\n## ")[0]


def test_every_variable_that_is_promised_has_its_test_here() -> None:
    variables = set(re.findall(r"`([A-Z]+(?:_[A-Z]+)+)`", promised()))

    assert variables == {*KEYS_OF_VARIABLES, *OTHER_VARIABLES}
    assert variables <= set(VARIABLES)


@pytest.mark.parametrize(("variable", "asked"), KEYS_OF_VARIABLES.items())
async def test_a_variable_gives_what_the_configuration_leaves_out(
    http: Any, monkeypatch: pytest.MonkeyPatch, variable: str, asked: str
) -> None:
    async with serving(fine) as server:
        config = without_keys(config_for(server.url, asked=asked))
        if variable == "SEARCH_BRIGHTDATA_SERP_ZONE":
            monkeypatch.setenv("SEARCH_BRIGHTDATA_API_KEY", "k")
            del config["web_search"]["brightdata"]["serp_zone"]
        if asked.startswith("pubmed"):
            config["contact"] = "ada@example.org"
        monkeypatch.setenv(variable, VALUE)
        result = await called(alone(http, config), asked, server.url)

    assert not result.is_error, result.content
    assert all(VALUE in said_in(request) for request in server.requests)


@pytest.mark.parametrize("asked", sorted({*KEYS_OF_VARIABLES.values()} - {"wikipedia_page"}))
async def test_the_configuration_goes_before_the_variables(
    http: Any, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    for variable in VARIABLES:
        if variable.endswith(("_KEY", "_ID", "_CONTACT", "_ZONE")):
            monkeypatch.setenv(variable, VALUE)
    async with serving(fine) as server:
        config = config_for(server.url, "the-configured-key", asked)
        config["linear"]["team"] = TEAM
        result = await called(alone(http, config), asked, server.url)

    assert not result.is_error, result.content
    assert all("the-configured-key" in said_in(request) for request in server.requests)
    assert not any(VALUE in said_in(request) for request in server.requests)


async def test_an_instance_of_searxng_is_found_by_its_variable(http: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(fine) as server:
        monkeypatch.setenv("SEARXNG_URL", f"{server.url}/searxng")
        result = await called(alone(http, {}), "web_search", server.url)

    assert result.value.provider == "SearXNG"  # type: ignore[attr-defined]
    assert [request.path for request in server.requests] == ["/searxng/search"]


@pytest.mark.parametrize(
    ("address", "key", "sent"),
    [
        ("", "a-token", "Bearer a-token"),
        ("", "ada:secret", f"Basic {base64.b64encode(b'ada:secret').decode()}"),
        ("ada:secret@", None, f"Basic {base64.b64encode(b'ada:secret').decode()}"),
        ("ada@", None, f"Basic {base64.b64encode(b'ada:').decode()}"),
        ("ada:secret@", "a-token", f"Basic {base64.b64encode(b'ada:secret').decode()}"),
        ("", None, None),
    ],
    ids=["a token", "a login", "in the address", "a name in the address", "both", "none"],
)
async def test_an_instance_of_searxng_behind_a_login_is_given_its_key(
    http: Any, address: str, key: str | None, sent: str | None
) -> None:
    async with serving(fine) as server:
        url = server.url.replace("http://", f"http://{address}")
        config = {"web_search": {"provider": "searxng", "searxng": {"base_url": f"{url}/searxng", "api_key": key}}}
        result = await called(alone(http, config), "web_search", server.url)

    assert not result.is_error, result.content
    assert [request.headers.get("authorization") for request in server.requests] == [sent]


@pytest.mark.parametrize("source", ["linear.team", "LINEAR_TEAM_ID"])
async def test_the_team_that_is_meant_comes_from_the_configuration_or_its_variable(
    http: Any, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    asked_for: list[Any] = []

    def answer(request: Received) -> Reply:
        if b"teams" in request.body:
            asked_for.append(variables_of(request))
            return Reply({"data": {"teams": {"nodes": [team()], "pageInfo": {"hasNextPage": False}}}})
        return fine(request)

    async with serving(answer) as server:
        config = config_for(server.url)
        if source == "linear.team":
            config["linear"]["team"] = "ENG"
        else:
            monkeypatch.setenv(source, "ENG")
        result = await toolkit.execute(alone(http, config).linear_create_issue(), {"title": "Tea is cold"})

    assert not result.is_error, result.content
    assert "ENG" in str(asked_for[0])


@EACH_SERVICE
async def test_a_tool_tells_its_service_the_applications_name(http: Any, asked: str) -> None:
    async with serving(fine) as server:
        config = config_for(server.url, asked=asked, user_agent="TeaHouse/2.1")
        result = await called(alone(http, config), asked, server.url)

    assert not result.is_error, result.content
    assert {request.headers["user-agent"].split(" ")[0] for request in server.requests} == {"TeaHouse/2.1"}


@EACH_SERVICE
async def test_a_service_that_hangs_is_waited_for_as_many_seconds_as_the_configuration_says(
    http: Any, asked: str
) -> None:
    async with serving(Reply(never=True)) as server:
        config = config_for(server.url, asked=asked, timeout=0.0625)
        result = await called(alone(http, config), asked, server.url)
        await server.until_no_connection()

    assert result.is_error
    assert "within 0.0625 seconds" in result.content


@EACH
def test_a_setting_of_the_wrong_kind_is_told_by_its_name_when_the_tool_is_built(name: str) -> None:
    with pytest.raises(ConfigurationError, match="'timeout' has to be a number of seconds"):
        tool_of(alone(None, {"timeout": "soon"}), name)


@EACH
def test_a_section_that_is_no_mapping_is_told_by_its_name_when_the_tool_is_built(name: str) -> None:
    family = {"exa": "web_search", "firecrawl": "web_search", "brightdata": "web_search", "web": "web_search"}
    section = {"fetch": "fetch_url", **family}.get(name.split("_")[0], name.split("_")[0])

    with pytest.raises(ConfigurationError, match=f"configuration {section} is a str; give a mapping"):
        tool_of(alone(None, {section: "yes"}), name)


def _of(provider: str) -> list[str]:
    return [f"web_search.{provider}.base_url", f"web_search.{provider}.api_key"]


READ_BY = {
    **dict.fromkeys(["contact", "user_agent", "wikipedia.base_url"], "wikipedia_page"),
    **dict.fromkeys(["pubmed.base_url", "pubmed.api_key"], "pubmed_search"),
    **dict.fromkeys(
        ["linear.base_url", "linear.api_key", "linear.team", "linear.writes", "linear.deletes"], "linear_list"
    ),
    **dict.fromkeys(["web_search.provider", "web_search.allow_keyless", "web_search.branded"], "web_search"),
    **dict.fromkeys([key for name in NAMES for key in _of(name)], "web_search"),
    "fetch_url.allow_private": "fetch_url",
    "timeout": "fetch_url",
}


@pytest.mark.parametrize(("key", "name"), READ_BY.items())
def test_every_key_is_read_and_told_by_its_path_when_its_value_is_of_the_wrong_kind(key: str, name: str) -> None:
    config: Any = ["a", "list"]
    for part in reversed(key.split(".")):
        config = {part: config}

    with pytest.raises(ConfigurationError, match=re.escape(f"'{key}'")):
        tool_of(alone(None, config), name)


def test_every_key_that_is_promised_is_among_those_that_are_read() -> None:
    spans = " ".join(re.findall(r"`([a-z][a-z_., ]*)`", promised()))

    dotted = set(re.findall(r"[a-z_]+(?:\.[a-z_]+)+", spans)) - {"config.tools"}

    assert len(dotted) > 10
    assert dotted <= set(READ_BY)
    assert {"contact", "user_agent", "timeout"} <= set(spans.split())
