"""One call through `execute`: arguments, handler, output, and what the model reads when it goes wrong."""

from __future__ import annotations

import asyncio
import contextvars
import datetime
import threading
from types import SimpleNamespace
from typing import Annotated, Any, TypedDict

import pydantic
import pytest

from tests.tools.making import KINDS, made, raising
from toolkit import (
    CleanupError,
    ConfigurationError,
    DeadlineExceeded,
    Inject,
    Invocation,
    RunContext,
    Tool,
    ToolError,
    ToolResult,
    definition,
    execute,
    tool,
)


def typed(city: str, days: Annotated[list[int], "Which."], limit: int = 3) -> Any:
    """Do it."""
    return [city, days, limit]


# Arguments


@pytest.mark.parametrize(
    "arguments", [{"city": "Oslo", "days": [1]}, '{"city": "Oslo", "days": [1]}', b'{"city":"Oslo","days":[1]}']
)
async def test_arguments_are_a_dict_or_json_text(arguments: Any) -> None:
    assert (await tool(typed).execute(arguments)).value == ["Oslo", [1], 3]


@KINDS
@pytest.mark.parametrize("arguments", [None, "", "  \n", "null", {}, "{}"], ids=repr)
async def test_blank_text_and_null_are_no_arguments(kind: str, arguments: Any) -> None:
    assert (await execute(made(lambda arguments, ctx: arguments, kind), arguments)).value == {}
    assert (await tool(typed).execute(arguments)).content == (
        "$.city: 'city' is a required property; $.days: 'days' is a required property"
    )


@KINDS
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ('{"city": "Oslo",}', "the arguments are not JSON"),
        ('{"city": "Os', "the text seems cut off after 12 characters"),
        ("{'city': 'Oslo'}", "stand in double quotes"),
        ('query = """x"""', "the arguments are not JSON"),
        ("[1]", "must be a JSON object, not an array"),
        ("3", "must be a JSON object, not a number"),
        ("true", "must be a JSON object, not a boolean"),
        ('"London"', "must be a JSON object, not a string"),
        ('"{\\"city\\": \\"Oslo\\"}"', "send the object itself, not JSON inside a string"),
        ([1], "must be a JSON object, not an array"),
        ('{"x": NaN}', "$.x: NaN is not JSON"),
        ('{"x": 1e999}', "$.x: the number 1e999 is too large"),
        ('{"x": 1, "x": 2}', "the key 'x' is repeated"),
        ({"x": float("inf")}, "$.x: Infinity is not JSON"),
        ({"x": object()}, "$.x: a value of type object is not JSON"),
        ('{"x": "' + "y" * 1_000_000, "the text seems cut off"),
    ],
    ids=lambda value: repr(value)[:24],
)
async def test_what_is_no_json_object_is_told_and_never_runs(kind: str, arguments: Any, told: str) -> None:
    ran: list[Any] = []

    result = await execute(made(lambda arguments, ctx: ran.append(arguments), kind), arguments)

    assert told in result.content
    assert len(result.content) < 1000
    assert (result.is_error, result.value, ran) == (True, None, [])


async def test_every_way_to_break_a_schema_is_told_with_its_path() -> None:
    schema = {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "units": {"enum": ["metric", "imperial"]},
            "days": {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 10}},
        },
        "required": ["city"],
        "additionalProperties": False,
    }
    weather = Tool.define(name="weather", description="Get it.", handler=lambda arguments: None, input_schema=schema)

    result = await weather.execute({"units": "kelvin", "days": ["tomorrow", 0, 11], "surprise": True})

    assert result.content.split("; ") == [
        "$.units: 'kelvin' is not one of ['metric', 'imperial']",
        "$.days[0]: 'tomorrow' is not of type 'integer'",
        "$.days[1]: 0 is less than the minimum of 1",
        "$.days[2]: 11 is greater than the maximum of 10",
        "$.surprise: Additional properties are not allowed ('surprise' was unexpected)",
        "$.city: 'city' is a required property",
    ]


async def test_the_text_of_violations_stays_under_two_thousand_characters() -> None:
    arguments = {"city": 1, "days": [f"no number {number}" for number in range(5_000)]}

    told = (await tool(typed).execute(arguments)).content

    assert len(told) < 2_000
    assert "$.city: 1 is not of type 'string'" in told


async def test_a_bool_is_no_integer_and_a_whole_float_is_one() -> None:
    assert (
        await tool(typed).execute({"city": "Oslo", "days": [True]})
    ).content == "$.days[0]: True is not of type 'integer'"
    value = (await tool(typed).execute('{"city": "Oslo", "days": [5.0]}')).value
    assert value == ["Oslo", [5], 3]


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ({"city": "Oslo", "days": "[1, 2]"}, ["Oslo", [1, 2], 3]),
        ({"city": "[1, 2]", "days": []}, ["[1, 2]", [], 3]),
        ({"city": '{"a": 1}', "days": "[]"}, ['{"a": 1}', [], 3]),
    ],
    ids=["where an array belongs", "where a text belongs", "both"],
)
async def test_json_text_is_decoded_where_an_array_belongs_and_nowhere_else(arguments: Any, value: Any) -> None:
    assert (await tool(typed).execute(arguments)).value == value


@pytest.mark.parametrize("days", ["[1, 2", "1, 2", '"[1]"', "{}"])
async def test_text_that_is_no_json_of_that_type_is_left_to_the_schema(days: str) -> None:
    result = await tool(typed).execute({"city": "Oslo", "days": days})

    assert result.is_error
    assert "$.days: " in result.content
    assert "is not of type 'array'" in result.content


async def test_a_reference_to_a_sibling_property_is_followed() -> None:
    schema = {
        "type": "object",
        "properties": {
            "headers": {"type": "object", "additionalProperties": {"type": "string"}},
            "more": {"type": "array", "items": {"$ref": "#/properties/headers"}},
        },
    }
    echo = Tool.define(name="t", description="Do it.", handler=lambda arguments: arguments, input_schema=schema)

    assert definition(echo).input_schema == schema
    assert (await echo.execute({"more": [{"a": "b"}]})).value == {"more": [{"a": "b"}]}
    assert (await echo.execute({"more": [{"a": 1}]})).content == "$.more[0].a: 1 is not of type 'string'"


async def test_null_is_passed_on_where_the_schema_allows_it() -> None:
    def handler(x: int | None = 5) -> Any:
        """Do it."""
        return {"x": x}

    assert (await tool(handler).execute({"x": None})).value == {"x": None}


async def test_a_default_that_breaks_its_own_schema_is_never_put_in() -> None:
    schema = {"type": "object", "properties": {"x": {"type": "integer", "default": "auto"}}}

    result = await execute(
        Tool.define(name="t", description="Do it.", handler=lambda arguments: arguments, input_schema=schema), {}
    )

    assert result.value == {}


async def test_a_validator_of_the_tools_own_type_that_breaks_is_a_failure_of_the_tool() -> None:
    class Broken(pydantic.BaseModel):
        x: int

        @pydantic.model_validator(mode="after")
        def look(self) -> Any:
            raise RuntimeError("the secret")

    made = Tool.define(name="t", description="Do it.", handler=lambda request: None, input_schema=Broken)

    result = await made.execute({"x": 1})

    assert result.content == "tool 't' failed: RuntimeError"
    assert str(result.error) == "the secret"


# What handlers raise


@KINDS
async def test_a_tool_error_is_told_word_by_word(kind: str) -> None:
    error = ToolError("permission denied: ask\n'root'")

    result = await execute(made(raising(error), kind))

    assert (result.content, result.is_error, result.value) == ("permission denied: ask\n'root'", True, None)
    assert result.error is error


class Rejected(ToolError):
    def __str__(self) -> str:
        return "no such order"


@KINDS
@pytest.mark.parametrize(
    ("error", "content"),
    [
        (Rejected(), "no such order"),
        (RuntimeError("secret credentials"), "tool 't' failed: RuntimeError"),
        (ValueError(), "tool 't' failed: ValueError"),
        (TimeoutError("of its own"), "tool 't' failed: TimeoutError"),
        (asyncio.CancelledError("of its own"), "tool 't' failed: CancelledError"),
        (ExceptionGroup("secret", [ValueError("x")]), "tool 't' failed: ExceptionGroup"),
        (BaseExceptionGroup("secret", [asyncio.CancelledError()]), "tool 't' failed: BaseExceptionGroup"),
        (StopAsyncIteration("secret"), "tool 't' failed: StopAsyncIteration"),
        (RecursionError("secret"), "tool 't' failed: RecursionError"),
        (ConfigurationError("of a run inside"), "tool 't' failed: ConfigurationError"),
        (KeyError("secret"), "tool 't' failed: KeyError"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
async def test_any_other_error_tells_the_model_its_class_and_nothing_more(
    kind: str, error: BaseException, content: str
) -> None:
    result = await execute(made(raising(error), kind))

    assert (result.content, result.is_error, result.value) == (content, True, None)
    assert result.error is error
    assert "secret" not in repr(result)


async def test_a_handler_that_cancels_its_own_task_cancels_nobody_else() -> None:
    async def handler() -> None:
        """Do it."""
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)

    assert (await tool(handler).execute()).content == "tool 'handler' failed: CancelledError"


@pytest.mark.parametrize("kind", ["async", "thread"])
async def test_a_stop_iteration_is_an_error_like_any_other(kind: str) -> None:
    result = await execute(made(raising(StopIteration("secret")), kind))

    assert result.content == "tool 't' failed: RuntimeError"


class Stop(BaseException):
    """As a test runner raises it."""


@KINDS
@pytest.mark.parametrize(
    "error",
    [
        DeadlineExceeded("of a run inside"),
        CleanupError("of a run inside"),
        Stop(),
        BaseExceptionGroup("group", [ValueError(), Stop()]),
        BaseExceptionGroup("outer", [BaseExceptionGroup("inner", [Stop()])]),
    ],
    ids=["deadline", "cleanup", "no exception", "in a group", "in a group of groups"],
)
async def test_what_must_never_look_done_is_raised_and_no_result(kind: str, error: BaseException) -> None:
    with pytest.raises(type(error)) as caught:
        await execute(made(raising(error), kind))

    assert caught.value is error


async def test_a_failed_commit_inside_a_group_is_raised_as_itself() -> None:
    error = CleanupError("of a run inside")

    with pytest.raises(CleanupError) as caught:
        await execute(made(raising(ExceptionGroup("tasks", [ValueError(), error]))))

    assert caught.value is error


@KINDS
async def test_a_handler_may_return_its_own_error_result(kind: str) -> None:
    given = ToolResult(None, "nothing found", is_error=True)

    result = await execute(made(lambda arguments, ctx: given, kind, output_schema={"type": "integer"}))

    assert (result.content, result.is_error) == ("nothing found", True)


# The output schema


class Report(TypedDict):
    celsius: float


@KINDS
@pytest.mark.parametrize(
    ("schema", "value", "ok"),
    [
        ({"type": "integer"}, 3, True),
        ({"type": "integer"}, "3", False),
        ({"type": "string", "format": "date"}, datetime.date(2024, 2, 1), True),
        (int, 3, True),
        (int, True, False),
        (int, None, False),
        (int | None, None, True),
        (Report, {"celsius": 3.5}, True),
        (Report, {"celsius": "secret"}, False),
        (list[Report], [{"celsius": 3.5}], True),
        (list[Report], [{"kelvin": 3.5}], False),
        (str, "text", True),
        (float, float("nan"), False),
        (int, ToolResult(3, "three"), True),
        (int, ToolResult("3", "three"), False),
    ],
    ids=str,
)
async def test_the_output_schema_is_checked_on_what_the_handler_returns(
    kind: str, schema: Any, value: Any, ok: bool
) -> None:
    result = await execute(made(lambda arguments, ctx: value, kind, output_schema=schema))

    assert result.is_error is not ok
    if not ok:
        assert result.content == "tool 't' failed: OutputMismatch"
        assert result.value is None
        assert str(result.error).startswith("$")


async def test_the_error_of_a_mismatch_tells_the_developer_where() -> None:
    result = await execute(made(lambda arguments, ctx: {"celsius": "cold"}, output_schema=Report))

    assert str(result.error) == "$.celsius: 'cold' is not of type 'number'"


# Threads and the loop


variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")


@pytest.mark.parametrize(
    ("kind", "in_main_thread"), [("async", True), ("thread", False), ("loop", True)], ids=lambda value: str(value)
)
async def test_a_sync_handler_runs_in_a_thread_unless_it_is_to_stay(kind: str, in_main_thread: bool) -> None:
    here = threading.get_ident()
    variable.set("of the caller")

    result = await execute(made(lambda arguments, ctx: [threading.get_ident() == here, variable.get()], kind))

    assert result.value == [in_main_thread, "of the caller"]


async def test_a_sync_handler_in_a_thread_leaves_the_loop_free() -> None:
    entered, release = threading.Event(), threading.Event()

    def handler(arguments: Any, ctx: RunContext) -> str:
        entered.set()
        release.wait()
        return "done"

    running = asyncio.create_task(execute(made(handler, "thread")))
    await asyncio.to_thread(entered.wait)
    release.set()

    assert (await running).content == "done"


@pytest.mark.parametrize("kind", ["thread", "loop"])
async def test_what_a_sync_handler_returns_is_awaited_where_it_can_be(kind: str) -> None:
    async def later() -> str:
        return "later"

    class Awaitable:
        def __await__(self) -> Any:
            return later().__await__()

    future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    future.set_result("future")

    values = [future, Awaitable(), later()]
    one_after_another = made(lambda arguments, ctx: values.pop(), kind)

    assert [(await execute(one_after_another)).content for _ in range(3)] == ["later", "later", "future"]


# The context


async def test_a_blank_context_is_made_where_none_is_given() -> None:
    def handler(arguments: Any, ctx: RunContext) -> Any:
        ctx.state["seen"] = True
        return [ctx.context, ctx.invocation.actor_id, ctx.state, ctx.run.id, ctx.agent.name, ctx.call.name]

    assert (await execute(made(handler))).value == [{}, None, {"seen": True}, "", "agent", "t"]


async def test_a_given_context_is_passed_on_with_the_call_filled_in() -> None:
    seen: list[RunContext] = []
    ctx = RunContext(invocation=Invocation(actor_id="u1", context={"account": 7}), state={"n": 1})

    result = await execute(made(lambda arguments, ctx: seen.append(ctx)), '{"x": 1}', ctx)

    assert not result.is_error
    assert seen[0].run is ctx.run
    assert (seen[0].invocation.actor_id, seen[0].context, seen[0].state) == ("u1", {"account": 7}, {"n": 1})
    assert ctx.call is None
    call = seen[0].call
    assert call is not None
    assert (call.name, call.arguments, call.revised) == ("t", {"x": 1}, False)
    assert call.tool == definition(made(lambda arguments, ctx: None))


async def test_no_hooks_are_asked() -> None:
    def refuse(*args: Any) -> Any:
        raise AssertionError("asked")

    result = await execute(
        made(
            lambda arguments, ctx: "ran",
            on_before_call=refuse,
            on_after_call=refuse,
            needs_approval=True,
            available_if=refuse,
        )
    )

    assert result.content == "ran"


async def test_values_fill_injected_parameters_of_any_tool() -> None:
    class Client:
        answer = "sunny"

    async def handler(city: str, client: Any) -> str:
        return f"{client.answer} in {city}"

    handler.__annotations__ = {"city": str, "client": Annotated[Client, Inject()]}
    plain = SimpleNamespace(name="weather", description="Get it.", handler=handler)

    result = await execute(plain, {"city": "Oslo"}, values={Client: Client()})

    assert result.content == "sunny in Oslo"


async def test_one_tool_serves_many_calls_at_once() -> None:
    gate = asyncio.Event()

    async def handler(number: int, ctx: RunContext) -> str:
        """Do it."""
        await gate.wait()
        assert ctx.call is not None
        return f"{number} {ctx.call.arguments['number']}"

    shared = tool(handler)
    running = [asyncio.create_task(shared.execute({"number": number})) for number in range(20)]
    await asyncio.sleep(0)
    gate.set()

    assert [(await task).content for task in running] == [f"{number} {number}" for number in range(20)]


@pytest.mark.parametrize("schema", [None, {"type": "object"}], ids=["derived", "by hand"])
async def test_a_handler_cannot_change_the_callers_arguments(schema: Any) -> None:
    def spoil_whole(arguments: Any, ctx: RunContext) -> int:
        assert ctx.call is not None
        arguments["tags"].append("spoilt")
        arguments["deep"]["x"][0]["y"] = 2
        return len(ctx.call.arguments["tags"])

    def spoil_spread(tags: list[str], deep: dict[str, Any], ctx: RunContext) -> int:
        assert ctx.call is not None
        tags.append("spoilt")
        deep["x"][0]["y"] = 2
        return len(ctx.call.arguments["tags"])

    given = {"tags": ["a"], "deep": {"x": [{"y": 1}]}}
    handler = spoil_spread if schema is None else spoil_whole
    made = Tool.define(name="spoil", description="Spoil it.", handler=handler, input_schema=schema)

    result = await made.execute(given)

    assert result.value == 1
    assert given == {"tags": ["a"], "deep": {"x": [{"y": 1}]}}


async def test_arguments_that_contain_themselves_are_refused() -> None:
    given: dict[str, Any] = {}
    given["city"] = given

    assert (await tool(typed).execute(given)).content.startswith("the arguments are nested too deep")


@pytest.mark.parametrize("text", ["", " ", "no such city"])
@KINDS
async def test_a_tool_error_is_told_by_exactly_its_text(kind: str, text: str) -> None:
    error = ToolError(text)

    result = await execute(made(raising(error), kind), {})

    assert (result.content, result.is_error, result.error) == (text, True, error)
