"""What is opened is cancelled once, by its own time or by the run's end: the later of the two lets it clean up.

Nor is closing interrupted by the run's end. And neither of the two is lost, nor is anything without a bound.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Annotated, Any

import anyio
import pytest
from dependency_injector import containers, providers

from tests.faults.virtual_time import VirtualLoop
from tests.runs.parts import CallingModel
from toolkit import Agent, DeadlineExceeded, Inject, Limits, Tool
from toolkit.injection import AppScoped, CallScoped, RunScoped, application, bounded, dep, provide
from toolkit.models import ModelRequest, ModelResponse
from toolkit.testing import ScriptedModel, call, calls, says


@pytest.fixture(autouse=True)
def no_real_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that two timers of the same time are due in the same turn of the event loop."""
    monkeypatch.setattr(bounded, "monotonic", lambda: 0.0)


def in_virtual_time(main: Coroutine[Any, Any, Any]) -> float:
    """Runs it. Gives the seconds that it took."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(main)
        return runner.get_loop().time()


class Thing:
    """What a tool, or a model, needs."""


Log = list[str]
Work = Callable[[Log], Awaitable[None]]


async def wait_and_tidy(log: Log) -> None:
    log.append("waits")
    try:
        await asyncio.Event().wait()
    finally:
        for _ in range(5):
            await asyncio.sleep(0)
        await asyncio.sleep(1)
        log.append("tidied")


async def in_a_task(log: Log) -> None:
    await asyncio.create_task(wait_and_tidy(log))


async def in_a_task_group(log: Log) -> None:
    async with asyncio.TaskGroup():
        await wait_and_tidy(log)


async def in_a_scope_of_anyio(log: Log) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(anyio.sleep_forever)
        with anyio.CancelScope():
            await wait_and_tidy(log)


async def resist() -> Thing:
    loop = asyncio.get_running_loop()
    while loop.time() < 1_000:  # and not for ever, or a test that fails would hang
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(1_000)
    return Thing()


class Uses(Tool):
    """Use it."""

    name = "use"

    def __init__(self, thing: Thing) -> None:
        pass

    async def handler(self) -> str:
        raise AssertionError("it is never there")


class Leases(Tool):
    """Use it."""

    name = "use"

    async def handler(self, thing: Annotated[Thing, Inject("lease")]) -> str:
        raise AssertionError("it is never there")


class Hooks:
    def __init__(self, thing: Thing) -> None:
        pass

    def on_before_model(self, ctx: Any, request: Any) -> None:
        raise AssertionError("it is never there")


PLACES = ["the owner", "the owner, for two calls", "a call", "two calls", "the start"]


def container_of(place: str, open_thing: Callable[[], Any], limits: Limits) -> Any:
    """An application whose agent needs something in that place."""
    count = 2 if "two" in place else 1
    tool, hooks_of_agent = ("uses" if "owner" in place else Leases), (["hooks"] if place == "the start" else [])

    class Application(containers.DeclarativeContainer):
        thing = RunScoped(open_thing)
        lease = CallScoped(open_thing)
        uses = provide(Uses, thing=dep(thing))
        hooks = provide(Hooks, thing=dep(thing))
        model = provide(ScriptedModel, [calls(*[call("use")] * count)])
        agent = provide(Agent, model=dep(model), tools=[tool], hooks=hooks_of_agent, limits=limits)

    return Application()


async def ends_by_deadline(agent: Any, seconds: float) -> None:
    with pytest.raises(DeadlineExceeded) as raised:
        await agent.run("go", timeout=seconds)
    assert raised.value.run.outcome == "partial"


async def ends_by_cancellation(agent: Any, seconds: float, turns: int = 0) -> None:
    loop = asyncio.get_running_loop()
    task = asyncio.create_task(agent.run("go"))
    for _ in range(10):  # so that its timer comes after that of opening
        await asyncio.sleep(0)

    def cancel(turns: int) -> None:
        if turns:
            loop.call_soon(cancel, turns - 1)
        else:
            task.cancel()

    loop.call_at(seconds, cancel, turns)
    with pytest.raises(asyncio.CancelledError):
        await task


async def ends_by_a_scope_of_anyio(agent: Any, seconds: float) -> None:
    with anyio.move_on_after(seconds) as scope:
        await agent.run("go")
    assert scope.cancelled_caught


async def ends_as_its_stream_is_left(agent: Any, seconds: float) -> None:
    async with agent.stream("go"):
        await asyncio.sleep(seconds)


async def ends_by_the_timeout_of_a_tool_around_it(agent: Any, seconds: float) -> None:
    async def ask() -> None:
        await agent.run("go")

    delegate = Tool.define(name="delegate", description="Ask another.", handler=ask, timeout=seconds)
    run = await Agent(ScriptedModel([calls(call("delegate")), says("done")]), [delegate]).run("go")
    assert run.calls[0].result.content == f"tool 'delegate' took longer than {seconds:g} seconds"


ENDS: list[Callable[[Any, float], Awaitable[None]]] = [
    ends_by_deadline,
    ends_by_cancellation,
    ends_by_a_scope_of_anyio,
    ends_as_its_stream_is_left,
    ends_by_the_timeout_of_a_tool_around_it,
]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("work", [wait_and_tidy, in_a_task, in_a_task_group, in_a_scope_of_anyio])
@pytest.mark.parametrize("seconds", [9.5, 10.0, 10.000001, 10.5])
def test_what_is_opened_cleans_up_undisturbed_when_its_time_and_the_runs_end_come_together(
    seconds: float, work: Work, place: str, end: Callable[[Any, float], Awaitable[None]]
) -> None:
    log: Log = []

    async def open_thing() -> AsyncIterator[Thing]:
        await work(log)
        yield Thing()

    async def main() -> None:
        async with application(container_of(place, open_thing, Limits(open_timeout=10.0))) as app:
            await end(app.agent(), seconds)
            log.append("over")

    took = in_virtual_time(main())

    opened = 2 if place == "two calls" else 1
    assert log == ["waits"] * opened + ["tidied"] * opened + ["over"]
    assert took == pytest.approx(min(seconds, 10.0) + 1, abs=0.01)


@pytest.mark.parametrize("work", [wait_and_tidy, in_a_task])
@pytest.mark.parametrize("turns", range(8))
def test_so_it_does_when_the_runs_end_comes_some_turns_of_the_event_loop_after_its_time(turns: int, work: Work) -> None:
    log: Log = []

    async def open_thing() -> Thing:
        await work(log)
        return Thing()

    async def main() -> None:
        async with application(container_of("the owner", open_thing, Limits(open_timeout=10.0))) as app:
            await ends_by_cancellation(app.agent(), 10.0, turns)

    in_virtual_time(main())

    assert log == ["waits", "tidied"]


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("place", PLACES)
def test_so_it_does_when_all_tasks_were_cancelled_before_its_time_passes(place: str, order: int) -> None:
    log: Log = []

    async def open_thing() -> Thing:
        await wait_and_tidy(log)
        return Thing()

    async def main() -> None:
        async with application(container_of(place, open_thing, Limits(open_timeout=10.0))) as app:
            here = asyncio.all_tasks()
            asking = asyncio.create_task(app.agent().run("go"))
            await asyncio.sleep(9.5)
            tasks = sorted(asyncio.all_tasks() - here, key=lambda task: int(task.get_name().removeprefix("Task-")))
            for task in tasks[::order]:  # as an event loop that ends does, in some order
                task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking

    in_virtual_time(main())

    opened = 2 if place == "two calls" else 1
    assert log == ["waits"] * opened + ["tidied"] * opened


@pytest.mark.parametrize("open_timeout", [5.0, None])
def test_the_runs_end_in_the_turn_of_an_openings_own_timeout_is_not_lost(open_timeout: float | None) -> None:
    log: Log = []

    async def open_at_the_second_try() -> Thing:
        try:
            async with asyncio.timeout(1):
                try:
                    await asyncio.Event().wait()
                finally:
                    await asyncio.sleep(0.5)
        except TimeoutError:
            log.append("tries again")
            await asyncio.Event().wait()
        raise AssertionError

    async def main() -> None:
        limits = Limits(open_timeout=open_timeout, close_timeout=3.0)
        async with application(container_of("the owner", open_at_the_second_try, limits)) as app:
            task = asyncio.create_task(app.agent().run("go"))
            await asyncio.sleep(1)  # its own timer, and this one, in one turn
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    assert in_virtual_time(main()) == pytest.approx(4.0, abs=0.01)
    assert log == ["tries again"]


@pytest.mark.parametrize("seconds", [5.0, 10.0, 12.0])
@pytest.mark.parametrize("place", PLACES)
def test_what_resists_in_opening_is_ended_by_force_and_named_whichever_comes_first(place: str, seconds: float) -> None:
    async def main() -> None:
        async with application(container_of(place, resist, Limits(open_timeout=10.0))) as app:
            with pytest.warns(RuntimeWarning, match="opening .*resist went on for 10 s"):
                await ends_by_deadline(app.agent(), seconds)

    assert in_virtual_time(main()) == pytest.approx(min(seconds, 10.0) + 10, abs=0.01)


def test_what_has_no_limit_for_opening_has_that_of_closing_once_the_run_has_ended() -> None:
    async def main() -> None:
        limits = Limits(open_timeout=None, close_timeout=3.0)
        async with application(container_of("the owner", resist, limits), open_timeout=None) as app:
            with pytest.warns(RuntimeWarning, match="opening .*resist went on for 3 s"):
                await ends_by_deadline(app.agent(), 5.0)

    assert in_virtual_time(main()) == pytest.approx(8.0, abs=0.01)


async def wait_on_after_one_cancellation(log: Log) -> None:
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        log.append("swallowed")
    await asyncio.Event().wait()


@pytest.mark.parametrize(("seconds", "over_at"), [(5.0, 15.0), (12.0, 20.0), (25.0, 25.0)])
@pytest.mark.parametrize("place", PLACES)
def test_the_later_of_the_two_is_not_lost_where_a_task_that_is_waited_for_swallowed_the_first(
    place: str, seconds: float, over_at: float
) -> None:
    log: Log = []

    async def open_thing() -> Thing:
        await asyncio.create_task(wait_on_after_one_cancellation(log))
        return Thing()

    async def main() -> None:
        async with application(container_of(place, open_thing, Limits(open_timeout=10.0))) as app:
            await ends_by_deadline(app.agent(), seconds)

    assert in_virtual_time(main()) == pytest.approx(over_at, abs=0.01)
    assert log == ["swallowed"] * (2 if place == "two calls" else 1)


@pytest.mark.parametrize(("of_tool", "of_run", "over_at"), [(1.0, 5.0, 5.0), (4.0, 5.0, 7.0), (7.0, 5.0, 8.0)])
def test_nor_is_it_where_the_two_are_a_tools_timeout_and_the_end_of_the_run(
    of_tool: float, of_run: float, over_at: float
) -> None:
    log: Log = []

    async def hang() -> None:
        await asyncio.Event().wait()

    async def wait() -> None:
        await asyncio.create_task(wait_on_after_one_cancellation(log))

    slow = Tool.define(name="slow", description="Wait.", handler=hang, timeout=1.0)
    slower = Tool.define(name="slower", description="Wait.", handler=wait, timeout=of_tool)
    model = ScriptedModel([calls(call("slow")), calls(call("slower"))])

    async def main() -> None:
        with pytest.raises(DeadlineExceeded):
            await Agent(model, [slow, slower], limits=Limits(close_timeout=3.0)).run("go", timeout=1 + of_run)

    assert in_virtual_time(main()) == pytest.approx(1 + over_at, abs=0.01)
    assert log == ["swallowed"]


@pytest.mark.parametrize("seconds", [9.5, 12.0])
def test_what_learns_late_of_the_first_has_its_whole_grace_all_the_same(seconds: float) -> None:
    log: Log = []

    async def take_5_seconds_to_end() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(5)

    async def open_thing() -> Thing:
        try:
            await asyncio.create_task(take_5_seconds_to_end())
        finally:
            await asyncio.sleep(8)
            log.append("tidied")
        raise AssertionError

    async def main() -> None:
        async with application(container_of("the owner", open_thing, Limits(open_timeout=10.0))) as app:
            await ends_by_deadline(app.agent(), seconds)

    assert in_virtual_time(main()) == pytest.approx(min(seconds, 10.0) + 13, abs=0.01)
    assert log == ["tidied"]


def test_a_handler_after_an_opening_that_failed_cleans_up_undisturbed_too() -> None:
    log: Log = []

    async def fail_to_open() -> Thing:
        await asyncio.sleep(1)
        raise OSError("no such host")

    async def tidy() -> None:
        await wait_and_tidy(log)

    class Application(containers.DeclarativeContainer):
        thing = RunScoped(fail_to_open)
        model = provide(ScriptedModel, [calls(call("use")), calls(call("tidy"))])
        tool = Tool.define(name="tidy", description="Wait.", handler=tidy, timeout=5.0)
        agent = provide(Agent, model=dep(model), tools=[provide(Uses, thing=dep(thing)), tool])

    async def main() -> None:
        async with application(Application()) as app:
            await ends_by_deadline(app.agent(), 6.5)

    in_virtual_time(main())

    assert log == ["waits", "tidied"]


def test_nothing_is_opened_after_an_opening_that_swallowed_the_runs_end_and_it_is_closed() -> None:
    log: Log = []

    async def open_first() -> AsyncIterator[Thing]:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        try:
            yield Thing()
        finally:
            log.append("closed")

    async def open_second(thing: Thing) -> Thing:
        log.append("opens the second")
        return thing

    class Application(containers.DeclarativeContainer):
        first = RunScoped(open_first)
        second = RunScoped(open_second, first)
        model = providers.Object(ScriptedModel([calls(call("use"))]))
        agent = provide(Agent, model=dep(model), tools=[provide(Uses, thing=dep(second))])

    async def main() -> None:
        async with application(Application()) as app:
            await ends_by_deadline(app.agent(), 5.0)

    in_virtual_time(main())

    assert log == ["closed"]


class ClosesSlowly(Thing):
    """Closing it takes 8 seconds."""

    def __init__(self, log: Log) -> None:
        self.log = log

    async def aclose(self) -> None:
        self.log.append("closes")
        await asyncio.sleep(8)
        self.log.append("closed")


class LeasesTwo(Tool):
    """Use both."""

    name = "use"

    async def handler(
        self, first: Annotated[Thing, Inject("first")], second: Annotated[Thing, Inject("second")]
    ) -> str:
        raise AssertionError("the second is never there")


@pytest.mark.parametrize("end", [ends_by_deadline, ends_by_cancellation])
@pytest.mark.parametrize("count", [1, 2])
def test_the_runs_end_does_not_interrupt_the_closing_of_what_a_call_had_opened_before_the_next_failed(
    count: int, end: Callable[[Any, float], Awaitable[None]]
) -> None:
    log: Log = []

    async def fail_to_open() -> Thing:
        await asyncio.sleep(1)
        raise OSError("no such host")

    class Application(containers.DeclarativeContainer):
        first = CallScoped(ClosesSlowly, log)
        second = CallScoped(fail_to_open)
        model = providers.Object(ScriptedModel([calls(*[call("use")] * count)]))
        agent = provide(Agent, model=dep(model), tools=[LeasesTwo])

    async def main() -> None:
        async with application(Application()) as app:
            await end(app.agent(), 5.0)

    assert in_virtual_time(main()) == pytest.approx(9.0, abs=0.01)
    assert log == ["closes"] * count + ["closed"] * count


def test_closing_that_has_no_limit_ends_with_the_run() -> None:
    class HangsInClosing(Thing):
        async def aclose(self) -> None:
            await asyncio.Event().wait()

    async def fail_to_open() -> Thing:
        raise OSError("no such host")

    class Application(containers.DeclarativeContainer):
        first = CallScoped(HangsInClosing)
        second = CallScoped(fail_to_open)
        model = provide(ScriptedModel, [calls(call("use"))])
        agent = provide(Agent, model=dep(model), tools=[LeasesTwo], limits=Limits(open_timeout=None))

    async def main() -> None:
        async with application(Application()) as app:
            await ends_by_deadline(app.agent(), 5.0)

    assert in_virtual_time(main()) == pytest.approx(5.0, abs=0.01)


@pytest.mark.parametrize("resists", [False, True])
@pytest.mark.parametrize("level", [RunScoped, CallScoped])
def test_closing_is_as_bounded_in_a_run_that_has_ended_as_in_any_other(level: Any, resists: bool) -> None:
    async def open_thing() -> AsyncIterator[Thing]:
        try:
            yield Thing()
        finally:
            await (resist() if resists else asyncio.sleep(1_000))

    class Waits(Tool):
        """Use it."""

        name = "use"

        async def handler(self, thing: Annotated[Thing, Inject("thing")]) -> None:
            await asyncio.Event().wait()

    class Application(containers.DeclarativeContainer):
        thing = level(open_thing)
        model = providers.Object(ScriptedModel([calls(call("use"))]))
        agent = provide(Agent, model=dep(model), tools=[Waits], limits=Limits(close_timeout=3.0))

    async def main() -> None:
        async with application(Application()) as app:
            await ends_by_deadline(app.agent(), 5.0)

    assert in_virtual_time(main()) == pytest.approx(11.0 if resists else 8.0, abs=0.01)


def test_closing_is_not_interrupted_where_the_runs_end_came_in_the_turn_of_another_cancellation() -> None:
    log: Log = []

    async def respond(request: ModelRequest) -> ModelResponse:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(8)
        raise AssertionError

    class Needs(CallingModel):
        def __init__(self, thing: Thing) -> None:
            super().__init__(respond)

    class Application(containers.DeclarativeContainer):
        thing = RunScoped(ClosesSlowly, log)
        agent = provide(Agent, model=provide(Needs, thing=dep(thing)), limits=Limits(close_timeout=10.0))

    async def main() -> None:
        async with application(Application()) as app:
            here = asyncio.all_tasks()
            asking = asyncio.create_task(app.agent().run("go"))
            await asyncio.sleep(1)
            for task in asyncio.all_tasks() - here - {asking}:  # as an event loop that ends does, in some order
                task.cancel()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking

    assert in_virtual_time(main()) == pytest.approx(17.0, abs=0.01)
    assert log == ["closes", "closed"]


@pytest.mark.parametrize("work", [wait_and_tidy, in_a_task, in_a_task_group, in_a_scope_of_anyio])
@pytest.mark.parametrize("seconds", [9.5, 10.0, 10.000001, 10.5])
def test_what_an_application_opens_cleans_up_undisturbed_when_its_time_and_the_applications_end_come_together(
    seconds: float, work: Work
) -> None:
    log: Log = []

    async def open_thing() -> Thing:
        await work(log)
        return Thing()

    class Application(containers.DeclarativeContainer):
        thing = AppScoped(open_thing)

    async def enter() -> None:
        async with application(Application(), open_timeout=10.0):
            raise AssertionError("it is not open")

    async def main() -> None:
        entering = asyncio.create_task(enter())
        await asyncio.sleep(seconds)
        entering.cancel()
        with contextlib.suppress(TimeoutError, asyncio.CancelledError):
            await entering
        log.append("over")

    took = in_virtual_time(main())

    assert log == ["waits", "tidied", "over"]
    assert took == pytest.approx(min(seconds, 10.0) + 1, abs=0.01)


@pytest.mark.parametrize("seconds", [5.0, 10.0, 12.0])
def test_what_resists_in_opening_for_an_application_is_ended_by_force_whichever_comes_first(seconds: float) -> None:
    class Application(containers.DeclarativeContainer):
        thing = AppScoped(resist)

    async def enter() -> None:
        async with application(Application(), open_timeout=10.0):
            raise AssertionError("it is not open")

    async def main() -> None:
        entering = asyncio.create_task(enter())
        await asyncio.sleep(seconds)
        entering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await entering

    assert in_virtual_time(main()) == pytest.approx(min(seconds, 10.0) + 10, abs=0.01)


def test_what_an_application_opens_without_a_limit_has_that_of_closing_once_the_application_ends() -> None:
    class Application(containers.DeclarativeContainer):
        thing = AppScoped(resist)

    async def main() -> None:
        with anyio.move_on_after(5.0):
            async with application(Application(), open_timeout=None, close_timeout=3.0):
                raise AssertionError("it is not open")

    assert in_virtual_time(main()) == pytest.approx(8.0, abs=0.01)


@pytest.mark.parametrize("open_timeout", [10.0, None])
def test_an_application_that_ends_while_it_opens_something_opens_nothing_that_was_asked_for_meanwhile(
    open_timeout: float | None,
) -> None:
    log: Log = []

    async def take_11_seconds() -> Thing:
        log.append("opens")
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(11)
        await asyncio.sleep(1)
        return Thing()

    class Application(containers.DeclarativeContainer):
        config = providers.Configuration()
        nothing = providers.Object(None)
        first = providers.Selector(config.source, nothing=nothing, something=AppScoped(take_11_seconds))
        second = providers.Selector(config.source, nothing=nothing, something=AppScoped(take_11_seconds))
        agent = provide(Agent, model=providers.Object(ScriptedModel([])))
        tools = providers.List(provide(Uses, thing=dep(first)), provide(Uses, thing=dep(second)))

    container = Application(config={"source": "nothing"})

    async def main() -> None:
        async with application(container, open_timeout=open_timeout) as app:
            container.config.from_dict({"source": "something"})  # now runs are the first to need them
            runs = [
                asyncio.create_task(app.agent().run("go", model=ScriptedModel([calls(call("use"))]), tools=[tool]))
                for tool in container.tools.args
            ]
            await asyncio.sleep(10.5)
        await asyncio.wait(runs)
        for run in runs:
            assert run.cancelled() or run.exception() is not None

    in_virtual_time(main())

    assert log == ["opens"]
