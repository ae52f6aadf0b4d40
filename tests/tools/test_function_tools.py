"""`@tool` and `Tool.define`: tools made of callables, which stay callable."""

from __future__ import annotations

import copy
import functools
import inspect
import math
from typing import Any

import pytest

from toolkit import ConfigurationError, FunctionTool, ITool, RunContext, Tool, ToolDefinition, definition, execute, tool


@tool
def add(a: int, b: int = 2) -> int:
    """Add two numbers.

    Args:
        a: The first.
    """
    return a + b


@tool(name="sum_up", description="Add them all.", exclusive=True, timeout=5)
async def total(numbers: list[float]) -> float:
    """For developers."""
    return sum(numbers)


def test_a_decorated_function_is_a_tool_and_is_still_called_as_before() -> None:
    assert isinstance(add, FunctionTool)
    assert isinstance(add, ITool)
    assert add(1) == 3
    assert add(a=1, b=4) == 5
    assert definition(add) == ToolDefinition(
        "add",
        "Add two numbers.",
        {
            "type": "object",
            "properties": {
                "a": {"type": "integer", "description": "The first."},
                "b": {"type": "integer", "default": 2},
            },
            "required": ["a"],
            "additionalProperties": False,
        },
    )


async def test_an_async_function_stays_async() -> None:
    assert await total([1.5, 2.5]) == 4.0
    assert (await total.execute({"numbers": [1.5, 2.5]})).value == 4.0


def test_the_decorator_takes_a_name_a_description_and_members() -> None:
    made: Any = total

    assert (made.name, made.description, made.exclusive, made.timeout) == ("sum_up", "Add them all.", True, 5)


def test_the_tool_looks_like_its_function_to_inspect() -> None:
    assert inspect.signature(add) == inspect.signature(add.handler)
    assert (add.__name__, add.__module__, add.__doc__) == ("add", __name__, add.handler.__doc__)
    assert repr(add) == "<FunctionTool add>"


def test_a_tool_made_of_a_function_is_never_copied() -> None:
    assert copy.copy(add) is add
    assert copy.deepcopy([add])[0] is add


def test_a_tool_made_of_a_function_is_fixed() -> None:
    with pytest.raises(AttributeError, match=r"tool 'add' is fixed once it is made; 'timeout' can be given to @tool"):
        add.timeout = 3


def test_attributes_of_the_function_do_not_pass_for_members() -> None:
    def slow() -> None:
        """Do it."""

    slow.timeout = 3
    slow.name = "other"

    made: Any = tool(slow)

    assert made.name == "slow"
    assert made.timeout is None


def test_a_function_tool_has_the_optional_members_as_a_class_tool_has_them() -> None:
    made = tool(search)
    guarded = tool(needs_approval=True, exclusive=True, timeout=2)(search)

    for member in ("exclusive", "timeout", "needs_approval", "max_result_tokens", "run_in_thread"):
        assert getattr(made, member) == getattr(Tool, member)
    assert made.input_schema is None
    assert made.output_schema is None
    assert (guarded.needs_approval, guarded.exclusive, guarded.timeout) == (True, True, 2)


# Callables of every kind


def search(query: str, limit: int, account: str) -> str:
    """Search the orders.

    Args:
        query: What for.
    """
    return f"{query} {limit} {account}"


class Orders:
    """Look up orders."""

    def find(self, number: int) -> str:
        """Find an order."""
        return f"order {number}"

    @classmethod
    def kinds(cls, of: str) -> str:
        """List the kinds."""
        return f"{cls.__name__} {of}"

    @staticmethod
    def count(day: str) -> str:
        """Count them."""
        return f"none on {day}"


class LookUp:
    """Look up anything."""

    def __call__(self, key: str) -> str:
        """
        Args:
            key: Under which.
        """
        return f"value of {key}"


class AsyncLookUp:
    async def __call__(self, key: str) -> str:
        """Look up slowly."""
        return f"value of {key}"


@pytest.mark.parametrize(
    ("target", "described", "arguments", "content"),
    [
        (Orders().find, ("find", "Find an order."), {"number": 7}, "order 7"),
        (Orders.kinds, ("kinds", "List the kinds."), {"of": "x"}, "Orders x"),
        (Orders.count, ("count", "Count them."), {"day": "Monday"}, "none on Monday"),
        (LookUp(), ("look_up", "Look up anything."), {"key": "k"}, "value of k"),
        (AsyncLookUp(), ("async_look_up", "Look up slowly."), {"key": "k"}, "value of k"),
        (
            functools.partial(search, limit=3, account="a1"),
            ("search", "Search the orders."),
            {"query": "tea"},
            "tea 3 a1",
        ),
        (
            functools.partial(functools.partial(search, "tea"), account="a1"),
            ("search", "Search the orders."),
            {"limit": 3},
            "tea 3 a1",
        ),
        (
            functools.update_wrapper(functools.partial(search, "tea"), search),
            ("search", "Search the orders."),
            None,
            None,
        ),
        (math.sqrt, ("sqrt", "Return the square root of x."), {"x": 4}, "2.0"),
    ],
    ids=[
        "bound method",
        "class method",
        "static method",
        "callable object",
        "async callable object",
        "partial",
        "partial of a partial",
        "partial that is dressed up",
        "builtin",
    ],
)
async def test_any_callable_can_be_made_a_tool(
    target: Any, described: tuple[str, str], arguments: dict[str, Any] | None, content: str | None
) -> None:
    made = tool(target)

    assert (made.name, made.description) == described
    if arguments is not None:
        assert set(definition(made).input_schema["properties"]) == set(arguments)
        assert (await made.execute(arguments)).content == content


@pytest.mark.parametrize("name", ["limit", "account"])
async def test_what_a_partial_gives_is_not_for_the_model_to_choose(name: str) -> None:
    made = tool(functools.partial(search, limit=3, account="a1"))

    result = await made.execute({"query": "tea", name: "a2"})

    assert name not in definition(made).input_schema["properties"]
    assert result.is_error
    assert f"$.{name}: " in result.content


async def test_a_dressed_up_partial_hides_what_it_gives_too() -> None:
    made = tool(functools.update_wrapper(functools.partial(search, "tea", account="a1"), search))

    assert list(definition(made).input_schema["properties"]) == ["limit"]
    assert (await made.execute({"limit": 3})).content == "tea 3 a1"


async def test_a_lambda_needs_a_name_and_a_description() -> None:
    made = tool(name="double", description="Double it.")(lambda x: x * 2)

    assert (await made.execute({"x": 2})).content == "4"
    with pytest.raises(ConfigurationError, match="is named '<lambda>'"):
        tool(lambda x: x)
    with pytest.raises(ConfigurationError, match="has no description"):
        tool(name="double")(lambda x: x)


def test_the_parameters_of_a_callable_object_are_described_by_its_call() -> None:
    assert definition(tool(LookUp())).input_schema["properties"]["key"]["description"] == "Under which."


def test_a_decorated_class_is_checked_and_returned() -> None:
    @tool
    class Weather(Tool):
        """Get the weather."""

        def handler(self) -> None: ...

    assert isinstance(Weather, type)
    assert definition(Weather).name == "weather"


def test_a_class_takes_its_members_as_attributes() -> None:
    with pytest.raises(
        ConfigurationError, match="@tool takes no arguments on a class; set them as attributes of Orders"
    ):
        tool(name="orders")(Orders)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: tool("search"), "@tool takes the name by keyword: @tool(name='search')"),
        (lambda: tool(5), "@tool makes a tool of a function or class, and not of 5"),
        (lambda: tool(Orders.find), "takes 'self', as a method does that no object is bound to"),
        (lambda: tool(max), "does not tell its parameters; wrap it in a function of your own"),
        (lambda: tool(timout=5)(search), "a tool has no member 'timout'; did you mean 'timeout'?"),
        (lambda: tool(colour="red")(search), "a tool has no member 'colour'. It has input_schema, output_schema"),
        (lambda: tool(handler=search)(search), "a tool has no member 'handler'. It has"),
        (lambda: tool(timeout="soon")(search), "timeout of tool 'search' is 'soon'"),
    ],
    ids=["text", "number", "unbound method", "no signature", "misspelt", "unknown", "handler", "wrong value"],
)
def test_a_wrong_use_of_the_decorator_is_refused_at_once(make: Any, told: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        make()

    assert told in str(caught.value)


def test_a_function_without_a_docstring_is_refused() -> None:
    def undescribed() -> None: ...

    with pytest.raises(ConfigurationError, match="or give description="):
        tool(undescribed)


@pytest.mark.parametrize("kind", ["generator", "async generator"])
def test_a_generator_is_no_handler(kind: str) -> None:
    def numbers() -> Any:
        """Count."""
        yield 1

    async def async_numbers() -> Any:
        """Count."""
        yield 1

    with pytest.raises(
        ConfigurationError, match=r"is a generator; return one value, and tell of progress with ctx.emit"
    ):
        tool(numbers if kind == "generator" else async_numbers)


# Tool.define


async def test_define_makes_a_tool_of_a_callable_at_hand() -> None:
    made = Tool.define(name="double", description="Double it.", handler=lambda x: x * 2)

    assert isinstance(made, FunctionTool)
    assert made(4) == 8
    assert (await made.execute({"x": 4})).content == "8"


async def test_define_takes_a_schema_and_every_optional_member() -> None:
    made: Any = Tool.define(
        name="double",
        description="Double it.",
        handler=lambda arguments: arguments["x"] * 2,
        input_schema={"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
        output_schema={"type": "integer"},
        on_before_call=lambda ctx, call: None,
        on_after_call=lambda ctx, info: None,
        exclusive=True,
        timeout=60,
        available_if=lambda ctx: True,
        needs_approval=True,
        max_result_tokens=50,
        run_in_thread=False,
    )

    assert (made.exclusive, made.timeout, made.needs_approval, made.max_result_tokens) == (True, 60, True, 50)
    assert (await made.execute({"x": 4})).value == 8


async def test_define_gives_the_context_to_a_handler_that_asks_for_it_and_works_without() -> None:
    def with_context(arguments: dict[str, Any], ctx: RunContext) -> str:
        return f"{arguments['x']} for {ctx.invocation.actor_id}"

    def without(arguments: dict[str, Any]) -> str:
        return f"{arguments['x']}"

    given = [
        Tool.define(name="t", description="Do it.", handler=handler, input_schema={"type": "object"})
        for handler in (with_context, without)
    ]

    assert [(await one.execute({"x": 1})).content for one in given] == ["1 for None", "1"]


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ({"max_results": 3}, "a tool has no member 'max_results'"),
        ({"needs_aproval": True}, "did you mean 'needs_approval'?"),
        ({"description": "  "}, "tool 't' has no description"),
        ({"handler": "search"}, "the handler of tool 't' is 'search'; it has to be callable"),
        ({"name": ""}, "is named ''; a tool's name has 1 to 64 characters"),
        ({"input_schema": []}, "input_schema of tool 't' is []"),
        ({"on_before_call": lambda ctx: None}, "on_before_call of tool 't' is called as on_before_call(ctx, call)"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_define_refuses_what_is_wrong_at_once(members: dict[str, Any], told: str) -> None:
    given = {"name": "t", "description": "Do it.", "handler": lambda arguments: None, **members}

    with pytest.raises(ConfigurationError) as caught:
        Tool.define(**given)

    assert told in str(caught.value)


async def test_a_class_can_be_the_handler_of_a_tool() -> None:
    class Report:
        def __init__(self, city: str) -> None:
            self.city = city

        async def __call__(self) -> None: ...

        def to_content(self) -> str:
            return f"report of {self.city}"

    made = Tool.define(name="t", description="Do it.", handler=Report)

    assert (await made.execute({"city": "Oslo"})).content == "report of Oslo"


async def test_available_if_may_be_a_method_of_another_object() -> None:
    class Policy:
        def allows(self, ctx: RunContext) -> bool:
            return True

    made = Tool.define(name="t", description="Do it.", handler=lambda: None, available_if=Policy().allows)

    assert (await execute(made)).content == ""


@pytest.mark.parametrize("member", ["exclusive", "needs_approval", "run_in_thread", "max_result_tokens"])
def test_a_flag_that_is_none_is_refused_as_on_a_class(member: str) -> None:
    """As `config.get("needs_approval")` gives it: what is not there must not pass for `no`."""
    members: dict[str, Any] = {member: None}

    with pytest.raises(ConfigurationError, match=f"^{member} of tool 'add' is None"):
        Tool.define(name="add", description="Add.", handler=add.handler, **members)
    with pytest.raises(ConfigurationError, match=f"^{member} of tool 'add' is None"):
        tool(**members)(add.handler)


def test_none_stands_for_a_member_that_is_not_given_where_that_is_its_default() -> None:
    members: dict[str, Any] = dict.fromkeys(
        ("input_schema", "output_schema", "on_before_call", "on_after_call", "timeout", "available_if")
    )

    made = Tool.define(name="add", description="Add two numbers.", handler=add.handler, **members)

    assert definition(made) == definition(add)
