"""`BuiltinTools` alone, and as a part of an application's container."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import weakref
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from dependency_injector import containers, providers

import toolkit
from containers import BuiltinTools
from tests.http.clients import LIBRARIES, ManualClock, open_client
from tests.http.loopback import GUARD, LoopbackServer, Reply, serving
from toolkit import Agent
from toolkit.errors import ConfigurationError
from toolkit.injection import AppScoped, application, check, dep, overriding, provide
from toolkit.testing import ScriptedModel, call, calls, says

ADA = {"title": "Ada Lovelace"}


def article(text: str) -> Reply:
    return Reply({"query": {"pages": [{"pageid": 1, "title": "Ada Lovelace", "extract": text}]}})


def config_for(server: LoopbackServer, **more: Any) -> dict[str, Any]:
    return {
        "contact": "ada@example.org",
        "timeout": GUARD,
        "wikipedia": {"base_url": f"{server.url}/{{language}}"},
        **more,
    }


class Recorder:
    """A client that only remembers whom it was to ask."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []

    async def request(self, method: str, url: str, **settings: Any) -> Any:
        self.asked.append((url, settings))
        raise OSError("no network here")


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOOLWIRE_CONTACT", raising=False)


def alone(http: Any, config: Any = None) -> BuiltinTools:
    tools = BuiltinTools(http=http) if config is None else BuiltinTools(config=config, http=http)
    tools.clock.override(providers.Factory(ManualClock))
    return tools


@pytest.mark.parametrize("library", LIBRARIES)
async def test_a_tool_works_with_nothing_to_open(library: Any) -> None:
    async with serving(article("A mathematician.")) as server, open_client(library) as http:
        result = await toolkit.execute(BuiltinTools(config=config_for(server), http=http).wikipedia_page(), ADA)

        assert result.value.text == "A mathematician."
        assert not http.is_closed
    assert server.requests[0].path == "/en/w/api.php"


@pytest.mark.parametrize(
    "name",
    ["wikipedia_search", "wikipedia_page", "web_search", "exa_web_search", "firecrawl_search", "brightdata_search"],
)
def test_each_tool_has_a_provider_of_its_name(name: str) -> None:
    tool = getattr(BuiltinTools(http=Recorder()), name)()

    assert toolkit.definition(tool).name == name


@pytest.mark.parametrize(
    "config",
    [None, {}, {"wikipedia": None}, {"wikipedia": {}, "contact": None}, {"contact": "", "unknown": {"key": 1}}],
)
async def test_without_a_contact_the_container_is_built_and_the_tools_answer_not_configured(config: Any) -> None:
    http = Recorder()
    tools = alone(http, config)

    page = await toolkit.execute(tools.wikipedia_page(), ADA)
    search = await toolkit.execute(tools.wikipedia_search(), {"query": "ada"})

    assert page.content.startswith("not configured: ")
    assert search.content == page.content
    assert http.asked == []


async def test_by_default_the_public_edition_is_asked_within_ten_seconds() -> None:
    http = Recorder()

    await toolkit.execute(alone(http, {"contact": "a@b.org"}).wikipedia_page(), {**ADA, "language": "de"})

    url, settings = http.asked[0]
    assert url == "https://de.wikipedia.org/w/api.php"
    assert settings["timeout"] == 10.0
    assert settings["headers"]["User-Agent"].endswith(" (a@b.org)")


@pytest.mark.parametrize(
    ("provider", "url"),
    [
        ("tavily", "https://api.tavily.com/search"),
        ("brave", "https://api.search.brave.com/res/v1/web/search"),
        ("exa", "https://api.exa.ai/search"),
        ("serper", "https://google.serper.dev/search"),
        ("firecrawl", "https://api.firecrawl.dev/v2/search"),
    ],
)
async def test_by_default_a_search_goes_to_the_providers_public_address(provider: str, url: str) -> None:
    http = Recorder()
    config = {"web_search": {"provider": provider, provider: {"api_key": "k"}}}

    await toolkit.execute(alone(http, config).web_search(), {"query": "ada"})

    assert http.asked[0][0] == url
    assert http.asked[0][1]["timeout"] == 10.0


async def test_searches_share_their_pace_and_their_answers_for_the_containers_life() -> None:
    page = {"title": "Ada", "url": "https://a.example/", "content": "words"}
    for library in LIBRARIES:
        async with serving(Reply({"results": [page]})) as server, open_client(library.values[0]) as http:
            tools = alone(
                http,
                {
                    "timeout": GUARD,
                    "web_search": {"provider": "tavily", "tavily": {"base_url": server.url, "api_key": "k"}},
                },
            )
            results = [await toolkit.execute(tools.web_search(), {"query": "ada"}) for _ in range(3)]

        assert len({result.content for result in results}) == 1
        assert len(server.requests) == 1


async def test_the_contact_may_come_from_the_environment_and_is_read_when_a_tool_is_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    http = Recorder()
    tools = alone(http)
    before = tools.wikipedia_page()
    monkeypatch.setenv("TOOLWIRE_CONTACT", "late@example.org")
    after = tools.wikipedia_page()

    assert (await toolkit.execute(before, ADA)).content.startswith("not configured")
    assert (await toolkit.execute(after, ADA)).content.startswith("unavailable")
    assert "late@example.org" in http.asked[0][1]["headers"]["User-Agent"]


def test_a_wrong_configuration_is_told_by_its_path_when_a_tool_is_built() -> None:
    tools = alone(Recorder(), {"wikipedia": {"base_url": "wikipedia"}})

    with pytest.raises(ConfigurationError, match=r"wikipedia\.base_url"):
        tools.wikipedia_page()


def scripted() -> ScriptedModel:
    return ScriptedModel([calls(call("wikipedia_page", ADA)), says("A mathematician.")])


def an_application(*, strict: bool) -> type[containers.DeclarativeContainer]:
    class Application(containers.DeclarativeContainer):
        config = providers.Configuration(strict=strict)
        http = providers.Factory(Recorder)
        tools = providers.Container(BuiltinTools, config=config.tools, http=http)

    return Application


@pytest.mark.parametrize("strict", [False, True], ids=["lenient", "strict"])
@pytest.mark.parametrize("values", [None, {"other": 1}, {"tools": None}, {"tools": {}}])
async def test_an_application_may_leave_the_whole_section_out(strict: bool, values: Any) -> None:
    app = an_application(strict=strict)()
    if values is not None:
        app.config.from_dict(values)

    result = await toolkit.execute(app.tools.wikipedia_page(), ADA)

    assert result.content.startswith("not configured: ")


@pytest.mark.parametrize("strict", [False, True], ids=["lenient", "strict"])
def test_an_application_without_the_section_is_wired_well(strict: bool) -> None:
    check(an_application(strict=strict)())


@pytest.mark.parametrize("strict", [False, True], ids=["lenient", "strict"])
async def test_an_embedded_container_takes_section_and_client_of_the_application(strict: bool) -> None:
    app = an_application(strict=strict)()
    async with serving(article("A mathematician.")) as server, open_client(LIBRARIES[0].values[0]) as http:
        app.config.from_dict({"tools": config_for(server)})
        with app.http.override(http):
            result = await toolkit.execute(app.tools.wikipedia_page(), ADA)

    assert result.value.text == "A mathematician."


def test_an_error_of_the_configuration_that_is_another_one_is_not_hidden() -> None:
    class Application(containers.DeclarativeContainer):
        values = providers.Dependency()
        tools = providers.Container(BuiltinTools, config=providers.Factory(dict, values), http=providers.Object(None))

    with pytest.raises(Exception, match="Dependency"):
        Application().tools.wikipedia_page()


async def test_an_override_of_the_client_reaches_the_tools_and_what_it_answered_does_not_stay() -> None:
    async with (
        serving(article("real")) as server,
        open_client(LIBRARIES[0].values[0]) as real,
        serving(article("fake")) as other,
        open_client(LIBRARIES[0].values[0]) as fake,
    ):
        tools = alone(real, config_for(server))

        async def read() -> str:
            result = await toolkit.execute(tools.wikipedia_page(), ADA)
            text: str = result.value.text
            return text

        assert await read() == "real"
        with tools.http.override(fake), tools.config.override(config_for(other)):
            assert await read() == "fake"
        assert await read() == "real"

    assert (len(server.requests), len(other.requests)) == (1, 1)


async def test_the_container_keeps_no_overriding_client_alive() -> None:
    tools = alone(Recorder(), {"contact": "a@b.org"})
    fake = Recorder()
    with tools.http.override(fake):
        await toolkit.execute(tools.wikipedia_page(), ADA)
    watched = weakref.ref(fake)

    del fake
    gc.collect()

    assert watched() is None


async def test_the_tools_of_one_container_share_pace_and_answers_and_two_containers_do_not() -> None:
    async with serving(article("A.")) as server, open_client(LIBRARIES[0].values[0]) as http:
        one, two = (alone(http, config_for(server)) for _ in range(2))
        for tools in (one, one, two):
            await toolkit.execute(tools.wikipedia_page(), ADA)

    assert len(server.requests) == 2
    assert one.wikipedia_pace() is one.wikipedia_pace()
    assert one.wikipedia_pace() is not two.wikipedia_pace()


@pytest.mark.parametrize("library", LIBRARIES)
def test_one_container_serves_two_event_loops_in_sequence(library: Any) -> None:
    tools = alone(None)

    async def ask() -> list[str]:
        async with serving(article("A.")) as server, open_client(library) as http:
            with tools.http.override(http), tools.config.override(config_for(server)):
                pages = [tools.wikipedia_page() for _ in range(5)]
                results = await asyncio.gather(
                    *(toolkit.execute(page, {"title": f"Page {n}"}) for n, page in enumerate(pages))
                )
            return [result.value.text for result in results]

    assert asyncio.run(ask()) == asyncio.run(ask()) == ["A."] * 5


async def test_a_run_of_an_application_uses_the_embedded_tools_and_an_override_of_their_client() -> None:
    async def opened() -> AsyncGenerator[Recorder, None]:
        yield Recorder()

    class Application(containers.DeclarativeContainer):
        config = providers.Configuration(strict=True)
        http = AppScoped(opened)
        tools = providers.Container(BuiltinTools, config=config.tools, http=http)
        model = providers.Factory(scripted)
        agent = provide(Agent, model=dep(model), tools=[tools.wikipedia_page])

    async with serving(article("A mathematician.")) as server, open_client(LIBRARIES[0].values[0]) as http:
        container = Application(config={"tools": config_for(server)})
        async with application(container) as app:
            with overriding(container, {"tools.http": http}):
                run = await app.agent().run("Who was she?")

    assert run.calls[0].result.value.text == "A mathematician."
    assert run.response == "A mathematician."


def test_importing_the_package_does_not_import_the_tools() -> None:
    code = (
        "import sys, containers; assert 'builtin_tools' not in sys.modules; "
        "from containers import BuiltinTools; assert 'builtin_tools.wikipedia' in sys.modules; "
        "assert 'httpx' not in sys.modules"
    )

    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_name_that_the_package_does_not_have_is_an_attribute_error() -> None:
    import containers as package

    with pytest.raises(AttributeError, match="Nothing"):
        package.Nothing  # noqa: B018


@pytest.mark.parametrize(
    ("tool", "config", "told"),
    [
        (
            "web_search",
            {"web_search": {"allow_keyles": False}},
            "'web_search.allow_keyles'.*'web_search.allow_keyless'",
        ),
        ("web_search", {"web_search": {"exa": {"apikey": "k"}}}, "'web_search.exa.apikey'.*'web_search.exa.api_key'"),
        ("web_search", {"web_serach": {"provider": "exa"}}, "'web_serach'.*'web_search'"),
        ("fetch_url", {"fetch_url": {"allowprivate": True}}, "'fetch_url.allowprivate'.*'fetch_url.allow_private'"),
        ("wikipedia_page", {"contct": "ada@example.org"}, "'contct'.*'contact'"),
        ("wikipedia_page", {"wikipedia": {"baseurl": "x"}}, "'wikipedia.baseurl'.*'wikipedia.base_url'"),
        ("pubmed_search", {"pubmed": {"apikey": "k"}}, "'pubmed.apikey'.*'pubmed.api_key'"),
        ("linear_list", {"linear": {"write": True}}, "'linear.write'.*'linear.writes'"),
    ],
)
def test_a_misspelt_setting_is_refused_when_its_tool_is_built(tool: str, config: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        getattr(BuiltinTools(config=config, http=None), tool)()
