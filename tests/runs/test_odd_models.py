"""Models that give what is no response, and what providers are sent of odd names and ids."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

from tests.runs.parts import Before, add, assert_consistent, echo
from toolkit import Agent, ModelError, RunAborted, ToolCall
from toolkit.errors import DeadlineExceeded, LimitExceeded
from toolkit.hooks import Deny
from toolkit.messages import AssistantMessage, ToolMessage, Usage
from toolkit.models import ModelRequest, ModelResponse
from toolkit.testing import ScriptedModel, call, calls, says


def junk(**members: Any) -> ModelResponse:
    return ModelResponse(**members)


class Giving:
    def __init__(self, *responses: Any) -> None:
        self.responses = list(responses)

    async def respond(self, request: ModelRequest) -> Any:
        return self.responses.pop(0)


@pytest.mark.parametrize(
    "response",
    [
        pytest.param({"text": "x"}, id="no response"),
        pytest.param(junk(text=5), id="text"),
        pytest.param(junk(reasoning=b"x"), id="reasoning"),
        pytest.param(junk(tool_calls="abc"), id="calls that are a text"),
        pytest.param(junk(tool_calls=[None]), id="calls of None"),
        pytest.param(junk(tool_calls=[{"name": "add"}]), id="calls that are dicts"),
        pytest.param(junk(tool_calls=[ToolCall(5, "add", {})]), id="an id"),  # type: ignore[arg-type]
        pytest.param(junk(tool_calls=[ToolCall("1", None, {})]), id="a name"),  # type: ignore[arg-type]
        pytest.param(junk(usage=None), id="usage"),
        pytest.param(junk(usage=Usage(None, 1)), id="tokens"),  # type: ignore[arg-type]
    ],
)
async def test_a_model_that_gives_junk_ends_the_run_with_a_model_error(response: Any) -> None:
    with pytest.raises(ModelError, match="the model gave") as raised:
        await Agent(Giving(response), [add]).run("go")

    assert raised.value.run.outcome == "failed"
    assert raised.value.run.messages.is_sealed
    assert_consistent(raised.value.run)


async def test_none_is_nothing_and_a_call_without_an_id_is_given_one() -> None:
    first = junk(text=None, reasoning=None, tool_calls=[ToolCall(None, "echo", None)])  # type: ignore[arg-type]
    last = junk(text="done", tool_calls=None)

    run = await Agent(Giving(first, last), [echo]).run("go")

    assert run.response == "done"
    assert run.calls[0].id == "call_1"
    assert "$.text" in run.calls[0].result.content or "text" in run.calls[0].result.content
    assert_consistent(run)


def test_a_message_takes_none_for_nothing() -> None:
    message = AssistantMessage(None, None, None)  # type: ignore[arg-type]

    assert message == AssistantMessage("", (), "")


@pytest.mark.parametrize("name", ["x" * 200, "no such tool!", "", "\ud800", "функция"])
async def test_the_name_of_an_unknown_tool_is_harmless_in_the_transcript(name: str) -> None:
    run = await Agent(ScriptedModel([calls(call(name)), says("done")]), [add]).run("go")

    told = next(message for message in run.messages if isinstance(message, ToolMessage))
    assert run.calls[0].name == name
    assert 1 <= len(told.name) <= 64
    assert set(told.name) <= set("_-x") | set("nosuchtolunknown")
    assert_consistent(run)


async def test_lone_surrogates_of_ids_and_reasons_are_replaced() -> None:
    model = ScriptedModel([calls(call("add", {"a": 1, "b": 2}, id="a\ud800")), says("done")])

    run = await Agent(model, [add], hooks=[Before(lambda ctx, call: Deny("no \ud800"))]).run("go")

    assert run.calls[0].id == "a\ufffd"
    assert run.calls[0].result.content == "no \ufffd"
    json.dumps([repr(message) for message in run.messages], ensure_ascii=False).encode()
    assert_consistent(run)


@pytest.mark.parametrize(
    "error",
    [
        RunAborted("fraud"),
        LimitExceeded("too much", limit="max_turns", value=3),
        DeadlineExceeded("late", timeout=2.0),
        ModelError("no answer"),
    ],
)
def test_an_error_of_a_run_is_the_same_after_pickling(error: Exception) -> None:
    copy = pickle.loads(pickle.dumps(error))

    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))


async def test_a_model_error_without_a_text_is_told_by_its_class_alone() -> None:
    with pytest.raises(ModelError) as caught:
        await Agent(ScriptedModel([ConnectionError()])).run("hi")

    assert str(caught.value) == "the model failed: ConnectionError"
