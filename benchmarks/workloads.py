"""The work that is counted and timed: an agent as a user would write it, with a container and tools as classes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Literal

from dependency_injector import containers, providers

from toolkit import Agent, Limits, RunContext, Tool, ToolCall
from toolkit.injection import AppScoped, RunScoped, dep, provide
from toolkit.models import ModelRequest, ModelResponse

PROMPT = "What is the weather?"
ANSWER = "It is sunny."


class Client:
    """What the tool asks; injected by the container."""

    async def current(self, city: str, units: str) -> str:
        return f"{city}: sunny, 21 degrees {units}"


class WeatherTool(Tool):
    """Get the current weather of a city."""

    name = "get_weather"

    def __init__(self, client: Client) -> None:
        self.client = client

    async def handler(self, city: str, units: Literal["celsius", "fahrenheit"]) -> str:
        """
        Args:
            city: The city's name.
            units: The unit of temperature.
        """
        return await self.client.current(city, units)


class ClosingWeatherTool(WeatherTool):
    """Get the current weather of a city, with something to close."""

    name = "get_weather"

    async def aclose(self) -> None:
        return None


class Hooks:
    """All four agent-wide hooks, doing nothing."""

    async def on_before_call(self, ctx: RunContext, call: Any) -> None:
        return None

    async def on_after_call(self, ctx: RunContext, info: Any) -> None:
        return None

    async def on_before_model(self, ctx: RunContext, request: Any) -> None:
        return None

    async def on_after_model(self, ctx: RunContext, response: Any) -> None:
        return None


class PlayedModel:
    """Asks for the calls of its turns one after another, told by how many results there are, then answers.

    It keeps nothing, so that any number of runs can share it.
    """

    def __init__(self, calls_per_turn: list[int], first: int = 1) -> None:
        self._turns: dict[int, ModelResponse] = {}
        at = first
        number = 0
        for count in calls_per_turn:
            calls = []
            for _ in range(count):
                arguments = f'{{"city": "City {number}", "units": "celsius"}}'
                calls.append(ToolCall(f"call_{number}", "get_weather", arguments))
                number += 1
            self._turns[at] = ModelResponse(tool_calls=tuple(calls))
            at += 1 + count
        self._turns[at] = ModelResponse(ANSWER)

    async def respond(self, request: ModelRequest) -> ModelResponse:
        return self._turns[len(request.messages)]


async def open_connection() -> AsyncIterator[str]:
    try:
        yield "connection"
    finally:
        pass


class ConnectedClient(Client):
    """A client on top of a connection."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection


class Plain(containers.DeclarativeContainer):
    """W1, W2 and W3: one tool whose client is a singleton."""

    client = providers.Singleton(Client)
    tool = provide(WeatherTool, client=dep(client))
    model = providers.Object(None)
    agent = provide(Agent, model=dep(model), tools=[WeatherTool], limits=Limits(max_turns=None))


class Connection:
    """What an application opens once, as it does an HTTP client."""

    async def aclose(self) -> None:
        return None


class AppWideModel(PlayedModel):
    """Asks for one call, over an object of the application."""

    def __init__(self, connection: Connection) -> None:
        super().__init__([1])
        self.connection = connection


class AppWide(containers.DeclarativeContainer):
    """W1 with a client and a model on top of an object of the application."""

    connection = AppScoped(Connection)
    client = providers.Singleton(ConnectedClient, connection=connection)
    tool = provide(WeatherTool, client=dep(client))
    model = AppScoped(AppWideModel, connection)
    agent = provide(Agent, model=dep(model), tools=[WeatherTool])


class Selected(containers.DeclarativeContainer):
    """W1 with a model that is chosen and made for each run."""

    client = providers.Singleton(Client)
    tool = provide(WeatherTool, client=dep(client))
    model = providers.Selector(lambda: "played", played=providers.Factory(PlayedModel, [1]))
    agent = provide(Agent, model=dep(model), tools=[WeatherTool])


class ConfiguredTool(WeatherTool):
    """One of several of a class, which are told apart once they are built."""

    def __init__(self, name: str, description: str, client: Client) -> None:
        super().__init__(client)
        self.name = name
        self.description = description


class Configured(containers.DeclarativeContainer):
    """W1 with three tools whose names and descriptions are set in their constructor, of which one is called."""

    client = providers.Singleton(Client)
    weather = provide(ConfiguredTool, name="get_weather", description="Get the weather of a city.", client=dep(client))
    rain = provide(ConfiguredTool, name="get_rain", description="Get the rain of a city.", client=dep(client))
    wind = provide(ConfiguredTool, name="get_wind", description="Get the wind of a city.", client=dep(client))
    model = providers.Object(None)
    agent = provide(Agent, model=dep(model), tools=[weather, rain, wind])


class Everything(containers.DeclarativeContainer):
    """W1 with everything on: the four agent-wide hooks, a run-scoped generator, and a tool to close."""

    connection = RunScoped(open_connection)
    client = providers.Factory(ConnectedClient, connection=connection)
    tool = provide(ClosingWeatherTool, client=dep(client))
    model = providers.Object(None)
    hook = providers.Object(Hooks())
    agent = provide(Agent, model=dep(model), tools=[ClosingWeatherTool], hooks=[hook])
