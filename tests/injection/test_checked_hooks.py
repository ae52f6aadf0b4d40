"""`check` and `application` find what the first run would refuse as a hook; what a run takes, they take."""

from __future__ import annotations

import collections
import functools
from abc import ABC
from collections.abc import AsyncIterator, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, ClassVar, Protocol
from unittest.mock import Mock

import msgspec
import pytest
from dependency_injector import containers, providers

import toolkit.injection.app
from tests.injection.parts import Echo, asking
from toolkit import Agent, ConfigurationError
from toolkit.injection import AppScoped, RunScoped, application, check, overriding, provide

ASKED: list[str] = []


@pytest.fixture(autouse=True)
def _blank() -> None:
    ASKED.clear()


def asked(ctx: Any, call: Any) -> None:
    ASKED.append(call.name)


class Ledger: ...


# What is wrong


class Unheard:
    def before_call(self, ctx: Any, call: Any) -> None: ...


class UnheardWithConstructor(Unheard):
    limit: ClassVar[int] = 3

    def __init__(self, limit: int = 7) -> None:
        super().__init__()
        self.limits = [limit, self.limit]
        self.open()

    def open(self) -> None:
        self.lines = [str(limit) for limit in self.limits]


@dataclass(frozen=True)
class UnheardData:
    limit: int = 3


class UnheardInSlots:
    __slots__ = ("limit",)

    def __init__(self) -> None:
        self.limit = 3


class Misspelt:
    def on_before_calls(self, ctx: Any, call: Any) -> None: ...


class MisspeltBeside(Misspelt):
    def __getattr__(self, name: str) -> Any:
        if name == "on_after_call":
            return asked
        raise AttributeError(name)

    def on_before_call(self, ctx: Any, call: Any) -> None: ...


class OneParameter:
    async def on_before_call(self, call: Any) -> None: ...


class ThreeParameters:
    def on_after_model(self, ctx: Any, response: Any, more: Any) -> None: ...


class WrongStatic:
    @staticmethod
    def on_before_model(request: Any) -> None: ...


class WrongInherited(OneParameter):
    def __init__(self) -> None:
        self.limit = 3


class NotCallable:
    on_before_call = "deny"


class WrongCallable:
    on_before_call = functools.partial(asked, None)


WRONG = [
    (Unheard, "hook Unheard has none of on_before_call, on_after_call, on_before_model, on_after_model"),
    (UnheardWithConstructor, "hook UnheardWithConstructor has none of on_before_call"),
    (UnheardData, "hook UnheardData has none of on_before_call"),
    (UnheardInSlots, "hook UnheardInSlots has none of on_before_call"),
    (Misspelt, "hook Misspelt has 'on_before_calls', which nothing asks for; did you mean 'on_before_call'?"),
    (MisspeltBeside, "hook MisspeltBeside has 'on_before_calls', which nothing asks for"),
    (OneParameter, "on_before_call of hook OneParameter is called as on_before_call(ctx, call), and it takes (call"),
    (
        ThreeParameters,
        "on_after_model of hook ThreeParameters is called as on_after_model(ctx, response), and it takes",
    ),
    (WrongStatic, "on_before_model of hook WrongStatic is called as on_before_model(ctx, request), and it takes"),
    (WrongInherited, "on_before_call of hook WrongInherited is called as on_before_call(ctx, call)"),
    (NotCallable, "on_before_call of hook NotCallable is 'deny'; it has to be callable"),
    (WrongCallable, "on_before_call of hook WrongCallable is called as on_before_call(ctx, call)"),
]

WAYS = {
    "class": lambda cls: (provide(Agent, tools=[Echo], hooks=[cls]), None),
    "name": lambda cls: (provide(Agent, tools=[Echo], hooks=["guard"]), provide(cls)),
    "name of a singleton": lambda cls: (provide(Agent, tools=[Echo], hooks=["guard"]), providers.Singleton(cls)),
    "name of a run's": lambda cls: (provide(Agent, tools=[Echo], hooks=["guard"]), RunScoped(cls)),
    "name of an application's": lambda cls: (provide(Agent, tools=[Echo], hooks=["guard"]), AppScoped(cls)),
    "name of an object": lambda cls: (provide(Agent, tools=[Echo], hooks=["guard"]), providers.Object(cls())),
    "provider": lambda cls: (provide(Agent, tools=[Echo], hooks=[providers.Factory(cls)]), None),
    "object": lambda cls: (provide(Agent, tools=[Echo], hooks=[cls()]), None),
    "list of providers": lambda cls: (
        providers.Factory(Agent, tools=[Echo], hooks=providers.List(providers.Factory(cls))),
        None,
    ),
    "class of agents": lambda cls: (provide(type("Desk", (Agent,), {"tools": [Echo], "hooks": [cls]})), None),
    "class of agents, object": lambda cls: (
        provide(type("Desk", (Agent,), {"tools": [Echo], "hooks": [cls()]})),
        None,
    ),
    "selector": lambda cls: (
        provide(Agent, tools=[Echo], hooks=["guard"]),
        providers.Selector(lambda: "one", one=providers.Factory(cls)),
    ),
}

Way = Callable[[Any], tuple[Any, Any]]


def in_all_ways(hooks: list[Any], one: Any) -> list[Any]:
    """Each hook listed by its class and as an object, and one of them in all ways."""
    listed = [(way, hook) for hook in hooks for way in ("class", "object")] + [(way, one) for way in WAYS]
    return [pytest.param(WAYS[way], hook, id=f"{hook.__name__}, {way}") for way, hook in dict.fromkeys(listed)]


TEXTS = dict(WRONG)


def application_of(way: Way, hook: Any) -> Any:
    made, guard_provider = way(hook)

    class Application(containers.DeclarativeContainer):
        ledger = providers.Singleton(Ledger)
        agent = made

    class Guarded(Application):
        guard = guard_provider

    return Application() if guard_provider is None else Guarded()


@pytest.mark.parametrize(("way", "hook"), in_all_ways([*TEXTS], UnheardWithConstructor))
def test_a_hook_that_the_first_run_would_refuse_is_found_before(way: Way, hook: type) -> None:
    with pytest.raises(ConfigurationError) as refused:
        check(application_of(way, hook))

    assert str(refused.value).startswith("'agent': ")
    assert TEXTS[hook] in str(refused.value)


@pytest.mark.parametrize(("way", "hook"), in_all_ways([*TEXTS], UnheardWithConstructor))
async def test_the_run_would_have_said_the_same(way: Way, hook: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolkit.injection.app, "check_wiring", lambda container: None)

    async with application(application_of(way, hook)) as app:
        with pytest.raises(ConfigurationError) as refused:
            await app.agent().run("go", model=asking("echo"))

    assert TEXTS[hook] in str(refused.value)


async def test_an_application_with_such_a_hook_is_not_opened() -> None:
    with pytest.raises(ConfigurationError, match="hook Unheard has none of"):
        async with application(application_of(WAYS["name"], Unheard)):
            raise AssertionError("it must not open")


def test_what_a_hook_needs_is_checked_beside_its_methods() -> None:
    class Needs(Unheard):
        def __init__(self, url: str) -> None:
            self.url = url

    class Application(containers.DeclarativeContainer):
        guard = provide(Needs)  # type: ignore[call-arg]
        agent = provide(Agent, hooks=["guard"])

    with pytest.raises(ConfigurationError) as refused:
        check(Application())

    assert "'guard': " in str(refused.value)
    assert "hook test_what_a_hook_needs_is_checked_beside_its_methods.<locals>.Needs has none" in str(refused.value)


# What is not


class SetInConstructor:
    def __init__(self) -> None:
        self.on_before_call = asked


class SetByHelper:
    def __init__(self) -> None:
        self.wire()

    def wire(self) -> None:
        self.on_before_call = asked


class SetAbove(SetInConstructor):
    def __init__(self) -> None:
        super().__init__()


class SetBySuper(SetByHelper):
    def __init__(self) -> None:
        super().wire()

    def wire(self) -> None: ...


class SetByName:
    def __init__(self) -> None:
        setattr(self, "on_before_" + "call", asked)


class SetByUpdate:
    def __init__(self) -> None:
        self.__dict__.update({"on_before_" + "call": asked})


class SetByUpdateOfVars:
    def __init__(self) -> None:
        vars(self)["on_before_call"] = asked


def wired(hook: Any) -> None:
    hook.on_before_call = asked


class SetByFunction:
    def __init__(self) -> None:
        wired(self)


class Box:
    """Gives a guard to whatever is put into it."""

    def __setattr__(self, name: str, hook: Any) -> None:
        hook.on_before_call = asked


class SetByBox:
    def __init__(self) -> None:
        box = Box()
        box.hook = self


class SetInClosure:
    def __init__(self) -> None:
        def wire() -> None:
            self.on_before_call = asked

        wire()


class SetUnderAnotherName:
    def __init__(self) -> None:
        it = self
        it.on_before_call = asked


def wiring(constructor: Any) -> Any:
    @functools.wraps(constructor)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        constructor(*args, **kwargs)
        args[0].on_before_call = asked

    return wrapped


class SetByDecorator:
    @wiring
    def __init__(self) -> None:
        self.limit = 3


class SetByProperty:
    def __init__(self) -> None:
        self.guard = asked

    @property
    def guard(self) -> Any:
        return self.on_before_call

    @guard.setter
    def guard(self, value: Any) -> None:
        self.on_before_call = value


class SetBySetattr:
    def __init__(self) -> None:
        self.guard = asked

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, f"on_before_{'call' if name == 'guard' else name}", value)


class GivenByGetattr:
    def __getattr__(self, name: str) -> Any:
        if name == "on_before_call":
            return asked
        raise AttributeError(name)


class GivenByGetattribute:
    def __getattribute__(self, name: str) -> Any:
        return asked if name == "on_before_call" else object.__getattribute__(self, name)


class GivenByProperty:
    @property
    def on_before_call(self) -> Any:
        return asked


class GivenByCachedProperty:
    @functools.cached_property
    def on_before_call(self) -> Any:
        return asked


class GivenInASlot:
    __slots__ = ("on_before_call",)

    def __init__(self) -> None:
        self.on_before_call = asked


@dataclass
class GivenInAField:
    on_before_call: Any = field(default_factory=lambda: asked)


@dataclass(frozen=True)
class GivenInAFrozenField:
    on_before_call: Any = field(default_factory=lambda: asked)


class GivenInAStruct(msgspec.Struct):
    on_before_call: Any = msgspec.field(default_factory=lambda: asked)


GivenInATuple = collections.namedtuple("GivenInATuple", ["on_before_call"], defaults=[asked])


class MadeByNew:
    def __new__(cls) -> Any:
        return SetInConstructor()


class MisspeltButMadeByNew(Misspelt):
    def __new__(cls) -> Any:
        return SetInConstructor()


class Meta(type):
    def __call__(cls) -> Any:
        return SetInConstructor()


class MadeByMeta(metaclass=Meta): ...


class Corrected(OneParameter):
    """Its class has a wrong one, and each object a right one."""

    def __init__(self) -> None:
        self.on_before_call = asked  # type: ignore[method-assign,assignment]


@dataclass
class CorrectedByField(OneParameter):
    on_before_call: Any = field(default_factory=lambda: asked)


class Callable_:
    def __call__(self, ctx: Any, call: Any) -> None:
        asked(ctx, call)


class CallableObject:
    on_before_call = Callable_()


class PartialMethod:
    def ask(self, limit: int, ctx: Any, call: Any) -> None:
        asked(ctx, call)

    on_before_call = functools.partialmethod(ask, 3)


class Static:
    on_before_call = staticmethod(asked)


class OfClass:
    @classmethod
    def on_before_call(cls, ctx: Any, call: Any) -> None:
        asked(ctx, call)


class TakesAnything:
    def on_before_call(self, *args: Any, **kwargs: Any) -> None:
        asked(*args)


class TakesMore:
    def on_before_call(self, ctx: Any, call: Any, strict: bool = True) -> None:
        asked(ctx, call)


class WithoutOne(TakesMore):
    on_after_call = None


class Guarding(Protocol):
    def on_before_call(self, ctx: Any, call: Any) -> None: ...


class OfProtocol(Guarding):
    def on_before_call(self, ctx: Any, call: Any) -> None:
        asked(ctx, call)


class OfAbstract(TakesMore, ABC): ...


class TakesLedger(TakesMore):
    def __init__(self, ledger: Ledger | None = None) -> None:
        self.ledger = ledger


SOUND = [
    SetInConstructor,
    SetByHelper,
    SetAbove,
    SetBySuper,
    SetByName,
    SetByUpdate,
    SetByUpdateOfVars,
    SetByFunction,
    SetByBox,
    SetInClosure,
    SetUnderAnotherName,
    SetByDecorator,
    SetByProperty,
    SetBySetattr,
    GivenByGetattr,
    GivenByGetattribute,
    GivenByProperty,
    GivenByCachedProperty,
    GivenInASlot,
    GivenInAField,
    GivenInAFrozenField,
    GivenInAStruct,
    GivenInATuple,
    MadeByNew,
    MisspeltButMadeByNew,
    MadeByMeta,
    Corrected,
    CorrectedByField,
    CallableObject,
    PartialMethod,
    Static,
    OfClass,
    TakesAnything,
    TakesMore,
    WithoutOne,
    OfProtocol,
    OfAbstract,
    TakesLedger,
]


@pytest.mark.parametrize(("way", "hook"), in_all_ways(SOUND, SetByHelper))
async def test_a_hook_that_a_run_asks_is_found_sound(way: Way, hook: type) -> None:
    container = application_of(way, hook)

    check(container)
    async with application(container) as app:
        await app.agent().run("go", model=asking("echo"))

    assert ASKED == ["echo"]


@pytest.mark.parametrize(
    "hook", [SimpleNamespace(on_before_call=asked), Mock(return_value=None)], ids=["space", "mock"]
)
@pytest.mark.parametrize("is_named", [True, False], ids=["name", "object"])
async def test_an_object_of_no_class_of_hooks_may_be_one(hook: Any, is_named: bool) -> None:
    if isinstance(hook, Mock):
        hook.on_before_call = asked
        hook.on_after_call = hook.on_before_model = hook.on_after_model = None
    container = application_of(WAYS["name"] if is_named else WAYS["object"], lambda: hook)
    if is_named:
        container.guard.override(providers.Object(hook))

    async with application(container) as app:
        await app.agent().run("go", model=asking("echo"))

    assert ASKED == ["echo"]


CURRENT: ContextVar[Any] = ContextVar("current")


class OfTheRequest:
    """Answers with the guard of the request in which it is asked, and fails outside of one."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("on_"):
            return getattr(CURRENT.get(), name)
        raise AttributeError(name)


class PropertyOfTheRequest:
    @property
    def on_before_call(self) -> Any:
        return CURRENT.get().on_before_call


@pytest.mark.parametrize(("way", "hook"), in_all_ways([PropertyOfTheRequest], OfTheRequest))
async def test_a_hook_that_can_be_asked_in_a_request_only_is_not_asked_before(way: Way, hook: type) -> None:
    async with application(application_of(way, hook)) as app:
        CURRENT.set(TakesMore())
        await app.agent().run("go", model=asking("echo"))

    assert ASKED == ["echo"]


class SetFromOutside:
    """Says that it has a guard, and is given it by the application."""

    on_before_call: Any


@pytest.mark.parametrize(
    "guard", [AppScoped(SetFromOutside), providers.Object(SetFromOutside())], ids=["class", "object"]
)
async def test_a_hook_that_says_what_it_will_have_may_be_given_it_later(guard: Any) -> None:
    container = application_of(lambda _: (provide(Agent, tools=[Echo], hooks=["guard"]), guard), None)

    async with application(container) as app:
        app.container.guard().on_before_call = asked
        await app.agent().run("go", model=asking("echo"))

    assert ASKED == ["echo"]


def guard_of_its_kind() -> Unheard:
    return SoundKind()


class SoundKind(Unheard, TakesMore): ...


async def guard_opened() -> AsyncIterator[Unheard]:
    yield SoundKind()


def guard_untold() -> Any:
    return SoundKind()


class Holder:
    guard = SoundKind()


class Making(providers.Factory[Any]):
    """A kind of provider of the application's own."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return SoundKind()


@pytest.mark.parametrize(
    "guard",
    [
        providers.Factory(guard_of_its_kind),
        providers.Singleton(guard_of_its_kind),
        RunScoped(guard_opened),
        providers.Factory(guard_untold),
        providers.Singleton(Holder).provided.guard,
        providers.Selector(lambda: "sound", sound=providers.Factory(SoundKind), wrong=providers.Factory(Unheard)),
        providers.Factory(Unheard).add_attributes(on_before_call=asked),
        providers.Singleton(Unheard).add_attributes(on_before_call=asked),
        providers.Dependency(instance_of=Unheard, default=providers.Factory(SoundKind)),
        Making(Unheard),
    ],
    ids=[
        "function",
        "singleton of a function",
        "generator",
        "untold",
        "attribute",
        "selected",
        "attributes set",
        "attributes of a singleton set",
        "dependency",
        "own kind of provider",
    ],
)
async def test_what_a_provider_gives_may_be_more_than_is_known_of_it(guard: Any) -> None:
    container = application_of(lambda _: (provide(Agent, tools=[Echo], hooks=["guard"]), guard), None)

    async with application(container) as app:
        await app.agent().run("go", model=asking("echo"))

    assert ASKED == ["echo"]


@pytest.mark.parametrize("fake", [TakesMore(), TakesMore, providers.Factory(TakesMore)], ids=["object", "class", "own"])
async def test_a_hook_that_is_replaced_is_checked_as_its_replacement(fake: Any) -> None:
    container = application_of(WAYS["name"], OneParameter)

    with overriding(container, guard=fake):
        async with application(container) as app:
            await app.agent().run("go", model=asking("echo"))
    with pytest.raises(ConfigurationError, match="on_before_call of hook OneParameter"):
        check(container)

    assert ASKED == ["echo"]


def test_a_replacement_that_is_no_hook_is_found() -> None:
    container = application_of(WAYS["name"], TakesMore)

    with overriding(container, guard=Unheard()), pytest.raises(ConfigurationError, match="hook Unheard has none of"):
        check(container)
    check(container)


class OwnConstructor(Agent):
    hooks = (Unheard,)

    def __init__(self) -> None:
        self.hooks = (TakesMore(),)
        self.tools = [Echo]


def make_agent() -> OwnConstructor:
    return OwnConstructor()


@pytest.mark.parametrize("source", [OwnConstructor, make_agent])
async def test_an_agent_that_makes_its_own_list_is_left_to_the_run(source: Any) -> None:
    async with application(application_of(lambda _: (provide(source), None), None)) as app:
        await app.agent().run("go", model=asking("echo"))

    assert ASKED == ["echo"]
