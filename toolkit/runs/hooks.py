"""Asking hooks, and reading what they answer. Guards fail closed: what is no decision blocks the call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from types import CoroutineType, FunctionType, MethodType
from typing import Any, cast
from weakref import WeakSet

from msgspec import Struct
from msgspec.structs import replace

from toolkit.context import RequestedCall, RunContext
from toolkit.errors import ConfigurationError, HookError, RunAborted, ToolError, repr_of, text_of_error
from toolkit.hooks import Abort, Allow, CallInfo, Decision, Deny, Modify, Replace, Skip
from toolkit.records import ToolResult
from toolkit.runs.json_values import is_same
from toolkit.tools.arguments import refuse_non_json
from toolkit.tools.cancellation import Cancellation
from toolkit.tools.copies import copied
from toolkit.tools.driving import drive, settled
from toolkit.tools.parameters import label_of
from toolkit.tools.results import error_result, result_of
from toolkit.tools.specification import check_hook

__all__ = [
    "AgentHooks",
    "Verdict",
    "agent_hooks",
    "ask_before",
    "blocked",
    "invalid_change",
    "tell_after",
    "tell_model_hooks",
]

_USAGES = {
    "on_before_call": "on_before_call(ctx, call)",
    "on_after_call": "on_after_call(ctx, info)",
    "on_before_model": "on_before_model(ctx, request)",
    "on_after_model": "on_after_model(ctx, response)",
}

Hook = Callable[[Any, Any], Any]


class AgentHooks(Struct, frozen=True):
    """The agent-wide hooks, in order, by what they are asked about."""

    before_call: tuple[Hook, ...] = ()
    after_call: tuple[Hook, ...] = ()  # in the order in which they are told: the last hook first
    before_model: tuple[Hook, ...] = ()
    after_model: tuple[Hook, ...] = ()


_NONE = AgentHooks()
_sound: WeakSet[Any] = WeakSet()  # functions that take what a hook is called with, as methods of objects


def agent_hooks(hooks: Sequence[Any]) -> AgentHooks:
    """Reads the objects of `hooks=[...]`.

    Raises:
        ConfigurationError: an object has none of the hooks, or one takes a wrong number of parameters.
    """
    if not hooks:
        return _NONE
    found: dict[str, list[Hook]] = {name: [] for name in _USAGES}
    for hook in hooks:
        for name, asked in _hooks_of(hook).items():
            found[name].append(asked)
    return AgentHooks(
        tuple(found["on_before_call"]),
        tuple(reversed(found["on_after_call"])),
        tuple(found["on_before_model"]),
        tuple(found["on_after_model"]),
    )


def _hooks_of(hook: Any) -> dict[str, Hook]:
    """What the object answers with, by name. It is looked at itself: another one of its class may have other hooks."""
    kind = cast("type[Any]", type(hook))
    label = f"hook {label_of(hook) if isinstance(hook, type) else label_of(kind)}"
    if isinstance(hook, type):
        raise ConfigurationError(f"{label} is a class; hooks are objects: pass {label_of(hook)}(...)")
    found: dict[str, Hook] = {}
    for name, usage in _USAGES.items():
        try:
            asked = getattr(hook, name, None)
        except Exception as error:  # a property, or `__getattr__`: a guard that can't be read must not pass for none
            raise ConfigurationError(f"{name} of {label} can't be read: {type(error).__name__}") from error
        if asked is None:
            continue
        if asked.__class__ is not MethodType:
            check_hook(asked, usage, label)
        elif asked.__func__ not in _sound:
            check_hook(asked, usage, label)
            if asked.__func__.__class__ is FunctionType:
                _sound.add(asked.__func__)
        found[name] = asked
    if not found:
        raise ConfigurationError(f"{label} has none of {', '.join(_USAGES)}; a hook has at least one of them")
    return found


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
    round_ = _Round(guarded, guarded.call.arguments, revised=False)
    try:
        await round_.ask()
        if round_.is_modified:
            round_ = _Round(guarded, round_.arguments, revised=True)
            await round_.ask()
    except _Denied as denied:
        return Verdict(round_.arguments, error_result(denied.text, denied.error))
    if guarded.needs_approval and not round_.allowed:
        text = f"tool '{guarded.call.name}' needs an approval, and none was given"
        return Verdict(round_.arguments, ToolResult(None, text, True, ToolError(text)))
    return Verdict(round_.arguments, None, round_.skip)


_BLOCKED = "blocked by a guard"


def invalid_change(name: str) -> HookError:
    """Why a call is blocked whose arguments a guard made invalid: nothing of the values that it put in."""
    return HookError(f"a guard changed the arguments of '{name}' to invalid ones")


def blocked(error: HookError) -> ToolResult:
    """What the model is told of a call that failed closed, with the reason for the record."""
    return ToolResult(None, _BLOCKED, True, error)


class _Denied(Exception):
    """The call does not run: what the model reads, and what the record keeps."""

    def __init__(self, text: str, error: Exception) -> None:
        self.text = text
        self.error = error


class _Round:
    """One time that every before-hook is asked.

    Attributes:
        arguments: The present ones: of the call, or of the last `Modify`.
        is_modified: A hook of this round has changed them.
    """

    def __init__(self, guarded: Guarded, arguments: dict[str, Any], revised: bool) -> None:
        self._guarded = guarded
        self._revised = revised
        self.arguments = arguments
        self.is_modified = False
        self.allowed = False
        self.skip: ToolResult | None = None

    async def ask(self) -> None:
        for hook in self._guarded.hooks:
            await self._ask_one(hook)
        if self._guarded.own_hook is not None:
            await self._ask_one(await self._guarded.own_hook())

    async def _ask_one(self, hook: Hook) -> None:
        guarded = self._guarded
        # A copy for each hook: changing it in place has no effect.
        shown = replace(guarded.call, arguments=copied(self.arguments), revised=self._revised)
        try:
            decision = _decision(await _answer_of(hook, guarded.ctx.for_call(shown), shown, guarded.cancellation), hook)
            if decision is None or isinstance(decision, Abort):
                pass
            elif isinstance(decision, Modify):
                self._modify(decision.arguments)
            elif isinstance(decision, Deny):
                raise ToolError(decision.reason or "denied by a guard")
            elif isinstance(decision, Allow):
                self.allowed = True
            elif self.skip is None:
                self.skip = result_of(decision.result)
        except ToolError as error:
            raise _Denied(text_of_error(error), error) from error
        except (Exception, asyncio.CancelledError) as error:  # the border of a hook: the call is blocked
            if guarded.cancellation.is_real():
                raise asyncio.CancelledError from error
            raise _Denied(_BLOCKED, _hook_error(error, hook)) from error
        if isinstance(decision, Abort):
            raise RunAborted(decision.reason)

    def _modify(self, arguments: dict[str, Any]) -> None:
        if is_same(arguments, self.arguments):
            return
        if self._revised:
            raise HookError("a guard wanted to change arguments that were changed already")
        try:
            modified: dict[str, Any] = copied(arguments)
            refuse_non_json(modified)
            self._guarded.check(modified)
        except Exception:  # noqa: BLE001 - it fails closed, and says nothing of the values that a guard put in
            raise invalid_change(self._guarded.call.name) from None
        self.arguments = modified
        self.is_modified = True


def _hook_error(error: BaseException, hook: Hook) -> HookError:
    """What the record of a blocked call keeps."""
    if isinstance(error, HookError) and error.run is None:
        return error
    made = HookError(f"{label_of(hook)} raised {repr_of(error)}")
    made.__cause__ = error
    return made


async def _answer_of(hook: Hook, ctx: RunContext, told: Any, cancellation: Cancellation) -> Any:
    answer = hook(ctx, told)
    if answer.__class__ is CoroutineType:
        answer = await drive(answer, cancellation, hook)
        if cancellation.is_requested:  # it may have swallowed that; nothing must run after it
            raise asyncio.CancelledError
    elif answer is not None:
        answer = await settled(answer, cancellation, hook)
    return answer


def _decision(answer: Any, hook: Any) -> Decision | None:
    """A before-hook's answer as a decision. Raises `HookError` for anything else."""
    if answer is None or isinstance(answer, (Allow, Skip)):
        return answer
    decision = _decision_of_dict(cast("dict[Any, Any]", answer)) if isinstance(answer, dict) else answer
    if isinstance(decision, (Allow, Skip)):
        return decision
    if isinstance(decision, Modify) and isinstance(cast("Any", decision.arguments), dict):
        return decision
    if isinstance(decision, (Deny, Abort)) and isinstance(cast("Any", decision.reason), str):
        return decision
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


async def tell_after(hooks: Sequence[Hook], ctx: RunContext, info: CallInfo, cancellation: Cancellation) -> ToolResult:
    """Tells every after-hook of a result, and gives the result that the last `Replace` made of it.

    Each is told with a copy of the arguments: changing them in place has no effect.

    Raises:
        HookError: one failed; there is no second result for the call, so the run ends.
    """
    result = info.result
    for hook in hooks:
        call = replace(info.call, arguments=copied(info.call.arguments))
        told = replace(info, call=call)
        if result is not info.result:
            told = replace(told, result=result, error=result.error, ok=not result.is_error)
        answer = await _told(hook, ctx.for_call(call), told, cancellation)
        if answer is None:
            continue
        if not isinstance(answer, Replace):
            raise HookError(
                f"{label_of(hook)} returned {type(answer).__name__}; an after-hook returns nothing or Replace(value)"
            )
        try:
            result = result_of(answer.value)
        except Exception as error:
            raise HookError(
                f"{label_of(hook)} returned a Replace whose value is no result: {text_of_error(error)}"
            ) from error
    return result


async def tell_model_hooks(hooks: Sequence[Hook], ctx: RunContext, told: Any, cancellation: Cancellation) -> None:
    """Tells the hooks of a model's request or response. They return nothing.

    Raises:
        HookError: one failed, or returned something.
    """
    for hook in hooks:
        answer = await _told(hook, ctx, told, cancellation)
        if answer is not None:
            raise HookError(f"{label_of(hook)} returned {type(answer).__name__}; a model hook returns nothing")


async def _told(hook: Hook, ctx: RunContext, told: Any, cancellation: Cancellation) -> Any:
    try:
        return await _answer_of(hook, ctx, told, cancellation)
    except (Exception, asyncio.CancelledError) as error:  # the border of a hook: the run ends
        if cancellation.is_real():
            raise asyncio.CancelledError from error
        raise HookError(f"{label_of(hook)} failed: {repr_of(error)}") from error
