"""Which provider is asked: by name, by the keys that are there, and what is said when there is none."""

from __future__ import annotations

from typing import Any

import pytest

import toolkit
from builtin_tools.http import Secret, ServiceError
from builtin_tools.web_search import (
    BrightDataSearch,
    ExaWebSearch,
    FirecrawlSearch,
    WebSearch,
    WebSearchClient,
    WebSearchSettings,
)
from tests.builtin_tools.web_search.providers import EVERY, KEY, asked_of, client_over, config_for, one_page
from tests.http.clients import ManualClock
from tests.http.loopback import serving
from toolkit.errors import ConfigurationError

KEYS = {
    "TAVILY_API_KEY": "Tavily",
    "BRAVE_API_KEY": "Brave",
    "BRAVE_SEARCH_API_KEY": "Brave",
    "EXA_API_KEY": "Exa",
    "SEARCH_EXA_API_KEY": "Exa",
    "SERPER_API_KEY": "Serper",
    "FIRECRAWL_API_KEY": "Firecrawl",
    "SEARCH_FIRECRAWL_API_KEY": "Firecrawl",
}


class NoClient:
    """A client that must not be used."""

    async def request(self, method: str, url: str, **settings: Any) -> Any:
        raise AssertionError(f"{url} was asked")


def chosen(config: Any = None, **environment: str) -> str:
    return client_over(NoClient(), config, **environment).provider().name


@pytest.mark.parametrize(("variable", "name"), KEYS.items())
def test_auto_takes_the_provider_whose_key_is_in_the_environment(variable: str, name: str) -> None:
    assert chosen(**{variable: "k"}) == name


@pytest.mark.parametrize("name", ["tavily", "brave", "exa", "serper", "firecrawl"])
def test_auto_takes_the_provider_whose_key_is_in_the_configuration(name: str) -> None:
    assert chosen({"web_search": {name: {"api_key": Secret("k")}}}).lower() == name


def test_auto_prefers_keys_in_the_documented_order() -> None:
    variables = ["TAVILY_API_KEY", "BRAVE_API_KEY", "EXA_API_KEY", "SERPER_API_KEY", "FIRECRAWL_API_KEY"]
    address = {"SEARXNG_URL": "https://searx.example.org"}

    found = [chosen(**dict.fromkeys(variables[gone:], "k"), **address) for gone in range(len(variables) + 1)]

    assert found == ["Tavily", "Brave", "Exa", "Serper", "Firecrawl", "SearXNG"]


def test_without_any_key_tavily_is_asked_in_its_keyless_mode_unless_that_is_forbidden() -> None:
    assert chosen() == "Tavily"
    for config, variables in (
        ({"web_search": {"allow_keyless": False}}, {}),
        (None, {"WEB_SEARCH_ALLOW_KEYLESS": "false"}),
    ):
        with pytest.raises(ServiceError, match=r"^not configured: no provider of web searches has a key"):
            chosen(config, **variables)


def test_a_provider_is_named_by_the_configuration_or_the_environment_and_ddgs_only_so() -> None:
    assert chosen({"web_search": {"provider": "ddgs"}}, TAVILY_API_KEY="k") == "DuckDuckGo"
    assert chosen(WEB_SEARCH_PROVIDER="Exa", TAVILY_API_KEY="k") == "Exa"
    assert chosen({"web_search": {"provider": "brave"}}, WEB_SEARCH_PROVIDER="exa") == "Brave"


@pytest.mark.parametrize("name", ["bing", "brightdata", "auto,brave", "Tavily Search"])
def test_a_provider_that_there_is_not_is_a_configuration_error_that_names_the_choices(name: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        WebSearchSettings.read({"web_search": {"provider": name}}, environment={})

    text = str(caught.value)
    assert f"'web_search.provider' is {name.lower()!r}" in text
    for choice in ("auto", "tavily", "brave", "exa", "serper", "firecrawl", "searxng", "ddgs"):
        assert repr(choice) in text


@pytest.mark.parametrize("config", [None, {}, {"web_search": None}, {"web_search": {"exa": None, "unknown": 1}}])
def test_every_key_may_be_left_out(config: Any) -> None:
    settings = WebSearchSettings.read(config, environment={})

    assert (settings.provider, settings.allow_keyless, settings.branded, settings.timeout) == ("auto", True, False, 10)
    assert settings.exa.base_url == "https://api.exa.ai"
    assert settings.exa.api_key is None
    assert settings.searxng.base_url is None


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ({"web_search": "tavily"}, "web_search"),
        ({"web_search": {"exa": {"base_url": "exa"}}}, "web_search.exa.base_url"),
        ({"web_search": {"brave": {"api_key": "line\nbreak"}}}, "web_search.brave.api_key"),
        ({"web_search": {"brave": {"api_key": 5}}}, "web_search.brave.api_key"),
        ({"web_search": {"allow_keyless": "maybe"}}, "web_search.allow_keyless"),
        ({"web_search": {"branded": 2}}, "web_search.branded"),
        ({"web_search": {"tavily": {"base_url": "https://me:pass@t.example"}}}, "web_search.tavily.base_url"),
        ({"timeout": 0}, "timeout"),
    ],
)
def test_a_wrong_value_is_told_by_its_path_and_not_by_its_value(config: Any, path: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        WebSearchSettings.read(config, environment={})

    assert path in str(caught.value)
    assert "me:pass" not in str(caught.value)
    assert "break" not in str(caught.value)


@pytest.mark.parametrize(
    ("provider", "setting", "variable"),
    [
        ("brave", "web_search.brave.api_key", "BRAVE_API_KEY or BRAVE_SEARCH_API_KEY"),
        ("exa", "web_search.exa.api_key", "EXA_API_KEY or SEARCH_EXA_API_KEY"),
        ("serper", "web_search.serper.api_key", "SERPER_API_KEY"),
        ("firecrawl", "web_search.firecrawl.api_key", "FIRECRAWL_API_KEY or SEARCH_FIRECRAWL_API_KEY"),
        ("searxng", "web_search.searxng.base_url", "SEARXNG_URL"),
    ],
)
async def test_a_named_provider_without_its_key_answers_not_configured_and_sends_nothing(
    provider: str, setting: str, variable: str
) -> None:
    result = await asked_of(provider, NoClient(), {"web_search": {"provider": provider}})

    assert result.is_error
    assert result.content.startswith("not configured: ")
    assert f"Tell the user to set `{setting}` (or the variable {variable}); do not retry." in result.content


async def test_tavily_by_name_needs_a_key_where_keyless_is_forbidden() -> None:
    result = await asked_of("tavily", NoClient(), {"web_search": {"provider": "tavily", "allow_keyless": False}})

    assert result.content.startswith("not configured: Tavily needs a key, and none is set.")


@pytest.mark.parametrize("tool", [ExaWebSearch, FirecrawlSearch, BrightDataSearch])
async def test_the_branded_tools_without_their_keys_answer_not_configured(tool: Any) -> None:
    result = await toolkit.execute(tool(client_over(NoClient(), {"web_search": {"branded": True}})), {"query": "ada"})

    assert result.content.startswith("not configured: ")


async def test_bright_data_needs_a_zone_besides_its_key() -> None:
    client = client_over(NoClient(), None, SEARCH_BRIGHTDATA_API_KEY="k")

    result = await toolkit.execute(BrightDataSearch(client), {"query": "ada"})

    assert result.content.startswith("not configured: Bright Data needs the name of a SERP zone, and none is set.")
    assert "SEARCH_BRIGHTDATA_SERP_ZONE" in result.content


def test_the_zone_comes_from_the_environment_too() -> None:
    settings = WebSearchSettings.read(None, environment={"SEARCH_BRIGHTDATA_SERP_ZONE": "z"})

    assert settings.brightdata_zone == "z"


@pytest.mark.parametrize("provider", EVERY)
async def test_nothing_that_can_be_printed_of_a_client_shows_a_key(
    http: Any, clock: ManualClock, provider: str
) -> None:
    async with serving(one_page(provider)) as server:
        client = client_over(http, config_for(provider, server), clock)

    shown = f"{client.settings!r} {client!r} {vars(client)} {WebSearch(client)!r}"
    assert KEY not in shown
    assert "sk%2B" not in shown


async def test_the_application_starts_without_any_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in (*KEYS, "SEARXNG_URL", "WEB_SEARCH_PROVIDER"):
        monkeypatch.delenv(variable, raising=False)

    client = WebSearchClient(NoClient(), WebSearchSettings.read({"web_search": {"allow_keyless": False}}))
    result = await toolkit.execute(WebSearch(client), {"query": "ada"})

    assert result.content.startswith("not configured: ")
    for variable in ("TAVILY_API_KEY", "BRAVE_API_KEY", "EXA_API_KEY", "SERPER_API_KEY", "SEARXNG_URL"):
        assert variable in result.content
