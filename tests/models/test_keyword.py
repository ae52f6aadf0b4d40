"""The keyword model: no language model, and it says so."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import math
from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta

from toolkit import Agent, ConfigurationError, Limits, ToolError, tool
from toolkit.messages import ToolDefinition, UserMessage
from toolkit.models import KeywordModel, Model, ModelRequest


@tool
async def ticket_status(ticket: Annotated[str, Meta(pattern=r"^SUP-\d+$")]) -> str:
    """Tell the status of a support ticket."""
    return f"{ticket} is open"


@tool
async def get_weather(city: str, days: int = 1) -> str:
    """Get the weather of a city."""
    return f"sunny in {city}"


@tool
async def refuse(name: str) -> str:
    """Refuse an invoice."""
    raise ToolError("not allowed")


AGENT = Agent(KeywordModel(), tools=[ticket_status, get_weather, refuse])


@pytest.mark.parametrize(
    ("prompt", "name", "arguments"),
    [
        ("What is the status of ticket SUP-481?", "ticket_status", {"ticket": "SUP-481"}),
        ("SUP-481, please", "ticket_status", {"ticket": "SUP-481"}),
        ("How is the weather in Oslo?", "get_weather", {"city": "Oslo"}),
        ('Weather of "New York" for 3 days', "get_weather", {"city": "New York"}),
        ("weather in bergen", "get_weather", {"city": "weather bergen"}),
    ],
)
async def test_it_calls_the_tool_whose_words_match_and_fills_what_is_required(
    prompt: str, name: str, arguments: dict[str, Any]
) -> None:
    run = await AGENT.run(prompt)

    assert [(record.name, record.arguments) for record in run.calls] == [(name, arguments)]
    assert not run.calls[0].result.is_error


async def test_it_says_what_it_is_and_repeats_what_the_tool_said() -> None:
    run = await AGENT.run("How is the weather in Oslo?")

    assert run.response == "(keyword model, no language model) get_weather: sunny in Oslo"


async def test_it_says_what_went_wrong() -> None:
    run = await AGENT.run("Refuse the invoice of Ada")

    assert run.response == "(keyword model, no language model) refuse could not help: not allowed"


async def test_without_a_match_it_names_the_tools() -> None:
    run = await AGENT.run("Sing!")

    assert run.calls == []
    assert "no language model" in run.response
    assert "ticket_status, get_weather, refuse" in run.response


async def test_without_tools_and_without_a_prompt_it_still_answers() -> None:
    response = await KeywordModel().respond(ModelRequest([UserMessage("")]))

    assert "The tools: none." in response.text


class Unit(enum.Enum):
    METRIC = "metric"
    IMPERIAL = "imperial"


@dataclasses.dataclass
class Place:
    city: str
    country: str | None


KINDS: dict[str, tuple[Any, Any]] = {
    "text": (str, "Oslo"),
    "integer": (int, 7),
    "number": (float, 7.0),
    "bounded integer": (Annotated[int, Meta(le=5)], 5),
    "boolean": (bool, True),
    "literal": (Literal["imperial", "metric"], "metric"),
    "enum": (Unit, "metric"),
    "optional": (int | None, 7),
    "list": (list[str], ["Oslo"]),
    "list of optional numbers": (list[int | None], [7]),
    "object": (Place, {"city": "Oslo", "country": "Oslo"}),
    "date": (datetime.date, "2026-01-31"),
    "anything": (Any, "Oslo"),
}


@pytest.mark.parametrize(("annotation", "expected"), KINDS.values(), ids=KINDS)
async def test_it_fills_a_required_parameter_of_any_type(annotation: Any, expected: Any) -> None:
    async def take(value: Any) -> str:
        """Take a value."""
        return "taken"

    take.__annotations__["value"] = annotation
    wanted = tool(take)

    run = await Agent(KeywordModel(), tools=[wanted]).run("Take 7 metric from Oslo on 2026-01-31")

    assert [record.result.content for record in run.calls] == ["taken"]
    assert run.calls[0].arguments == {"value": expected}


BOUNDED: dict[str, tuple[Any, Any]] = {
    "at least": (Annotated[int, Meta(ge=3)], 3),
    "at most": (Annotated[int, Meta(le=-3)], -3),
    "more than": (Annotated[int, Meta(gt=3)], 4),
    "less than": (Annotated[int, Meta(lt=1)], 0),
    "between": (Annotated[int, Meta(gt=3, lt=5)], 4),
    "a multiple": (Annotated[int, Meta(multiple_of=5)], 5),
    "a multiple below": (Annotated[int, Meta(multiple_of=5, lt=5)], 0),
    "a number of at least": (Annotated[float, Meta(ge=2.5)], 2.5),
    "a number of more than": (Annotated[float, Meta(gt=2.5)], 2.5000000000000004),
    "a short text": (Annotated[str, Meta(max_length=2)], "ta"),
    "a long text": (Annotated[str, Meta(min_length=12)], "take a value"),
    "a list of several": (Annotated[list[int], Meta(min_length=2)], [1, 1]),
    "a pair": (tuple[int, str], [1, "take value"]),
}


@pytest.mark.parametrize(("annotation", "expected"), BOUNDED.values(), ids=BOUNDED)
async def test_what_the_prompt_does_not_tell_it_fills_within_the_bounds(annotation: Any, expected: Any) -> None:
    async def take(value: Any) -> str:
        """Take a value."""
        return "taken"

    take.__annotations__["value"] = annotation

    run = await Agent(KeywordModel(), tools=[tool(take)]).run("take a value")

    assert run.calls[0].result.content == "taken"
    assert run.calls[0].arguments == {"value": expected}


WRITTEN: dict[str, tuple[Any, Any]] = {
    "true": (True, "take value"),
    "an alternative that is true": ({"anyOf": [{"type": "null"}, True]}, "take value"),
    "a first item that is true": ({"type": "array", "prefixItems": [True]}, ["take value"]),
    "items that are false": ({"type": "array", "items": False, "maxItems": 0}, []),
    "a length as a float": ({"type": "string", "maxLength": 2.0}, "ta"),
    "a number of items as a float": ({"type": "array", "items": {"type": "integer"}, "minItems": 2.0}, [1, 1]),
}


@pytest.mark.parametrize(("schema", "expected"), WRITTEN.values(), ids=WRITTEN)
async def test_it_fills_a_parameter_of_any_hand_written_schema(schema: Any, expected: Any) -> None:
    whole = {"type": "object", "properties": {"value": schema}, "required": ["value"]}
    take = ToolDefinition("take", "Take a value.", whole)

    response = await KeywordModel().respond(ModelRequest([UserMessage("take a value")], (take,)))

    assert response.tool_calls[0].arguments == {"value": expected}


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [("take 9007199254740993", 9007199254740993), (f"take {'9' * 400}", 1), ("take 2.5", 3)],
    ids=["more digits than a float has", "more than a float can hold", "a fraction"],
)
@pytest.mark.parametrize("kind", ["integer", "number"])
async def test_it_fills_in_whole_numbers_to_the_last_digit(kind: str, prompt: str, expected: float) -> None:
    schema = {"type": "object", "properties": {"value": {"type": kind}}, "required": ["value"]}
    take = ToolDefinition("take", "Take a value.", schema)

    response = await KeywordModel().respond(ModelRequest([UserMessage(prompt)], (take,)))

    arguments = response.tool_calls[0].arguments
    assert isinstance(arguments, dict)
    value = arguments["value"]
    assert value == expected if kind == "integer" else math.isfinite(value)


@dataclasses.dataclass
class Branch:
    name: str
    branches: list[Branch]
    graft: Branch | None


@tool
async def plant(tree: Branch) -> str:
    """Plant a tree."""
    return f"planted {tree.name}"


async def test_it_fills_a_type_that_holds_itself() -> None:
    run = await Agent(KeywordModel(), tools=[plant]).run('Plant a tree "Oak"')

    assert run.calls[0].result.content == "planted Oak"


async def test_it_is_a_model_and_needs_no_key() -> None:
    assert isinstance(KeywordModel(), Model)


async def test_it_answers_when_a_limit_leaves_it_no_tools() -> None:
    agent = Agent(KeywordModel(), tools=[get_weather], limits=Limits(max_turns=1, on_limit="answer"))

    run = await agent.run("How is the weather in Oslo?")

    assert (run.outcome, run.response) == (
        "partial",
        "(keyword model, no language model) get_weather: sunny in Oslo",
    )


@tool
async def order_status(number: int, urgency: Literal["low", "high", "overall"] = "low") -> str:
    """Tell the status of an order."""
    return f"{number}"


@tool
async def set_urgency(urgency: Literal["low", "all", "high"]) -> str:
    """Set the urgency."""
    return urgency


@pytest.mark.parametrize(
    ("prompt", "number"), [("order ORD-12", 12), ("order -12", -12), ("order (-3.0)", -3), ("order 4-5", 4)]
)
async def test_a_hyphen_within_a_word_is_no_minus(prompt: str, number: int) -> None:
    run = await Agent(KeywordModel(), tools=[order_status]).run(prompt)

    assert run.calls[0].arguments == {"number": number}


@pytest.mark.parametrize(
    ("prompt", "urgency"),
    [("urgency of the yellow one: High", "high"), ("the urgency of allowed things", "low"), ("urgency all", "all")],
)
async def test_an_option_is_a_whole_word_of_the_prompt(prompt: str, urgency: str) -> None:
    run = await Agent(KeywordModel(), tools=[set_urgency]).run(prompt)

    assert run.calls[0].arguments == {"urgency": urgency}


async def test_an_agent_with_an_output_type_is_told_that_it_wants_another_model() -> None:
    @dataclasses.dataclass
    class Answer:
        text: str

    with pytest.raises(ConfigurationError, match=r"the keyword model .* can't give an answer of an output_type"):
        await Agent(KeywordModel(), tools=[get_weather], output_type=Answer).run("the weather in Oslo")
