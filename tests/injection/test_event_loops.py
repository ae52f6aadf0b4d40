"""One application belongs to one event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from dependency_injector import containers

import toolkit.injection
from toolkit import Agent, ConfigurationError, Tool
from toolkit.injection import AppScoped, Resolver, application, overriding, provide, resolver_for
from toolkit.testing import ScriptedModel, call, calls, says


class Client:
    """An object of the application."""


async def open_client() -> AsyncIterator[Client]:
    yield Client()


class Ask(Tool):
    """Ask."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def handler(self) -> str:
        return "asked"


class Application(containers.DeclarativeContainer):
    client = AppScoped(open_client)
    agent = provide(Agent, tools=[Ask])


async def test_a_run_in_another_loop_does_not_open_what_belongs_to_this_one() -> None:
    container = Application()
    model = ScriptedModel([calls(call("ask")), says("Done.")])
    with overriding(container, client=Client()):  # so that the client is not opened at the beginning
        entering = application(container)
        app = await entering.__aenter__()

    def run_elsewhere() -> Any:
        with_error = None
        try:
            app.agent().run_sync("Ask!", model=model)
        except ConfigurationError as error:
            with_error = error
        return with_error

    error = await asyncio.to_thread(run_elsewhere)
    await entering.__aexit__(None, None, None)

    assert "in the event loop that the application was entered in" in str(error)


def test_a_resolver_can_be_told_by_isinstance() -> None:
    assert isinstance(resolver_for({}), Resolver)


def test_the_names_of_the_package_are_listed_before_they_are_used() -> None:
    assert {"application", "AppScoped", "resolver_for"} <= set(dir(toolkit.injection))
