"""A tool call of a run, and reading it: its id, its tool, its arguments."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from toolkit.errors import ToolError
from toolkit.messages import ToolCall
from toolkit.records import CallRecord, ToolResult
from toolkit.runs.state import RunState
from toolkit.runs.toolset import ToolEntry
from toolkit.runs.transcript import with_harmless_name, with_object_arguments, with_unique_id
from toolkit.tools.copies import not_shared
from toolkit.tools.results import error_result
from toolkit.tools.violations import InvalidArguments

__all__ = ["Course", "read_call"]


class Course(Struct, eq=False):
    """One tool call, from its reading to its record.

    Attributes:
        call: As it stands in the transcript: with an id of its own, a name that any provider takes, and arguments that
            are a JSON object.
        name: As the model sent it.
        entry: Its tool; None when there is none.
        arguments: JSON values, shared with nobody, that it runs with; as sent when they could not be read.
        refusal: The result when it can't run: unknown, or its arguments are wrong.
        has_begun: Its handler has begun.
        result: What that gave.
        duration: Seconds that it took.
        record: What has become of the call, once that is known.
    """

    call: ToolCall
    name: str
    entry: ToolEntry | None
    arguments: Any
    refusal: ToolResult | None = None
    has_begun: bool = False
    result: ToolResult | None = None
    duration: float = 0.0
    record: CallRecord | None = None


def read_call(state: RunState, call: ToolCall) -> Course:
    """Gives the call an id of its own, finds the tool, and reads and validates the arguments. What goes wrong is a
    refusal."""
    call = with_unique_id(call, state.call_ids)
    entry = state.tools.entries.get(call.name)
    raw: Any = call.arguments
    if entry is None:
        error = ToolError(state.tools.unknown(call.name))
        named = with_harmless_name(with_object_arguments(call))
        return Course(named, call.name, None, raw, error_result(str(error), error))
    specification = entry.specification
    kind: type[Any] = raw.__class__
    try:
        arguments = specification.read(not_shared(raw) if kind is not str and issubclass(kind, dict) else raw)
    except InvalidArguments as error:
        return Course(with_object_arguments(call), call.name, entry, raw, error_result(str(error), error))
    if kind is str and raw[:1] != "{":
        call = with_object_arguments(call)  # blank, or null
    return Course(call, call.name, entry, arguments)
