"""What a model, a history or a tool writes can't steer a terminal, nor begin a line of its own in a log."""

from __future__ import annotations

import json
import logging
import re
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builtin_tools.http import Answer, Pace, Request, Service, ServiceError
from tests.http.loopback import GUARD, Reply, serving
from tests.runs.parts import CallingModel, add, fail, read
from toolkit import Agent, ModelError
from toolkit.errors import ProviderError, escaped
from toolkit.events import WarningRaised
from toolkit.messages import AssistantMessage, Message, ToolCall, ToolMessage
from toolkit.models import OpenAIChatModel
from toolkit.testing import ScriptedModel, call, calls, says

STEERING = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
ATTACK = "x\x1b]0;owned\x07\r\n2026-01-01 INFO granted\x9b2J\u202etxt\u2028"


@given(st.text())
@settings(derandomize=True, deadline=None)
def test_an_escaped_text_is_one_line_that_steers_nothing_and_can_be_sent(text: str) -> None:
    line = escaped(text)

    assert len(line.splitlines()) <= 1
    assert STEERING.search(line) is None
    line.encode()


@pytest.mark.parametrize("text", ["café", "می‌خواهم", "नमस्ते", "👩‍👩‍👧", "a\xa0b", "\\n"])
def test_what_people_write_is_not_escaped(text: str) -> None:
    assert escaped(text) == text


HISTORIES: dict[str, list[Message]] = {
    "a result without a call": [ToolMessage(ATTACK, ATTACK, "3")],
    "a call without a result": [AssistantMessage("", [ToolCall(ATTACK, ATTACK, "{}")])],
    "two results of one call": [
        AssistantMessage("", [ToolCall("c", "add", "{}")]),
        ToolMessage("c", "add", "3"),
        ToolMessage(ATTACK, ATTACK, "3"),
    ],
    "arguments that are no object": [
        AssistantMessage("", [ToolCall(ATTACK, ATTACK, "[")]),
        ToolMessage(ATTACK, ATTACK, "3"),
    ],
}


@pytest.mark.filterwarnings("ignore:.*the history")
async def test_a_run_logs_nothing_by_itself(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    script = [calls(call("fail"), call("add", "{"), call("nothing")), ModelError("the cable is cut")]

    with pytest.raises(ModelError):
        await Agent(ScriptedModel(script), tools=[add, fail]).run("go", messages=[ToolMessage("c", "add", "3")])

    assert caplog.records == []


@pytest.mark.parametrize("history", HISTORIES.values(), ids=HISTORIES)
async def test_a_warning_about_a_history_is_one_short_line(history: list[Message]) -> None:
    events: list[Any] = []

    with pytest.warns(RuntimeWarning, match="in the history|the history:") as warned:
        await read(Agent(ScriptedModel([says("hello")])).stream("hi", messages=history), events)

    texts = [str(warning.message) for warning in warned]
    assert texts == [event.text for event in events if isinstance(event, WarningRaised)]
    for text in texts:
        assert STEERING.search(text) is None
        assert "owned" in text


async def test_a_huge_name_or_id_of_a_history_does_not_fill_the_log() -> None:
    history = [ToolMessage("i" * 100_000, "n" * 100_000, "3")]

    with pytest.warns(RuntimeWarning, match="left out") as warned:
        await Agent(ScriptedModel([says("hello")])).run("hi", messages=history)

    assert len(str(warned[0].message)) < 300


async def test_the_error_of_an_unknown_tool_or_of_wrong_arguments_is_one_line() -> None:
    wrong = [call(ATTACK), call("add", json.dumps({ATTACK: 1})), call("add", "{" + ATTACK)]

    run = await Agent(ScriptedModel([calls(*wrong), says("no")]), tools=[add]).run("go")

    for record in run.calls:
        assert STEERING.search(str(record.error)) is None
        assert STEERING.search(repr(record)) is None


async def test_the_text_of_a_model_error_is_one_line_and_its_cause_is_untouched() -> None:
    async def refuse(request: Any) -> Any:
        raise OSError(ATTACK)

    with pytest.raises(ModelError) as raised:
        await Agent(CallingModel(refuse)).run("go")

    assert STEERING.search(str(raised.value)) is None
    assert str(raised.value.__cause__) == ATTACK


async def test_what_a_provider_of_models_complains_of_is_one_line_of_the_error() -> None:
    refusing = Reply({"error": {"message": ATTACK, "code": ATTACK}}, status=400)

    async with serving(refusing) as server, httpx.AsyncClient() as http:
        model = OpenAIChatModel("small", http=http, api_key="k", base_url=f"{server.url}/v1")
        with pytest.raises(ProviderError) as raised:
            await Agent(model).run("go")

    assert "owned" in str(raised.value)
    assert STEERING.search(str(raised.value)) is None
    assert STEERING.search(raised.value.code or "\n") is None


async def test_what_a_service_complains_of_is_one_line_of_the_error() -> None:
    def decode(answer: Answer) -> None:
        raise answer.refusal(answer.json(dict[str, str])["said"])

    async with serving(Reply({"said": ATTACK}, status=400)) as server, httpx.AsyncClient() as http:
        service = Service("Testing", http, pace=Pace(at_once=1, interval=0.0), timeout=GUARD)
        with pytest.raises(ServiceError) as raised:
            await service.read(Request("lookup", f"{server.url}/api"), decode)

    assert "owned" in str(raised.value)
    assert STEERING.search(str(raised.value)) is None
