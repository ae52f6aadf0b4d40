"""Telling a cancellation of the run from one of a handler's own making, and bounding what resists it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

__all__ = ["Cancellation"]


class Cancellation:
    """Whether the task that this was made in has been cancelled since.

    `CancelledError` alone doesn't tell: a handler may raise one itself, or swallow the one that was meant for it; and a
    run may be started in a task that is cancelled already.

    Attributes:
        grace: Seconds that cancelled work has for its `finally` blocks.
        report: Told in words when it did not end within them.
    """

    __slots__ = ("_before", "_task", "grace", "report")

    def __init__(self, grace: float, report: Callable[[str], None]) -> None:
        self.grace = grace
        self.report = report
        task = asyncio.current_task()
        assert task is not None  # coroutines run in tasks
        self._task = task
        self._before = task.cancelling()

    @property
    def is_requested(self) -> bool:
        return self._task.cancelling() > self._before
