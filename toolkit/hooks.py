"""What hooks return, and what they are told. Plain data; the run asks the hooks in `toolkit.runs`."""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import Struct

from toolkit.context import RequestedCall
from toolkit.records import ToolResult

__all__ = ["Abort", "Allow", "CallInfo", "Decision", "Deny", "Modify", "Replace", "Skip"]


class Allow(Struct, frozen=True):
    """The call may run. A tool with `needs_approval` runs only when a before-hook returned this for it."""


class Modify(Struct, frozen=True):
    """Run the call with these arguments instead.

    They are validated, and the hooks that follow are asked about them; then every before-hook is asked once more, with
    `call.revised` true, and one that wants yet another change blocks the call. Equal arguments count as no change.
    """

    arguments: dict[str, Any]


class Deny(Struct, frozen=True):
    """The call does not run; the model is told `reason`."""

    reason: str


class Skip(Struct, frozen=True):
    """Use `result` instead of running the handler. The remaining before-hooks are still asked, and may deny."""

    result: Any = None


class Abort(Struct, frozen=True):
    """The whole run ends (`RunAborted`)."""

    reason: str = ""


class Replace(Struct, frozen=True):
    """Returned by an after-hook: the model is shown `value` instead."""

    value: Any


Decision: TypeAlias = Allow | Modify | Deny | Skip | Abort


class CallInfo(Struct, frozen=True):
    """What an after-hook is told. `duration` is in seconds, 0 for a `Skip`; `ok` is False for an error result."""

    call: RequestedCall
    result: ToolResult
    error: BaseException | None
    ok: bool
    duration: float

    def __repr__(self) -> str:
        return f"CallInfo(call={self.call!r}, result={self.result!r}, duration={self.duration:.6f})"
