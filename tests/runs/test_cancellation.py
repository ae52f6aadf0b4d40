"""Cancelling a run: nothing starts any more, what runs is cancelled and awaited, and only then is anything closed."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import warnings
from collections.abc import AsyncIterator
from typing import Annotated, Any

import anyio
import pytest
from dependency_injector import containers, providers

from tests.runs.parts import (
    After,
    Before,
    CallingModel,
    Gate,
    GatedTool,
    add,
    assert_paired,
    no_task_is_left,
    read,
    until,
)
from toolkit import Agent, DeadlineExceeded, Inject, Limits, Run, RunContext, RunError, Tool, tool
from toolkit.hooks import Allow, Deny, Skip
from toolkit.injection import CallScoped, RunScoped, application, dep, provide
from toolkit.messages import ToolMessage
from toolkit.models import ModelRequest, ModelResponse
from toolkit.testing import ScriptedModel, call, calls, says


class Watch:
    """A hook that keeps the run, which a cancelled caller does not get."""

    def __init__(self) -> None:
        self.run: Run[Any] | None = None

    def on_before_model(self, ctx: RunContext, request: Any) -> None:
        self.run = ctx.run


async def cancelled(task: asyncio.Task[Any], times: int = 1) -> None:
    """Cancels a task, waits for it, and sees to it that it ended so."""
    for _ in range(times):
        task.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await task


# Handlers


@pytest.mark.parametrize("times", [1, 2, 3])
@pytest.mark.parametrize("count", [1, 3], ids=["one call", "three calls"])
async def test_a_cancelled_run_cancels_its_handlers_and_returns_when_their_finally_is_done(
    count: int, times: int
) -> None:
    tool, watch = GatedTool(Gate()), Watch()
    model = ScriptedModel([calls(*[call("wait")] * count)])
    task = asyncio.create_task(Agent(model, tools=[tool], hooks=[watch]).run("go"))
    await tool.gate.arrived.wait()

    await cancelled(task, times)

    assert tool.log == ["wait begins"] * count + ["wait ends"] * count
    assert watch.run is not None
    assert watch.run.outcome == "cancelled"
    assert [record.result.is_error for record in watch.run.calls] == [True] * count
    assert_paired(watch.run.messages)
    await no_task_is_left()


async def test_what_was_interrupted_says_so_and_the_conversation_can_go_on() -> None:
    tool, watch = GatedTool(Gate()), Watch()
    model = ScriptedModel([calls(call("wait"), call("add", {"a": 1, "b": 2}), call("wait"))])
    agent = Agent(model, tools=[tool, add], hooks=[watch], limits=Limits(max_concurrency=2))
    task = asyncio.create_task(agent.run("go"))
    await tool.gate.arrived.wait()
    for _ in range(20):
        await asyncio.sleep(0)

    await cancelled(task)

    assert watch.run is not None
    running = "the run ended while this call was running; whether it took effect is not known"
    assert [record.result.content for record in watch.run.calls] == [running, "3", running]
    again = await agent.run("go on", messages=watch.run.messages, model=ScriptedModel([says("Fine.")]))
    assert again.response == "Fine."


@pytest.mark.parametrize("where", ["agent-wide hook", "own hook", "semaphore", "exclusive"])
async def test_a_call_that_waits_for_its_turn_never_starts_after_a_cancellation(where: str) -> None:
    gate, log = Gate(), list[str]()

    class Act(Tool):
        """Act."""

        name = "act"
        exclusive = where == "exclusive"

        async def handler(self) -> str:
            log.append("acted")
            return "acted"

    class Own(Act):
        """Act, guarded."""

        async def on_before_call(self, ctx: RunContext, call: Any) -> None:
            await gate.pass_through()

    class Hold(Tool):
        """Hold what the other waits for."""

        name = "hold"
        exclusive = where == "exclusive"

        async def handler(self) -> str:
            await gate.pass_through()
            return "held"

    async def guard(ctx: RunContext, call: Any) -> None:
        await gate.pass_through()

    script = [call("hold"), call("act")] if where in ("semaphore", "exclusive") else [call("act")]
    agent = Agent(
        ScriptedModel([calls(*script)]),
        tools=[Own() if where == "own hook" else Act(), Hold()],
        hooks=[Before(guard)] if where == "agent-wide hook" else [],
        limits=Limits(max_concurrency=1 if where == "semaphore" else 8),
    )
    task = asyncio.create_task(agent.run("go"))
    await gate.arrived.wait()

    await cancelled(task)
    gate.open.set()
    await asyncio.sleep(0)

    assert log == []


@pytest.mark.parametrize("count", [1, 2])
async def test_a_guard_that_swallows_the_cancellation_does_not_let_the_call_through(count: int) -> None:
    gate, log = Gate(), list[str]()

    async def guard(ctx: RunContext, call: Any) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await gate.pass_through()

    @tool
    async def act() -> str:
        """Act."""
        log.append("acted")
        return "acted"

    model = ScriptedModel([calls(*[call("act")] * count)])
    task = asyncio.create_task(Agent(model, tools=[act], hooks=[Before(guard)]).run("go"))
    await gate.arrived.wait()

    await cancelled(task)

    assert log == []
    assert len(model.requests) == 1


@pytest.mark.parametrize("decision", [None, Allow(), Deny("no"), Skip("on the house"), {"action": "skip", "result": 1}])
async def test_nobody_else_is_asked_or_told_after_a_guard_that_swallowed_the_cancellation(decision: Any) -> None:
    gate, log, watch = Gate(), list[str](), Watch()

    async def guard(ctx: RunContext, call: Any) -> Any:
        with contextlib.suppress(asyncio.CancelledError):
            await gate.pass_through()
        return decision

    @tool
    async def act() -> str:
        """Act."""
        return "acted"

    hooks = [
        watch,
        Before(guard),
        Before(lambda ctx, call: log.append("asked")),
        After(lambda ctx, info: log.append("told")),
    ]
    task = asyncio.create_task(Agent(ScriptedModel([calls(call("act"))]), tools=[act], hooks=hooks).run("go"))
    await gate.arrived.wait()

    await cancelled(task)

    assert log == []
    assert watch.run is not None
    assert watch.run.calls[0].result.content == "not run: the run ended before"


@pytest.mark.parametrize("count", [1, 2])
async def test_a_constructor_that_swallows_the_cancellation_does_not_let_the_call_through(count: int) -> None:
    gate, log = Gate(), list[str]()

    class Connection:
        pass

    async def connect() -> AsyncIterator[Connection]:
        with contextlib.suppress(asyncio.CancelledError):
            await gate.pass_through()
        log.append("opened")
        yield Connection()
        log.append("closed")

    class Act(Tool):
        """Act."""

        name = "act"

        def __init__(self, connection: Connection) -> None: ...

        async def handler(self) -> str:
            log.append("acted")
            return "acted"

    class Application(containers.DeclarativeContainer):
        connection = RunScoped(connect)
        act = provide(Act, connection=dep(connection))
        model = providers.Object(ScriptedModel([calls(*[call("act")] * count)]))
        agent = provide(Agent, model=dep(model), tools=["act"])

    async with application(Application()) as app:
        task = asyncio.create_task(app.agent().run("go"))
        await gate.arrived.wait()

        await cancelled(task)

    assert log[0] == "opened"
    assert "acted" not in log


@pytest.mark.parametrize("made", [None, "a result", ValueError("mine")], ids=repr)
async def test_whatever_a_cancelled_handler_makes_of_it_the_model_is_not_asked_again(made: Any) -> None:
    gate, watch = Gate(), Watch()

    @tool
    async def stubborn() -> Any:
        """Swallow the cancellation."""
        try:
            await gate.pass_through()
        except asyncio.CancelledError:
            if isinstance(made, Exception):
                raise made from None
        return made

    model = ScriptedModel([calls(call("stubborn")), says("never")])
    task = asyncio.create_task(Agent(model, tools=[stubborn], hooks=[watch]).run("go"))
    await gate.arrived.wait()

    await cancelled(task)

    assert len(model.requests) == 1
    assert watch.run is not None
    assert watch.run.outcome == "cancelled"


async def test_a_result_that_was_there_before_the_cancellation_is_kept() -> None:
    gate, watch = Gate(), Watch()

    class Slow:
        async def on_after_call(self, ctx: RunContext, info: Any) -> None:
            await gate.pass_through()

    model = ScriptedModel([calls(call("add", {"a": 1, "b": 2}))])
    task = asyncio.create_task(Agent(model, tools=[add], hooks=[watch, Slow()]).run("go"))
    await gate.arrived.wait()

    await cancelled(task)

    assert watch.run is not None
    assert watch.run.calls[0].result.value == 3
    assert isinstance(watch.run.messages[-1], ToolMessage)
    assert watch.run.messages[-1].content == "3"


# What resists


@pytest.mark.parametrize("count", [1, 2])
async def test_a_handler_that_resists_is_ended_by_force_with_a_warning_that_names_it(count: int) -> None:
    gate = Gate()

    @tool
    async def deaf() -> str:
        """Swallow every cancellation."""
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await gate.pass_through()

    model = ScriptedModel([calls(*[call("deaf")] * count)])
    agent = Agent(model, tools=[deaf], limits=Limits(close_timeout=0.01))
    task = asyncio.create_task(agent.run("go"))
    await gate.arrived.wait()
    task.cancel()

    with pytest.warns(RuntimeWarning) as warned, pytest.raises(asyncio.CancelledError):
        await task

    texts = [str(warning.message) for warning in warned]
    assert texts == ["tool 'deaf' went on for 0.01 s after it was cancelled, and was ended by force"] * count
    await no_task_is_left()


async def test_a_hook_that_resists_is_named_too() -> None:
    gate = Gate()

    class Deaf:
        async def on_before_call(self, ctx: RunContext, call: Any) -> None:
            while True:
                with contextlib.suppress(asyncio.CancelledError):
                    await gate.pass_through()

    agent = Agent(
        ScriptedModel([calls(call("add", {"a": 1, "b": 2}))]),
        tools=[add],
        hooks=[Deaf()],
        limits=Limits(close_timeout=0.01),
    )
    task = asyncio.create_task(agent.run("go"))
    await gate.arrived.wait()
    task.cancel()

    with pytest.warns(RuntimeWarning, match=r"Deaf\.on_before_call went on"), pytest.raises(asyncio.CancelledError):
        await task


async def test_a_model_that_resists_is_ended_by_force() -> None:
    gate = Gate()

    async def respond(request: ModelRequest) -> ModelResponse:
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await gate.pass_through()

    with pytest.warns(RuntimeWarning, match=r"the model went on for 0\.01 s"), pytest.raises(DeadlineExceeded):
        await Agent(CallingModel(respond), limits=Limits(close_timeout=0.01)).run("go", timeout=0.01)


async def test_a_handler_may_take_its_time_to_clean_up_within_the_close_timeout() -> None:
    gate, log = Gate(), list[str]()

    @tool
    async def tidy() -> str:
        """Clean up for a while."""
        try:
            await gate.pass_through()
        finally:
            for _ in range(50):
                await asyncio.sleep(0)
            log.append("tidy")
        return "never"

    task = asyncio.create_task(Agent(ScriptedModel([calls(call("tidy"))]), tools=[tidy]).run("go"))
    await gate.arrived.wait()

    await cancelled(task)

    assert log == ["tidy"]


async def test_a_thread_is_waited_for() -> None:
    began, let_go, log = threading.Event(), threading.Event(), list[str]()

    @tool
    def hold() -> str:
        """Hold a thread."""
        began.set()
        let_go.wait(60)
        log.append("thread done")
        return "held"

    class Closing(Tool):
        """Be closed."""

        name = "close"

        async def handler(self) -> str:
            return "ok"

        def close(self) -> None:
            log.append("closed")

    model = ScriptedModel([calls(call("close")), calls(call("hold"))])
    task = asyncio.create_task(Agent(model, tools=[hold, Closing]).run("go"))
    await until(began.is_set)
    task.cancel()
    for _ in range(20):
        await asyncio.sleep(0)
    assert not task.done()
    let_go.set()

    with pytest.raises(asyncio.CancelledError):
        await task

    assert log == ["thread done", "closed"]


@pytest.mark.parametrize("times", [1, 3])
async def test_a_thread_that_does_not_end_is_named(times: int) -> None:
    began, let_go = threading.Event(), threading.Event()

    @tool
    def hold() -> str:
        """Hold a thread."""
        began.set()
        let_go.wait(60)
        return "held"

    agent = Agent(ScriptedModel([calls(call("hold"))]), tools=[hold], limits=Limits(close_timeout=0.01))
    task = asyncio.create_task(agent.run("go"))
    await until(began.is_set)
    for _ in range(times):
        task.cancel()
        await asyncio.sleep(0)

    try:
        with pytest.warns(RuntimeWarning) as warned, pytest.raises(asyncio.CancelledError):
            await task
    finally:
        let_go.set()
    assert [str(w.message) for w in warned] == ["tool 'hold' still runs in its thread, 0.01 s after it was cancelled"]


async def test_the_warning_is_told_in_a_stream_as_an_event() -> None:
    gate = Gate()

    @tool
    async def deaf() -> str:
        """Swallow every cancellation."""
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await gate.pass_through()

    agent = Agent(ScriptedModel([calls(call("deaf"))]), tools=[deaf], limits=Limits(close_timeout=0.01))
    events: list[Any] = []

    with pytest.warns(RuntimeWarning, match="tool 'deaf'"), pytest.raises(DeadlineExceeded):
        await read(agent.stream("go", timeout=0.01), events)

    assert any(type(event).__name__ == "WarningRaised" and "tool 'deaf'" in event.text for event in events)


async def test_warnings_as_errors_do_not_hide_a_cancellation_for_ever() -> None:
    """Where warnings are errors, the warning is raised, once everything is closed; nothing else is lost."""
    gate = Gate()

    @tool
    async def deaf() -> str:
        """Swallow every cancellation."""
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await gate.pass_through()

    agent = Agent(ScriptedModel([calls(call("deaf"))]), tools=[deaf], limits=Limits(close_timeout=0.01))
    task = asyncio.create_task(agent.run("go"))
    await gate.arrived.wait()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        task.cancel()

        with pytest.raises(RuntimeWarning, match="tool 'deaf'") as caught:
            await task

    assert isinstance(caught.value.__context__, asyncio.CancelledError)
    await no_task_is_left()


# Ways of cancelling


async def test_a_run_in_a_task_that_was_cancelled_before_works() -> None:
    answers: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            run = await Agent(ScriptedModel([calls(call("add", {"a": 1, "b": 2})), says("bye")]), tools=[add]).run("?")
            answers.append(run.response)

    task = asyncio.create_task(work())
    await asyncio.sleep(0)

    await cancelled(task)

    assert answers == ["bye"]


async def test_a_run_in_a_task_that_is_about_to_be_cancelled_is_cancelled() -> None:
    model, watch = ScriptedModel([says("never")]), Watch()

    async def work() -> None:
        asyncio.current_task().cancel()  # type: ignore[union-attr]
        await Agent(model, hooks=[watch]).run("go")

    with pytest.raises(asyncio.CancelledError):
        await asyncio.create_task(work())

    await no_task_is_left()


@pytest.mark.parametrize("scope", ["move_on_after", "fail_after", "task group"])
async def test_the_cancel_scopes_of_anyio_cancel_a_run(scope: str) -> None:
    tool, watch = GatedTool(Gate()), Watch()
    agent = Agent(ScriptedModel([calls(call("wait"))]), tools=[tool], hooks=[watch])

    if scope == "move_on_after":
        with anyio.move_on_after(0.01) as moved:
            await agent.run("go")
        assert moved.cancelled_caught
    elif scope == "fail_after":
        with pytest.raises(TimeoutError), anyio.fail_after(0.01):
            await agent.run("go")
    else:
        async with anyio.create_task_group() as group:
            group.start_soon(agent.run, "go")
            await tool.gate.arrived.wait()
            group.cancel_scope.cancel()

    assert tool.log == ["wait begins", "wait ends"]
    assert watch.run is not None
    assert watch.run.outcome == "cancelled"
    await no_task_is_left()


async def test_asyncio_timeout_and_wait_for_cancel_a_run() -> None:
    for wait in (lambda work: asyncio.wait_for(work, 0.01), within_a_timeout):
        tool = GatedTool(Gate())
        agent = Agent(ScriptedModel([calls(call("wait"))]), tools=[tool])

        with pytest.raises(TimeoutError):
            await wait(agent.run("go"))

        assert tool.log == ["wait begins", "wait ends"]
    await no_task_is_left()


async def within_a_timeout(work: Any) -> None:
    async with asyncio.timeout(0.01):
        await work


async def test_a_sibling_that_fails_in_the_callers_task_group_cancels_the_run() -> None:
    tool = GatedTool(Gate())
    agent = Agent(ScriptedModel([calls(call("wait"))]), tools=[tool])

    async def fall() -> None:
        await tool.gate.arrived.wait()
        raise ValueError

    async def both() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(agent.run("go"))
            group.create_task(fall())

    with pytest.raises(ExceptionGroup):
        await both()

    assert tool.log == ["wait begins", "wait ends"]
    await no_task_is_left()


async def test_the_caller_is_still_cancelled_when_the_run_ends_just_then() -> None:
    task = asyncio.create_task(Agent(ScriptedModel([says("hello")])).run("go"))
    await asyncio.sleep(0)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("first", ["deadline", "caller"])
async def test_a_deadline_and_a_cancellation_are_one_cancellation_and_cleaning_up_is_interrupted_by_neither(
    first: str,
) -> None:
    gate, watch, log = Gate(), Watch(), list[str]()

    @tool
    async def tidy() -> str:
        """Clean up until told to stop."""
        try:
            await asyncio.Event().wait()
        finally:
            await gate.pass_through()
            log.append("tidy")
        return "never"

    agent = Agent(ScriptedModel([calls(call("tidy"))]), tools=[tidy], hooks=[watch])
    task = asyncio.create_task(agent.run("go", timeout=0.01))
    if first == "caller":
        await until(lambda: watch.run is not None)
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.sleep(0.02)
    else:
        await gate.arrived.wait()
        task.cancel()
        await asyncio.sleep(0)
    gate.open.set()

    with pytest.raises(asyncio.CancelledError):
        await task

    assert watch.run is not None
    assert watch.run.outcome == "cancelled"
    assert log == ["tidy"]


async def test_a_model_that_swallows_the_cancellation_does_not_complete_the_run() -> None:
    gate, watch = Gate(), Watch()

    async def respond(request: ModelRequest) -> ModelResponse:
        with contextlib.suppress(asyncio.CancelledError):
            await gate.pass_through()
        return says("Never mind.")

    task = asyncio.create_task(Agent(CallingModel(respond), hooks=[watch]).run("go"))
    await gate.arrived.wait()

    await cancelled(task)

    assert watch.run is not None
    assert watch.run.outcome == "cancelled"


async def test_a_model_hook_that_swallows_the_cancellation_does_not_let_the_model_be_asked() -> None:
    gate = Gate()

    class Deaf:
        async def on_before_model(self, ctx: RunContext, request: Any) -> None:
            with contextlib.suppress(asyncio.CancelledError):
                await gate.pass_through()

    model = ScriptedModel([])
    task = asyncio.create_task(Agent(model, hooks=[Deaf()]).run("go"))
    await gate.arrived.wait()

    await cancelled(task)

    assert model.requests == []


async def test_while_a_run_closes_the_scope_that_cancelled_it_does_not_cancel_its_caller_at_every_turn() -> None:
    gate, counts = Gate(), list[int]()
    tool = GatedTool(Gate())

    class Closing(Slow):
        """Close slowly."""

        name = "slow"

    async def work() -> None:
        agent = Agent(ScriptedModel([calls(call("slow")), calls(call("wait"))]), tools=[Closing, tool])
        try:
            await agent.run("go", values={Gate: gate, list: []})
        finally:
            counts.append(asyncio.current_task().cancelling())  # type: ignore[union-attr]

    async with anyio.create_task_group() as group:
        group.start_soon(work)
        await tool.gate.arrived.wait()
        group.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            await gate.arrived.wait()
            for _ in range(50):
                await asyncio.sleep(0)
        gate.open.set()

    assert counts[0] < 10


# Closing


class Slow(Tool):
    """Close slowly."""

    name = "slow"

    def __init__(self, gate: Gate, log: list[str]) -> None:
        self.gate, self.log = gate, log

    async def handler(self) -> str:
        return "ok"

    async def aclose(self) -> None:
        await self.gate.pass_through()
        self.log.append("closed")


@pytest.mark.parametrize("times", [1, 2, 3])
async def test_a_cancellation_while_the_run_closes_interrupts_no_close(times: int) -> None:
    gate, log = Gate(), list[str]()
    agent = Agent(ScriptedModel([calls(call("slow")), says("done")]), tools=[Slow])
    task = asyncio.create_task(agent.run("go", values={Gate: gate, list: log}))
    await gate.arrived.wait()
    for _ in range(times):
        task.cancel()
        await asyncio.sleep(0)
    gate.open.set()

    with pytest.raises(asyncio.CancelledError):
        await task

    assert log == ["closed"]
    await no_task_is_left()


class Transaction:
    pass


@tool
async def act(transaction: Annotated[Transaction, Inject("transaction")], ctx: RunContext) -> str:
    """Act within a transaction."""
    ctx.state["acted"] = True
    return "acted"


def transactions(begin: Any, model: Any, watch: Watch) -> Any:
    class Application(containers.DeclarativeContainer):
        transaction = CallScoped(begin)
        act_ = providers.Object(act)
        watch_ = providers.Object(watch)
        model_ = providers.Object(model)
        agent = provide(Agent, model=dep(model_), tools=["act_"], hooks=["watch_"])

    return Application()


@pytest.mark.parametrize("count", [1, 2])
async def test_an_object_for_one_call_that_swallows_the_cancellation_does_not_let_it_through(count: int) -> None:
    gate, watch, log = Gate(), Watch(), list[str]()

    async def begin() -> AsyncIterator[Transaction]:
        with contextlib.suppress(asyncio.CancelledError):
            await gate.pass_through()
        log.append("opened")
        try:
            yield Transaction()
        finally:
            log.append("closed")

    async with application(transactions(begin, ScriptedModel([calls(*[call("act")] * count)]), watch)) as app:
        task = asyncio.create_task(app.agent().run("go"))
        await gate.arrived.wait()

        await cancelled(task)

    assert watch.run is not None
    assert watch.run.state == {}
    assert sorted(log) == ["closed"] * count + ["opened"] * count


async def test_what_a_call_opened_is_closed_by_how_that_call_ended_also_when_the_run_was_cancelled_since() -> None:
    gate, watch, seen = Gate(), Watch(), list[BaseException | None]()

    async def begin() -> AsyncIterator[Transaction]:
        try:
            yield Transaction()
        except BaseException as error:
            seen.append(error)
            raise
        await gate.pass_through()
        seen.append(None)

    model = ScriptedModel([calls(call("act"), call("act"), call("act"))])
    async with application(transactions(begin, model, watch)) as app:
        task = asyncio.create_task(app.agent().run("go"))
        await gate.arrived.wait()  # they are being committed
        task.cancel()
        await asyncio.sleep(0)
        gate.open.set()

        with pytest.raises(asyncio.CancelledError):
            await task

    assert watch.run is not None
    assert [record.result.content for record in watch.run.calls] == ["acted"] * 3
    assert seen == [None] * 3


async def test_a_background_task_of_an_opened_object_that_fails_ends_the_run_with_its_error() -> None:
    gate = Gate()

    class Connection:
        pass

    async def lose_connection() -> None:
        await gate.arrived.wait()
        raise ConnectionError("lost")

    async def connect() -> AsyncIterator[Connection]:
        async with anyio.create_task_group() as group:
            group.start_soon(lose_connection)
            yield Connection()

    class Use(Tool):
        """Use the connection."""

        name = "use"

        def __init__(self, connection: Connection) -> None: ...

        async def handler(self) -> str:
            await gate.pass_through()
            return "never"

    class Application(containers.DeclarativeContainer):
        connection = RunScoped(connect)
        use = provide(Use, connection=dep(connection))
        model = providers.Object(ScriptedModel([calls(call("use"))]))
        agent = provide(Agent, model=dep(model), tools=["use"])

    async with application(Application()) as app:
        with pytest.raises(RunError, match="something that the run had opened failed") as caught:
            await app.agent().run("go")

    assert caught.value.run.outcome == "failed"
    assert_paired(caught.value.run.messages)
