"""After-hooks: told what came of a call, which they may replace. One that fails ends the run."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from toolkit.context import RequestedCall, RunContext
from toolkit.errors import HookError, text_of_error
from toolkit.hooks import CallInfo, Replace
from toolkit.records import ToolResult
from toolkit.runs.hooks import Hook, failure_of_run
from toolkit.tools.cancellation import Cancellation
from toolkit.tools.copies import copied_json
from toolkit.tools.driving import begin, drive
from toolkit.tools.parameters import label_of
from toolkit.tools.results import result_of

__all__ = ["tell_after"]


async def tell_after(
    hooks: Sequence[Hook],
    ctx: RunContext,
    call: RequestedCall,
    arguments: dict[str, Any],
    result: ToolResult,
    duration: float,
    cancellation: Cancellation,
) -> ToolResult:
    """Tells every after-hook of a result, and gives the result that the last `Replace` made of it.

    Each is told with a copy of the arguments: changing them in place has no effect.

    Args:
        call: The call; the `arguments` are shown instead of its own.
        result: What the handler gave.
        duration: Seconds that it took.

    Raises:
        HookError: one failed; there is no second result for the call, so the run ends.
    """
    for hook in hooks:
        shown = RequestedCall(call.id, call.name, copied_json(arguments), call.tool, call.revised)
        told = CallInfo(shown, result, result.error, not result.is_error, duration)
        try:
            work, answer = begin(hook(ctx.for_call(shown), told))
            if work is not None:
                answer = await drive(work, answer, cancellation, hook)
            if cancellation.is_requested:  # it may have swallowed that; nothing must run after it
                raise asyncio.CancelledError
        except (Exception, asyncio.CancelledError) as raised:  # the border of a hook: the run ends
            raise failure_of_run(raised, hook, cancellation) from raised
        if answer is None:
            continue
        if not isinstance(answer, Replace):
            raise HookError(
                f"{label_of(hook)} returned {type(answer).__name__}; an after-hook returns nothing or Replace(value)"
            )
        try:
            result = result_of(answer.value)
        except Exception as raised:
            raise HookError(
                f"{label_of(hook)} returned a Replace whose value is no result: {text_of_error(raised)}"
            ) from raised
    return result
