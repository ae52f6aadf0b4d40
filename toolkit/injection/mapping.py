"""The resolver of a plain mapping of names or types to callables; an empty one serves agents without a container."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Set
from typing import Any

from msgspec import UNSET, Struct

from toolkit.errors import ConfigurationError
from toolkit.injection.by_type import Candidate, GivenValue, constructor_arguments, find_for_parameter, named
from toolkit.injection.scopes import Scope
from toolkit.injection.sources import Kind, kind_of, open_async, open_sync, product_of_source
from toolkit.tools.parameters import Parameter, label_of
from toolkit.tools.resolver import Recipe, RunScope

__all__ = ["MappingResolver"]


class _Source(Struct, frozen=True, eq=False):
    """A callable of the mapping, or a class of tools: one object of it per run."""

    name: str
    call: Callable[..., Any]
    kind: Kind


class MappingResolver:
    """Builds from callables, whose parameters are filled by type. See `toolkit.tools.resolver.Resolver`.

    Each callable (class, function, coroutine function, generator, async generator) is called at most once per run; what
    it gives is shared by the run's tools and closed with the run.
    """

    def __init__(self, sources: Mapping[Any, Callable[..., Any]] | None = None) -> None:
        self._candidates: list[Candidate] = []
        for key, call in (sources or {}).items():
            if not isinstance(key, (str, type)) or not callable(call):
                raise ConfigurationError(f"a mapping of names or types to callables can't have {key!r}: {call!r}")
            name = key if isinstance(key, str) else label_of(key)
            product = key if isinstance(key, type) else product_of_source(call)
            self._candidates.append(Candidate(name, product, _Source(name, call, kind_of(call))))
        self._memory: dict[Any, Any] = {}

    def memory(self) -> dict[Any, Any]:
        return self._memory

    def open_run(self, values: Mapping[type, Any], open_timeout: float | None) -> RunScope:
        return _MappingScope(values, self, open_timeout)

    def tool(self, listed: Any, value_types: Set[type]) -> Recipe:
        if isinstance(listed, str):
            for candidate in self._candidates:
                if candidate.name == listed:
                    return _recipe(candidate)
            known = named({candidate.name: candidate for candidate in self._candidates})
            raise ConfigurationError(f"there is no tool {listed!r} to be found by its name; there are {known}")
        if not isinstance(listed, type):
            return Recipe(repr(listed), product=listed, identity=listed, instance=listed)
        for candidate in self._candidates:
            if candidate.product is listed:
                return _recipe(candidate)
        source = _Source(label_of(listed), listed, Kind.PLAIN)
        self.arguments(source, value_types)  # what can't be filled is found here
        return Recipe(source.name, product=listed, key=source, identity=listed)

    def parameter(self, parameter: Parameter, owner: str, value_types: Set[type]) -> Recipe | None:
        key = find_for_parameter(parameter, self._candidates, value_types, owner)
        return None if key is UNSET else Recipe(f"parameter '{parameter.name}' of {owner}", key=key)

    def arguments(self, source: _Source, value_types: Set[type]) -> dict[str, Any]:
        """What fills each parameter of a source, worked out once for the types of values that a run gives."""
        place = (source, frozenset(value_types))
        if place not in self._memory:
            self._memory[place] = constructor_arguments(source.call, self._candidates, value_types, source.name)
        found: dict[str, Any] = self._memory[place]
        return found


def _recipe(candidate: Candidate) -> Recipe:
    product = None if candidate.product is UNSET else candidate.product
    return Recipe(f"'{candidate.name}'", product=product, key=candidate.key, identity=candidate.key)


class _MappingScope(Scope):
    """What one run opened."""

    __slots__ = ("_building", "open_timeout", "_resolver")

    def __init__(self, values: Mapping[type, Any], resolver: MappingResolver, open_timeout: float | None) -> None:
        super().__init__("run", None, values)
        self._resolver = resolver
        self.open_timeout = open_timeout
        self._building: list[str] = []

    async def build(self, recipe: Recipe) -> Any:
        if recipe.instance is not UNSET:
            return recipe.instance
        limit = asyncio.timeout(self.open_timeout)
        try:
            async with limit:
                return await self._made(recipe.key)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise TimeoutError(f"building {recipe.label} took longer than {self.open_timeout:g} seconds") from error
        except Exception as error:
            error.add_note(f"while building {recipe.label}")
            raise

    async def build_for_call(self, recipes: Mapping[str, Recipe]) -> tuple[dict[str, Any], RunScope | None]:
        return {name: await self.build(recipe) for name, recipe in recipes.items()}, None

    async def _made(self, key: Any) -> Any:
        if isinstance(key, GivenValue):
            return self.value(key.wanted)
        if key in self.cache:
            return self.cache[key]
        if key.name in self._building:
            circle = " -> ".join((*self._building[self._building.index(key.name) :], key.name))
            raise ConfigurationError(f"cyclic dependency: {circle}")
        self._building.append(key.name)
        try:
            wanted = self._resolver.arguments(key, frozenset(self.values))
            arguments = {name: await self._made(part) for name, part in wanted.items()}
            if key.kind.is_async:
                made, closer = await open_async(key.call, key.kind, (), arguments)
            else:
                made, closer = open_sync(key.call, key.kind, (), arguments)
        finally:
            self._building.pop()
        self.keep(key, made, closer)
        return made
