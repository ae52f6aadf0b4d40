"""Bars on memory, counted by the allocator: they hold whatever else the machine does."""

from __future__ import annotations

import pytest

from benchmarks.counting import WORKLOADS
from benchmarks.memory import bytes_per_run, garbage_of


def test_each_of_a_thousand_runs_at_once_needs_at_most_12_kilobytes() -> None:
    assert bytes_per_run(1_000) <= 12_000


@pytest.mark.parametrize("name", [name for name in WORKLOADS if name != "W3_200"])
def test_a_run_leaves_nothing_for_the_garbage_collector(name: str) -> None:
    assert garbage_of(name) == 0
