"""The bar on the scope of a run, in function calls: it holds whatever else the machine does."""

from __future__ import annotations

from benchmarks.run_scope import by_hand, function_calls, through_the_resolver


def test_the_scope_of_a_run_with_five_tools_and_a_connection_takes_at_most_140_function_calls() -> None:
    calls = function_calls(through_the_resolver())

    assert calls <= 140


def test_what_it_is_measured_against_takes_function_calls_too_and_fewer() -> None:
    assert 5 < function_calls(by_hand()) < function_calls(through_the_resolver())
