"""A run closes what it opened: last opened first, in its own task, within a time limit, all of it, in any case."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import anyio
import pytest
from dependency_injector import containers, providers

from tests.injection.parts import asking, in_turns
from toolkit import Agent, CleanupError, Limits, RunError, Tool
from toolkit.injection import AppScoped, RunScoped, application, dep, provide
from toolkit.testing import ScriptedModel, call, calls, says

Log = list[str]


class Uses(Tool):
    """Use what was injected."""

    name = "use"

    def __init__(self, *injected: Any) -> None:
        self.injected = injected

    async def handler(self) -> str:
        return "used"


class Closable:
    """Tells when it is closed, and then does as told."""

    def __init__(self, name: str, log: Log, failure: BaseException | None = None) -> None:
        self.name = name
        self.log = log
        self.failure = failure

    async def aclose(self) -> None:
        self.log.append(f"close {self.name}")
        if self.failure is not None:
            raise self.failure


class SyncClosable(Closable):
    def close(self) -> None:
        self.log.append(f"close {self.name} plainly")

    aclose: Any = None


class ClosableTool(Uses):
    """Use what was injected, and close."""

    def __init__(self, log: Log, *injected: Any) -> None:
        super().__init__(*injected)
        self.log = log

    async def aclose(self) -> None:
        self.log.append("close tool")


def opening(name: str, log: Log, failure: BaseException | None = None) -> Callable[..., AsyncIterator[Closable]]:
    """An async generator function; what it sees of the run's end is in the log."""

    async def opened(*needs: Any) -> AsyncIterator[Closable]:
        log.append(f"open {name}")
        try:
            yield Closable(name, log)
        except BaseException as error:
            log.append(f"{name} saw {type(error).__name__}")
            raise
        finally:
            log.append(f"close {name}")
            if failure is not None:
                raise failure

    return opened


def container_of(*scoped: Any, tool: Any = None, limits: Limits | None = None) -> Any:
    class Application(containers.DeclarativeContainer):
        parts = providers.List(*scoped)
        use = provide(Uses, *scoped) if tool is None else tool
        agent = provide(Agent, tools=["use"], limits=limits or Limits())

    return Application()


async def run_of(container: Any, model: Any = None, **options: Any) -> Any:
    async with application(container) as app:
        return await app.agent().run("go", model=model or asking("use"), **options)


async def test_what_was_opened_last_is_closed_first() -> None:
    log: Log = []
    a = RunScoped(opening("a", log))
    b = RunScoped(opening("b", log), a)
    c = RunScoped(Closable, "c", log)

    await run_of(container_of(a, b, c, tool=provide(ClosableTool, log, a, b, c)))

    assert log == ["open a", "open b", "close tool", "close c", "close b", "close a"]


async def test_each_tool_that_a_run_built_is_closed_once_by_that_run() -> None:
    log: Log = []

    async with application(container_of(tool=provide(ClosableTool, log))) as app:
        await app.agent().run("go", model=in_turns("use", "use"))
        first = list(log)
        await app.agent().run("go", model=in_turns("use"))

    assert first == ["close tool"]
    assert log == ["close tool", "close tool"]


async def test_a_tool_that_was_never_called_is_neither_built_nor_closed() -> None:
    log: Log = []

    run = await run_of(container_of(tool=provide(ClosableTool, log)), ScriptedModel([says("no need")]))

    assert run.response == "no need"
    assert log == []


@pytest.mark.parametrize(
    ("members", "closed"),
    [
        pytest.param({"aclose": True, "close": True}, "aclose", id="aclose is preferred"),
        pytest.param({"close": True}, "close", id="close, sync"),
        pytest.param({"close": "async"}, "close", id="close, async"),
        pytest.param({"aclose": "sync"}, "aclose", id="aclose that is sync"),
    ],
)
async def test_a_tool_is_closed_by_aclose_or_close(members: dict[str, Any], closed: str) -> None:
    log: Log = []

    def method(name: str, kind: Any) -> Any:
        def plain(self: Any) -> None:
            log.append(name)

        async def asynchronous(self: Any) -> None:
            log.append(name)

        return asynchronous if kind == "async" or (kind is True and name == "aclose") else plain

    kind = type("Made", (Uses,), {name: method(name, how) for name, how in members.items()})

    await run_of(container_of(tool=providers.Factory(kind)))

    assert log == [closed]


@pytest.mark.parametrize(
    "provider",
    [
        pytest.param(lambda cls, *args: providers.Factory(cls, *args), id="Factory"),
        pytest.param(lambda cls, *args: provide(cls, *args), id="provide"),
        pytest.param(lambda cls, *args: providers.Callable(cls, *args), id="Callable of a class"),
        pytest.param(lambda cls, *args: RunScoped(cls, *args), id="RunScoped"),
        pytest.param(
            lambda cls, *args: providers.Selector(lambda: "a", a=providers.Factory(cls, *args)), id="Selector's branch"
        ),
        pytest.param(
            lambda cls, *args: providers.Dependency(default=providers.Factory(cls, *args)), id="Dependency's default"
        ),
    ],
)
async def test_a_tool_that_is_built_anew_is_closed_by_the_run(provider: Any) -> None:
    log: Log = []

    await run_of(container_of(tool=provider(ClosableTool, providers.Object(log))))

    assert log == ["close tool"]


@pytest.mark.parametrize(
    "provider",
    [
        pytest.param(lambda tool: providers.Object(tool), id="Object"),
        pytest.param(lambda tool: providers.Singleton(lambda: tool), id="Singleton"),
        pytest.param(lambda tool: providers.Callable(lambda: tool), id="Callable of a function"),
        pytest.param(lambda tool: providers.Selector(lambda: "a", a=providers.Object(tool)), id="Selector's branch"),
    ],
)
async def test_a_shared_tool_is_never_closed_by_a_run(provider: Any) -> None:
    log: Log = []

    await run_of(container_of(tool=provider(ClosableTool(log))))

    assert log == []


async def test_a_tool_of_the_application_is_closed_with_the_application() -> None:
    log: Log = []

    async with application(container_of(tool=AppScoped(ClosableTool, log))) as app:
        await app.agent().run("go", model=asking("use"))
        after_the_run = list(log)

    assert after_the_run == []
    assert log == ["close tool"]


async def test_what_was_injected_is_not_the_runs_to_close() -> None:
    log: Log = []

    await run_of(container_of(providers.Factory(Closable, "factory", providers.Object(log))))

    assert log == []


async def test_an_object_is_closed_plainly_where_it_has_only_close() -> None:
    log: Log = []

    await run_of(container_of(RunScoped(SyncClosable, "a", log)))

    assert log == ["close a plainly"]


async def test_a_generator_sees_that_the_run_failed_and_can_roll_back() -> None:
    log: Log = []

    async def transaction() -> AsyncIterator[str]:
        try:
            yield "transaction"
        except BaseException as error:
            log.append(f"rollback: {error}")
            raise
        else:
            log.append("commit")

    def plain_transaction() -> Iterator[str]:
        try:
            yield "transaction"
        except BaseException as error:
            log.append(f"plain rollback: {error}")
            raise
        else:
            log.append("plain commit")

    container = container_of(RunScoped(transaction), RunScoped(plain_transaction))

    await run_of(container)
    with pytest.raises(RunError) as failed:
        await run_of(container, ScriptedModel([calls(call("use")), ValueError("no answer")]))

    text = str(failed.value)
    assert log == ["plain commit", "commit", f"plain rollback: {text}", f"rollback: {text}"]
    assert not getattr(failed.value, "__notes__", []), "an error that only passed through is no failure to close"


async def test_a_generator_may_keep_the_runs_error_to_itself_and_the_run_still_fails() -> None:
    async def swallowing() -> AsyncIterator[str]:
        with contextlib.suppress(Exception):
            yield "it"

    with pytest.raises(RunError, match="no answer"):
        await run_of(container_of(RunScoped(swallowing)), ScriptedModel([calls(call("use")), ValueError("no answer")]))


async def test_a_failing_close_after_an_answer_is_a_cleanup_error_that_carries_the_run() -> None:
    log: Log = []
    failing = RunScoped(opening("a", log, ValueError("could not commit")))

    with pytest.raises(CleanupError, match="could not commit") as failed:
        await run_of(container_of(failing))

    assert failed.value.run.outcome == "failed"
    assert failed.value.run.response == "done"
    assert isinstance(failed.value.__cause__, ValueError)


async def test_a_failing_close_does_not_hide_the_runs_error() -> None:
    log: Log = []
    failing = RunScoped(opening("a", log, ValueError("could not close")))

    with pytest.raises(RunError, match="no answer") as failed:
        await run_of(container_of(failing), ScriptedModel([calls(call("use")), ValueError("no answer")]))

    assert any("could not close" in note for note in failed.value.__notes__)
    assert failed.value.run.outcome == "failed"


async def test_all_are_closed_when_one_fails() -> None:
    log: Log = []
    scoped = [
        RunScoped(Closable, "a", log),
        RunScoped(Closable, "b", log, ValueError("b failed")),
        RunScoped(Closable, "c", log, OSError("c failed")),
        RunScoped(Closable, "d", log),
    ]

    with pytest.raises(CleanupError, match="c failed"):
        await run_of(container_of(*scoped))

    assert log == ["close d", "close c", "close b", "close a"]


async def test_all_are_closed_when_one_hangs_and_the_hanging_one_is_named() -> None:
    log: Log = []

    async def hanging() -> AsyncIterator[str]:
        try:
            yield "it"
        finally:
            log.append("close hanging")
            await asyncio.Event().wait()

    scoped = [RunScoped(opening("a", log)), RunScoped(hanging), RunScoped(opening("b", log))]

    with pytest.raises(CleanupError, match=r"closing .*hanging took longer than 0\.01 seconds"):
        await run_of(container_of(*scoped, limits=Limits(close_timeout=0.01)))

    assert log == ["open a", "open b", "close b", "close hanging", "close a"]


async def test_two_failures_of_closing_are_both_told() -> None:
    log: Log = []
    scoped = [RunScoped(Closable, name, log, ValueError(f"{name} failed")) for name in "ab"]

    with pytest.raises(CleanupError) as failed:
        await run_of(container_of(*scoped))

    assert isinstance(failed.value.__cause__, BaseExceptionGroup)
    assert [str(error) for error in failed.value.__cause__.exceptions] == ["b failed", "a failed"]


async def test_an_object_that_fails_to_open_has_those_before_it_closed() -> None:
    log: Log = []

    async def failing(_: Any) -> Any:
        raise OSError("no such host")

    a = RunScoped(opening("a", log))

    run = await run_of(container_of(a, RunScoped(failing, a)))

    assert log == ["open a", "close a"]
    assert isinstance(run.calls[0].error, OSError)
    assert run.calls[0].result.is_error


async def test_an_object_that_failed_to_open_is_tried_again_and_never_closed() -> None:
    log: Log = []
    failures = [OSError("not yet")]

    async def at_the_second_time() -> AsyncIterator[str]:
        log.append("open")
        if failures:
            raise failures.pop()
        try:
            yield "it"
        finally:
            log.append("close")

    run = await run_of(container_of(RunScoped(at_the_second_time)), in_turns("use", "use"))

    assert [record.result.is_error for record in run.calls] == [True, False]
    assert log == ["open", "open", "close"]


async def test_opening_that_takes_too_long_is_given_up_and_named() -> None:
    log: Log = []

    async def hanging() -> AsyncIterator[str]:
        try:
            await asyncio.Event().wait()
            yield "never"
        finally:
            log.append("cleaned up")

    run = await run_of(container_of(RunScoped(hanging), limits=Limits(open_timeout=0.01)))

    assert log == ["cleaned up"]
    assert isinstance(run.calls[0].error, TimeoutError)
    assert "hanging took longer than 0.01 seconds" in str(run.calls[0].error)


async def test_what_opens_after_all_though_too_late_is_closed_with_the_run() -> None:
    log: Log = []

    async def stubborn() -> AsyncIterator[str]:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        try:
            yield "late"
        finally:
            log.append("closed")

    run = await run_of(container_of(RunScoped(stubborn), limits=Limits(open_timeout=0.01)))

    assert isinstance(run.calls[0].error, TimeoutError)
    assert log == ["closed"]


async def test_a_cancellation_while_something_is_opened_closes_what_is_open() -> None:
    log: Log = []
    is_opening = asyncio.Event()

    async def slow(_: Any) -> AsyncIterator[str]:
        log.append("open slow")
        is_opening.set()
        try:
            await asyncio.Event().wait()
            yield "never"
        finally:
            log.append("slow was given up")

    a = RunScoped(opening("a", log))
    task = asyncio.create_task(run_of(container_of(a, RunScoped(slow, a))))
    await is_opening.wait()

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert log == ["open a", "open slow", "slow was given up", "a saw CancelledError", "close a"]


async def test_a_second_and_third_cancellation_do_not_stop_the_closing() -> None:
    log: Log = []
    is_closing, may_close = asyncio.Event(), asyncio.Event()
    is_working = asyncio.Event()

    async def slow_to_close() -> AsyncIterator[str]:
        try:
            yield "it"
        finally:
            is_closing.set()
            await may_close.wait()
            log.append("closed")

    class Works(Uses):
        """Work for ever."""

        async def handler(self) -> str:
            is_working.set()
            await asyncio.Event().wait()
            return "never"

    db = RunScoped(slow_to_close)
    container = container_of(tool=provide(Works, RunScoped(opening("a", log)), db))
    task = asyncio.create_task(run_of(container))
    await is_working.wait()

    task.cancel()
    await is_closing.wait()
    for _ in range(2):
        task.cancel()
        await asyncio.sleep(0)
    may_close.set()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert log == ["open a", "closed", "a saw CancelledError", "close a"]


async def test_an_anyio_cancellation_closes_everything_too() -> None:
    log: Log = []

    class Works(Uses):
        """Work until cancelled."""

        async def handler(self) -> str:
            scope.cancel()
            await asyncio.Event().wait()
            return "never"

    async def slow_to_close() -> AsyncIterator[str]:
        try:
            yield "it"
        finally:
            await asyncio.sleep(0)
            log.append("closed")

    with anyio.CancelScope() as scope:
        await run_of(container_of(tool=provide(Works, RunScoped(opening("a", log)), RunScoped(slow_to_close))))

    assert scope.cancelled_caught
    assert log == ["open a", "closed", "a saw CancelledError", "close a"]


async def grouped() -> AsyncIterator[anyio.abc.TaskGroup]:
    async with anyio.create_task_group() as group:
        yield group
        group.cancel_scope.cancel()


async def natively_grouped() -> AsyncIterator[asyncio.TaskGroup]:
    async with asyncio.TaskGroup() as group:
        yield group


@pytest.mark.parametrize("names", [("use",), ("use", "again", "more")], ids=["one call", "concurrent calls"])
async def test_a_task_group_may_be_a_resource_of_the_run(names: tuple[str, ...]) -> None:
    worked: Log = []

    class Spawns(Tool):
        """Start something in the group."""

        name = "use"

        def __init__(self, group: Any) -> None:
            self.group = group

        async def handler(self) -> str:
            self.group.start_soon(self.work)
            await asyncio.sleep(0)
            return "started"

        async def work(self) -> None:
            worked.append("worked")

    class Again(Spawns):
        """Start something in the group."""

        name = "again"

    class More(Spawns):
        """Start something in the group."""

        name = "more"

    class Application(containers.DeclarativeContainer):
        group = RunScoped(grouped)
        use = provide(Spawns, group=dep(group))
        again = provide(Again, group=dep(group))
        more = provide(More, group=dep(group))
        agent = provide(Agent, tools=["use", "again", "more"])

    async with application(Application()) as app:
        run = await app.agent().run("go", model=asking(*names))

    assert run.outcome == "completed"
    assert worked == ["worked"] * len(names)


@pytest.mark.parametrize("group", [grouped, natively_grouped])
async def test_an_error_of_the_run_passes_through_a_task_group_without_a_note(group: Any) -> None:
    log: Log = []
    container = container_of(RunScoped(opening("a", log)), RunScoped(group))

    with pytest.raises(RunError, match="no answer") as failed:
        await run_of(container, ScriptedModel([calls(call("use")), ValueError("no answer")]))

    assert not getattr(failed.value, "__notes__", [])
    assert log == ["open a", "a saw ModelError", "close a"]


@pytest.mark.parametrize("kind", ["anyio", "asyncio"])
async def test_a_background_failure_in_a_resource_ends_the_run_with_the_real_error(kind: str) -> None:
    log: Log = []
    may_fail = asyncio.Event()

    async def background() -> None:
        await may_fail.wait()
        raise ConnectionResetError("the server went away")

    async def session() -> AsyncIterator[str]:
        if kind == "anyio":
            async with anyio.create_task_group() as group:
                group.start_soon(background)
                yield "session"
        else:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(background())
                yield "session"

    class Works(Uses):
        """Work until the session fails."""

        async def handler(self) -> str:
            may_fail.set()
            await asyncio.Event().wait()
            return "never"

    container = container_of(tool=provide(Works, RunScoped(opening("a", log)), RunScoped(session)))

    with pytest.raises(RunError) as failed:
        await run_of(container)

    assert failed.value.run.outcome == "failed"
    assert "the server went away" in "".join(_texts(failed.value))
    assert log[0] == "open a"
    assert log[-1] == "close a"


def _texts(error: BaseException | None) -> Iterator[str]:
    while error is not None:
        yield repr(error)
        if isinstance(error, BaseExceptionGroup):
            for inner in error.exceptions:
                yield from _texts(inner)
        error = error.__cause__


async def test_each_object_is_opened_and_closed_in_one_task_which_is_not_the_callers() -> None:
    tasks: dict[str, Any] = {}

    async def opened() -> AsyncIterator[str]:
        tasks["opened"] = asyncio.current_task()
        try:
            yield "it"
        finally:
            tasks["closed"] = asyncio.current_task()

    class Again(Uses):
        """Use it as well."""

        name = "again"

    class Application(containers.DeclarativeContainer):
        it = RunScoped(opened)
        use = provide(Uses, dep(it))
        again = provide(Again, dep(it))
        agent = provide(Agent, tools=["use", "again"])

    async with application(Application()) as app:
        await app.agent().run("go", model=asking("use", "again"))

    assert tasks["opened"] is tasks["closed"]
    assert tasks["opened"] is not asyncio.current_task()
