"""Model hooks: what they are told, in which order, and what happens when one fails."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.runs.parts import echo
from toolkit import Agent, HookError, RunContext
from toolkit.testing import ScriptedModel, call, calls, says


class ModelHooks:
    def __init__(self) -> None:
        self.log: list[Any] = []

    async def on_before_model(self, ctx: RunContext, request: Any) -> None:
        self.log.append(("before", ctx.run.turns, len(request.messages)))

    def on_after_model(self, ctx: RunContext, response: Any) -> None:
        self.log.append(("after", ctx.run.turns, response.text))


async def test_model_hooks_are_told_of_every_request_and_response() -> None:
    hooks = ModelHooks()
    model = ScriptedModel([calls(call("echo", {"text": "x"}), text="Let me see."), says("x")])

    await Agent(model, tools=[echo], hooks=[hooks]).run("go")

    assert hooks.log == [("before", 0, 1), ("after", 1, "Let me see."), ("before", 1, 3), ("after", 2, "x")]


async def test_any_number_of_model_hooks_may_wait() -> None:
    asked: list[int] = []

    class Waiting:
        async def on_before_model(self, ctx: RunContext, request: Any) -> None:
            await asyncio.sleep(0)
            asked.append(len(asked))

    run = await Agent(ScriptedModel([says("done")]), hooks=[Waiting() for _ in range(1_500)]).run("go")

    assert run.outcome == "completed"
    assert asked == [*range(1_500)]


async def test_model_hooks_run_in_order_and_the_first_failure_ends_it() -> None:
    first, last = ModelHooks(), ModelHooks()

    class Failing:
        async def on_before_model(self, ctx: RunContext, request: Any) -> None:
            raise PermissionError("no model today")

    model = ScriptedModel([])

    with pytest.raises(HookError, match="no model today") as caught:
        await Agent(model, hooks=[first, Failing(), last]).run("go")

    assert (len(first.log), len(last.log), model.requests) == (1, 0, [])
    assert caught.value.run.turns == 0
    assert isinstance(caught.value.__cause__, PermissionError)


async def test_hooks_after_the_model_are_told_the_other_way_round() -> None:
    told: list[str] = []

    class Named:
        def __init__(self, name: str) -> None:
            self.name = name

        def on_before_model(self, ctx: Any, request: Any) -> None:
            told.append(f"before {self.name}")

        def on_after_model(self, ctx: Any, response: Any) -> None:
            told.append(f"after {self.name}")

    await Agent(ScriptedModel([says("")]), hooks=[Named("first"), Named("second")]).run("go")

    assert told == ["before first", "before second", "after second", "after first"]
