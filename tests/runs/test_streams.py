"""Streams: the events of a run as they happen, its errors at the end, and nothing left when the block is left."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import threading
import tracemalloc
from collections.abc import AsyncIterator
from typing import Any

import pytest
from dependency_injector import containers, providers

from tests.runs.parts import CallingModel, Gate, GatedTool, add, assert_consistent, fail, no_task_is_left, read, until
from toolkit import (
    Agent,
    DeadlineExceeded,
    LimitExceeded,
    Limits,
    ModelError,
    RunContext,
    Tool,
    ToolCall,
    Usage,
    events,
    tool,
)
from toolkit.injection import RunScoped, application, dep, provide
from toolkit.messages import AssistantMessage
from toolkit.models import (
    ModelDone,
    ModelRequest,
    ModelResponse,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
)
from toolkit.testing import ScriptedModel, call, calls, says


def kinds(seen: list[Any]) -> list[str]:
    return [type(event).__name__ for event in seen]


async def test_the_events_of_a_run_come_in_order() -> None:
    model = ScriptedModel([calls(call("add", {"a": 1, "b": 2}), call("nothing"), text="Let me see."), says("It is 3.")])

    async with Agent(model, tools=[add]).stream("1 + 2?") as stream:
        seen = [event async for event in stream]

    assert kinds(seen) == [
        "RunStarted",
        "TurnStarted",
        "TextDelta",
        "TextDelta",
        "TextDelta",
        "ToolCallStarted",
        "ToolCallStarted",
        "ToolCallFinished",
        "ToolCallFinished",
        "TurnFinished",
        "TurnStarted",
        "TextDelta",
        "TextDelta",
        "TextDelta",
        "TurnFinished",
        "RunFinished",
    ]
    run = stream.run
    assert {event.run_id for event in seen} == {run.id}
    assert "".join(event.text for event in seen if isinstance(event, events.TextDelta)) == "Let me see.It is 3."
    assert [event.turn for event in seen if isinstance(event, events.TurnStarted)] == [1, 2]
    assert [event.turn for event in seen if isinstance(event, events.TurnFinished)] == [1, 2]
    assert seen[-1] == events.RunFinished(run.id, run)
    assert_consistent(run)


async def test_the_run_of_a_stream_is_complete_after_the_last_event() -> None:
    async with Agent(ScriptedModel([says("hello", usage=Usage(3, 2))])).stream("hi", actor_id="u1") as stream:
        outcomes = [stream.run.outcome async for _ in stream]

    assert outcomes[-1] == "completed"
    assert (stream.run.response, stream.run.usage, stream.run.invocation.actor_id) == ("hello", Usage(3, 2), "u1")


@pytest.mark.skipif(sys.gettrace() is not None, reason="Python lets no text grow where it is while it is traced")
async def test_a_streamed_text_grows_without_a_copy_for_each_piece() -> None:
    size, pieces = 1_000_000, 200
    peaks: list[int] = []

    class Long:
        async def respond(self, request: ModelRequest) -> ModelResponse:
            raise AssertionError

        async def stream(self, request: ModelRequest) -> AsyncIterator[Any]:
            yield TextDelta("a" * size)
            for _ in range(pieces):
                tracemalloc.reset_peak()
                before, _ = tracemalloc.get_traced_memory()
                yield TextDelta("b")
                peaks.append(tracemalloc.get_traced_memory()[1] - before)
            yield ModelDone(ModelResponse("a" * size + "b" * pieces))

    tracemalloc.start()
    try:
        await read(Agent(Long()).stream("hi"))
    finally:
        tracemalloc.stop()

    # The first pieces are taken in before Python has seen what is added to what.
    assert max(peaks[pieces // 2 :]) < size / 2


async def test_a_piece_that_is_no_text_leaves_the_text_before_it() -> None:
    with pytest.raises(ModelError, match="TypeError") as caught:
        await read(Agent(Piecewise(TextDelta("It "), TextDelta(5))).stream("hi"))  # type: ignore[arg-type]

    assert caught.value.run.response == "It "


@pytest.mark.parametrize("piece", ["", 5])
async def test_a_stream_that_fails_without_a_text_leaves_that_of_the_turn_before(piece: Any) -> None:
    class Failing(ScriptedModel):
        async def stream(self, request: ModelRequest) -> AsyncIterator[Any]:
            if self.requests:
                yield TextDelta(piece)
                raise ConnectionError("gone")
            async for delta in super().stream(request):
                yield delta

    agent = Agent(Failing([calls(call("add", {"a": 1, "b": 2}), text="Let me see.")]), tools=[add])

    with pytest.raises(ModelError) as caught:
        await read(agent.stream("hi"))

    assert caught.value.run.response == "Let me see."


async def test_the_run_of_a_stream_has_the_text_as_far_as_it_has_come() -> None:
    read_so_far = asyncio.Event()

    class Slow(ScriptedModel):
        async def stream(self, request: ModelRequest) -> AsyncIterator[Any]:
            yield TextDelta("Hel")
            await read_so_far.wait()
            yield TextDelta("lo")
            yield ModelDone(ModelResponse("Hello"))

    so_far: list[str] = []
    async with Agent(Slow([])).stream("hi") as stream:
        async for event in stream:
            if isinstance(event, events.TextDelta):
                so_far.append(stream.run.response)
                read_so_far.set()

    assert so_far[0] == "Hel"
    assert stream.run.response == "Hello"


async def test_the_last_event_comes_after_closing() -> None:
    log: list[str] = []

    class Closing(Tool):
        """Be closed."""

        name = "close"

        async def handler(self) -> str:
            return "ok"

        async def aclose(self) -> None:
            log.append("closed")

    async with Agent(ScriptedModel([calls(call("close")), says("done")]), tools=[Closing]).stream("go") as stream:
        async for event in stream:
            if isinstance(event, events.RunFinished):
                log.append("told")

    assert log == ["closed", "told"]


async def test_text_before_a_tool_call_does_not_end_the_run() -> None:
    model = ScriptedModel([calls(call("add", {"a": 1, "b": 2}), text=" "), says("3")])

    async with Agent(model, tools=[add]).stream("1 + 2?") as stream:
        async for _ in stream:
            pass

    assert (len(model.requests), stream.run.response) == (2, "3")


# Models


async def test_a_model_without_stream_is_streamed_whole() -> None:
    async def respond(request: ModelRequest) -> ModelResponse:
        return ModelResponse("It is 3.", reasoning="1 + 2")

    async with Agent(CallingModel(respond)).stream("1 + 2?") as stream:
        seen = [event async for event in stream]

    assert kinds(seen)[2:4] == ["ReasoningDelta", "TextDelta"]
    assert (seen[2].text, seen[3].text) == ("1 + 2", "It is 3.")  # type: ignore[union-attr]


class Piecewise:
    """A model that streams what it is made with."""

    def __init__(self, *deltas: Any) -> None:
        self.deltas = deltas
        self.closed = False

    async def respond(self, request: ModelRequest) -> ModelResponse:
        raise AssertionError("a stream was asked for")

    async def stream(self, request: ModelRequest) -> AsyncIterator[Any]:
        try:
            for delta in self.deltas:
                if isinstance(delta, BaseException):
                    raise delta
                if isinstance(delta, Gate):
                    await delta.pass_through()
                    continue
                yield delta
        finally:
            self.closed = True


async def test_a_models_pieces_are_told_as_they_come_and_its_response_counts() -> None:
    answer = ModelResponse("It is 3.", reasoning="Hm.")
    model = Piecewise(
        ReasoningDelta("Hm."), TextDelta("It "), TextDelta("is 3."), ToolCallDelta(0, "c", "add"), ModelDone(answer)
    )

    async with Agent(model).stream("1 + 2?") as stream:
        seen = [event async for event in stream]

    assert kinds(seen)[2:5] == ["ReasoningDelta", "TextDelta", "TextDelta"]
    assert stream.run.response == "It is 3."
    assert model.closed


async def test_a_stream_that_tells_only_its_end_is_told_whole() -> None:
    async with Agent(Piecewise(ModelDone(ModelResponse("It is 3.")))).stream("1 + 2?") as stream:
        seen = [event async for event in stream]

    assert [event.text for event in seen if isinstance(event, events.TextDelta)] == ["It is 3."]


async def test_stream_may_be_a_coroutine_function_that_returns_an_iterator() -> None:
    class Later(Piecewise):
        async def stream(self, request: ModelRequest) -> Any:  # type: ignore[override]
            return super().stream(request)

    async with Agent(Later(ModelDone(ModelResponse("hello")))).stream("hi") as stream:
        async for _ in stream:
            pass

    assert stream.run.response == "hello"


@pytest.mark.parametrize(
    ("deltas", "text"),
    [
        ([TextDelta("It ")], "the model's stream ended without ModelDone"),
        ([TextDelta("It "), ConnectionError("lost")], "ConnectionError: lost"),
        ([ModelDone("hello")], "the model gave str"),  # type: ignore[arg-type]
    ],
    ids=["no end", "an error", "no response"],
)
async def test_a_models_stream_that_breaks_is_a_model_error_and_keeps_the_text_so_far(
    deltas: list[Any], text: str
) -> None:
    model = Piecewise(*deltas)

    with pytest.raises(ModelError, match=text) as caught:
        await read(Agent(model).stream("hi"))

    assert caught.value.run.response == ("It " if len(deltas) > 1 or "end" in text else "")
    assert model.closed


async def test_a_stream_is_not_used_where_nobody_listens() -> None:
    class Both(Piecewise):
        async def respond(self, request: ModelRequest) -> ModelResponse:
            return ModelResponse("at once")

    assert (await Agent(Both()).run("hi")).response == "at once"


# Errors


async def test_an_error_is_raised_at_the_end_of_the_iteration() -> None:
    model = ScriptedModel([calls(call("add", {"a": 1, "b": 2}))])
    seen: list[Any] = []

    async with Agent(model, tools=[add], limits=Limits(max_turns=1)).stream("go") as stream:
        with pytest.raises(LimitExceeded) as caught:
            await read_all(stream, seen)

    assert kinds(seen)[-1] == "RunFinished"
    assert caught.value.run is stream.run
    assert stream.run.outcome == "partial"


async def test_calls_that_a_limit_forbids_start_and_end_in_the_events_too() -> None:
    model = ScriptedModel([calls(call("add", {"a": 1, "b": 2})), says("never mind")])
    limits = Limits(max_tool_calls=0, on_limit="answer")

    async with Agent(model, tools=[add], limits=limits).stream("go") as stream:
        seen = [event async for event in stream]

    assert kinds(seen) == [
        "RunStarted",
        "TurnStarted",
        "ToolCallStarted",
        "ToolCallFinished",
        "TurnFinished",
        "TurnStarted",
        "TextDelta",
        "TextDelta",
        "TurnFinished",
        "RunFinished",
    ]


async def test_every_call_that_starts_ends_in_the_events_also_when_the_run_is_cut_short() -> None:
    gate = Gate()
    model = ScriptedModel([calls(call("wait"), call("wait"))])
    seen: list[Any] = []

    with pytest.raises(DeadlineExceeded):
        await read(Agent(model, tools=[GatedTool(gate)]).stream("go", timeout=0.01), seen)

    assert kinds(seen).count("ToolCallStarted") == kinds(seen).count("ToolCallFinished") == 2


async def test_an_error_of_the_block_is_not_replaced() -> None:
    with pytest.raises(KeyError):
        async with Agent(ScriptedModel([ConnectionError()])).stream("hi"):
            raise KeyError


async def test_outside_of_its_block_a_stream_says_how_it_is_used() -> None:
    stream: Any = Agent(ScriptedModel([])).stream("hi")

    with pytest.raises(RuntimeError, match="used inside its block: `async with"):
        _ = stream.run
    with pytest.raises(RuntimeError, match="used inside its block"):
        async for _ in stream:
            pass


async def test_a_stream_is_one_run() -> None:
    stream: Any = Agent(ScriptedModel([says("hello")])).stream("hi")
    async with stream:
        pass

    with pytest.raises(RuntimeError, match="a stream is one run"):
        async with stream:
            pass


async def test_two_readers_of_one_stream_are_told() -> None:
    gate = Gate()
    agent = Agent(ScriptedModel([calls(call("wait")), says("done")]), tools=[GatedTool(gate)])

    async with agent.stream("go") as stream:

        async def read() -> int:
            return len([event async for event in stream])

        first = asyncio.create_task(read())
        await gate.arrived.wait()
        with pytest.raises(RuntimeError, match="two tasks read one stream"):
            await read()
        gate.open.set()
        assert await first > 0


# Leaving early


class Closing(Tool):
    """Be closed."""

    name = "close"
    log: list[str] = []  # noqa: RUF012 - of the test that uses it

    async def handler(self) -> str:
        await asyncio.sleep(0)
        return "ok"

    async def aclose(self) -> None:
        await asyncio.sleep(0)
        type(self).log.append("tool")


async def test_leaving_at_any_event_closes_everything_before_the_block_ends() -> None:
    """Without the garbage collector's help, and with no task left."""
    at = 0
    gc.disable()
    try:
        while True:
            log: list[str] = []
            tool_class = type("Closing", (Closing,), {"log": log, "__doc__": "Be closed."})
            model = ScriptedModel([calls(call("close"), call("close")), calls(call("close")), says("done now")])
            seen = 0
            async with Agent(model, tools=[tool_class]).stream("go") as stream:
                async for _ in stream:
                    if seen == at:
                        break
                    seen += 1
            await no_task_is_left()
            assert stream.run.outcome in ("cancelled", "completed")
            assert_consistent(stream.run)
            assert len(log) == 1 if any(record.result.value for record in stream.run.calls) else len(log) <= 1
            if seen < at:
                break
            at += 1
    finally:
        gc.enable()
    assert at > 15


async def test_leaving_without_reading_cancels_the_run() -> None:
    model = ScriptedModel([says("never")])

    async with Agent(model).stream("hi") as stream:
        pass

    assert stream.run.outcome == "cancelled"
    assert model.requests == []
    assert [type(message).__name__ for message in stream.run.messages] == ["UserMessage"]
    await no_task_is_left()


async def test_leaving_while_the_model_streams_closes_the_models_stream() -> None:
    model = Piecewise(TextDelta("It "), Gate())

    async with Agent(model).stream("hi") as stream:
        async for event in stream:
            if isinstance(event, events.TextDelta):
                break

    assert model.closed
    assert (stream.run.outcome, stream.run.response) == ("cancelled", "It ")


async def test_a_caller_that_is_cancelled_while_it_leaves_is_cancelled_once_all_is_closed() -> None:
    gate, log = Gate(), list[str]()

    class Slow(Tool):
        """Close slowly."""

        name = "slow"

        async def handler(self) -> str:
            return "ok"

        async def aclose(self) -> None:
            await gate.pass_through()
            log.append("closed")

    async def work() -> None:
        agent = Agent(ScriptedModel([calls(call("slow")), says("done")]), tools=[Slow])
        async with agent.stream("go") as stream:
            async for event in stream:
                if isinstance(event, events.ToolCallFinished):
                    break
        log.append("went on")

    task = asyncio.create_task(work())
    await gate.arrived.wait()
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0)
    gate.open.set()

    with pytest.raises(asyncio.CancelledError):
        await task

    assert log == ["closed"]


async def test_a_reader_that_is_cancelled_cancels_the_run() -> None:
    tool = GatedTool(Gate())

    async def work() -> None:
        async with Agent(ScriptedModel([calls(call("wait"))]), tools=[tool]).stream("go") as stream:
            async for _ in stream:
                pass

    task = asyncio.create_task(work())
    await tool.gate.arrived.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task

    assert tool.log == ["wait begins", "wait ends"]
    await no_task_is_left()


async def cancel_all_others() -> None:
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        if "Owner" in repr(task):
            task.cancel()


@pytest.mark.parametrize("is_streamed", [False, True])
async def test_a_run_that_is_cancelled_from_outside_before_its_first_step_ends(is_streamed: bool) -> None:
    agent = Agent(ScriptedModel([says("Hello.")]))

    async def read_or_run() -> None:
        if is_streamed:
            await read(agent.stream("Hi"))
        else:
            await agent.run("Hi")

    reading = asyncio.create_task(read_or_run())
    canceller = asyncio.create_task(cancel_all_others())  # goes before what the first makes
    ended, _ = await asyncio.wait((reading,), timeout=2)
    reading.cancel()

    assert ended
    assert reading.cancelled()
    await canceller


async def test_a_reader_is_woken_also_where_the_run_breaks_without_a_last_event(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def close(*_: Any) -> list[BaseException]:
        await asyncio.sleep(0.01)
        raise RuntimeError("the container broke")

    monkeypatch.setattr("toolkit.injection.mapping._MappingScope.close_at_once", lambda _: False)
    monkeypatch.setattr("toolkit.injection.mapping._MappingScope.close", close)

    with pytest.raises(RuntimeError, match="the container broke"):
        await asyncio.wait_for(read(Agent(ScriptedModel([says("Hello.")])).stream("Hi")), timeout=2)


async def test_opening_and_closing_happen_in_one_task_whoever_reads() -> None:
    tasks: list[Any] = []

    class Connection:
        pass

    async def connect() -> AsyncIterator[Connection]:
        async with asyncio.timeout(60):  # refuses to be left in another task
            tasks.append(asyncio.current_task())
            yield Connection()
            tasks.append(asyncio.current_task())

    class Use(Tool):
        """Use the connection."""

        name = "use"

        def __init__(self, connection: Connection) -> None: ...

        async def handler(self) -> str:
            return "ok"

    class Application(containers.DeclarativeContainer):
        connection = RunScoped(connect)
        use = provide(Use, connection=dep(connection))
        model = providers.Factory(lambda: ScriptedModel([calls(call("use"), call("use")), says("done")]))
        agent = provide(Agent, model=dep(model), tools=["use"])

    async with application(Application()) as app:
        async with app.agent().stream("go") as stream:
            await asyncio.create_task(read_all(stream))
        await asyncio.gather(*(app.agent().run("go") for _ in range(20)))

    assert len(tasks) == 42
    assert all(tasks.count(task) == 2 for task in tasks)


async def read_all(stream: Any, seen: list[Any] | None = None) -> None:
    async for event in stream:
        if seen is not None:
            seen.append(event)


# A slow reader


async def test_the_run_does_not_wait_for_its_reader() -> None:
    model = ScriptedModel([calls(call("add", {"a": 1, "b": 2})), says("It is 3.")])

    async with Agent(model, tools=[add]).stream("1 + 2?") as stream:
        reader = aiter(stream)
        await anext(reader)
        await until(lambda: stream.run.outcome != "running")
        left = [event async for event in reader]

    assert kinds(left)[-1] == "RunFinished"
    assert stream.run.outcome == "completed"


# emit


async def test_tools_and_hooks_emit_events_of_their_own() -> None:
    @tool
    async def work(ctx: RunContext) -> str:
        """Work."""
        ctx.emit(events.CustomEvent("progress", {"done": 1}))
        return "ok"

    class Hook:
        def on_before_call(self, ctx: RunContext, call: Any) -> None:
            ctx.emit(events.CustomEvent("guarded"))

    async with Agent(ScriptedModel([calls(call("work")), says("done")]), tools=[work], hooks=[Hook()]).stream(
        "go"
    ) as stream:
        seen = [event async for event in stream]

    custom = [event for event in seen if isinstance(event, events.CustomEvent)]
    assert [(event.name, event.data, event.run_id) for event in custom] == [
        ("guarded", None, stream.run.id),
        ("progress", {"done": 1}, stream.run.id),
    ]
    at = kinds(seen)
    assert at.index("ToolCallStarted") < at.index("CustomEvent") < at.index("ToolCallFinished")


async def test_a_sync_handler_emits_from_its_thread() -> None:
    loop, reader_waits = asyncio.get_running_loop(), threading.Event()
    loop.set_debug(True)  # so that what is not safe between threads raises
    seen: list[Any] = []

    @tool
    def work(ctx: RunContext) -> str:
        """Work."""
        reader_waits.wait(60)
        for done in range(3):
            ctx.emit(events.CustomEvent("progress", done))
        return "ok"

    async with Agent(ScriptedModel([calls(call("work")), says("done")]), tools=[work]).stream("go") as stream:
        async for event in stream:
            seen.append(event)
            if isinstance(event, events.ToolCallStarted):
                loop.call_later(0.01, reader_waits.set)

    assert stream.run.calls[0].result.value == "ok"
    assert [event.data for event in seen if isinstance(event, events.CustomEvent)] == [0, 1, 2]
    assert kinds(seen).index("CustomEvent") < kinds(seen).index("ToolCallFinished")


async def test_a_thread_that_outlives_its_run_emits_nothing_after_the_last_event() -> None:
    let_go, done = threading.Event(), threading.Event()

    @tool(timeout=0.01)
    def work(ctx: RunContext) -> str:
        """Work for too long."""
        let_go.wait(60)
        ctx.emit(events.CustomEvent("late"))
        done.set()
        return "late"

    async with Agent(ScriptedModel([calls(call("work")), says("done")]), tools=[work]).stream("go") as stream:
        seen = [event async for event in stream]
        let_go.set()
        await until(done.is_set)
        await asyncio.sleep(0)
        after = [event async for event in stream]

    assert isinstance(seen[-1], events.RunFinished)
    assert after == []


async def test_without_a_listener_emit_does_nothing() -> None:
    @tool
    async def work(ctx: RunContext) -> str:
        """Work."""
        ctx.emit(events.CustomEvent("progress"))
        return "ok"

    run = await Agent(ScriptedModel([calls(call("work")), says("done")]), tools=[work]).run("go")

    assert run.calls[0].result.value == "ok"


@pytest.mark.parametrize("event", ["progress", events.TurnStarted("r", 1), None])
def test_only_custom_events_can_be_emitted(event: Any) -> None:
    with pytest.raises(TypeError, match=r"emit takes a CustomEvent\(name, data\)"):
        RunContext().emit(event)


# What events tell


async def test_no_event_holds_the_context_or_an_exceptions_text() -> None:
    model = ScriptedModel([calls(call("fail"), call("add", {"a": 1, "b": 2})), says("Sorry.")])

    async with Agent(model, tools=[fail, add]).stream(
        "go", context={"key": "context-secret"}, state={"s": "state-secret"}
    ) as stream:
        seen = [event async for event in stream]

    assert "abc123" not in repr(seen)
    assert "secret" not in repr(seen)


async def test_the_call_of_an_event_is_that_of_the_transcript() -> None:
    asked = call("add", '{"a": 1', id="c"), call("add", '{"a": 1, "b": 2}', id="c"), call("no tool", "[1]", id="c")
    model = ScriptedModel([calls(*asked), says("3")])

    async with Agent(model, tools=[add]).stream("go") as stream:
        started = [event async for event in stream if isinstance(event, events.ToolCallStarted)]

    assert [event.call for event in started] == [
        ToolCall("c", "add", '{"malformed_arguments": "{\\"a\\": 1"}'),
        ToolCall("c_2", "add", '{"a": 1, "b": 2}'),
        ToolCall("c_3", "no_tool", '{"malformed_arguments": "[1]"}'),
    ]
    answer = stream.run.messages[1]
    assert isinstance(answer, AssistantMessage)
    assert [event.call for event in started] == [*answer.tool_calls]
    assert [(record.id, record.name, record.arguments) for record in stream.run.calls] == [
        ("c", "add", '{"a": 1'),
        ("c_2", "add", {"a": 1, "b": 2}),
        ("c_3", "no tool", "[1]"),
    ]
    assert [json.loads(events.event_to_json(event))["call"]["arguments"] for event in started] == [
        {"malformed_arguments": '{"a": 1'},
        {"a": 1, "b": 2},
        {"malformed_arguments": "[1]"},
    ]


async def test_what_a_run_ended_with_is_not_logged_when_its_stream_is_left_early(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def answer(request: ModelRequest) -> ModelResponse:
        raise ValueError("token=abc123")

    async with Agent(CallingModel(answer)).stream("go") as stream:
        await anext(stream)
        run = stream.run
        await until(lambda: run.outcome == "failed")
    stream = None  # type: ignore[assignment]
    gc.collect()
    await asyncio.sleep(0)

    assert caplog.records == []
