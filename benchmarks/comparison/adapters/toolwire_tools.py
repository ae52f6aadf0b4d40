"""The tools as a user of Toolwire writes them: a class each, with an injected client that does the work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Literal

from benchmarks.comparison import tools
from benchmarks.comparison.tools import Item
from toolkit import Tool


class Client:
    """What the tools ask: it stands for an HTTP client or a database."""

    def report(self, city: str) -> str:
        return tools.report(city)


class FirstClient(Client):
    """The first of three clients that a run opens."""


class SecondClient(Client):
    """The second one."""


class ThirdClient(Client):
    """The third one."""


async def open_first() -> AsyncIterator[FirstClient]:
    """A client of one run."""
    yield FirstClient()


async def open_second() -> AsyncIterator[SecondClient]:
    """A client of one run."""
    yield SecondClient()


async def open_third() -> AsyncIterator[ThirdClient]:
    """A client of one run."""
    yield ThirdClient()


class Expert:
    """Another agent that a tool asks."""

    def __init__(self, ask: Callable[..., Awaitable[str]]) -> None:
        self.ask = ask


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
        return self.client.report(city)


class SlowWeatherTool(WeatherTool):
    """Get the current weather of a city, after a wait of 10 ms."""

    name = "get_weather_slowly"

    async def handler(self, city: str, units: Literal["celsius", "fahrenheit"]) -> str:
        """
        Args:
            city: The city's name.
            units: The unit of temperature.
        """
        await asyncio.sleep(0.01)
        return self.client.report(city)


class SyncWeatherTool(Tool):
    """Get the current weather of a city, by a handler that is no coroutine."""

    name = "get_weather_at_once"

    def __init__(self, client: Client) -> None:
        self.client = client

    def handler(self, city: str, units: Literal["celsius", "fahrenheit"]) -> str:
        """
        Args:
            city: The city's name.
            units: The unit of temperature.
        """
        return self.client.report(city)


class FirstWeatherTool(WeatherTool):
    """Get the current weather of a city from the first client."""

    def __init__(self, client: FirstClient) -> None:
        super().__init__(client)


class SecondWeatherTool(WeatherTool):
    """Get the current weather of a city from the second client."""

    def __init__(self, client: SecondClient) -> None:
        super().__init__(client)


class ThirdWeatherTool(WeatherTool):
    """Get the current weather of a city from the third client."""

    def __init__(self, client: ThirdClient) -> None:
        super().__init__(client)


class FindTextTool(Tool):
    """Find a large document."""

    name = "find_text"

    def __init__(self, client: Client) -> None:
        self.client = client

    async def handler(self, query: str) -> str:
        return await tools.find_text(query)


class FindRecordsTool(Tool):
    """Find a large list of records."""

    name = "find_records"

    def __init__(self, client: Client) -> None:
        self.client = client

    async def handler(self, query: str) -> list[dict[str, Any]]:
        return await tools.find_records(query)


class StoreTextTool(Tool):
    """Store a text."""

    name = "store_text"

    def __init__(self, client: Client) -> None:
        self.client = client

    async def handler(self, text: str) -> str:
        return await tools.store_text(text)


class StoreItemsTool(Tool):
    """Store a list of items."""

    name = "store_items"

    def __init__(self, client: Client) -> None:
        self.client = client

    async def handler(self, items: list[Item]) -> str:
        return await tools.store_items(items)


class AskExpertTool(Tool):
    """Ask an expert."""

    name = "ask_expert"

    def __init__(self, expert: Expert) -> None:
        self.expert = expert

    async def handler(self, question: str) -> str:
        return await self.expert.ask(question)


_TOOLS: tuple[type[Tool], ...] = (
    WeatherTool,
    SlowWeatherTool,
    SyncWeatherTool,
    FindTextTool,
    FindRecordsTool,
    StoreTextTool,
    StoreItemsTool,
    AskExpertTool,
)
_BY_NAME = {tool.name: tool for tool in _TOOLS}
_CONNECTED = (FirstWeatherTool, SecondWeatherTool, ThirdWeatherTool)


def tool_class(name: str, place: int, clients: int) -> type[Tool]:
    """The class for a tool of the task; the many weather tools are subclasses that differ in their names."""
    if clients:
        return _named(_CONNECTED[place % clients], name)
    return _BY_NAME.get(name) or _named(WeatherTool, name)


def _named(parent: type[Tool], called: str) -> type[Tool]:
    return type(called, (parent,), {"name": called, "__doc__": parent.__doc__, "__module__": __name__})
