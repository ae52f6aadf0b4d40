"""What has to be opened before a provider is called is worked out once, and anew when it has become another thing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any

import pytest
from dependency_injector import containers, providers

from toolkit import Agent, ConfigurationError, Inject, Tool
from toolkit.injection import RunScoped, application, dep, provide
from toolkit.models import ModelRequest, ModelResponse
from toolkit.testing import ScriptedModel, call, calls, says


class Model:
    """Says what it was made with."""

    def __init__(self, label: Any) -> None:
        self.label = label

    async def respond(self, request: ModelRequest) -> ModelResponse:
        return ModelResponse(str(self.label))


async def open_label() -> AsyncIterator[str]:
    yield "opened"


async def open_model() -> AsyncIterator[Model]:
    yield Model("opened")


class Plain(containers.DeclarativeContainer):
    inner = providers.Factory(Model, "old")
    agent = provide(Agent, model=dep(inner))


class Selecting(containers.DeclarativeContainer):
    inner = providers.Factory(Model, "old")
    model = providers.Selector(lambda: "a", a=inner)
    agent = provide(Agent, model=dep(model))


class Below(containers.DeclarativeContainer):
    inner = providers.Factory(Model, "old")
    between = providers.Singleton(Model, "other")
    model = providers.Factory(lambda first, second: first, inner, between)
    agent = provide(Agent, model=dep(model))


async def answers(app: Any, runs: int = 3) -> list[Any]:
    return [(await app.agent().run("go")).response for _ in range(runs)]


@pytest.mark.parametrize("container", [Plain, Selecting, Below])
async def test_what_something_below_is_declared_with_later_is_opened(container: Any) -> None:
    async with application(container()) as app:
        assert await answers(app) == ["old"] * 3
        app.container.inner.set_args(RunScoped(open_label))
        assert await answers(app) == ["opened"] * 3
        app.container.inner.set_args("newer")
        assert await answers(app) == ["newer"] * 3


@pytest.mark.parametrize("container", [Plain, Selecting, Below])
async def test_what_an_agent_is_declared_with_later_is_opened(container: Any) -> None:
    async with application(container()) as app:
        assert await answers(app) == ["old"] * 3
        app.container.agent.add_kwargs(model=RunScoped(open_model))
        assert await answers(app) == ["opened"] * 3


async def test_what_a_parameter_of_a_handler_is_declared_with_later_fails_one_run_which_has_not_opened_it() -> None:
    class Tell(Tool):
        """Tell the label."""

        name = "tell"

        async def handler(self, model: Annotated[Any, Inject("inner")]) -> str:
            return str(model.label)

    class Told(containers.DeclarativeContainer):
        inner = providers.Factory(Model, "old")
        model = providers.Singleton(ScriptedModel, [calls(call("tell")), says("done")] * 4)
        agent = provide(Agent, model=dep(model), tools=[Tell])

    async with application(Told()) as app:

        async def told() -> str:
            content: str = (await app.agent().run("go")).calls[0].result.content
            return content

        assert await told() == "old"
        app.container.inner.set_args(RunScoped(open_label))
        with pytest.raises(ConfigurationError, match="opened asynchronously"):  # a call's task opens nothing of the run
            await told()
        app.container.model.reset()
        assert [await told() for _ in range(2)] == ["opened"] * 2


async def test_an_object_that_asks_the_container_itself_is_refused_and_not_made_twice() -> None:
    made: list[str] = []

    class Asking(Model):
        def __init__(self) -> None:
            made.append("asking")
            super().__init__(container.label())

    class Reaching(containers.DeclarativeContainer):
        label = RunScoped(open_label)
        model = providers.Factory(Asking)
        agent = provide(Agent, model=dep(model))

    container = Reaching()
    async with application(container) as app:
        for run in range(1, 4):
            with pytest.raises(ConfigurationError, match="opened asynchronously"):
                await app.agent().run("go")
            assert len(made) == run


@pytest.mark.parametrize("switch", range(1, 14))
async def test_a_branch_that_changes_while_it_is_asked_for_costs_no_later_run(switch: int) -> None:
    asked: list[str] = []
    which = ["a"]

    def choose() -> str:
        asked.append(which[0])
        if len(asked) == switch:
            which[0] = "b"
        return which[0]

    async def open_b() -> AsyncIterator[Model]:
        yield Model("b")

    class Choosing(containers.DeclarativeContainer):
        model = providers.Selector(choose, a=RunScoped(open_model), b=RunScoped(open_b))
        agent = provide(Agent, model=dep(model))

    async with application(Choosing()) as app:
        asked.clear()
        which[0] = "a"
        given: list[Any] = []
        for _ in range(6):
            try:
                given += await answers(app, 1)
            except Exception as error:
                given.append(error)

    assert sum(isinstance(one, Exception) for one in given) <= 1
    assert given[-1] == ("b" if len(asked) >= switch else "opened")
