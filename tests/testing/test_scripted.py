"""The scripted model: what it gives, what it keeps, and what it says when a script and a run do not fit."""

from __future__ import annotations

import pytest

from tests.runs.parts import add
from toolkit import Agent, ConfigurationError, ModelError, Usage
from toolkit.messages import AssistantMessage, ToolMessage, UserMessage
from toolkit.models import ModelRequest, ModelResponse, ModelSettings
from toolkit.testing import ScriptedModel, ScriptExhausted, call, calls, says


async def test_it_gives_its_turns_one_after_another() -> None:
    model = ScriptedModel([calls(call("add", {"a": 1, "b": 2}, id="c"), text="So.", usage=Usage(1, 1)), says("3")])

    run = await Agent(model, tools=[add]).run("1 + 2?")

    assert run.messages == [
        UserMessage("1 + 2?"),
        AssistantMessage("So.", [call("add", {"a": 1, "b": 2}, id="c")]),
        ToolMessage("c", "add", "3"),
        AssistantMessage("3"),
    ]
    assert run.usage == Usage(1, 1)
    model.assert_exhausted()


def test_arguments_of_a_call_are_a_dict_or_raw_text() -> None:
    assert call("add", {"a": 1}).arguments == {"a": 1}
    assert call("add", '{"a": 1').arguments == '{"a": 1'
    assert call("add").arguments == {}
    assert call("add", "").arguments == ""
    assert (call("add").id, call("add", id="c").id) == ("", "c")


async def test_requests_are_what_it_was_asked_then() -> None:
    model = ScriptedModel([calls(call("add", {"a": 1, "b": 2})), says("3")])

    run = await Agent(model, tools=[add], settings=ModelSettings(seed=1)).run("1 + 2?")

    assert [len(request.messages) for request in model.requests] == [1, 3]
    assert len(run.messages) == 4
    assert all(isinstance(request, ModelRequest) for request in model.requests)
    assert [definition.name for definition in model.requests[0].tools] == ["add"]
    assert model.requests[0].settings == ModelSettings(seed=1)


async def test_a_request_that_is_changed_afterwards_changes_no_transcript() -> None:
    model = ScriptedModel([says("hello")])

    run = await Agent(model).run("hi")
    model.requests[0].messages.clear()  # type: ignore[attr-defined]

    assert len(run.messages) == 2


async def test_asked_more_often_than_scripted_it_says_what_it_was_asked_last() -> None:
    model = ScriptedModel([calls(call("add", {"a": 1, "b": 2}, id="c"))])

    with pytest.raises(ScriptExhausted) as caught:
        await Agent(model, tools=[add]).run("1 + 2?")

    assert isinstance(caught.value, ModelError)
    assert isinstance(caught.value, AssertionError)
    assert caught.value.run.outcome == "failed"
    assert str(caught.value) == (
        "the model was asked 2 times, once more than its script has turns, the last time with these messages:\n"
        "    user: 1 + 2?\n"
        '    call: add {"a": 1, "b": 2}\n'
        "    result: 3"
    )


async def test_a_long_conversation_is_told_by_its_last_messages_and_long_texts_are_cut() -> None:
    model = ScriptedModel([calls(call("add", {"a": number, "b": 0})) for number in range(6)])

    with pytest.raises(ScriptExhausted) as caught:
        await Agent(model, tools=[add]).run("word " * 100)
    with pytest.raises(ScriptExhausted) as at_once:
        await Agent(ScriptedModel([])).run("word " * 100)

    lines, lines_at_once = str(caught.value).splitlines(), str(at_once.value).splitlines()
    assert lines[1:4] == ["    (5 earlier)", '    call: add {"a": 2, "b": 0}', "    result: 2"]
    assert len(lines) == 1 + 1 + 8
    assert "the model was asked once, once more" in lines_at_once[0]
    assert lines_at_once[1] == f"    user: {'word ' * 58}word... (205 characters more)"


async def test_asked_less_often_it_says_what_is_left() -> None:
    model = ScriptedModel([says("hello"), calls(call("add", {"a": 1})), says("3"), OSError()])
    await Agent(model).run("hi")

    with pytest.raises(AssertionError) as caught:
        model.assert_exhausted()

    assert str(caught.value) == (
        "the model was asked once, and its script goes on with:\n"
        '    calls add {"a": 1}\n'
        "    says '3'\n"
        "    raises OSError"
    )


async def test_an_exception_of_the_script_is_raised_in_its_turn() -> None:
    cause = OSError("no route")

    with pytest.raises(ModelError) as caught:
        await Agent(ScriptedModel([cause])).run("hi")

    assert caught.value.__cause__ is cause


async def test_a_response_made_by_hand_is_a_turn_too() -> None:
    run = await Agent(ScriptedModel([ModelResponse("hello", reasoning="Hm.")])).run("hi")

    assert run.messages[-1] == AssistantMessage("hello", (), "Hm.")


async def test_one_script_can_be_shared_by_runs_one_after_another() -> None:
    model = ScriptedModel([says("1"), says("2")])
    agent = Agent(model)

    assert [(await agent.run("hi")).response for _ in range(2)] == ["1", "2"]


@pytest.mark.parametrize(
    ("turn", "text"),
    [
        ("hello", r"a turn of a script is 'hello'; write says\('hello'\)"),
        (call("add"), r"write calls\(call\(\.\.\.\)\)"),
        (5, r"write says\(\.\.\.\) or calls\(\.\.\.\)"),
        ([call("add")], r"write says\(\.\.\.\) or calls\(\.\.\.\)"),
    ],
)
def test_a_turn_that_is_none_is_named_at_once(turn: object, text: str) -> None:
    with pytest.raises(ConfigurationError, match=text):
        ScriptedModel([turn])  # type: ignore[list-item]


@pytest.mark.parametrize("script", [says("hello"), "hello", OSError("no route")])
def test_a_script_that_is_no_list_is_told_how_to_write_one(script: object) -> None:
    with pytest.raises(ConfigurationError, match=r"a script is a list of turns.*write ScriptedModel\(\[\.\.\.\]\)"):
        ScriptedModel(script)  # type: ignore[arg-type]  # what the test is about
