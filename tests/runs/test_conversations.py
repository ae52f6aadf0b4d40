"""Continuing a conversation: lists of runs are trusted, other histories are read and mended with a warning."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import pytest

from tests.runs.parts import add, assert_paired, echo
from toolkit import Agent, ToolCall
from toolkit.messages import AssistantMessage, Message, ToolMessage, UserMessage
from toolkit.records import Transcript
from toolkit.runs.transcript import begin_transcript, with_unique_id
from toolkit.testing import ScriptedModel, call, calls, says


async def earlier_run() -> Any:
    model = ScriptedModel([calls(call("add", {"a": 1, "b": 2}, id="c1")), says("3")])
    return await Agent(model, tools=[add]).run("1 + 2?")


async def test_messages_of_a_run_continue_it() -> None:
    earlier = await earlier_run()
    model = ScriptedModel([says("You asked for a sum.")])

    run = await Agent(model).run("What did I ask?", messages=earlier.messages)

    assert list(model.requests[0].messages) == [*earlier.messages, UserMessage("What did I ask?")]
    assert run.messages == [*earlier.messages, *run.new_messages]
    assert [type(message).__name__ for message in run.new_messages] == ["UserMessage", "AssistantMessage"]
    assert run.calls == []


async def test_the_earlier_runs_list_is_not_changed() -> None:
    earlier = await earlier_run()
    before = list(earlier.messages)

    await Agent(ScriptedModel([says("hello")])).run("again", messages=earlier.messages)

    assert earlier.messages == before


async def test_messages_of_a_run_are_not_scanned() -> None:
    earlier = await earlier_run()

    class Unread(Transcript):
        """Notices who looks into it, one message after another."""

        __slots__ = ()

        def __getitem__(self, place: Any) -> Any:
            if place != -1:
                raise AssertionError("it was scanned")
            return super().__getitem__(place)

    unread = Unread(earlier.messages)
    unread.seal(["c1"])

    transcript, taken, warnings = begin_transcript(unread)

    assert transcript == earlier.messages
    assert taken == {"c1"}
    assert warnings == []


async def test_ids_of_the_earlier_conversation_stay_taken() -> None:
    earlier = await earlier_run()
    model = ScriptedModel([calls(call("add", {"a": 2, "b": 2}, id="c1")), says("4")])

    run = await Agent(model, tools=[add]).run("2 + 2?", messages=earlier.messages)

    assert_paired(run.messages)
    assert run.calls[0].id == "c1_2"


@pytest.mark.parametrize("id_", ["c1", ""], ids=["repeated", "empty"])
def test_a_free_id_is_found_with_few_looks_however_many_are_taken(id_: str) -> None:
    class Counted(set[str]):
        looks = 0

        def __contains__(self, item: object) -> bool:
            self.looks += 1
            return super().__contains__(item)

    taken = Counted()
    made = [with_unique_id(ToolCall(id_, "add", "{}"), taken).id for _ in range(1_000)]

    assert made == (["c1", *(f"c1_{n}" for n in range(2, 1_001))] if id_ else [f"call_{n}" for n in range(1, 1_001)])
    assert taken.looks < 25 * len(made)


def test_many_calls_of_one_answer_are_paired_with_few_looks_at_their_results() -> None:
    class Id(str):
        """Counts how often it is compared."""

        __slots__ = ()
        __hash__ = str.__hash__
        compared = 0

        def __eq__(self, other: object) -> bool:
            Id.compared += 1
            return str.__eq__(self, other)

    count = 300
    asked = AssistantMessage("", [ToolCall(f"c{n}", "add", "{}") for n in range(count)])
    results = [ToolMessage(Id(f"c{n}"), "add", f"{n}") for n in reversed(range(count))]

    transcript, _, warnings = begin_transcript([asked, *results])

    assert [message.content for message in transcript[1:] if isinstance(message, ToolMessage)] == [
        *map(str, range(count))
    ]
    assert warnings == []
    assert Id.compared < 10 * count


async def test_a_run_can_be_continued_twice() -> None:
    earlier = await earlier_run()
    agent = Agent(ScriptedModel([says("one"), says("two"), says("three")]))

    one = await agent.run("1", messages=earlier.messages)
    two = await agent.run("2", messages=earlier.messages)
    three = await agent.run("3", messages=one.messages)

    assert len(one.messages) == len(two.messages) == len(earlier.messages) + 2
    assert len(three.messages) == len(one.messages) + 2


def drop_result(messages: Any) -> None:
    del messages[2]


def replace_result(messages: Any) -> None:
    messages[2] = UserMessage("gone")


def pop_and_append(messages: Any) -> None:
    last = messages.pop()
    messages.pop()
    messages.extend([UserMessage("no result"), last])


def remove(messages: Any) -> None:
    messages.remove(messages[2])
    messages.append(UserMessage("more"))


def insert(messages: Any) -> None:
    messages.insert(2, UserMessage("between"))
    messages.pop(3)


def reverse(messages: Any) -> None:
    messages.reverse()


def grow(messages: Any) -> None:
    messages.append(AssistantMessage("", [ToolCall("c9", "add", "{}")]))


def grow_and_end_as_before(messages: Any) -> None:
    messages.extend([AssistantMessage("", [ToolCall("c9", "add", "{}")]), messages[-1]])


CHANGES = [drop_result, replace_result, pop_and_append, remove, insert, reverse, grow, grow_and_end_as_before]


@pytest.mark.parametrize("change", CHANGES)
async def test_a_runs_list_that_was_changed_is_mended(change: Any) -> None:
    earlier = await earlier_run()
    change(earlier.messages)

    with pytest.warns(RuntimeWarning, match="in the history|out of the history"):
        run = await Agent(ScriptedModel([says("hello")])).run("hi", messages=earlier.messages)

    assert_paired(run.messages)


@pytest.mark.parametrize("copied", [list, tuple, copy.copy, copy.deepcopy], ids=lambda f: f.__name__)
async def test_a_valid_history_passes_unchanged_in_whatever_it_comes(copied: Any) -> None:
    earlier = await earlier_run()

    run = await Agent(ScriptedModel([says("hello")])).run("hi", messages=copied(earlier.messages))

    assert run.messages[: len(earlier.messages)] == earlier.messages


CALL = ToolCall("c1", "add", '{"a": 1, "b": 2}')
NO_RESULT = "no result of this call was recorded"

HISTORIES: dict[str, tuple[list[Message], list[Message], str]] = {
    "a call without a result": (
        [UserMessage("1 + 2?"), AssistantMessage("", [CALL])],
        [UserMessage("1 + 2?"), AssistantMessage("", [CALL]), ToolMessage("c1", "add", NO_RESULT, True)],
        "a call without a result was given one in the history: add 'c1'",
    ),
    "one of two results": (
        [AssistantMessage("", [CALL, ToolCall("c2", "add", "{}")]), ToolMessage("c2", "add", "0")],
        [
            AssistantMessage("", [CALL, ToolCall("c2", "add", "{}")]),
            ToolMessage("c1", "add", NO_RESULT, True),
            ToolMessage("c2", "add", "0"),
        ],
        "a call without a result",
    ),
    "a result without a call": (
        [UserMessage("hi"), ToolMessage("c1", "add", "3"), AssistantMessage("3")],
        [UserMessage("hi"), AssistantMessage("3")],
        "a result without a call was left out of the history: add 'c1'",
    ),
    "two results of one call": (
        [AssistantMessage("", [CALL]), ToolMessage("c1", "add", "3"), ToolMessage("c1", "add", "4")],
        [AssistantMessage("", [CALL]), ToolMessage("c1", "add", "3")],
        "a result without a call",
    ),
    "results in another order": (
        [
            AssistantMessage("", [CALL, ToolCall("c2", "add", "{}")]),
            ToolMessage("c2", "add", "second"),
            ToolMessage("c1", "add", "first"),
            ToolMessage("c3", "add", "whose?"),
        ],
        [
            AssistantMessage("", [CALL, ToolCall("c2", "add", "{}")]),
            ToolMessage("c1", "add", "first"),
            ToolMessage("c2", "add", "second"),
        ],
        "a result without a call was left out of the history: add 'c3'",
    ),
    "arguments that are no object": (
        [AssistantMessage("", [ToolCall("c1", "add", '{"a": 1')]), ToolMessage("c1", "add", "no JSON", True)],
        [
            AssistantMessage("", [ToolCall("c1", "add", '{"malformed_arguments": "{\\"a\\": 1"}')]),
            ToolMessage("c1", "add", "no JSON", True),
        ],
        "arguments of add 'c1' in the history were no JSON object",
    ),
    "a result that comes too late": (
        [AssistantMessage("", [CALL]), UserMessage("and?"), ToolMessage("c1", "add", "3")],
        [AssistantMessage("", [CALL]), ToolMessage("c1", "add", NO_RESULT, True), UserMessage("and?")],
        "a call without a result",
    ),
}


@pytest.mark.parametrize(("history", "mended", "text"), HISTORIES.values(), ids=HISTORIES)
@pytest.mark.filterwarnings("ignore:.*history")
async def test_a_history_is_mended_with_a_warning(
    history: Sequence[Message], mended: Sequence[Message], text: str
) -> None:
    model = ScriptedModel([says("hello")])

    with pytest.warns(RuntimeWarning, match=text):
        run = await Agent(model).run("go on", messages=history)

    assert list(model.requests[0].messages) == [*mended, UserMessage("go on")]
    assert_paired(run.messages)


async def test_repeated_and_empty_ids_of_a_history_are_made_unique() -> None:
    history = [
        AssistantMessage("", [ToolCall("c", "echo", "{}"), ToolCall("", "echo", "{}"), ToolCall("c", "echo", "{}")]),
        ToolMessage("c", "echo", "first"),
        ToolMessage("", "echo", "second"),
        ToolMessage("c", "echo", "third"),
    ]

    run = await Agent(ScriptedModel([calls(call("echo", {"text": "x"}, id="c")), says("x")]), tools=[echo]).run(
        "go on", messages=history
    )

    assert_paired(run.messages)
    results = [message.content for message in run.messages if isinstance(message, ToolMessage)]
    assert results == ["first", "second", "third", "x"]


@pytest.mark.parametrize("way", ["run", "stream", "left early"])
async def test_the_warning_names_the_code_that_runs_the_agent(way: str) -> None:
    agent = Agent(ScriptedModel([says("hello")]))
    history = [ToolMessage("c1", "add", "3")]

    async def use() -> None:
        if way == "run":
            await agent.run("hi", messages=history)
            return
        async with agent.stream("hi", messages=history) as stream:
            async for _ in stream:
                if way == "left early":
                    break

    with pytest.warns(RuntimeWarning, match="left out") as warned:
        await use()

    assert [warning.filename for warning in warned] == [__file__]


async def test_the_warning_is_an_event_too() -> None:
    history = [ToolMessage("c1", "add", "3")]

    with pytest.warns(RuntimeWarning, match="left out"):
        async with Agent(ScriptedModel([says("hello")])).stream("hi", messages=history) as stream:
            events = [event async for event in stream]

    assert [event.text for event in events if type(event).__name__ == "WarningRaised"] == [
        "a result without a call was left out of the history: add 'c1'"
    ]


async def test_a_result_whose_call_id_is_no_id_is_left_out_of_the_history() -> None:
    odd: Any = ["c1"]
    history = [
        UserMessage("1 + 2?"),
        AssistantMessage("", (ToolCall("c1", "add", "{}"),)),
        ToolMessage(odd, "add", "3"),
    ]

    with pytest.warns(RuntimeWarning, match="without a"):
        run = await Agent(ScriptedModel([says("hello")])).run("again", messages=history)

    assert [message.content for message in run.messages if isinstance(message, ToolMessage)] == [
        "no result of this call was recorded"
    ]
    assert_paired(run.messages)
