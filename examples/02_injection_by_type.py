"""The container knows how clients are made; a tool that is listed by its class gets them by their types."""

import asyncio
from typing import Annotated

import httpx
from dependency_injector import containers, providers

from toolkit import Agent, Inject, Tool
from toolkit.injection import AppScoped, application, dep, provide
from toolkit.models import KeywordModel


class WeatherClient:
    def __init__(self, http: httpx.AsyncClient, base_url: str) -> None:
        self.http, self.base_url = http, base_url

    async def current(self, city: str) -> float:
        response = await self.http.get(f"{self.base_url}/current", params={"city": city})
        return response.json()["celsius"]


class WeatherTool(Tool):
    """Get the current weather of a city."""

    # The one provider that gives a WeatherClient fills `client`. A `str` says too little, so `unit` names its provider.
    def __init__(self, client: WeatherClient, unit: Annotated[str, Inject("unit")]) -> None:
        self.client, self.unit = client, unit

    async def handler(self, city: str) -> str:
        return f"{await self.client.current(city):g} {self.unit} in {city}"


def open_http() -> httpx.AsyncClient:
    """Stands for a real client: it answers by itself, so that this example needs no network."""
    return httpx.AsyncClient(transport=httpx.MockTransport(lambda request: httpx.Response(200, json={"celsius": 18})))


class Application(containers.DeclarativeContainer):
    http = AppScoped(open_http)  # opened with the application, and closed with it
    unit = providers.Object("degrees")
    weather_client = provide(WeatherClient, http=dep(http), base_url="https://weather.example")
    agent = provide(Agent, model=KeywordModel(), tools=[WeatherTool])


async def main() -> None:
    async with application(Application()) as app:  # wiring that is wrong is found here
        run = await app.agent().run("What is the weather in Oslo?")
        for call in run.calls:
            print(call.name, call.arguments)
        print(run.response)


asyncio.run(main())

# prints:
# weather_tool {'city': 'Oslo'}
# (keyword model, no language model) weather_tool: 18 degrees in Oslo
