"""What a handler's signature means: which parameters the model fills in, and which the run does."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import typing
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

import msgspec
import pydantic
import pytest

from tests.tools import early_handlers, late_handlers
from tests.tools.late_handlers import Client, Place
from toolkit import ConfigurationError, Inject, Invocation, Run, RunContext, Tool, ToolResult, definition, execute, tool


def properties(made: Any) -> list[str]:
    return list(definition(made).input_schema["properties"])


async def value_of(handler: Callable[..., Any], arguments: Any = None, **options: Any) -> Any:
    result = await execute(tool(name="t", description="Do it.")(handler), arguments, **options)
    if result.error is not None:
        raise result.error
    return result.value


# The schema of a signature


@pytest.mark.parametrize("module", [early_handlers, late_handlers], ids=["early", "late"])
async def test_a_signature_makes_the_same_schema_however_annotations_are_evaluated(module: Any) -> None:
    made = tool(module.many_kinds)
    arguments = {"place": {"city": "Oslo"}, "days": [1, 2], "note": None, "limits": {"wind": 5}}

    assert definition(made).input_schema == {
        "type": "object",
        "properties": {
            "place": {"$ref": "#/$defs/Place"},
            "days": {"type": "array", "items": {"type": "integer"}},
            "units": {"type": "string", "enum": ["metric", "imperial"], "default": "metric"},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            "limits": {
                "anyOf": [{"type": "object", "additionalProperties": {"type": "number"}}, {"type": "null"}],
                "default": None,
            },
        },
        "required": ["place", "days"],
        "additionalProperties": False,
        "$defs": {
            "Place": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "country": {"type": "string", "default": "NO"}},
                "required": ["city"],
                "additionalProperties": False,
            }
        },
    }
    assert (await made.execute(arguments)).value == ["Place", "Oslo", [1, 2], "metric", None, {"wind": 5.0}]


def test_no_parameters_mean_no_arguments() -> None:
    assert definition(tool(name="t", description="Do it.")(lambda: None)).input_schema == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }


async def test_a_parameter_without_annotation_takes_anything() -> None:
    assert await value_of(lambda x: x, {"x": {"any": [1, None]}}) == {"any": [1, None]}


async def test_a_default_is_left_to_the_handler_and_null_is_not_a_default() -> None:
    def handler(x: int | None = 5) -> Any:
        return x

    assert await value_of(handler, {}) == 5
    assert await value_of(handler, {"x": None}) is None


async def test_parameters_may_have_the_names_of_anything_inside_the_toolkit() -> None:
    def handler(tool: int, ctx: int, call: int, function: int, handler: int, args: int, kwargs: int, work: int) -> int:
        return tool + ctx + call + function + handler + args + kwargs + work

    names = ("tool", "ctx", "call", "function", "handler", "args", "kwargs", "work")

    assert await value_of(handler, dict.fromkeys(names, 1)) == 8


def test_a_parameter_that_json_can_not_hold_is_named_with_what_to_do() -> None:
    def handler(city: str, client: Client) -> None: ...

    with pytest.raises(ConfigurationError) as caught:
        tool(name="t", description="Do it.")(handler)

    assert str(caught.value).startswith(
        "tool 't': parameter 'client': Client has no JSON Schema; if the application's container should fill it in, "
        "mark it Annotated[Client, Inject()]; else give it a type that JSON has"
    )


@pytest.mark.parametrize(
    ("handler", "parameter", "missing"),
    [
        (late_handlers.hidden_type, "amount", "Money"),
        (late_handlers.hidden_inside, "amounts", "Money"),
        (late_handlers.hidden_module, "amount", "fractions"),
        (late_handlers.hidden_injected, "money", "Money"),
        (late_handlers.missing_attribute, "amount", "Nowhere"),
    ],
    ids=["name", "inside another type", "module", "injected", "attribute"],
)
def test_a_name_that_the_module_lacks_at_run_time_is_refused_naming_the_parameter(
    handler: Any, parameter: str, missing: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        tool(handler)

    assert f"parameter '{parameter}' of tool '{handler.__name__}' is annotated" in str(caught.value)
    assert f"its module has no '{missing}' at run time" in str(caught.value)
    assert "Import or define it at the top of the module" in str(caught.value)


def test_a_name_that_is_local_to_a_function_is_refused_naming_the_parameter() -> None:
    class Local:
        pass

    def handler(x: Local) -> None:
        """Do it."""

    with pytest.raises(ConfigurationError, match=r"parameter 'x' of tool 'handler' .* local to a function"):
        tool(handler)


def test_an_annotation_that_is_no_expression_is_refused_naming_the_parameter() -> None:
    def handler(x: int) -> None:
        """Do it."""

    handler.__annotations__["x"] = "list[int"

    with pytest.raises(
        ConfigurationError, match="parameter 'x' of tool 'handler' is annotated 'list\\[int', which can't"
    ):
        tool(handler)


def test_a_handler_that_takes_any_number_of_values_is_refused_with_what_to_declare() -> None:
    def handler(*cities: str) -> None: ...

    with pytest.raises(ConfigurationError) as caught:
        tool(name="t", description="Do it.")(handler)

    assert str(caught.value) == (
        "the handler of tool 't' takes *cities, and JSON arguments have names; declare a list instead: "
        "cities: list[...]"
    )


# What the run fills in


@pytest.mark.parametrize("module", [early_handlers, late_handlers], ids=["early", "late"])
async def test_context_and_injected_parameters_are_filled_in_and_not_in_the_schema(module: Any) -> None:
    made = tool(module.filled)

    result = await made.execute({"a": 1, "c": 9}, values={module.Client: module.Client("mine")})

    assert properties(made) == ["a", "b", "c"]
    assert result.value == ["RunContext", 1, "mine", 2, "Run", 9, "Invocation"]


def first(ctx: RunContext, a: int) -> Any:
    return [a, type(ctx).__name__]


def last(a: int, ctx: RunContext) -> Any:
    return [a, type(ctx).__name__]


def keyword_only(a: int, *, ctx: RunContext) -> Any:
    return [a, type(ctx).__name__]


def positional_only(ctx: RunContext, a: int, /) -> Any:
    return [a, type(ctx).__name__]


def after_a_positional_default(a: int = 1, ctx: RunContext | None = None, /) -> Any:
    return [a, type(ctx).__name__]


def optional(a: int, ctx: RunContext | None = None) -> Any:
    return [a, type(ctx).__name__]


def optional_in_the_old_way(a: int, ctx: typing.Optional[RunContext] = None) -> Any:  # noqa: UP045
    return [a, type(ctx).__name__]


def documented(a: int, ctx: Annotated[RunContext, "the context"]) -> Any:
    return [a, type(ctx).__name__]


def marked(a: int, ctx: Annotated[RunContext, Inject()]) -> Any:
    return [a, type(ctx).__name__]


def among_others(a: int, ctx: RunContext, **more: Any) -> Any:
    return [a, type(ctx).__name__]


@pytest.mark.parametrize(
    "handler",
    [
        first,
        last,
        keyword_only,
        positional_only,
        after_a_positional_default,
        optional,
        optional_in_the_old_way,
        documented,
        marked,
        among_others,
    ],
)
async def test_the_context_is_found_in_any_position(handler: Any) -> None:
    made = tool(name="t", description="Do it.")(handler)

    assert properties(made) == ["a"]
    assert (await made.execute({"a": 1})).value == [1, "RunContext"]


async def test_a_run_and_an_invocation_are_those_of_the_context() -> None:
    def handler(run: Run[Any], plain: Run, invocation: Invocation) -> Any:
        return [run is plain is ctx.run, invocation.actor_id]

    ctx = RunContext(invocation=Invocation(actor_id="u1"))

    assert await value_of(handler, {}, ctx=ctx) == [True, "u1"]


async def test_a_bare_mark_and_a_mark_inside_a_union_count_too() -> None:
    def bare(client: Annotated[Client, Inject]) -> Any:
        return client.label

    def inside(client: Annotated[Client, Inject()] | None = None) -> Any:
        return None if client is None else client.label

    def nested(client: Annotated[Annotated[Client, Inject()] | None, "the client"] = None) -> Any:
        return None if client is None else client.label

    values = {Client: Client("mine")}

    assert [await value_of(handler, {}, values=values) for handler in (bare, inside, nested)] == ["mine"] * 3
    assert [await value_of(handler, {}) for handler in (inside, nested)] == [None, None]


@pytest.mark.parametrize(
    ("given", "label"),
    [
        ({Client: Client("exact")}, "exact"),
        ({type("Sub", (Client,), {}): Client("sub")}, "sub"),
        ({}, None),
        (None, None),
    ],
    ids=["its type", "a subclass", "nothing", "no values"],
)
async def test_a_value_is_found_by_its_type_and_else_the_default_stands(given: Any, label: str | None) -> None:
    def handler(client: Annotated[Client | None, Inject()] = None) -> Any:
        return None if client is None else client.label

    assert await value_of(handler, {}, values=given) == label


async def test_what_can_not_be_compared_does_not_fit() -> None:
    def handler(
        port: Annotated[Port | None, Inject()] = None, client: Annotated[Client | None, Inject()] = None
    ) -> Any:
        return [port, client]

    assert await value_of(handler, {}, values={Left: None, Box[int]: Client()}) == [None, None]
    assert await value_of(handler, {}, values={Place: Client(), Box[int]: Client()}) == [None, None]


async def test_a_generic_or_a_protocol_is_found_by_what_it_was_given_for() -> None:
    values = {Port: Client("port"), Box[int]: Client("box")}

    def handler(port: Annotated[Port, Inject()], box: Annotated[Box[int], Inject()]) -> Any:
        return [port.label, box.label]

    assert await value_of(handler, {}, values=values) == ["port", "box"]


class Port(typing.Protocol):
    label: str


class Box(typing.Generic[typing.TypeVar("T")]):
    label: str


class Left(Client): ...


class Right(Client): ...


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (None, "pass values={Client: ...}"),
        ({}, "pass values={Client: ...}"),
        ({int: 3}, "pass values={Client: ...}; given are int"),
        ({Left: Left(), Right: Right()}, "pass values={Client: ...}; given are Left, Right"),
    ],
    ids=["none", "empty", "another", "two that fit"],
)
async def test_an_injected_parameter_without_a_value_is_a_configuration_error_with_the_candidates(
    values: Any, told: str
) -> None:
    def handler(client: Annotated[Client, Inject()]) -> None: ...

    with pytest.raises(ConfigurationError) as caught:
        await value_of(handler, {}, values=values)

    assert str(caught.value).startswith("parameter 'client' of tool 't' is injected and has no value; ")
    assert told in str(caught.value)


async def test_a_builtin_type_is_only_filled_by_a_value_given_for_that_very_type() -> None:
    class Shout(str): ...

    def handler(word: Annotated[str, Inject()] = "default") -> Any:
        return word

    assert await value_of(handler, {}, values={Shout: Shout("no")}) == "default"
    assert await value_of(handler, {}, values={str: "yes"}) == "yes"


def test_the_mark_does_not_stand_for_a_default() -> None:
    def handler(client: Client = Inject()) -> None:  # noqa: B008
        """Do it."""

    with pytest.raises(ConfigurationError, match=r"parameter 'client' of tool 'handler' has Inject as its default"):
        tool(handler)


def test_the_mark_takes_the_name_of_a_provider() -> None:
    with pytest.raises(ConfigurationError, match="Inject takes the name of a provider"):
        Inject(Client)


def test_the_mark_can_not_stand_on_any_number_of_values() -> None:
    def handler(**clients: Annotated[Client, Inject()]) -> None:
        """Do it."""

    with pytest.raises(ConfigurationError, match=r"parameter '\*\*clients' of tool 'handler' is marked"):
        tool(handler)


# Closed and open schemas


@pytest.mark.parametrize("name", ["client", "ctx", "run_context", "self", "surprise"])
async def test_a_model_can_not_send_what_is_not_in_a_closed_schema(name: str) -> None:
    class Closed(Tool):
        """Do it."""

        def handler(self, a: int, ctx: RunContext, client: Annotated[Client | None, Inject()] = None) -> Any:
            return [a, client]

    result = await Closed().execute({"a": 1, name: "x"})

    assert result.is_error
    assert f"$.{name}: " in result.content
    assert "client" not in properties(Closed)


class Open(Tool):
    """Do it."""

    def handler(
        this,
        a: int,
        ctx: RunContext,
        client: Annotated[Client | None, Inject()] = None,
        **more: int,
    ) -> Any:
        return [a, more]


async def test_a_handler_with_keywords_takes_other_names_of_their_annotated_type() -> None:
    assert definition(Open).input_schema["additionalProperties"] == {"type": "integer"}
    assert (await Open().execute({"a": 1, "b": 2, "more": 3, "self": 4})).value == [1, {"b": 2, "more": 3, "self": 4}]
    assert (await Open().execute({"a": 1, "b": "2"})).content == "$.b: '2' is not of type 'integer'"


@pytest.mark.parametrize("name", ["this", "ctx", "client"])
async def test_a_handler_with_keywords_never_gets_what_the_run_fills_in_from_a_model(name: str) -> None:
    result = await Open().execute({"a": 1, name: 5})

    assert result.content == f"$.{name}: is not an argument of this tool"
    assert result.is_error


async def test_a_partial_with_keywords_keeps_what_it_gives_to_itself() -> None:
    def search(query: str, account: str, **more: Any) -> Any:
        return [query, account, more]

    made = tool(name="t", description="Do it.")(functools.partial(search, "tea", account="a1", mode="safe"))

    assert (await made.execute({"b": 1})).value == ["tea", "a1", {"mode": "safe", "b": 1}]
    for name in ("query", "account", "mode"):
        assert (await made.execute({name: "x"})).content == f"$.{name}: is not an argument of this tool"


async def test_other_names_are_converted_to_their_type_and_every_fault_is_told() -> None:
    def handler(start: Place, **places: Place) -> Any:
        """Do it."""
        return [start.city, {name: place.city for name, place in places.items()}]

    made = tool(handler)

    assert (await made.execute({"start": {"city": "Oslo"}, "b": {"city": "Rome"}})).value == ["Oslo", {"b": "Rome"}]
    assert (await made.execute({"start": {}, "b": {}})).content == (
        "$.start.city: 'city' is a required property; $.b.city: 'city' is a required property"
    )


async def test_a_value_that_the_schema_takes_and_the_type_does_not_is_told_with_its_path() -> None:
    def handler(day: datetime.date, **days: datetime.date) -> Any:
        return [day.year, *(other.year for other in days.values())]

    made = tool(name="t", description="Do it.")(handler)

    assert (await made.execute({"day": "2024-02-01", "b": "2025-02-01"})).value == [2024, 2025]
    refused = (await made.execute({"day": "2024-13-01", "b": "2024-13-01"})).content
    assert "$.day: " in refused
    assert "$.b: " in refused


def test_keywords_of_a_typed_dict_are_refused_with_what_to_do() -> None:
    def handler(**options: typing.Unpack[Options]) -> None:
        """Do it."""

    with pytest.raises(ConfigurationError, match=r"takes \*\*options of a TypedDict; declare each key as a parameter"):
        tool(handler)


class Options(TypedDict, total=False):
    limit: int


# input_schema


@dataclasses.dataclass
class AsDataclass:
    city: str
    days: int = 1


class AsStruct(msgspec.Struct):
    city: str
    days: int = 1


class AsTypedDict(TypedDict):
    city: str
    days: typing.NotRequired[int]


class AsModel(pydantic.BaseModel):
    city: str
    days: int = 1


class Tree(msgspec.Struct):
    city: str
    days: int = 1
    branches: list[Tree] = []


@pytest.mark.parametrize("kind", [AsDataclass, AsStruct, AsTypedDict, AsModel, Tree])
async def test_a_type_as_input_schema_gives_the_handler_one_instance(kind: Any) -> None:
    def handler(request: Any, ctx: RunContext) -> Any:
        return request

    made = Tool.define(name="t", description="Do it.", handler=handler, input_schema=kind)

    value = (await made.execute('{"city": "Oslo", "days": 2}')).value
    assert value == kind(city="Oslo", days=2)
    assert type(value) is (dict if kind is AsTypedDict else kind)
    assert definition(made).input_schema["type"] == "object"
    assert definition(made).input_schema["required"] == ["city"]
    assert (await made.execute({"days": 2})).content == "$.city: 'city' is a required property"


async def test_a_dict_as_input_schema_is_shown_as_it_is_and_gives_the_handler_one_dict() -> None:
    schema = {
        "type": "object",
        "properties": {"x-y": {"type": "integer", "description": "Odd."}, "self": {}, "class": {}},
        "required": ["x-y"],
        "$defs": {"unused": {"type": "null"}},
    }

    class Raw(Tool):
        """Do it."""

        input_schema = schema

        async def handler(self, ctx: RunContext, arguments: dict[str, Any]) -> Any:
            return arguments

    assert definition(Raw).input_schema == schema
    arguments = {"x-y": 1, "self": 2, "class": 3, "other": 4}
    assert (await Raw().execute(arguments)).value == arguments
    assert (await Raw().execute({})).content == "$['x-y']: 'x-y' is a required property"


async def test_a_schema_that_is_changed_later_does_not_change_the_tool() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"x": {"type": "integer"}}}
    made = Tool.define(name="t", description="Do it.", handler=lambda arguments: arguments, input_schema=schema)

    schema["properties"]["x"]["type"] = "string"

    assert definition(made).input_schema["properties"] == {"x": {"type": "integer"}}
    assert not (await made.execute({"x": 1})).is_error


@pytest.mark.parametrize(
    ("handler", "takes"),
    [
        (lambda: None, "none"),
        (lambda a, b: None, "a, b"),
        (lambda *more: None, "none"),
        (lambda *more, **named: None, "none"),
    ],
    ids=["none", "two", "any number", "anything"],
)
def test_a_handler_with_an_input_schema_takes_one_parameter(handler: Any, takes: str) -> None:
    schema = {"type": "object", "properties": {"x": {"type": "integer"}}}

    with pytest.raises(ConfigurationError, match=f"takes one parameter for them; it takes {takes}\\. "):
        Tool.define(name="t", description="Do it.", handler=handler, input_schema=schema)


@pytest.mark.parametrize(
    ("annotation", "told"), [(str, "str"), (str | None, "str"), (Annotated[int, "of days"], "int"), (list[str], "list")]
)
def test_a_parameter_that_no_object_fits_is_refused_beside_an_input_schema(annotation: Any, told: str) -> None:
    """It would get the dict of all arguments, whatever it is named."""

    def handler(city: Any) -> Any:
        return city

    handler.__annotations__["city"] = annotation
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}

    for each in (schema, Nothing):
        with pytest.raises(
            ConfigurationError, match=f"gets all arguments as one value, and 'city' is annotated {told}"
        ):
            Tool.define(name="t", description="Do it.", handler=handler, input_schema=each)


@dataclasses.dataclass
class Nothing:
    """A type that describes no argument."""


def test_a_handler_whose_input_schema_is_a_type_takes_its_instance() -> None:
    for handler in (lambda: None, lambda **more: None):
        with pytest.raises(ConfigurationError, match="takes one parameter for them; it takes none"):
            Tool.define(name="t", description="Do it.", handler=handler, input_schema=Nothing)


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {"type": "object", "properties": {}},
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Ping",
            "description": "Nothing.",
            "type": "object",
            "properties": {},
            "required": [],
            "additionalProperties": False,
        },
    ],
    ids=["empty", "an object", "no properties", "closed"],
)
async def test_a_handler_takes_no_parameter_where_its_schema_describes_no_argument(schema: dict[str, Any]) -> None:
    """As servers of tools write it for a tool without arguments."""

    class Ping(Tool):
        """Ping."""

        input_schema = schema

        def handler(self, ctx: RunContext) -> str:
            return "pong"

    function = Tool.define(name="ping", description="Ping.", handler=lambda: "pong", input_schema=schema)

    for made in (Ping(), function):
        assert definition(made).input_schema == schema
        assert (await made.execute({})).value == "pong"
        extra = await made.execute({"stray": 1})
        assert extra.is_error if "additionalProperties" in schema else extra.value == "pong"


@pytest.mark.parametrize(
    "schema",
    [{"additionalProperties": True}, {"patternProperties": {"^x": {}}}, {"required": ["x"]}, {"$ref": "#/$defs/A"}],
    ids=["open", "patterns", "required", "elsewhere"],
)
def test_a_handler_without_parameters_is_refused_where_its_schema_describes_arguments(schema: dict[str, Any]) -> None:
    schema = {**schema, "$defs": {"A": {"type": "object"}}} if "$ref" in schema else schema

    with pytest.raises(ConfigurationError, match="takes one parameter for them; it takes none"):
        Tool.define(name="t", description="Do it.", handler=lambda: None, input_schema=schema)


async def test_the_arguments_of_a_hand_written_schema_are_spread_to_a_handler_of_keywords_only() -> None:
    """As what passes each call on to a server writes it."""

    schema = {"type": "object", "properties": {"x": {"type": "integer"}, "y": {}}, "required": ["x"]}

    class Remote(Tool):
        """Do it elsewhere."""

        input_schema = schema

        async def handler(self, ctx: RunContext, **arguments: Any) -> Any:
            return [type(ctx).__name__, arguments]

    assert definition(Remote).input_schema == schema
    assert (await Remote().execute({"x": 1, "y": [2], "z": 3})).value == ["RunContext", {"x": 1, "y": [2], "z": 3}]
    assert (await Remote().execute({"y": 1})).content == "$.x: 'x' is a required property"
    assert (await Remote().execute({"x": 1, "ctx": {}})).content == "$.ctx: is not an argument of this tool"


async def test_further_parameters_with_defaults_stay_with_the_handler() -> None:
    def handler(arguments: dict[str, Any], spare: int = 7, /) -> Any:
        return [arguments, spare]

    made = Tool.define(name="t", description="Do it.", handler=handler, input_schema={})

    assert (await made.execute({"spare": 1})).value == [{"spare": 1}, 7]


async def test_the_arguments_of_the_caller_are_not_changed_by_a_handler_that_spreads_them() -> None:
    def handler(x: int, **more: Any) -> Any:
        more["y"] = 2
        return ToolResult("done")

    arguments = {"x": 1, "z": 3}

    await value_of(handler, arguments)

    assert arguments == {"x": 1, "z": 3}
