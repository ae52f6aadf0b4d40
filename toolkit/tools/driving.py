"""Awaiting a handler that may swallow its cancellation, without a task of its own.

A run has to end within a bounded time after its cancellation, and it closes what it opened in its own task. A handler
that is awaited there and catches `CancelledError` could hold it for ever. So the handler's coroutine is driven by hand:
when it goes on after a cancellation, it has `grace` seconds to finish its `finally` blocks; then it is closed by force.
"""

from __future__ import annotations

import asyncio
import contextlib
import types
from collections.abc import Callable, Coroutine, Generator
from typing import Any

from toolkit.tools.cancellation import Cancellation

__all__ = ["drive"]


@types.coroutine
def drive(work: Coroutine[Any, Any, Any], cancellation: Cancellation, label: str) -> Generator[Any, Any, Any]:
    """Awaits `work` and gives what it returns.

    Args:
        cancellation: How long it has after a cancellation, and who is told when it took longer.
        label: What it is, for that report.
    """
    step: Callable[[Any], Any] = work.send
    value: Any = None
    timer: _Timer | None = None
    try:
        while True:
            try:
                waiting = step(value)
            except StopIteration as stop:
                return stop.value
            try:
                value = yield waiting
                step = work.send
            except asyncio.CancelledError as error:
                if timer is not None and timer.has_fired:
                    _close(work)
                    cancellation.report(
                        f"{label} went on for {cancellation.grace:g} s after it was cancelled, and was ended by force"
                    )
                    raise
                if timer is None:
                    timer = _Timer(cancellation.grace)
                step, value = work.throw, error
            except GeneratorExit:
                work.close()
                raise
            except BaseException as error:  # noqa: BLE001 - a failed future: it belongs to the handler
                step, value = work.throw, error
    finally:
        if timer is not None:
            timer.stop()


class _Timer:
    """Cancels the current task once more after `seconds`; `stop` takes that cancellation off the task's count."""

    def __init__(self, seconds: float) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._handle = asyncio.get_running_loop().call_later(seconds, self._fire)
        self.has_fired = False

    def _fire(self) -> None:
        self.has_fired = True
        self._task.cancel()

    def stop(self) -> None:
        self._handle.cancel()
        if self.has_fired:
            self._task.uncancel()


def _close(work: Coroutine[Any, Any, Any]) -> None:
    with contextlib.suppress(RuntimeError):  # it caught GeneratorExit as well: nothing resumes it any more
        work.close()
