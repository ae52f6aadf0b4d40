"""What the code of an application may do to a run: the acts of a scenario, and what each run notes of them."""

from __future__ import annotations

import asyncio
import contextlib
import re
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from tests.faults.scenario import Act, MemberPlan
from tests.runs.cancel_harness import Log
from toolkit import ToolError

__all__ = ["SECRET", "MemberLog", "names_in", "perform", "perform_in_thread"]

SECRET = "token=abc123"
"""The text of every exception that is no `ToolError`: no model may read it."""


class MemberLog(Log):
    """What happened in one run of a scenario.

    Attributes:
        plan: The run.
        notes: Every act that began, as `"where: kind"`, in order.
        moves: Every opening and closing as it happened: what, in which task.
        sightings: What was seen: what it is, of which run it is, and which run it was seen by.
        at_once: Handlers at work now, and those of exclusive tools among them.
        most_at_once: The most of either that there ever were.
        inner: Runs that its tools made.
    """

    def __init__(self, plan: MemberPlan) -> None:
        super().__init__()
        self.plan = plan
        self.name = plan.name
        self.notes: list[str] = []
        self.moves: list[tuple[str, str, asyncio.Task[Any] | None]] = []
        self.sightings: list[tuple[str, str, str]] = []
        self.at_once = [0, 0]
        self.most_at_once = [0, 0]
        self._lock = threading.Lock()
        self.inner: list[Any] = []
        self._counts: dict[str, int] = {}

    @property
    def marker(self) -> str:
        """Of the object of the application that it is to see."""
        return f"fake of {self.name}" if self.plan.is_overridden else "the application's"

    def number(self, what: str) -> int:
        """0 for the first time that it is asked for this, then 1, and so on."""
        count = self._counts.get(what, 0)
        self._counts[what] = count + 1
        return count

    def next_of(self, acts: tuple[Act, ...], what: str) -> Act:
        return acts[self.number(what) % len(acts)] if acts else Act("work")

    def open(self, name: str) -> None:
        super().open(name)
        self.moves.append(("open", name, asyncio.current_task()))

    def close(self, name: str) -> None:
        super().close(name)
        self.moves.append(("close", name, asyncio.current_task()))

    def see(self, what: str, belongs_to: str, seen_by: str) -> None:
        self.sightings.append((what, belongs_to, seen_by))

    def enter(self, name: str, is_exclusive: bool) -> None:
        """A handler begins."""
        self.begin(name)
        self._count(0, 1)
        self._count(1, is_exclusive)

    def leave(self, name: str, is_exclusive: bool) -> None:
        self._count(0, -1)
        self._count(1, -is_exclusive)
        self.end(name)

    def enter_thread(self, is_exclusive: bool) -> None:
        """A handler begins in its thread, which may outlive the call: so it counts for what is exclusive only."""
        self._count(1, is_exclusive)

    def leave_thread(self, is_exclusive: bool) -> None:
        self._count(1, -is_exclusive)

    def _count(self, kind: int, more: int) -> None:
        with self._lock:
            self.at_once[kind] += more
            self.most_at_once[kind] = max(self.at_once[kind], self.most_at_once[kind])


def names_in(message: Any) -> list[str]:
    """The runs that a message, or any text, speaks of."""
    return re.findall(r"<member \d+>", str(message))


async def perform(act: Act, log: MemberLog, where: str) -> Any:
    """Does it, as code of the application that runs in the event loop."""
    await _turns(act.steps)
    log.notes.append(f"{where}: {act.kind}")
    return await _KINDS[act.kind](log)


def perform_in_thread(act: Act, log: MemberLog, where: str, hang: Callable[[], None]) -> Any:
    """Does it, as code of a sync handler. `hang` returns once the scenario is over."""
    log.notes.append(f"{where}: {act.kind}")
    if act.kind == "hang":
        hang()
        return "late"
    if act.kind == "junk":
        return object()
    if act.kind in _ERRORS:
        raise _ERRORS[act.kind]()
    return f"{log.name} in a thread"


async def _turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


_ERRORS: dict[str, Callable[[], BaseException]] = {
    "fail": lambda: ValueError(SECRET),
    "tool_error": lambda: ToolError("try another"),
    "own_cancel": lambda: asyncio.CancelledError(SECRET),
    "own_timeout": lambda: TimeoutError(SECRET),
}


def _raising(kind: str) -> Callable[[MemberLog], Awaitable[Any]]:
    async def act(log: MemberLog) -> Any:
        raise _ERRORS[kind]()

    return act


async def _work(log: MemberLog) -> str:
    return f"{log.name} worked"


async def _hang(log: MemberLog) -> None:
    await asyncio.Event().wait()


async def _wait(log: MemberLog) -> str:
    await asyncio.sleep(8)
    return f"{log.name} waited"


async def _junk(log: MemberLog) -> object:
    return object()


async def _swallow_once(log: MemberLog) -> str:
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.Event().wait()
    await _turns(2)
    return f"{log.name} went on"


async def _swallow_always(log: MemberLog) -> None:
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            log.notes.append("swallowed")


async def _spawn(log: MemberLog) -> str:
    child = asyncio.create_task(_hang(log))
    try:
        await _turns(2)
    finally:
        child.cancel()
        await asyncio.wait((child,))
    return f"{log.name} spawned"


async def _tidy(log: MemberLog) -> None:
    try:
        await asyncio.Event().wait()
    finally:
        log.notes.append("tidies")
        await asyncio.sleep(1)
        log.notes.append("tidied")


async def _group(log: MemberLog) -> str:
    async with asyncio.TaskGroup() as group:
        children = [group.create_task(_turns(count)) for count in (1, 2)]
    return f"{log.name} had {len(children)} children"


async def _failing_group(log: MemberLog) -> str:
    with contextlib.suppress(ExceptionGroup):
        async with asyncio.TaskGroup() as group:
            group.create_task(_hang(log))
            group.create_task(_raising("fail")(log))  # type: ignore[arg-type]  # it is a coroutine
    return f"{log.name} lost a child"


async def _any_group(log: MemberLog) -> str:
    async with anyio.create_task_group() as group:
        group.start_soon(_hang, log)
        await _turns(2)
        group.cancel_scope.cancel()
    return f"{log.name} cancelled a group"


async def _move_on(log: MemberLog) -> str:
    with anyio.move_on_after(2):
        await asyncio.Event().wait()
    return f"{log.name} moved on"


async def _cancel_itself(log: MemberLog) -> str:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)
    return "never"


async def _fail_in_finally(log: MemberLog) -> str:
    try:
        await _turns(3)
        return f"{log.name} worked"
    finally:
        await _turns(1)
        raise ValueError(SECRET)


_KINDS: dict[str, Callable[[MemberLog], Awaitable[Any]]] = {
    "work": _work,
    "hang": _hang,
    "wait": _wait,
    "junk": _junk,
    "swallow_once": _swallow_once,
    "swallow_always": _swallow_always,
    "spawn": _spawn,
    "tidy": _tidy,
    "group": _group,
    "failing_group": _failing_group,
    "any_group": _any_group,
    "move_on": _move_on,
    "cancel_itself": _cancel_itself,
    "fail_in_finally": _fail_in_finally,
    **{kind: _raising(kind) for kind in _ERRORS},
}
