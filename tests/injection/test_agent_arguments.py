"""What the constructor of an agent would refuse in the first run is found by `check` and `application`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from dependency_injector import containers, providers

import toolkit.injection.app
from tests.injection.parts import Echo, answers, asking
from toolkit import Agent, ConfigurationError
from toolkit.injection import AppScoped, RunScoped, application, check, dep, overriding, provide


class Guard:
    def on_before_call(self, ctx: Any, call: Any) -> None: ...


class HooksOfOne(Agent):
    hooks: Any = Guard()


class NamedWrongly(Agent):
    name: Any = 3


ECHO: Any = provide(Echo)
MADE: Any = provide(Agent)

WRONG: dict[str, tuple[Any, str]] = {
    "a name in place of a list": (provide(Agent, tools="echo"), "tools are 'echo'; give a list"),
    "a name, to a plain factory": (providers.Factory(Agent, tools="echo"), "tools are 'echo'; give a list"),
    "a name, to a singleton": (providers.Singleton(Agent, tools="echo"), "tools are 'echo'; give a list"),
    "a name, for the application": (AppScoped(Agent, tools="echo"), "tools are 'echo'; give a list"),
    "a name, for a run": (RunScoped(Agent, tools="echo"), "tools are 'echo'; give a list"),
    "a class": (provide(Agent, None, Echo), "tools are <class 'tests.injection.parts.Echo'>; give a list"),  # type: ignore[arg-type]
    "an object": (providers.Factory(Agent, tools=providers.Object(Echo())), "tools are <"),
    "a set": (providers.Factory(Agent, tools={"echo"}), "tools are {'echo'}; give a list"),
    "a provider of one tool": (
        provide(Agent, tools=dep(ECHO)),
        "tools are given by Factory(Echo), which makes one Echo; give a list: tools=[...]",
    ),
    "a hook": (provide(Agent, hooks=Guard()), "hooks are <"),  # type: ignore[arg-type]
    "a class of hooks": (provide(Agent, hooks=Guard), "hooks are <class '"),  # type: ignore[arg-type]
    "a provider of one hook": (
        provide(Agent, hooks=dep(providers.Singleton(Guard))),  # type: ignore[arg-type]
        "hooks are given by Singleton(Guard), which makes one Guard; give a list: hooks=[...]",
    ),
    "hooks of a subclass": (provide(HooksOfOne), "hooks are <"),
    "the name of a subclass": (provide(NamedWrongly), "the name of an agent is 3; it is a text"),
    "limits": (provide(Agent, limits=3), "limits are 3; give Limits(max_turns=...)"),  # type: ignore[arg-type]
    "settings": (provide(Agent, settings={}), "settings are {}; give ModelSettings("),  # type: ignore[arg-type]
    "instructions": (provide(Agent, instructions=3), "instructions are 3; give a text"),  # type: ignore[arg-type]
    "a name that is none": (provide(Agent, name=""), "the name of an agent is ''; it is a text"),
    "an output type": (provide(Agent, output_type=Guard), "has no JSON Schema"),
}


def application_of(made: Any) -> Any:
    class Application(containers.DeclarativeContainer):
        echo = provide(Echo)
        agent = made

    return Application()


@pytest.mark.parametrize(("made", "text"), WRONG.values(), ids=WRONG.keys())
def test_an_argument_that_an_agent_refuses_is_found(made: Any, text: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        check(application_of(made))

    assert str(refused.value).startswith("'agent': ")
    assert text in str(refused.value)


@pytest.mark.parametrize("made", [made for made, _ in WRONG.values()], ids=WRONG.keys())
async def test_the_run_would_have_refused_it(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolkit.injection.app, "check_wiring", lambda container: None)

    with pytest.raises(ConfigurationError):
        async with application(application_of(made)) as app:
            await app.agent().run("go", model=asking())


def test_all_that_an_agent_refuses_is_told_at_once() -> None:
    made: Any = providers.Factory(Agent, tools="echo", hooks=Guard(), limits=3, colour="red")

    with pytest.raises(ConfigurationError) as refused:
        check(application_of(made))

    found = str(refused.value)
    assert "the container has 4 faults" in found
    assert "- 'agent': Agent has no parameter 'colour'" in found
    for text in ("tools are 'echo'", "hooks are <", "limits are 3"):
        assert f"- 'agent': {text}" in found


def test_an_agent_without_a_name_of_its_own_is_checked_where_it_is_a_part() -> None:
    class Desk:
        def __init__(self, analyst: Any) -> None: ...

    with pytest.raises(ConfigurationError, match=r"'agent' -> Agent: tools are 'echo'; give a list"):
        check(application_of(provide(Desk, analyst=provide(Agent, tools="echo"))))


class Listing(list[Any]):
    """A list of the application's own."""


class Nothing:
    """Counts as nothing, and is none of an agent's tools."""

    def __len__(self) -> int:
        return 0


class NoList:
    """Makes a list, whatever its name says."""

    def __new__(cls) -> Any:
        return [Echo]


def listed() -> Sequence[Any]:
    return [Echo]


def listed_untold() -> Any:
    return [Echo]


def told_wrongly() -> Echo:
    return [Echo]  # type: ignore[return-value]


class Chooses(Agent):
    """Takes one tool by its name."""

    def __init__(self, model: Any = None, tools: str = "") -> None:
        super().__init__(model, tools=[Echo] if tools == "echo" else [])


class Made(Agent):
    """Lists a tool of its class."""

    tools = (Echo,)


def make_agent(tools: str) -> Agent:
    return Agent(tools=[Echo] if tools == "echo" else [])


SOUND: dict[str, Any] = {
    "a list": provide(Agent, tools=[Echo]),
    "a tuple": provide(Agent, tools=(Echo,)),
    "a list of its own": provide(Agent, tools=Listing([Echo])),
    "a list by a provider": provide(Agent, tools=dep(providers.Object([Echo]))),
    "a provider of a list": provide(Agent, tools=dep(providers.Factory(Listing, providers.Object([Echo])))),
    "providers.List": providers.Factory(Agent, tools=providers.List(ECHO)),
    "a function": provide(Agent, tools=dep(providers.Factory(listed))),
    "a function that does not say": provide(Agent, tools=dep(providers.Callable(listed_untold))),
    "a function that says something else": provide(Agent, tools=dep(providers.Factory(told_wrongly))),  # type: ignore[arg-type]
    "a class that makes a list": provide(Agent, tools=dep(providers.Factory(NoList))),  # type: ignore[arg-type]
    "a constructor of its own": provide(Chooses, tools="echo"),
    "a constructor of its own, by place": provide(Chooses, None, "echo"),
    "a function that makes the agent": provide(make_agent, tools="echo"),
    "a selected list": provide(
        Agent, tools=dep(providers.Selector(lambda: "list", list=providers.Object([Echo]), one=ECHO))
    ),
    "nothing": provide(Made, tools=dep(providers.Factory(Nothing))),  # type: ignore[arg-type]
    "None": provide(Made, tools=None, hooks=None),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("made", SOUND.values(), ids=SOUND.keys())
async def test_what_an_agent_takes_is_found_sound(made: Any) -> None:
    container = application_of(made)

    check(container)
    async with application(container) as app:
        run = await app.agent().run("go", model=asking("echo"))

    assert answers(run) == ["hello"]


async def test_arguments_are_checked_as_they_are_replaced() -> None:
    class Application(containers.DeclarativeContainer):
        tools = providers.Object("echo")
        agent = provide(Agent, tools=dep(tools))

    container = Application()

    with overriding(container, tools=[Echo]):
        async with application(container) as app:
            assert answers(await app.agent().run("go", model=asking("echo"))) == ["hello"]
    with pytest.raises(ConfigurationError, match="tools are 'echo'; give a list"):
        check(container)
