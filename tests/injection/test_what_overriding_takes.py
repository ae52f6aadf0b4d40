"""What `overriding` takes: names, providers and options; providers, values and classes; and what it refuses."""

from __future__ import annotations

from collections.abc import AsyncIterator
from copy import deepcopy
from typing import Annotated, Any

import pytest
from dependency_injector import containers, providers

from tests.injection.overridden import Ask, FakeAsk, Http, NeedsFake, Service, container_of, heard, open_http
from tests.injection.parts import answers, asking
from toolkit import Agent, ConfigurationError, Inject, tool
from toolkit.injection import AppScoped, RunScoped, application, dep, overriding, provide, resolver_for
from toolkit.testing import ScriptedModel, says
from toolkit.tools.resolver import Recipe

# What may be given


async def test_a_provider_may_be_named_by_itself_or_by_its_class() -> None:
    class Application(containers.DeclarativeContainer):
        http = providers.Factory(Http)
        service = providers.Factory(Service, http)
        ask = provide(Ask, service=dep(service))
        agent = provide(Agent, tools=["ask"])

    async with application(Application()) as app:
        with overriding(app.container, {app.container.http: Http("by itself")}):
            by_itself = await heard(app.agent())
        with overriding(app.container, {Application.http: Http("by its class")}):
            by_class = await heard(app.agent())

    assert (by_itself, by_class) == ("by itself", "by its class")


class Inner(containers.DeclarativeContainer):
    config = providers.Configuration()
    http: Any = providers.Dependency()
    service = providers.Singleton(Service, http, config.clock)
    ask = provide(Ask, service=dep(service))


class Outer(containers.DeclarativeContainer):
    config = providers.Configuration(strict=True)
    http = AppScoped(open_http, config.http.name)
    tools = providers.Container(Inner, http=http, config=config.inner)
    agent = provide(Agent, tools=["tools.ask"])


def outer() -> Any:
    container = Outer()
    container.config.from_dict({"http": {"name": "real", "other": 1}, "inner": {"clock": "real clock"}})
    return container


@pytest.mark.parametrize("key", ["tools.http", "http", Inner, Outer], ids=["nested", "outer", "Inner.http", "class"])
async def test_a_nested_name_replaces_a_provider_of_an_embedded_container(key: Any) -> None:
    wanted = {Inner: lambda c: c.tools.http, Outer: lambda c: Outer.tools.http}
    async with application(outer()) as app:
        target = wanted[key](app.container) if key in wanted else key
        with overriding(app.container, {target: Http("fake")}):
            inside = [await heard(app.agent()), await heard(app.agent())]
        after = await heard(app.agent())

    assert inside == ["fake", "fake"]
    assert after == "real"


@pytest.mark.parametrize(
    "replacement",
    [
        pytest.param({"config.http.name": "fake"}, id="one option"),
        pytest.param({"config": {"http": {"name": "fake"}, "inner": {"clock": "c"}}}, id="all"),
    ],
)
async def test_configuration_may_be_replaced_though_dependency_injector_keeps_what_it_read(replacement: Any) -> None:
    container = outer()
    async with application(container) as app:
        before = await heard(app.agent())
        with overriding(container, replacement):
            inside = [await heard(app.agent()), container.config.http.name()]
        after = [await heard(app.agent()), container.config.http.name()]

    assert before == "real"
    assert inside == ["fake", "fake"]
    assert after == ["real", "real"]
    assert container.config.http.other() == 1


def test_two_options_of_one_configuration_may_be_replaced_at_once() -> None:
    container = outer()

    with overriding(container, {"config.http.name": "fake", "config.inner.clock": "stopped"}):
        inside = container.config.http(), container.tools.config.clock()

    assert inside == ({"name": "fake", "other": 1}, "stopped")
    assert container.tools.config.clock() == "real clock"


async def test_a_provider_replaces_and_any_other_value_is_used_as_it_is() -> None:
    closed: list[str] = []

    async def open_fake() -> AsyncIterator[Http]:
        yield Http("opened")
        closed.append("fake")

    there = Http("there")

    async with application(container_of(AppScoped(open_http))) as app:
        agent = app.agent()
        with overriding(app.container, http=providers.Factory(Http, "made")):
            made = await heard(agent)
        with overriding(app.container, http=there):
            as_it_is = await heard(agent)
        with overriding(app.container, http=RunScoped(open_fake)):
            opened = [await heard(agent), await heard(agent)]
        with overriding(app.container, http=AppScoped(open_fake)):
            opened_by_app = await heard(agent)
        with overriding(app.container, http=providers.Factory(Service, AppScoped(open_fake)).provided.http):
            opened_below = await heard(agent)
        closed_by_their_runs = list(closed)

    assert (made, as_it_is, opened) == ("made", "there", ["opened", "opened"])
    assert (opened_by_app, opened_below) == ("opened", "opened")
    assert there.closed == 0
    assert closed_by_their_runs == closed == ["fake"] * 4


async def test_a_class_may_stand_in_for_a_tool_and_is_described_by_itself() -> None:
    async with application(container_of(providers.Factory(Http))) as app:
        agent = app.agent()
        model = ScriptedModel([says("hello")])
        await agent.run("go", model=model)
        with overriding(app.container, ask=FakeAsk):
            inside = asking("fake_ask")
            run = await agent.run("go", model=inside)
        after = ScriptedModel([says("hello")])
        await agent.run("go", model=after)

    assert answers(run) == ["faked"]
    assert [shown.name for shown in inside.requests[0].tools] == ["fake_ask"]
    assert list(inside.requests[0].tools[0].input_schema["properties"]) == ["loudly"]
    assert [shown.name for shown in (*model.requests[0].tools, *after.requests[0].tools)] == ["ask", "ask"]


@pytest.mark.parametrize(
    "replacement",
    [FakeAsk, FakeAsk(), providers.Factory(FakeAsk), providers.Object(FakeAsk())],
    ids=["class", "instance", "factory", "object"],
)
async def test_a_tool_listed_as_a_class_is_replaced_through_its_provider(replacement: Any) -> None:
    class Application(containers.DeclarativeContainer):
        http = providers.Factory(Http)
        service = providers.Factory(Service, http)
        ask = provide(Ask, service=dep(service))
        agent = provide(Agent, tools=[Ask])

    async with application(Application()) as app:
        with overriding(app.container, ask=replacement):
            run = await app.agent().run("go", model=asking("fake_ask"))
        after = await heard(app.agent())

    assert answers(run) == ["faked"]
    assert after == "real"


async def test_a_class_that_stands_in_is_built_by_type_with_values_and_fakes() -> None:
    async with application(container_of(providers.Factory(Http))) as app:
        with overriding(app.container, ask=NeedsFake, http=providers.Factory(Http, "fake")):
            by_type = await app.agent().run("go", model=asking("needs"))
        with overriding(app.container, {"ask": NeedsFake}):
            by_value = await app.agent().run("go", model=asking("needs"), values={Http: Http("a value")})
        with overriding(app.container, ask=Ask):  # the very class that the provider gives
            by_itself = await heard(app.agent())

    assert answers(by_type) == ["needs fake"]
    assert answers(by_value) == ["needs a value"]
    assert by_itself == "real"


async def test_an_injected_parameter_and_available_if_see_the_fake() -> None:
    @tool
    async def ask(http: Annotated[Http, Inject()], named: Annotated[Any, Inject("http")]) -> str:
        """Say which client there is."""
        return f"{http.name} {named.name}"

    class Application(containers.DeclarativeContainer):
        http = providers.Factory(Http)
        agent = provide(Agent, tools=[ask])

    async with application(Application()) as app:
        with overriding(app.container, http=Http("fake")):
            inside = await heard(app.agent())
        after = await heard(app.agent())

    assert (inside, after) == ("fake fake", "real real")


async def test_the_agent_and_its_model_may_be_replaced() -> None:
    class Application(containers.DeclarativeContainer):
        model: Any = providers.Object(ScriptedModel([says("real")]))
        agent = provide(Agent, model=dep(model))

    async with application(Application()) as app:
        bound = app.agent()
        with overriding(app.container, model=ScriptedModel([says("scripted")])):
            with_model = await bound.run("go")
        with overriding(app.container, agent=Agent(ScriptedModel([says("another")]))):
            with_agent = await bound.run("go")
            bound_inside = app.agent()
        after = await bound_inside.run("go")

    assert (with_model.response, with_agent.response, after.response) == ("scripted", "another", "real")


# What is refused


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (
            "htpp",
            "the container has no provider 'htpp' to override; did you mean 'http'? It has 'agent', 'config', 'http', "
            "'tools', 'tools.ask'",
        ),
        ("tools.htpp", "the container has no provider 'tools.htpp' to override"),
        ("http.name", "the container has no provider 'http.name' to override"),
        ("tools", "'tools' is a container inside the container; override what is in it, by a nested name"),
        (providers.Factory(Http), "the container has no provider <dependency_injector.providers.Factory"),
        (3, "the container has no provider 3 to override"),
    ],
)
def test_what_the_container_does_not_have_is_refused_with_the_names_it_has(key: Any, text: str) -> None:
    with pytest.raises(ConfigurationError) as refused, overriding(outer(), {key: 1}):
        pass

    assert text in str(refused.value)


def test_a_misspelt_name_among_many_is_told_with_the_20_nearest() -> None:
    container = containers.DynamicContainer()
    for name in ("prices", *(f"tool_{number}" for number in range(60))):
        setattr(container, name, providers.Object(1))

    with pytest.raises(ConfigurationError) as refused, overriding(container, pricse=2):
        pass

    text = str(refused.value)
    assert "to override; did you mean 'prices'? It has 'prices', 'tool_" in text
    assert text.count("'tool_") == 19
    assert text.endswith(" and 41 more")


def test_names_of_the_container_itself_are_told_before_those_of_an_embedded_one() -> None:
    members = {f"web_search_{number}": providers.Object(1) for number in range(60)}
    container = containers.DynamicContainer()
    container.inner = providers.Container(type("Searches", (containers.DeclarativeContainer,), members))
    container.zebra = providers.Object(1)
    container.apple = providers.Object(1)

    with pytest.raises(ConfigurationError) as refused, overriding(container, web_search=2):
        pass

    assert "It has 'apple', 'inner', 'zebra', 'inner.web_search_" in str(refused.value)


def test_a_refused_override_leaves_nothing_behind() -> None:
    container = container_of(providers.Factory(Http))

    with pytest.raises(ConfigurationError), overriding(container, http=Http("fake"), htpp=1):
        pass

    assert container.http().name == "real"


@pytest.mark.parametrize("given", [containers.DeclarativeContainer, {}, None])
def test_something_that_is_no_container_is_refused(given: Any) -> None:
    with pytest.raises(ConfigurationError, match="overriding takes a container"), overriding(given, http=1):
        pass


# Beside dependency-injector's own


async def test_dependency_injectors_own_override_goes_on_working_below_and_inside() -> None:
    async with application(container_of(providers.Factory(Http))) as app:
        agent, http = app.agent(), app.container.http
        with http.override(providers.Factory(Http, "theirs")):
            theirs = await heard(agent)
            with overriding(app.container, http=Http("ours")):
                ours = await heard(agent)
            theirs_again = await heard(agent)
        real = await heard(agent)
        with overriding(app.container, http=Http("ours")):
            with http.override(Http("theirs, inside")):
                inside = await heard(agent)
            ours_again = await heard(agent)
        real_again = await heard(agent)

    assert (theirs, ours, theirs_again, real) == ("theirs", "ours", "theirs", "real")
    assert (inside, ours_again, real_again) == ("theirs, inside", "ours", "real")


async def test_their_override_of_a_tool_changes_what_the_model_is_shown() -> None:
    async with application(container_of(providers.Factory(Http))) as app:
        agent = app.agent()
        first, second, third = (ScriptedModel([says("hello")]) for _ in range(3))
        await agent.run("go", model=first)
        with app.container.ask.override(providers.Factory(FakeAsk)):
            await agent.run("go", model=second)
        await agent.run("go", model=third)

    shown = [[definition.name for definition in model.requests[0].tools] for model in (first, second, third)]
    assert shown == [["ask"], ["fake_ask"], ["ask"]]


async def test_their_override_by_something_asynchronous_is_opened_and_forgotten() -> None:
    async with application(container_of(RunScoped(open_http))) as app:
        agent = app.agent()
        with app.container.http.override(RunScoped(open_http, "theirs")):
            theirs = await heard(agent)
        real = await heard(agent)

    assert (theirs, real) == ("theirs", "real")


def test_a_dependency_with_a_default_keeps_it_after_the_block() -> None:
    class Application(containers.DeclarativeContainer):
        http = providers.Dependency(default=Http("default"))

    container = Application()

    with overriding(container, http=Http("fake")):
        inside = container.http().name

    assert (inside, container.http().name) == ("fake", "default")


def test_an_undefined_dependency_is_undefined_after_the_block_too() -> None:
    class Application(containers.DeclarativeContainer):
        http: Any = providers.Dependency()

    container = Application()
    with overriding(container, http=Http("fake")):
        pass

    with pytest.raises(ConfigurationError, match="a dependency is not defined"):
        container.http()


async def test_a_container_that_was_overridden_may_be_copied() -> None:
    container = container_of(providers.Factory(Http))
    with overriding(container, http=Http("fake")):
        copied = deepcopy(container)
        original_inside, copy_inside = container.http().name, copied.http().name

    assert (original_inside, copy_inside) == ("fake", "real")
    assert copied.service().http.name == "real"


async def test_a_replacement_that_needs_what_it_replaces_is_a_circle_found_at_the_runs_start() -> None:
    async with application(container_of(providers.Factory(Http))) as app:
        with overriding(app.container, service=providers.Factory(Service, app.container.service)):
            with pytest.raises(ConfigurationError, match="cyclic dependency: Service -> Service"):
                await app.agent().run("go", model=asking("ask"))
            scope = resolver_for(app.container).open_run({}, None)
            with pytest.raises(ConfigurationError, match="cyclic dependency: Service -> Service") as refused:
                await scope.build(Recipe("the service", key=app.container.service))

    assert refused.value.__context__ is None, "it was found while another error was explained"


async def test_a_tool_that_is_a_singleton_above_a_fake_is_still_built_only_when_it_is_called() -> None:
    built: list[str] = []

    class Counts(Ask):
        """Count."""

        name = "ask"

        def __init__(self, service: Any) -> None:
            super().__init__(service)
            built.append(service.http)

    class Application(containers.DeclarativeContainer):
        http = providers.Object("real")
        service = providers.Factory(Service, http)
        ask = providers.Singleton(Counts, service)
        agent = provide(Agent, tools=["ask"])

    async with application(Application()) as app:
        with overriding(app.container, http="fake"):
            await app.agent().run("go", model=ScriptedModel([says("nothing to do")]))
            untouched = list(built)
            await heard(app.agent())

    assert untouched == []
    assert built == ["fake"]
