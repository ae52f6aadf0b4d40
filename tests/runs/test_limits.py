"""Limits: crossing one ends the run before any of the calls that cross it run."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.runs.parts import add, assert_consistent, echo
from toolkit import Agent, ConfigurationError, LimitExceeded, Limits, Usage, tool
from toolkit.models import ModelSettings
from toolkit.testing import ScriptedModel, call, calls, says


def counting_tool() -> tuple[Any, list[int]]:
    ran: list[int] = []

    @tool
    async def step(n: int = 0) -> str:
        """Take a step."""
        ran.append(n)
        return f"step {n}"

    return step, ran


def turn_of(count: int, usage: Usage | None = None) -> Any:
    return calls(*(call("step", {"n": n}) for n in range(count)), usage=usage)


HEAVY = Usage(input_tokens=60, output_tokens=41)

CROSSED: dict[str, tuple[Limits, list[Any], int, str, int]] = {
    "max_turns": (Limits(max_turns=2), [turn_of(1), turn_of(1), turn_of(1)], 2, "max_turns", 2),
    "max_tool_calls at once": (Limits(max_tool_calls=6), [turn_of(8)], 0, "max_tool_calls", 6),
    "max_tool_calls in all": (Limits(max_tool_calls=3), [turn_of(2), turn_of(2)], 2, "max_tool_calls", 3),
    "no tool calls at all": (Limits(max_tool_calls=0), [turn_of(1)], 0, "max_tool_calls", 0),
    "max_calls_per_turn": (Limits(max_calls_per_turn=2), [turn_of(2), turn_of(3)], 2, "max_calls_per_turn", 2),
    "max_tokens": (Limits(max_tokens=100), [turn_of(2, HEAVY)], 0, "max_tokens", 100),
}


@pytest.mark.parametrize(("limits", "script", "ran", "name", "value"), CROSSED.values(), ids=CROSSED)
async def test_crossing_a_limit_raises_before_any_of_the_calls_that_cross_it_run(
    limits: Limits, script: list[Any], ran: int, name: str, value: int
) -> None:
    step, log = counting_tool()

    with pytest.raises(LimitExceeded) as caught:
        await Agent(ScriptedModel(script), tools=[step], limits=limits).run("go")

    assert len(log) == ran
    assert (caught.value.limit, caught.value.value) == (name, value)
    assert str(caught.value) == f"the run reached its limit {name}={value}"
    assert caught.value.run.outcome == "partial"
    assert_consistent(caught.value.run)


@pytest.mark.parametrize(("limits", "script", "ran", "name", "value"), CROSSED.values(), ids=CROSSED)
async def test_with_on_limit_answer_the_model_is_asked_once_more_without_tools(
    limits: Limits, script: list[Any], ran: int, name: str, value: int
) -> None:
    step, log = counting_tool()
    limits = Limits(**{**{f: getattr(limits, f) for f in limits.__struct_fields__}, "on_limit": "answer"})
    used = script[:2] if name == "max_turns" else script
    model = ScriptedModel([*used, says("So far, this.")])
    settings = ModelSettings(tool_choice="required", temperature=0.0)

    run = await Agent(model, tools=[step], limits=limits, settings=settings).run("go")

    assert len(log) == ran
    assert (run.outcome, run.response) == ("partial", "So far, this.")
    last = model.requests[-1]
    assert (list(last.tools), last.tool_choice) == ([], "none")
    assert last.settings == ModelSettings(temperature=0.0)
    assert_consistent(run)
    model.assert_exhausted()


async def test_calls_that_were_not_run_say_which_limit_they_would_cross() -> None:
    step, _ = counting_tool()

    with pytest.raises(LimitExceeded) as caught:
        await Agent(ScriptedModel([turn_of(2)]), tools=[step], limits=Limits(max_tool_calls=1)).run("go")

    assert [record.result.content for record in caught.value.run.calls] == [
        "not run: the run reached its limit max_tool_calls=1"
    ] * 2


async def test_a_forced_answer_that_asks_for_tools_gets_none() -> None:
    step, log = counting_tool()
    model = ScriptedModel([turn_of(1), calls(call("step"), text="One more?")])
    limits = Limits(max_turns=1, on_limit="answer")

    run = await Agent(model, tools=[step], limits=limits).run("go")

    assert (run.outcome, run.response, log) == ("partial", "One more?", [0])
    assert_consistent(run)


async def test_an_answer_within_the_limits_completes() -> None:
    step, log = counting_tool()
    model = ScriptedModel([turn_of(2, Usage(50, 50)), says("done", usage=HEAVY)])
    limits = Limits(max_turns=2, max_tool_calls=2, max_calls_per_turn=2, max_tokens=100)

    run = await Agent(model, tools=[step], limits=limits).run("go")

    assert (run.outcome, len(log)) == ("completed", 2)
    assert run.usage == Usage(110, 91)


async def test_none_means_no_limit() -> None:
    step, log = counting_tool()
    limits = Limits(
        max_turns=None,
        max_tool_calls=None,
        max_calls_per_turn=None,
        max_concurrency=None,
        max_tokens=None,
        open_timeout=None,
        close_timeout=None,
    )
    model = ScriptedModel([*(turn_of(0 + 1) for _ in range(120)), turn_of(1001), says("done")])

    run = await Agent(model, tools=[step], limits=limits).run("go")

    assert (run.outcome, len(log)) == ("completed", 1121)


async def test_unknown_and_invalid_calls_count() -> None:
    model = ScriptedModel([calls(call("nothing")), calls(call("add", {"a": "x"})), calls(call("add"))])

    with pytest.raises(LimitExceeded):
        await Agent(model, tools=[add], limits=Limits(max_tool_calls=2)).run("go")

    model.assert_exhausted()


async def test_unknown_tools_are_bounded_by_the_limits_alone() -> None:
    model = ScriptedModel([calls(call("nothing"))] * 5)

    with pytest.raises(LimitExceeded, match="max_turns=5"):
        await Agent(model, tools=[add], limits=Limits(max_turns=5)).run("go")


async def test_limits_belong_to_the_agent_and_not_to_the_conversation() -> None:
    first = Agent(ScriptedModel([turn_of(1), turn_of(1), says("1")]), tools=[counting_tool()[0]])
    earlier = await first.run("go")
    second = Agent(
        ScriptedModel([turn_of(1), turn_of(1), says("2")]), tools=[counting_tool()[0]], limits=Limits(max_turns=3)
    )

    run = await second.run("again", messages=earlier.messages)

    assert (run.outcome, run.turns, len(run.calls)) == ("completed", 3, 2)


WRONG = [
    ("max_turns", 0, "a whole number from 1"),
    ("max_turns", True, "a whole number from 1"),
    ("max_turns", 1.5, "a whole number from 1"),
    ("max_turns", "3", "a whole number from 1"),
    ("max_tool_calls", -1, "a whole number from 0"),
    ("max_calls_per_turn", -1, "a whole number from 0"),
    ("max_concurrency", 0, "a whole number from 1"),
    ("max_tokens", 0, "a whole number from 1"),
    ("open_timeout", 0, "a number of seconds above 0"),
    ("close_timeout", -1, "a number of seconds above 0"),
    ("close_timeout", float("nan"), "a number of seconds above 0"),
    ("close_timeout", True, "a number of seconds above 0"),
    ("on_limit", "stop", "it is 'raise' or 'answer'"),
]


@pytest.mark.parametrize(("name", "value", "text"), WRONG)
def test_a_limit_that_can_not_be_is_refused(name: str, value: Any, text: str) -> None:
    with pytest.raises(ConfigurationError, match=text) as caught:
        Limits(**{name: value})

    assert name in str(caught.value)


async def test_max_concurrency_bounds_the_calls_at_once_and_keeps_their_order() -> None:
    running, most = 0, 0

    @tool
    async def busy(n: int) -> int:
        """Be busy."""
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(10 - n):
            await asyncio.sleep(0)
        running -= 1
        return n

    model = ScriptedModel([calls(*(call("busy", {"n": n}) for n in range(10))), says("done")])

    run = await Agent(model, tools=[busy, echo], limits=Limits(max_concurrency=2)).run("go")

    assert most == 2
    assert [record.result.value for record in run.calls] == list(range(10))
