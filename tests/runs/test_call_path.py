"""The path of one call: find, parse, validate, guard, build, convert, run, tell, cut; and what goes wrong on it."""

from __future__ import annotations

import asyncio
import datetime
import json
import pathlib
import threading
from collections import OrderedDict
from typing import Annotated, Any

import pydantic
import pytest

from tests.runs.parts import After, Before, add, assert_consistent, echo, fail
from tests.shared_files import shared_json
from toolkit import Agent, ConfigurationError, HookError, Limits, RunContext, Tool, ToolError, tool
from toolkit.hooks import Deny, Modify, Skip
from toolkit.messages import AssistantMessage, ToolCall, messages_from_json, messages_to_json
from toolkit.testing import ScriptedModel, call, calls, says


async def called(tools: list[Any], *tool_calls: Any, hooks: tuple[Any, ...] = ()) -> tuple[Any, ScriptedModel]:
    model = ScriptedModel([calls(*tool_calls), says("done")])
    run = await Agent(model, tools=tools, hooks=hooks).run("go")
    assert_consistent(run)
    assert run.outcome == "completed"
    return run, model


async def test_the_steps_come_in_order() -> None:
    log: list[str] = []

    class Stepwise(Tool):
        """Take every step."""

        name = "step"
        output_schema = {"type": "object"}  # noqa: RUF012 - as a user may write it

        def __init__(self) -> None:
            log.append("build")

        def on_before_call(self, ctx: RunContext, call: Any) -> None:
            assert call.arguments == {"day": "2026-01-31"}
            log.append("own before")

        async def handler(self, day: datetime.date) -> dict[str, Any]:
            assert day == datetime.date(2026, 1, 31)
            log.append("handler")
            return {"day": day}

        def on_after_call(self, ctx: RunContext, info: Any) -> None:
            assert info.result.content == '{"day":"2026-01-31"}'
            log.append("own after")

    class Wide:
        def on_before_call(self, ctx: RunContext, call: Any) -> None:
            log.append("before")

        def on_after_call(self, ctx: RunContext, info: Any) -> None:
            log.append("after")

    run, _ = await called([Stepwise], call("step", {"day": "2026-01-31"}), hooks=(Wide(),))

    assert log == ["before", "build", "own before", "handler", "own after", "after"]
    assert run.calls[0].arguments == {"day": "2026-01-31"}


@tool
async def book(day: datetime.date, seats: int) -> str:
    """Book seats."""
    return f"booked {day:%Y}"


NO_DATE = {"day": "2026-02-31", "seats": 2}


async def test_what_the_types_refuse_is_an_error_that_says_where_and_no_after_hook_is_told() -> None:
    asked: list[Any] = []

    run, _ = await called(
        [book],
        call("book", NO_DATE),
        hooks=(Before(lambda ctx, call: asked.append("before")), After(lambda ctx, info: asked.append("after"))),
    )

    [record] = run.calls
    assert record.result.is_error
    assert "$.day" in record.result.content
    assert record.arguments == NO_DATE
    assert asked == ["before"]


looked_at: list[str] = []


def look(path: str) -> str:
    looked_at.append(path)
    return path


def stumble(day: str) -> str:
    raise KeyError("token=abc123")


@tool
async def read(path: Annotated[str, pydantic.AfterValidator(look)], file: pydantic.FilePath) -> str:
    """Read a file."""
    return "read"


async def test_nothing_is_converted_of_a_call_that_a_guard_denies(tmp_path: pathlib.Path) -> None:
    there = tmp_path / "there"
    there.touch()
    looked_at.clear()
    deny = Before(lambda ctx, call: Deny("no files"))
    sent = [call("read", {"path": "x", "file": str(file)}) for file in (there, tmp_path / "missing")]
    run, _ = await called([read], *sent, hooks=(deny,))

    assert [record.result.content for record in run.calls] == ["no files", "no files"]
    assert looked_at == []


callers: list[Any] = []


def leave(day: str) -> str:
    callers.pop().close()  # as a framework does that throws its coroutine away
    return day


async def test_no_handler_starts_where_the_run_is_cancelled_while_arguments_are_converted() -> None:
    ran: list[str] = []

    @tool
    async def book_late(day: Annotated[str, pydantic.AfterValidator(leave)]) -> str:
        """Book too late."""
        ran.append(day)
        return "booked"

    agent = Agent(ScriptedModel([calls(call("book_late", {"day": "x"})), says("done")]), tools=[book_late])
    before = asyncio.all_tasks()
    caller = agent.run("go")
    callers.append(caller)
    caller.send(None)
    [owner] = asyncio.all_tasks() - before
    await asyncio.wait([owner])

    assert owner.cancelled()
    assert ran == []


async def test_a_skip_needs_no_conversion() -> None:
    run, _ = await called([book], call("book", NO_DATE), hooks=(Before(lambda ctx, call: Skip("on the house")),))

    assert run.calls[0].result.content == "on the house"


async def test_a_modify_that_the_types_refuse_blocks_the_call_and_tells_no_values() -> None:
    secret = Modify({"day": "2026-02-31", "seats": 77_123})

    run, _ = await called(
        [book], call("book", {"day": "2026-02-01", "seats": 2}), hooks=(Before(lambda ctx, call: secret),)
    )

    [record] = run.calls
    assert record.result.content == "blocked by a guard"
    assert isinstance(record.error, HookError)
    assert "2026-02-31" not in str(record.error)
    assert record.error.__cause__ is None


async def test_a_validator_of_the_tools_own_that_fails_is_a_failure_of_the_tool() -> None:
    @tool
    async def odd(day: Annotated[str, pydantic.AfterValidator(stumble)]) -> str:
        """Fail."""
        return "never"

    run, _ = await called([odd], call("odd", {"day": "x"}))

    assert run.calls[0].result.content == "tool 'odd' failed: KeyError"


async def test_a_dict_of_another_class_is_a_plain_one_for_hooks_and_handler() -> None:
    seen: list[Any] = []

    @tool
    async def keep(items: dict[str, Any], more: list[Any]) -> str:
        """Keep items."""
        seen.append((type(items), type(items["in"]), type(more), items, more))
        return "kept"

    class Things(list[Any]):
        pass

    def change(ctx: RunContext, call: Any) -> None:
        call.arguments["items"]["in"]["evil"] = True
        call.arguments["more"].append("evil")

    sent = {"items": OrderedDict({"in": OrderedDict({"a": 1})}), "more": Things([1])}
    await called([keep], call("keep", OrderedDict(sent)), hooks=(Before(change),))

    def modify(ctx: RunContext, call: Any) -> Any:
        return None if call.revised else Modify(OrderedDict({**sent, "more": Things([2])}))

    await called([keep], call("keep", sent), hooks=(Before(change), Before(modify), Before(change)))

    assert seen == [(dict, dict, list, {"in": {"a": 1}}, [1]), (dict, dict, list, {"in": {"a": 1}}, [2])]


async def test_a_value_that_breaks_the_output_schema_is_an_error_before_the_after_hooks() -> None:
    class Promising(Tool):
        """Promise a number."""

        name = "promise"
        output_schema = {"type": "integer"}  # noqa: RUF012

        async def handler(self) -> str:
            return "seven"

    run, _ = await called([Promising()], call("promise"))

    assert run.calls[0].result.is_error
    assert run.calls[0].result.content.startswith("tool 'promise' failed")


# Unknown tools


async def test_an_unknown_tool_is_told_with_the_names_that_exist_nearest_first() -> None:
    run, _ = await called([fail, echo, add], call("ad", {"a": 1}))

    assert run.calls[0].result.content == "unknown tool 'ad'; the tools are add, fail, echo"
    assert isinstance(run.calls[0].error, ToolError)
    assert run.calls[0].name == "ad"


async def test_at_most_twenty_names_are_told() -> None:
    tools = [Tool.define(name=f"tool_{n}", description="One of many.", handler=lambda: None) for n in range(50)]

    run, _ = await called(tools, call("tool_333"))

    content = run.calls[0].result.content
    assert content.startswith("unknown tool 'tool_333'; the tools are tool_33, ")
    assert content.endswith(" and 30 more")
    assert content.count("tool_") == 21


async def test_without_tools_it_says_so() -> None:
    run, _ = await called([], call("search"))

    assert run.calls[0].result.content == "unknown tool 'search'; there are no tools"


async def test_a_huge_name_is_not_repeated() -> None:
    run, _ = await called([add], call("x" * 1_000_000))

    assert len(run.calls[0].result.content) < 200


# Arguments that can't be read

MALFORMED = {
    "truncated": '{"text": "x',
    "a list": "[1]",
    "a number": "3",
    "true": "true",
    "a string": '"x"',
    "a wholly encoded object": '"{\\"text\\": \\"x\\"}"',
    "not a number": '{"text": NaN}',
    "infinity": '{"text": 1e400}',
    "python": "text = 'x'",
    "a raw line end": '{"text": "a\nb"}',
    "a lone surrogate": '{"text": "\\ud800"}',
    "half a character": '{"text": "\ud800',
    "repeated keys": '{"text": "a", "text": "b"}',
    "deep": '{"text": ' + "[" * 5_000 + "]" * 5_000 + "}",
    "many digits": '{"text": ' + "9" * 5_000 + "}",
}


@pytest.mark.parametrize("raw", MALFORMED.values(), ids=MALFORMED)
async def test_malformed_arguments_never_run_and_stand_in_the_transcript_as_an_object(raw: str) -> None:
    ran: list[str] = []

    @tool
    async def say(text: str = "default") -> str:
        """Say something."""
        ran.append(text)
        return text

    run, model = await called([say], call("say", raw))

    [record] = run.calls
    assert ran == []
    assert record.result.is_error
    assert record.arguments == raw
    assert len(record.result.content) < 1_000
    for message in model.requests[1].messages:
        if isinstance(message, AssistantMessage):
            for sent in message.tool_calls:
                assert isinstance(json.loads(sent.arguments), dict)  # type: ignore[arg-type]
                str(sent.arguments).encode()


def nested(depth: int) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for _ in range(depth):
        arguments = {"text": arguments}
    return arguments


def endless() -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    arguments["text"] = [arguments]
    return arguments


@pytest.mark.parametrize("name", ["echo", "unknown"])
@pytest.mark.parametrize(
    "arguments", [nested(250), nested(900), nested(5_000), endless()], ids=["250", "900", "5000", "endless"]
)
async def test_objects_that_nest_too_deep_are_refused_and_the_transcript_can_be_saved(
    arguments: dict[str, Any], name: str
) -> None:
    run, _ = await called([echo], ToolCall("c1", name, arguments))

    [record] = run.calls
    assert ("unknown" if name == "unknown" else "the arguments are nested too deep") in record.result.content
    assert run.response == "done"
    again = await Agent(ScriptedModel([says("well")])).run(
        "go on", messages=messages_from_json(messages_to_json(run.messages))
    )
    assert again.response == "well"


async def test_what_was_no_object_stands_inside_one() -> None:
    run, _ = await called([echo], call("echo", '{"text": "x'))

    [answer] = [message for message in run.messages if isinstance(message, AssistantMessage) and message.tool_calls]
    assert json.loads(str(answer.tool_calls[0].arguments)) == {"malformed_arguments": '{"text": "x'}


@pytest.mark.parametrize("raw", ["", "  \n", "null", " null "], ids=repr)
async def test_blank_text_and_null_run_as_no_arguments_and_stand_as_an_object(raw: str) -> None:
    @tool
    async def ping() -> str:
        """Answer."""
        return "pong"

    run, model = await called([ping, echo], call("ping", raw), call("echo", raw), call("unknown", raw))

    assert run.calls[0].result.content == "pong"
    assert "$.text: " in run.calls[1].result.content
    assert run.calls[0].arguments == {}
    answer = model.requests[1].messages[1]
    assert isinstance(answer, AssistantMessage)
    assert [sent.arguments for sent in answer.tool_calls] == ["{}"] * 3


async def test_arguments_given_as_a_dict_with_what_json_lacks_are_refused() -> None:
    run, model = await called([echo], call("echo", {"text": float("nan")}), call("echo", {"text": object()}))

    assert all(record.result.is_error for record in run.calls)
    answer = model.requests[1].messages[1]
    assert isinstance(answer, AssistantMessage)
    assert [list(json.loads(str(sent.arguments))) for sent in answer.tool_calls] == [["malformed_arguments"]] * 2


async def test_the_odd_calls_of_the_collection_behave() -> None:
    @tool
    async def get_weather() -> str:
        """Get the weather."""
        return "sunny"

    @tool(name="add")
    async def add_one(a: int) -> int:
        """Add one."""
        return a + 1

    odd = [shared_json(f"odd_inputs/{name}.json") for name in ("call_duplicate_ids", "call_empty_id")]
    sent = [call(c["name"], c["arguments"], id=c["id"]) for listed in odd for c in listed["calls"]]
    unknown = shared_json("odd_inputs/call_unknown_tool.json")["call"]

    run, _ = await called([get_weather, add_one], *sent, call(unknown["name"], unknown["arguments"]))

    assert [record.result.content for record in run.calls] == [
        "2",
        "3",
        "2",
        "unknown tool 'get_wether'; the tools are get_weather, add",
    ]
    assert len({record.id for record in run.calls}) == 4


# What the handler does with its arguments is its own affair


@tool
async def take(items: list[Any]) -> str:
    """Take the items."""
    items.clear()
    return "taken"


class TakeAll(Tool):
    """Take all."""

    name = "take"
    input_schema = {"type": "object", "properties": {"items": {"type": "array"}}}  # noqa: RUF012

    async def handler(self, arguments: dict[str, Any], ctx: RunContext) -> str:
        arguments["items"].clear()
        arguments["more"] = 1
        assert ctx.call is not None
        ctx.call.arguments.clear()
        return "taken"


@pytest.mark.parametrize("wanted", [take, TakeAll()], ids=["spread", "whole"])
@pytest.mark.parametrize("raw", [{"items": [1, 2]}, '{"items": [1, 2]}'], ids=["dict", "text"])
async def test_a_handler_that_changes_its_arguments_changes_neither_record_nor_transcript(
    wanted: Any, raw: Any
) -> None:
    sent = call("take", raw)

    run, model = await called([wanted], sent)

    assert run.calls[0].result.content == "taken"
    assert run.calls[0].arguments == {"items": [1, 2]}
    answer = model.requests[1].messages[1]
    assert isinstance(answer, AssistantMessage)
    assert answer.tool_calls[0].arguments == {"items": [1, 2]} if isinstance(raw, dict) else raw


async def test_a_call_that_the_end_of_the_run_overtook_shows_what_was_sent_whatever_a_guard_made_of_it() -> None:
    class Broken(Tool):
        """Never built."""

        name = "broken"

        def __init__(self) -> None:
            raise ConfigurationError("no key")

        async def handler(self, n: int) -> str:
            return str(n)

    agent = Agent(tools=[Broken], hooks=[Before(lambda ctx, call: Modify({"n": 2}))])

    with pytest.raises(ConfigurationError) as caught:
        await agent.run("go", model=ScriptedModel([calls(call("broken", {"n": 1}))]))

    assert caught.value.run is not None
    [record] = caught.value.run.calls
    assert record.result.content == "not run: the run ended before"
    assert record.arguments == {"n": 1}


# Building


async def test_a_tool_is_built_when_it_is_first_called_and_once_for_the_run() -> None:
    built: list[str] = []

    class Lazy(Tool):
        """Wait."""

        name = "lazy"

        def __init__(self) -> None:
            built.append("lazy")

        async def handler(self) -> str:
            return "ok"

    class Never(Tool):
        """Never called."""

        name = "never"

        def __init__(self) -> None:
            built.append("never")

        async def handler(self) -> str:
            return "ok"

    agent = Agent(tools=[Lazy, Never])
    model = ScriptedModel([calls(call("lazy"), call("lazy")), calls(call("lazy")), says("done")])

    await agent.run("go", model=model)
    await agent.run("go", model=ScriptedModel([calls(call("lazy")), says("done")]))
    await agent.run("go", model=ScriptedModel([says("done")]))

    assert built == ["lazy", "lazy"]


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize(
    "error", [OSError("secret-7"), asyncio.CancelledError(), StopIteration()], ids=lambda e: type(e).__name__
)
async def test_a_tool_that_can_not_be_built_is_an_error_result_and_is_tried_again(
    error: BaseException, count: int
) -> None:
    tries: list[int] = []

    class Fragile(Tool):
        """Break."""

        name = "fragile"

        def __init__(self) -> None:
            tries.append(1)
            raise error

        async def handler(self) -> str:
            return "ok"

    run, _ = await called([Fragile], *[call("fragile")] * count)

    assert len(tries) == count
    for record in run.calls:
        assert record.result.content.startswith("tool 'fragile' failed: ")
        assert "secret-7" not in record.result.content


# Errors of handlers

RAISED: dict[str, tuple[BaseException, str]] = {
    "a tool error": (ToolError("sold out"), "sold out"),
    "an exception without a text": (ValueError(), "tool 'act' failed: ValueError"),
    "a cancellation of its own": (asyncio.CancelledError(), "tool 'act' failed: CancelledError"),
    "a timeout of its own": (TimeoutError("secret-7"), "tool 'act' failed: TimeoutError"),
    "a group": (ExceptionGroup("secret-7", [ValueError()]), "tool 'act' failed: ExceptionGroup"),
    "a group with a cancellation": (
        BaseExceptionGroup("secret-7", [asyncio.CancelledError()]),
        "tool 'act' failed: BaseExceptionGroup",
    ),
}


@pytest.mark.parametrize("kind", ["async", "thread", "on the loop"])
@pytest.mark.parametrize("count", [1, 2], ids=["alone", "two at once"])
@pytest.mark.parametrize(("error", "content"), RAISED.values(), ids=RAISED)
async def test_what_a_handler_raises_is_a_result_and_the_run_goes_on(
    error: BaseException, content: str, count: int, kind: str
) -> None:
    def act() -> str:
        raise error

    async def act_later() -> str:
        raise error

    handler = act_later if kind == "async" else act
    wanted = Tool.define(name="act", description="Act.", handler=handler, run_in_thread=kind == "thread")

    run, _ = await called([wanted], *[call("act")] * count)

    assert [record.result.content for record in run.calls] == [content] * count
    assert all(record.error is error for record in run.calls)


async def test_a_handlers_own_task_group_and_timeout_do_not_end_the_run() -> None:
    """A group whose child fails leaves the task's count of cancellations one too high on Python 3.11 and 3.12."""

    async def broken() -> None:
        await asyncio.sleep(0)
        raise ValueError

    @tool
    async def gather() -> str:
        """Gather."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(broken())
        except* ValueError:
            pass
        try:
            async with asyncio.timeout(0):
                await asyncio.Event().wait()
        except TimeoutError:
            pass
        await asyncio.sleep(0)
        return "gathered"

    @tool
    async def give_up() -> str:
        """Raise a cancellation that nobody asked for."""
        raise asyncio.CancelledError

    model = ScriptedModel(
        [calls(call("gather")), calls(call("give_up")), calls(call("gather"), call("gather")), says("done")]
    )

    run = await Agent(model, tools=[gather, give_up]).run("go")

    assert [record.result.content for record in run.calls] == [
        "gathered",
        "tool 'give_up' failed: CancelledError",
        "gathered",
        "gathered",
    ]
    assert run.outcome == "completed"


async def test_a_handlers_own_timeout_is_not_taken_for_a_cancellation_that_it_resists() -> None:
    @tool
    async def patient() -> str:
        """Give up on one thing, and go on with another for longer than the close timeout."""
        try:
            async with asyncio.timeout(0):
                await asyncio.Event().wait()
        except TimeoutError:
            pass
        await asyncio.sleep(0.05)
        return "done after all"

    model = ScriptedModel([calls(call("patient")), says("done")])

    run = await Agent(model, tools=[patient], limits=Limits(close_timeout=0.001)).run("go")

    assert run.calls[0].result.content == "done after all"


# Timeouts


async def test_a_handler_past_its_timeout_is_cancelled_and_its_finally_is_done() -> None:
    log: list[str] = []

    @tool(timeout=0.01)
    async def slow() -> str:
        """Take for ever."""
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            log.append("cleaned up")
        return "never"

    run, _ = await called([slow], call("slow"))

    assert run.calls[0].result.content == "tool 'slow' took longer than 0.01 seconds"
    assert isinstance(run.calls[0].error, TimeoutError)
    assert log == ["cleaned up"]


@pytest.mark.parametrize("late", [None, "late", ToolError("late"), ValueError("late")], ids=repr)
async def test_whatever_a_handler_makes_of_its_timeout_it_was_too_long(late: Any) -> None:
    @tool(timeout=0.01)
    async def slow() -> Any:
        """Take for ever, and do not own up."""
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if isinstance(late, Exception):
                raise late from None
            return late

    run, _ = await called([slow], call("slow"))

    assert run.calls[0].result.content == "tool 'slow' took longer than 0.01 seconds"


async def test_a_sync_handler_past_its_timeout_is_left_behind_at_once() -> None:
    let_go = threading.Event()

    @tool(timeout=0.01)
    def slow() -> str:
        """Hold a thread."""
        let_go.wait()
        return "late"

    try:
        run, _ = await called([slow], call("slow"), call("slow"))
    finally:
        let_go.set()

    assert [record.result.content for record in run.calls] == [
        "tool 'slow' took longer than 0.01 seconds; the work may still be going on"
    ] * 2


async def test_the_event_loop_goes_on_while_a_sync_handler_works() -> None:
    let_go = threading.Event()

    @tool
    def hold() -> str:
        """Hold a thread until another call lets go."""
        assert let_go.wait(60)
        return "held"

    @tool
    async def release() -> str:
        """Let go."""
        let_go.set()
        return "released"

    run, _ = await called([hold, release], call("hold"), call("release"))

    assert [record.result.content for record in run.calls] == ["held", "released"]


async def test_a_result_too_long_is_cut_and_the_value_stays_whole() -> None:
    @tool
    async def long() -> str:
        """Say a lot."""
        return "å" * 1_000_000

    run, model = await called([long], call("long"), call("long"))

    for record in run.calls:
        assert len(record.result.content.encode()) <= 40_000
        assert "bytes cut" in record.result.content
        assert record.result.value == "å" * 1_000_000
    assert sum(len(repr(message)) for message in model.requests[1].messages) < 100_000


@pytest.mark.parametrize("character", ["a", "å", "漢", "🙂"])
@pytest.mark.parametrize("spare", [0, 1])
async def test_a_result_is_cut_at_the_limit_in_bytes_whatever_it_is_written_in(character: str, spare: int) -> None:
    text = character * (4_000 // len(character.encode())) + "a" * spare

    @tool(max_result_tokens=1_000)
    async def long() -> str:
        """Say a lot."""
        return text

    run, _ = await called([long], call("long"))

    content = run.calls[0].result.content
    if len(text.encode()) <= 4_000:
        assert content == text
    else:
        assert "bytes cut" in content
        assert len(content.encode()) <= 4_000
