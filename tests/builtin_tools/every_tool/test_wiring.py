"""Every tool in an application: wired, offered or hidden, overridden, and apart from what another key has asked."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest
from dependency_injector import containers, providers

from containers import BuiltinTools
from tests.builtin_tools.every_tool.table import (
    EACH,
    EACH_SERVICE,
    TOOLS,
    alone,
    called,
    config_for,
    fine,
    said_in,
)
from tests.http.clients import LIBRARIES, ManualClock, open_client
from tests.http.loopback import serving
from toolkit import Agent
from toolkit.injection import application, check, overriding, provide
from toolkit.testing import ScriptedModel, says

LIBRARY = LIBRARIES[0].values[0]
WITH_KEY = [
    asked for asked in EACH_SERVICE.args[1] if asked.startswith(("web_search/", "linear_", "exa", "fire", "bright"))
]


def an_application(*, strict: bool = True) -> Any:
    """An application whose agent lists every built-in tool."""

    class Application(containers.DeclarativeContainer):
        config = providers.Configuration(strict=strict)
        http = providers.Object(None)
        builtin_tools = providers.Container(
            BuiltinTools, config=config.tools, http=http, clock=providers.Factory(ManualClock)
        )
        agent = provide(Agent, tools=[*map(partial(getattr, builtin_tools), TOOLS)])

    return Application


CONFIGS: dict[str, Any] = {
    "nothing": None,
    "another section": {"other": 1},
    "no section": {"tools": None},
    "an empty section": {"tools": {}},
    "empty sections": {"tools": dict.fromkeys(["wikipedia", "pubmed", "linear", "web_search", "fetch_url"])},
    "everything": {"tools": config_for("http://127.0.0.1:9")},
}


@pytest.mark.parametrize("strict", [False, True], ids=["lenient", "strict"])
@pytest.mark.parametrize("case", CONFIGS)
async def test_an_application_with_every_tool_passes_its_check_starts_and_shows_what_is_switched_on(
    case: str, strict: bool
) -> None:
    app = an_application(strict=strict)()
    if CONFIGS[case] is not None:
        app.config.from_dict(CONFIGS[case])
    model = ScriptedModel([says("ready")])

    check(app)
    async with application(app) as opened:
        run = await opened.agent().run("Are you ready?", model=model)

    assert run.response == "ready"
    shown = [tool.name for tool in model.requests[0].tools]
    assert shown == [name for name, row in TOOLS.items() if case == "everything" or not row.hidden]


@EACH
async def test_an_override_of_the_client_deep_inside_reaches_the_tool_and_ends_with_its_block(name: str) -> None:
    by_the_fake: list[str] = []

    async def remember(request: Any) -> None:
        by_the_fake.append(str(request.url))

    async with (
        serving(fine) as server,
        open_client(LIBRARY) as http,
        open_client(LIBRARY, event_hooks={"request": [remember]}) as fake,
    ):
        app = an_application()(http=providers.Object(http), config={"tools": config_for(server.url)})
        async with application(app):
            before = await called(app.builtin_tools, name, server.url)
            asked = len(server.requests)
            with overriding(app, {"builtin_tools.http": fake}):
                during = await called(app.builtin_tools, name, server.url)
            after = await called(app.builtin_tools, name, server.url)

    assert (before.is_error, during.is_error, after.is_error) == (False, False, False)
    assert len(by_the_fake) == asked > 0


@EACH_SERVICE
async def test_two_applications_with_different_keys_share_nothing_but_the_client(http: Any, asked: str) -> None:
    async with serving(fine) as server:
        one, two = (an_application()(http=providers.Object(http)) for _ in range(2))
        one.config.from_dict({"tools": config_for(server.url, "the-key-of-one", asked)})
        two.config.from_dict({"tools": config_for(server.url, "the-key-of-two", asked)})
        await asyncio.gather(*(called(app.builtin_tools, asked, server.url) for app in (one, two)))

    told = [said_in(request) for request in server.requests]
    assert len(told) % 2 == 0
    if asked in WITH_KEY or asked.startswith("pubmed"):
        assert sum("the-key-of-one" in text for text in told) == len(told) / 2
        assert sum("the-key-of-two" in text for text in told) == len(told) / 2


@pytest.mark.parametrize("asked", WITH_KEY)
async def test_a_container_whose_key_changes_does_not_answer_with_what_the_former_key_was_told(
    http: Any, asked: str
) -> None:
    async with serving(fine) as server:
        tools = alone(http, config_for(server.url, "the-key-of-one", asked))
        await called(tools, asked, server.url)
        by_one = len(server.requests)
        with tools.config.override(config_for(server.url, "the-key-of-two", asked)):
            await called(tools, asked, server.url)

    told = [said_in(request) for request in server.requests]
    assert [("the-key-of-one" in text, "the-key-of-two" in text) for text in told] == [
        *[(True, False)] * by_one,
        *[(False, True)] * by_one,
    ]


@pytest.mark.parametrize("library", LIBRARIES)
@EACH_SERVICE
def test_one_container_serves_two_event_loops_one_after_the_other(library: Any, asked: str) -> None:
    tools = alone(None)

    async def ask() -> list[bool]:
        async with serving(fine) as server, open_client(library) as http:
            with tools.http.override(http), tools.config.override(config_for(server.url, asked=asked)):
                results = await asyncio.gather(*(called(tools, asked, server.url) for _ in range(3)))
            return [result.is_error for result in results]

    assert asyncio.run(ask()) == asyncio.run(ask()) == [False, False, False]
