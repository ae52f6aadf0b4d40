"""Each invariant fails when its promise is broken: by evidence that was spoilt, and by a toolkit that was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from tests.faults import invariants
from tests.faults.acts import SECRET
from tests.faults.invariants import INVARIANTS, assert_sound
from tests.faults.playing import Evidence, MemberEvidence, play
from tests.faults.scenario import (
    Act,
    CallPlan,
    MemberPlan,
    ResourcePlan,
    Scenario,
    ToolPlan,
    TurnPlan,
    scenario_of,
)
from tests.faults.virtual_time import counted_workers
from tests.runs.cancel_harness import CANCELLED, Surroundings
from toolkit import CleanupError, Limits, RunAborted
from toolkit.injection.scopes import Scope
from toolkit.messages import ToolMessage
from toolkit.runs import calls
from toolkit.runs.exclusive import ExclusiveCalls
from toolkit.runs.owner import Owner
from toolkit.runs.state import RunState
from toolkit.tools import handler_calls

WORK = Act("work", 1)
QUIET = ResourcePlan(WORK, WORK)
CALL = CallPlan("leaser", {"text": "a"})


def member(number: int, way: Any, **changes: Any) -> MemberPlan:
    script = (TurnPlan(WORK, (CALL, CallPlan("holder", {"text": "b"}))), TurnPlan(WORK))
    return MemberPlan(f"<member {number}>", way, script, **changes)


def scenario(*members: MemberPlan, close: Act = WORK, handler: Act = WORK) -> Scenario:
    """Two tools that hold everything there is to open, called at once."""
    tools = tuple(
        ToolPlan(kind, kind, True, None, (handler,), None, None, WORK)  # type: ignore[arg-type]
        for kind in ("leaser", "holder")
    )
    resources = (ResourcePlan(WORK, close), QUIET, QUIET, QUIET)
    return Scenario(0, True, tools, (), *resources, Limits(), members or (member(0, "stream"), member(1, "run")))


def played(what: Scenario) -> Evidence:
    with counted_workers() as workers:
        return play(what, workers)


def of(evidence: Evidence) -> MemberEvidence:
    return evidence.members[0]


def run_of(evidence: Evidence) -> Any:
    run = of(evidence).run
    assert run is not None
    return run


def lose_a_record(evidence: Evidence) -> None:
    run_of(evidence).calls.pop()


def repeat_a_result(evidence: Evidence) -> None:
    list.append(run_of(evidence).messages, next(m for m in run_of(evidence).messages if isinstance(m, ToolMessage)))


def never_close(evidence: Evidence) -> None:
    of(evidence).log.closed.pop()


def close_twice(evidence: Evidence) -> None:
    of(evidence).log.closed.append(of(evidence).log.closed[-1])


def close_in_another_task(evidence: Evidence) -> None:
    of(evidence).log.closed[-1] = (of(evidence).log.closed[-1][0], None)


def close_in_the_order_of_opening(evidence: Evidence) -> None:
    moves = of(evidence).log.moves
    moves[-1], moves[-2] = moves[-2], moves[-1]


def leave_a_handler_unfinished(evidence: Evidence) -> None:
    of(evidence).log.events.remove("leaser 0 ends")


def begin_a_handler_after_the_cancellation(evidence: Evidence) -> None:
    of(evidence).log.events[:0] = [CANCELLED]


def interrupt_what_cleans_up(evidence: Evidence) -> None:
    of(evidence).log.notes.append("tidies")


def leave_a_task(evidence: Evidence) -> None:
    task: Any = object()
    evidence.after = Surroundings(evidence.after.tasks | {task}, evidence.after.descriptors, evidence.after.threads)


def leave_a_descriptor(evidence: Evidence) -> None:
    after = evidence.after
    evidence.after = Surroundings(after.tasks, after.descriptors | {"99: /tmp"}, after.threads)


def leave_a_thread(evidence: Evidence) -> None:
    after = evidence.after
    evidence.after = Surroundings(after.tasks, after.descriptors, after.threads + Counter(["toolwire worker"]))


def leave_a_thread_for_ever(evidence: Evidence) -> None:
    after = evidence.at_the_end
    evidence.at_the_end = Surroundings(after.tasks, after.descriptors, after.threads + Counter(["toolwire worker"]))


def see_anothers_connection(evidence: Evidence) -> None:
    of(evidence).log.see("Session", "<member 1>", "<member 0>")


def say_what_another_said(evidence: Evidence) -> None:
    run_of(evidence).state["heard"] = "<member 1> worked"


def come_back_otherwise(evidence: Evidence) -> None:
    continued = of(evidence).continued
    assert continued is not None
    continued.restored.pop()


def need_mending(evidence: Evidence) -> None:
    continued = of(evidence).continued
    assert continued is not None
    continued.warnings.append("a call had no result")


def forget_the_conversation(evidence: Evidence) -> None:
    continued = of(evidence).continued
    assert continued is not None
    continued.transcripts[1] = continued.transcripts[1][1:]


def tell_a_secret(evidence: Evidence) -> None:
    messages = run_of(evidence).messages
    list.__setitem__(messages, -1, replace(messages[-1], text=SECRET))


def end_with_another_outcome(evidence: Evidence) -> None:
    run_of(evidence).outcome = "failed"


def raise_something_else(evidence: Evidence) -> None:
    of(evidence).error = KeyError("surprise")


def raise_with_anothers_run(evidence: Evidence) -> None:
    run_of(evidence).outcome = "failed"
    of(evidence).error = CleanupError("closing failed", run=evidence.members[1].run)


def raise_without_a_cause(evidence: Evidence) -> None:
    run_of(evidence).outcome = "cancelled"
    of(evidence).error = RunAborted("nobody said so", run=run_of(evidence))


def hide_a_failing_close(evidence: Evidence) -> None:
    of(evidence).log.notes.append("close session: fail")


def tell_no_end(evidence: Evidence) -> None:
    of(evidence).events.pop()


def tell_a_call_twice(evidence: Evidence) -> None:
    events = of(evidence).events
    events.insert(-1, next(event for event in events if type(event).__name__ == "ToolCallFinished"))


def overlap_exclusive_calls(evidence: Evidence) -> None:
    of(evidence).log.most_at_once[1] = 2


def run_too_many_at_once(evidence: Evidence) -> None:
    of(evidence).log.most_at_once[0] = 9


def warn_of_nothing(evidence: Evidence) -> None:
    evidence.warnings.append("tool 'leaser' went on for 10 s after it was cancelled, and was ended by force")


def warn_of_something_else(evidence: Evidence) -> None:
    evidence.warnings.append("coroutine 'x' was never awaited")


def complain(evidence: Evidence) -> None:
    evidence.complaints.append("Task exception was never retrieved: ValueError()")


SPOILT: list[tuple[Callable[[Evidence], None], Callable[[Evidence], None]]] = [
    (lose_a_record, invariants.each_call_has_one_result),
    (repeat_a_result, invariants.each_call_has_one_result),
    (never_close, invariants.each_opened_object_is_closed_once_in_its_task),
    (close_twice, invariants.each_opened_object_is_closed_once_in_its_task),
    (close_in_another_task, invariants.each_opened_object_is_closed_once_in_its_task),
    (close_in_the_order_of_opening, invariants.each_task_closes_what_it_opened_last),
    (leave_a_handler_unfinished, invariants.each_handler_ends_and_none_begins_after_the_cancellation),
    (begin_a_handler_after_the_cancellation, invariants.each_handler_ends_and_none_begins_after_the_cancellation),
    (interrupt_what_cleans_up, invariants.what_cleans_up_is_not_interrupted),
    (leave_a_task, invariants.nothing_is_left),
    (leave_a_descriptor, invariants.nothing_is_left),
    (leave_a_thread, invariants.nothing_is_left),
    (leave_a_thread_for_ever, invariants.nothing_is_left),
    (see_anothers_connection, invariants.nothing_of_one_run_is_seen_by_another),
    (say_what_another_said, invariants.nothing_of_one_run_is_seen_by_another),
    (come_back_otherwise, invariants.the_transcript_is_json_and_can_be_continued),
    (need_mending, invariants.the_transcript_is_json_and_can_be_continued),
    (forget_the_conversation, invariants.the_transcript_is_json_and_can_be_continued),
    (tell_a_secret, invariants.no_model_reads_an_exceptions_text),
    (end_with_another_outcome, invariants.the_outcome_and_the_error_agree),
    (raise_something_else, invariants.the_outcome_and_the_error_agree),
    (raise_with_anothers_run, invariants.the_outcome_and_the_error_agree),
    (raise_without_a_cause, invariants.the_error_has_its_cause),
    (hide_a_failing_close, invariants.a_closing_that_failed_is_never_hidden),
    (tell_no_end, invariants.the_events_tell_the_run),
    (tell_a_call_twice, invariants.the_events_tell_the_run),
    (overlap_exclusive_calls, invariants.limits_hold),
    (run_too_many_at_once, invariants.limits_hold),
    (warn_of_nothing, invariants.only_what_resists_is_warned_of),
    (warn_of_something_else, invariants.only_what_resists_is_warned_of),
    (complain, invariants.asyncio_has_nothing_to_complain_of),
]


@pytest.mark.parametrize(("spoil", "check"), SPOILT, ids=[spoil.__name__ for spoil, _ in SPOILT])
def test_the_evidence_of_sound_runs_passes_until_it_is_spoilt(
    spoil: Callable[[Evidence], None], check: Callable[[Evidence], None]
) -> None:
    evidence = played(scenario())
    assert [of(evidence).error, run_of(evidence).outcome] == [None, "completed"]
    assert_sound(evidence)

    spoil(evidence)

    with pytest.raises(AssertionError):
        check(evidence)


def test_every_invariant_is_seen_to_fail() -> None:
    assert {check for _, check in SPOILT} == set(INVARIANTS)


# A toolkit that breaks a promise, and the invariant that finds it


def breaks_no_pairing(patch: pytest.MonkeyPatch) -> None:
    record_all = calls._record_all

    def forget(state: RunState, turn: Any, reason: str) -> None:
        record_all(state, turn, reason)
        state.run.calls.pop()

    patch.setattr(calls, "_record_all", forget)


def closes_nothing_when_it_fails(patch: pytest.MonkeyPatch) -> None:
    close = Scope.close

    async def close_unless_failed(scope: Scope, error: BaseException | None, timeout: float | None) -> Any:
        if error is not None and scope.level == "run":
            scope.closers.clear()
        return await close(scope, error, timeout)

    patch.setattr(Scope, "close", close_unless_failed)


def closes_in_the_order_of_opening(patch: pytest.MonkeyPatch) -> None:
    close = Scope.close

    async def close_in_order(scope: Scope, error: BaseException | None, timeout: float | None) -> Any:
        scope.closers.reverse()
        return await close(scope, error, timeout)

    patch.setattr(Scope, "close", close_in_order)


def hides_failing_closes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Owner, "_with_failures", lambda owner, error, failed: error)


def names_every_outcome_completed(patch: pytest.MonkeyPatch) -> None:
    from toolkit.runs import owner

    patch.setattr(owner, "_outcome_of", lambda error: "completed")


def holds_no_exclusive_lock(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(RunState, "exclusive_calls", lambda state: ExclusiveCalls())


def tells_the_model_everything(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(handler_calls, "failure_result", lambda name, error: handler_calls.error_result(str(error), error))


def reports_no_thread(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(handler_calls, "_ends_in_grace", _always_true)


async def _always_true(call: Any, grace: float) -> bool:
    return True


def ignores_a_cancellation(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Owner, "_request_cancellation", lambda owner: None)


BROKEN: list[tuple[Callable[[pytest.MonkeyPatch], None], Callable[[Evidence], None]]] = [
    (breaks_no_pairing, invariants.each_call_has_one_result),
    (closes_nothing_when_it_fails, invariants.each_opened_object_is_closed_once_in_its_task),
    (closes_in_the_order_of_opening, invariants.each_task_closes_what_it_opened_last),
    (hides_failing_closes, invariants.a_closing_that_failed_is_never_hidden),
    (names_every_outcome_completed, invariants.the_outcome_and_the_error_agree),
    (holds_no_exclusive_lock, invariants.limits_hold),
    (tells_the_model_everything, invariants.no_model_reads_an_exceptions_text),
    (reports_no_thread, invariants.nothing_is_left),
    (ignores_a_cancellation, invariants.each_handler_ends_and_none_begins_after_the_cancellation),
]


@pytest.mark.parametrize(("break_it", "check"), BROKEN, ids=[break_it.__name__ for break_it, _ in BROKEN])
def test_chaos_finds_a_toolkit_that_breaks_a_promise(
    monkeypatch: pytest.MonkeyPatch, break_it: Callable[[pytest.MonkeyPatch], None], check: Callable[[Evidence], None]
) -> None:
    break_it(monkeypatch)

    with counted_workers() as workers:
        assert any(_fails(check, seed, workers) for seed in range(300))


def _fails(check: Callable[[Evidence], None], seed: int, workers: Any) -> bool:
    try:
        check(play(scenario_of(seed), workers))
    except AssertionError:
        return True
    return False
