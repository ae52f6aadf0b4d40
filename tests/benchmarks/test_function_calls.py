"""Bars on function calls: they hold whatever else the machine does."""

from __future__ import annotations

import pytest

from benchmarks.counting import profile_of


def test_a_run_with_one_call_of_a_container_built_tool_takes_at_most_185_function_calls() -> None:
    calls, _ = profile_of("W1")

    assert calls <= 185


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("W1 app-wide", 190),
        ("W1 selected", 220),
        ("W1 configured", 525),
        ("W1 everything", 365),
        ("W2", 1_460),
        ("W3_20", 1_420),
    ],
)
def test_a_run_takes_at_most_so_many_function_calls(name: str, most: int) -> None:
    calls, _ = profile_of(name, runs=10)

    assert calls <= most


def test_a_turn_costs_the_same_late_in_a_run_as_early() -> None:
    early, _ = profile_of("W3_20", runs=5)
    late, _ = profile_of("W3_200", runs=2)

    assert late / 200 <= early / 20
