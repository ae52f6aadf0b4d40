"""What a test wants to say about a run: which tools were called, what came of one call, how it all went."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolkit.messages import ToolCall
from toolkit.records import CallRecord, Run
from toolkit.testing.wording import call_in_words, lines_of, record_in_words

__all__ = ["assert_calls", "the_call", "transcript_of"]


def assert_calls(run: Run[Any], *expected: ToolCall) -> None:
    """Raises `AssertionError` unless the run made these calls, with these arguments, in this order, and no others.

    The arguments of a record are those that the handler got, after any `Modify`. `unittest.mock.ANY` stands for
    arguments, or for one of them, that may be anything. An `id` is compared where it is given.

    Example:
        >>> from unittest.mock import ANY
        >>> from toolkit import Agent, tool
        >>> from toolkit.testing import ScriptedModel, assert_calls, call, calls, says
        >>> @tool
        ... def add(a: int, b: int) -> int:
        ...     "Add two numbers."
        ...     return a + b
        >>> model = ScriptedModel([calls(call("add", {"a": 1, "b": 2})), says("3")])
        >>> run = Agent(model, tools=[add]).run_sync("1 + 2?")
        >>> assert_calls(run, call("add", {"a": 1, "b": ANY}))
    """
    __tracebackhide__ = True
    made = run.calls
    begin = 0
    while begin < min(len(made), len(expected)) and _fits(expected[begin], made[begin]):
        begin += 1
    if begin == len(made) == len(expected):
        return
    end = 0
    while end < min(len(made), len(expected)) - begin and _fits(expected[-1 - end], made[-1 - end]):
        end += 1
    raise AssertionError(
        "the run's calls are not as expected (- expected, + made):\n"
        + "\n".join(
            [
                *(f"    {record_in_words(record)}" for record in made[:begin]),
                *(f"  - {_in_words(wanted)}" for wanted in expected[begin : len(expected) - end]),
                *(f"  + {record_in_words(record)}" for record in made[begin : len(made) - end]),
                *(f"    {record_in_words(record)}" for record in made[len(made) - end :]),
            ]
        )
    )


def the_call(run: Run[Any], name: str) -> CallRecord:
    """The record of the one call of the tool: its `arguments`, its `result.content`, its `error`.

    Raises `AssertionError` when the tool was not called, or more than once. A call that was denied has a `result` with
    `is_error` and the reason; one that a guard blocked has a `HookError` as its `error` besides, and one that failed
    the handler's exception.
    """
    __tracebackhide__ = True
    found = [record for record in run.calls if record.name == name]
    if len(found) == 1:
        return found[0]
    times = f"{len(found)} times" if found else "never"
    raise AssertionError(f"the tool '{name}' was called {times}, not once; {_all_calls(run.calls)}")


def transcript_of(run: Run[Any]) -> str:
    """The whole conversation as text, an entry a line, to compare or to read:

        user: How is Oslo?
        call: weather {"city": "Oslo"}
        result: light rain
        assistant: It rains a little.

    A result that tells an error begins with `error:`. Ids and durations, which differ from run to run, are left out.
    """
    return "\n".join(lines_of(run.messages))


def _fits(wanted: ToolCall, record: CallRecord) -> bool:
    if wanted.id and wanted.id != record.id:
        return False
    return wanted.name == record.name and bool(wanted.arguments == record.arguments)


def _in_words(wanted: ToolCall) -> str:
    return call_in_words(wanted.name, wanted.arguments)


def _all_calls(records: Sequence[CallRecord]) -> str:
    if not records:
        return "the run made no calls"
    return "the run's calls are:\n" + "\n".join(f"    {record_in_words(record)}" for record in records)
