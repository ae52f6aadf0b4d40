"""What gives a future is refused with the path that leads to it, or named when only the call can show it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
from dependency_injector import containers, providers, resources

from tests.injection.parts import asking, connection_open
from toolkit import Agent, ConfigurationError, Tool
from toolkit.injection import AppScoped, application, check, dep, provide


class Http:
    """Opened by one of the sources below."""

    async def connected(self) -> Http:
        return self

    def direct(self) -> Http:
        return self


class Prices:
    def __init__(self, http: Http) -> None:
        self.http = http


class BookPrice(Tool):
    """Tell the price of a book."""

    def __init__(self, prices: Prices) -> None:
        self.prices = prices

    async def handler(self) -> str:
        return type(self.prices.http).__name__


async def open_http() -> AsyncIterator[Http]:
    yield Http()


@asynccontextmanager
async def entered_http() -> AsyncIterator[Http]:
    yield Http()


async def make_http() -> Http:
    return Http()


def says_so() -> Coroutine[Any, Any, Http]:
    return make_http()


def promised() -> asyncio.Future[Http]:
    return asyncio.ensure_future(make_http())


def hides_it():  # type: ignore[no-untyped-def]  # what it gives is not to be known before it is called
    return make_http()


class HttpResource(resources.AsyncResource[Http]):
    async def init(self) -> Http:  # type: ignore[override]  # with no arguments
        return Http()

    async def shutdown(self, resource: Http | None) -> None: ...


GIVE_FUTURES: dict[str, Callable[[], Any]] = {
    "Resource of an async generator": lambda: providers.Resource(open_http),
    "Resource of an async context manager": lambda: providers.Resource(entered_http),
    "Resource of a partial": lambda: providers.Resource(partial(open_http)),
    "Resource of a coroutine function": lambda: providers.Resource(make_http),
    "Resource of an AsyncResource": lambda: providers.Resource(HttpResource),
    "ContextLocalResource": lambda: providers.ContextLocalResource(open_http),
    "Factory": lambda: providers.Factory(make_http),
    "ThreadSafeSingleton": lambda: providers.ThreadSafeSingleton(make_http),
    "ContextLocalSingleton": lambda: providers.ContextLocalSingleton(make_http),
    "Callable": lambda: providers.Callable(make_http),
    "Coroutine": lambda: providers.Coroutine(make_http),
    "annotated with a coroutine": lambda: providers.Callable(says_so),
    "annotated with a future": lambda: providers.Callable(promised),
    "Factory in a Factory": lambda: providers.Factory(providers.Factory(make_http)),
    "Dependency with a default": lambda: providers.Dependency(default=providers.Coroutine(make_http)),
    "Selector": lambda: providers.Selector(lambda: "live", live=providers.Factory(make_http)),
    "item of a List": lambda: providers.List(providers.Factory(make_http)),
    "async method": lambda: providers.Factory(Http).provided.connected.call(),
    "attribute of a future": lambda: providers.Factory(make_http).provided.direct,
    "Object": lambda: providers.Object(asyncio.ensure_future(make_http())),
}


def shop(provider: Any) -> Any:
    class Shop(containers.DeclarativeContainer):
        http = provider
        prices = providers.Factory(Prices, http=http)
        agent = provide(Agent, tools=[BookPrice])

    return Shop()


@pytest.mark.parametrize("make", GIVE_FUTURES.values(), ids=GIVE_FUTURES)
async def test_what_gives_a_future_two_steps_below_a_tool_is_refused_with_its_path(make: Callable[[], Any]) -> None:
    with pytest.raises(ConfigurationError) as refused:
        check(shop(make()))

    finding = str(refused.value)
    assert finding.startswith("'agent' -> BookPrice -> 'prices' -> 'http'")
    assert "RunScoped(...) or AppScoped(...)" in finding


async def test_the_finding_names_what_the_provider_calls() -> None:
    with pytest.raises(ConfigurationError) as refused:
        async with application(shop(providers.Resource(open_http))):
            pass

    assert str(refused.value) == (
        "'agent' -> BookPrice -> 'prices' -> 'http': Resource(open_http) turns all that is built from it into futures; "
        "declare it as RunScoped(...) or AppScoped(...)"
    )


async def test_a_tool_listed_for_one_run_is_refused_with_the_path_too() -> None:
    container = shop(providers.Resource(open_http))
    container.agent.override(provide(Agent))

    async with application(container) as app:
        with pytest.raises(ConfigurationError) as refused:
            await app.agent().run("?", model=asking(), tools=[BookPrice])

    assert str(refused.value).startswith("BookPrice -> 'prices' -> 'http': Resource(open_http) turns all")


async def test_a_future_that_only_the_call_shows_is_named_with_its_provider() -> None:
    async with application(shop(providers.Callable(hides_it))) as app:
        with pytest.raises(ConfigurationError, match=r"^Callable\(hides_it\) gave a future where an object") as failed:
            await app.agent().run("?", model=asking("book_price"))

    assert failed.value.__notes__ == ["while building BookPrice -> Prices -> hides_it"]


@pytest.mark.parametrize("provider", [providers.Resource(open_http), providers.Callable(hides_it)], ids=["told", "not"])
async def test_an_application_wide_object_without_an_agent_is_never_built_from_a_future(provider: Any) -> None:
    class Shop(containers.DeclarativeContainer):
        http = provider
        prices = AppScoped(Prices, http)

    with pytest.raises(ConfigurationError, match=r"declare (it|that) as RunScoped\(...\) or AppScoped\(...\)"):
        async with application(Shop()):
            pass


@pytest.mark.parametrize(
    "provider",
    [
        providers.Resource(connection_open),
        providers.Factory(Http).provided.direct.call(),
        providers.Callable(providers.Factory(Http).provided.connected),  # the method itself, which nothing calls
        providers.Object(make_http),
    ],
    ids=["sync Resource", "sync method", "bound method", "function"],
)
async def test_what_gives_an_object_is_let_through(provider: Any) -> None:
    async with application(shop(provider)) as app:
        run = await app.agent().run("?", model=asking("book_price"))

    assert run.calls[0].error is None


async def test_after_a_wait_by_hand_the_first_of_the_providers_in_async_mode_is_named() -> None:
    container = shop(providers.Callable(hides_it))
    await container.prices()

    with pytest.raises(ConfigurationError) as refused:
        check(container)

    assert str(refused.value).startswith("'agent' -> BookPrice -> 'prices' -> 'http': Callable(hides_it) is in")
    assert "the container has" not in str(refused.value)


def test_a_provider_put_into_async_mode_by_hand_is_refused() -> None:
    container = shop(providers.Factory(Http))
    container.http.enable_async_mode()

    with pytest.raises(ConfigurationError, match=r"'http': Factory\(Http\) is in dependency-injector's async mode"):
        check(container)


def test_a_tool_with_a_provider_of_its_own_stands_in_the_path_by_its_name() -> None:
    class Shop(containers.DeclarativeContainer):
        http = providers.Resource(open_http)
        prices = providers.Factory(Prices, http=http)
        book_price = provide(BookPrice, prices=dep(prices))
        agent = provide(Agent, tools=["book_price"])

    with pytest.raises(ConfigurationError, match=r"^'agent' -> 'book_price' -> 'prices' -> 'http': "):
        check(Shop())
