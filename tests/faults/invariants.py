"""What holds of every run, however it went: one function a promise; it raises `AssertionError` where that is broken.

Each takes evidence, so that a test can hand it broken evidence.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

from tests.faults.acts import SECRET, names_in
from tests.faults.playing import Evidence, MemberEvidence
from tests.runs.cancel_harness import (
    Surroundings,
    assert_each_handler_ended,
    assert_each_is_closed_once_in_its_task,
    assert_no_handler_began_after_the_cancellation,
    assert_nothing_is_left,
)
from tests.runs.parts import assert_consistent
from toolkit import (
    CleanupError,
    ConfigurationError,
    DeadlineExceeded,
    HookError,
    LimitExceeded,
    ModelError,
    OutputError,
    RunAborted,
    RunError,
)
from toolkit.events import RunFinished, RunStarted, ToolCallFinished, ToolCallStarted
from toolkit.messages import messages_to_json

__all__ = ["INVARIANTS", "assert_sound"]


def assert_sound(evidence: Evidence) -> None:
    """Every invariant, of every run of a scenario."""
    for check in INVARIANTS:
        check(evidence)


def each_call_has_one_result(evidence: Evidence) -> None:
    """One record and one message for each call that the model asked for, in its order."""
    for member in evidence.members:
        for run in (member.run, *member.log.inner):
            if run is not None:
                assert_consistent(run)
                assert run.messages.is_sealed, "the transcript of a run that is over can still change"


def each_opened_object_is_closed_once_in_its_task(evidence: Evidence) -> None:
    for member in evidence.members:
        assert_each_is_closed_once_in_its_task(member.log)


def each_task_closes_what_it_opened_last(evidence: Evidence) -> None:
    for member in evidence.members:
        open_: dict[asyncio.Task[Any] | None, list[str]] = {}
        for move, name, task in member.log.moves:
            if move == "open":
                open_.setdefault(task, []).append(name)
            else:
                last = open_.get(task, [""]).pop()
                assert last == name, f"{name} was closed before {last}, which was opened later"


def each_handler_ends_and_none_begins_after_the_cancellation(evidence: Evidence) -> None:
    for member in evidence.members:
        assert_each_handler_ended(member.log.events)
        if member.plan.style in ("task", "both"):  # anyio brings a cancellation a few turns of the loop later
            own = [
                event for event in member.log.events if not event.startswith("nested")
            ]  # a run inside learns it later
            assert_no_handler_began_after_the_cancellation(own)


def what_cleans_up_is_not_interrupted(evidence: Evidence) -> None:
    """What is cancelled has time for its `finally` blocks. (anyio repeats the cancellations of its own scopes.)"""
    for member in evidence.members:
        notes = member.log.notes
        if not _noted(member, "^background: fail$|: cancel_itself$"):
            assert notes.count("tidies") == notes.count("tidied"), "a finally block was interrupted"


def nothing_is_left(evidence: Evidence) -> None:
    """No task, no descriptor; and no thread but those of handlers that hang, which come back at the end."""
    before, after = evidence.before, evidence.after
    assert_nothing_is_left(before, Surroundings(after.tasks, after.descriptors, before.threads))
    assert_nothing_is_left(
        Surroundings(evidence.at_the_end.tasks, before.descriptors, before.threads), evidence.at_the_end
    )
    stuck = sum((after.threads - before.threads).values())
    reported = len(_reported_threads(evidence))
    assert stuck <= reported, f"{stuck} threads are at work, and {reported} were reported"


def _reported_threads(evidence: Evidence) -> list[str]:
    warned = [text for text in evidence.warnings if "still runs in its thread" in text]
    told = [
        record.result.content
        for member in evidence.members
        for run in (member.run, *member.log.inner)
        if run is not None
        for record in run.calls
        if record.error is not None and "the work may still be going on" in f"{record.result.content}"
    ]
    late = [text for member in evidence.members for text in _late_threads(member)]
    return warned + (told if len(told) > len(late) else late)


def _late_threads(member: MemberEvidence) -> list[str]:
    """Calls whose record an after-hook has replaced: their error is kept."""
    if member.run is None:
        return []
    return [str(record.error) for record in member.run.calls if isinstance(record.error, TimeoutError)]


def nothing_of_one_run_is_seen_by_another(evidence: Evidence) -> None:
    for member in evidence.members:
        for what, belongs_to, seen_by in member.log.sightings:
            assert belongs_to == seen_by, f"{what} of {belongs_to} was seen by {seen_by}"
        if member.run is not None:
            seen = names_in(member.run.messages) + names_in(member.run.state) + names_in(member.run.response)
            assert set(seen) <= {member.plan.name}, f"{member.plan.name} holds something of another run"


def the_transcript_is_json_and_can_be_continued(evidence: Evidence) -> None:
    for member in evidence.members:
        if member.run is None:
            continue
        continued = member.continued
        assert continued is not None, "it could not be continued"
        messages = list(member.run.messages)
        assert continued.restored == messages, "it came back from JSON otherwise"
        assert not continued.warnings, f"its transcript had to be mended: {continued.warnings}"
        for transcript in continued.transcripts:
            assert transcript[: len(messages)] == messages, "the next run began with something else"
            assert len(transcript) == len(messages) + 2, "the next run did not go on"


def no_model_reads_an_exceptions_text(evidence: Evidence) -> None:
    for member in evidence.members:
        if member.run is not None:
            assert SECRET not in messages_to_json(member.run.messages), "an exception's text is in the transcript"


OUTCOMES: dict[type[BaseException] | None, tuple[str, ...]] = {
    None: ("completed", "partial"),
    LimitExceeded: ("partial",),
    DeadlineExceeded: ("partial",),
    asyncio.CancelledError: ("cancelled",),
    RunAborted: ("cancelled",),
    ModelError: ("failed",),
    HookError: ("failed",),
    OutputError: ("failed",),
    CleanupError: ("failed",),
    ConfigurationError: ("failed",),
    RunError: ("failed",),
}
"""The table of docs/runs.md, how a run ends."""


def the_outcome_and_the_error_agree(evidence: Evidence) -> None:
    for member in evidence.members:
        run, error = member.run, member.error
        kind = None if error is None else type(error)
        assert kind in OUTCOMES, f"it raised {error!r}"
        if run is None:
            assert kind is asyncio.CancelledError, f"it raised {error!r}, and has no run"
            continue
        if member.left_early or (kind is asyncio.CancelledError and member.was_cancelled):
            # Its caller has gone. What the run itself came to may have been settled just before, or while it closed.
            assert run.outcome != "running", "it is over, and its outcome is 'running'"
            continue
        assert run.outcome in OUTCOMES[kind], f"it raised {error!r}, and its outcome is '{run.outcome}'"
        if kind is not None and kind is not asyncio.CancelledError:
            assert getattr(error, "run", None) is run, "its error carries no run, or another"
        assert (kind is None and run.outcome == "partial") <= (evidence.scenario.limits.on_limit == "answer")


def the_error_has_its_cause(evidence: Evidence) -> None:
    """Each way to end has happened for a reason that the run's own notes tell; none is made up."""
    for member in evidence.members:
        kind = None if member.error is None else type(member.error)
        cause = None if member.left_early else _CAUSES.get(kind)
        assert cause is None or cause(evidence, member), f"nothing that happened explains {member.error!r}"


def _noted(member: MemberEvidence, pattern: str) -> bool:
    return any(re.search(pattern, note) for note in member.log.notes)


_HARMLESS = "(?:work|group|spawn|any_group|move_on|failing_group|allow|replace)$"

_CAUSES: dict[type[BaseException] | None, Callable[[Evidence, MemberEvidence], bool]] = {
    None: lambda evidence, member: not _noted(member, r"^(model hook|after) .*: (fail|own_cancel)$|: abort$"),
    LimitExceeded: lambda evidence, member: evidence.scenario.limits.on_limit == "raise",
    DeadlineExceeded: lambda evidence, member: member.seconds >= (member.plan.timeout or float("inf")),
    asyncio.CancelledError: lambda evidence, member: (
        member.was_cancelled or _noted(member, r"cancel_itself|background: (fail)")
    ),
    RunAborted: lambda evidence, member: _noted(member, ": abort$"),
    ModelError: lambda evidence, member: _noted(member, rf"^model: (?!{_HARMLESS})"),
    HookError: lambda evidence, member: _noted(member, rf"^(model hook|after) .*: (?!{_HARMLESS})"),
    CleanupError: lambda evidence, member: _noted(member, rf"^close .*: (?!{_HARMLESS})|^background: "),
    RunError: lambda evidence, member: _noted(member, "^background: fail|: cancel_itself$"),
    ConfigurationError: lambda evidence, member: False,
    OutputError: lambda evidence, member: False,
}


def a_closing_that_failed_is_never_hidden(evidence: Evidence) -> None:
    for member in evidence.members:
        if member.error is None and not member.left_early:
            failed = [note for note in member.log.notes if re.search("^close .*: (fail|own_cancel|hang)$", note)]
            assert len(failed) <= _told_with_calls(member), "a close failed, and nobody was told"


def _told_with_calls(member: MemberEvidence) -> int:
    """What failed in closing for calls that had failed already: a note on the call's error, and the run goes on."""
    errors = [] if member.run is None else [record.error for record in member.run.calls]
    return sum(note.startswith("also, ") for error in errors for note in getattr(error, "__notes__", ()))


def the_events_tell_the_run(evidence: Evidence) -> None:
    for member in evidence.members:
        events, run = member.events, member.run
        if not events or member.left_early or member.was_cancelled or run is None:
            continue
        assert isinstance(events[0], RunStarted), "the first event is no RunStarted"
        assert isinstance(events[-1], RunFinished), "the last event is no RunFinished"
        assert {event.run_id for event in events} == {run.id}, "an event of another run"
        started = [event.call.id for event in events if isinstance(event, ToolCallStarted)]
        finished = [event.record for event in events if isinstance(event, ToolCallFinished)]
        assert started == [record.id for record in run.calls], "not one start for each call"
        assert sorted(record.id for record in finished) == sorted(started), "not one end for each call"
        assert all(record in run.calls for record in finished), "an end tells another result"


def limits_hold(evidence: Evidence) -> None:
    limits = evidence.scenario.limits
    for member in evidence.members:
        most, exclusive = member.log.most_at_once
        assert exclusive <= 1, "two exclusive calls overlapped"
        assert most <= (limits.max_concurrency or most), f"{most} calls ran at once"
        if member.run is not None:
            assert member.run.turns <= (limits.max_turns or 1_000) + 1, "it asked the model too often"


def only_what_resists_is_warned_of(evidence: Evidence) -> None:
    for text in evidence.warnings:
        assert re.search(r"was ended by force$|after it was cancelled$", text), f"a warning: {text}"
    resisting = any(_noted(member, "swallowed|thread .*: hang") for member in evidence.members)
    assert resisting or not evidence.warnings, f"nothing resisted: {evidence.warnings}"


def asyncio_has_nothing_to_complain_of(evidence: Evidence) -> None:
    assert not evidence.complaints, f"asyncio complained: {evidence.complaints}"


INVARIANTS: tuple[Callable[[Evidence], None], ...] = (
    each_call_has_one_result,
    each_opened_object_is_closed_once_in_its_task,
    each_task_closes_what_it_opened_last,
    each_handler_ends_and_none_begins_after_the_cancellation,
    what_cleans_up_is_not_interrupted,
    nothing_is_left,
    nothing_of_one_run_is_seen_by_another,
    the_transcript_is_json_and_can_be_continued,
    no_model_reads_an_exceptions_text,
    the_outcome_and_the_error_agree,
    the_error_has_its_cause,
    a_closing_that_failed_is_never_hidden,
    the_events_tell_the_run,
    limits_hold,
    only_what_resists_is_warned_of,
    asyncio_has_nothing_to_complain_of,
)
