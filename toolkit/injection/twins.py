"""Twins of what a provider keeps: the same object made once more, and kept for no longer than it is good for.

A singleton above an `AppScoped` object would hand it to the next application, and one above a fake would hold the fake
when its block is over. So a twin answers for it, and keeps what it made in the application, the block, or the run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, Protocol, cast
from weakref import WeakKeyDictionary

from dependency_injector import providers

from toolkit.injection.graph import Selected, walk
from toolkit.injection.overlays import AnyProvider, Twin, active_layers, dispatch, memory_of_layers
from toolkit.injection.providers import RunScoped, application_scope, current_scope
from toolkit.injection.scopes import Scope

__all__ = ["ApplicationTwin", "BlockTwin", "OptionTwin", "RunTwin"]


class _Objects(Protocol):
    """The objects of a singleton that has more than one at a time."""

    def of_here(self, make: Callable[[], Any]) -> Any: ...


class _OneInEachThread:
    """As `ThreadLocalSingleton` has it."""

    def __init__(self) -> None:
        self._here = threading.local()

    def of_here(self, make: Callable[[], Any]) -> Any:
        try:
            return self._here.made
        except AttributeError:
            made = self._here.made = make()
            return made


class _Place:
    """Stands for a context, and those that were copied from it, as long as one of them is there."""


class _OneInEachContext:
    """As `ContextLocalSingleton` has it; but what is kept here lives no longer than this does."""

    def __init__(self) -> None:
        self._here: ContextVar[_Place | None] = ContextVar("toolwire_kept_here", default=None)
        self._made: WeakKeyDictionary[_Place, Any] = WeakKeyDictionary()

    def of_here(self, make: Callable[[], Any]) -> Any:
        here = self._here.get()
        if here is None:
            here = _Place()
            self._made[here] = make()
            self._here.set(here)
        return self._made[here]


def _objects_of(singleton: AnyProvider) -> Callable[[], _Objects] | None:
    if isinstance(singleton, providers.ThreadLocalSingleton):
        return _OneInEachThread
    return _OneInEachContext if isinstance(singleton, providers.ContextLocalSingleton) else None


class _KeptTwin(Twin):
    """Answers for a singleton, and keeps the object in a place that the subclass names."""

    def __init__(self, original: AnyProvider) -> None:
        super().__init__()
        singleton = cast("Any", original)
        self.original = original
        self._factory: providers.Factory[Any] = providers.Factory(
            singleton.provides, *singleton.args, **singleton.kwargs
        )
        self._factory.add_attributes(**getattr(singleton, "attributes", {}))
        self._objects = _objects_of(original)
        self._lock = threading.RLock()  # as with ThreadSafeSingleton: handlers and routes may run in threads

    @property
    def related(self) -> Iterator[AnyProvider]:
        yield from cast("Any", self._factory).related

    def _place(self) -> dict[Any, Any]:
        raise NotImplementedError

    def _provide(self, args: Any, kwargs: Any) -> Any:
        place = self._place()
        with self._lock:
            if self._objects is not None:
                objects: _Objects | None = place.get(self.original)
                if objects is None:
                    objects = place[self.original] = self._objects()
                return objects.of_here(lambda: self._factory(*args, **kwargs))
            if self.original not in place:
                place[self.original] = self._factory(*args, **kwargs)
            return place[self.original]


class ApplicationTwin(_KeptTwin):
    """A singleton of its own for each application that is open."""

    def __init__(self, original: AnyProvider) -> None:
        super().__init__(original)
        self.open_in: list[Scope] = []

    @property
    def is_open(self) -> bool:
        return application_scope(self.open_in) is not None

    def _place(self) -> dict[Any, Any]:
        scope = application_scope(self.open_in)
        assert scope is not None  # else the dispatcher would not have asked
        return scope.cache


class BlockTwin(_KeptTwin):
    """A singleton that is built with something replaced: it lives in the blocks of `overriding` that it depends on."""

    def _provide(self, args: Any, kwargs: Any) -> Any:
        if self._place_of_now() is _ELSEWHERE:
            return dispatch(self.original).outside_of_blocks(args, kwargs)
        return super()._provide(args, kwargs)

    def _place(self) -> dict[Any, Any]:
        place = self._place_of_now()
        if place is _IN_THE_RUN:
            current = current_scope.get()
            run = None if current is None else current.at("run")
            return {} if run is None else run.cache  # outside of a run what it needs says so
        return place

    def _place_of_now(self) -> dict[Any, Any]:
        memory = memory_of_layers()
        place: dict[Any, Any] | None = memory.get(self)
        if place is None:
            selected: Selected = []
            asked: set[AnyProvider] = set()
            nodes = list(walk(self, asked, selected))
            if not selected:
                place = memory[self] = self._place_in_blocks(nodes, asked)
            else:  # it may be another the next time
                place = self._place_in_blocks(nodes, asked) if _are_replaced(asked) else _ELSEWHERE
        return place

    def _place_in_blocks(self, nodes: list[AnyProvider], asked: set[AnyProvider]) -> dict[Any, Any]:
        """Blocks may end in any order: what was built with a replacement of one must not be found without it."""
        if any(isinstance(node, RunScoped) for node in nodes):
            return _IN_THE_RUN
        layers = active_layers.get()
        needed = tuple(layer for layer in layers if not asked.isdisjoint(layer.replacements.values()))
        holder = needed[-1] if needed else layers[-1]
        return holder.kept.setdefault((self.original, needed), {})


def _are_replaced(asked: set[AnyProvider]) -> bool:
    """Whether a block replaces any of them; a twin is only there because of what is replaced below it."""
    return any(
        target in asked and not isinstance(replacement, Twin)
        for layer in active_layers.get()
        for target, replacement in layer.replacements.items()
    )


_IN_THE_RUN: dict[Any, Any] = {}
"""Stands for the cache of the run that asks, which is another one each time. Nothing is ever put into it."""

_ELSEWHERE: dict[Any, Any] = {}
"""Another branch is selected than the one that has the replacement: so the original itself gives its object."""


class RunTwin(RunScoped[Any], Twin):
    """An app-wide object that is built with something replaced: each run of the block opens its own."""

    _where = "it is built with something that is overridden here, so each run opens its own, and outside there is none"

    @classmethod
    def of(cls, original: AnyProvider, source: Any, arguments: providers.Factory[Any]) -> RunTwin:
        twin = cls(source)
        twin.arguments = arguments
        twin.original = original
        return twin


class OptionTwin(Twin):
    """An option of a configuration that is replaced: dependency-injector's keeps the value that it saw first."""

    def __init__(self, original: AnyProvider) -> None:
        super().__init__()
        self.original = original

    @property
    def related(self) -> Iterator[AnyProvider]:
        yield cast("Any", self.original)._get_root()

    def _provide(self, args: Any, kwargs: Any) -> Any:
        option = cast("Any", self.original)
        return option._get_root().get(option._get_self_name(), option.is_required())
