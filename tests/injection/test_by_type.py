"""A class is built by its provider; where there is none, each parameter is filled by the one provider of its type."""

from __future__ import annotations

import sqlite3
from abc import ABC
from collections.abc import AsyncIterator, Callable, Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Generic, Protocol, Self, TypeVar

import pytest
from dependency_injector import containers, providers

from tests.injection.evaluated_annotations import Evaluated
from tests.injection.parts import Client, Connection, answers, asking, connect_async
from toolkit import Agent, ConfigurationError, Inject, Invocation, Run, RunContext, Tool, tool
from toolkit.injection import AppScoped, RunScoped, ScopeValue, application, check, dep, provide
from toolkit.testing import ScriptedModel, call, calls, says

if TYPE_CHECKING:
    from tests.injection.parts import Echo as OnlyForCheckers

T = TypeVar("T")


class Http:
    """What the tests look for."""

    def __init__(self, name: str = "http") -> None:
        self.name = name


class SpecialHttp(Http):
    pass


class Asks(Protocol):
    name: str


class Base(ABC):  # noqa: B024
    name = "base"


class Box(Generic[T]):
    name = "box"


class Registered:
    name = "registered"


Base.register(Registered)


class Settings(Mapping[str, str]):
    name = "settings"

    def __getitem__(self, key: str) -> str:
        return key

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


async def open_http() -> AsyncIterator[Http]:
    yield Http("generator")


def open_http_plainly() -> Iterator[Http]:
    yield Http("plain generator")


async def make_http() -> Http | None:
    return Http("coroutine")


def make_http_plainly() -> Http:
    return Http("function")


def untold():  # type: ignore[no-untyped-def]
    return Http("untold")


class Called:
    @classmethod
    async def open(cls) -> Self:
        return cls()

    name = "called"


def tool_taking(annotation: Any, **more: Any) -> Any:
    """A tool whose constructor takes one thing of the type, and says its name."""

    class Taking(Tool):
        """Say the name of what was injected."""

        name = "taking"

        def __init__(self, injected: Any = None) -> None:
            self.injected = injected

        async def handler(self) -> str:
            return getattr(self.injected, "name", repr(self.injected))

    constructor: Any = Taking.__init__
    constructor.__annotations__["injected"] = annotation
    constructor.__defaults__ = tuple(more.values()) or None
    return Taking


def container(tools: list[Any], **declared: Any) -> Any:
    declared["agent"] = provide(Agent, tools=tools)
    return type("Application", (containers.DeclarativeContainer,), declared)()


async def said(tool: Any, values: Any = None, name: str = "taking", **declared: Any) -> str:
    async with application(container([tool], **declared)) as app:
        run = await app.agent().run("go", model=asking(name), values=values)
    assert run.calls[0].error is None
    return answers(run)[0]


async def fault(tool: Any, **declared: Any) -> str:
    with pytest.raises(ConfigurationError) as refused:
        async with application(container([tool], **declared)):
            pass
    return str(refused.value)


FOUND = [
    pytest.param(Http, {"http": providers.Factory(Http)}, "http", id="Factory of the class"),
    pytest.param(Http, {"http": providers.Factory(SpecialHttp, "special")}, "special", id="Factory of a subclass"),
    pytest.param(Http, {"http": providers.Singleton(Http, "one")}, "one", id="Singleton"),
    pytest.param(Http, {"http": providers.Object(Http("there"))}, "there", id="Object"),
    pytest.param(Http, {"http": providers.Callable(make_http_plainly)}, "function", id="Callable"),
    pytest.param(Http, {"http": providers.Factory(make_http_plainly)}, "function", id="function's return"),
    pytest.param(Http, {"http": AppScoped(open_http)}, "generator", id="async generator's yield"),
    pytest.param(Http, {"http": RunScoped(open_http_plainly)}, "plain generator", id="generator's yield"),
    pytest.param(Http, {"http": RunScoped(make_http)}, "coroutine", id="coroutine's return, T | None"),
    pytest.param(Called, {"it": RunScoped(Called.open)}, "called", id="class method"),
    pytest.param(Http | None, {"http": providers.Factory(Http)}, "http", id="T | None counts as T"),
    pytest.param(Annotated[Http, "a note"], {"http": providers.Factory(Http)}, "http", id="Annotated without a mark"),
    pytest.param(Annotated[Http, Inject()], {"http": providers.Factory(Http)}, "http", id="Inject()"),
    pytest.param(
        Annotated[Asks, Inject("http")],
        {"http": providers.Factory(Http), "b": providers.Factory(Http)},
        "http",
        id="Inject(name) of a Protocol",
    ),
    pytest.param(Annotated[str, Inject("key")], {"key": providers.Object("secret")}, "'secret'", id="Inject of a str"),
    pytest.param(
        Annotated[Http, Inject("inner.http")],
        {
            "inner": providers.Container(
                type("Inner", (containers.DeclarativeContainer,), {"http": providers.Factory(Http)})
            )
        },
        "http",
        id="Inject of a nested name",
    ),
    pytest.param(Base, {"it": providers.Object(Registered())}, "registered", id="registered with an ABC"),
    pytest.param(Box[int], {"it": providers.Factory(Box)}, "box", id="generic class"),
    pytest.param(Box[int], {"it": RunScoped(Box[int])}, "box", id="generic class with its type"),
    pytest.param(
        Http,
        {"http": providers.Selector(lambda: "a", a=providers.Factory(Http, "a"), b=providers.Factory(Http))},
        "a",
        id="Selector whose branches give one class",
    ),
    pytest.param(
        Http, {"http": providers.Dependency(instance_of=Http, default=Http("default"))}, "default", id="default"
    ),
]


@pytest.mark.parametrize(("annotation", "declared", "name"), FOUND)
async def test_a_parameter_is_filled_by_the_provider_of_its_type(annotation: Any, declared: Any, name: str) -> None:
    assert await said(tool_taking(annotation), **declared) == name


async def test_one_provider_under_two_names_counts_once() -> None:
    http = providers.Singleton(Http, "one")

    assert await said(tool_taking(Http), http=http, also=http) == "one"


class TwoOfHttp(containers.DeclarativeContainer):
    a = providers.Factory(Http)
    b = providers.Factory(Http)


REFUSED = [
    pytest.param(
        Http,
        {"a": providers.Factory(Http), "b": providers.Factory(SpecialHttp)},
        "more than one provider gives that: 'a', 'b'; choose one: Annotated[Http, Inject(\"a\")]",
        id="two candidates",
    ),
    pytest.param(
        Http,
        {"db": RunScoped(connect_async)},
        "takes Http, and no provider gives that; add one, or pass values={Http: ...} to run(...), which a container "
        "declares as ScopeValue(Http). Providers by type: 'db' (Connection), 'agent' (Agent)",
        id="no candidate, and the candidates that there are",
    ),
    pytest.param(SpecialHttp, {"a": providers.Factory(Http)}, "no provider gives that", id="only the parent class"),
    pytest.param(Http, {"a": providers.Factory(untold)}, "no provider gives that", id="function without annotation"),
    pytest.param(
        str,
        {"key": providers.Object("secret")},
        "takes str, and only classes are matched by type (no builtins, no Protocols); name the provider: "
        'Annotated[str, Inject("key")]',
        id="builtin",
    ),
    pytest.param(dict[str, int], {"key": providers.Object({})}, "no builtins, no Protocols", id="generic builtin"),
    pytest.param(Asks, {"http": providers.Factory(Http)}, "only classes are matched by type", id="Protocol"),
    pytest.param(Any, {"http": providers.Factory(Http)}, "only classes are matched by type", id="Any"),
    pytest.param(object, {"http": providers.Factory(Http)}, "only classes are matched by type", id="object"),
    pytest.param(
        Http | Client, {"http": providers.Factory(Http)}, "only classes are matched by type", id="union of two classes"
    ),
    pytest.param(Callable[[], str], {"http": providers.Factory(Evaluated)}, "no provider gives", id="Callable"),
    pytest.param(Hashable, {"http": providers.Factory(Http)}, "no provider gives", id="Hashable"),
    pytest.param(Mapping[str, str], {"key": providers.Object({})}, "no provider gives", id="Mapping, and a dict"),
    pytest.param(
        Annotated[Http, Inject("htpp")],
        {"http": providers.Factory(Http)},
        "asks for the provider 'htpp', and there is none; did you mean 'http'? There are 'agent', 'http'",
        id="Inject of a name that is not there",
    ),
    pytest.param(
        Http,
        {
            "inner": providers.Container(
                type("Inner", (containers.DeclarativeContainer,), {"http": providers.Factory(Http)})
            )
        },
        "takes Http, and types are matched among the container's own names only; 'inner.http' gives it: write "
        'injected = inner.http in the container, or Annotated[Http, Inject("inner.http")]',
        id="embedded containers are not searched, and told",
    ),
    pytest.param(
        Http,
        {"inner": providers.Container(TwoOfHttp), "db": RunScoped(connect_async)},
        "'inner.a', 'inner.b' give it: write injected = inner.a in the container",
        id="two of an embedded container",
    ),
    pytest.param(
        Client,
        {"inner": providers.Container(TwoOfHttp)},
        "no provider gives that; add one, or pass values={Client: ...} to run(...), which a container declares as "
        "ScopeValue(Client). Providers by type: 'agent' (Agent)",
        id="embedded containers are no candidates",
    ),
]


@pytest.mark.parametrize(("annotation", "declared", "text"), REFUSED)
async def test_no_match_or_more_than_one_is_refused_with_the_candidates(
    annotation: Any, declared: Any, text: str
) -> None:
    found = await fault(tool_taking(annotation), **declared)

    assert f"parameter 'injected' of {tool_taking(annotation).__qualname__}" in found
    assert text in found


def test_a_container_that_is_handed_in_is_told_of_too() -> None:
    class Outer(containers.DeclarativeContainer):
        core = providers.DependenciesContainer()
        agent = provide(Agent, tools=[tool_taking(Http)])

    with pytest.raises(ConfigurationError) as refused:
        check(Outer(core=TwoOfHttp()))

    assert "own names only; 'core.a', 'core.b' give it" in str(refused.value)


@pytest.mark.parametrize(
    "core", [providers.Container(TwoOfHttp), providers.DependenciesContainer(**TwoOfHttp().providers)]
)
async def test_what_the_error_proposes_works(core: Any) -> None:
    class Named(containers.DeclarativeContainer):
        inner = core
        agent = provide(Agent, tools=[tool_taking(Annotated[Http, Inject("inner.a")])])

    class Own(containers.DeclarativeContainer):
        inner = core
        injected = inner.a
        agent = provide(Agent, tools=[tool_taking(Http)])

    check(Named())
    check(Own())


async def test_a_class_that_says_it_is_a_mapping_is_one() -> None:
    assert await said(tool_taking(Mapping[str, str]), settings=providers.Factory(Settings)) == "settings"


@pytest.mark.parametrize(
    "annotation", [Http, str, Asks, Callable[[], str], Http | Client, Annotated[str, Inject("nobody")]]
)
async def test_a_default_stands_where_nothing_matches(annotation: Any) -> None:
    assert await said(tool_taking(annotation, default="kept")) == "'kept'"


async def test_the_default_of_a_named_parameter_stands_without_a_container_too() -> None:
    @tool
    async def greet(greeting: Annotated[str, Inject("nobody")] = "hello") -> str:
        """Greet."""
        return greeting

    run = await Agent(asking("greet"), tools=[greet]).run("go")

    assert answers(run) == ["hello"]


async def test_a_provider_goes_before_a_default_and_two_are_an_error_all_the_same() -> None:
    assert await said(tool_taking(Http, default=None), http=providers.Factory(Http)) == "http"
    text = await fault(tool_taking(Http, default=None), a=providers.Factory(Http), b=providers.Factory(Http))
    assert "more than one provider gives that" in text


async def test_a_class_is_built_by_its_own_provider_where_there_is_one() -> None:
    taking = tool_taking(Http)

    name = await said(taking, mine=providers.Factory(taking, injected=Http("wired")), http=providers.Factory(Http))

    assert name == "wired"


async def test_a_class_with_two_providers_has_to_be_listed_by_name() -> None:
    taking = tool_taking(Http)
    text = await fault(taking, a=providers.Factory(taking, Http()), b=providers.Factory(taking, Http()))

    assert "more than one provider gives" in text
    assert "'a', 'b'; list the tool by one of these names" in text


class OnlyPositional(Tool):
    """Can't be filled by name."""

    name = "taking"

    def __init__(self, http: Http, /) -> None: ...

    async def handler(self) -> str:
        return ""


class TwoUnfilled(Tool):
    """Needs two things."""

    name = "taking"

    def __init__(self, one: Http, other: Client, *rest: int, **options: int) -> None: ...

    async def handler(self) -> str:
        return ""


class ForCheckers(Tool):
    """Its annotation is there for type checkers only."""

    name = "taking"

    def __init__(self, echo: OnlyForCheckers) -> None: ...

    async def handler(self) -> str:
        return ""


class Unannotated(Tool):
    """Says nothing of what it takes."""

    name = "taking"

    def __init__(self, echo) -> None: ...  # type: ignore[no-untyped-def]

    async def handler(self) -> str:
        return ""


async def test_a_positional_only_parameter_is_refused() -> None:
    text = await fault(OnlyPositional, http=providers.Factory(Http))

    assert "parameter 'http' of OnlyPositional is positional only" in text


async def test_every_parameter_that_is_not_filled_is_told() -> None:
    text = await fault(TwoUnfilled)

    assert "parameter 'one' of TwoUnfilled takes Http" in text
    assert "parameter 'other' of TwoUnfilled takes Client" in text
    assert "rest" not in text
    assert "options" not in text


async def test_a_parameter_without_annotation_is_told() -> None:
    assert "parameter 'echo' of Unannotated has no annotation, so nothing can fill it" in await fault(Unannotated)


async def test_an_annotation_for_type_checkers_only_is_refused_naming_the_parameter() -> None:
    assert "parameter 'echo' of ForCheckers is annotated 'OnlyForCheckers', and its module has no" in await fault(
        ForCheckers
    )


def test_an_annotation_for_type_checkers_only_is_refused_in_handlers_too() -> None:
    with pytest.raises(ConfigurationError, match="parameter 'echo' of tool 'late'"):

        @tool(name="late")
        async def late(echo: Annotated[OnlyForCheckers, Inject()]) -> str:
            """Too late."""
            return ""


async def test_an_annotation_that_is_local_to_a_function_is_refused_naming_the_parameter() -> None:
    class Local:
        pass

    class Takes(Tool):
        """Take it."""

        def __init__(self, local: Local) -> None: ...

        async def handler(self) -> str:
            return ""

    assert "parameter 'local' of" in await fault(Takes, it=providers.Factory(Local))


async def test_annotations_that_are_evaluated_at_once_work_the_same() -> None:
    run_db = RunScoped(Connection, "db://one")

    async with application(
        container([Evaluated], db=run_db, client=providers.Factory(Client, connection=run_db))
    ) as app:
        run = await app.agent().run("go", model=asking("evaluated"))

    assert answers(run) == ["db://one db://one"]
    assert app.agent().__repr__()


@tool
async def injected(
    text: str, http: Annotated[Http, Inject()], key: Annotated[str, Inject("key")], ctx: RunContext
) -> str:
    """Say what was injected."""
    return f"{text} {http.name} {key} {ctx.invocation.actor_id}"


class Injected(Tool):
    """Say what was injected."""

    name = "method"

    async def handler(self, http: Annotated[Http, Inject()], text: str, run: Run[Any], who: Invocation) -> str:
        return f"{text} {http.name} {run.invocation is who}"


async def test_handlers_and_function_tools_are_filled_and_the_model_sees_none_of_it() -> None:
    model = ScriptedModel([calls(call("injected", {"text": "a"}), call("method", {"text": "b"})), says("done")])

    async with application(
        container([injected, Injected], http=RunScoped(open_http), key=providers.Object("secret"))
    ) as app:
        run = await app.agent().run("go", model=model, actor_id="u1")

    assert answers(run) == ["a generator secret u1", "b generator True"]
    assert [list(shown.input_schema["properties"]) for shown in model.requests[0].tools] == [["text"], ["text"]]


@pytest.mark.parametrize("name", ["http", "key", "ctx"])
async def test_a_model_that_sends_an_injected_name_is_refused(name: str) -> None:
    model = ScriptedModel([calls(call("injected", {"text": "a", name: "mine"})), says("done")])

    async with application(container([injected], http=RunScoped(open_http), key=providers.Object("secret"))) as app:
        run = await app.agent().run("go", model=model)

    assert run.calls[0].result.is_error
    assert name in answers(run)[0]


class Sometimes(Tool):
    """Be there when it is switched on."""

    name = "sometimes"

    @staticmethod
    def available_if(ctx: RunContext, switch: Annotated[Http, Inject()], key: Annotated[str, Inject("key")]) -> bool:
        return (switch.name, key, ctx.invocation.actor_id) == ("on", "secret", "u1")

    async def handler(self) -> str:
        return "here"


@pytest.mark.parametrize(("state", "tools"), [("on", ["sometimes"]), ("off", [])])
async def test_available_if_may_ask_for_what_the_application_has(state: str, tools: list[str]) -> None:
    model = ScriptedModel([says("done")])

    async with application(
        container([Sometimes], switch=AppScoped(Http, state), key=providers.Object("secret"))
    ) as app:
        await app.agent().run("go", model=model, actor_id="u1")

    assert [shown.name for shown in model.requests[0].tools] == tools


class User:
    def __init__(self, name: str) -> None:
        self.name = name


class Admin(User):
    pass


class Knows(Tool):
    """Say who asks."""

    name = "knows"

    def __init__(self, user: User, who: Invocation, run: Run[str], ctx: RunContext) -> None:
        self.parts = user, who, run, ctx

    async def handler(self, again: Annotated[User | None, Inject()]) -> str:
        user, who, run, ctx = self.parts
        assert again is user
        assert ctx.run is run
        return f"{user.name} {who.actor_id}"


@pytest.mark.parametrize("values", [{User: User("ada")}, {Admin: Admin("ada")}], ids=["the class", "a subclass"])
async def test_values_and_the_runs_own_objects_fill_parameters_without_a_container(values: Any) -> None:
    run = await Agent(asking("knows"), tools=[Knows]).run("go", values=values, actor_id="u1")

    assert answers(run) == ["ada u1"]


async def test_values_and_the_runs_own_objects_fill_parameters_of_tools_listed_at_a_run() -> None:
    async with application(container([], http=providers.Factory(Http))) as app:
        run = await app.agent().run(
            "go", model=asking("knows"), tools=[Knows], values={User: User("ada")}, actor_id="u1"
        )

    assert answers(run) == ["ada u1"]


async def test_a_value_of_the_run_goes_before_a_provider() -> None:
    async with application(container([], user=providers.Factory(User, "of the container"))) as app:
        run = await app.agent().run("go", model=asking("knows"), tools=[Knows], values={User: User("of the run")})

    assert answers(run) == ["of the run None"]


class Greets(Protocol):
    text: str


class Hello:
    def __init__(self, text: str = "hello") -> None:
        self.text = text


@tool
async def greet_user(user: Annotated[User, Inject("somebody")], greeting: Annotated[Greets, Inject("greeting")]) -> str:
    """Greet the user."""
    return f"{greeting.text}, {user.name}"


async def test_a_value_of_the_run_fills_a_named_parameter_that_no_provider_has_the_name_of() -> None:
    values = {User: User("ada"), Greets: Hello()}

    alone = await Agent(asking("greet_user"), tools=[greet_user]).run("go", values=values)
    async with application(container([], greeting=providers.Factory(Hello, "good morning"))) as app:
        named = await app.agent().run("go", model=asking("greet_user"), tools=[greet_user], values=values)

    assert answers(alone) == ["hello, ada"]
    assert answers(named) == ["good morning, ada"]


async def test_two_values_that_both_fit_are_refused() -> None:
    class Other(User):
        pass

    with pytest.raises(ConfigurationError, match=r"more than one value of the run is that: Admin, .*Other"):
        await Agent(asking("knows"), tools=[Knows]).run("go", values={Admin: Admin("a"), Other: Other("b")})


async def test_a_value_that_nobody_gives_is_found_at_the_runs_start() -> None:
    model = asking("knows")

    with pytest.raises(ConfigurationError, match="parameter 'user' of Knows takes User"):
        await Agent(model, tools=[Knows]).run("go")

    assert model.requests == []


async def test_a_run_scoped_object_and_a_declared_value_are_found_by_type() -> None:
    assert await said(tool_taking(User), {User: User("declared")}, user=ScopeValue(User)) == "declared"
    assert await said(tool_taking(Invocation), who=ScopeValue(Invocation)) != "None"


async def test_wiring_by_hand_needs_no_annotation() -> None:
    assert await said(providers.Factory(Unannotated, echo=1) and tool_taking(Any, default=1)) == "1"
    async with application(container([provide(Unannotated, echo=dep(providers.Object(1)))])) as app:
        run = await app.agent().run("go", model=asking("taking"))
    assert run.calls[0].error is None


def test_providers_of_an_unknown_type_are_told_where_none_is_known_to_fit() -> None:
    class Reads(Tool):
        """Read rows."""

        def __init__(self, rows: sqlite3.Connection) -> None:
            self.rows = rows

        def handler(self) -> str:
            return "read"

    class Untyped(containers.DeclarativeContainer):
        database = RunScoped(sqlite3.connect, ":memory:")
        client = providers.Factory(Client)
        agent = provide(Agent, tools=[Reads])

    with pytest.raises(ConfigurationError) as refused:
        check(Untyped())

    assert str(refused.value).endswith(
        "Providers by type: 'client' (Client), 'agent' (Agent). Of an unknown type: 'database'; if one of these is "
        'meant, annotate what its function returns, or name it: Annotated[Connection, Inject("database")]'
    )
