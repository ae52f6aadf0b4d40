"""Asking hooks, and reading what they answer. Guards fail closed: what is no decision blocks the call."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from types import FunctionType
from typing import Any, cast

from msgspec import Struct

from toolkit.context import RequestedCall, RunContext
from toolkit.errors import ConfigurationError, HookError, RunAborted, ToolError, repr_of, text_of_error
from toolkit.hooks import Abort, Allow, CallInfo, Decision, Deny, Modify, Replace, Skip
from toolkit.records import ToolResult
from toolkit.runs.json_values import is_same
from toolkit.tools.arguments import refuse_non_json
from toolkit.tools.cancellation import Cancellation
from toolkit.tools.copies import copied, copied_json
from toolkit.tools.driving import begin, drive, settled
from toolkit.tools.misspelt import refuse_misspelt
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
    "is_to_be_built",
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
    after_model: tuple[Hook, ...] = ()  # the last hook first, too


_NONE = AgentHooks()
_NAMES = tuple(_USAGES)
_SOUND = "__toolwire_sound_hooks__"
_NOT_THERE = object()  # the function of no hook, nor of anything else
_Found = tuple[Hook | None, Hook | None, Hook | None, Hook | None]


def agent_hooks(hooks: Sequence[Any]) -> AgentHooks:
    """Reads the objects of `hooks=[...]`.

    Raises:
        ConfigurationError: an object has none of the hooks, or one takes a wrong number of parameters.
    """
    if not hooks:
        return _NONE
    if len(hooks) == 1:
        asked_before, told_after, asked_model, told_model = _hooks_of(hooks[0])
        return AgentHooks(
            () if asked_before is None else (asked_before,),
            () if told_after is None else (told_after,),
            () if asked_model is None else (asked_model,),
            () if told_model is None else (told_model,),
        )
    before_call: tuple[Hook, ...] = ()
    after_call: tuple[Hook, ...] = ()
    before_model: tuple[Hook, ...] = ()
    after_model: tuple[Hook, ...] = ()
    for hook in hooks:
        asked_before, told_after, asked_model, told_model = _hooks_of(hook)
        if asked_before is not None:
            before_call += (asked_before,)
        if told_after is not None:
            after_call = (told_after, *after_call)
        if asked_model is not None:
            before_model += (asked_model,)
        if told_model is not None:
            after_model = (told_model, *after_model)
    return AgentHooks(before_call, after_call, before_model, after_model)


def is_to_be_built(hook: Any) -> bool:
    """Whether it is a class, a name or a provider: the run builds it, and reads it then."""
    return isinstance(hook, (str, type)) or hasattr(hook, "provider")


def _hooks_of(hook: Any) -> _Found:
    """What the object answers with, in the order of `_USAGES`. It is looked at itself, in each run: another one of its
    class may have other hooks. Methods that were found to take what they are called with are not checked again."""
    try:
        before_call: Any = getattr(hook, "on_before_call", None)
        after_call: Any = getattr(hook, "on_after_call", None)
        before_model: Any = getattr(hook, "on_before_model", None)
        after_model: Any = getattr(hook, "on_after_model", None)
    except Exception:  # noqa: BLE001 - it is read once more, to tell which one
        before_call, after_call, before_model, after_model = _read_one_by_one(hook)
    functions: tuple[Any, ...]
    try:
        functions = (
            _NOT_THERE if before_call is None else before_call.__func__,
            _NOT_THERE if after_call is None else after_call.__func__,
            _NOT_THERE if before_model is None else before_model.__func__,
            _NOT_THERE if after_model is None else after_model.__func__,
        )
    except AttributeError:  # one is no method
        functions = ()
    kind: type[Any] = type(hook)  # pyright: ignore[reportUnknownVariableType]  # a hook may be anything
    found = before_call, after_call, before_model, after_model
    if not functions or kind.__dict__.get(_SOUND) != functions:
        _check(hook, found)
        if functions and all(function is _NOT_THERE or type(function) is FunctionType for function in functions):
            with contextlib.suppress(TypeError):  # a builtin class takes no attributes
                type.__setattr__(kind, _SOUND, functions)
    return found


def _read_one_by_one(hook: Any) -> _Found:
    found: list[Any] = []
    for name in _NAMES:
        try:
            found.append(getattr(hook, name, None))
        except Exception as error:  # a property, or `__getattr__`: a guard that can't be read must not pass for none
            label = f"hook {label_of(type(hook))}"
            raise ConfigurationError(f"{name} of {label} can't be read: {type(error).__name__}") from error
    before_call, after_call, before_model, after_model = found
    return before_call, after_call, before_model, after_model


def _check(hook: Any, found: _Found) -> None:
    if isinstance(hook, type):
        label = label_of(hook)
        raise ConfigurationError(f"hook {label} is a class; hooks are objects: pass {label}(...)")
    if isinstance(hook, FunctionType):
        raise ConfigurationError(
            f"hook {label_of(hook)} is a function; hooks are objects with methods of the names {', '.join(_NAMES)}"
        )
    label = f"hook {label_of(type(hook))}"
    refuse_misspelt(hook, _NAMES, label)
    if all(asked is None for asked in found):
        raise ConfigurationError(f"{label} has none of {', '.join(_NAMES)}; a hook has at least one of them")
    for asked, usage in zip(found, _USAGES.values(), strict=True):
        check_hook(asked, usage, label)


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
            raise _failure_of_run(raised, hook, cancellation) from raised
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
            raise _failure_of_run(error, hook, cancellation) from error
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
            raise _failure_of_run(error, asked, cancellation) from error
        _refuse_answer(asked, answer)
        begun = None


def _refuse_answer(hook: Hook, answer: Any) -> None:
    if answer is not None:
        raise HookError(f"{label_of(hook)} returned {type(answer).__name__}; a model hook returns nothing")


def _failure_of_run(error: BaseException, hook: Hook, cancellation: Cancellation) -> BaseException:
    """What the run ends with when a hook failed that has no say in a call."""
    if cancellation.is_real():
        return asyncio.CancelledError()
    return HookError(f"{label_of(hook)} failed: {repr_of(error)}")
