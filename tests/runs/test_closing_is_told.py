"""What fails in closing is told, whoever ended the run."""

from __future__ import annotations

import asyncio

import pytest

from toolkit import Agent, CleanupError, Tool, tool
from toolkit.events import ToolCallStarted, TurnFinished
from toolkit.testing import ScriptedModel, call, calls, says


class Writing(Tool):
    """Write something."""

    name = "write"

    def __init__(self, closed: asyncio.Event) -> None:
        self.closed = closed

    async def handler(self) -> str:
        return "written"

    async def aclose(self) -> None:
        self.closed.set()
        raise OSError("the disk is full")


async def test_a_cancelled_run_carries_what_failed_in_closing_as_a_note() -> None:
    waiting = asyncio.Event()

    @tool
    async def wait() -> str:
        """Wait."""
        waiting.set()
        await asyncio.Event().wait()
        return "never"

    model = ScriptedModel([calls(call("write")), calls(call("wait"))])
    agent = Agent(model, tools=[Writing, wait])
    task = asyncio.create_task(agent.run("go", values={asyncio.Event: asyncio.Event()}))
    await waiting.wait()

    task.cancel()
    with pytest.raises(asyncio.CancelledError) as caught:
        await task

    assert caught.value.__notes__ == ["also, while the run was closed: OSError('the disk is full')"]


async def left_after_the_answer(*, failing: bool = False) -> None:
    agent = Agent(ScriptedModel([calls(call("write")), says("Done.")]), tools=[Writing])
    closed = asyncio.Event()
    async with agent.stream("go", values={asyncio.Event: closed}) as stream:
        async for event in stream:
            if isinstance(event, TurnFinished) and event.turn == 2:
                break
        await closed.wait()
        if failing:
            raise LookupError("of the reader")


async def test_a_stream_that_is_left_after_the_answer_raises_what_failed_in_closing() -> None:
    with pytest.raises(CleanupError) as caught:
        await left_after_the_answer()

    assert caught.value.run.outcome == "failed"
    assert isinstance(caught.value.__cause__, OSError)


async def test_the_readers_own_error_keeps_it_as_a_note() -> None:
    with pytest.raises(LookupError) as caught:
        await left_after_the_answer(failing=True)

    [note] = caught.value.__notes__
    assert "the disk is full" in note


async def test_a_stream_that_is_left_while_a_call_runs_raises_nothing() -> None:
    @tool
    async def wait() -> str:
        """Wait."""
        await asyncio.Event().wait()
        return "never"

    agent = Agent(ScriptedModel([calls(call("wait"))]), tools=[wait])

    async with agent.stream("go") as stream:
        async for event in stream:
            if isinstance(event, ToolCallStarted):
                break

    assert stream.run.outcome == "cancelled"
