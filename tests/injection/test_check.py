"""`check(container)`: every fault at once, each with the path of names that leads to it and what to do."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from typing import Annotated, Any, Protocol

import pytest
from dependency_injector import containers, providers

from containers.models import Models
from tests.injection.parts import Client, Connection, Echo, connection_open, connection_open_async
from toolkit import Agent, ConfigurationError, Inject, Invocation, Tool, tool
from toolkit.injection import AppScoped, CallScoped, RunScoped, ScopeValue, application, check, dep, provide


class Takes:
    def __init__(self, client: Any, units: str = "metric") -> None:
        self.client = client


class TakesByPlace:
    def __init__(self, client: Any, /) -> None: ...


class Abstract(ABC):
    @abstractmethod
    def work(self) -> None: ...


class Works(Protocol):
    def work(self) -> None: ...


class NamedSearch(Tool):
    """Search."""

    name = "search_docs"

    async def handler(self) -> str:
        return ""


class AlsoSearch(Tool):
    """Search too."""

    name = "Search-Docs"

    async def handler(self) -> str:
        return ""


class NeedsUnknown(Tool):
    """Need what nobody gives."""

    def __init__(self, takes: Takes) -> None: ...

    async def handler(self) -> str:
        return ""


class AbstractTool(Tool, ABC):
    """Can't be built."""

    @abstractmethod
    async def handler(self) -> str: ...


@tool
async def injects(entry: Annotated[Client, Inject()]) -> str:
    """Take what nobody gives."""
    return ""


@tool
async def injects_by_name(entry: Annotated[str, Inject("nobody")]) -> str:
    """Take what nobody gives."""
    return ""


class AvailableForRun(Tool):
    """Ask a run's object before there is a run."""

    @staticmethod
    def available_if(ctx: Any, connection: Annotated[Connection, Inject()]) -> bool:
        return True

    async def handler(self) -> str:
        return ""


class Holder(Tool):
    """Hold what was given."""

    def __init__(self, held: Any) -> None: ...

    async def handler(self) -> str:
        return ""


class Closing(Echo):
    """Say it again, and close."""

    async def aclose(self) -> None: ...


def fault_of(container: Any) -> str:
    with pytest.raises(ConfigurationError) as refused:
        check(container)
    return str(refused.value)


def container(**declared: Any) -> Any:
    return type("Application", (containers.DeclarativeContainer,), declared)()


class Embedded(containers.DeclarativeContainer):
    http: Any = providers.Dependency()
    client = providers.Factory(Client, connection=http)


HTTP: Any = providers.Dependency()
CONFIG = providers.Configuration(strict=True)
LAX = providers.Configuration()
RUN_DB = RunScoped(connection_open_async)
CALL_DB = CallScoped(connection_open_async)

FAULTS = [
    pytest.param(
        {"http": HTTP, "client": providers.Factory(Client, HTTP)},
        "'http': this dependency is not defined; give it to the container: Container(name=provider)",
        id="undefined dependency",
    ),
    pytest.param(
        {"tools": providers.Container(Embedded)},
        "'tools.http': this dependency is not defined",
        id="undefined dependency of an embedded container",
    ),
    pytest.param(
        {"config": CONFIG, "db": AppScoped(connection_open_async, CONFIG.db.url)},
        "'db' -> config.db.url: Undefined configuration option \"config.db.url\"",
        id="undefined option of a strict configuration",
    ),
    pytest.param(
        {"config": LAX, "client": providers.Factory(Client, LAX.http.url.required())},
        'Undefined configuration option "config.http.url"; set it: Container(config={...}), or '
        "container.config.from_dict({...})",
        id="undefined option that is required",
    ),
    pytest.param(
        {"config": LAX, "client": providers.Factory(Client, LAX.http.timeout.as_int())},
        "'client' -> int",
        id="option that can't be converted",
    ),
    pytest.param(
        {"client": providers.Factory(Takes, providers.Object(1), unit="metric")},
        "'client': Takes has no parameter 'unit'; it has client, units",
        id="wrong argument",
    ),
    pytest.param(
        {"client": providers.Factory(Takes)},
        "'client': Takes needs an argument for 'client', and none is given",
        id="missing argument",
    ),
    pytest.param(
        {"client": providers.Factory(Takes, 1, 2, 3)},
        "Takes takes 2 positional arguments and is given 3",
        id="too many arguments",
    ),
    pytest.param(
        {"client": providers.Factory(TakesByPlace, client=1)},
        "TakesByPlace needs an argument for 'client', and none is given",
        id="positional-only parameter given by name",
    ),
    pytest.param({"client": providers.Factory(Takes, 1, client=2)}, "Takes is given 'client' twice", id="twice given"),
    pytest.param(
        {"db": RunScoped(connection_open_async, link="x")},
        "connection_open_async has no parameter 'link'; it has url",
        id="wrong argument of a scoped object",
    ),
    pytest.param(
        {"db": RUN_DB, "service": providers.Singleton(Client, RUN_DB)},
        "'service': Singleton(Client) lives as long as the application and would hold "
        "RunScoped(connection_open_async), which lives for one run",
        id="singleton that would hold a run's object",
    ),
    pytest.param(
        {"service": AppScoped(Client, providers.Factory(Client, RUN_DB))},
        "AppScoped(Client) lives as long as the application and would hold RunScoped(connection_open_async)",
        id="app-wide object that would hold a run's object, deep down",
    ),
    pytest.param(
        {"who": ScopeValue(Invocation), "service": providers.ThreadSafeSingleton(Client, ScopeValue(Invocation))},
        "would hold ScopeValue(Invocation), which lives for one run",
        id="singleton that would hold a run's value",
    ),
    pytest.param(
        {"service": RunScoped(Client, CALL_DB)},
        "RunScoped(Client) lives as long as the run and would hold CallScoped(connection_open_async)",
        id="object of a run that would hold one of a call",
    ),
    pytest.param(
        {"agent": provide(Agent, tools=[provide(Holder, held=dep(CALL_DB))])},
        "needs CallScoped(connection_open_async), which lives for one call; only parameters of a handler",
        id="tool that would hold an object of a call",
    ),
    pytest.param(
        {"agent": provide(Agent, tools=[NamedSearch, AlsoSearch])},
        "'agent': two tools are named 'search_docs' and 'Search-Docs' (case, and '-' against '_', make no difference): "
        "NamedSearch and AlsoSearch",
        id="two tools of names too much alike",
    ),
    pytest.param(
        {"one": provide(NamedSearch), "other": provide(NamedSearch), "agent": provide(Agent, tools=["one", "other"])},
        "provider 'one' and provider 'other'; give one another name",
        id="two providers of one name",
    ),
    pytest.param(
        {"agent": provide(Agent, tools=[NeedsUnknown])},
        "'agent': parameter 'takes' of NeedsUnknown takes Takes, and no provider gives that",
        id="class that can't be built by type",
    ),
    pytest.param(
        {
            "a": providers.Factory(Takes, 1),
            "b": providers.Factory(Takes, 2),
            "agent": provide(Agent, tools=[NeedsUnknown]),
        },
        "more than one provider gives that: 'a', 'b'; choose one: Annotated[Takes, Inject(\"a\")]",
        id="class with two candidates",
    ),
    pytest.param(
        {"agent": provide(Agent, tools=["waether"]), "weather": provide(Echo)},
        "the container has no provider 'waether'; did you mean 'weather'? It has 'agent', 'weather'",
        id="tool that no provider gives",
    ),
    pytest.param(
        {"agent": provide(Agent, tools=[AbstractTool])},
        "AbstractTool can't be built: it is abstract in handler",
        id="abstract tool",
    ),
    pytest.param(
        {"thing": providers.Factory(Abstract)}, "Abstract can't be built: it is abstract in work", id="abstract class"
    ),
    pytest.param({"thing": providers.Factory(Works)}, "Works can't be built: it is a Protocol", id="Protocol"),
    pytest.param(
        {"thing": providers.AbstractFactory(Client)}, "is abstract, and nothing overrides it", id="AbstractFactory"
    ),
    pytest.param(
        {"agent": provide(Agent, tools=[injects])},
        "parameter 'entry' of tool 'injects' takes Client, and no provider gives that",
        id="handler parameter that nothing fills",
    ),
    pytest.param(
        {"agent": provide(Agent, tools=[injects_by_name])},
        "parameter 'entry' of tool 'injects_by_name' asks for the provider 'nobody', and there is none",
        id="handler parameter that names nothing",
    ),
    pytest.param(
        {"db": RUN_DB, "agent": provide(Agent, tools=[AvailableForRun])},
        "needs RunScoped(connection_open_async), and it is asked before anything of a run is there",
        id="available_if that asks for a run's object",
    ),
    pytest.param(
        {"which": providers.Selector(LAX.which, a=providers.Object(1), b=providers.Object(2))},
        "'which': config.which chooses None, and there is no such branch; there are 'a', 'b'",
        id="selector that selects nothing",
    ),
    pytest.param(
        {"which": providers.Selector(CONFIG.which, a=providers.Object(1))},
        "'which': config.which chooses nothing",
        id="selector whose option is undefined",
    ),
    pytest.param(
        {"agent": provide(Agent, hooks=["guard"])}, "the container has no provider 'guard'", id="hook nobody gives"
    ),
    pytest.param(
        {"agent": provide(Agent, model="modell")}, "the container has no provider 'modell'", id="model nobody gives"
    ),
    pytest.param(
        {"agent": providers.Object(Agent(tools=[NeedsUnknown]))},
        "parameter 'takes' of NeedsUnknown",
        id="tools of an agent that is there",
    ),
    pytest.param(
        {"agent": provide(Agent, None, [NeedsUnknown])},
        "parameter 'takes' of NeedsUnknown",
        id="tools given by place",
    ),
    pytest.param(
        {"agent": providers.Factory(type("Support", (Agent,), {"tools": [NeedsUnknown]}))},
        "parameter 'takes' of NeedsUnknown",
        id="tools of the agent's class",
    ),
]


@pytest.mark.parametrize(("declared", "text"), FAULTS)
def test_a_fault_is_found_and_told(declared: dict[str, Any], text: str) -> None:
    assert text in fault_of(container(**declared))


@pytest.mark.parametrize(("declared", "text"), FAULTS)
async def test_an_application_with_the_fault_is_not_opened(declared: dict[str, Any], text: str) -> None:
    opened: list[str] = []

    async def open_it() -> AsyncIterator[str]:
        opened.append("it")
        yield "it"

    with pytest.raises(ConfigurationError):
        async with application(container(it=AppScoped(open_it), **declared)):
            pass

    assert opened == []


def test_all_faults_are_told_at_once_each_with_its_path() -> None:
    text = fault_of(
        container(
            http=HTTP,
            config=CONFIG,
            client=providers.Factory(Takes, client=HTTP, unit=CONFIG.units),
            service=providers.Singleton(Client, RUN_DB),
            wrong=providers.Factory(Takes, unit=1),
            agent=provide(Agent, tools=[NamedSearch, AlsoSearch, NeedsUnknown]),
            other=provide(Agent, tools=["nobody"]),
        )
    )

    lines = text.splitlines()
    assert lines[0] == "the container has 9 faults:"
    assert all(line.startswith("- ") for line in lines[1:])
    for part in (
        "'http': this dependency is not defined",
        "'client' -> config.units: Undefined configuration option",
        "'client': Takes has no parameter 'unit'",
        "'service': Singleton(Client) lives as long as the application",
        "'wrong': Takes has no parameter 'unit'",
        "'wrong': Takes needs an argument for 'client'",
        "'agent': two tools are named",
        "'agent': parameter 'takes' of NeedsUnknown takes Takes, and more than one provider gives that",
        "'other': the container has no provider 'nobody'",
    ):
        assert part in text, part


def circular(*more: Any) -> Any:
    a: Any = providers.Factory(Client)
    b = providers.Factory(Client, a)
    a.add_args(b)
    return container(a=a, b=b, user=providers.Factory(Takes, client=b, unit=1))


def test_a_circle_is_named_once_and_does_not_hide_other_faults() -> None:
    text = fault_of(circular())

    assert text.count("cyclic dependency") == 1
    assert "cyclic dependency: 'a' -> 'b' -> 'a'" in text
    assert "'user': Takes has no parameter 'unit'" in text


def test_a_tool_that_holds_the_agent_that_lists_it_is_no_circle() -> None:
    listed: Any = provide(Holder, held=None)
    agent = provide(Agent, tools=[listed])
    listed.set_kwargs(held=agent)

    check(container(agent=agent))


def test_the_path_leads_from_the_agent_down() -> None:
    inner = providers.Factory(Takes, unit="x", client=1)
    text = fault_of(
        container(
            client=providers.Factory(Client, connection=inner),
            agent=provide(Agent, tools=[provide(Holder, held=dep(providers.Factory(Client, connection=inner)))]),
        )
    )

    assert text == "'agent' -> Holder -> Client -> Takes: Takes has no parameter 'unit'; it has client, units"


def test_a_container_without_faults_passes_without_a_word() -> None:
    def open_client(connection: Connection) -> Client:
        return Client(connection)

    config = providers.Configuration(strict=True, default={"url": "db://here"})
    db = AppScoped(connection_open_async, config.url)

    check(
        container(
            config=config,
            db=db,
            service=providers.Singleton(open_client, db),
            run_db=RunScoped(connection_open, config.url),
            who=ScopeValue(Invocation),
            echo=provide(Echo),
            agent=provide(Agent, tools=["echo", injects_a_client]),
            client=RunScoped(Client, db),
        )
    )


@tool
async def injects_a_client(entry: Annotated[Client, Inject("client")], note: Annotated[Any, Inject("db")]) -> str:
    """Take both."""
    return ""


def test_a_diamond_of_many_layers_is_checked_at_once() -> None:
    layer: Any = providers.Object(1)
    for _ in range(60):  # 2**60 paths
        layer = providers.List(layer, layer)

    text = fault_of(container(top=layer, wrong=providers.Factory(Takes, layer, unit=1)))

    assert text == "'wrong': Takes has no parameter 'unit'; it has client, units"


@pytest.mark.parametrize(
    ("provider", "kind"),
    [
        (providers.Factory(Takes, {"a": 1}), "dict"),
        (providers.Factory(Takes, client=[1]), "list"),
        (providers.Singleton(Takes, client=Client(Connection())), "Client"),
        (providers.Callable(Takes, {1}), "set"),
    ],
)
def test_a_literal_that_a_plain_provider_copies_is_warned_of(provider: Any, kind: str) -> None:
    with pytest.warns(UserWarning, match=f"is given a {kind}, which dependency-injector copies for each container"):
        check(container(thing=provider))


@pytest.mark.parametrize(
    "provider",
    [
        provide(Takes, client={"a": 1}),
        providers.Factory(Takes, 1, units="x"),
        providers.Factory(Takes, (1, "x")),
        providers.Factory(Takes, []),
        providers.Factory(Takes, Client),
        providers.Factory(Takes, injects),
        providers.Factory(Takes, Echo()),
        providers.Factory(Takes, providers.Object({"a": 1})),
        providers.Factory(Agent, tools=[Echo, "weather", injects]),
        RunScoped(Takes, {"a": 1}),
    ],
)
def test_what_is_not_copied_is_not_warned_of(provider: Any) -> None:
    check(container(thing=provider, weather=provide(Echo), client=provide(Client, connection=Connection())))


async def unprotected() -> AsyncIterator[Connection]:
    connection = Connection()
    yield connection
    await connection.aclose()


async def protected_by_with() -> AsyncIterator[Connection]:
    async with AsThough():
        yield Connection()
    print("after the block")


async def nothing_follows() -> AsyncIterator[Connection]:
    connection = Connection()
    yield connection


class AsThough:
    async def __aenter__(self) -> None: ...

    async def __aexit__(self, *error: object) -> None: ...


def test_a_generator_that_goes_on_after_an_unprotected_yield_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="unprotected goes on after its yield, and not in a `finally` or `with`"):
        check(container(db=RunScoped(unprotected)))


@pytest.mark.parametrize("source", [connection_open, connection_open_async, protected_by_with, nothing_follows])
def test_a_protected_generator_is_not_warned_of(source: Any) -> None:
    check(container(db=RunScoped(source)))


def test_a_closable_object_that_nobody_owns_is_warned_of() -> None:
    def declared(provider: Any) -> Any:
        return container(connection=provider, agent=provide(Agent, tools=[provide(Holder, held=dep(provider))]))

    with pytest.warns(UserWarning, match=r"Factory\(Connection\) has to be closed, and nobody does; make it RunScoped"):
        check(declared(providers.Factory(Connection)))
    with pytest.warns(UserWarning, match=r"Singleton\(Connection\) has to be closed, .* make it AppScoped"):
        check(declared(providers.Singleton(Connection)))
    check(declared(RunScoped(Connection)))
    check(container(agent=provide(Agent, tools=[provide(Closing)])))


def test_a_default_that_stands_since_no_provider_has_the_name_is_warned_of() -> None:
    @tool
    def greet(greeting: Annotated[str, Inject("gretings")] = "hello") -> str:
        """Greet."""
        return greeting

    with pytest.warns(UserWarning, match=r"'greeting' of tool 'greet' asks for the provider 'gretings', .* default"):
        check(container(agent=provide(Agent, tools=[greet])))
    check(container(gretings=providers.Object("hi"), agent=provide(Agent, tools=[greet])))


async def test_an_application_is_not_bothered_with_advice() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        async with application(
            container(
                db=RunScoped(unprotected),
                connection=providers.Singleton(Connection),
                copied=providers.Singleton(list, [1]),
                agent=provide(Agent, tools=[provide(Holder, held=dep(providers.Factory(Connection)))]),
            )
        ):
            pass


def test_what_a_chooser_says_is_wrong_stands_for_itself() -> None:
    class Application(containers.DeclarativeContainer):
        models = providers.Container(Models, config={"model": "keyword", "modle": "x"}, http=providers.Object(None))
        agent = provide(Agent, model=dep(models.retrying_model))

    with pytest.raises(ConfigurationError) as refused:
        check(Application())

    assert str(refused.value) == (
        "'agent' -> RetryingModel -> 'models.model': the configuration of models has no key 'modle'; it has model, "
        "base_url, api_key, settings"
    )


@pytest.mark.parametrize("given", [{}, None])
def test_something_that_is_no_container_is_refused(given: Any) -> None:
    with pytest.raises(ConfigurationError, match="check takes a container, such as Application"):
        check(given)


class Entered:
    """A client that is entered with `async with`."""

    async def __aenter__(self) -> Entered:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None


class TakesEntered(Tool):
    """Take a client."""

    def __init__(self, client: Entered) -> None:
        self.client = client

    async def handler(self) -> str:
        return "taken"


def make_entered() -> Entered:
    return Entered()


@pytest.mark.parametrize("source", [Entered, make_entered], ids=["class", "function"])
def test_a_resource_that_is_entered_asynchronously_is_refused_below_a_tool(source: Any) -> None:
    class Application(containers.DeclarativeContainer):
        client = providers.Resource(source)
        agent = provide(Agent, tools=[TakesEntered])

    with pytest.raises(ConfigurationError, match="turns all that is built from it into futures"):
        check(Application())
