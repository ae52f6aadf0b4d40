"""The resolver of a plain mapping of names or types to callables; an empty one serves agents without a container."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from typing import TYPE_CHECKING, Any, cast

from msgspec import UNSET, Struct, field
from msgspec.structs import replace

from toolkit.errors import ConfigurationError, repr_of
from toolkit.injection.bounded import within
from toolkit.injection.by_type import Candidate, GivenValue, constructor_arguments, find_for_parameter
from toolkit.injection.memories import Memory
from toolkit.injection.nearest import in_quotes, names_near
from toolkit.injection.scopes import Scope
from toolkit.injection.sources import Kind, kind_of, open_async, open_sync, plain_source, product_of_source
from toolkit.tools.handlers import CONTEXT_TYPES
from toolkit.tools.names import snake_case
from toolkit.tools.parameters import Parameter, label_of
from toolkit.tools.resolver import Recipe, RunScope

if TYPE_CHECKING:
    from toolkit.injection.container import ContainerResolver
    from toolkit.injection.run_scope import ContainerScope

__all__ = ["MappingResolver"]


class _Source(Struct, frozen=True, eq=False):
    """A callable of the mapping, or a class of tools: one object of it per run."""

    name: str
    call: Callable[..., Any]
    kind: Kind


class _OfContainer(Struct, frozen=True, eq=False):
    """What builds a listed provider: its own recipe, of a resolver that knows providers."""

    recipe: Recipe


class MappingResolver:
    """Builds from callables, whose parameters are filled by type. See `toolkit.tools.resolver.Resolver`.

    Each callable (class, function, coroutine function, generator, async generator) is called at most once per run; what
    it gives is shared by the run's tools and closed with the run.

    A provider that is listed itself is built as the one of a container, to which nothing belongs that an application
    has to open.
    """

    def __init__(self, sources: Mapping[Any, Callable[..., Any]] | None = None) -> None:
        self._candidates: list[Candidate] = []
        for key, call in (sources or {}).items():
            if not isinstance(key, (str, type)) or not callable(call):
                raise ConfigurationError(f"a mapping of names or types to callables can't have {key!r}: {call!r}")
            name = key if isinstance(key, str) else label_of(key)
            product = key if isinstance(key, type) else product_of_source(call)
            call = plain_source(call)
            self._candidates.append(Candidate(name, product, _Source(name, call, kind_of(call))))
        self._memory = Memory()
        self._of_providers: ContainerResolver | None = None

    def memory(self) -> dict[Any, Any]:
        return self._memory

    def open_run(self, values: Mapping[type, Any], open_timeout: float | None) -> RunScope:
        types = frozenset(values).difference(CONTEXT_TYPES)
        return _MappingScope("run", values=values, resolver=self, open_timeout=open_timeout, value_types=types)

    def tool(self, listed: Any, value_types: Set[type]) -> Recipe:
        if isinstance(listed, str):
            return self._checked(_recipe(self._named(listed)), value_types)
        if not isinstance(listed, type):
            kind = cast("type[Any]", type(listed))
            # As dependency-injector asks, without importing it.
            if getattr(kind, "__IS_PROVIDER__", False) is True:
                return self._of_provider(listed, value_types)
            return Recipe(repr_of(listed), product=listed, identity=listed, instance=listed)
        giving = {id(candidate.key): candidate for candidate in self._candidates if candidate.product is listed}
        if len(giving) > 1:
            names = in_quotes(candidate.name for candidate in giving.values())
            raise ConfigurationError(
                f"more than one callable gives {label_of(listed)}: {names}; list the tool by one of these names"
            )
        for candidate in giving.values():
            return self._checked(_recipe(candidate), value_types)
        recipe = self._memory.get(listed)
        if recipe is None:
            source = _Source(label_of(listed), listed, Kind.PLAIN)
            recipe = self._memory[listed] = Recipe(source.name, product=listed, key=source, identity=listed)
        return self._checked(recipe, value_types)

    def parameter(self, parameter: Parameter, owner: str, value_types: Set[type]) -> Recipe | None:
        try:
            key = find_for_parameter(parameter, self._candidates, value_types, owner)
        except ConfigurationError as error:
            if self._candidates:
                raise
            instead = f"let {owner} take it in a constructor, and list its provider"
            raise ConfigurationError(f"{error}. This agent has no container: {_how_to_run(instead)}") from error
        if key is UNSET:
            return None
        return self._checked(Recipe(f"parameter '{parameter.name}' of {owner}", key=key), value_types)

    def _of_provider(self, provider: Any, value_types: Set[type]) -> Recipe:
        recipe = self.of_providers().tool(provider, value_types)
        return recipe if recipe.instance is not UNSET else replace(recipe, key=_OfContainer(recipe))

    def of_providers(self) -> ContainerResolver:
        """The resolver of listed providers, whose container is empty."""
        if self._of_providers is None:
            # Imported where it is asked for: an agent without a container does not pay for one.
            from dependency_injector.containers import DynamicContainer

            from toolkit.injection.container import ContainerResolver

            self._of_providers = ContainerResolver(DynamicContainer(), None)
        return self._of_providers

    def _named(self, name: str) -> Candidate:
        for candidate in self._candidates:
            if candidate.name == name:
                return candidate
        if not self._candidates:
            raise ConfigurationError(
                f"there is nothing named {name!r} to be found by its name: this agent has no container; "
                f"{_how_to_run(f'list the provider itself: [{name}] in place of [{name!r}]')}"
            )
        near = names_near(name, (candidate.name for candidate in self._candidates), "there are")
        raise ConfigurationError(f"there is nothing named {name!r} to be found by its name; {near}")

    def _arguments_or_advice(self, source: _Source, value_types: Set[type]) -> dict[str, Any]:
        try:
            return self.arguments(source, value_types)
        except ConfigurationError as error:
            if self._candidates:
                raise
            name = source.name.rpartition(".")[2]
            instead = f"list the provider itself: [{snake_case(name)}] in place of [{name}]"
            raise ConfigurationError(f"{error}. This agent has no container: {_how_to_run(instead)}") from error

    def _checked(self, recipe: Recipe, value_types: Set[type]) -> Recipe:
        """What can't be built is found here, at the run's start, to any depth."""
        path: list[_Source] = []

        def visit(key: Any) -> None:
            if isinstance(key, GivenValue):
                return
            if key in path:
                circle = " -> ".join(source.name for source in (*path[path.index(key) :], key))
                raise ConfigurationError(f"cyclic dependency: {circle}")
            path.append(key)
            for part in self._arguments_or_advice(key, value_types).values():
                visit(part)
            path.pop()

        visit(recipe.key)
        return recipe

    def arguments(self, source: _Source, value_types: Set[type]) -> dict[str, Any]:
        """What fills each parameter of a source, worked out once for the types of values that a run gives."""
        place = (source, frozenset(value_types))
        if place not in self._memory:
            self._memory[place] = constructor_arguments(source.call, self._candidates, value_types, source.name)
        found: dict[str, Any] = self._memory[place]
        return found


def _how_to_run(instead: str) -> str:
    """What to do about an agent that has no container, and lists what only one can build.

    Args:
        instead: What to do where an object of a container takes the agent and runs it.
    """
    return (
        f"one that a container declares is run by `async with application(container) as app: await "
        f"app.agent().run(...)`, and not by calling its provider; where an object takes it and runs it by itself, "
        f"{instead}"
    )


def _recipe(candidate: Candidate) -> Recipe:
    product = None if candidate.product is UNSET else candidate.product
    return Recipe(f"'{candidate.name}'", product=product, key=candidate.key, identity=candidate.key)


class _MappingScope(Scope, kw_only=True):
    """What one run opened.

    Attributes:
        value_types: Types of which the run has a value.
    """

    resolver: MappingResolver
    open_timeout: float | None
    value_types: frozenset[type]
    _of_providers: ContainerScope | None = None
    _building: list[str] = field(default_factory=list[str])  # after a failure: what was being built when it happened

    def ready(self, recipe: Recipe, memory: dict[Any, Any]) -> Any:
        return UNSET

    async def build(self, recipe: Recipe) -> Any:
        if recipe.instance is not UNSET:
            return recipe.instance
        if self.is_closed:
            raise ConfigurationError(f"{recipe.label} is asked for after the run was closed")
        if recipe.key.__class__ is _OfContainer:
            return await self._scope_of_providers().build(recipe.key.recipe)
        self._building.clear()
        try:
            return await self._made(recipe.key)
        except Exception as error:
            path = self._building if recipe.identity is None else self._building[1:]
            error.add_note("while building " + " -> ".join((recipe.label, *path)))
            raise

    async def prepare_for_call(self, recipes: Mapping[str, Recipe]) -> None:
        for recipe in recipes.values():
            await self.build(recipe)  # all that a mapping gives lives as long as the run

    async def build_for_call(self, recipes: Mapping[str, Recipe]) -> tuple[dict[str, Any], RunScope | None]:
        return {name: await self.build(recipe) for name, recipe in recipes.items()}, None

    def _scope_of_providers(self) -> ContainerScope:
        """Opens what listed providers give. It is closed with this scope, in one order with what this one opened."""
        if self._of_providers is None:
            self._of_providers = self.resolver.of_providers().open_run(self.values, self.open_timeout)
            self._of_providers.closers = self.closers
        return self._of_providers

    async def _made(self, key: Any) -> Any:
        if isinstance(key, GivenValue):
            return self.value(key.wanted)
        if key in self.cache:
            return self.cache[key]
        self._building.append(key.name)
        wanted = self.resolver.arguments(key, self.value_types)
        arguments = {name: await self._made(part) for name, part in wanted.items()}
        if key.kind.is_async:
            work = open_async(self.keep, key, key.call, key.kind, (), arguments)
            await within(self.open_timeout, work, "opening", key.name)
        else:
            self.keep(key, *open_sync(key.call, key.kind, (), arguments))
        self._building.pop()
        return self.cache[key]
