"""Tools of one class that are configured in their constructor: those with the same members are described once."""

from __future__ import annotations

import enum
import functools
import gc
import inspect
import itertools
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from types import MethodType
from typing import Annotated, Any, Generic, Literal, Optional, TypeVar
from unittest.mock import AsyncMock, MagicMock

import pytest
from dependency_injector import containers, providers

from toolkit import Agent, ConfigurationError, Inject, RunContext, Tool
from toolkit.injection import application, dep, overriding, provide
from toolkit.testing import ScriptedModel, call, calls, says
from toolkit.tools.kept_specifications import check_instance, specify
from toolkit.tools.specification import ToolSpecification

T = TypeVar("T")
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


class Remote:
    """A tool of a server, as it was told when the session began."""

    def __init__(self, name: str = "send", **members: Any) -> None:
        self.name = name
        self.description = "Send it."
        self.input_schema: Any = TEXT
        self.__dict__.update(members)

    async def handler(self, arguments: Any) -> str:
        return f"{self.name}: {arguments['text']}"


@pytest.fixture
def remote() -> type[Remote]:
    """A class of such tools, of which none was described so far."""
    return type("Remote", (Remote,), {})


def test_what_is_worked_out_for_one_holds_for_the_next(remote: type[Remote]) -> None:
    first, second = specify(remote()), specify(remote())

    assert second.validator is first.validator
    assert second.definition is first.definition
    assert specify(remote("other")).definition.name == "other"


def test_a_type_as_the_schema_of_a_class_is_worked_out_once(remote: Any) -> None:
    class Typed(remote):  # type: ignore[misc]
        output_schema = Text

    first, second = (specify(Typed()) for _ in range(2))

    assert second.validator is first.validator
    assert second.output_validator is first.output_validator


class Name(enum.StrEnum):
    """A text that is more than a text."""

    SEND = "send"


@dataclass
class Text:
    """What is sent."""

    text: str


@dataclass
class Page(Generic[T]):
    """What is sent, some at a time."""

    items: list[T]


async def sent_by_itself(arguments: Any) -> str:
    return "sent"


async def sent_by_another(values: dict[str, Any], ctx: RunContext) -> str:
    return "sent"


class Traced(functools.partial[Any]):
    """A partial that is called in its own way."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs)


class Offered:
    """Whether a tool is, and more that tools may have in common."""

    def __init__(self, is_offered: bool) -> None:
        self.is_offered = is_offered

    def __call__(self, ctx: Any) -> bool:
        return self.is_offered

    def asked(self, ctx: Any, call: Any) -> None:
        return None

    async def sent(self, arguments: Any) -> str:
        return "sent"

    async def sent_twice(self, values: Any, ctx: RunContext) -> str:
        return "sent"


class Given:
    """A value of a run."""


def signed(parameters: str) -> Offered:
    """A condition that says itself what it takes."""
    condition: Any = Offered(True)
    made: dict[str, Any] = {}
    exec(f"def condition{parameters}: ...", made)
    condition.__signature__ = inspect.signature(made["condition"])
    return condition


def taking(kind: Any) -> Callable[..., bool]:
    def condition(ctx: Any, value: Any) -> bool:
        return True

    condition.__annotations__["value"] = Annotated[kind, Inject()]
    return condition


def taking_by_name(kind: Any) -> Callable[..., bool]:
    def condition(ctx: Any, *, value: Any) -> bool:
        return True

    condition.__annotations__["value"] = Annotated[kind, Inject()]
    return condition


OTHERS: dict[str, dict[str, Any]] = {
    "nothing else": {},
    "a name": {"name": "other"},
    "a name that is an enum's": {"name": Name.SEND},
    "a name that is none": {"name": 5},
    "a description": {"description": "Do it."},
    "a blank description": {"description": " "},
    "an open schema": {"input_schema": {}},
    "a longer schema": {"input_schema": {**TEXT, "additionalProperties": False}},
    "its members in another order": {"input_schema": dict(reversed(TEXT.items()))},
    "an enum that is a list": {"input_schema": {"type": "object", "properties": {"a": {"enum": ["a"]}}}},
    "an enum that is a tuple": {"input_schema": {"type": "object", "properties": {"a": {"enum": ("a",)}}}},
    "an enum that is a set": {"input_schema": {"type": "object", "properties": {"a": {"enum": {"a"}}}}},
    "a number": {"input_schema": {"type": "object", "properties": {"a": {"const": 1}}}},
    "a number that is true": {"input_schema": {"type": "object", "properties": {"a": {"const": True}}}},
    "no text": {"input_schema": {"type": "object", "properties": {"a": {"const": "\ud800"}}}},
    "a type": {"input_schema": Text},
    "another type": {"input_schema": dataclass(type("Text", (), {"__annotations__": {"words": str}}))},
    "an enum of an enum's": {"input_schema": {"type": "object", "properties": {"a": {"const": Name.SEND}}}},
    "an enum of a text": {"input_schema": {"type": "object", "properties": {"a": {"const": "send"}}}},
    "a generic": {"input_schema": Page[int]},
    "another generic": {"input_schema": Page[str]},
    "an output of an alias": {"output_schema": Optional[int]},  # noqa: UP045 - of typing, not of types
    "an output of another alias": {"output_schema": Optional[str]},  # noqa: UP045
    "an output of literals": {"output_schema": Literal["a"]},
    "an output of other literals": {"output_schema": Literal["b"]},
    "exclusive": {"exclusive": True},
    "exclusive by a number": {"exclusive": 1},
    "exclusive by nothing": {"exclusive": None},
    "a timeout": {"timeout": 5},
    "a timeout with a point": {"timeout": 5.0},
    "an endless timeout": {"timeout": float("inf")},
    "a timeout that is none": {"timeout": float("nan")},
    "a timeout of nothing": {"timeout": None},
    "an approval": {"needs_approval": True},
    "a bound": {"max_result_tokens": 5},
    "an output": {"output_schema": {"type": "string"}},
    "a guard": {"on_before_call": lambda ctx, call: None},
    "a guard that takes too little": {"on_before_call": lambda ctx: None},
    "no guard": {"on_before_call": None},
    "a handler": {"handler": sent_by_itself},
    "a condition": {"available_if": lambda ctx: True},
    "a condition that takes too much": {"available_if": lambda ctx, more: True},
    "a condition that takes anything": {"available_if": lambda *ctx: True},
    "a condition that takes what has a default": {"available_if": lambda ctx, more=1: True},
    "a condition that is an object": {"available_if": Offered(True)},
    "a condition that is another's method": {"available_if": Offered(True).__call__},
    "a condition that is no function": {"available_if": 5},
    "a condition of its own signature": {"available_if": signed("(ctx)")},
    "a condition of a signature that takes too much": {"available_if": signed("(ctx, more)")},
    "a condition that takes a value": {"available_if": taking(Text)},
    "a condition that takes another value": {"available_if": taking(Given)},
    "a condition that takes a value by name": {"available_if": taking_by_name(Text)},
    "a condition that takes another value by name": {"available_if": taking_by_name(Given)},
    "a guard that is another's method": {"on_before_call": Offered(True).asked},
    "a guard that takes anything": {"on_before_call": lambda *asked: None},
    "a partial": {"handler": Traced(sent_by_itself)},
    "another partial": {"handler": Traced(sent_by_another)},
    "a mock": {"handler": MagicMock(return_value="sent"), "input_schema": {}},
    "an async mock": {"handler": AsyncMock(return_value="sent"), "input_schema": {}},
    "a handler that is another's method": {"handler": Offered(True).sent},
    "another handler that is another's method": {"handler": Offered(True).sent_twice},
}


def told_of(tool: Any) -> Any:
    """How the tool is described, or why it can't be."""
    try:
        made = specify(tool)
    except ConfigurationError as error:
        return str(error)
    members: list[Any] = [getattr(made, name) for name in ToolSpecification.__struct_fields__]
    plain = [repr(member) for member in members if isinstance(member, (bool, int, float, str, type(None)))]
    handler = made.handler
    checked = made.validator.is_valid({}), made.validator.is_valid({"text": "a", "a": True})
    taken = [parameter.annotation for parameter in made.availability]
    outputs = (1, "a", "b", None)
    checked += tuple(made.output_validator is None or made.output_validator.is_valid(value) for value in outputs)
    called = handler.whole, handler.shape.convert is None, handler.is_async, handler.contexts
    return repr(made.definition), plain, checked, taken, called, made.own


@pytest.mark.parametrize("second", OTHERS)
def test_a_tool_is_described_as_if_none_had_been_before(second: str) -> None:
    for first in OTHERS:
        remote: Any = type("Remote", (Remote,), {})
        told_of(remote(**OTHERS[first]))

        assert told_of(remote(**OTHERS[second])) == told_of(type("Remote", (Remote,), {})(**OTHERS[second])), first


def test_a_schema_that_is_changed_later_changes_the_next_tool_and_no_earlier_one(remote: type[Remote]) -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}

    first = specify(remote(input_schema=schema))
    schema["properties"]["b"] = {"type": "integer"}
    second = specify(remote(input_schema=schema))
    third = specify(remote(input_schema={"type": "object", "properties": {"a": {"type": "string"}}}))

    assert [sorted(made.definition.input_schema["properties"]) for made in (first, second, third)] == [
        ["a"],
        ["a", "b"],
        ["a"],
    ]


def test_a_tool_is_held_against_its_own_members_and_not_against_an_earlier_tools(remote: type[Remote]) -> None:
    changing: dict[str, Any] = {"type": "object", "properties": {}}
    specify(remote(input_schema=changing))
    changing["title"] = "Changed"
    tool = remote(input_schema={"type": "object", "properties": {}})

    described = specify(tool)
    check_instance(described, tool)  # raises where they differ
    assert described.own["input_schema"] is tool.input_schema


class Schema(dict[str, Any]):
    """A dict that is more than a dict."""


def test_a_schema_of_the_class_that_is_changed_in_place_changes_the_next_tool() -> None:
    class Sending(Remote):
        input_schema = Schema(TEXT)

        def __init__(self) -> None:
            self.name, self.description = "send", "Send it."

    assert "title" not in specify(Sending()).definition.input_schema

    Sending.input_schema["title"] = "Text"

    assert specify(Sending()).definition.input_schema["title"] == "Text"


def test_a_type_that_is_one_tools_schema_does_not_live_on(remote: type[Remote]) -> None:
    words = dataclass(type("Text", (), {"__annotations__": {"words": str}}))
    specify(remote(input_schema=words, output_schema=words))
    gone = weakref.ref(words)

    del words
    gc.collect()

    assert gone() is None


@pytest.mark.parametrize("member", ["needs_approval", "exclusive"])
def test_a_flag_that_is_set_on_the_class_later_holds_for_the_next_tool(remote: Any, member: str) -> None:
    assert getattr(specify(remote()), member) is False

    setattr(remote, member, True)

    assert getattr(specify(remote()), member) is True


def test_a_handler_that_is_replaced_on_the_class_is_read_again(remote: Any) -> None:
    async def handler(self: Any, text: str, times: int) -> str:
        return text * times

    first = specify(remote(input_schema=None))
    remote.handler = handler
    second = specify(remote(input_schema=None))

    assert list(first.definition.input_schema["properties"]) == ["arguments"]
    assert list(second.definition.input_schema["properties"]) == ["text", "times"]


def test_a_handler_that_is_replaced_again_and_again_is_never_taken_for_one_that_is_gone(remote: Any) -> None:
    for number in range(50):
        remote.handler = handler_taking(f"word_{number}")
        described = specify(remote(input_schema=None))
        assert list(described.definition.input_schema["properties"]) == [f"word_{number}"]


def handler_taking(name: str) -> Any:
    made: dict[str, Any] = {}
    exec(f"async def handler(self, {name}: str) -> str: ...", made)
    return made.pop("handler")


class Computed(Tool):
    """Whose members are worked out when they are read."""

    def __init__(self, number: int) -> None:
        self.number = number

    @property
    def name(self) -> str:
        return f"tool_{self.number}"

    @property
    def description(self) -> str:
        return f"Do it {self.number} times."

    async def handler(self) -> str:
        return self.name


class InSlots:
    """Without a `__dict__`."""

    __slots__ = ("description", "handler", "name")

    def __init__(self, number: int) -> None:
        self.name = f"tool_{number}"
        self.description = f"Do it {number} times."
        self.handler: Callable[[], str] = lambda: self.name


class Delegating:
    """Whose members are those of another tool."""

    def __init__(self, number: int) -> None:
        self.inner = Computed(number)

    def __getattr__(self, name: str) -> Any:
        if name == "inner":
            raise AttributeError(name)
        return getattr(self.inner, name)


@pytest.mark.parametrize("cls", [Computed, InSlots, Delegating])
def test_members_that_stand_nowhere_in_the_object_tell_tools_apart(cls: Callable[[int], Any]) -> None:
    described = [specify(cls(number)).definition for number in (1, 2, 1)]

    assert [made.name for made in described] == ["tool_1", "tool_2", "tool_1"]
    assert [made.description for made in described] == [f"Do it {number} times." for number in (1, 2, 1)]


class Greeting(Tool):
    """Greet."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def handler(self, who: Given, text: str) -> str:
        return text


def test_a_parameter_that_the_run_has_a_value_for_is_in_no_schema_of_that_run() -> None:
    for _ in range(2):
        assert list(specify(Greeting("hello"), {Given}).definition.input_schema["properties"]) == ["text"]
        with pytest.raises(ConfigurationError, match="Given"):
            specify(Greeting("hello"))


@pytest.mark.parametrize("members", [{}, {"handler": sent_by_itself}], ids=["its class's handler", "its own handler"])
def test_no_tool_lives_on_in_what_is_known_of_it(remote: type[Remote], members: dict[str, Any]) -> None:
    tool = remote(**members)
    specify(tool)
    gone = weakref.ref(tool)

    del tool

    assert gone() is None


class Showing(Remote):
    """Whose handler is what its property gives."""

    @property
    def handler(self) -> Any:  # type: ignore[override]
        return self.shown

    def __init__(self, shown: Any) -> None:
        super().__init__()
        self.shown = shown


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "its own": lambda function: Remote(handler=function),
    "its own, bound to it": lambda function: bound_to_itself(Remote(), function),
    "given by a property": Showing,
    "given by a property, bound to something else": lambda function: Showing(MethodType(function, "it")),
}


def bound_to_itself(tool: Remote, function: Any) -> Remote:
    tool.__dict__["handler"] = MethodType(function, tool)
    return tool


@pytest.mark.parametrize("make", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_function_of_one_tool_does_not_live_on(make: Callable[[Any], Any]) -> None:
    async def handler(arguments: Any, more: Any = None) -> str:
        return "sent"

    specify(make(handler))
    gone = weakref.ref(handler)

    del handler
    gc.collect()

    assert gone() is None


def test_what_is_known_takes_no_more_than_about_16_megabytes(remote: type[Remote]) -> None:
    for number in range(30):
        specify(remote(input_schema={**TEXT, "title": f"{number}" + "x" * 100_000}))
    gc.collect()
    kept = [found for found in gc.get_objects() if isinstance(found, ToolSpecification) and found.described is remote]

    assert len(kept) <= 6


def test_tools_that_a_helper_configures_are_still_refused_when_they_differ_from_their_class() -> None:
    class Helped(Tool):
        """Help."""

        name = "help"

        def __init__(self) -> None:
            self.__dict__["needs_approval"] = True

        async def handler(self) -> str:
            return "helped"

    assert specify(Helped()).needs_approval is True
    assert specify(Helped()).needs_approval is True


def test_a_condition_that_is_the_tools_own_method_is_refused_also_after_another_tools(remote: Any) -> None:
    remote.is_allowed = lambda self, ctx: True
    other, tool = remote(), remote()
    specify(remote(available_if=other.is_allowed))
    tool.available_if = tool.is_allowed

    with pytest.raises(ConfigurationError, match="before an instance exists"):
        specify(tool)


CONDITIONS: dict[str, Callable[[bool], Any]] = {
    "a function": lambda is_offered: lambda ctx: is_offered,
    "an object": Offered,
    "another's method": lambda is_offered: Offered(is_offered).__call__,
}


@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
def test_tools_that_differ_in_their_condition_only_are_described_once_and_asked_each_its_own(
    remote: type[Remote], condition: Callable[[bool], Any]
) -> None:
    described = [specify(remote(available_if=condition(is_offered))) for is_offered in (True, False)]

    assert described[0].validator is described[1].validator
    assert [made.available_if is not None and made.available_if(None) for made in described] == [True, False]


@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
def test_a_condition_of_one_tool_does_not_live_on(remote: type[Remote], condition: Callable[[bool], Any]) -> None:
    asked = condition(True)
    specify(remote(available_if=asked))
    gone = weakref.ref(getattr(asked, "__self__", asked))

    del asked
    gc.collect()

    assert gone() is None


# In runs


async def test_tools_of_one_class_that_are_configured_in_the_container_are_told_apart_in_every_run() -> None:
    class Tools(containers.DeclarativeContainer):
        first = providers.Factory(Remote, "first")
        second = providers.Singleton(Remote, "second")
        agent = provide(Agent, tools=[first, second])

    async with application(Tools()) as app:
        for _ in range(3):
            model = ScriptedModel([calls(call("first", {"text": "a"}), call("second", {"text": "b"})), says("done")])
            run = await app.agent().run("go", model=model)
            assert [record.result.content for record in run.calls] == ["first: a", "second: b"]
            assert [tool.name for tool in model.requests[0].tools] == ["first", "second"]


async def test_a_tool_that_is_configured_otherwise_by_an_override_is_described_otherwise() -> None:
    class Tools(containers.DeclarativeContainer):
        name = providers.Object("first")
        tool = provide(Remote, name=dep(name))
        agent = provide(Agent, tools=[tool])

    async with application(Tools()) as app:
        names: list[str] = []
        for wanted in itertools.islice(itertools.cycle(["first", "second"]), 4):
            with overriding(app.container, name=wanted):
                model = ScriptedModel([says("done")])
                await app.agent().run("go", model=model)
                names.extend(tool.name for tool in model.requests[0].tools)

    assert names == ["first", "second"] * 2
