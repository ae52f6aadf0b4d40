"""A run that is cancelled at any of its suspensions leaves nothing behind."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.runs.cancel_harness import (
    CANCELLED,
    Log,
    Style,
    Surroundings,
    Way,
    assert_each_call_has_one_result,
    assert_nothing_is_left,
    assert_recording_is_sound,
    cancel_after,
)
from toolkit.injection.scopes import Scope
from toolkit.runs.owner import Owner
from toolkit.tools.threads import in_thread

close = Scope.close


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


@pytest.mark.parametrize(("way", "style"), [("run", "task"), ("stream", "scope")])
async def test_wherever_a_second_cancellation_follows_the_first_nothing_is_left(way: Way, style: Style) -> None:
    turns, pairs, in_time = 0, 0, True

    while in_time:
        turns_between, both_came = 1, True
        while both_came:
            log, in_time = await cancel_after(turns, way, style, 2, turns_between)
            both_came = log.events.count(CANCELLED) == 2
            pairs += both_came
            turns_between += 1
        turns += 1

    assert pairs > 200


async def test_a_handler_in_a_thread_is_at_work_until_it_returns_and_then_its_thread_is_idle() -> None:
    arrived, release = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()
    before = Surroundings.now()

    def work() -> None:
        loop.call_soon_threadsafe(arrived.set)
        release.wait()

    working = in_thread(work)
    await arrived.wait()
    try:
        with pytest.raises(AssertionError, match="a thread is left at work"):
            assert_nothing_is_left(before, Surroundings.now())
    finally:
        release.set()
        await working.future

    assert_nothing_is_left(before, Surroundings.now())


async def test_a_task_that_is_left_is_found() -> None:
    before = Surroundings.now()
    left = asyncio.create_task(asyncio.Event().wait())

    with pytest.raises(AssertionError, match="a task is left"):
        assert_nothing_is_left(before, Surroundings.now())

    left.cancel()
    await asyncio.wait((left,))
    assert_nothing_is_left(before, Surroundings.now())


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="descriptors are listed by /proc")
async def test_a_descriptor_that_is_left_open_is_found() -> None:
    before = Surroundings.now()
    descriptor = os.open(os.devnull, os.O_RDONLY)

    with pytest.raises(AssertionError, match="a descriptor is left open"):
        assert_nothing_is_left(before, Surroundings.now())

    os.close(descriptor)
    assert_nothing_is_left(before, Surroundings.now())


def drop_a_close(log: Log) -> None:
    log.closed.pop()


def close_twice(log: Log) -> None:
    log.closed.append(log.closed[-1])


def close_in_another_task(log: Log) -> None:
    log.closed[-1] = (log.closed[-1][0], None)


def close_in_the_order_of_opening(log: Log) -> None:
    log.closed.sort(key=log.opened.index)


def leave_a_handler_unfinished(log: Log) -> None:
    log.events.remove("second ends")


def begin_a_handler_after_the_cancellation(log: Log) -> None:
    log.cancel()
    log.begin("second")
    log.end("second")


def end_otherwise(log: Log) -> None:
    assert log.run is not None
    log.run.outcome = "failed"


@pytest.mark.parametrize(
    ("break_it", "says"),
    [
        (drop_a_close, "not all closed once"),
        (close_twice, "not all closed once"),
        (close_in_another_task, "not all closed once, in their own task"),
        (close_in_the_order_of_opening, "not closed in reverse order"),
        (leave_a_handler_unfinished, "a handler's finally block was not done"),
        (begin_a_handler_after_the_cancellation, "a handler began after the cancellation"),
        (end_otherwise, "it ended otherwise"),
    ],
)
async def test_the_recording_of_a_sound_run_passes_until_one_guarantee_is_broken(
    break_it: Callable[[Log], None], says: str
) -> None:
    log, _ = await cancel_after(1_000, "run", "task", 0)
    assert_recording_is_sound(log)

    break_it(log)

    with pytest.raises(AssertionError, match=says):
        assert_recording_is_sound(log)


async def test_a_call_with_no_result_with_two_or_with_anothers_is_found() -> None:
    log, _ = await cancel_after(1_000, "run", "task", 0)
    assert log.run is not None
    messages = list(log.run.messages)
    assert_each_call_has_one_result(messages)

    for broken in (
        [*messages[:2], *messages[3:]],
        [*messages[:3], *messages[2:]],
        [*messages[:2], messages[3], messages[2], *messages[4:]],
    ):
        with pytest.raises(AssertionError):
            assert_each_call_has_one_result(broken)


async def closes_nothing_of_the_last_tool(scope: Scope, error: BaseException | None, timeout: float | None) -> Any:
    if scope.level == "run":
        scope.closers.pop()
    return await close(scope, error, timeout)


async def closes_the_last_tool_twice(scope: Scope, error: BaseException | None, timeout: float | None) -> Any:
    if scope.level == "run":
        scope.closers.append(scope.closers[-1])
    return await close(scope, error, timeout)


async def closes_the_tools_in_the_order_of_opening(
    scope: Scope, error: BaseException | None, timeout: float | None
) -> Any:
    if scope.level == "run":
        scope.closers[-2:] = scope.closers[:-3:-1]
    return await close(scope, error, timeout)


async def closes_the_last_tool_in_a_task_of_its_own(
    scope: Scope, error: BaseException | None, timeout: float | None
) -> Any:
    if scope.level == "run":
        closing: Any = scope.closers.pop().close(error)
        await asyncio.create_task(closing)
    return await close(scope, error, timeout)


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (closes_nothing_of_the_last_tool, "not all closed once"),
        (closes_the_last_tool_twice, "not all closed once"),
        (closes_the_tools_in_the_order_of_opening, "not closed in reverse order"),
        (closes_the_last_tool_in_a_task_of_its_own, "not all closed once, in their own task"),
    ],
)
async def test_the_harness_fails_for_a_toolkit_that_closes_wrongly(
    monkeypatch: pytest.MonkeyPatch, broken: Any, says: str
) -> None:
    monkeypatch.setattr(Scope, "close", broken)

    with pytest.raises(AssertionError, match=says):
        await cancel_after(1_000, "run", "task", 0)


async def test_the_harness_fails_for_a_toolkit_that_lets_handlers_begin_after_the_cancellation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Owner, "_request_cancellation", lambda owner: None)
    failed = 0

    for turns in range(30):
        try:
            await cancel_after(turns, "run", "task", 1)
        except AssertionError as error:
            failed += "a handler began after the cancellation" in str(error)

    assert failed
