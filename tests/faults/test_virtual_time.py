"""Time passes only when nothing else can happen; what never comes to an end is an error at once."""

from __future__ import annotations

import asyncio
import threading
from time import monotonic
from typing import Any

import pytest

from tests.faults.virtual_time import Standstill, VirtualLoop, counted_workers
from toolkit.tools.threads import in_thread


def run(main: Any) -> Any:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


def test_an_hour_passes_at_once_and_timers_keep_their_order() -> None:
    async def main() -> list[str]:
        order: list[str] = []

        async def note(seconds: float, name: str) -> None:
            await asyncio.sleep(seconds)
            order.append(name)

        await asyncio.gather(note(3600, "late"), note(60, "early"))
        return order

    began = monotonic()

    assert run(main()) == ["early", "late"]
    assert monotonic() - began < 60


def test_a_wait_that_nothing_ends_is_an_error() -> None:
    async def main() -> None:
        await asyncio.Event().wait()

    with pytest.raises(Standstill, match="every task waits"):
        run(main())


def test_a_task_that_spins_is_an_error() -> None:
    async def main() -> None:
        while True:  # noqa: ASYNC110
            await asyncio.sleep(0)

    with pytest.raises(Standstill, match="something spins"):
        run(main())


def test_a_thread_at_work_holds_the_clock_and_one_that_hangs_does_not() -> None:
    working, release = threading.Event(), threading.Event()

    async def main() -> tuple[bool, bool]:
        loop = asyncio.get_running_loop()
        first = in_thread(working.wait)
        loop.call_later(3600, working.set)  # for a loop whose clock is not held
        threading.Timer(0.05, working.set).start()
        await first.future
        at_once = loop.time() == 0
        in_thread(workers.hang, release)
        await asyncio.sleep(3600)
        return at_once, loop.time() >= 3600

    with counted_workers() as workers:
        assert run(main()) == (True, True)
        release.set()
