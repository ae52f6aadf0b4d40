"""The agent of a provider is made anew only where it would come out another."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import functools
import gc
import weakref
from collections.abc import AsyncIterator
from typing import Annotated, Any

import pytest
from dependency_injector import containers, providers

from tests.injection.parts import Echo
from toolkit import Agent, ConfigurationError, Inject, RunContext, RunError, Tool, tool
from toolkit.injection import AppScoped, RunScoped, application, dep, overriding, provide
from toolkit.messages import SystemMessage
from toolkit.models import ModelRequest, ModelResponse, ModelSettings
from toolkit.testing import ScriptedModel, call, calls, says


class Model:
    """Says which one it is, and what it was asked with."""

    made = 0

    def __init__(self) -> None:
        Model.made += 1
        self.number = Model.made

    async def respond(self, request: ModelRequest) -> ModelResponse:
        return ModelResponse(f"{self.number} {[tool.name for tool in request.tools]}")


class Hook:
    """Counts the questions to the model."""

    asked = 0

    async def on_before_model(self, ctx: RunContext, request: ModelRequest) -> None:
        Hook.asked += 1


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


TOOLS: list[Any] = []
HOOKS: list[Any] = []


class Application(containers.DeclarativeContainer):
    model = providers.Singleton(Model)
    agent = provide(Agent, model=dep(model), tools=TOOLS, hooks=HOOKS)


@pytest.fixture(autouse=True)
def _blank() -> None:
    Model.made = Hook.asked = 0
    TOOLS[:] = [Echo]
    HOOKS.clear()


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Agent]:
    """Gets each agent that is made."""
    agents: list[Agent] = []
    original = Agent.__init__

    def noting(self: Agent, *args: Any, **kwargs: Any) -> None:
        agents.append(self)
        original(self, *args, **kwargs)

    monkeypatch.setattr(Agent, "__init__", noting)
    return agents


async def test_an_agent_that_would_be_the_same_is_not_made_again(made: list[Agent]) -> None:
    async with application(Application()) as app:
        before = len(made)
        answers = [(await app.agent().run("go")).response for _ in range(3)]

    assert answers == ["1 ['echo']"] * 3
    assert len(made) == before + 1


async def test_lists_that_were_changed_in_place_hold_in_the_next_run() -> None:
    async with application(Application()) as app:
        bound = app.agent()
        assert (await bound.run("go")).response == "1 ['echo']"
        TOOLS.append(add)
        HOOKS.append(Hook())
        assert (await bound.run("go")).response == "1 ['echo', 'add']"
        assert Hook.asked == 1
        TOOLS[:] = [add]
        HOOKS.clear()
        assert (await bound.run("go")).response == "1 ['add']"
        assert Hook.asked == 1


@pytest.mark.parametrize("given", [lambda: providers.Object(TOOLS), lambda: providers.Singleton(lambda: TOOLS)])
async def test_a_list_that_a_provider_gives_may_be_changed_in_place_too(given: Any) -> None:
    class Listing(Application):
        agent = provide(Agent, model=dep(Application.model), tools=dep(given()))

    async with application(Listing()) as app:
        bound = app.agent()
        for _ in range(2):
            assert (await bound.run("go")).response == "1 ['echo']"
        TOOLS.append(add)
        assert (await bound.run("go")).response == "1 ['echo', 'add']"


@dataclasses.dataclass
class Guard:
    """Is equal to each other one, and counts for itself."""

    def __post_init__(self) -> None:
        self.asked = 0

    async def on_before_model(self, ctx: RunContext, request: ModelRequest) -> None:
        self.asked += 1


@pytest.mark.parametrize("hook", [Hook(), Hook])
async def test_a_hook_is_asked_in_each_run_however_many_there_were(hook: Any) -> None:
    HOOKS.append(hook)

    async with application(Application()) as app:
        for number in range(1, 6):
            await app.agent().run("go")
            assert Hook.asked == number


async def test_an_equal_hook_in_the_place_of_another_is_the_one_that_is_asked() -> None:
    HOOKS[:] = [Guard()]
    async with application(Application()) as app:
        for _ in range(2):
            await app.agent().run("go")
        HOOKS[:] = [other := Guard()]
        await app.agent().run("go")

    assert other.asked == 1


@pytest.mark.parametrize("declare", [provide, providers.Factory])
async def test_an_equal_part_that_is_declared_later_is_the_one_that_is_asked(declare: Any) -> None:
    class Declared(containers.DeclarativeContainer):
        agent = declare(Agent, model=providers.Singleton(Model))

    async with application(Declared()) as app:
        for _ in range(3):
            app.container.agent.add_kwargs(hooks=(guard := Guard(),))
            for _ in range(2):
                await app.agent().run("go")
            assert guard.asked == 2


async def test_a_singleton_that_was_reset_is_made_anew_for_the_next_run() -> None:
    async with application(Application()) as app:
        bound = app.agent()
        for number in (1, 2):
            for _ in range(4):
                assert (await bound.run("go")).response.startswith(f"{number} ")
            app.container.model.reset()


async def test_an_object_that_was_set_anew_holds_in_the_next_run() -> None:
    class Instructed(containers.DeclarativeContainer):
        model = providers.Singleton(ScriptedModel, [says("done")] * 2)
        instructions = providers.Object("Be brief.")
        agent = provide(Agent, model=dep(model), instructions=dep(instructions))

    async with application(Instructed()) as app:
        await app.agent().run("go")
        app.container.instructions.set_provides("Be kind.")
        await app.agent().run("go")

        asked = [request.messages[0] for request in app.container.model().requests]
    assert asked == [SystemMessage("Be brief."), SystemMessage("Be kind.")]


async def test_what_is_declared_later_holds_in_the_next_run() -> None:
    async with application(Application()) as app:
        bound = app.agent()
        assert (await bound.run("go")).response == "1 ['echo']"
        app.container.agent.add_kwargs(tools=[add])
        assert (await bound.run("go")).response == "1 ['add']"
        app.container.agent.add_attributes(tools=[])
        assert (await bound.run("go")).response == "1 []"


@pytest.mark.parametrize("declare", [provide, providers.Factory])
@pytest.mark.parametrize(
    "change",
    [
        lambda agent: agent.add_kwargs(instructions="new"),
        lambda agent: agent.set_kwargs(instructions="new"),
        lambda agent: agent.add_attributes(instructions="new"),
        lambda agent: agent.set_attributes(instructions="new"),
        lambda agent: agent.clear_kwargs().add_kwargs(instructions="new"),
        lambda agent: agent.set_provides(functools.partial(Agent, instructions="new")).clear_kwargs(),
    ],
)
async def test_every_change_of_a_declaration_holds_in_the_next_run(declare: Any, change: Any) -> None:
    class Declared(containers.DeclarativeContainer):
        agent = declare(Agent, instructions="old")

    async with application(Declared()) as app:
        bound = app.agent()
        for _ in range(3):
            model = ScriptedModel([says("done")])
            await bound.run("go", model=model)
            assert model.requests[0].messages[0] == SystemMessage("old")
        change(app.container.agent)
        for _ in range(3):
            model = ScriptedModel([says("done")])
            await bound.run("go", model=model)
            assert model.requests[0].messages[0] == SystemMessage("new")


@pytest.mark.parametrize("declare", [provide, providers.Factory])
async def test_an_attribute_that_is_taken_away_again_is_gone_in_the_next_run(declare: Any) -> None:
    class Declared(containers.DeclarativeContainer):
        agent = declare(Agent, instructions="old").add_attributes(instructions="new")

    async with application(Declared()) as app:
        app.container.agent.clear_attributes()
        model = ScriptedModel([says("done")])
        await app.agent().run("go", model=model)
        assert model.requests[0].messages[0] == SystemMessage("old")


@pytest.mark.parametrize("change", ["add_args", "set_args"])
async def test_an_argument_that_is_added_by_its_place_holds_in_the_next_run(change: str) -> None:
    class Declared(containers.DeclarativeContainer):
        agent = provide(Agent, instructions="old")

    async with application(Declared()) as app:
        bound = app.agent()
        for _ in range(3):
            await bound.run("go", model=ScriptedModel([says("own")]))
        getattr(app.container.agent, change)(ScriptedModel([says("given"), says("given")]))
        assert [(await bound.run("go")).response for _ in range(2)] == ["given", "given"]


async def test_what_replaces_a_part_holds_while_it_replaces_it() -> None:
    async with application(Application()) as app:
        bound = app.agent()
        first = (await bound.run("go")).response
        with overriding(app.container, model=Model()):
            assert (await bound.run("go")).response.startswith("2 ")
        assert (await bound.run("go")).response == first
        with app.container.model.override(providers.Singleton(Model)):
            assert (await bound.run("go")).response.startswith("3 ")
            assert (await bound.run("go")).response.startswith("3 ")
        assert (await bound.run("go")).response == first


class Step(Tool):
    """Take a step."""

    name = "step"

    async def handler(self) -> str:
        return "stepped"


def fresh_step() -> Any:
    return type("FreshStep", (Step,), {"__doc__": "Take a step."})


def stepping() -> ScriptedModel:
    return ScriptedModel([calls(call("step")), says("done")] * 6)


async def test_a_change_of_a_tools_class_holds_however_many_runs_there_were() -> None:
    step = fresh_step()

    class Stepping(containers.DeclarativeContainer):
        model = providers.Singleton(stepping)
        agent = provide(Agent, model=dep(model), tools=[step])

    async with application(Stepping()) as app:
        for _ in range(3):
            assert (await app.agent().run("go")).calls[0].result.content == "stepped"
        step.needs_approval = True
        step.description = "Take another step."
        run = await app.agent().run("go")
        assert "needs an approval" in run.calls[0].result.content
        await app.agent().run("go")
        requests = app.container.model().requests

    assert [request.tools[0].description for request in requests[-4:]] == [
        "Take a step.",  # what it is now is seen when it is called
        *["Take another step."] * 3,
    ]


async def test_what_a_run_brings_holds_for_that_run_alone() -> None:
    async with application(Application()) as app:
        bound = app.agent()
        for _ in range(3):
            await bound.run("go")
        own = ScriptedModel([says("done")])
        await bound.run("go", tools=[add], settings=ModelSettings(temperature=0.5), model=own)
        request = own.requests[0]
        assert [tool.name for tool in request.tools] == ["echo", "add"]
        assert request.settings == ModelSettings(temperature=0.5)
        assert (await bound.run("go")).response == "1 ['echo']"


async def test_an_agent_that_others_have_in_hand_may_be_changed_between_runs() -> None:
    class Shared(containers.DeclarativeContainer):
        model = providers.Singleton(ScriptedModel, [says("done")] * 9)
        agent = providers.Singleton(Agent, model=model, instructions="Be brief.")

    async with application(Shared()) as app:
        for _ in range(3):
            await app.agent().run("go")
        app.container.agent().instructions = "Be kind."
        await app.agent().run("go")
        asked = [request.messages[0].text for request in app.container.model().requests]

    assert asked == [*["Be brief."] * 3, "Be kind."]


async def test_a_tool_that_replaces_another_holds_while_it_does_however_many_runs_there_were() -> None:
    class Named(Step):
        """Take a step."""

        def __init__(self, text: str) -> None:
            self.text = text

        async def handler(self) -> str:
            return self.text

    class Replacing(containers.DeclarativeContainer):
        step = providers.Factory(Named, "real")
        model = providers.Singleton(stepping)
        agent = provide(Agent, model=dep(model), tools=[dep(step)])

    async def given(app: Any) -> str:
        content: str = (await app.agent().run("go")).calls[0].result.content
        return content

    async with application(Replacing()) as app:
        assert [await given(app) for _ in range(3)] == ["real"] * 3
        with overriding(app.container, step=Named("fake")):
            assert await given(app) == "fake"
        with app.container.step.override(providers.Factory(Named, "other")):
            assert await given(app) == "other"
        assert await given(app) == "real"


async def test_what_replaces_a_part_that_the_container_does_not_name_holds_too() -> None:
    elsewhere = providers.Singleton(Model)

    class Unnamed(containers.DeclarativeContainer):
        agent = provide(Agent, model=dep(elsewhere))

    async with application(Unnamed()) as app:
        bound = app.agent()
        model = app.container.agent.kwargs["model"]
        for _ in range(3):
            assert (await bound.run("go")).response.startswith("1 ")
        with model.override(providers.Singleton(Model)):
            for _ in range(3):
                assert (await bound.run("go")).response.startswith("2 ")
        with model.override(providers.Factory(Model)):
            assert [(await bound.run("go")).response[0] for _ in range(3)] == ["3", "4", "5"]
        for _ in range(3):
            assert (await bound.run("go")).response.startswith("1 ")


async def test_a_part_that_is_made_anew_each_time_is_made_anew_in_each_run(made: list[Agent]) -> None:
    container = Application()
    container.model.override(providers.Factory(Model))

    async with application(container) as app:
        answers = [(await app.agent().run("go")).response for _ in range(3)]

    assert answers == ["1 ['echo']", "2 ['echo']", "3 ['echo']"]


async def test_a_subclass_is_made_in_each_run_since_its_constructor_may_do_anything(made: list[Agent]) -> None:
    class Own(Agent[str]):
        pass

    class Other(Application):
        agent = provide(Own, model=dep(Application.model))

    async with application(Other()) as app:
        before = len(made)
        for _ in range(2):
            await app.agent().run("go")

    assert len(made) == before + 2


async def test_a_singleton_that_fails_after_its_reset_is_told_as_at_the_first_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with application(Application()) as app:
        bound = app.agent()
        await bound.run("go")

        def failing(self: Model) -> None:
            raise OSError("gone")

        monkeypatch.setattr(Model, "__init__", failing)
        app.container.model.reset()
        with pytest.raises(RunError, match="the run could not start") as raised:
            await bound.run("go")

    assert isinstance(raised.value.__cause__, OSError)


async def test_an_agent_that_a_handler_is_given_is_its_own() -> None:
    class Changing(Tool):
        """Change the agent."""

        name = "step"

        async def handler(self, agent: Annotated[Agent, Inject("agent")]) -> str:
            agent.instructions = "Be rude."
            return "changed"

    class Given(containers.DeclarativeContainer):
        model = providers.Singleton(stepping)
        agent = provide(Agent, model=dep(model), instructions="Be kind.", tools=[Changing])

    async with application(Given()) as app:
        for _ in range(3):
            assert (await app.agent().run("go")).calls[0].result.content == "changed"
        requests = app.container.model().requests

    assert {request.messages[0] for request in requests} == {SystemMessage("Be kind.")}


async def test_a_provider_that_is_handed_on_is_not_asked_where_a_run_brings_its_own_model() -> None:
    class Delegating(containers.DeclarativeContainer):
        model = providers.DelegatedSingleton(Model)
        agent = provide(Agent, model=dep(model))

    async with application(Delegating()) as app:
        for _ in range(2):
            await app.agent().run("go", model=ScriptedModel([says("own")]))
        assert Model.made == 0
        assert (await app.agent().run("go")).response == "1 []"


async def test_whether_a_tool_is_available_is_asked_in_each_run_however_many_there_were() -> None:
    answers: list[bool] = []

    class Asking(Step):
        """Take a step."""

        @staticmethod
        def available_if(ctx: RunContext) -> bool:
            return answers[-1]

        async def handler(self) -> str:
            return "stepped"

    class Conditional(containers.DeclarativeContainer):
        model = providers.Singleton(Model)
        agent = provide(Agent, model=dep(model), tools=[Asking])

    async with application(Conditional()) as app:
        for is_available in (True, True, False, False, True, True):
            answers.append(is_available)
            assert (await app.agent().run("go")).response == ("1 ['step']" if is_available else "1 []")


async def test_a_model_that_is_built_for_a_run_is_built_for_each_however_many_there_were() -> None:
    class Building(containers.DeclarativeContainer):
        agent = provide(Agent, model=Model)

    async with application(Building()) as app:
        answers = [(await app.agent().run("go")).response for _ in range(4)]

    assert answers == [f"{number} []" for number in range(1, 5)]


async def test_instructions_are_asked_for_in_each_run_however_many_there_were() -> None:
    given: list[str] = []

    def instruct(ctx: RunContext) -> str:
        given.append(f"This is run {len(given)}.")
        return given[-1]

    class Instructed(containers.DeclarativeContainer):
        model = providers.Singleton(ScriptedModel, [says("done")] * 4)
        agent = provide(Agent, model=dep(model), instructions=instruct)

    async with application(Instructed()) as app:
        for _ in range(4):
            await app.agent().run("go")
        requests = app.container.model().requests

    assert [request.messages[0].text for request in requests] == given
    assert len(set(given)) == 4


class Connected(Model):
    """A model over an object of the application, which it says the number of."""

    def __init__(self, http: Http) -> None:
        super().__init__()
        self.http = http

    async def respond(self, request: ModelRequest) -> ModelResponse:
        return ModelResponse(f"{self.http.label} {'closed' if self.http.is_closed else 'open'}")


class Http:
    """What an application opens and closes."""

    opened = 0
    label = "real"
    is_closed = False

    def __init__(self) -> None:
        Http.opened += 1
        self.label = f"{self.label} {Http.opened}"

    def close(self) -> None:
        self.is_closed = True


class FakeHttp(Http):
    label = "fake"


async def open_http() -> AsyncIterator[Http]:
    http = Http()
    yield http
    http.close()


def over_the_application(source: Any, model: Any) -> Any:
    """A container whose agent's model is on top of an object of the application."""

    class Connecting(containers.DeclarativeContainer):
        other = providers.Object(1)
        http = AppScoped(source)
        connected = model(Connected, http=http)
        agent = provide(Agent, model=dep(connected))

    return Connecting()


@pytest.fixture
def _no_connection() -> None:
    Http.opened = 0


over_http = pytest.mark.parametrize("source", [Http, open_http])
kept_for_long = pytest.mark.parametrize("model", [AppScoped, providers.Singleton])


@over_http
@kept_for_long
@pytest.mark.usefixtures("_no_connection")
async def test_an_agent_over_what_the_application_keeps_is_not_made_again(
    made: list[Agent], source: Any, model: Any
) -> None:
    async with application(over_the_application(source, model)) as app:
        before = len(made)
        answers = [(await app.agent().run("go")).response for _ in range(4)]

    assert answers == ["real 1 open"] * 4
    assert len(made) == before + 1
    assert Model.made == 1


@over_http
@kept_for_long
@pytest.mark.usefixtures("_no_connection")
async def test_each_application_has_an_agent_over_its_own_objects(source: Any, model: Any) -> None:
    container = over_the_application(source, model)
    for number in (1, 2):
        async with application(container) as app:
            for _ in range(3):
                assert (await app.agent().run("go")).response == f"real {number} open"
    async with application(container) as first, application(container) as second:
        for _ in range(3):
            assert (await first.agent().run("go")).response == "real 3 open"
            assert (await second.agent().run("go")).response == "real 4 open"


@kept_for_long
@pytest.mark.usefixtures("_no_connection")
async def test_an_agent_that_was_kept_does_not_outlive_its_application(model: Any) -> None:
    async with application(over_the_application(Http, model)) as app:
        bound = app.agent()
        for _ in range(3):
            await bound.run("go")

    with pytest.raises(ConfigurationError, match="after its app scope was closed"):
        await bound.run("go")


@over_http
@kept_for_long
@pytest.mark.usefixtures("_no_connection")
async def test_what_replaces_an_object_of_the_application_holds_while_it_does(source: Any, model: Any) -> None:
    async with application(over_the_application(source, model)) as app:

        async def answers() -> list[Any]:
            return [(await app.agent().run("go")).response for _ in range(3)]

        real = await answers()
        with overriding(app.container, http=FakeHttp()):
            assert await answers() == ["fake 2 open"] * 3
        with overriding(app.container, http=AppScoped(FakeHttp)):
            assert await answers() == ["fake 3 open", "fake 4 open", "fake 5 open"]  # one in each run
        with overriding(app.container, connected=AppScoped(Connected, http=AppScoped(FakeHttp))):
            assert await answers() == ["fake 6 open", "fake 7 open", "fake 8 open"]
        with app.container.http.override(providers.Object(FakeHttp())):
            # It was made before: a plain override does not reach what an application or a singleton keeps.
            assert await answers() == real
        assert await answers() == real == ["real 1 open"] * 3


@pytest.mark.usefixtures("_no_connection")
async def test_an_agent_over_an_object_of_a_run_is_made_in_each_run(made: list[Agent]) -> None:
    class Connecting(containers.DeclarativeContainer):
        http = RunScoped(Http)
        connected = RunScoped(Connected, http=http)
        agent = provide(Agent, model=dep(connected))

    async with application(Connecting()) as app:
        before = len(made)
        answers = [(await app.agent().run("go")).response for _ in range(3)]

    assert answers == ["real 1 open", "real 2 open", "real 3 open"]
    assert len(made) == before + 3


async def test_a_list_that_the_application_keeps_may_be_changed_in_place_too() -> None:
    class Listing(containers.DeclarativeContainer):
        hooks = AppScoped(list)
        model = providers.Singleton(Model)
        agent = provide(Agent, model=dep(model), hooks=dep(hooks))

    async with application(Listing()) as app:
        for _ in range(3):
            await app.agent().run("go")
        app.container.hooks().append(Hook())
        await app.agent().run("go")

    assert Hook.asked == 1


async def test_what_was_replaced_in_a_declaration_is_not_asked_for_any_more() -> None:
    class Failing(containers.DeclarativeContainer):
        model = AppScoped(lambda: broken.append(1) or 1 / 0)
        agent = provide(Agent, model=dep(model))

    broken: list[int] = []
    container = Failing()
    with overriding(container, model=Model()):
        opened = application(container)
        app = await opened.__aenter__()
    try:
        with pytest.raises(RunError):
            await app.agent().run("go")
        app.container.agent.set_kwargs(model=Model())
        assert len(broken) == 1
        assert (await app.agent().run("go")).response == "2 []"
        assert len(broken) == 1
    finally:
        await opened.__aexit__(None, None, None)


@kept_for_long
@pytest.mark.usefixtures("_no_connection")
async def test_an_agent_is_kept_again_once_its_declaration_has_changed(made: list[Agent], model: Any) -> None:
    async with application(over_the_application(Http, model)) as app:
        await app.agent().run("go")
        app.container.agent.add_kwargs(instructions="Be kind.")
        before = len(made)
        for _ in range(4):
            await app.agent().run("go")

    assert len(made) == before + 1


@pytest.mark.parametrize("in_a_block", [True, False])
@pytest.mark.usefixtures("_no_connection")
async def test_nothing_of_a_closed_application_lives_on_in_what_was_kept(in_a_block: bool) -> None:
    container = over_the_application(Http, AppScoped)
    alive: list[weakref.ref[Any]] = []
    held: list[Any] = []
    with overriding(container, other=2) if in_a_block else contextlib.nullcontext():
        for _ in range(3):
            async with application(container) as app:
                held.append(app.agent())
                for _ in range(3):
                    await held[-1].run("go")
                alive.append(weakref.ref(app.container.connected()))
            del app
        gc.collect()

        assert [kept() for kept in alive] == [None] * 3


@pytest.mark.usefixtures("_no_connection")
async def test_a_singleton_that_was_reset_is_built_over_the_objects_of_its_own_application() -> None:
    shop = over_the_application(Http, providers.Singleton)
    answers: list[Any] = []

    class Worker:
        """Made while another application opens; its task takes that application's context along."""

        def __init__(self) -> None:
            self.task = asyncio.get_running_loop().create_task(self.work())

        async def work(self) -> None:
            answers.extend([(await first.agent().run("go")).response for _ in range(3)])
            shop.connected.last_overriding.reset()
            answers.append((await first.agent().run("go")).response)

    class Jobs(containers.DeclarativeContainer):
        worker = AppScoped(Worker)

    async with application(shop) as first:
        with shop.connected.override(providers.Singleton(Connected, shop.http)):
            async with application(Jobs()) as second:
                await second.container.worker().task
            answers.append((await first.agent().run("go")).response)

    assert answers == ["real 1 open"] * 5


async def test_a_change_while_a_hook_is_built_holds_in_the_same_run() -> None:
    built: list[int] = []

    class Replacing(containers.DeclarativeContainer):
        model = providers.Singleton(Model)
        hook = RunScoped(lambda: building() or Hook())
        step = provide(Step)
        agent = provide(Agent, model=dep(model), tools=["step"], hooks=["hook"])

    def building() -> None:
        built.append(1)
        if len(built) == 4:
            container.step.override(providers.Object(add))

    container = Replacing()
    async with application(container) as app:
        answers = [(await app.agent().run("go")).response for _ in range(5)]

    assert answers == ["1 ['step']"] * 3 + ["1 ['add']"] * 2


async def test_what_replaces_a_part_while_another_is_opened_makes_one_object_a_run() -> None:
    opening, go_on = asyncio.Event(), asyncio.Event()

    async def open_slowly() -> AsyncIterator[list[Any]]:
        opening.set()
        await go_on.wait()
        yield []

    class Slow(containers.DeclarativeContainer):
        hooks = AppScoped(open_slowly)
        model = providers.Singleton(Model)
        agent = provide(Agent, model=dep(model), hooks=dep(hooks))

    container = Slow()
    with overriding(container, hooks=[]):
        opened = application(container)
        app = await opened.__aenter__()
    try:
        first = asyncio.create_task(app.agent().run("go"))
        await opening.wait()
        container.model.override(providers.Factory(Model))
        go_on.set()
        await first
        before = Model.made
        for _ in range(3):
            await app.agent().run("go")
        assert Model.made == before + 3
    finally:
        await opened.__aexit__(None, None, None)
