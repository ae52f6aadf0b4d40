"""Answers that are none, or only a part of one: they are taken as they are, and that is told."""

from __future__ import annotations

from typing import Any

import pytest

from tests.runs.parts import add, read
from toolkit import Agent, OutputError
from toolkit.events import WarningRaised
from toolkit.models import ModelResponse
from toolkit.testing import ScriptedModel


@pytest.mark.parametrize(
    ("stop_reason", "told"),
    [("length", ["cut off"]), ("refusal", ["refused to answer"]), ("stop", []), ("other", [])],
)
async def test_an_answer_that_is_cut_off_or_a_refusal_is_told_by_a_warning(stop_reason: Any, told: list[str]) -> None:
    seen: list[object] = []
    agent = Agent(ScriptedModel([ModelResponse("Once upon a", stop_reason=stop_reason)]), [add])

    run = await read(agent.stream("A story, please."), seen)

    warnings = [event.text for event in seen if isinstance(event, WarningRaised)]
    assert (run.outcome, run.response) == ("completed", "Once upon a")
    assert len(warnings) == len(told)
    assert all(part in warning for part, warning in zip(told, warnings, strict=True))


async def test_a_typed_answer_that_is_cut_off_is_never_taken_for_a_whole_one() -> None:
    cut_off = ModelResponse('{"a": [1, 2', stop_reason="length")

    with pytest.raises(OutputError):
        await Agent(ScriptedModel([cut_off, cut_off]), output_type=dict[str, list[int]]).run("Numbers, please.")
