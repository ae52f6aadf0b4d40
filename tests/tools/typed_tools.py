"""Tools as users write them, read by type checkers in `test_typed_tools`. `assert_type` says what they must see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, assert_type

from msgspec import Meta

from toolkit import (
    FunctionTool,
    Inject,
    Invocation,
    ITool,
    Run,
    RunContext,
    Tool,
    ToolDefinition,
    ToolResult,
    definition,
    execute,
    tool,
)
from toolkit.context import RequestedCall
from toolkit.hooks import CallInfo, Decision, Deny, Replace


class WeatherClient:
    async def current(self, city: str, units: str) -> str:
        return f"sunny in {city}, in {units} units"


class WeatherTool(Tool):
    """Get the current weather of a city."""

    name = "get_weather"
    timeout = 5.0
    exclusive = True

    def __init__(self, client: WeatherClient) -> None:
        self.client = client

    async def handler(self, city: str, units: Literal["metric", "imperial"] = "metric") -> str:
        """
        Args:
            city: City name, such as "Paris".
            units: Unit system of the answer.
        """
        return await self.client.current(city, units)


@tool
class CheckedTool(Tool):
    """Do it."""

    input_schema = {"type": "object"}  # noqa: RUF012 - as users write it

    def handler(self, arguments: dict[str, Any], ctx: RunContext) -> ToolResult:
        return ToolResult(arguments, ctx.run.id)


class PerInstance(Tool):
    """Do it."""

    name: str

    def __init__(self, name: str) -> None:
        self.name = name

    def handler(self, run: Run[int], invocation: Invocation | None = None) -> int:
        return run.turns


@dataclass
class Plain:
    name: str
    description: str = "Do it."

    def handler(self) -> None: ...


@tool
def add(a: int, b: int = 2) -> int:
    """Add two numbers."""
    return a + b


@tool(name="get_forecast", description="Get it.", exclusive=True, timeout=5)
async def forecast(city: str, client: Annotated[WeatherClient, Inject()]) -> str:
    return await client.current(city, "metric")


def deny(ctx: RunContext, call: RequestedCall) -> Decision | None:
    return Deny("no") if call.revised else None


class Guard:
    async def __call__(self, ctx: RunContext, call: RequestedCall, reason: str = "no") -> Deny:
        return Deny(reason)

    def after(self, ctx: RunContext, info: CallInfo) -> Replace | None:
        return Replace(info.result.value) if info.ok else None


async def is_open(ctx: RunContext, client: Annotated[WeatherClient, Inject()]) -> bool:
    return bool(await client.current("Oslo", ctx.agent.name))


@tool(
    input_schema=Plain,
    output_schema=Annotated[int, Meta(ge=1)],
    on_before_call=deny,
    on_after_call=Guard().after,
    available_if=is_open,
    needs_approval=True,
    timeout=None,
    max_result_tokens=100,
    run_in_thread=False,
)
def count(plain: Plain) -> int:
    """Count it."""
    return len(plain.name)


@tool(input_schema={"type": "object"}, output_schema=list[int] | None, on_before_call=Guard())
def listed(arguments: dict[str, Any]) -> list[int] | None:
    """List it."""
    return [len(arguments)]


def made_of_settings(settings: dict[str, Any]) -> tuple[FunctionTool[[Plain], int], FunctionTool[..., Any]]:
    made = tool(**settings)(count.handler)
    return made, Tool.define(name="t", description="Do it.", handler=print, input_schema={}, **settings)


def takes_tool(given: ITool) -> str:
    return given.name


def all_of_them(blank: RequestedCall) -> None:
    takes_tool(WeatherTool(WeatherClient()))
    takes_tool(CheckedTool())
    takes_tool(PerInstance("t"))
    takes_tool(Plain("t"))
    takes_tool(add)
    takes_tool(forecast)
    takes_tool(count)
    takes_tool(listed)
    takes_tool(made_of_settings({"exclusive": True})[0])
    takes_tool(Tool.define(name="t", description="Do it.", handler=takes_tool))

    assert_type(add(1, b=2), int)
    assert_type(add.name, str)
    assert_type(count(Plain("t")), int)
    assert_type(FunctionTool(deny, "deny", "Deny it.", exclusive=True)(RunContext(), blank), Decision | None)
    takes_tool(Tool.define(name="t", description="Do it.", handler=print, on_before_call=deny, timeout=0.5))
    assert_type(CheckedTool(), CheckedTool)
    assert_type(Tool.define(name="t", description="Do it.", handler=print), FunctionTool[..., Any])
    assert_type(definition(WeatherTool), ToolDefinition)


async def run_once() -> None:
    assert_type(await forecast("Oslo", WeatherClient()), str)
    assert_type(await add.execute({"a": 1}), ToolResult)
    assert_type(await WeatherTool(WeatherClient()).execute("{}", RunContext(), values={WeatherClient: 1}), ToolResult)
    assert_type(await execute(Plain("t")), ToolResult)
