"""What several tests of runs need: small tools, and what must hold of every run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from toolkit import Run, RunContext, Tool, tool
from toolkit.messages import AssistantMessage, Message, ToolMessage
from toolkit.models import ModelRequest, ModelResponse


@tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
async def echo(text: str) -> str:
    """Give the text back."""
    return text


@tool
async def fail() -> str:
    """Fail."""
    raise ValueError("token=abc123")


class Gate:
    """A place in a handler where a test holds it: `arrived` is set once it is there, `open` lets it go on."""

    def __init__(self) -> None:
        self.arrived = asyncio.Event()
        self.open = asyncio.Event()

    async def pass_through(self) -> None:
        self.arrived.set()
        await self.open.wait()


class GatedTool(Tool):
    """Wait at a gate."""

    name = "wait"

    def __init__(self, gate: Gate, log: list[str] | None = None) -> None:
        self.gate = gate
        self.log: list[str] = [] if log is None else log

    async def handler(self, label: str = "wait") -> str:
        self.log.append(f"{label} begins")
        try:
            await self.gate.pass_through()
        finally:
            await asyncio.sleep(0)
            self.log.append(f"{label} ends")
        return label


async def read(streaming: Any, seen: list[Any] | None = None) -> Any:
    """Reads a stream to its end, and gives the run. `seen` gets the events, also when it ends with an error."""
    async with streaming as stream:
        async for event in stream:
            if seen is not None:
                seen.append(event)
    return stream.run


async def until(is_so: Callable[[], bool]) -> None:
    """Lets others run until something holds that sets no event of the loop, such as what a thread did."""
    while not is_so():  # noqa: ASYNC110
        await asyncio.sleep(0.0001)


class CallingModel:
    """A model made of a function of the request."""

    def __init__(self, answer: Callable[[ModelRequest], Awaitable[ModelResponse]]) -> None:
        self._answer = answer

    async def respond(self, request: ModelRequest) -> ModelResponse:
        return await self._answer(request)


class Before:
    """An agent-wide guard made of a function."""

    def __init__(self, decide: Callable[[RunContext, Any], Any]) -> None:
        self.decide = decide

    def on_before_call(self, ctx: RunContext, call: Any) -> Any:
        return self.decide(ctx, call)


class After:
    """An agent-wide after-hook made of a function."""

    def __init__(self, tell: Callable[[RunContext, Any], Any]) -> None:
        self.tell = tell

    def on_after_call(self, ctx: RunContext, info: Any) -> Any:
        return self.tell(ctx, info)


def assert_paired(messages: Sequence[Message]) -> None:
    """Every call is followed by exactly one result, in the order of the calls, and no id is used twice."""
    seen: set[str] = set()
    at = 0
    while at < len(messages):
        message = messages[at]
        at += 1
        assert not isinstance(message, ToolMessage), f"a result without a call: {message}"
        if not isinstance(message, AssistantMessage):
            continue
        for call in message.tool_calls:
            assert call.id
            assert call.id not in seen
            seen.add(call.id)
            result = messages[at]
            at += 1
            assert isinstance(result, ToolMessage)
            assert (result.call_id, result.name) == (call.id, call.name)
            assert isinstance(result.content, str)


def assert_consistent(run: Run[Any]) -> None:
    """The transcript pairs, and the records stand in its order."""
    assert_paired(run.messages)
    results = [message for message in run.new_messages if isinstance(message, ToolMessage)]
    assert [record.id for record in run.calls] == [result.call_id for result in results]
    assert [record.result.content for record in run.calls] == [result.content for result in results]
    assert [record.result.is_error for record in run.calls] == [result.is_error for result in results]


async def no_task_is_left() -> None:
    """Only the test's own task runs."""
    assert asyncio.all_tasks() == {asyncio.current_task()}
