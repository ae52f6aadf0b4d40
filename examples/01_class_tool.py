"""A tool whose client the container injects."""

import asyncio

import httpx
from dependency_injector import containers, providers

from toolkit import Agent, Tool
from toolkit.injection import AppScoped, application, dep, provide
from toolkit.models import KeywordModel


class WeatherClient:
    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http

    async def current(self, city: str) -> float:
        response = await self.http.get("https://weather.example/current", params={"city": city})
        return response.json()["celsius"]


class WeatherTool(Tool):
    """Get the current weather of a city."""  # what the model reads

    def __init__(self, client: WeatherClient) -> None:  # what the model never sees
        self.client = client

    async def handler(self, city: str) -> str:
        """
        Args:
            city: City name, such as "Oslo".
        """
        return f"{await self.client.current(city):g} degrees in {city}"


def open_http() -> httpx.AsyncClient:
    """Stands for a real client: it answers by itself, so that this example needs no network."""
    return httpx.AsyncClient(transport=httpx.MockTransport(lambda request: httpx.Response(200, json={"celsius": 18})))


class Application(containers.DeclarativeContainer):
    http = AppScoped(open_http)  # opened with the application, and closed with it
    weather_client = providers.Factory(WeatherClient, http=http)
    model = providers.Factory(KeywordModel)
    agent = provide(Agent, model=dep(model), tools=[WeatherTool])  # its `client` is found by its type


async def main() -> None:
    async with application(Application()) as app:
        run = await app.agent().run("What is the weather in Oslo?")
        for call in run.calls:
            print(call.name, call.arguments)
        print(run.response)


asyncio.run(main())

# prints:
# weather_tool {'city': 'Oslo'}
# (keyword model, no language model) weather_tool: 18 degrees in Oslo
