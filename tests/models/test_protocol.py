"""Requests, responses and settings of models."""

from __future__ import annotations

from typing import Any

import pytest

from toolkit.messages import ToolCall, Usage
from toolkit.models import Model, ModelResponse, ModelSettings
from toolkit.testing import ScriptedModel

NONE = ModelSettings()


@pytest.mark.parametrize(
    ("own", "earlier", "expected"),
    [
        pytest.param(ModelSettings(temperature=0.0), None, ModelSettings(temperature=0.0), id="over nothing"),
        pytest.param(
            ModelSettings(temperature=0.0, max_tokens=0, seed=0),
            ModelSettings(temperature=0.7, max_tokens=9, seed=9, top_p=0.5),
            ModelSettings(temperature=0.0, max_tokens=0, seed=0, top_p=0.5),
            id="zero is kept",
        ),
        pytest.param(
            ModelSettings(parallel_tool_calls=False),
            ModelSettings(parallel_tool_calls=True),
            ModelSettings(parallel_tool_calls=False),
            id="false is kept",
        ),
        pytest.param(
            ModelSettings(stop=[], extra={}),
            ModelSettings(stop=["x"], extra={"a": 1}),
            ModelSettings(stop=[], extra={"a": 1}),
            id="an empty list is kept",
        ),
        pytest.param(
            ModelSettings(extra={"b": 2, "c": 2}),
            ModelSettings(extra={"a": 1, "b": 1}),
            ModelSettings(extra={"a": 1, "b": 2, "c": 2}),
            id="extra is merged",
        ),
        pytest.param(NONE, ModelSettings(seed=1), ModelSettings(seed=1), id="nothing over something"),
    ],
)
def test_settings_stand_on_top_of_earlier_ones(
    own: ModelSettings, earlier: ModelSettings | None, expected: ModelSettings
) -> None:
    assert own.over(earlier) == expected


def test_merging_changes_neither_of_the_two() -> None:
    own, earlier = ModelSettings(extra={"b": 2}), ModelSettings(extra={"a": 1})

    own.over(earlier)

    assert (own.extra, earlier.extra) == ({"b": 2}, {"a": 1})


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"text": "hello"}, "stop"),
        ({"tool_calls": (ToolCall("c", "add", "{}"),)}, "tool_calls"),
        ({"text": "hel", "stop_reason": "length"}, "length"),
        ({"tool_calls": (ToolCall("c", "add", "{}"),), "stop_reason": "refusal"}, "refusal"),
    ],
)
def test_a_stop_reason_that_is_left_out_follows_from_the_calls(arguments: dict[str, Any], reason: str) -> None:
    assert ModelResponse(**arguments).stop_reason == reason


def test_usage_adds() -> None:
    assert Usage(1, 2, 3, 4) + Usage(10, 20, 30, 40) == Usage(11, 22, 33, 44)
    assert sum([Usage(1, 2), Usage(3, 4)], Usage()).total_tokens == 10


def test_a_model_is_what_can_respond() -> None:
    assert isinstance(ScriptedModel([]), Model)
    assert not isinstance(object(), Model)
