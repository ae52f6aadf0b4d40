"""What the tests of overriding override: an http client below a service below a tool."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from dependency_injector import containers, providers

from tests.injection.parts import answers, asking
from toolkit import Agent, Tool
from toolkit.injection import dep, provide


class Http:
    def __init__(self, name: str = "real") -> None:
        self.name = name
        self.closed = 0

    async def aclose(self) -> None:
        self.closed += 1


class Service:
    """Holds an http client."""

    def __init__(self, http: Any, clock: Any = "clock") -> None:
        self.http = http
        self.clock = clock


class Ask(Tool):
    """Say which client there is."""

    name = "ask"

    def __init__(self, service: Service) -> None:
        self.service = service

    async def handler(self) -> str:
        return getattr(self.service.http, "name", str(self.service.http))


class FakeAsk(Tool):
    """Say that it is a fake."""

    name = "fake_ask"

    async def handler(self, loudly: bool = False) -> str:
        return "faked"


class NeedsFake(Tool):
    """Say which fake there is."""

    name = "needs"

    def __init__(self, http: Http) -> None:
        self.http = http

    async def handler(self) -> str:
        return f"needs {self.http.name}"


async def open_http(name: str = "real") -> AsyncIterator[Http]:
    http = Http(name)
    try:
        yield http
    finally:
        http.closed += 1


def container_of(http_provider: Any, service_kind: Any = providers.Factory) -> Any:
    class Application(containers.DeclarativeContainer):
        http = http_provider
        service = service_kind(Service, http)
        ask = provide(Ask, service=dep(service))
        agent = provide(Agent, tools=["ask"])

    return Application()


async def heard(agent: Any, **options: Any) -> str:
    run = await agent.run("go", model=asking("ask"), **options)
    assert run.calls[0].error is None, run.calls[0].error
    return answers(run)[0]
