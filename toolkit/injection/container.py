"""The resolver of a dependency-injector container: how tools are found in it, and how a run builds them."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Mapping, Set
from typing import Any, TypeGuard, cast

from dependency_injector import providers
from msgspec import UNSET, Struct

from toolkit.context import RunContext
from toolkit.errors import ConfigurationError
from toolkit.injection.by_type import Candidate, GivenValue, constructor_arguments, find_for_parameter, named
from toolkit.injection.graph import describe, own_provider, product_of, provider_at, walk
from toolkit.injection.overlays import AnyProvider, active_layers, effective, memory_of_layers, object_of, overriding_of
from toolkit.injection.providers import Scoped, ScopeValue, current_scope
from toolkit.injection.scopes import Scope
from toolkit.injection.sources import closer_of, open_async
from toolkit.records import Invocation, Run
from toolkit.tools.parameters import Parameter, label_of, value_of_type
from toolkit.tools.resolver import Recipe, RunScope

__all__ = ["ContainerResolver", "ContainerScope"]

_ALWAYS_GIVEN = frozenset({Invocation, Run, RunContext})


class ContainerResolver:
    """Finds tools in a container, for the runs of one application. See `toolkit.tools.resolver.Resolver`."""

    def __init__(self, container: Any, app: Scope) -> None:
        self.container = container
        self.app = app
        self.app_opening = asyncio.Lock()
        self._memory: dict[Any, Any] = {}

    def memory(self) -> dict[Any, Any]:
        if not active_layers.get():
            return self._memory
        memory: dict[Any, Any] = memory_of_layers().setdefault(self, {})
        return memory

    def open_run(self, values: Mapping[type, Any], open_timeout: float | None) -> ContainerScope:
        return ContainerScope("run", self.app, values, self, open_timeout)

    def tool(self, listed: Any, value_types: Set[type]) -> Recipe:
        recipe = self.recipe(listed, value_types)
        if recipe.instance is UNSET:
            _check_values(recipe, value_types)
        return recipe

    def parameter(self, parameter: Parameter, owner: str, value_types: Set[type]) -> Recipe | None:
        key = find_for_parameter(parameter, self.candidates(), value_types, owner)
        return None if key is UNSET else Recipe(f"parameter '{parameter.name}' of {owner}", key=_as_provider(key))

    def named(self, name: str) -> Recipe:
        """The recipe of a provider by its name. Raises `ConfigurationError` with the names that exist."""
        provider = provider_at(self.container, name)
        if provider is None:
            near: list[str] = difflib.get_close_matches(name, list(self.container.providers), n=1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            raise ConfigurationError(
                f"the container has no provider {name!r}; {hint}It has {named(self.container.providers)}"
            )
        return self._of_provider(provider, f"provider '{name}'")

    def candidates(self) -> list[Candidate]:
        """The providers of the container itself (not those of embedded ones), with the classes that they give."""
        return [Candidate(name, product_of(provider), provider) for name, provider in self.container.providers.items()]

    def recipe(self, listed: Any, value_types: Set[type]) -> Recipe:
        """As `tool`, but the values that it needs may be missing."""
        if isinstance(listed, str):
            return self.named(listed)
        if providers.is_provider(listed):
            provider = own_provider(self.container, cast("AnyProvider", listed))
            return self._of_provider(provider, self._label(provider))
        if isinstance(listed, type):
            return self._of_class(listed, value_types)
        return Recipe(repr(listed), product=listed, identity=listed, instance=listed)

    def _of_class(self, cls: type, value_types: Set[type]) -> Recipe:
        providing = {id(c.key): c for c in self.candidates() if c.product is cls}
        if len(providing) > 1:
            names = named({candidate.name: candidate for candidate in providing.values()})
            raise ConfigurationError(
                f"more than one provider gives {label_of(cls)}: {names}; list the tool by one of these names"
            )
        for candidate in providing.values():
            return self._of_provider(candidate.key, f"provider '{candidate.name}'")
        label = label_of(cls)
        arguments = constructor_arguments(cls, self.candidates(), value_types, label)
        factory = providers.Factory(cls, **{name: _as_provider(key) for name, key in arguments.items()})
        return Recipe(label, product=cls, key=factory, identity=cls, is_owned=True)

    def _of_provider(self, provider: AnyProvider, label: str) -> Recipe:
        there = object_of(provider)
        if isinstance(there, type):  # a class that stands in for a tool: `overriding(container, weather=FakeWeather)`
            return self._of_class(there, frozenset())
        if there is not UNSET:
            return Recipe(label, product=there, identity=there, instance=there)
        answering = effective(provider)
        product = product_of(answering)
        return Recipe(
            label,
            product=None if product is UNSET else product,
            key=provider,
            identity=provider,
            is_owned=isinstance(answering, providers.Factory),
        )

    def _label(self, provider: AnyProvider) -> str:
        for name, candidate in self.container.providers.items():
            if candidate is provider:
                return f"provider '{name}'"
        return describe(provider)


class _Plan(Struct, frozen=True):
    """What has to be opened before a provider can be called, dependencies first; and what that was worked out from."""

    asynchronous: tuple[Scoped[Any], ...]
    overridings: tuple[tuple[Any, AnyProvider | None], ...]

    def is_current(self) -> bool:
        for provider, over in self.overridings:  # noqa: SIM110 - asked for every build: no generator
            if provider.last_overriding is not over:
                return False
        return True


class ContainerScope(Scope):
    """The scope of a run, or of one call in it: opens what is asynchronous, then calls the provider."""

    __slots__ = ("open_timeout", "_resolver")

    def __init__(
        self,
        level: str,
        parent: Scope,
        values: Mapping[type, Any],
        resolver: ContainerResolver,
        open_timeout: float | None,
    ) -> None:
        super().__init__(level, parent, values)
        self._resolver = resolver
        self.open_timeout = open_timeout

    async def build(self, recipe: Recipe) -> Any:
        if recipe.instance is not UNSET:
            return recipe.instance
        if self.is_closed:
            raise ConfigurationError(f"{recipe.label} is asked for after the {self.level} was closed")
        token = current_scope.set(self)
        try:
            plan = self._plan(recipe.key)
            if plan.asynchronous:
                await self._open_all(plan)
            made = recipe.key()
        except Exception as error:
            error.add_note(f"while building {recipe.label}")
            raise
        finally:
            current_scope.reset(token)
        if recipe.is_owned:
            closer = closer_of(made, recipe.label)
            if closer is not None:
                self.closers.append(closer)
        return made

    async def build_for_call(self, recipes: Mapping[str, Recipe]) -> tuple[dict[str, Any], RunScope | None]:
        scope = ContainerScope("call", self, {}, self._resolver, self.open_timeout)
        try:
            built = {name: await scope.build(recipe) for name, recipe in recipes.items()}
        except BaseException as error:
            for failed in await scope.close(error, self.open_timeout):
                error.add_note(f"also, {failed!r}")
            raise
        return built, scope if scope.closers else None

    def _plan(self, provider: AnyProvider) -> _Plan:
        memory = self._resolver.memory()
        plan: _Plan | None = memory.get(provider)
        if plan is not None and plan.is_current():
            return plan
        nodes = list(walk(provider))
        plan = _Plan(
            tuple(node for node in nodes if _is_opened_first(node)),
            tuple((node, overriding_of(node)) for node in {provider, *nodes}),
        )
        if not any(isinstance(node, providers.Selector) for node in nodes):  # its branch may change at any time
            memory[provider] = plan
        return plan

    async def _open_all(self, plan: _Plan) -> None:
        for scoped in plan.asynchronous:
            home = scoped.home()
            if scoped in home.cache:
                continue
            if home.level != "app":
                await self._open(scoped, home)
                continue
            async with self._resolver.app_opening:  # two runs may need the same new object
                if scoped not in home.cache:
                    await self._open(scoped, home)

    async def _open(self, scoped: Scoped[Any], home: Scope) -> None:
        call = scoped.arguments()
        limit = asyncio.timeout(self.open_timeout)
        try:
            async with limit:
                made, closer = await open_async(scoped.source, scoped.kind, call.args, call.kwargs)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise TimeoutError(
                f"opening {label_of(scoped.source)} took longer than {self.open_timeout:g} seconds"
            ) from error
        home.keep(scoped, made, closer)


def _is_opened_first(node: AnyProvider) -> TypeGuard[Scoped[Any]]:
    return isinstance(node, Scoped) and node.kind.is_async


def _as_provider(key: Any) -> AnyProvider:
    return ScopeValue(key.wanted) if isinstance(key, GivenValue) else key


def _check_values(recipe: Recipe, value_types: Set[type]) -> None:
    """Every value that a listed tool needs has to be given: found at the run's start rather than at the first call."""
    given = dict.fromkeys((*_ALWAYS_GIVEN, *value_types), True)
    for node in walk(recipe.key):
        if isinstance(node, ScopeValue) and value_of_type(node.wanted, given) is UNSET:
            name = label_of(node.wanted)
            raise ConfigurationError(f"{recipe.label} needs a value of {name}; pass values={{{name}: ...}} to run(...)")
