"""How tools are listed: classes, names, providers, function tools, instances, and objects that give more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from dependency_injector import containers, providers

from tests.injection.parts import (
    AlsoUsesConnection,
    Connection,
    Echo,
    UsesConnection,
    answers,
    asking,
    connect_async,
    connection_open,
    connection_open_async,
    in_turns,
)
from toolkit import Agent, ConfigurationError, Invocation, RunContext, Tool, tool
from toolkit.hooks import Deny
from toolkit.injection import AppScoped, RunScoped, ScopeValue, application, check, dep, overriding, provide
from toolkit.testing import ScriptedModel, call, calls, says


class Counted(Tool):
    """Say which instance this is."""

    name = "counted"

    def __init__(self, log: list[str]) -> None:
        log.append("built")
        self.log = log

    async def handler(self) -> str:
        return f"{id(self)}"

    async def aclose(self) -> None:
        self.log.append("closed")


class Shared(Echo):
    """Say it again."""

    name = "shared"


class Plain:
    """A tool that inherits from nothing."""

    name = "plain"
    description = "Say plain."

    async def handler(self) -> str:
        return "plain"


@tool
async def shout(text: str = "hello") -> str:
    """Say it loudly."""
    return text.upper()


class PerInstance(Tool):
    """Named when it is built."""

    name: str

    def __init__(self, name: str = "named_later") -> None:
        self.name = name

    async def handler(self) -> str:
        return f"{self.name} was called"


def untold():  # type: ignore[no-untyped-def]
    return Echo()


class Gives:
    """Gives more tools, by who asks."""

    def __init__(self, *tools: Any) -> None:
        self.given = tools

    def tools(self, ctx: RunContext) -> list[Any]:
        return list(self.given) if ctx.invocation.actor_id == "u1" else []


class GivesLater(Gives):
    async def tools(self, ctx: RunContext) -> list[Any]:  # type: ignore[override]
        return super().tools(ctx)


class Inner(containers.DeclarativeContainer):
    echo = provide(Echo)


class Application(containers.DeclarativeContainer):
    log = providers.Object([])
    counted = provide(Counted, log=dep(log))
    echo = provide(Echo)
    inner = providers.Container(Inner)
    shared = AppScoped(Shared)
    agent: Any = provide(Agent)


WAYS = [
    pytest.param(Echo, "echo", id="class"),
    pytest.param("echo", "echo", id="name"),
    pytest.param("inner.echo", "echo", id="nested name"),
    pytest.param(Application.echo, "echo", id="provider of the class"),
    pytest.param(provide(Echo), "echo", id="provider"),
    pytest.param("shared", "shared", id="name of an app-wide tool"),
    pytest.param(RunScoped(Echo), "echo", id="scoped provider"),
    pytest.param(shout, "shout", id="function tool"),
    pytest.param(Echo(), "echo", id="instance"),
    pytest.param(Plain, "plain", id="class that inherits from nothing"),
    pytest.param(Plain(), "plain", id="instance that inherits from nothing"),
    pytest.param(Gives(Echo), "echo", id="tools(ctx)"),
    pytest.param(GivesLater(Gives("echo"), shout), "echo", id="async tools(ctx), nested"),
    pytest.param(PerInstance, "named_later", id="class whose name is set per instance"),
    pytest.param(provide(PerInstance, name="other"), "other", id="provider of such a class"),
    pytest.param(providers.Factory(untold), "echo", id="factory without annotation"),
    pytest.param(providers.Selector(lambda: "a", a=provide(Echo), b=provide(PerInstance)), "echo", id="Selector"),
]


@pytest.mark.parametrize(("listed", "name"), WAYS)
async def test_a_tool_may_be_listed_in_an_agents_provider(listed: Any, name: str) -> None:
    container = type("Made", (Application,), {"agent": provide(Agent, tools=[listed])})()

    async with application(container) as app:
        for _ in range(2):
            model = asking(name)
            run = await app.agent().run("go", model=model, actor_id="u1")

            assert run.calls[0].error is None
            assert [shown.name for shown in model.requests[0].tools if shown.name == name] == [name]


@pytest.mark.parametrize(("listed", "name"), WAYS)
async def test_a_tool_may_be_added_for_one_run(listed: Any, name: str) -> None:
    async with application(Application()) as app:
        with_it = await app.agent().run("go", model=asking(name), actor_id="u1", tools=[listed])
        without = ScriptedModel([says("hello")])
        await app.agent().run("go", model=without)

    assert with_it.calls[0].error is None
    assert without.requests[0].tools == ()


@pytest.mark.parametrize("kind", [provide, providers.Factory])
async def test_a_list_of_providers_stands_for_the_containers_own(kind: Any) -> None:
    class Made(containers.DeclarativeContainer):
        http = providers.Object("real")
        ask = provide(PerInstance, name=dep(http))
        agent = kind(Agent, tools=[ask])

    container = Made()

    async with application(container) as app:
        real = await app.agent().run("go", model=asking("real"))
        with overriding(container, http="fake"):
            fake = await app.agent().run("go", model=asking("fake"))

    assert answers(real) == ["real was called"]
    assert answers(fake) == ["fake was called"]


class Counting(Agent):
    """Looks into its tools, so it needs them as they are."""

    def __init__(self, model: Any = None, tools: Any = ()) -> None:
        self.names = [tool.name for tool in tools]
        super().__init__(model, tools)


def agent_of(kind: str, counted: Any) -> Any:
    listed = providers.List(counted)
    return {
        "keyword": lambda: providers.Factory(Agent, tools=listed),
        "position": lambda: providers.Factory(Agent, None, listed),
        "provide": lambda: provide(Agent, tools=dep(listed)),
        "subclass": lambda: providers.Factory(type("Sub", (Agent,), {}), tools=listed),
        "Callable": lambda: providers.Callable(Agent, tools=listed),
    }[kind]()


@pytest.mark.parametrize("kind", ["keyword", "position", "provide", "subclass", "Callable"])
async def test_a_tool_in_a_list_of_providers_is_built_when_it_is_called_and_closed_by_the_run(kind: str) -> None:
    log: list[str] = []

    class Application(containers.DeclarativeContainer):
        counted = provide(Counted, log)
        agent = agent_of(kind, counted)

    async with application(Application()) as app:
        await app.agent().run("go", model=asking())
        before_it_is_called = [*log]
        run = await app.agent().run("go", model=in_turns("counted", "counted"))

    assert before_it_is_called == []
    assert len(set(answers(run))) == 1
    assert log == ["built", "closed"]


async def test_what_a_list_of_providers_has_or_the_list_itself_may_be_replaced() -> None:
    class Application(containers.DeclarativeContainer):
        named = providers.Factory(Named, "real")
        tools = providers.List(named)
        agent = providers.Factory(Agent, tools=tools)

    async def names(**replaced: Any) -> list[str]:
        model = ScriptedModel([says("done")])
        with overriding(app.container, **replaced):
            await app.agent().run("go", model=model)
        return [definition.name for definition in model.requests[0].tools]

    async with application(Application()) as app:
        assert await names() == ["real"]
        assert await names(named=Named("fake")) == ["fake"]
        assert await names(tools=[Named("a"), Named("b")]) == ["a", "b"]
        assert await names(tools=providers.List(providers.Factory(Named, "c"))) == ["c"]
        app.container.tools.override(providers.List(providers.Factory(Named, "d")))
        assert await names() == ["d"]
        app.container.tools.reset_override()
        assert await names() == ["real"]


async def test_what_is_changed_of_an_agents_provider_or_its_list_holds_in_the_next_run() -> None:
    class Application(containers.DeclarativeContainer):
        first = providers.Factory(Named, "first")
        second = providers.Factory(Named, "second")
        tools = providers.List(first)
        agent = providers.Factory(Agent, tools=tools)

    async def asked() -> tuple[list[str], str]:
        model = ScriptedModel([says("done")])
        await app.agent().run("go", model=model)
        request = model.requests[0]
        return [definition.name for definition in request.tools], request.messages[0].text

    async with application(Application()) as app:
        assert await asked() == (["first"], "go")
        app.container.tools.add_args(app.container.second)
        assert await asked() == (["first", "second"], "go")
        app.container.agent.add_kwargs(instructions="Be brief.")
        assert await asked() == (["first", "second"], "Be brief.")
        app.container.agent.add_attributes(instructions="Be kind.")
        assert await asked() == (["first", "second"], "Be kind.")
        app.container.agent.set_kwargs(tools=providers.List(app.container.second))
        assert (await asked())[0] == ["second"]
        app.container.agent.set_kwargs(tools=[app.container.first])
        assert (await asked())[0] == ["first"]


async def test_an_agent_with_a_constructor_of_its_own_gets_the_tools_of_a_list_built() -> None:
    class Application(containers.DeclarativeContainer):
        named = providers.Factory(Named, "looked_at")
        agent = providers.Factory(Counting, tools=providers.List(named))

    async with application(Application()) as app:
        run = await app.agent().run("go", model=asking("looked_at"))

    assert answers(run) == ["looked_at"]


def test_the_faults_of_tools_in_a_list_of_providers_are_found() -> None:
    class Application(containers.DeclarativeContainer):
        echo = providers.Factory(Echo)
        again = providers.Factory(type("Again", (Echo,), {}))
        agent = providers.Factory(Agent, tools=providers.List(echo, again, "nobody"))

    with pytest.raises(ConfigurationError) as refused:
        check(Application())

    assert "two tools are named 'echo'" in str(refused.value)
    assert "no provider 'nobody'" in str(refused.value)


class Kit:
    """Gives tools for a run, and is built like them."""

    def __init__(self, log: list[str], prefix: Prefix) -> None:
        log.append("built")
        self.log = log
        self.prefix = prefix

    async def tools(self, ctx: RunContext) -> list[Any]:
        self.log.append(f"asked for {ctx.invocation.actor_id}")
        return [Named(self.prefix.text)]

    async def aclose(self) -> None:
        self.log.append("closed")


class Prefix:
    def __init__(self, text: str = "from_the_kit") -> None:
        self.text = text


class Named(Tool):
    """Named when it is built."""

    name: str

    def __init__(self, name: str) -> None:
        self.name = name

    async def handler(self) -> str:
        return self.name


@pytest.mark.parametrize(
    "listing", [lambda kit: "kit", lambda kit: kit, lambda kit: Kit], ids=["by name", "by provider", "by class"]
)
async def test_an_object_that_gives_tools_may_be_listed_like_a_tool(listing: Callable[[Any], Any]) -> None:
    log: list[str] = []

    class Application(containers.DeclarativeContainer):
        prefix = RunScoped(Prefix)
        kit = provide(Kit, log=log, prefix=dep(prefix))
        agent = provide(Agent, tools=[listing(kit)])

    async with application(Application()) as app:
        run = await app.agent().run("go", model=asking("from_the_kit"), actor_id="ada")
        with overriding(app.container, kit=Kit([], Prefix("fake"))):
            with_a_fake = await app.agent().run("go", model=asking("fake"))

    assert answers(run) == ["from_the_kit"]
    assert answers(with_a_fake) == ["fake"]
    assert log == ["built", "asked for ada", "closed"]


async def test_a_class_that_gives_tools_is_built_by_type() -> None:
    class Asks:
        def __init__(self, prefix: Prefix) -> None:
            self.prefix = prefix

        def tools(self, ctx: RunContext) -> list[Any]:
            return [Named(self.prefix.text)]

    class Application(containers.DeclarativeContainer):
        prefix = providers.Factory(Prefix, "by_type")
        agent = provide(Agent, tools=[Asks])

    class Lacking(containers.DeclarativeContainer):
        agent = provide(Agent, tools=[Asks])

    async with application(Application()) as app:
        run = await app.agent().run("go", model=asking("by_type"))
    without_a_container = await Agent(asking("given"), tools=[Asks]).run("go", values={Prefix: Prefix("given")})

    assert answers(run) == ["by_type"]
    assert answers(without_a_container) == ["given"]
    with pytest.raises(ConfigurationError, match=r"parameter 'prefix' of .*Asks takes Prefix"):
        check(Lacking())


async def test_a_class_of_agents_lists_tools_and_its_subclass_and_provider_add_to_them() -> None:
    class Parent(Agent[str]):
        tools = [Echo]  # noqa: RUF012

    class Child(Parent):
        tools = [shout]  # noqa: RUF012

    class Made(containers.DeclarativeContainer):
        agent = provide(Child, tools=[Plain])

    async with application(Made()) as app:
        run = await app.agent().run("go", model=asking("echo", "shout", "plain"))

    assert answers(run) == ["hello", "HELLO", "plain"]


async def test_tools_are_built_when_they_are_first_called_and_anew_for_each_run() -> None:
    class Made(Application):
        agent = provide(Agent, tools=[Counted])

    container = Made()
    log = container.log()

    async with application(container) as app:
        agent = app.agent()
        await agent.run("go", model=ScriptedModel([says("nothing to do")]))
        untouched = list(log)
        twice = await agent.run("go", model=in_turns("counted", "counted"))
        after_one_run = list(log)
        other = await agent.run("go", model=asking("counted"))

    assert untouched == []
    assert answers(twice)[0] == answers(twice)[1]
    assert after_one_run == ["built", "closed"]
    assert log == ["built", "closed"] * 2
    assert other.calls[0].error is None


async def test_an_instance_is_shared_by_all_runs_and_closed_by_none() -> None:
    log: list[str] = []
    shared = Counted(log)

    async with application(type("Made", (Application,), {"agent": provide(Agent, tools=[shared])})()) as app:
        first = await app.agent().run("go", model=asking("counted"))
        second = await app.agent().run("go", model=asking("counted"), tools=[shared])

    assert answers(first) == answers(second) == [str(id(shared))]
    assert log == ["built"]


@pytest.mark.parametrize("around", [providers.Factory, providers.Callable])
@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (providers.Singleton, ["built"]),
        (AppScoped, ["built", "closed"]),
        (RunScoped, ["built", "closed"] * 2),
        (providers.Factory, ["built", "closed"] * 2),
    ],
    ids=["Singleton", "AppScoped", "RunScoped", "Factory"],
)
async def test_a_provider_that_is_declared_with_another_gives_what_is_closed_as_that_ones(
    around: Any, kind: Any, expected: list[str]
) -> None:
    log: list[str] = []

    class Wrapped(containers.DeclarativeContainer):
        inner = kind(Counted, providers.Object(log))
        counted = around(inner)
        agent = provide(Agent, tools=["counted"])

    async with application(Wrapped()) as app:
        for _ in range(2):
            await app.agent().run("go", model=asking("counted"))

    assert log == expected


async def test_an_instance_that_replaces_a_tool_during_a_run_is_not_closed_by_it() -> None:
    log: list[str] = []
    shared = Counted(log)

    @tool
    def replace() -> str:
        """Put another tool in the place of one that is not built yet."""
        container.counted.override(providers.Object(shared))
        return "replaced"

    class Replaced(containers.DeclarativeContainer):
        counted = provide(Counted, log=log)
        agent = provide(Agent, tools=["counted", replace])

    container = Replaced()
    async with application(container) as app:
        run = await app.agent().run("go", model=in_turns("replace", "counted"))

    assert answers(run) == ["replaced", str(id(shared))]
    assert log == ["built"]


async def test_a_tool_that_can_be_described_only_when_built_is_built_at_each_runs_start_and_closed() -> None:
    log: list[str] = []

    class Later(Counted):
        """Named later."""

        def __init__(self, log: list[str]) -> None:
            super().__init__(log)
            self.name = "later"

    async with application(
        type("Made", (Application,), {"agent": provide(Agent, tools=[provide(Later, log=log)])})()
    ) as app:
        await app.agent().run("go", model=ScriptedModel([says("nothing to do")]))
        one = list(log)
        await app.agent().run("go", model=asking("later"))

    assert one == ["built", "closed"]
    assert log == ["built", "closed"] * 2


SAME = [
    pytest.param(["echo", Echo], id="name and class"),
    pytest.param([Application.echo, "echo", "echo"], id="provider and name"),
    pytest.param([Plain, Plain], id="class twice, built by type"),
    pytest.param([shout, shout], id="function tool twice"),
    pytest.param([Gives(Echo), Echo], id="given and listed"),
]


@pytest.mark.parametrize("listed", SAME)
async def test_the_same_tool_listed_twice_counts_once(listed: list[Any]) -> None:
    model = ScriptedModel([says("done")])

    async with application(type("Made", (Application,), {"agent": provide(Agent, tools=listed)})()) as app:
        await app.agent().run("go", model=model, actor_id="u1", tools=listed)

    assert len(model.requests[0].tools) == 1


async def test_one_instance_listed_twice_counts_once() -> None:
    echo, model = Echo(), ScriptedModel([says("done")])

    await Agent(model, tools=[echo, echo]).run("go", tools=[echo])

    assert len(model.requests[0].tools) == 1


class EchoToo(Tool):
    """Say it too."""

    name = "Echo"

    async def handler(self) -> str:
        return ""


CLASHES = [
    pytest.param(["echo", EchoToo], ["provider 'echo'", "EchoToo"], id="case"),
    pytest.param(["echo", Echo()], ["provider 'echo'", "<Echo echo>"], id="provider and instance"),
    pytest.param(["echo", "inner.echo"], ["provider 'echo'", "provider 'inner.echo'"], id="two providers"),
    pytest.param(
        [Tool.define(name="a-b", description="x", handler=Echo.handler.__get__(Echo())), "underscored"],
        ["<FunctionTool a-b>", "provider 'underscored'"],
        id="dash and underscore",
    ),
]


@pytest.mark.parametrize(("listed", "labels"), CLASHES)
@pytest.mark.parametrize("place", ["provider", "run"])
async def test_two_tools_of_one_name_are_refused_naming_both(listed: list[Any], labels: list[str], place: str) -> None:
    declared: dict[str, Any] = {"underscored": provide(PerNamed)}
    declared["agent"] = provide(Agent, tools=listed if place == "provider" else [])
    container = type("Made", (Application,), declared)()
    model = ScriptedModel([says("never")])

    async def start() -> None:
        async with application(container) as app:
            await app.agent().run("go", model=model, tools=listed if place == "run" else [])

    with pytest.raises(ConfigurationError, match="two tools are named") as refused:
        await start()

    assert all(label in str(refused.value) for label in labels)
    assert model.requests == []


class PerNamed(Tool):
    """Named with an underscore."""

    name = "a_b"

    async def handler(self) -> str:
        return ""


def test_tools_and_what_provide_is_given_are_never_copied() -> None:
    echo, options = Echo(), {"a": [1]}
    listed = [echo, shout]

    class Holds:
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            self.args, self.kwargs = args, kwargs

    class Made(containers.DeclarativeContainer):
        plain = providers.Factory(Holds, echo, shout)
        provided = provide(Holds, options, listed, echo=echo)

    plain, provided = Made().plain(), Made().provided()

    assert plain.args[0] is echo
    assert plain.args[1] is shout
    assert provided.args[0] is options
    assert provided.args[1] is listed
    assert provided.kwargs["echo"] is echo


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (lambda: provide(3), "provide takes a class or function and its arguments; it was given 3"),  # type: ignore[arg-type]
        (lambda: dep(Echo), "dep takes a provider of a container; it was given"),  # type: ignore[arg-type]
    ],
)
def test_provide_and_dep_refuse_what_they_can_do_nothing_with(given: Any, text: str) -> None:
    with pytest.raises(ConfigurationError, match=text):
        given()


@pytest.mark.parametrize("listed", [3, None, object(), lambda: 1, Inner])
async def test_something_that_is_no_tool_is_refused(listed: Any) -> None:
    async with application(Application()) as app:
        with pytest.raises(ConfigurationError):
            await app.agent().run("go", model=ScriptedModel([]), tools=[listed])


async def test_a_tool_that_is_not_found_at_a_run_is_refused_with_the_names() -> None:
    async with application(Application()) as app:
        with pytest.raises(ConfigurationError, match="no provider 'ecko'; did you mean 'echo'"):
            await app.agent().run("go", model=ScriptedModel([]), tools=["ecko"])
    with pytest.raises(
        ConfigurationError, match="there is nothing named 'echo' to be found by its name: this agent has no container"
    ):
        await Agent(ScriptedModel([]), tools=["echo"]).run("go")


async def test_without_a_container_classes_functions_and_instances_work() -> None:
    model = ScriptedModel([calls(call("echo"), call("shout"), call("plain")), says("done")])

    run = await Agent(model, tools=[Echo, shout, Plain()]).run("go")

    assert answers(run) == ["hello", "HELLO", "plain"]


class Alone(containers.DeclarativeContainer):
    """Its providers are listed by agents that belong to no application."""

    log: providers.Provider[Any] = providers.Object([])
    here = RunScoped(connection_open, "db://here")
    there = RunScoped(connection_open_async, "db://there")
    actor = ScopeValue(Invocation)
    first = provide(UsesConnection, connection=dep(here))
    second = provide(AlsoUsesConnection, connection=dep(there))
    whose = providers.Factory(PerInstance, actor.provided.actor_id)
    single = providers.Singleton(Counted, log)
    counted = providers.Factory(Counted, log)
    opened = AppScoped(connect_async)
    far = providers.Factory(UsesConnection, opened)
    model = providers.Factory(asking, "first")


async def test_without_a_container_providers_work_and_what_they_open_is_closed_with_the_run() -> None:
    container, log = Alone(), list[str]()
    agent = Agent(in_turns("first", "second", "counted"), tools=[container.first, container.second])

    with overriding(container, log=log):
        run = await agent.run("go", tools=[container.counted])

    tools = [record.result.content for record in run.calls[:2]]
    assert tools == ["db://here", "db://there"]
    assert log == ["built", "closed"]


async def test_without_a_container_a_providers_object_is_closed_only_by_the_run_that_made_it() -> None:
    container, log = Alone(), list[str]()

    with overriding(container, single=providers.Singleton(Counted, providers.Object(log))):
        for _ in range(2):
            await Agent(asking("counted"), tools=[container.single]).run("go")

    assert log == ["built"]


async def test_without_a_container_listed_providers_share_what_a_run_opens_and_closes() -> None:
    opened: list[Connection] = []

    def counting() -> Iterator[Connection]:
        for connection in connection_open():
            opened.append(connection)
            yield connection

    class One(containers.DeclarativeContainer):
        here = RunScoped(counting)
        first = provide(UsesConnection, connection=dep(here))
        second = provide(AlsoUsesConnection, connection=dep(here))

    container = One()
    await Agent(asking("first", "second"), tools=[container.first, container.second]).run("go")

    assert [connection.closed for connection in opened] == [1]


async def test_without_a_container_providers_get_the_runs_values() -> None:
    run = await Agent(in_turns("ada"), tools=[Alone().whose]).run("go", actor_id="ada")

    assert answers(run) == ["ada was called"]


async def test_without_a_container_a_model_and_a_hook_may_be_providers() -> None:
    class Refusing:
        def on_before_call(self, ctx: RunContext, call: Any) -> Deny:
            return Deny("no")

    container = Alone()
    run = await Agent(container.model, tools=[container.first], hooks=[providers.Factory(Refusing)]).run("go")

    assert answers(run) == ["no"]


async def test_without_a_container_overrides_reach_listed_providers() -> None:
    container = Alone()
    agent = Agent(in_turns("first", "first"), tools=[container.first])

    with overriding(container, here=Connection("db://fake")):
        run = await agent.run("go")
    again = await agent.run("go", model=asking("first"))

    assert answers(run) == ["db://fake"] * 2
    assert answers(again) == ["db://here"]


async def test_a_listed_provider_that_needs_an_application_says_so() -> None:
    with pytest.raises(ConfigurationError, match="outside of an application's scope; open one with"):
        await Agent(asking("first"), tools=[Alone().far]).run("go")
