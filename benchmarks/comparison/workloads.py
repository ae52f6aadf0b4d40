"""The work: which tools there are, what the model asks for, what came before, and what the agent is used for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from benchmarks.comparison import tools
from benchmarks.comparison.script import Turn, streamed, turn_of_each, turns_of

Feature = Literal["history", "stream", "run_scope", "sync"]
"""What not every adapter can do: earlier messages, streamed answers, clients of a run, sync tools."""

INSTRUCTIONS = "You are a helpful assistant."


@dataclass(frozen=True)
class Task:
    """What an adapter builds an agent for.

    Attributes:
        functions: Its tools.
        max_turns: Model calls that it must at least be allowed.
        is_streamed: Runs are read piece by piece.
        clients: So many clients are opened for each run and closed with it, and shared by the tools in turn.
    """

    functions: Sequence[Callable[..., Any]] = (tools.get_weather,)
    max_turns: int = 10
    is_streamed: bool = False
    clients: int = 0


@dataclass(frozen=True)
class Workload:
    """A task, and what is played with it.

    Attributes:
        turns: What the model says.
        history: Messages that came before.
        at_once: Runs that are under way at the same time; 0 for one after another.
        is_refused: The arguments break the schema, so that the tool must not run. Such a one is checked, never timed.
        inner: What an agent plays that the tool `ask_expert` asks.
        needs: What an adapter must be able to do.
        parts: What the time is divided by in the report, besides runs: turns or chunks.
    """

    task: Task
    turns: Sequence[Turn]
    history: int = 0
    at_once: int = 0
    is_refused: bool = False
    inner: Workload | None = None
    needs: Feature | None = None
    parts: int = 1


def _many_turns(turns: int) -> Workload:
    return Workload(Task(max_turns=turns + 5), turns_of([1] * turns), parts=turns)


def _large(function: Callable[..., Any], arguments: dict[str, Any]) -> Workload:
    return Workload(Task([function]), turns_of([1], function.__name__, arguments))


def _at_once(runs: int) -> Workload:
    slowly = tools.get_weather_slowly
    return Workload(Task([slowly]), turns_of([1], slowly.__name__), at_once=runs)


def _with_clients() -> Workload:
    functions = tools.numbered(10)
    names = [function.__name__ for function in functions]
    return Workload(Task(functions, clients=3), turn_of_each(names), needs="run_scope")


def _refused(arguments: dict[str, Any], function: Callable[..., Any] = tools.get_weather) -> Workload:
    return Workload(Task([function]), turns_of([1], function.__name__, arguments), is_refused=True)


WORKLOADS: dict[str, Callable[[], Workload]] = {
    "W1": lambda: Workload(Task(), turns_of([1])),
    "W2": lambda: Workload(Task(), turns_of([10])),
    "W3_20": lambda: _many_turns(20),
    "W3_200": lambda: _many_turns(200),
    "W4_20": lambda: _at_once(20),
    "W4_1000": lambda: _at_once(1000),
    "W5_100": lambda: Workload(Task([tools.get_weather, *tools.numbered(99)]), turns_of([1])),
    "W6_1000": lambda: Workload(Task(), turns_of([1]), history=1000, needs="history"),
    "W7_result_text": lambda: _large(tools.find_text, {"query": "all"}),
    "W7_result_object": lambda: _large(tools.find_records, {"query": "all"}),
    "W7_args_text": lambda: _large(tools.store_text, {"text": "lorem ipsum " * 87_400}),
    "W7_args_items": lambda: _large(tools.store_items, {"items": tools.RECORDS[:10_000]}),
    "W8_stream": lambda: Workload(Task(is_streamed=True), streamed(1000), needs="stream", parts=1000),
    "W9_sync": lambda: Workload(Task([tools.get_weather_at_once]), turns_of([1], "get_weather_at_once"), needs="sync"),
    "W10_clients": _with_clients,
    "W11_nested": lambda: Workload(
        Task([]), turns_of([1], "ask_expert", {"question": "Sun?"}), inner=Workload(Task(), turns_of([1]))
    ),
    "P_parallel": lambda: Workload(Task([tools.get_weather_slowly]), turns_of([10], "get_weather_slowly")),
    "P_enum": lambda: _refused({"city": "Oslo", "units": "kelvin"}),
    "P_missing": lambda: _refused({"city": "Oslo"}),
    "P_item": lambda: _refused(
        {"items": [{"id": "no number", "name": "n", "tags": [], "price": 1.0}]}, tools.store_items
    ),
}
"""By name. W are timed, P are probes: does it overlap calls, does it keep what breaks the schema from the tool?"""


def texts_before(count: int) -> list[tuple[str, str]]:
    """Who said what in so many earlier messages: `user` and `assistant` in turn."""
    roles = ("user", "assistant")
    return [
        (roles[number % 2], f"Message number {number}: some words that were said before.") for number in range(count)
    ]
