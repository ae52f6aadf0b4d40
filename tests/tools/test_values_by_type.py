"""A parameter of the type of one of the run's values is filled with it, also without a mark: never by the model."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

import pytest

from toolkit import Agent, Tool, definition, execute, tool
from toolkit.testing import ScriptedModel, call, calls, says

T = TypeVar("T")


@dataclasses.dataclass
class Account:
    name: str = "nobody's"


class Client:
    """A class that has no JSON Schema."""


class Box(Generic[T]):
    """A generic one."""


FORGED = {"account": {"name": "the model's"}}
MINE = Account("mine")


class Show(Tool):
    """Show the account."""

    name = "show"

    async def handler(self, account: Account, days: int = 1) -> str:
        return f"{account.name} {days}"


class ShowPlainly:
    name = "show"
    description = "Show the account."

    def handler(self, account: Account | None = None, days: int = 1) -> str:
        return f"{account and account.name} {days}"


@tool(name="show")
async def show(days: int = 1, *, account: Annotated[Account, "Whose."] = Account()) -> str:  # noqa: B008 - what is tested
    """Show the account."""
    return f"{account.name} {days}"


class Configured(Show):
    def __init__(self, description: str = "Show it.") -> None:
        self.description = description


TOOLS: list[Any] = [
    pytest.param(Show, id="a class"),
    pytest.param(Show(), id="an object"),
    pytest.param(ShowPlainly, id="a plain class"),
    pytest.param(ShowPlainly(), id="a plain object"),
    pytest.param(show, id="a function"),
    pytest.param(Configured, id="a class that is built to be described"),
    pytest.param(Configured(), id="an object with members of its own"),
]


@pytest.mark.parametrize("listed", TOOLS)
async def test_a_run_fills_a_parameter_of_a_values_type_and_refuses_the_models(listed: Any) -> None:
    model = ScriptedModel([calls(call("show", {"days": 2}), call("show", FORGED)), says("done")])

    run = await Agent(model, [listed]).run("x", values={Account: MINE})

    assert run.calls[0].result.content == "mine 2"
    assert run.calls[1].result.is_error
    assert "'account' was unexpected" in run.calls[1].result.content
    assert list(model.requests[0].tools[0].input_schema["properties"]) == ["days"]


@pytest.mark.parametrize("listed", TOOLS)
async def test_without_such_a_value_the_model_fills_it_as_before(listed: Any) -> None:
    agent = Agent(tools=[listed])
    model = ScriptedModel([calls(call("show", FORGED)), says("done")])
    await agent.run("x", values={Account: MINE}, model=ScriptedModel([says("")]))

    run = await agent.run("x", values={Client: Client()}, model=model)

    assert run.calls[0].result.content == "the model's 1"
    assert sorted(model.requests[0].tools[0].input_schema["properties"]) == ["account", "days"]


@pytest.mark.parametrize("listed", [param for param in TOOLS if not isinstance(param.values[0], type)])
async def test_execute_fills_it_too(listed: Any) -> None:
    assert (await execute(listed, {"days": 2}, values={Account: MINE})).content == "mine 2"
    assert (await execute(listed, FORGED, values={Account: MINE})).is_error
    assert (await execute(listed, FORGED)).content == "the model's 1"
    assert sorted(definition(listed).input_schema["properties"]) == ["account", "days"]


class Fetch(Tool):
    """Fetch it."""

    async def handler(self, client: Client, box: Box[int], path: Path) -> str:
        return f"{type(client).__name__} {type(box).__name__} {path}"


async def test_a_type_without_a_schema_and_a_generic_one_are_filled() -> None:
    model = ScriptedModel([calls(call("fetch")), says("done")])
    values: dict[type, Any] = {Client: Client(), Box: Box(), Path: Path("/srv"), int: 7}

    run = await Agent(model, [Fetch]).run("x", values=values)

    assert run.calls[0].result.content == "Client Box /srv"


async def test_a_builtin_type_says_too_little_to_be_filled_without_a_mark() -> None:
    model = ScriptedModel([calls(call("show", {"days": 2})), says("done")])

    run = await Agent(model, [Show]).run("x", values={int: 7, str: "x", dict: {}, Account: MINE})

    assert run.calls[0].result.content == "mine 2"


class Special(Account):
    """More than an account."""


async def test_a_value_of_a_subclass_does_not_take_an_unmarked_parameter_from_the_model() -> None:
    model = ScriptedModel([calls(call("show", FORGED)), says("done")])

    run = await Agent(model, [Show]).run("x", values={Special: Special("special")})

    assert run.calls[0].result.content == "the model's 1"
