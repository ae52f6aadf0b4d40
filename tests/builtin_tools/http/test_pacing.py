from __future__ import annotations

import asyncio

import pytest

from builtin_tools.http import Pace
from tests.http.clients import ManualClock


async def test_starts_keep_their_distance(clock: ManualClock) -> None:
    pace = Pace(at_once=3, interval=0.3, clock=clock)
    starts: list[float] = []

    for _ in range(4):
        async with pace.place():
            starts.append(clock.monotonic())

    assert starts == pytest.approx([0.0, 0.3, 0.6, 0.9])


async def test_nobody_waits_when_the_last_start_is_long_ago(clock: ManualClock) -> None:
    pace = Pace(at_once=3, interval=0.3, clock=clock)
    async with pace.place():
        pass
    clock.elapsed = 5.0

    async with pace.place():
        pass

    assert clock.slept == []


async def test_no_more_than_so_many_are_under_way_at_once(clock: ManualClock) -> None:
    pace = Pace(at_once=3, interval=0.0, clock=clock)
    under_way: set[int] = set()
    most = 0
    go_on = asyncio.Event()

    async def one(number: int) -> None:
        nonlocal most
        async with pace.place():
            under_way.add(number)
            most = max(most, len(under_way))
            await go_on.wait()
            under_way.discard(number)

    tasks = [asyncio.create_task(one(number)) for number in range(8)]
    for _ in range(20):
        await asyncio.sleep(0)
    waiting = len(under_way)
    go_on.set()
    await asyncio.gather(*tasks)

    assert waiting == 3
    assert most == 3


async def test_a_cancelled_place_is_free_again(clock: ManualClock) -> None:
    pace = Pace(at_once=1, interval=0.0, clock=clock)

    async def stay() -> None:
        async with pace.place():
            await asyncio.Event().wait()

    task = asyncio.create_task(stay())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    async with pace.place():
        entered = True
    assert entered


def test_one_pace_serves_two_event_loops_in_sequence_and_forgets_the_closed_one(clock: ManualClock) -> None:
    pace = Pace(at_once=1, interval=0.3, clock=clock)

    async def crowd() -> None:
        async def one() -> None:
            async with pace.place():
                await asyncio.sleep(0)

        await asyncio.gather(*(one() for _ in range(3)))

    asyncio.run(crowd())
    asyncio.run(crowd())

    assert len(clock.slept) == 4
    assert len(pace._lines) == 1
