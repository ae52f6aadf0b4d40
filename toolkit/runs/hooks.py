"""The hooks of an agent: what the objects of `hooks=[...]` answer with, read and checked."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from msgspec import Struct

from toolkit.errors import ConfigurationError, HookError, repr_of
from toolkit.tools.cancellation import Cancellation
from toolkit.tools.declaration import check_hook
from toolkit.tools.misspelt import refuse_misspelt
from toolkit.tools.parameters import label_of

__all__ = ["AgentHooks", "Hook", "agent_hooks", "failure_of_run", "is_to_be_built"]

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


def failure_of_run(error: BaseException, hook: Hook, cancellation: Cancellation) -> BaseException:
    """What the run ends with when a hook failed that has no say in a call."""
    if cancellation.is_real():
        return asyncio.CancelledError()
    return HookError(f"{label_of(hook)} failed: {repr_of(error)}")
