"""The harness of the comparison does what it says, with this toolkit and the loop by hand. No peer is needed."""

from __future__ import annotations

import pytest

from benchmarks.comparison.adapters import adapter_of
from benchmarks.comparison.report import bars, ratio_text
from benchmarks.comparison.rounds import Samples
from benchmarks.comparison.script import ANSWER, Progress, turns_of
from benchmarks.comparison.worker import Bench, answer_to
from benchmarks.comparison.workloads import WORKLOADS

TIMED = [name for name in WORKLOADS if name.startswith("W")]
REFUSED = ["P_enum", "P_missing", "P_item"]


@pytest.mark.parametrize("name", TIMED)
@pytest.mark.parametrize("adapter", ["toolwire", "floor:jsonschema_rs"])
async def test_a_run_of_a_workload_calls_each_tool_and_asks_the_model_for_every_turn(adapter: str, name: str) -> None:
    measured = adapter_of(adapter)
    turns = WORKLOADS[name]().turns
    try:
        did = await Bench(measured).check(name)
    finally:
        await measured.aclose()

    assert did["model_calls"] == len(turns)
    assert did["tool_runs"] == sum(len(turn.calls) for turn in turns)


@pytest.mark.parametrize("variant", ["hooks", "everything"])
async def test_a_variant_gives_the_model_the_results_of_all_its_calls(variant: str) -> None:
    measured = adapter_of(f"toolwire:{variant}")
    try:
        did = await Bench(measured).check("W2")
    finally:
        await measured.aclose()

    assert did["results"] == 10


@pytest.mark.parametrize("name", REFUSED)
async def test_a_probe_finds_that_what_breaks_the_schema_is_kept_from_the_tool(name: str) -> None:
    measured = adapter_of("toolwire")
    try:
        did = await Bench(measured).check(name)
    finally:
        await measured.aclose()

    assert did["tool_runs"] == 0
    assert did["model_calls"] == 2


async def test_a_batch_is_timed_per_run() -> None:
    measured = adapter_of("floor:none")

    batch = await Bench(measured).timed("W1", 3, 0.1)

    assert batch["runs"] == 3
    assert batch["cpu_us"] > 0


async def test_what_an_adapter_can_not_do_is_told() -> None:
    measured = adapter_of("floor_full")

    answer = await answer_to(Bench(measured), {"workload": "W10_clients"})

    assert answer == {"error": "LookupError: the adapter has no run_scope"}


def test_a_run_that_leaves_out_work_is_no_run() -> None:
    progress = Progress(turns_of([1]))
    progress.position = 2

    assert progress.fault(ANSWER) == "0 tool runs, not 1"


def test_a_ratio_is_made_of_two_times_of_one_round_and_stands_with_its_spread() -> None:
    samples = Samples({("W1", "toolwire"): _rounds(20.0, 60.0), ("W1", "floor:jsonschema_rs"): _rounds(2.0, 5.0, 1.0)})

    ratios = samples.ratios(("W1", "toolwire"), ("W1", "floor:jsonschema_rs"))

    assert ratio_text(ratios) == "11.0x (10.0 to 12.0)"


def test_a_bar_that_is_missed_says_so() -> None:
    samples = Samples({("W1", "toolwire"): _rounds(11.0), ("W1", "floor:jsonschema_rs"): _rounds(1.0)})

    assert "| W1 against the floor | 10 | 11 (11 to 11) | **missed** |" in bars(samples)


def _rounds(*times: float) -> dict[int, dict[str, float]]:
    return {number: {"cpu_us": time} for number, time in enumerate(times)}
