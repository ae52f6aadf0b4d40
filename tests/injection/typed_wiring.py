"""Wiring as type checkers see it. A line that ends in `# wrong` is an error for both of them, every other for none.

`test_types.py` runs mypy and pyright on it; nothing here runs.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from typing import assert_type

from dependency_injector import containers, providers

from toolkit import Agent, Invocation, Run, Tool
from toolkit.injection import AppScoped, CallScoped, RunScoped, ScopeValue, application, dep, provide
from toolkit.testing import ScriptedModel


class Http:
    def __init__(self, timeout: float = 5.0) -> None:
        self.timeout = timeout


class Lines:
    """A class whose objects are iterators; they are the product all the same."""

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __next__(self) -> str:
        raise StopIteration


def make_http(timeout: float) -> Http:
    return Http(timeout)


async def make_http_later(timeout: float) -> Http:
    return Http(timeout)


def open_http(timeout: float) -> Iterator[Http]:
    yield Http(timeout)


def open_http_strictly() -> Generator[Http, None, None]:
    yield Http()


async def open_http_later(timeout: float) -> AsyncIterator[Http]:
    yield Http(timeout)


async def open_http_later_strictly() -> AsyncGenerator[Http, None]:
    yield Http()


class WeatherTool(Tool):
    """Get the weather."""

    def __init__(self, client: Http, units: str = "metric", *, retries: int = 3) -> None:
        self.client = client

    async def handler(self, city: str) -> str:
        return city


class OwnAgent(Agent[Http]):
    output_type = Http


def make_agent() -> Agent[Http]:
    return OwnAgent()


async def open_agent() -> AsyncIterator[OwnAgent]:
    yield OwnAgent()


class Application(containers.DeclarativeContainer):
    config = providers.Configuration(strict=True)
    http = AppScoped(open_http_later, timeout=config.http.timeout)
    lines = RunScoped(Lines)
    invocation = ScopeValue(Invocation)

    weather = provide(WeatherTool, client=dep(http))
    by_place = provide(WeatherTool, dep(http), "imperial", retries=1)
    from_plain = provide(WeatherTool, client=dep(providers.Singleton(Http)))
    by_function = provide(make_http, timeout=dep(config.http.timeout))
    actor = provide(WeatherTool, client=dep(http), units=dep(invocation.provided.actor_id))
    misspelt = provide(WeatherTool, clinet=dep(http))  # wrong
    missing = provide(WeatherTool)  # wrong
    wrong_type = provide(WeatherTool, client=dep(lines))  # wrong
    wrong_literal = provide(WeatherTool, client=dep(http), units=3)  # wrong
    too_many = provide(WeatherTool, dep(http), "metric", 3)  # wrong
    not_a_provider = provide(WeatherTool, client=dep(Http()))  # wrong
    not_a_class = provide(3)  # wrong

    model = providers.Singleton(ScriptedModel, [])
    agent = provide(Agent[str], model=dep(model), tools=[WeatherTool, "weather", weather])
    untold = provide(Agent, model=dep(model), tools=[WeatherTool])
    untold_misspelt = provide(Agent, tool=[WeatherTool])  # wrong
    told = provide(Agent, model=dep(model), output_type=Http)
    own = provide(OwnAgent, model=dep(model))
    agent_misspelt = provide(Agent[str], tool=[WeatherTool])  # wrong
    kept = providers.Singleton(OwnAgent)
    made = provide(make_agent)
    opened = AppScoped(open_agent)


assert_type(Application.untold(), Agent[str])
assert_type(Application.told(), Agent[Http])
assert_type(Application.own(), OwnAgent)
assert_type(Agent(), Agent[str])
assert_type(dep(AppScoped(Http)), Http)
assert_type(dep(AppScoped(Http, 3.0)), Http)
assert_type(dep(AppScoped(make_http, 3.0)), Http)
assert_type(dep(AppScoped(make_http_later, 3.0)), Http)
assert_type(dep(AppScoped(open_http, 3.0)), Http)
assert_type(dep(AppScoped(open_http_strictly)), Http)
assert_type(dep(AppScoped(open_http_later, 3.0)), Http)
assert_type(dep(AppScoped(open_http_later_strictly)), Http)
assert_type(dep(RunScoped(Lines)), Lines)
assert_type(dep(RunScoped(Http)), Http)
assert_type(dep(RunScoped(make_http, 3.0)), Http)
assert_type(dep(RunScoped(make_http_later, 3.0)), Http)
assert_type(dep(RunScoped(open_http, 3.0)), Http)
assert_type(dep(RunScoped(open_http_later, 3.0)), Http)
assert_type(dep(CallScoped(open_http_later, 3.0)), Http)
assert_type(dep(ScopeValue(Invocation)), Invocation)
assert_type(RunScoped(open_http_later)(), Http)
assert_type(provide(WeatherTool, client=dep(AppScoped(Http)))(), WeatherTool)
assert_type(provide(make_http, 3.0)(), Http)
assert_type(dep(AppScoped(Http)), Lines)  # wrong


async def main() -> None:
    async with application(Application()) as app:
        run = await app.agent().run("How is it in Oslo?", actor_id="u1", context={"account": 7})
        assert_type(run.response, str)
        await app.agent().run("How is it in Oslo?", actor="u1")  # wrong
        await app.agent().run("How is it in Oslo?", settings={"temperature": 0})  # wrong
        app.agent().run_sync("How is it in Oslo?", actor="u1")  # wrong
        app.agent().stream("How is it in Oslo?", actor="u1")  # wrong
        app.agent().stream("How is it in Oslo?", timeout="3")  # wrong
        async with app.agent().stream("How is it in Oslo?", actor_id="u1", timeout=3) as stream:
            async for _ in stream:
                pass
        assert_type(stream.run.response, str)
        assert_type(await app.agent(Application.untold).run("How is it in Oslo?"), Run[str])
        assert_type(await app.agent(Application().told).run("How is it in Oslo?"), Run[Http])
        assert_type(app.agent(Application.own).run_sync("How is it in Oslo?"), Run[Http])
        assert_type(app.agent(Application.kept).run_sync("How is it in Oslo?"), Run[Http])
        assert_type(app.agent(Application.made).run_sync("How is it in Oslo?"), Run[Http])
        assert_type(app.agent(Application.opened).run_sync("How is it in Oslo?"), Run[Http])
        async with app.agent(Application.told).stream("How is it in Oslo?") as told:
            async for _ in told:
                pass
        assert_type(told.run.output, Http)
        await app.agent(Application.told).run("How is it in Oslo?", actor="u1")  # wrong
        app.agent(Application.weather)  # wrong
        app.agent(OwnAgent)  # wrong
        app.agent(3)  # wrong
    await Agent().run("How is it in Oslo?", actor="u1")  # wrong
    Agent().run_sync("How is it in Oslo?", actor="u1")  # wrong
    Agent().stream("How is it in Oslo?", actor="u1")  # wrong
