"""An error of construction names the path of providers in a note, and not only dependency-injector's frames."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any

import pytest
from dependency_injector import containers, providers

from tests.injection.parts import asking
from toolkit import Agent, Inject, Limits, Tool, tool
from toolkit.injection import AppScoped, RunScoped, application, dep, overriding, provide


class Client:
    def __init__(self, http: Any) -> None:
        self.http = http


class WeatherTool(Tool):
    """Get the weather."""

    name = "get_weather"

    def __init__(self, client: Client) -> None:
        self.client = client

    async def handler(self) -> str:
        return "sunny"


class Broken:
    def __init__(self, *needs: Any) -> None:
        raise OSError("broken")


class BrokenInNew:
    def __new__(cls, *needs: Any) -> BrokenInNew:
        raise OSError("broken")


@dataclasses.dataclass
class BrokenAfterInit:
    needs: Any = None

    def __post_init__(self) -> None:
        raise OSError("broken")


class BrokenChild(Broken):
    def __init__(self, *needs: Any) -> None:
        super().__init__()


class BrokenCall:
    def __call__(self, *needs: Any) -> Any:
        raise OSError("broken")


def open_http(*needs: Any) -> Any:
    raise OSError("broken")


async def open_http_async(*needs: Any) -> Any:
    await asyncio.sleep(0)
    raise OSError("broken")


def open_http_generator() -> Iterator[Any]:
    raise OSError("broken")
    yield


async def open_http_generator_async() -> AsyncIterator[Any]:
    raise OSError("broken")
    yield


async def open_for_ever() -> Any:
    await asyncio.Event().wait()


def decorated(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        return function(*args)

    return wrapper


BROKEN = [
    pytest.param(providers.Factory(Broken), "Broken", id="class"),
    pytest.param(providers.Factory(BrokenInNew), "BrokenInNew", id="class that fails in __new__"),
    pytest.param(providers.Factory(BrokenAfterInit), "BrokenAfterInit", id="dataclass"),
    pytest.param(providers.Factory(BrokenChild), "BrokenChild", id="subclass"),
    pytest.param(providers.Singleton(Broken), "Broken", id="Singleton"),
    pytest.param(providers.Callable(open_http), "open_http", id="function"),
    pytest.param(providers.Factory(functools.partial(open_http, 1)), "functools.partial", id="partial"),
    pytest.param(providers.Factory(decorated(open_http)), "open_http", id="decorated function"),
    pytest.param(providers.Callable(BrokenCall()), "<tests.injection.", id="object with __call__"),
    pytest.param(RunScoped(open_http), "open_http", id="RunScoped function"),
    pytest.param(RunScoped(open_http_async), "open_http_async", id="coroutine function"),
    pytest.param(RunScoped(open_http_generator), "open_http_generator", id="generator"),
    pytest.param(RunScoped(open_http_generator_async), "open_http_generator_async", id="async generator"),
    pytest.param(providers.Factory(int, "no number"), "", id="C class, which can't be told"),
    pytest.param(RunScoped(Client, RunScoped(open_http_async)), "Client -> open_http_async", id="deeper"),
    pytest.param(providers.List(providers.Factory(Broken)), "List -> Broken", id="in a list"),
]


def notes(error: Any) -> list[str]:
    return list(getattr(error, "__notes__", []))


@pytest.mark.parametrize(("http", "culprit"), BROKEN)
async def test_the_path_leads_from_the_tool_to_what_failed(http: Any, culprit: str) -> None:
    class Application(containers.DeclarativeContainer):
        client = providers.Factory(Client, http)
        weather = provide(WeatherTool, client=dep(client))
        agent = provide(Agent, tools=["weather"])

    async with application(Application()) as app:
        run = await app.agent().run("go", model=asking("get_weather"))

    path = (
        f"while building provider 'weather' -> Client -> {culprit}" if culprit else "while building provider 'weather'"
    )
    assert run.calls[0].error is not None
    assert notes(run.calls[0].error)[0].startswith(path)


async def test_a_tool_that_fails_itself_is_named_alone() -> None:
    class Fails(WeatherTool):
        """Fail."""

        def __init__(self) -> None:
            raise OSError("broken")

    class Application(containers.DeclarativeContainer):
        weather = provide(Fails)
        agent = provide(Agent, tools=["weather"])

    async with application(Application()) as app:
        run = await app.agent().run("go", model=asking("get_weather"))

    assert notes(run.calls[0].error) == ["while building provider 'weather'"]


async def test_what_takes_too_long_is_named_by_its_path() -> None:
    class Application(containers.DeclarativeContainer):
        weather = provide(WeatherTool, client=dep(RunScoped(Client, RunScoped(open_for_ever))))
        agent = provide(Agent, tools=["weather"], limits=Limits(open_timeout=0.01))

    async with application(Application()) as app:
        run = await app.agent().run("go", model=asking("get_weather"))

    assert notes(run.calls[0].error) == ["while building provider 'weather' -> Client -> open_for_ever"]


async def test_arguments_that_do_not_fit_name_the_provider_whose_they_are() -> None:
    class Application(containers.DeclarativeContainer):
        client = providers.Factory(Client, None)
        weather = provide(WeatherTool, client=dep(client))
        agent = provide(Agent, tools=["weather"])

    async with application(Application()) as app:
        with overriding(app.container, client=providers.Factory(Client)):
            run = await app.agent().run("go", model=asking("get_weather"))

    assert isinstance(run.calls[0].error, TypeError)
    assert notes(run.calls[0].error) == ["while building provider 'weather' -> Client"]


async def test_an_option_that_went_away_is_named_by_its_path() -> None:
    class Application(containers.DeclarativeContainer):
        config = providers.Configuration(strict=True)
        weather = provide(WeatherTool, client=dep(providers.Factory(Client, config.url)))
        agent = provide(Agent, tools=["weather"])

    container = Application()
    container.config.from_dict({"url": "x"})

    async with application(container) as app:
        container.config.override({})
        run = await app.agent().run("go", model=asking("get_weather"))

    assert notes(run.calls[0].error) == ["while building provider 'weather' -> Client -> config.url"]


async def test_a_class_that_is_built_by_type_names_what_it_was_built_from() -> None:
    class Application(containers.DeclarativeContainer):
        client = RunScoped(BrokenClient)
        agent = provide(Agent, tools=[WeatherTool])

    async with application(Application()) as app:
        run = await app.agent().run("go", model=asking("get_weather"))

    assert notes(run.calls[0].error) == ["while building WeatherTool -> BrokenClient"]


class BrokenClient(Client):
    def __init__(self) -> None:
        raise OSError("broken")


@tool
async def injected(client: Annotated[Client, Inject("client")]) -> str:
    """Use the client."""
    return ""


async def test_an_injected_parameter_names_itself_and_what_failed() -> None:
    class Application(containers.DeclarativeContainer):
        client = providers.Factory(Client, RunScoped(open_http_async))
        agent = provide(Agent, tools=[injected])

    async with application(Application()) as app:
        run = await app.agent().run("go", model=asking("injected"))

    assert notes(run.calls[0].error) == [
        "while building parameter 'client' of tool 'injected' -> Client -> open_http_async"
    ]


async def test_an_app_wide_object_names_what_it_was_built_from() -> None:
    class Application(containers.DeclarativeContainer):
        client = AppScoped(Client, providers.Factory(Broken))

    with pytest.raises(OSError, match="broken") as failed:
        async with application(Application()):
            pass

    assert notes(failed.value) == ["while building AppScoped(Client) -> Broken"]


async def test_without_a_container_the_path_is_told_too() -> None:
    run = await Agent(asking("get_weather"), tools=[BrokenWeather]).run("go")

    assert notes(run.calls[0].error) == ["while building BrokenWeather"]


class BrokenWeather(WeatherTool):
    """Fail."""

    def __init__(self) -> None:
        raise OSError("broken")
