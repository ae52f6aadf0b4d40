"""Conversations and back ends that nobody here wrote: the loop comes to what direct calls come to.

Each of the user's turns is a run. Its database is opened for it from what the conversation's earlier runs left, given
to the tools by injection, and kept when the run is over. A scripted model makes the calls that the package has as
answers.
"""

from __future__ import annotations

import ast
import asyncio
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import jsonschema
import pytest

from tests.workload.scenarios import (
    VARIANTS,
    Call,
    Function,
    Scenario,
    Turn,
    executed_directly,
    scenarios,
    with_a_spoilt_call_before_each,
    with_the_calls_of_another,
)
from tests.workload.wiring import (
    Application,
    Databases,
    arguments_of,
    contents,
    documented_schema,
    documented_tools,
    method_tools,
    shown_functions,
    signature_schema,
)
from toolkit import CallRecord, ModelError, Run
from toolkit.injection import application
from toolkit.messages import Message, ToolCall
from toolkit.models import ModelRequest, ModelResponse
from toolkit.testing import ScriptedModel, call, calls, says

AT_ONCE = 50
RAISED = "Error during execution: "
"""What the package's executor writes before the text of an exception."""


@dataclass(frozen=True)
class Way:
    """How the calls of a conversation reach the loop.

    Attributes:
        tools: Those of a turn.
        schema_of: The schema that they show of a function.
        are_asked_together: All calls of a turn stand in one reply of the model, else there is one in each.
        breaks_first: Each turn's run is first broken off by a model that fails after the calls, then begun anew.
    """

    tools: Callable[[Scenario, Turn], list[Any]] = documented_tools
    schema_of: Callable[[Function], dict[str, Any]] = documented_schema
    are_asked_together: bool = False
    breaks_first: bool = False


class MeetingModel(ScriptedModel):
    """Waits for its first reply until all conversations of a batch are in a run."""

    def __init__(self, turns: Sequence[Any], meeting: asyncio.Barrier | None) -> None:
        super().__init__(turns)
        self._meeting = meeting

    async def respond(self, request: ModelRequest) -> ModelResponse:
        if self._meeting is not None:
            await self._meeting.wait()
            self._meeting = None
        return await super().respond(request)


@dataclass(frozen=True)
class Conversations:
    """Many conversations with one application, 50 at a time."""

    app: Any
    way: Way
    counts: Counter[str]

    @property
    def databases(self) -> Databases:
        kept: Databases = self.app.container.databases()
        return kept

    async def hold(self, held: Sequence[Scenario]) -> None:
        for start in range(0, len(held), AT_ONCE):
            batch = held[start : start + AT_ONCE]
            # Before any run: what the package keeps in its modules must not be changed by another thread meanwhile.
            expected = [list(self._expected(scenario)) for scenario in batch]
            meeting = asyncio.Barrier(len(batch))
            async with asyncio.TaskGroup() as group:
                for scenario, turns in zip(batch, expected, strict=True):
                    group.create_task(self._converse(scenario, turns, meeting))

    def _expected(self, scenario: Scenario) -> Iterator[tuple[list[str | None], Any]]:
        def is_to_run(turn: Turn, one: Call) -> bool:
            return refusal_of(one, scenario, turn, self.way) is None

        for texts, instances in executed_directly(scenario, is_to_run):
            yield texts, contents(instances)

    async def _converse(
        self, scenario: Scenario, expected: list[tuple[list[str | None], Any]], first: asyncio.Barrier
    ) -> None:
        meeting: asyncio.Barrier | None = first
        messages: tuple[Message, ...] | list[Message] = ()
        for place, (turn, (texts, after)) in enumerate(zip(scenario.turns, expected, strict=True)):
            asked = [call(one.name, arguments_of(one)) for one in turn.calls]
            if self.way.breaks_first:
                await self._break_off(scenario, turn, asked, messages)
            model = MeetingModel([*self._replies(asked), says("Done.")], meeting)
            meeting = None

            run = await self._run(scenario, turn, model, messages)

            assert run.outcome == "completed"
            model.assert_exhausted()
            assert {function.name for function in shown_functions(scenario, turn)} == {
                shown.name for shown in model.requests[0].tools
            }
            self._check_transcript(run, model, asked, messages)
            for one, record, text in zip(turn.calls, run.calls, texts, strict=True):
                self._check_result(one, record, text, refusal_of(one, scenario, turn, self.way))
            assert contents(self.databases.instances(scenario.id, scenario)) == after, f"{scenario.id}, turn {place}"
            self.counts["turns"] += 1
            messages = run.messages
        self.counts["conversations"] += 1

    def _replies(self, asked: list[ToolCall]) -> Iterator[ModelResponse]:
        if not asked:
            return
        if self.way.are_asked_together:
            yield calls(*asked)
        else:
            yield from (calls(one) for one in asked)

    async def _run(self, scenario: Scenario, turn: Turn, model: ScriptedModel, messages: Sequence[Message]) -> Run[str]:
        run: Run[str] = await self.app.agent().run(
            turn.prompt,
            model=model,
            tools=self.way.tools(scenario, turn),
            messages=messages,
            session_id=scenario.id,
            values={Scenario: scenario},
        )
        return run

    async def _break_off(
        self, scenario: Scenario, turn: Turn, asked: list[ToolCall], messages: Sequence[Message]
    ) -> None:
        before = contents(self.databases.instances(scenario.id, scenario))
        model = ScriptedModel([*self._replies(asked), ConnectionError("no route")])

        with pytest.raises(ModelError) as caught:
            await self._run(scenario, turn, model, messages)

        assert caught.value.run is not None
        assert len(caught.value.run.calls) == len(asked)
        assert contents(self.databases.instances(scenario.id, scenario)) == before, f"{scenario.id} has not rolled back"
        self.counts["runs rolled back"] += 1

    def _check_transcript(
        self, run: Run[str], model: ScriptedModel, asked: list[ToolCall], earlier: Sequence[Message]
    ) -> None:
        assert [(record.name, record.arguments) for record in run.calls] == [(one.name, one.arguments) for one in asked]
        assert list(run.messages[: len(earlier)]) == list(earlier)
        assert len(run.new_messages) == 1 + len(model.requests) + len(asked)
        assert list(model.requests[-1].messages) == list(run.messages[:-1])

    def _check_result(self, one: Call, record: CallRecord, text: str | None, refusal: str | None) -> None:
        where = f"{one.source}: {text!r:.300}, and by the loop {record.result.content!r:.300} ({record.error!r})"
        self.counts["calls"] += 1
        if refusal is not None or text is None:
            assert record.result.is_error, where
            assert record.result.content.startswith(REFUSALS[refusal or ""]), where
            self.counts[f"{refusal}, refused"] += 1
        elif text.startswith(RAISED):
            assert record.result.is_error, where
            assert str(record.error) == text.removeprefix(RAISED), where
            assert record.result.content == f"tool {one.name!r} failed: {type(record.error).__name__}", where
            self.counts["raised an exception"] += 1
        elif (kind := next((NO_JSON[found] for found in NO_JSON if found in text), None)) is not None:
            assert record.result.is_error, where
            assert record.result.content.endswith(f"returned a value that can't be written as JSON: {kind}"), where
            self.counts["gave what JSON can't hold"] += 1
        else:
            assert not record.result.is_error, where
            assert are_the_same(record.result.content, text), where
            self.counts["answered with an error" if text.startswith('{"error"') else "answered"] += 1


NO_JSON = {"Ellipsis": "ellipsis", "mpc(": "mpc"}
"""What the package gives as `str()` because it is no JSON, and its class: the loop gives an error that names it."""

UNKNOWN = "named what is not shown"
INVALID = "broke the schema"
REFUSALS = {UNKNOWN: "unknown tool", INVALID: "$."}
"""Why a call is not to run, and how what the model reads of it begins."""


def refusal_of(one: Call, scenario: Scenario, turn: Turn, way: Way) -> str | None:
    """Why a call is not to run; some of the package's answers break its own schemas. A stock validator decides."""
    function = next((shown for shown in shown_functions(scenario, turn) if shown.name == one.name), None)
    if function is None:
        return UNKNOWN
    if not jsonschema.Draft202012Validator(way.schema_of(function)).is_valid(arguments_of(one)):
        return INVALID
    return None


def value_of(text: str) -> Any:
    """The value that was made a text: by the loop JSON and nothing for None, by the package also `str()`."""
    if text in ("", "None"):
        return None
    try:
        return json.loads(text)
    except ValueError:
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError):
            return text


_OF_SET_PRECISION = re.compile(r"^\{'result': mpf\('(.+)'\)\}$")


def are_the_same(content: str, text: str) -> bool:
    """Whether the loop's text and the package's tell the same value."""
    if (found := _OF_SET_PRECISION.match(text)) is not None:  # the package tells no more digits than it was asked for
        digits = found[1]
        return math.isclose(value_of(content)["result"], float(digits), rel_tol=10.0 ** (2 - len(digits)))
    return bool(value_of(content) == value_of(text))


WAYS = [
    pytest.param(Way(), id="one call in a reply"),
    pytest.param(Way(are_asked_together=True), id="all calls of a turn in a reply"),
    pytest.param(Way(method_tools, signature_schema, are_asked_together=True), id="methods bound to the database"),
    pytest.param(Way(breaks_first=True), id="each run broken off and begun anew"),
]


async def hold(held: Sequence[Scenario], way: Way, counts: Counter[str]) -> None:
    async with application(Application()) as app:
        conversations = Conversations(app, way, counts)
        await conversations.hold(held)

        assert conversations.databases.are_all_given_back
    assert counts["conversations"] == len(held) > 0
    assert counts["turns"] == sum(len(scenario.turns) for scenario in held)
    assert counts["calls"] == sum(len(turn.calls) for scenario in held for turn in scenario.turns)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("variant", VARIANTS)
async def test_the_loop_comes_to_what_direct_calls_come_to(variant: str, way: Way, counts: Counter[str]) -> None:
    await hold(scenarios(variant), way, counts)

    if way.breaks_first:
        assert counts["runs rolled back"] == counts["turns"]
    if variant == "miss_func":
        assert counts[f"{UNKNOWN}, refused"] > 0


@pytest.mark.parametrize("variant", VARIANTS)
async def test_calls_that_fail_come_to_the_same_error(variant: str, counts: Counter[str]) -> None:
    held = tuple(with_a_spoilt_call_before_each(scenario) for scenario in scenarios(variant))

    await hold(held, Way(are_asked_together=True), counts)

    assert counts["raised an exception"] > 0
    assert counts["answered with an error"] > 0


@pytest.mark.parametrize("variant", VARIANTS)
async def test_calls_meant_for_another_database_come_to_the_same(variant: str, counts: Counter[str]) -> None:
    await hold(tuple(with_the_calls_of_another(scenarios(variant))), Way(), counts)

    assert counts["answered with an error"] > 0
