"""Overrides that belong to a task and its children, and not to the provider object that all tasks share.

A provider that was ever overridden so has a `Dispatcher` on it: it looks into a context variable for the layers that
are active here, and without one it is transparent. dependency-injector's own `override()` goes on working below it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from itertools import count
from operator import attrgetter
from typing import Any, Protocol, cast

from dependency_injector import providers
from msgspec import UNSET

from toolkit.errors import ConfigurationError

__all__ = [
    "AnyProvider",
    "Dispatcher",
    "Layer",
    "Twin",
    "active_layers",
    "dispatch",
    "effective",
    "memory_of_layers",
    "object_of",
    "original_of",
    "overrides_on",
    "overriding_of",
    "reinstate",
]

AnyProvider = providers.Provider[Any]


overriding_of: Callable[[Any], AnyProvider | None] = attrgetter("last_overriding")
"""What dependency-injector says stands on a provider; None when nothing does."""


_numbers = count(1)


_MOST_STEPS = 1000
"""More than the providers of any container that replace one another."""


class Layer:
    """One block of `overriding`.

    Attributes:
        number: Blocks that began later have a higher one.
        replacements: What replaces which provider.
        grounds: Of these providers.
        memories: What was worked out under layers of which this is the innermost.
        kept: Objects that would outlive the block if the provider kept them: see `toolkit.injection.twins`.
    """

    def __init__(self) -> None:
        self.number = next(_numbers)
        self.replacements: dict[AnyProvider, AnyProvider] = {}
        self.grounds: list[Dispatcher] = []
        self.memories: dict[tuple[Layer, ...], dict[Any, Any]] = {}
        self.kept: dict[Any, dict[Any, Any]] = {}


active_layers: ContextVar[tuple[Layer, ...]] = ContextVar("toolwire_overrides", default=())
"""The blocks around the code that runs now, the innermost last."""


def memory_of_layers() -> dict[Any, Any]:
    """What was worked out under the active layers, of which there is one; it goes when the innermost goes."""
    layers = active_layers.get()
    return layers[-1].memories.setdefault(layers, {})


class Twin(providers.Provider[Any]):
    """Answers for another provider, which would keep its object for too long: see `toolkit.injection.twins`."""

    original: AnyProvider


class Standby(Protocol):
    """A provider that takes the place of another while an application is open."""

    @property
    def is_open(self) -> bool: ...


class Dispatcher(providers.Provider[Any]):
    """Stands on a provider for good, and gives what the active layers say.

    Attributes:
        below: The override of dependency-injector's own whose place it took; none of the lowest, the ground.
        since: The number of the first layer that is later than `below`.
        standby: Of the ground. Answers where nothing is overridden and an application is open.
    """

    def __init__(self, target: AnyProvider | None = None, below: AnyProvider | None = None, since: int = 0) -> None:
        super().__init__()
        self.target = target
        self.below = below
        self.since = since
        self.standby: Standby | None = None

    def __deepcopy__(self, memo: dict[Any, Any] | None) -> Dispatcher:
        memo = {} if memo is None else memo
        if (done := memo.get(id(self))) is not None:
            return cast("Dispatcher", done)
        copied = memo[id(self)] = Dispatcher()
        copied.target = providers.deepcopy(self.target, memo)
        copied.below = providers.deepcopy(self.below, memo)
        return copied

    @property
    def related(self) -> Iterator[AnyProvider]:
        if self.below is not None:
            yield self.below

    def pick(self) -> AnyProvider | None:
        """The replacement that is in force here, else an older override of dependency-injector's own, else None."""
        for layer in reversed(active_layers.get()):
            if layer.number < self.since:
                break
            chosen = layer.replacements.get(cast("AnyProvider", self.target))
            if chosen is not None:
                return chosen
        if self.below is None and self.standby is not None and self.standby.is_open:
            return cast("AnyProvider", self.standby)
        return self.below

    def _provide(self, args: Any, kwargs: Any) -> Any:
        chosen = self.pick()
        if chosen is not None:
            return chosen(*args, **kwargs)
        target: Any = self.target
        if not self._stands_on_dependency():
            return target._provide(args, kwargs)
        if target.default is None:
            raise ConfigurationError("a dependency is not defined; give it to the container: Container(name=provider)")
        return target.default(*args, **kwargs)

    def outside_of_blocks(self, args: Any, kwargs: Any) -> Any:
        """What the provider gives where nothing is overridden."""
        if self.standby is not None and self.standby.is_open:
            return cast("Any", self.standby)(*args, **kwargs)
        return cast("Any", self.target)._provide(args, kwargs)

    def _stands_on_dependency(self) -> bool:
        return isinstance(self.target, providers.Dependency)


def dispatch(target: AnyProvider, layer: Layer | None = None) -> Dispatcher:
    """The ground of a provider: a dispatcher below all that stands on it, which is put there where there is none.

    An override of dependency-injector's own is not covered but replaced by a dispatcher that stands for it: the block
    that made it takes away whatever is on top when it ends.

    Args:
        target: The provider.
        layer: What replaces it now.
    """
    kind = cast("Any", providers.Provider)  # some subclasses restrict who may override them, or empty caches
    with kind.overriding_lock:
        stack = _stack_of(target)
        if isinstance(overriding_of(target), Dispatcher):
            return cast("Dispatcher", stack[0])
        since = next(_numbers) if layer is None else layer.number
        dispatchers = [over if isinstance(over, Dispatcher) else Dispatcher(target, over, since) for over in stack]
        if not dispatchers or dispatchers[0].below is not None:
            dispatchers.insert(0, Dispatcher(target))
        for _ in stack:
            kind.reset_last_overriding(target)
        for over in dispatchers:
            kind.override(target, over)
        return dispatchers[0]


def reinstate(grounds: Iterable[Dispatcher]) -> None:
    """Puts back what `reset_override()` of dependency-injector has taken away with the overrides of its own."""
    for ground in grounds:
        target = cast("AnyProvider", ground.target)
        there = next((over for over in _stack_of(target) if isinstance(over, Dispatcher)), None)
        if there is None:
            there = dispatch(target)
        if there.standby is None:
            there.standby = ground.standby


def _stack_of(target: AnyProvider) -> list[AnyProvider]:
    return list(cast("Any", target).overridden)


def overrides_on(provider: AnyProvider) -> Iterator[AnyProvider]:
    """The provider and those that stand on it one after another; the last one is the effective one."""
    yield provider
    for _ in range(_MOST_STEPS):
        over = overriding_of(provider)
        chosen = over.pick() if isinstance(over, Dispatcher) else over
        if chosen is None:
            return
        provider = chosen
        yield provider
    effective(provider)  # which says what is wrong


def effective(provider: AnyProvider) -> AnyProvider:
    """The provider that answers for this one, here and now.

    Raises:
        ConfigurationError: none does, since it is replaced by itself.
    """
    steps = 0
    while (over := overriding_of(provider)) is not None:
        chosen = over.pick() if isinstance(over, Dispatcher) else over
        if chosen is None:
            return provider
        provider = chosen
        steps += 1
        if steps > _MOST_STEPS:
            raise ConfigurationError(f"{provider!r} is replaced by itself, or by others that are replaced by it")
    return provider


def object_of(provider: AnyProvider) -> Any:
    """The object of an `Object` provider, or of a value that replaces a provider; UNSET for any other."""
    answering = effective(provider)
    if type(answering) is providers.Object:
        return cast("Any", answering).provides
    return UNSET


def original_of(provider: AnyProvider) -> AnyProvider | None:
    """Of a twin, the provider that it answers for; None of any other."""
    return provider.original if isinstance(provider, Twin) else None  # many providers answer to any attribute
