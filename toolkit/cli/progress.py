"""What goes on in a run, on a terminal while it does: which tools run, and for how long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, Unpack

from rich.console import Console, Group
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from toolkit.cli.printing import call_in_words, duration_in_words, visible
from toolkit.context import Event
from toolkit.events import ToolCallFinished, ToolCallStarted, TurnStarted
from toolkit.injection.runnable import RunnableAgent, RunOptions
from toolkit.messages import ToolCall
from toolkit.records import Run

__all__ = ["Progress", "run_with_progress"]

_SHOWN = 10
"""Calls at a time: a terminal has few lines, and what does not fit could not be taken away again."""


async def run_with_progress(agent: RunnableAgent[Any], prompt: str, **options: Unpack[RunOptions]) -> Run[Any]:
    """`agent.run(prompt, **options)`. Shows its progress on stderr where that is a terminal, and takes it away again.

    Raises what the run raises.
    """
    if not sys.stderr.isatty():
        return await agent.run(prompt, **options)
    progress = Progress()
    console = Console(file=sys.stderr, highlight=False, markup=False, emoji=False)
    # What a tool prints on stdout stands above the progress where both are shown, and is left alone where they are not.
    with Live(progress, console=console, transient=True, redirect_stdout=sys.stdout.isatty()) as live:
        async with agent.stream(prompt, **options) as stream:
            async for event in stream:
                if progress.take(event):
                    live.refresh()
    run: Run[Any] = stream.run
    return run


class Progress:
    """The lines to show: of each call its name, arguments and seconds; while no tool runs, that the model is asked.

    Args:
        clock: Seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._asked = clock()
        self._running: dict[str, tuple[ToolCall, float]] = {}
        self._ended: list[Text] = []
        self._spinner = Spinner("dots", style="cyan")

    def take(self, event: Event) -> bool:
        """Takes in what happened. True when there is something else to show."""
        if isinstance(event, TurnStarted):
            self._asked = self._clock()
        elif isinstance(event, ToolCallStarted):
            self._running[event.call.id] = (event.call, self._clock())
        elif isinstance(event, ToolCallFinished):
            record = event.record
            self._running.pop(record.id, None)
            mark, style = ("failed", "red") if record.result.is_error else ("done", "green")
            self._ended.append(
                _line(
                    mark, style, call_in_words(record.name, record.arguments), f"({duration_in_words(record.duration)})"
                )
            )
        else:
            return False
        return True

    def lines(self) -> list[Text]:
        """What ran, and below it what runs."""
        now = self._clock()
        running = [
            _line("running", "cyan", call_in_words(call.name, call.arguments), f"{now - began:.0f} s")
            for call, began in self._running.values()
        ]
        if not running:
            running = [_line("asking", "cyan", "the model", f"{now - self._asked:.0f} s")]
        return [*self._ended, *running][-_SHOWN:]

    def __rich__(self) -> Group:
        *above, last = self.lines()
        self._spinner.update(text=last)
        return Group(*above, self._spinner)


def _line(mark: str, style: str, what: str, seconds: str) -> Text:
    """One line; what does not fit into the terminal is cut, and never the seconds, which stand first."""
    line = Text(f"{mark:<7} ", style, no_wrap=True, overflow="ellipsis")
    line.append(f"{seconds:<10} ", "dim")
    line.append(" ".join(visible(what).split()), "default")
    return line
