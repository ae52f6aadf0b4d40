"""Tools that are classes: what is derived, what is inherited, and what each instance may set for itself."""

from __future__ import annotations

import copy
import dataclasses
import functools
import types
from typing import Annotated, Any, ClassVar, NoReturn

import pydantic
import pytest

from toolkit import ConfigurationError, Inject, ITool, Tool, ToolDefinition, definition, execute, tool


class Client:
    def __init__(self, answer: str = "sunny") -> None:
        self.answer = answer


class WeatherTool(Tool):
    """Get the current weather of a city.

    Warm or cold.
    """

    def __init__(self, client: Client) -> None:
        self.client = client

    async def handler(self, city: str) -> str:
        return f"{self.client.answer} in {city}"


class StormTool(WeatherTool):
    """Warn of storms."""


class QuietTool(WeatherTool):
    __doc__ = None


class NamedTool(WeatherTool):
    name = "get_weather"


class HeirOfANameTool(NamedTool):
    """Get it."""


async def test_a_class_is_described_without_being_built() -> None:
    described = definition(WeatherTool)

    assert described == ToolDefinition(
        "weather_tool",
        "Get the current weather of a city.\n\nWarm or cold.",
        {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
        },
    )
    assert definition(WeatherTool(Client())) == described
    assert (await WeatherTool(Client()).execute({"city": "Oslo"})).content == "sunny in Oslo"


@pytest.mark.parametrize(
    ("cls", "name", "description"),
    [
        (StormTool, "storm_tool", "Warn of storms."),
        (QuietTool, "quiet_tool", "Get the current weather of a city.\n\nWarm or cold."),
        (NamedTool, "get_weather", "Get the current weather of a city.\n\nWarm or cold."),
        (HeirOfANameTool, "get_weather", "Get it."),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else None,
)
def test_a_derived_name_is_derived_anew_and_a_given_one_is_inherited(
    cls: type[Tool], name: str, description: str
) -> None:
    assert (definition(cls).name, definition(cls).description) == (name, description)


def test_a_given_description_wins_over_the_docstring_also_of_a_subclass() -> None:
    class Parent(Tool):
        """For developers."""

        description = "For the model."

        def handler(self) -> None: ...

    class Child(Parent):
        """Also for developers."""

    assert definition(Parent).description == "For the model."
    assert definition(Child).description == "For the model."


def test_a_mixin_can_give_the_name() -> None:
    class Named:
        name = "from_the_mixin"

    class First(Named, Tool):
        """Do it."""

        def handler(self) -> None: ...

    class Second(Tool, Named):
        """Do it."""

        def handler(self) -> None: ...

    assert definition(First).name == "from_the_mixin"
    assert definition(Second).name == "from_the_mixin"


# Members that each instance sets


class InConstructor(Tool):
    """Do it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def handler(self) -> str:
        return self.name


class Annotated_(Tool):
    """Do it."""

    name: str

    def __init__(self, name: str) -> None:
        setattr(self, "name", name)  # noqa: B010 - as hidden as it can be

    def handler(self) -> str:
        return self.name


class ByProperty(Tool):
    """Do it."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    def handler(self) -> str:
        return self.name


class ByCachedProperty(Tool):
    """Do it."""

    def __init__(self, name: str) -> None:
        self._name = name

    @functools.cached_property
    def name(self) -> str:
        return self._name

    def handler(self) -> str:
        return self.name


class WithSlots:
    __slots__ = ("description", "handler", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.description = "Do it."
        self.handler = lambda: name


@dataclasses.dataclass
class AsDataclass(Tool):
    """Do it."""

    name: str

    def handler(self) -> str:
        return self.name


@dataclasses.dataclass(frozen=True, slots=True)
class AsFrozenDataclass(Tool):
    """Do it."""

    name: str

    def handler(self) -> str:
        return self.name


class InAWrappedConstructor(Tool):
    """Do it."""

    def noted(constructor: Any) -> Any:
        @functools.wraps(constructor)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return constructor(*args, **kwargs)

        return wrapper

    @noted
    def __init__(self, name: str) -> None:
        self.name = name

    def handler(self) -> str:
        return self.name


class ByGetattr:
    description = "Do it."

    def __init__(self, name: str) -> None:
        self.given = {"name": name}

    def __getattr__(self, member: str) -> Any:
        try:
            return self.__dict__["given"][member]
        except KeyError:
            raise AttributeError(member) from None

    def handler(self) -> str:
        return str(self.name)


@pytest.mark.parametrize(
    "cls",
    [
        InConstructor,
        Annotated_,
        ByProperty,
        ByCachedProperty,
        WithSlots,
        AsDataclass,
        AsFrozenDataclass,
        InAWrappedConstructor,
        ByGetattr,
    ],
)
async def test_a_class_may_leave_a_member_to_its_instances(cls: Any) -> None:
    first, second = cls("first"), cls("second")

    assert [definition(first).name, definition(second).name] == ["first", "second"]
    assert (await execute(second)).content == "second"
    with pytest.raises(ConfigurationError, match="set per instance"):
        definition(cls)
    assert tool(cls) is cls


@pytest.mark.parametrize("member", ["timeout", "exclusive", "needs_approval"])
def test_a_flag_that_the_constructor_sets_makes_instances_differ_too(member: str) -> None:
    namespace: dict[str, Any] = {}
    exec(f"def __init__(self, value):\n    self.{member} = value", namespace)
    cls = type("FlaggedTool", (Tool,), {"__doc__": "Do it.", "handler": lambda self: None, **namespace})

    with pytest.raises(ConfigurationError, match="set per instance"):
        definition(cls)


def test_an_attribute_of_another_object_is_no_member() -> None:
    class PatientTool(Tool):
        """Do it."""

        def __init__(self, client: Any, name: str) -> None:
            self.client = client
            self.client.timeout = 3
            self._name, client.name = name, name

        def handler(self) -> None: ...

    assert definition(PatientTool).name == "patient_tool"


def test_a_flag_that_is_a_field_makes_instances_differ_too() -> None:
    @dataclasses.dataclass(frozen=True)
    class Patient(Tool):
        """Do it."""

        timeout: float | None = 3

        def handler(self) -> None: ...

    with pytest.raises(ConfigurationError, match="set per instance"):
        definition(Patient)


async def test_a_dataclass_with_clients_is_a_tool_like_any_other() -> None:
    @dataclasses.dataclass
    class Lookup(Tool):
        """Look it up."""

        client: Client
        kinds: ClassVar[list[str]] = ["a"]

        def handler(self) -> str:
            return self.client.answer

    assert definition(Lookup).name == "lookup"
    assert (await Lookup(Client("found")).execute()).content == "found"


def test_the_signature_that_a_dataclass_writes_is_no_description() -> None:
    @dataclasses.dataclass(slots=True)
    class Undescribed(Tool):
        client: Client

        def handler(self) -> None: ...

    with pytest.raises(ConfigurationError, match="Undescribed has no description"):
        definition(Undescribed)


# What is missing


class NoHandler(Tool):
    """Do it."""


class NoDescription(Tool):
    def __init__(self, client: Client) -> None:
        self.client = client

    def handler(self) -> None: ...


class BlankDescription(Tool):
    description = " \n "

    def handler(self) -> None: ...


class NoName:
    description = "Do it."

    def handler(self) -> None: ...


@pytest.mark.parametrize(
    ("cls", "told"),
    [
        (
            NoHandler,
            "NoHandler has no handler, and nothing to run when a model calls it; define NoHandler.handler(...)",
        ),
        (
            NoDescription,
            "NoDescription has no description, and a model can't choose a tool without one; "
            "write a docstring for NoDescription, or set its description",
        ),
        (BlankDescription, "tool 'blank_description' has no description"),
        (NoName, "NoName is no tool: it has no name"),
        (Client, "Client is no tool: it has no name"),
        (Tool, "Tool is no tool: it has no name"),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else None,
)
@pytest.mark.parametrize("door", [definition, tool])
def test_a_class_that_lacks_a_required_member_is_told_which_and_what_to_do(cls: type, told: str, door: Any) -> None:
    with pytest.raises(ConfigurationError) as caught:
        door(cls)

    assert told in str(caught.value)


async def test_an_instance_that_lacks_a_member_is_told_the_same() -> None:
    with pytest.raises(ConfigurationError, match="tool 'no_description' has no description"):
        await execute(NoDescription(Client()))
    with pytest.raises(ConfigurationError, match="tool 'no_handler' has no handler"):
        await execute(NoHandler())


@pytest.mark.parametrize(
    ("member", "value", "told"),
    [
        ("description", 5, "description of tool 'flagged' is 5; it has to be a text"),
        ("handler", 5, "handler of tool 'flagged' is 5; it has to be callable"),
        ("exclusive", 1, "exclusive of tool 'flagged' is 1; it is True or False"),
        ("exclusive", None, "exclusive of tool 'flagged' is None; it is True or False"),
        ("needs_approval", "no", "needs_approval of tool 'flagged' is 'no'; it is True or False"),
        ("run_in_thread", 0, "run_in_thread of tool 'flagged' is 0; it is True or False"),
        ("timeout", 0, "timeout of tool 'flagged' is 0; it is None or a number of seconds above 0"),
        ("timeout", -1.5, "timeout of tool 'flagged' is -1.5"),
        ("timeout", float("nan"), "timeout of tool 'flagged' is nan"),
        ("timeout", True, "timeout of tool 'flagged' is True"),
        ("timeout", "5", "timeout of tool 'flagged' is '5'"),
        ("max_result_tokens", 0, "max_result_tokens of tool 'flagged' is 0; it is a whole number from 1"),
        ("max_result_tokens", 1.5, "max_result_tokens of tool 'flagged' is 1.5"),
        ("max_result_tokens", True, "max_result_tokens of tool 'flagged' is True"),
        ("max_result_tokens", None, "max_result_tokens of tool 'flagged' is None"),
        ("on_before_call", "guard", "on_before_call of tool 'flagged' is 'guard'; it has to be callable as"),
        ("on_before_call", lambda self, ctx: None, r"on_before_call(ctx, call), and it takes (ctx)"),
        (
            "on_after_call",
            lambda self, ctx, call, more: None,
            r"on_after_call(ctx, info), and it takes (ctx, call, more)",
        ),
        (
            "input_schema",
            "city",
            "input_schema of tool 'flagged' is 'city'; it has to be a JSON Schema (a dict) or a type",
        ),
        ("input_schema", int, "input_schema of tool 'flagged' is <class 'int'>"),
        ("input_schema", Client, "input_schema of tool 'flagged': Client has no JSON Schema"),
        ("input_schema", ["city"], "input_schema of tool 'flagged' is ['city']"),
        ("input_schema", {"type": "text"}, "the schema of tool 'flagged' is not valid JSON Schema: $.type: 'text'"),
        ("input_schema", {"type": "array"}, "the arguments of a call are always an object"),
        ("output_schema", 5, "output_schema of tool 'flagged': 5 has no JSON Schema"),
        ("output_schema", {"type": "text"}, "the schema of the output of tool 'flagged' is not valid JSON Schema"),
        ("available_if", True, "available_if(ctx, ...); it is True"),
        ("available_if", lambda self, ctx: True, "put @staticmethod above it"),
        ("available_if", staticmethod(lambda: True), "its first parameter gets the RunContext"),
        (
            "available_if",
            staticmethod(lambda ctx, client: True),
            "mark its parameter 'client' as Annotated[..., Inject()]",
        ),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else type(value).__name__,
)
def test_a_member_of_the_wrong_kind_is_refused_when_the_class_is_checked(member: str, value: Any, told: str) -> None:
    namespace = {"__doc__": "Do it.", "handler": lambda self, arguments: None, member: value}
    cls = type("Flagged", (Tool,), namespace)

    with pytest.raises(ConfigurationError) as caught:
        tool(cls)

    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("timeout", 5),
        ("timeout", 0.5),
        ("timeout", float("inf")),
        ("timeout", None),
        ("exclusive", True),
        ("max_result_tokens", 1),
        ("output_schema", None),
        ("on_before_call", lambda self, ctx, call, more=None: None),
        ("on_after_call", lambda self, *args: None),
        ("on_after_call", staticmethod(lambda ctx, info: None)),
        ("available_if", staticmethod(lambda ctx: True)),
        ("available_if", classmethod(lambda cls, ctx: True)),
        ("available_if", staticmethod(lambda ctx, spare=1: True)),
        ("on_before_call", staticmethod(max)),
    ],
)
def test_a_member_of_the_right_kind_is_accepted(member: str, value: Any) -> None:
    cls = type("Flagged", (Tool,), {"__doc__": "Do it.", "handler": lambda self: None, member: value})

    assert tool(cls) is cls


def test_the_optional_members_have_the_defaults_of_the_table() -> None:
    assert (
        Tool.exclusive,
        Tool.timeout,
        Tool.needs_approval,
        Tool.max_result_tokens,
        Tool.input_schema,
        Tool.output_schema,
    ) == (False, None, False, 10_000, None, None)


def test_a_replaced_member_of_a_class_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert definition(WeatherTool).description.startswith("Get the current weather")

    monkeypatch.setattr(WeatherTool, "description", "Another.")

    assert definition(WeatherTool).description == "Another."


def test_a_tool_is_never_copied() -> None:
    made = WeatherTool(Client())

    assert copy.copy(made) is made
    assert copy.deepcopy({"tool": [made]})["tool"][0] is made


def test_a_tool_shows_its_name() -> None:
    assert repr(WeatherTool(Client())) == "<WeatherTool weather_tool>"


def test_what_available_if_gets_has_to_be_named() -> None:
    def allowed(ctx: Any, client: Annotated[Client, Inject()], /) -> bool:
        return True

    cls = type(
        "Flagged", (Tool,), {"__doc__": "Do it.", "handler": lambda self: None, "available_if": staticmethod(allowed)}
    )

    with pytest.raises(ConfigurationError, match="its parameter 'client' has to be one that can be named"):
        definition(cls)


# Tools without inheritance


class Plain:
    name = "add"
    description = "Add two numbers."

    def handler(self, a: int, b: int) -> int:
        return a + b


async def test_any_object_with_the_required_members_is_a_tool() -> None:
    assert isinstance(Plain(), ITool)
    assert not isinstance(Client(), ITool)
    assert definition(Plain).name == "add"
    assert (await execute(Plain(), {"a": 1, "b": 2})).content == "3"


def in_a_namespace() -> Any:
    return types.SimpleNamespace(name="add", description="Add two numbers.", handler=lambda a, b: a + b)


def in_a_module() -> Any:
    module = types.ModuleType("adding")
    exec("name, description = 'add', 'Add two numbers.'\ndef handler(a: int, b: int): return a + b", vars(module))
    return module


def in_slots() -> Any:
    made = WithSlots("add")
    made.handler = lambda a, b: a + b
    return made


def in_a_model() -> Any:
    class Model(pydantic.BaseModel):
        name: str = "add"
        description: str = "Add two numbers."

        def handler(self, a: int, b: int) -> int:
            return a + b

    return Model()


@pytest.mark.parametrize("make", [in_a_namespace, in_a_module, in_slots, in_a_model])
async def test_it_does_not_matter_what_kind_of_object_it_is(make: Any) -> None:
    made = make()

    assert isinstance(made, ITool)
    assert definition(made).name == "add"
    assert set(definition(made).input_schema["properties"]) == {"a", "b"}
    assert (await execute(made, {"a": 1, "b": 2})).content == "3"


def test_a_docstring_alone_describes_only_a_tool_that_inherits() -> None:
    class Documented:
        """Do it."""

        name = "documented"

        def handler(self) -> None: ...

    with pytest.raises(ConfigurationError, match=r"has no description, .*; set .*Documented.description"):
        definition(Documented)


async def test_members_may_be_set_on_an_object_of_a_class_that_has_others() -> None:
    special = Plain()
    special.name = "special"
    special.timeout = 5.0

    assert definition(special).name == "special"
    assert definition(Plain()).name == "add"
    special.name = "renamed"
    assert definition(special).name == "renamed"


async def test_equal_objects_are_still_two_tools() -> None:
    @dataclasses.dataclass(frozen=True)
    class Frozen:
        name: str
        description: str = dataclasses.field(default="Do it.", compare=False)

        def handler(self) -> str:
            return self.description

    first, second = Frozen("same"), Frozen("same", "Do the other.")

    assert first == second
    assert definition(first).description == "Do it."
    assert definition(second).description == "Do the other."


async def test_execute_takes_a_tool_that_is_built() -> None:
    with pytest.raises(ConfigurationError, match="WeatherTool is a class: pass an instance"):
        await execute(WeatherTool, {"city": "Oslo"})


@pytest.mark.parametrize("thing", [5, "weather", None, [WeatherTool], object()], ids=lambda thing: type(thing).__name__)
async def test_what_is_no_tool_is_refused(thing: Any) -> None:
    with pytest.raises(ConfigurationError, match="is no tool: it has no name"):
        await execute(thing)


def test_a_function_without_the_decorator_is_told_of_it() -> None:
    def search(query: str) -> str:
        """Search."""
        return query

    with pytest.raises(ConfigurationError, match="put @tool above a function"):
        definition(search)


async def test_an_inherited_or_decorated_handler_is_read_through() -> None:
    def logged(method: Any) -> Any:
        @functools.wraps(method)
        async def wrapper(*args: Any, **kwargs: Any) -> Any:
            return await method(*args, **kwargs)

        return wrapper

    class Base(Tool):
        """Do it."""

        @logged
        async def handler(self, city: str) -> str:
            return city

    class Child(Base):
        """Do it too."""

    assert list(definition(Child).input_schema["properties"]) == ["city"]
    assert (await Child().execute({"city": "Oslo"})).content == "Oslo"


async def test_a_handler_may_be_static_or_a_class_method_or_partial() -> None:
    class Static(Tool):
        """Do it."""

        @staticmethod
        def handler(x: int) -> int:
            return x

    class OfClass(Tool):
        """Do it."""

        @classmethod
        def handler(cls, x: int) -> int:
            return x

    class Partial(Tool):
        """Do it."""

        def _work(self, x: int, plus: int) -> int:
            return x + plus

        handler = functools.partialmethod(_work, plus=0)

    for cls in (Static, OfClass, Partial):
        assert list(definition(cls).input_schema["properties"]) == ["x"]
        assert (await cls().execute({"x": 1})).content == "1"


def test_a_property_that_fails_is_not_mistaken_for_a_missing_member() -> None:
    class Broken(Tool):
        """Do it."""

        @property
        def name(self) -> NoReturn:
            raise LookupError("no name today")

        def handler(self) -> None: ...

    with pytest.raises(ConfigurationError, match="no name today"):
        definition(Broken())
