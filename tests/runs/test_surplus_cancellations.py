"""Cancellations of a task that were nobody's will to end its run, and those that were.

A task group whose child fails leaves its task's count of cancellations one too high (CPython before 3.13).

Whoever raises a `CancelledError` of its own later, in the same task, must not end the run, or the application, with it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import anyio
import pytest
from dependency_injector import containers, providers

from tests.faults.virtual_time import VirtualLoop
from tests.runs.parts import CallingModel
from toolkit import Agent, ModelError, RunError, Tool, tool
from toolkit.injection import AppScoped, RunScoped, application, dep, provide
from toolkit.models import ModelRequest, ModelResponse
from toolkit.testing import ScriptedModel, call, calls, says


async def fail() -> None:
    raise ValueError


async def lose_a_child() -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.Event().wait())
        group.create_task(fail())


class Thing:
    pass


class Other:
    pass


async def open_thing() -> AsyncIterator[Thing]:
    with contextlib.suppress(ExceptionGroup):
        await lose_a_child()
    yield Thing()


async def open_other(thing: Thing) -> AsyncIterator[Other]:
    await asyncio.sleep(0)
    raise asyncio.CancelledError
    yield Other()


class Uses(Tool):
    """Use it."""

    name = "use"

    def __init__(self, thing: Thing) -> None:
        pass

    async def handler(self) -> str:
        return "used"


@tool
async def lose() -> None:
    """Lose a child."""
    await lose_a_child()


@tool
async def give_up() -> None:
    """Give up."""
    await asyncio.sleep(0)
    raise asyncio.CancelledError


async def test_of_opening_it_does_not_make_a_models_own_cancelled_error_the_runs() -> None:
    class Application(containers.DeclarativeContainer):
        thing = RunScoped(open_thing)
        model = providers.Object(ScriptedModel([calls(call("use")), asyncio.CancelledError()]))
        agent = provide(Agent, model=dep(model), tools=[provide(Uses, thing=dep(thing))])

    async with application(Application()) as app:
        with pytest.raises(ModelError, match="CancelledError") as raised:
            await app.agent().run("go")

    assert raised.value.run.outcome == "failed"
    assert raised.value.run.calls[0].result.content == "used"


async def test_of_a_handler_that_failed_with_it_does_not_make_the_next_handlers_own_one_the_runs() -> None:
    model = ScriptedModel([calls(call("lose")), calls(call("give_up")), says("done")])

    run = await Agent(model, [lose, give_up]).run("go")

    assert [record.result.content for record in run.calls] == [
        "tool 'lose' failed: ExceptionGroup",
        "tool 'give_up' failed: CancelledError",
    ]


async def test_of_opening_it_for_an_application_does_not_cancel_the_application() -> None:
    class Application(containers.DeclarativeContainer):
        thing = AppScoped(open_thing)
        other = AppScoped(open_other, thing)

    with pytest.raises(RuntimeError, match="was cancelled from inside"):
        async with application(Application()):
            pass


def test_an_open_timeout_that_was_swallowed_does_not_hide_that_something_opened_fails_later() -> None:
    async def lose_it() -> None:
        await asyncio.sleep(1)
        raise ConnectionError("lost")

    async def open_line() -> AsyncIterator[Thing]:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        async with anyio.create_task_group() as group:
            group.start_soon(lose_it)
            yield Thing()

    async def respond(request: ModelRequest) -> ModelResponse:
        if len(request.messages) < 5:
            return calls(call("use"))
        await asyncio.Event().wait()
        raise AssertionError

    class Application(containers.DeclarativeContainer):
        thing = RunScoped(open_line)
        model = providers.Object(CallingModel(respond))
        agent = provide(Agent, model=dep(model), tools=[provide(Uses, thing=dep(thing))])

    async def main() -> list[str]:
        async with application(Application()) as app:
            with pytest.raises(RunError, match="ConnectionError") as raised:
                await app.agent().run("go")
        assert type(raised.value) is RunError
        return [record.result.content for record in raised.value.run.calls]

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        contents = runner.run(main())

    assert contents == ["tool 'use' failed: TimeoutError", "used"]
