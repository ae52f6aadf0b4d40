"""A run that is cancelled at any of its suspensions leaves nothing behind."""

from __future__ import annotations

import pytest

from tests.runs.cancel_harness import Style, Way, cancel_after


@pytest.mark.parametrize("times", [1, 2, 3], ids=["once", "twice", "three times"])
@pytest.mark.parametrize("style", ["task", "scope", "group", "both"])
@pytest.mark.parametrize("way", ["run", "stream"])
async def test_whenever_a_run_is_cancelled_all_is_closed_once_in_its_task_and_the_transcript_pairs(
    way: Way, style: Style, times: int
) -> None:
    turns, outcomes, most_opened = 0, set[str](), 0

    while True:
        log, in_time = await cancel_after(turns, way, style, times)
        outcomes.add("none" if log.run is None else log.run.outcome)
        most_opened = max(most_opened, len(log.opened))
        if not in_time:
            break
        turns += 1

    assert turns > 40, "the scenario has to have many suspensions"
    assert outcomes >= {"cancelled", "completed"}
    assert most_opened == 6
