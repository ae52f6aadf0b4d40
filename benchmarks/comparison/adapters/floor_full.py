"""A loop as small as one can write it that yet has what a toolkit needs: the goal to come near.

Beyond `floor:jsonschema_rs+di` it has objects for messages and events, four hooks, a task and a timeout for each call,
errors that become results, and a limit on turns.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.comparison.adapters.adapter import Adapter
from benchmarks.comparison.adapters.floor import Agent, BareTool
from benchmarks.comparison.script import PROMPT, Call, Turn, next_turn
from benchmarks.comparison.workloads import Task


@dataclass(slots=True)
class Message:
    """One line of the conversation."""

    role: str
    content: str
    calls: tuple[Call, ...] = ()
    call_id: str = ""
    is_error: bool = False


@dataclass(slots=True)
class Event:
    """What was told, and when."""

    kind: str
    subject: object
    at: float


@dataclass(slots=True)
class Run:
    """What one run has."""

    messages: list[Message]
    tools: dict[str, BareTool] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    turns: int = 0


Hook = Callable[[Run, object], Awaitable[None]]


async def _ask_nothing(run: Run, subject: object) -> None:
    return None


_HOOKS: dict[str, list[Hook]] = {
    kind: [_ask_nothing] for kind in ("before model", "after model", "before call", "after call")
}


async def _tell(run: Run, kind: str, subject: object) -> None:
    for hook in _HOOKS[kind]:
        await hook(run, subject)
    run.events.append(Event(kind, subject, time.monotonic()))


async def _call(agent: Agent, run: Run, asked: Call) -> Message:
    await _tell(run, "before call", asked)
    try:
        tool = run.tools.get(asked.name)
        if tool is None:
            tool = run.tools[asked.name] = agent.makers[asked.name]()
        arguments = agent.readers[asked.name](asked.text)
        async with asyncio.timeout(60):
            result = await tool.function(**arguments)
        message = Message("tool", result if type(result) is str else json.dumps(result), (), asked.id)
    except Exception as error:  # noqa: BLE001  # the border of a tool call: it becomes the result
        message = Message("tool", str(error), (), asked.id, True)
    await _tell(run, "after call", message)
    return message


async def _respond(messages: list[Message], definitions: list[dict[str, Any]]) -> Turn:
    return next_turn(messages)


class FullFloor(Adapter):
    """A loop by hand, with all that a toolkit needs."""

    async def build(self, task: Task) -> Agent:
        return Agent(task, "jsonschema_rs", has_factories=True)

    def history_of(self, texts: Any) -> list[Message]:
        return [Message(role, text) for role, text in texts]

    async def run(self, agent: Agent, history: Any) -> str:
        run = Run([*history] if history else [])
        run.messages.append(Message("user", PROMPT))
        while run.turns < agent.task.max_turns:
            run.turns += 1
            await _tell(run, "before model", run.messages)
            turn = await _respond(run.messages, agent.definitions)
            await _tell(run, "after model", turn)
            run.messages.append(Message("assistant", turn.text, turn.calls))
            if not turn.calls:
                return turn.text
            if len(turn.calls) == 1:
                run.messages.append(await _call(agent, run, turn.calls[0]))
            else:
                async with asyncio.TaskGroup() as group:
                    under_way = [group.create_task(_call(agent, run, each)) for each in turn.calls]
                run.messages.extend(each.result() for each in under_way)
        raise RuntimeError("too many turns")


ADAPTER = FullFloor
