"""An event loop that ends cancels every task in one turn, in any order; what cleans up is cancelled once all the same.

Nor do a handler's timeout and the end of its run cancel it twice.
"""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest

from tests.faults.virtual_time import VirtualLoop
from toolkit import Agent, DeadlineExceeded, Limits, Tool, tool
from toolkit.testing import ScriptedModel, call, calls


class Log:
    def __init__(self) -> None:
        self.began = 0
        self.tidied = 0
        self.caller: asyncio.Task[Any] | None = None  # an event loop keeps no task alive


def tidying(log: Log) -> Any:
    async def tidy() -> None:
        """Wait, and clean up."""
        log.began += 1
        try:
            await asyncio.Event().wait()
        finally:
            for _ in range(5):
                await asyncio.sleep(0)
            await asyncio.sleep(1)
            log.tidied += 1

    return tidy


async def tasks_of_a_run(count: int, log: Log) -> list[asyncio.Task[Any]]:
    """The caller, the owner, and one for each call where there are several; every handler waits."""
    here = asyncio.all_tasks()
    agent = Agent(ScriptedModel([calls(*[call("tidy")] * count)]), [tool(tidying(log))])
    log.caller = asyncio.create_task(agent.run("go"))
    while log.began < count:  # noqa: ASYNC110
        await asyncio.sleep(0)
    return sorted(asyncio.all_tasks() - here, key=lambda task: int(task.get_name().removeprefix("Task-")))


@pytest.mark.parametrize("count", [1, 2])
def test_in_whatever_order_all_tasks_are_cancelled_the_finally_blocks_of_handlers_are_done(count: int) -> None:
    orders = list(itertools.permutations(range(2 if count == 1 else 4)))

    for order in orders:
        log = Log()

        async def main(order: tuple[int, ...] = order, log: Log = log) -> None:
            tasks = await tasks_of_a_run(count, log)
            assert len(tasks) == len(order)
            for place in order:
                tasks[place].cancel()
            await asyncio.wait(tasks)

        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            runner.run(main())
        assert log.tidied == count, order


@pytest.mark.parametrize("count", [1, 2])
def test_a_loop_that_ends_while_a_run_goes_on_lets_its_handlers_clean_up(count: int) -> None:
    for _ in range(20):  # the order of a set is another each time
        log = Log()

        async def main(log: Log = log) -> None:
            await tasks_of_a_run(count, log)

        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            runner.run(main())
        assert log.tidied == count


def test_a_cancellation_in_the_turn_of_a_handlers_own_timeout_is_not_lost() -> None:
    @tool
    async def try_twice() -> None:
        """Give up waiting, and wait again."""
        try:
            async with asyncio.timeout(1):
                try:
                    await asyncio.Event().wait()
                finally:
                    await asyncio.sleep(0.5)
        except TimeoutError:
            await asyncio.Event().wait()

    async def main() -> None:
        agent = Agent(ScriptedModel([calls(call("try_twice"))]), [try_twice], limits=Limits(close_timeout=5.0))
        task = asyncio.create_task(agent.run("go"))
        await asyncio.sleep(1)  # its own timer, and this one, in one turn
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(main())
        assert runner.get_loop().time() < 12


@pytest.mark.parametrize(("of_tool", "of_run"), [(5.5, 5.0), (5.0, 5.5)])
def test_a_handlers_timeout_and_the_end_of_its_run_do_not_interrupt_what_cleans_up_after_the_other(
    of_tool: float, of_run: float
) -> None:
    log = Log()
    slow = Tool.define(name="tidy", description="Wait.", handler=tidying(log), timeout=of_tool)

    async def main() -> None:
        with pytest.raises(DeadlineExceeded):
            await Agent(ScriptedModel([calls(call("tidy"))]), [slow]).run("go", timeout=of_run)

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(main())

    assert (log.began, log.tidied) == (1, 1)
