"""What a test says about a run, and what it is told when that is not so."""

from __future__ import annotations

from unittest.mock import ANY

import pytest

from toolkit import Agent, Run, ToolError, tool
from toolkit.hooks import Deny, Modify
from toolkit.messages import AssistantMessage, ImagePart, TextPart, UserMessage
from toolkit.testing import ScriptedModel, assert_calls, call, calls, says, the_call, transcript_of


@tool
def weather(city: str) -> str:
    """Tell the weather."""
    if city == "Atlantis":
        raise ToolError("there is no such city")
    return f"light rain in {city}"


@tool
def pay(payee: str, pounds: int) -> str:
    """Pay somebody."""
    raise LookupError("secret of the developer")


class Guard:
    def on_before_call(self, ctx, call):
        if call.arguments.get("pounds", 0) > 100:
            return Deny("that is too much")
        if call.arguments.get("city") == "oslo":
            return Modify({"city": "Oslo"})


async def run_of(*wanted, prompt="hi") -> Run[str]:
    model = ScriptedModel([calls(*wanted) if wanted else says("Done."), *([says("Done.")] if wanted else [])])
    return await Agent(model, tools=[weather, pay], hooks=[Guard()]).run(prompt)


OSLO, ROME = call("weather", {"city": "Oslo"}), call("weather", {"city": "Rome"})
FEW, MANY = call("pay", {"payee": "Ada", "pounds": 5}), call("pay", {"payee": "Ada", "pounds": 500})


async def test_calls_are_compared_by_name_and_arguments_in_order() -> None:
    run = await run_of(OSLO, FEW)

    assert_calls(run, OSLO, FEW)
    assert_calls(run, call("weather", ANY), call("pay", {"payee": ANY, "pounds": 5}))
    assert_calls(await run_of())


async def test_the_arguments_are_those_that_the_handler_got() -> None:
    assert_calls(await run_of(call("weather", {"city": "oslo"})), OSLO)


async def test_an_id_is_compared_where_one_is_given() -> None:
    run = await run_of(call("weather", {"city": "Oslo"}, id="c1"))

    assert_calls(run, call("weather", {"city": "Oslo"}, id="c1"))
    with pytest.raises(AssertionError):
        assert_calls(run, call("weather", {"city": "Oslo"}, id="c2"))


@pytest.mark.parametrize(
    ("expected", "told"),
    [
        pytest.param(
            [OSLO, ROME, FEW],
            [
                '    weather {"city": "Oslo"} -> light rain in Oslo',
                '  - weather {"city": "Rome"}',
                '  - pay {"payee": "Ada", "pounds": 5}',
                '  + pay {"payee": "Ada", "pounds": 500} -> error: that is too much',
                '  + weather {"city": "Rome"} -> light rain in Rome',
            ],
            id="others at the end",
        ),
        pytest.param(
            [OSLO, ROME],
            [
                '    weather {"city": "Oslo"} -> light rain in Oslo',
                '  + pay {"payee": "Ada", "pounds": 500} -> error: that is too much',
                '    weather {"city": "Rome"} -> light rain in Rome',
            ],
            id="one too many",
        ),
        pytest.param(
            [OSLO, OSLO, MANY, ROME],
            [
                '    weather {"city": "Oslo"} -> light rain in Oslo',
                '  - weather {"city": "Oslo"}',
                '    pay {"payee": "Ada", "pounds": 500} -> error: that is too much',
                '    weather {"city": "Rome"} -> light rain in Rome',
            ],
            id="one too few",
        ),
        pytest.param(
            [ROME, MANY, ROME],
            [
                '  - weather {"city": "Rome"}',
                '  + weather {"city": "Oslo"} -> light rain in Oslo',
                '    pay {"payee": "Ada", "pounds": 500} -> error: that is too much',
                '    weather {"city": "Rome"} -> light rain in Rome',
            ],
            id="other arguments",
        ),
        pytest.param(
            [],
            [
                '  + weather {"city": "Oslo"} -> light rain in Oslo',
                '  + pay {"payee": "Ada", "pounds": 500} -> error: that is too much',
                '  + weather {"city": "Rome"} -> light rain in Rome',
            ],
            id="none",
        ),
    ],
)
async def test_what_differs_is_told_with_what_came_of_the_calls(expected: list, told: list[str]) -> None:
    run = await run_of(OSLO, MANY, ROME)

    with pytest.raises(AssertionError) as caught:
        assert_calls(run, *expected)

    first, *lines = str(caught.value).split("\n")
    assert first == "the run's calls are not as expected (- expected, + made):"
    assert lines == told


async def test_a_long_result_takes_one_line_of_the_message() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_calls(await run_of(call("weather", {"city": "O\n" * 300})))

    assert str(caught.value).count("\n") == 1
    assert len(str(caught.value)) < 450


async def test_the_call_of_a_tool_tells_what_came_of_it() -> None:
    run = await run_of(OSLO, MANY)

    assert the_call(run, "weather").result.content == "light rain in Oslo"
    assert the_call(run, "pay").result.is_error
    assert the_call(run, "pay").result.content == "that is too much"


async def test_the_call_that_failed_has_its_exception() -> None:
    assert isinstance(the_call(await run_of(FEW), "pay").error, LookupError)


async def test_the_call_of_a_tool_that_was_not_called_once_is_told_with_the_calls() -> None:
    with pytest.raises(AssertionError) as never:
        the_call(await run_of(OSLO), "pay")
    with pytest.raises(AssertionError) as twice:
        the_call(await run_of(OSLO, ROME), "weather")
    with pytest.raises(AssertionError) as none:
        the_call(await run_of(), "pay")

    oslo = '\n    weather {"city": "Oslo"} -> light rain in Oslo'
    rome = '\n    weather {"city": "Rome"} -> light rain in Rome'
    assert str(never.value) == f"the tool 'pay' was called never, not once; the run's calls are:{oslo}"
    assert str(twice.value) == f"the tool 'weather' was called 2 times, not once; the run's calls are:{oslo}{rome}"
    assert str(none.value) == "the tool 'pay' was called never, not once; the run made no calls"


async def test_a_transcript_is_the_conversation_an_entry_a_line() -> None:
    run = await run_of(OSLO, call("weather", {"city": "Atlantis"}), call("weather", '{"city": '), prompt="How is it?")

    lines = transcript_of(run).split("\n")
    assert lines[:5] == [
        "user: How is it?",
        'call: weather {"city": "Oslo"}',
        'call: weather {"city": "Atlantis"}',
        'call: weather {"malformed_arguments": "{\\"city\\": "}',
        "result: light rain in Oslo",
    ]
    assert lines[5] == "error: there is no such city"
    assert lines[6].startswith("error: the arguments are not JSON")
    assert lines[7:] == ["assistant: Done."]


async def test_a_transcript_has_texts_beside_calls_and_names_media() -> None:
    prompt = UserMessage([TextPart("What is this?"), ImagePart(data=b"png", media_type="image/png")])
    history = [prompt, AssistantMessage("A cat.")]
    model = ScriptedModel([calls(OSLO, text="Let me see."), says("")])

    run = await Agent(model, tools=[weather]).run("And the weather?", messages=history)

    assert transcript_of(run).split("\n") == [
        "user: What is this? [image]",
        "assistant: A cat.",
        "user: And the weather?",
        "assistant: Let me see.",
        'call: weather {"city": "Oslo"}',
        "result: light rain in Oslo",
        "assistant: ",
    ]
