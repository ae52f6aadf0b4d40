"""Thousands of runs in which everything goes wrong that may, each made from a seed, each held to every invariant.

`CHAOS_FIRST` and `CHAOS_SCENARIOS` choose the seeds: `make chaos` plays 50,000 scenarios, which are 100,000 runs.
"""

from __future__ import annotations

import gc
import os
from collections import Counter

import pytest

from tests.faults.invariants import assert_sound, asyncio_has_nothing_to_complain_of
from tests.faults.playing import Evidence, play
from tests.faults.scenario import scenario_of
from tests.faults.virtual_time import counted_workers

USUAL = 1_050
FIRST = int(os.environ.get("CHAOS_FIRST", "0"))
SCENARIOS = int(os.environ.get("CHAOS_SCENARIOS", str(USUAL)))


def test_whatever_goes_wrong_in_a_run_every_promise_of_it_holds() -> None:
    ends: Counter[str] = Counter()
    outcomes: Counter[str] = Counter()
    not_collected: list[Evidence] = []

    with counted_workers() as workers:
        for seed in range(FIRST, FIRST + SCENARIOS):
            scenario = scenario_of(seed)
            try:
                evidence = play(scenario, workers)
                assert_sound(evidence)
            except Exception as error:
                pytest.fail(_told(seed, error), pytrace=False)
            for member in evidence.members:
                ends["an answer" if member.error is None else type(member.error).__name__] += 1
                outcomes["none" if member.run is None else member.run.outcome] += 1
            not_collected.append(evidence)
            if len(not_collected) == 100 or seed == FIRST + SCENARIOS - 1:
                gc.collect()
                for evidence in not_collected:
                    asyncio_has_nothing_to_complain_of(evidence)
                not_collected.clear()

    print(f"{sum(ends.values())} runs: {dict(ends.most_common())}, {dict(outcomes.most_common())}")
    if SCENARIOS >= USUAL:
        assert sum(ends.values()) >= 2 * SCENARIOS - SCENARIOS // 20
        assert set(ends) >= {
            "an answer",
            "CancelledError",
            "LimitExceeded",
            "DeadlineExceeded",
            "ModelError",
            "HookError",
            "CleanupError",
            "RunAborted",
            "RunError",
        }
        assert set(outcomes) >= {"completed", "partial", "cancelled", "failed"}


def _told(seed: int, error: Exception) -> str:
    return (
        f"{type(error).__name__}: {error}\n"
        f"Repeat it: CHAOS_FIRST={seed} CHAOS_SCENARIOS=1 python -m pytest tests/faults/test_chaos.py\n"
        f"{scenario_of(seed)}"
    )


def test_a_seed_makes_the_same_scenario_each_time_and_another_seed_another() -> None:
    assert repr(scenario_of(7)) == repr(scenario_of(7))
    assert len({repr(scenario_of(seed)) for seed in range(100)}) == 100
