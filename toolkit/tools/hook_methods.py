"""The methods of hooks: how each is called, and what is refused before any is asked."""

from __future__ import annotations

import inspect
import types
from collections.abc import Sequence
from typing import Any, cast

from msgspec import UNSET

from toolkit.errors import ConfigurationError
from toolkit.tools.bytecode import attributes_set, is_made_plainly
from toolkit.tools.members import annotated_names
from toolkit.tools.misspelt import refuse_misspelt
from toolkit.tools.parameters import label_of

__all__ = [
    "HOOK_METHODS",
    "check_hook_class",
    "check_hook_method",
    "check_hook_methods",
    "check_hook_object",
    "read_hook_methods",
]

HOOK_METHODS = ("on_before_call", "on_after_call", "on_before_model", "on_after_model")

_USAGES = (
    "on_before_call(ctx, call)",
    "on_after_call(ctx, info)",
    "on_before_model(ctx, request)",
    "on_after_model(ctx, response)",
)


def read_hook_methods(hook: Any) -> list[Any]:
    """What an object answers with to each of `HOOK_METHODS`, None where it has none.

    Raises:
        ConfigurationError: a property, or `__getattr__`, fails: a guard that can't be read must not pass for none.
    """
    found: list[Any] = []
    for name in HOOK_METHODS:
        try:
            found.append(getattr(hook, name, None))
        except Exception as error:
            raise ConfigurationError(f"{name} of {_label(hook)} can't be read: {type(error).__name__}") from error
    return found


def check_hook_methods(hook: Any, found: Sequence[Any]) -> None:
    """Raises `ConfigurationError` for what is no hook: a class, a function, or an object that has none of the methods,
    a misspelt one, or one with a wrong number of parameters.

    Args:
        found: As `read_hook_methods` gives it.
    """
    if isinstance(hook, type):
        label = label_of(hook)
        raise ConfigurationError(f"hook {label} is a class; hooks are objects: pass {label}(...)")
    if isinstance(hook, types.FunctionType):
        raise ConfigurationError(
            f"hook {label_of(hook)} is a function; hooks are objects with methods of the names "
            f"{', '.join(HOOK_METHODS)}"
        )
    label = _label(hook)
    refuse_misspelt(hook, HOOK_METHODS, label)
    _check_found(found, label)


def check_hook_object(hook: Any) -> None:
    """As `check_hook_methods`, before a run asks the object, and without asking it: what `__getattr__` or a property
    gives may be known in a run only, and is left to that."""
    if isinstance(hook, (type, types.FunctionType)):
        check_hook_methods(hook, ())
    cls = cast("type[Any]", type(hook))
    if _has(cls, "__getattribute__"):
        return
    label = _label(hook)
    refuse_misspelt(hook, HOOK_METHODS, label)
    own: dict[str, Any] = getattr(hook, "__dict__", {})
    absent = UNSET if _has(cls, "__getattr__") else None
    found: list[Any] = []
    for name in HOOK_METHODS:
        of_class = _of_class(cls, name, hook)
        if of_class is UNSET or name not in own:
            found.append(absent if of_class is None else of_class)
        else:
            found.append(own[name])
    _check_found(found, label)


def check_hook_class(cls: type) -> None:
    """As `check_hook_methods`, for the objects that a class makes, as far as it tells: where they may have another
    method than the class, or one that it has not, that is left to the run, which sees the object."""
    if not is_made_plainly(cls):
        return
    label = f"hook {label_of(cls)}"
    refuse_misspelt(cls, HOOK_METHODS, label)
    own = attributes_set(cls)
    if own is not None:
        _check_found([UNSET if name in own else _of_class(cls, name, cls) for name in HOOK_METHODS], label)


def check_hook_method(hook: Any, usage: str, owner: str) -> bool:
    """True when there is a hook. Raises `ConfigurationError` unless it can be called with two arguments."""
    if hook is None:
        return False
    name = usage.partition("(")[0]
    if not callable(hook):
        raise ConfigurationError(f"{name} of {owner} is {hook!r}; it has to be callable as {usage}")
    try:
        inspect.signature(hook).bind(None, None)
    except TypeError as error:
        raise ConfigurationError(
            f"{name} of {owner} is called as {usage}, and it takes {inspect.signature(hook)}"
        ) from error
    except ValueError:
        pass  # a builtin without a signature
    return True


def _check_found(found: Sequence[Any], label: str) -> None:
    """Checks the methods of a hook; one that is not known is UNSET."""
    if all(asked is None for asked in found):
        raise ConfigurationError(f"{label} has none of {', '.join(HOOK_METHODS)}; a hook has at least one of them")
    for asked, usage in zip(found, _USAGES, strict=True):
        if asked is not UNSET:
            check_hook_method(asked, usage, label)


def _of_class(cls: type, name: str, hook: Any) -> Any:
    """A method that an object has by its class; None where it has none so, and UNSET where that is not known."""
    for base in cls.__mro__:
        found: Any = vars(base).get(name, UNSET)
        if isinstance(found, types.FunctionType):
            return types.MethodType(found, hook)
        if isinstance(found, (staticmethod, classmethod)):
            return cast("Any", found).__get__(None, cls)
        if found is not UNSET:  # a property, or another thing that says itself what an object has; or a plain value
            return UNSET if hasattr(cast("Any", type(found)), "__get__") else found
    return UNSET if any(name in annotated_names(base) for base in cls.__mro__) else None


def _has(cls: type, name: str) -> bool:
    return any(name in vars(base) for base in cls.__mro__ if base is not object)


def _label(hook: Any) -> str:
    return f"hook {label_of(cast('type[Any]', type(hook)))}"
