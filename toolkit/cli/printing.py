"""Lines for people: the calls of a run, its answer, tools. Plain where no terminal reads them, or with NO_COLOR."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence, Set
from typing import Any

from rich.console import Console
from rich.text import Text

from toolkit.cli.failures import Unread, class_and_text
from toolkit.errors import STEERING, ToolError, escaped, text_of_error
from toolkit.messages import ToolDefinition
from toolkit.records import CallRecord, Run

__all__ = [
    "call_in_words",
    "cause_of",
    "duration_in_words",
    "print_json",
    "print_line",
    "print_run",
    "print_tools",
    "visible",
]

_SHOWN = 1_000
"""Characters of one result; `--json` has it whole."""

_LABEL = 9


def print_line(text: str = "", style: str = "") -> None:
    """One line, or several as they are: never wrapped, never cut."""
    _console().print(Text(visible(text), style), soft_wrap=True)


def print_json(value: Any) -> None:
    """JSON for programs: no colours, no control characters."""
    try:
        print(STEERING.sub(_as_json_escape, json.dumps(value, ensure_ascii=False, indent=2)))
    except BrokenPipeError as error:
        raise Unread from error


def _as_json_escape(found: re.Match[str]) -> str:
    return "\n" if found[0] == "\n" else f"\\u{ord(found[0]):04x}"


def print_run(run: Run[Any], hint: str = "") -> None:
    """The calls of a run, with their arguments, results and durations, and the answer.

    Args:
        hint: How to learn more of a call that failed, where the model was not told why.
    """
    for record in run.calls:
        _print_call(record, hint)
    if run.response:
        _print_labelled("answer", run.response, "bold")


def print_tools(tools: Sequence[ToolDefinition], needing_approval: Set[str]) -> None:
    """What a model is shown of each tool, and which need approval."""
    for tool in tools:
        print_line(f"{tool.name}  (needs approval)" if tool.name in needing_approval else tool.name, "bold")
        print_line(_indented(" ".join(tool.description.split()), 2))
        print_line(_indented(json.dumps(tool.input_schema, ensure_ascii=False, indent=2), 2), "dim")


def _print_call(record: CallRecord, hint: str) -> None:
    _print_labelled("call", call_in_words(record.name, record.arguments), "cyan")
    label, style = ("error", "red") if record.result.is_error else ("result", "green")
    _print_labelled(label, f"{_shortened(record.result.content)}  ({duration_in_words(record.duration)})", style)
    if cause := cause_of(record):
        _print_labelled("cause", _shortened(cause) + (f"  ({hint})" if hint else ""), style)


def cause_of(record: CallRecord) -> str:
    """Why a call failed, as the class and text of its exception: for whoever develops the application.

    Empty where nothing failed, or where the text is what the model was told.
    """
    error = record.error
    if error is None or not record.result.is_error or isinstance(error, ToolError):
        return ""
    return "" if text_of_error(error) == record.result.content else class_and_text(error)


def _print_labelled(label: str, text: str, style: str) -> None:
    line = Text(f"  {label:<{_LABEL - 2}}", style)
    line.append(_indented(visible(text), _LABEL).lstrip(), "default")
    _console().print(line, soft_wrap=True)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        raise Unread  # rich would leave by SystemExit


def _console() -> Console:
    # Made anew for each line, for the stdout of that moment. rich reads NO_COLOR and asks whether it is a terminal.
    return _Console(file=sys.stdout, highlight=False, markup=False, emoji=False)


def call_in_words(name: str, arguments: dict[str, Any] | str) -> str:
    """A call with its arguments, as JSON or as the model sent them; long ones are cut."""
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False, default=repr)
    return f"{name} {_shortened(arguments)}"


def duration_in_words(seconds: float) -> str:
    """Milliseconds, or seconds from one on."""
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def _shortened(text: str) -> str:
    if len(text) <= _SHOWN:
        return text
    return f"{text[:_SHOWN]}... ({len(text) - _SHOWN:,} characters more)"


def _indented(text: str, width: int) -> str:
    return "\n".join(" " * width + line for line in text.split("\n"))


def visible(text: str) -> str:
    """The text without control characters, by which the result of a tool could steer the user's terminal."""
    return escaped(text, keep="\n\t")
