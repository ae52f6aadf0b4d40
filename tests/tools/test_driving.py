"""Taking the first step of work by hand, and going on with what is left of it."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from typing import Any

import pytest

from toolkit.tools.cancellation import Cancellation
from toolkit.tools.driving import begin, drive


class Answer:
    """What some work gives."""


async def gives(value: Any) -> Any:
    return value


async def fails() -> None:
    raise LookupError("not there")


def test_work_that_waits_for_nothing_is_over_with_its_first_step() -> None:
    assert begin(gives(5)) == (None, 5)
    assert begin(gives(None)) == (None, None)
    assert begin(7) == (None, 7)
    assert begin(None) == (None, None)


def test_work_that_fails_raises_in_its_first_step_and_the_next_work_is_begun_as_ever() -> None:
    for number in range(3):
        with pytest.raises(LookupError, match="not there"):
            begin(fails())
        assert begin(gives(number)) == (None, number)


async def test_work_that_waits_goes_on_where_it_was() -> None:
    async def works(name: str) -> str:
        said.append(name)
        await asyncio.sleep(0)
        said.append(f"{name} again")
        return name

    said: list[str] = []
    cancellation = Cancellation(1.0, print)
    cancellation.task = asyncio.current_task()  # type: ignore[assignment]
    under_way = [begin(works(name)) for name in ("first", "second")]
    given = [await drive(steps, waiting, cancellation, "it") for steps, waiting in under_way if steps is not None]

    assert given == ["first", "second"]
    assert said == ["first", "second", "first again", "second again"]


def test_work_may_begin_other_work_in_its_first_step() -> None:
    async def outer(depth: int) -> Any:
        return begin(outer(depth - 1)) if depth else "innermost"

    assert begin(outer(2)) == (None, (None, (None, "innermost")))


def test_work_may_begin_in_several_threads_at_once() -> None:
    wrong: list[Any] = []

    def begins(name: str) -> None:
        wrong.extend(
            made for number in range(5_000) if (made := begin(gives((name, number)))) != (None, (name, number))
        )

    threads = [threading.Thread(target=begins, args=(f"thread {number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == []


def test_nothing_that_work_gave_lives_on() -> None:
    answer = Answer()
    gone = weakref.ref(answer)

    begin(gives(answer))
    del answer
    gc.collect()

    assert gone() is None


async def test_work_ends_when_its_steps_are_let_go() -> None:
    ended: list[str] = []

    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("it")

    steps, _ = begin(waits())
    assert steps is not None
    assert ended == []

    del steps

    assert ended == ["it"]
    assert begin(gives(1)) == (None, 1)


def test_work_that_was_awaited_already_is_refused() -> None:
    work = gives(1)
    begin(work)

    with pytest.raises(RuntimeError, match="already awaited"):
        begin(work)
    assert begin(gives(2)) == (None, 2)
