"""Guards: asking before-hooks, and reading what they answer. They fail closed: what is no decision blocks the call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

from msgspec import Struct

from toolkit.context import RequestedCall, RunContext
from toolkit.errors import HookError, RunAborted, ToolError, repr_of, text_of_error
from toolkit.hooks import Abort, Allow, Decision, Deny, Modify, Skip
from toolkit.records import ToolResult
from toolkit.runs.hooks import Hook
from toolkit.runs.json_values import is_same
from toolkit.tools.arguments import refuse_non_json
from toolkit.tools.cancellation import Cancellation
from toolkit.tools.copies import copied, copied_json
from toolkit.tools.driving import begin, drive
from toolkit.tools.parameters import label_of
from toolkit.tools.results import error_result, result_of

__all__ = ["Guarded", "Verdict", "ask_before", "blocked", "invalid_change"]


class Verdict(Struct, frozen=True):
    """What the before-hooks decided together.

    Attributes:
        arguments: Those to run with.
        result: An error result when the call was denied or blocked, else None.
        skip: The result to use instead of the handler's, or None.
    """

    arguments: dict[str, Any]
    result: ToolResult | None = None
    skip: ToolResult | None = None


class Guarded(Struct, frozen=True):
    """A call and what is needed to ask about it."""

    call: RequestedCall
    ctx: RunContext
    hooks: tuple[Hook, ...]
    own_hook: Callable[[], Awaitable[Hook]] | None  # gives the tool's own before-hook, building the tool first
    check: Callable[[dict[str, Any]], None]  # raises for arguments that break the schema
    needs_approval: bool
    cancellation: Cancellation


async def ask_before(guarded: Guarded) -> Verdict:
    """Asks every before-hook; where one modified the arguments, every one once more with what came out.

    The first round goes on with the modified arguments, so that guards which each have a change of their own to make
    agree. What they allowed or skipped in it counts for nothing: it was said of other arguments.

    Raises:
        RunAborted: a hook said so.
    """
    call, cancellation, own_hook = guarded.call, guarded.cancellation, guarded.own_hook
    # None stands for the tool's own, for which the tool is built: not before the agent's have had their say.
    hooks: Sequence[Hook | None] = guarded.hooks if own_hook is None else (*guarded.hooks, None)
    round_ = _Round(guarded, call.arguments)
    while True:
        for asked in hooks:
            hook = await own_hook() if asked is None and own_hook is not None else asked
            assert hook is not None
            # A copy for each hook: changing it in place has no effect.
            shown = RequestedCall(call.id, call.name, copied_json(round_.arguments), call.tool, round_.revised)
            try:
                work, answer = begin(hook(guarded.ctx.for_call(shown), shown))
                if work is not None:
                    answer = await drive(work, answer, cancellation, hook)
                if cancellation.is_requested:  # it may have swallowed that; nothing must run after it
                    raise asyncio.CancelledError
                if answer is None:
                    continue
                decision = _decision(answer, hook)
                round_.follow(decision)
            except ToolError as error:
                return Verdict(round_.arguments, error_result(text_of_error(error), error))
            except (Exception, asyncio.CancelledError) as error:  # the border of a hook: the call is blocked
                if cancellation.is_real():
                    raise asyncio.CancelledError from error
                return Verdict(round_.arguments, blocked(_hook_error(error, hook)))
            if isinstance(decision, Abort):
                raise RunAborted(decision.reason)
        if not round_.is_modified:
            break
        round_ = _Round(guarded, round_.arguments, revised=True)
    if guarded.needs_approval and not round_.allowed:
        text = f"tool '{call.name}' needs an approval, and none was given"
        return Verdict(round_.arguments, ToolResult(None, text, True, ToolError(text)))
    return Verdict(round_.arguments, None, round_.skip)


_BLOCKED = "blocked by a guard"


def invalid_change(name: str) -> HookError:
    """Why a call is blocked whose arguments a guard made invalid: nothing of the values that it put in."""
    return HookError(f"a guard changed the arguments of '{name}' to invalid ones")


def blocked(error: HookError) -> ToolResult:
    """What the model is told of a call that failed closed, with the reason for the record."""
    return ToolResult(None, _BLOCKED, True, error)


class _Round(Struct, eq=False):
    """One time that every before-hook is asked.

    Attributes:
        arguments: The present ones: of the call, or of the last `Modify`.
        is_modified: A hook of this round has changed them.
    """

    guarded: Guarded
    arguments: dict[str, Any]
    revised: bool = False
    is_modified: bool = False
    allowed: bool = False
    skip: ToolResult | None = None

    def follow(self, decision: Decision) -> None:
        match decision:
            case Allow():
                self.allowed = True
            case Deny(reason):
                raise ToolError(reason or "denied by a guard")
            case Modify(arguments):
                self._modify(arguments)
            case Skip(result) if self.skip is None:
                self.skip = result_of(result)
            case _:  # a second `Skip`, which changes nothing; or `Abort`, which is no matter of this call
                pass

    def _modify(self, arguments: dict[str, Any]) -> None:
        if is_same(arguments, self.arguments):
            return
        if self.revised:
            raise HookError("a guard wanted to change arguments that were changed already")
        try:
            modified: dict[str, Any] = copied(arguments)
            refuse_non_json(modified)
            self.guarded.check(modified)
        except Exception:  # noqa: BLE001 - it fails closed, and says nothing of the values that a guard put in
            raise invalid_change(self.guarded.call.name) from None
        self.arguments = modified
        self.is_modified = True


def _hook_error(error: BaseException, hook: Hook) -> HookError:
    """What the record of a blocked call keeps."""
    if isinstance(error, HookError) and error.run is None:
        return error
    made = HookError(f"{label_of(hook)} raised {repr_of(error)}")
    made.__cause__ = error
    return made


def _decision(answer: Any, hook: Any) -> Decision:
    """A before-hook's answer as a decision. Raises `HookError` for anything else."""
    decision: Any = _decision_of_dict(cast("dict[Any, Any]", answer)) if isinstance(answer, dict) else answer
    match decision:
        case Allow() | Skip() | Modify(dict()) | Deny(str()) | Abort(str()):
            sound: Decision = decision
            return sound
        case _:
            pass
    raise HookError(
        f"{label_of(hook)} returned {_in_words(answer)}, which is no decision; return nothing, Allow(), "
        f"Modify(arguments: dict), Deny(reason: str), Skip(result) or Abort(reason: str)"
    )


def _decision_of_dict(answer: dict[Any, Any]) -> Decision | None:
    """`{"action": "deny", "reason": "..."}` and the like; a reason may stand, or be missing, in any of them."""
    members = {name: value for name, value in answer.items() if name not in ("action", "reason")}
    reason = answer.get("reason")
    match answer.get("action"), list(members):
        case "allow", []:
            return Allow()
        case "deny", []:
            return Deny("denied by a guard" if reason is None else reason)
        case "abort", []:
            return Abort("" if reason is None else reason)
        case "modify", ["arguments"]:
            return Modify(members["arguments"])
        case "skip", ["result"]:
            return Skip(members["result"])
        case _:
            return None


def _in_words(answer: Any) -> str:
    """The answer's kind, and nothing of what it holds."""
    if isinstance(answer, dict):
        return f"a dict with the keys {[name for name in cast('dict[Any, Any]', answer) if isinstance(name, str)]}"
    return type(answer).__name__
