"""A run as JSON values, for `--json`."""

from __future__ import annotations

import json
from typing import Any

from toolkit.errors import ToolkitError
from toolkit.messages import messages_to_json
from toolkit.records import CallRecord, Run
from toolkit.tools.results import to_json

__all__ = ["run_to_json"]


def run_to_json(run: Run[Any], error: BaseException | None = None) -> dict[str, Any]:
    """The run, and what it ended with. Of an exception only the class is told, and nothing of the context."""
    written = {
        "id": run.id,
        "outcome": run.outcome,
        "error": None if error is None else type(error).__name__,
        "response": run.response,
        "output": _output(run),
        "turns": run.turns,
        "usage": run.usage,
        "actor_id": run.invocation.actor_id,
        "session_id": run.invocation.session_id,
        "metadata": run.invocation.metadata,
        "calls": [_call(record) for record in run.calls],
        "messages": json.loads(messages_to_json(run.messages)),
    }
    plain: dict[str, Any] = json.loads(to_json(written))
    return plain


def _call(record: CallRecord) -> dict[str, Any]:
    return {
        "id": record.id,
        "name": record.name,
        "arguments": record.arguments,
        "content": record.result.content,
        "is_error": record.result.is_error,
        "error": None if record.error is None else type(record.error).__name__,
        "seconds": round(record.duration, 6),
    }


def _output(run: Run[Any]) -> Any:
    try:
        return json.loads(to_json(run.output))
    except ToolkitError:  # a type of the application's that has no JSON; its text stands in `response`
        return None
