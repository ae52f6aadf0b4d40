"""Overrides that belong to a task and its children, and not to the provider object that all tasks share.

A provider that was ever overridden so has a `Dispatcher` on top: it looks into a context variable for the layers that
are active here, and without one it is transparent. dependency-injector's own `override()` goes on working below it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any, cast

from dependency_injector import providers
from msgspec import UNSET

from toolkit.errors import ConfigurationError

__all__ = [
    "Dispatcher",
    "Layer",
    "active_layers",
    "dispatch",
    "effective",
    "memory_of_layers",
    "object_of",
    "overriding_of",
]

AnyProvider = providers.Provider[Any]


def overriding_of(provider: Any) -> AnyProvider | None:
    """What dependency-injector says stands on a provider; None when nothing does."""
    over: AnyProvider | None = provider.last_overriding
    return over


class Layer:
    """One block of `overriding`: what replaces which provider."""

    def __init__(self) -> None:
        self.replacements: dict[AnyProvider, AnyProvider] = {}
        self.memories: dict[tuple[Layer, ...], dict[Any, Any]] = {}


active_layers: ContextVar[tuple[Layer, ...]] = ContextVar("toolwire_overrides", default=())
"""The blocks around the code that runs now, the innermost last."""


def memory_of_layers() -> dict[Any, Any]:
    """What was worked out under the active layers, of which there is one; it goes when the innermost goes."""
    layers = active_layers.get()
    return layers[-1].memories.setdefault(layers, {})


class Dispatcher(providers.Provider[Any]):
    """Stands on a provider for good, and gives what the active layers say."""

    def __init__(self, target: AnyProvider | None = None) -> None:
        super().__init__()
        self.target = target
        self.below = None if target is None else overriding_of(target)

    def __deepcopy__(self, memo: dict[Any, Any] | None) -> Dispatcher:
        raise ConfigurationError("a container class was overridden with `overriding`; override its instances")

    @property
    def related(self) -> Iterator[AnyProvider]:
        yield from ()

    def pick(self) -> AnyProvider | None:
        """The replacement that is in force here, else an older override of dependency-injector's own, else None."""
        for layer in reversed(active_layers.get()):
            chosen = layer.replacements.get(cast("AnyProvider", self.target))
            if chosen is not None:
                return chosen
        return self.below

    def _provide(self, args: Any, kwargs: Any) -> Any:
        chosen = self.pick()
        if chosen is not None:
            return chosen(*args, **kwargs)
        return cast("Any", self.target)._provide(args, kwargs)


def dispatch(target: AnyProvider) -> None:
    """Puts a dispatcher on a provider, unless there is one."""
    if not isinstance(overriding_of(target), Dispatcher):
        cast("Any", target).override(Dispatcher(target))


def effective(provider: AnyProvider) -> AnyProvider:
    """The provider that answers for this one, here and now."""
    while (over := overriding_of(provider)) is not None:
        chosen = over.pick() if isinstance(over, Dispatcher) else over
        if chosen is None:
            return provider
        provider = chosen
    return provider


def object_of(provider: AnyProvider) -> Any:
    """The object of an `Object` provider, or of a value that replaces a provider; UNSET for any other."""
    answering = effective(provider)
    if type(answering) is providers.Object:
        return cast("Any", answering).provides
    return UNSET
