"""`fetch_url` from the container of the built-in tools."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest
from dependency_injector import providers

import toolkit
from containers import BuiltinTools
from tests.builtin_tools.fetch_url.web import PUBLIC, NameBook, page, remembering
from tests.http.clients import LIBRARIES, open_client
from tests.http.loopback import serving

ALLOWED = {"fetch_url": {"allow_private": True}}


@pytest.mark.parametrize("library", LIBRARIES)
async def test_a_page_is_read_with_nothing_to_open_and_the_client_stays_open(library: Any) -> None:
    async with serving(page("fine")) as server, open_client(library) as http:
        result = await toolkit.execute(BuiltinTools(config=ALLOWED, http=http).fetch_url(), {"url": server.url})

        assert result.value.text == "fine"
        assert not http.is_closed


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("config", [None, {}, {"fetch_url": None}, {"fetch_url": {"allow_private": "no"}}])
async def test_this_computer_is_closed_unless_the_configuration_opens_it(library: Any, config: Any) -> None:
    async with serving(page("fine")) as server, open_client(library) as http:
        tools = BuiltinTools(http=http) if config is None else BuiltinTools(config=config, http=http)
        results = [
            await toolkit.execute(tools.fetch_url(), {"url": url})
            for url in (server.url, server.url.replace("127.0.0.1", "localhost"), "http://127.0.0.1/")
        ]

    assert all(result.content.startswith("blocked url: ") for result in results)
    assert server.requests == []


@pytest.mark.parametrize("library", LIBRARIES)
async def test_the_resolver_can_be_replaced(library: Any) -> None:
    http, sent = remembering(
        library, lambda _: library.Response(200, text="fine", headers={"content-type": "text/plain"})
    )
    tools = BuiltinTools(http=http)

    async with http:
        with tools.fetch_resolver.override(providers.Object(NameBook({"page.example": [PUBLIC]}))):
            result = await toolkit.execute(tools.fetch_url(), {"url": "https://page.example/"})

    assert result.value.text == "fine"
    assert sent.urls == [f"https://{PUBLIC}/"]


async def test_the_computers_own_resolver_is_asked_by_default() -> None:
    async with serving(page("fine")) as server, open_client(LIBRARIES[0].values[0]) as http:
        result = await toolkit.execute(
            BuiltinTools(config=ALLOWED, http=http).fetch_url(),
            {"url": server.url.replace("127.0.0.1", "localhost")},
        )

    assert result.value.text == "fine"


async def test_the_tools_of_one_container_share_what_was_read() -> None:
    async with serving(page("fine")) as server, open_client(LIBRARIES[0].values[0]) as http:
        tools = BuiltinTools(config=ALLOWED, http=http)
        for _ in range(3):
            await toolkit.execute(tools.fetch_url(), {"url": server.url})

    assert len(server.requests) == 1


@pytest.mark.parametrize("library", LIBRARIES)
def test_one_container_serves_two_event_loops_in_sequence(library: Any) -> None:
    tools = BuiltinTools(config=ALLOWED, http=None)

    async def ask() -> str:
        async with serving(page("<p>Some words.", "text/html")) as server, open_client(library) as http:
            with tools.http.override(http):
                result = await toolkit.execute(tools.fetch_url(), {"url": server.url})
        text: str = result.value.text
        return text

    assert asyncio.run(ask()) == asyncio.run(ask()) == "Some words."


def test_the_extra_is_imported_only_when_a_page_is_read() -> None:
    code = (
        "import sys; from containers import BuiltinTools; BuiltinTools(http=None).fetch_url(); "
        "assert not {'trafilatura', 'lxml', 'idna', 'httpx'} & set(sys.modules)"
    )

    subprocess.run([sys.executable, "-c", code], check=True)
