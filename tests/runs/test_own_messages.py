"""The messages of a run are its own: what changes them is told so, and no changed transcript is trusted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.runs.parts import CallingModel, add, assert_paired
from toolkit import Agent, HookError, ModelError, RunContext
from toolkit.messages import UserMessage
from toolkit.models import ModelRequest, ModelResponse
from toolkit.testing import ScriptedModel, call, calls, says

CHANGES: dict[str, Callable[[Any], Any]] = {
    "pop": lambda messages: messages.pop(),
    "append": lambda messages: messages.append(UserMessage("more")),
    "extend": lambda messages: messages.extend([UserMessage("more")]),
    "clear": lambda messages: messages.clear(),
    "sort": lambda messages: messages.sort(key=str),
    "set": lambda messages: messages.__setitem__(0, UserMessage("other")),
    "add in place": lambda messages: messages.__iadd__([UserMessage("more")]),
    "multiply in place": lambda messages: messages.__imul__(2),
}


class Changing:
    def __init__(self, change: Callable[[Any], Any]) -> None:
        self.change = change

    def on_before_model(self, ctx: RunContext, request: ModelRequest) -> None:
        if len(request.messages) > 2:
            self.change(request.messages)


def script() -> ScriptedModel:
    return ScriptedModel([calls(call("add", {"a": 1, "b": 2})), says("done")])


@pytest.mark.parametrize("instructions", [None, "Be brief."])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_a_hook_that_changes_the_messages_ends_the_run_with_a_hook_error(
    change: Callable[[Any], Any], instructions: str | None
) -> None:
    agent = Agent(script(), [add], hooks=[Changing(change)], instructions=instructions)

    with pytest.raises(HookError, match="changed the messages of a request") as raised:
        await agent.run("go")

    assert raised.value.run.outcome == "failed"
    assert raised.value.run.messages.is_sealed == (instructions is not None)


async def test_a_model_that_changes_the_messages_ends_the_run_with_a_model_error() -> None:
    async def answer(request: ModelRequest) -> ModelResponse:
        request.messages.pop()  # type: ignore[attr-defined]
        return says("done")

    with pytest.raises(ModelError, match="changed the messages of its request"):
        await Agent(CallingModel(answer)).run("go")


@pytest.mark.filterwarnings("ignore:a (call|result) without")
async def test_a_transcript_that_somebody_has_changed_is_looked_through_when_a_run_goes_on_with_it() -> None:
    agent = Agent(script(), [add], hooks=[Changing(lambda messages: messages.pop())])
    with pytest.raises(HookError) as raised:
        await agent.run("go")

    run = await Agent(ScriptedModel([says("done")]), [add]).run("on", messages=raised.value.run.messages)

    assert_paired(run.messages)
