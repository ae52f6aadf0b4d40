"""What the constructor of an agent refuses of what a provider gives it, found before a run makes one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from dependency_injector import providers
from msgspec import UNSET

from toolkit.errors import ConfigurationError
from toolkit.injection.graph import class_made_by, describe
from toolkit.injection.listing import agent_class_above, is_made_as_agent
from toolkit.injection.overlays import AnyProvider, object_of
from toolkit.injection.providers import Literal
from toolkit.tools.bytecode import is_made_plainly
from toolkit.tools.hook_methods import check_hook_object
from toolkit.tools.parameters import label_of

__all__ = ["arguments_by_name", "refused_arguments"]


def refused_arguments(source: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[str]:
    """What the constructor of `Agent` says of each value among its arguments, and of the attributes of a subclass.

    It only looks at them, so it is asked itself; but for hooks, which are looked at without asking them. A constructor
    of a subclass's own may do anything, and is not asked.
    """
    agent = agent_class_above(source) if isinstance(source, type) else None
    if agent is None or not is_made_as_agent(source) or not is_made_plainly(source):
        return
    hooks: Any = cast("Any", source).hooks
    yield from _refused_hooks(hooks)
    if not any(map(_is_there, _listed(hooks))):  # the constructor would ask these
        yield from _refused(source)
    for name, value in arguments_by_name(source, args, kwargs).items():
        there = _value_of(value)
        if there is UNSET:
            yield from _no_list(name, value) if name in ("tools", "hooks") else ()
        elif name == "hooks" and isinstance(there, (list, tuple)):
            yield from _refused_hooks(there)
        else:
            yield from _refused(agent, **{name: there})


def arguments_by_name(source: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """What a class or function is given; only what is named where it can't be called like that."""
    try:
        signature = inspect.signature(source)
        given = dict(signature.bind_partial(*args, **kwargs).arguments)
    except (TypeError, ValueError):
        return dict(kwargs)
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            given.update(given.pop(name, {}))
    return given


def _refused(agent: type, **given: Any) -> Iterator[str]:
    try:
        agent(**given)
    except ConfigurationError as error:
        yield str(error)
    except TypeError:
        return  # it has no such parameter, which is reported by itself


def _refused_hooks(hooks: Any) -> Iterator[str]:
    """What is said of objects in a list of hooks."""
    for hook in filter(_is_there, _listed(hooks)):
        try:
            check_hook_object(hook)
        except ConfigurationError as error:
            yield str(error)


def _listed(given: Any) -> Sequence[Any]:
    return cast("Sequence[Any]", given) if isinstance(given, (list, tuple)) else ()


def _is_there(hook: Any) -> bool:
    """Whether it is an object, and nothing that a run builds."""
    return not isinstance(hook, (str, type)) and not providers.is_provider(hook)


def _value_of(given: Any) -> Any:
    """The value of an argument; UNSET where a provider has to make it."""
    if isinstance(given, Literal):
        return cast("Any", given).value
    return object_of(cast("AnyProvider", given)) if providers.is_provider(given) else given


def _no_list(name: str, given: AnyProvider) -> Iterator[str]:
    """What is said of a provider that gives one object, and no list of such; nothing where it may give a list, or an
    object that counts as nothing."""
    made = class_made_by(given)
    if made is None or not is_made_plainly(made):  # a list has a `__new__`
        return
    if not hasattr(made, "__bool__") and not hasattr(made, "__len__"):
        yield f"{name} are given by {describe(given)}, which makes one {label_of(made)}; give a list: {name}=[...]"
