"""The calls of one turn: at once, in order, with ids of their own, and all of them whatever one does."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest
from dependency_injector import containers

from tests.runs.parts import After, Before, Gate, add, assert_consistent, echo, fail, no_task_is_left
from toolkit import Agent, CleanupError, DeadlineExceeded, HookError, Limits, RunAborted, RunContext, Tool, tool
from toolkit.hooks import Abort
from toolkit.injection import RunScoped, application, dep, provide
from toolkit.messages import AssistantMessage, ToolMessage
from toolkit.models import ModelRequest, ModelResponse
from toolkit.testing import ScriptedModel, call, calls, says


class Ordered(Tool):
    """Finish in the order of a number."""

    name = "finish"

    def __init__(self) -> None:
        self.turns: dict[int, asyncio.Event] = {}
        self.log: list[str] = []

    async def handler(self, place: int) -> int:
        self.log.append(f"start {place}")
        if place:
            await self.turns.setdefault(place, asyncio.Event()).wait()
        self.log.append(f"end {place}")
        self.turns.setdefault(place + 1, asyncio.Event()).set()
        return place


async def test_calls_run_at_once_and_their_results_stand_in_the_order_of_the_calls() -> None:
    tool = Ordered()
    model = ScriptedModel([calls(*(call("finish", {"place": n}) for n in (2, 0, 1))), says("done")])

    run = await Agent(model, tools=[tool]).run("go")

    assert tool.log == ["start 2", "start 0", "end 0", "start 1", "end 1", "end 2"]
    assert [record.result.value for record in run.calls] == [2, 0, 1]
    assert [m.content for m in run.messages if isinstance(m, ToolMessage)] == ["2", "0", "1"]
    assert_consistent(run)


async def test_starts_come_before_ends_and_ends_as_they_happen() -> None:
    model = ScriptedModel([calls(*(call("finish", {"place": n}) for n in (2, 0, 1)), call("nothing")), says("done")])

    async with Agent(model, tools=[Ordered()]).stream("go") as stream:
        events = [event async for event in stream]

    started = [event.call.id for event in events if type(event).__name__ == "ToolCallStarted"]
    finished = [event.record for event in events if type(event).__name__ == "ToolCallFinished"]
    kinds = [type(event).__name__ for event in events if type(event).__name__.startswith("ToolCall")]
    assert kinds == ["ToolCallStarted"] * 4 + ["ToolCallFinished"] * 4
    assert started == [record.id for record in stream.run.calls]
    assert [record.result.value for record in finished] == [None, 0, 1, 2]


async def test_one_calls_error_does_not_touch_its_siblings() -> None:
    gate = Gate()

    @tool
    async def wait() -> str:
        """Wait until the other has failed."""
        await gate.open.wait()
        return "waited"

    @tool
    async def fall() -> str:
        """Fail."""
        gate.open.set()
        raise ValueError

    model = ScriptedModel([calls(call("wait"), call("fall"), call("wait")), says("done")])

    run = await Agent(model, tools=[wait, fall]).run("go")

    assert [record.result.content for record in run.calls] == ["waited", "tool 'fall' failed: ValueError", "waited"]
    await no_task_is_left()


async def test_the_second_of_two_at_once_waits_for_a_place_and_nothing_starves() -> None:
    log: list[str] = []

    @tool
    async def busy(n: int) -> int:
        """Be busy."""
        log.append(f"start {n}")
        await asyncio.sleep(0)
        log.append(f"end {n}")
        return n

    model = ScriptedModel([calls(*(call("busy", {"n": n}) for n in range(4))), says("done")])

    await Agent(model, tools=[busy], limits=Limits(max_concurrency=1)).run("go")

    assert log == [f"{what} {n}" for n in range(4) for what in ("start", "end")]


# Exclusive


class Exclusive(Tool):
    """Never overlap."""

    exclusive = True

    def __init__(self, name: str, running: list[str], log: list[str]) -> None:
        self.name = name
        self.running, self.log = running, log

    async def handler(self) -> str:
        self.log.append("+".join([*self.running, self.name]))
        self.running.append(self.name)
        for _ in range(5):
            await asyncio.sleep(0)
        self.running.remove(self.name)
        return self.name


async def test_exclusive_calls_never_overlap_each_other_and_others_may_go_on() -> None:
    running: list[str] = []
    log: list[str] = []

    class Free(Exclusive):
        """Overlap."""

        exclusive = False

    tools = [Exclusive("one", running, log), Exclusive("two", running, log), Free("free", running, log)]
    model = ScriptedModel([calls(call("one"), call("two"), call("free"), call("one")), says("done")])

    run = await Agent(model, tools=tools).run("go")

    assert not any({"one", "two"} <= set(seen.split("+")) or seen == "one+one" for seen in log)
    assert "one+free" in log
    assert [record.result.value for record in run.calls] == ["one", "two", "free", "one"]


async def test_exclusive_counts_within_a_run_only() -> None:
    running: list[str] = []
    log: list[str] = []
    agent = Agent(tools=[Exclusive("one", running, log)])

    await asyncio.gather(*(agent.run("go", model=ScriptedModel([calls(call("one")), says("done")])) for _ in range(2)))

    assert "one+one" in log


class Stuck(Tool):
    """Hold a thread until it is let go."""

    exclusive = True
    timeout = 0.3  # seconds that a thread may take to begin

    def __init__(self, go_on: threading.Event, log: list[str]) -> None:
        self.go_on = go_on
        self.log = log

    def handler(self) -> str:
        self.log.append("stuck begins")
        self.go_on.wait()
        self.log.append("stuck ends")
        return "late"


async def test_an_exclusive_call_waits_for_a_thread_that_outlives_its_timeout() -> None:
    go_on = threading.Event()
    log: list[str] = []

    class Next(Tool):
        """Come next."""

        exclusive = True

        def handler(self) -> str:
            log.append("next")
            return "done"

    class Freeing:
        """Lets the thread go once the first call has its result."""

        def __init__(self, turns: ScriptedModel) -> None:
            self.turns = turns

        async def respond(self, request: ModelRequest) -> ModelResponse:
            if len(self.turns.requests) == 1:
                asyncio.get_running_loop().call_later(0.01, go_on.set)
            return await self.turns.respond(request)

    model = Freeing(ScriptedModel([calls(call("stuck")), calls(call("next")), says("done")]))

    run = await Agent(model, tools=[Stuck(go_on, log), Next()]).run("go")

    assert log == ["stuck begins", "stuck ends", "next"]
    assert [record.result.is_error for record in run.calls] == [True, False]


async def test_an_exclusive_call_does_not_run_beside_a_thread_that_never_ends() -> None:
    go_on = threading.Event()
    log: list[str] = []
    model = ScriptedModel([calls(call("stuck"), call("stuck")), says("done")])

    run = await Agent(model, tools=[Stuck(go_on, log)]).run("go")

    assert log == ["stuck begins"]
    assert [record.result.content for record in run.calls] == [
        "tool 'stuck' took longer than 0.3 seconds; the work may still be going on",
        "not run: another exclusive call still goes on after its timeout",
    ]
    go_on.set()


async def test_an_exclusive_call_that_fails_lets_the_next_one_in() -> None:
    class Failing(Tool):
        """Fail alone."""

        name = "fail"
        exclusive = True

        async def handler(self) -> str:
            raise ValueError

    model = ScriptedModel([calls(call("fail"), call("fail")), says("done")])

    run = await Agent(model, tools=[Failing()]).run("go")

    assert len(run.calls) == 2


# Ids


@pytest.mark.parametrize(
    "ids",
    [
        pytest.param([["", ""], ["", ""]], id="empty"),
        pytest.param([["c", "c"], ["c"]], id="repeated"),
        pytest.param([["", "call_1"], ["call_2", ""]], id="empty and like ours"),
        pytest.param([["c", "c_2", "c"], ["c_3", "c"]], id="repeated and like ours"),
        pytest.param([["add", "add"], ["add", "add"]], id="the tool's name"),
    ],
)
async def test_empty_and_repeated_ids_are_made_unique_and_no_call_is_lost_or_run_twice(ids: list[list[str]]) -> None:
    ran: list[int] = []

    @tool
    async def note(n: int) -> int:
        """Note a number."""
        ran.append(n)
        return n

    number = iter(range(100))
    turns = [calls(*(call("note", {"n": next(number)}, id=wanted) for wanted in turn)) for turn in ids]

    run = await Agent(ScriptedModel([*turns, says("done")]), tools=[note]).run("go")

    count = sum(map(len, ids))
    assert sorted(ran) == list(range(count))
    assert [record.result.value for record in run.calls] == list(range(count))
    assert len({record.id for record in run.calls}) == count
    assert_consistent(run)


async def test_an_id_of_its_own_is_kept() -> None:
    run = await Agent(ScriptedModel([calls(call("echo", {"text": "x"}, id="toolu_01")), says("x")]), tools=[echo]).run(
        "go"
    )

    assert run.calls[0].id == "toolu_01"


async def test_hook_handler_record_transcript_and_events_speak_of_one_id() -> None:
    seen: list[str] = []

    @tool
    async def look(ctx: RunContext) -> str:
        """Look at the call."""
        assert ctx.call is not None
        seen.append(ctx.call.id)
        return "seen"

    hooks = [Before(lambda ctx, call: seen.append(call.id)), After(lambda ctx, info: seen.append(info.call.id))]
    model = ScriptedModel([calls(call("look", id="c")), calls(call("look", id="c")), says("done")])

    run = await Agent(model, tools=[look], hooks=hooks).run("go")

    answers = [m for m in run.messages if isinstance(m, AssistantMessage) and m.tool_calls]
    assert [record.id for record in run.calls] == ["c", "c_2"]
    assert [answer.tool_calls[0].id for answer in answers] == ["c", "c_2"]
    assert seen == ["c"] * 3 + ["c_2"] * 3


# What ends the run while others go on


def ending(kind: str, gate: Gate) -> tuple[list[Any], type[BaseException]]:
    """Hooks, and what they end the run with, once another call is under way."""

    async def abort(ctx: RunContext, call: Any) -> Any:
        if call.name != "end":
            return None
        await gate.arrived.wait()
        return Abort("enough")

    async def after(ctx: RunContext, info: Any) -> None:
        if info.call.name == "end":
            await gate.arrived.wait()
            raise ValueError

    return {"abort": ([Before(abort)], RunAborted), "after-hook": ([After(after)], HookError)}[kind]


@pytest.mark.parametrize("kind", ["abort", "after-hook"])
@pytest.mark.parametrize("order", [["end", "wait", "late"], ["wait", "end", "late"]], ids=["first", "second"])
async def test_when_one_call_ends_the_run_its_siblings_are_cancelled_and_awaited(kind: str, order: list[str]) -> None:
    gate = Gate()
    log: list[str] = []

    @tool
    async def wait() -> str:
        """Wait for ever."""
        try:
            await gate.pass_through()
        finally:
            await asyncio.sleep(0)
            log.append("cleaned up")
        return "never"

    @tool
    async def end() -> str:
        """End the run, by a hook."""
        return "ended"

    @tool
    async def late() -> str:
        """Start when there is a place."""
        log.append("late began")
        return "late"

    hooks, expected = ending(kind, gate)
    model = ScriptedModel([calls(*map(call, order))])

    with pytest.raises(expected) as caught:
        await Agent(model, tools=[wait, end, late], hooks=hooks, limits=Limits(max_concurrency=2)).run("go")

    assert log == ["cleaned up"]
    by_name = {record.name: record for record in caught.value.run.calls}
    assert by_name["wait"].result.content == (
        "the run ended while this call was running; whether it took effect is not known"
    )
    assert by_name["late"].result.content == "not run: the run ended before"
    assert_consistent(caught.value.run)
    await no_task_is_left()


async def test_two_calls_that_end_the_run_at_once_raise_the_first_and_lose_none_silently() -> None:
    seen: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: seen.append(context))
    model = ScriptedModel([calls(call("add", {"a": 1, "b": 1}), call("add", {"a": 2, "b": 2}))])

    def both(ctx: RunContext, info: Any) -> None:
        raise ValueError(info.call.arguments["a"])

    with pytest.raises(HookError, match=r"ValueError\(1\)"):
        await Agent(model, tools=[add], hooks=[After(both)]).run("go")

    gc.collect()
    await asyncio.sleep(0)
    assert seen == []


# Runs inside of handlers


@pytest.mark.parametrize("count", [1, 2], ids=["alone", "two at once"])
async def test_a_run_inside_a_handler_is_a_run_of_its_own(count: int) -> None:
    inner = Agent(tools=[echo], name="inner")

    @tool
    async def delegate(text: str) -> str:
        """Delegate."""
        model = ScriptedModel([calls(call("echo", {"text": text}, id="c")), says(f"it said {text}")])
        return (await inner.run("go", model=model)).response

    model = ScriptedModel([calls(*(call("delegate", {"text": str(n)}, id="c") for n in range(count))), says("done")])

    run = await Agent(model, tools=[delegate]).run("go")

    assert [record.result.value for record in run.calls] == [f"it said {n}" for n in range(count)]
    assert run.turns == 2


class Uncommitted(Tool):
    """Leave something that can't be closed."""

    name = "open"

    async def handler(self) -> str:
        return "opened"

    async def aclose(self) -> None:
        raise OSError("the commit failed")


@pytest.mark.parametrize("count", [1, 2], ids=["alone", "two at once"])
@pytest.mark.parametrize("kind", [DeadlineExceeded, CleanupError])
async def test_deadline_and_cleanup_errors_of_a_run_inside_are_never_results(kind: type[Any], count: int) -> None:
    inner_runs: list[Any] = []

    @tool
    async def delegate() -> str:
        """Delegate."""
        model = ScriptedModel([calls(call("open" if kind is CleanupError else "hang")), says("done")])
        try:
            await Agent(model, tools=[Uncommitted, hang]).run("go", timeout=0.01 if kind is DeadlineExceeded else None)
        except kind as error:
            inner_runs.append(error.run)
            raise
        return "never"

    @tool
    async def hang() -> str:
        """Hang."""
        await asyncio.Event().wait()
        return "never"

    model = ScriptedModel([calls(*[call("delegate")] * count)])

    with pytest.raises(kind) as caught:
        await Agent(model, tools=[delegate], name="outer").run("go")

    assert caught.value.run not in inner_runs
    assert isinstance(caught.value.__cause__, kind)
    assert caught.value.__cause__.run in inner_runs
    assert_consistent(caught.value.run)


async def test_other_errors_of_a_run_inside_are_results() -> None:
    @tool
    async def delegate() -> str:
        """Delegate."""
        return (await Agent(ScriptedModel([OSError()])).run("go")).response

    run = await Agent(ScriptedModel([calls(call("delegate")), says("done")]), tools=[delegate, fail]).run("go")

    assert run.calls[0].result.content == "tool 'delegate' failed: ModelError"


class Paying(Tool):
    """Pay."""

    name = "pay"

    def __init__(self) -> None:
        self.paid: list[int] = []

    async def handler(self, place: int) -> str:
        self.paid.append(place)
        return "paid"


class PayingInThread(Paying):
    """Pay, in a thread."""

    def handler(self, place: int) -> str:  # type: ignore[override]  # sync on purpose
        self.paid.append(place)
        return "paid"


@pytest.mark.parametrize("concurrency", [1, 2, 8, None])
@pytest.mark.parametrize("kind", [Paying, PayingInThread])
async def test_no_handler_starts_once_a_guard_has_ended_the_run(kind: type[Paying], concurrency: int | None) -> None:
    tool = kind()
    guard = Before(lambda ctx, call: Abort("fraud") if call.arguments["place"] == 0 else None)
    first = calls(call("pay", {"place": 99}))  # so that it is built
    model = ScriptedModel([first, calls(*(call("pay", {"place": n}) for n in range(20)))])

    with pytest.raises(RunAborted) as raised:
        await Agent(model, [tool], hooks=[guard], limits=Limits(max_concurrency=concurrency)).run("go")

    assert tool.paid == [99]
    assert_consistent(raised.value.run)


async def test_no_exclusive_handler_starts_once_another_has_ended_the_run() -> None:
    started: list[str] = []

    @tool(exclusive=True)
    async def late() -> str:
        """Be late."""
        await asyncio.sleep(0)
        raise DeadlineExceeded("of a run inside")

    @tool(exclusive=True)
    async def wipe() -> str:
        """Wipe."""
        started.append("wipe")
        return "wiped"

    with pytest.raises(DeadlineExceeded):
        await Agent(ScriptedModel([calls(call("late"), call("wipe"))]), [late, wipe]).run("go")

    assert started == []


class _Busy:
    """What is being opened while other things happen: `opening` is set once it is, `go_on` lets it end."""

    def __init__(self) -> None:
        self.opening = asyncio.Event()
        self.go_on = asyncio.Event()


class _Opened:
    pass


def _busy_agent(busy: _Busy, first: Any, paying: Paying, hooks: list[Any]) -> tuple[Any, Any]:
    async def opened() -> AsyncIterator[_Opened]:
        busy.opening.set()
        while not busy.go_on.is_set():
            with suppress(asyncio.CancelledError):
                await busy.go_on.wait()
        yield _Opened()

    class Slow(Tool):
        """Need what takes long to open."""

        name = "slow"

        def __init__(self, opened: _Opened) -> None:
            pass

        async def handler(self) -> str:
            return ""

    class Container(containers.DeclarativeContainer):
        opened_thing = RunScoped(opened)
        slow = provide(Slow, opened=dep(opened_thing))
        agent = provide(Agent, tools=[slow, paying, first], hooks=hooks)

    return application(Container()), ScriptedModel(
        [
            calls(call("pay", {"place": 0})),  # so that it is built
            calls(call("slow"), call("pay", {"place": 1}), call(first.name)),
        ]
    )


@pytest.mark.parametrize("how", ["abort", "cancel", "deadline"])
async def test_no_handler_starts_in_a_run_that_ends_while_something_is_being_opened(how: str) -> None:
    busy, paying, let_in = _Busy(), Paying(), asyncio.Event()

    async def decide(ctx: RunContext, told: Any) -> Any:
        if told.name == "wait":
            await busy.opening.wait()
            if how == "abort":
                return Abort("fraud")
        elif told.name == "pay" and told.arguments["place"] == 1:
            await let_in.wait()
        return None

    @tool
    async def wait() -> str:
        """Wait."""
        await asyncio.Event().wait()
        return ""

    app, model = _busy_agent(busy, wait, paying, [Before(decide)])
    async with app as running:
        work = asyncio.create_task(running.agent().run("go", model=model, timeout=0.02 if how == "deadline" else None))
        await busy.opening.wait()
        if how == "cancel":
            work.cancel()
        await asyncio.sleep(0.04)  # later than the deadline
        let_in.set()
        for _ in range(20):
            await asyncio.sleep(0)
        busy.go_on.set()
        await asyncio.wait((work,))

    assert paying.paid == [0]
    expected = {"abort": RunAborted, "deadline": DeadlineExceeded}
    assert work.cancelled() if how == "cancel" else isinstance(work.exception(), expected[how])


async def test_a_call_that_the_end_of_the_run_interrupts_has_the_time_it_ran() -> None:
    @tool
    async def wait() -> str:
        """Wait."""
        await asyncio.Event().wait()
        return ""

    with pytest.raises(DeadlineExceeded) as raised:
        await Agent(ScriptedModel([calls(call("wait"))]), [wait]).run("go", timeout=0.01)

    [record] = raised.value.run.calls
    assert record.duration > 0
