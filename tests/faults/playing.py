"""Plays a scenario in virtual time, and gives what it left as evidence."""

from __future__ import annotations

import asyncio
import contextlib
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest

from tests.faults.acts import MemberLog
from tests.faults.scenario import MemberPlan, Scenario
from tests.faults.stage import Pool, Stage
from tests.faults.virtual_time import CountedWorkers, VirtualLoop
from tests.runs.cancel_harness import Surroundings
from toolkit import Agent, Run
from toolkit.injection import application, overriding
from toolkit.messages import Message, messages_from_json, messages_to_json
from toolkit.testing import ScriptedModel, says

__all__ = ["Continued", "Evidence", "MemberEvidence", "play"]


@dataclass
class Continued:
    """A next run over the messages of a run, and over what came back of their JSON.

    Attributes:
        restored: The messages as they came back.
        transcripts: Of the next runs.
        warnings: What they warned of: what was wrong with the transcript.
    """

    restored: list[Message]
    transcripts: list[list[Message]]
    warnings: list[str]


@dataclass
class MemberEvidence:
    """What one run left.

    Attributes:
        error: What it raised.
        events: Of a stream.
        left_early: Its reader left the stream before its end.
        was_cancelled: Its caller was cancelled while it waited.
        seconds: How long it took, in virtual time.
        continued: What came of its transcript; None when nobody saw the run.
    """

    plan: MemberPlan
    log: MemberLog
    run: Run[Any] | None = None
    error: BaseException | None = None
    events: list[Any] = field(default_factory=list)
    left_early: bool = False
    was_cancelled: bool = False
    seconds: float = 0.0
    continued: Continued | None = None


@dataclass
class Evidence:
    """What a scenario left.

    Attributes:
        before, after: Around its runs, once all of them are over. Threads that hang still do.
        at_the_end: After the threads that hung have come back, and the application is closed.
        warnings: Python's, in their order.
        complaints: What asyncio complained of, also later, when the garbage is collected.
    """

    scenario: Scenario
    members: list[MemberEvidence]
    before: Surroundings
    after: Surroundings
    at_the_end: Surroundings
    warnings: list[str]
    complaints: list[str]


def play(scenario: Scenario, workers: CountedWorkers) -> Evidence:
    """Runs the members of a scenario, at once but for those of `run_sync`, and continues what they left."""
    stage = Stage(scenario, workers)
    members = [MemberEvidence(plan, MemberLog(plan)) for plan in scenario.members]
    with warnings.catch_warnings(record=True) as caught, _virtual_loops() as loops:
        warnings.simplefilter("always")
        for member in members:
            if member.plan.way == "run_sync":
                _play_sync(stage, member, loops)
        with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
            around = runner.run(_play_at_once(stage, [one for one in members if one.plan.way != "run_sync"]))
            stage.curtain.set()
            workers.join()
            told = [str(warning.message) for warning in caught]
            for member in members:
                if member.run is not None:
                    member.continued = runner.run(_continue(member.run, caught))
            at_the_end = runner.run(_look_around())
    return Evidence(scenario, members, *around, at_the_end, told, loops[0].complaints)


@contextlib.contextmanager
def _virtual_loops() -> Iterator[list[VirtualLoop]]:
    """Every event loop made in the block is virtual, also that of `run_sync`."""
    loops: list[VirtualLoop] = []

    def make() -> VirtualLoop:
        loops.append(VirtualLoop(loops[0].complaints if loops else None))
        return loops[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asyncio, "new_event_loop", make)
        patch.setattr(asyncio.events, "new_event_loop", make)
        yield loops


def _play_sync(stage: Stage, member: MemberEvidence, loops: list[VirtualLoop]) -> None:
    log = member.log
    try:
        member.run = stage.agent(log).run_sync(
            f"{log.name} asks", context=log, values={MemberLog: log}, timeout=member.plan.timeout
        )
    except BaseException as error:
        _take_error(member, error)
    member.seconds = loops[-1].time()


async def _look_around() -> Surroundings:
    return Surroundings.now()


async def _play_at_once(stage: Stage, members: Sequence[MemberEvidence]) -> tuple[Surroundings, Surroundings]:
    if not stage.scenario.has_container:
        before = Surroundings.now()
        await _play_all(members, {member.plan.name: stage.agent(member.log) for member in members}, None)
        return before, Surroundings.now()
    container = stage.container()
    async with application(container) as app:
        before = Surroundings.now()
        await _play_all(members, {member.plan.name: app.agent() for member in members}, container)
        return before, Surroundings.now()


async def _play_all(members: Sequence[MemberEvidence], agents: dict[str, Any], container: Any) -> None:
    callers = [_Caller(member, agents[member.plan.name], container) for member in members]
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    loop.on_standstill = lambda: sum(caller.cancel() for caller in callers) > 0
    cancelling = [asyncio.create_task(caller.cancel_in_time()) for caller in callers]
    for task in cancelling:
        await asyncio.wait((task,))
        task.result()
    for caller in callers:
        await asyncio.wait((caller.task,))
    loop.on_standstill = lambda: False
    for caller in callers:
        caller.task.result()


class _Caller:
    """The task that runs one member, and how it is cancelled."""

    def __init__(self, member: MemberEvidence, agent: Any, container: Any) -> None:
        self._member = member
        self._agent = agent
        self._container = container
        self._scope = anyio.CancelScope()
        self._is_cancelled = False
        self.task = asyncio.create_task(self._main())

    async def cancel_in_time(self) -> None:
        plan = self._member.plan
        if plan.turns is None or plan.way == "leave":
            return
        await self._turns(plan.turns)
        for _ in range(plan.times):
            self.cancel(again=True)
            await self._turns(1)

    def cancel(self, *, again: bool = False) -> bool:
        """False when there was nothing to cancel."""
        if self.task.done() or (self._is_cancelled and not again):
            return False
        member = self._member
        style = member.plan.style
        member.was_cancelled = self._is_cancelled = True
        if style in ("task", "both"):
            self.task.cancel()
        if style != "task":
            self._scope.cancel()
        asyncio.get_running_loop().call_soon(member.log.cancel)
        return True

    async def _turns(self, count: int) -> None:
        for _ in range(count):
            if self.task.done():
                return
            await asyncio.sleep(0)

    async def _main(self) -> None:
        member, loop = self._member, asyncio.get_running_loop()
        began = loop.time()
        try:
            with self._scope:
                await self._run()
        except BaseException as error:
            _take_error(member, error)
        if self._scope.cancelled_caught:
            _take_error(member, asyncio.CancelledError())
        if member.run is None:
            member.run = member.log.run
        member.seconds = loop.time() - began

    async def _run(self) -> None:
        member = self._member
        if member.plan.style == "group":
            async with anyio.create_task_group() as group:
                group.start_soon(self._run_overridden)
            return
        await self._run_overridden()

    async def _run_overridden(self) -> None:
        try:
            if self._member.plan.is_overridden:
                with overriding(self._container, pool=Pool(self._member.log.marker)):
                    await self._ask()
            else:
                await self._ask()
        except BaseException as error:  # a task group would wrap it, or swallow it
            _take_error(self._member, error)
            if isinstance(error, asyncio.CancelledError):
                raise

    async def _ask(self) -> None:
        member, log = self._member, self._member.log
        options: dict[str, Any] = {"context": log, "values": {MemberLog: log}, "timeout": member.plan.timeout}
        if member.plan.way == "run":
            member.run = await self._agent.run(f"{log.name} asks", **options)
            return
        async with self._agent.stream(f"{log.name} asks", **options) as stream:
            log.run = stream.run
            async for event in stream:
                member.events.append(event)
                if member.plan.way == "leave" and len(member.events) > (member.plan.turns or 0):
                    member.left_early = True
                    break
        member.run = stream.run


def _take_error(member: MemberEvidence, error: BaseException) -> None:
    member.error = error
    run = getattr(error, "run", None)
    member.run = run if isinstance(run, Run) else member.log.run


async def _continue(run: Run[Any], caught: list[Any]) -> Continued:
    already = len(caught)
    restored = messages_from_json(messages_to_json(run.messages))
    transcripts = []
    for history in (run.messages, restored):
        next_run = await Agent(ScriptedModel([says("still here")])).run("Go on", messages=history)
        transcripts.append(list[Message](next_run.messages))
    return Continued(list(restored), transcripts, [str(warning.message) for warning in caught[already:]])
