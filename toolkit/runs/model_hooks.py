"""Model hooks: told of each request and response, and returning nothing. One that fails ends the run."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Iterable, Iterator
from typing import Any

from toolkit.context import RunContext
from toolkit.errors import HookError
from toolkit.runs.hooks import Hook, failure_of_run
from toolkit.tools.cancellation import Cancellation
from toolkit.tools.driving import begin, drive, settled
from toolkit.tools.parameters import label_of

__all__ = ["tell_model_hooks"]


def tell_model_hooks(
    hooks: Iterable[Hook], ctx: RunContext, told: Any, cancellation: Cancellation
) -> Awaitable[None] | None:
    """Tells the hooks of a model's request or response. They return nothing.

    Returns:
        What is to be awaited for that, once one waits for something; None when all have been told, as most times.

    Raises:
        HookError: one failed, or returned something.
    """
    left = iter(hooks)
    for hook in left:
        try:
            work, answer = begin(hook(ctx, told))
            if work is not None:
                return _go_on(hook, drive(work, answer, cancellation, hook), left, ctx, told, cancellation)
            if cancellation.is_requested:  # it may have swallowed that; nothing must run after it
                raise asyncio.CancelledError
        except (Exception, asyncio.CancelledError) as error:  # the border of a hook: the run ends
            raise failure_of_run(error, hook, cancellation) from error
        if answer is not None:
            _refuse_answer(hook, answer)
    return None


async def _go_on(
    hook: Hook, work: Awaitable[Any], left: Iterator[Hook], ctx: RunContext, told: Any, cancellation: Cancellation
) -> None:
    """Waits for a hook that has begun, and tells those that are left."""
    begun: Awaitable[Any] | None = work
    for asked in itertools.chain((hook,), left):
        try:
            answer = await (settled(asked(ctx, told), cancellation, asked) if begun is None else begun)
            if cancellation.is_requested:  # it may have swallowed that; nothing must run after it
                raise asyncio.CancelledError
        except (Exception, asyncio.CancelledError) as error:  # the border of a hook: the run ends
            raise failure_of_run(error, asked, cancellation) from error
        _refuse_answer(asked, answer)
        begun = None


def _refuse_answer(hook: Hook, answer: Any) -> None:
    if answer is not None:
        raise HookError(f"{label_of(hook)} returned {type(answer).__name__}; a model hook returns nothing")
