"""The resolver of a dependency-injector container: how tools are found in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any, cast

from dependency_injector import providers
from msgspec import UNSET

from toolkit.context import RunContext
from toolkit.errors import ConfigurationError, repr_of
from toolkit.injection.by_type import Candidate, Embedded, GivenValue, constructor_arguments, find_for_parameter
from toolkit.injection.failures import path_between
from toolkit.injection.futures import misuses_in
from toolkit.injection.graph import answering, describe, makes_anew, product_of, walk
from toolkit.injection.host import ApplicationScope
from toolkit.injection.memories import Memory
from toolkit.injection.named_providers import (
    as_in,
    names_by_provider,
    names_in,
    nested_names_in,
    own_provider,
    provider_at,
)
from toolkit.injection.nearest import in_quotes, names_near
from toolkit.injection.overlays import (
    AnyProvider,
    Dispatcher,
    active_layers,
    effective,
    memory_of_layers,
    object_of,
    overriding_of,
    reinstate,
)
from toolkit.injection.providers import CallScoped, ScopeValue
from toolkit.injection.run_scope import ContainerScope
from toolkit.records import Invocation, Run
from toolkit.tools.parameters import Parameter, label_of, value_of_type
from toolkit.tools.resolver import Recipe

__all__ = ["ContainerResolver", "call_scoped_in"]

_ALWAYS_GIVEN = (Invocation, Run, RunContext)


class ContainerResolver:
    """Finds tools in a container. See `toolkit.tools.resolver.Resolver`.

    Args:
        container: A dependency-injector container.
        app: The scope of the application that its runs belong to; None when none was opened.
        grounds: Of the singletons that the application has twins of.
    """

    def __init__(self, container: Any, app: ApplicationScope | None, grounds: Iterable[Dispatcher] = ()) -> None:
        self.container = container
        self.app = app
        self._grounds = grounds
        self.own: list[Any] = [provider for _, provider in names_in(container)]
        self._embedded = Embedded(
            lambda name: provider_at(container, name),
            lambda: [
                Candidate(name, product_of(provider), provider)
                for name, provider in nested_names_in(container)
                if "." in name
            ],
        )
        self._memory = Memory()
        self._plans = Memory()
        self._values = Memory()
        self._from_elsewhere = Memory()

    def memory(self) -> dict[Any, Any]:
        # dependency-injector's own overrides change what a name stands for, and so does each new configuration.
        now: list[Any] = [*map(overriding_of, self.own)]
        memory: dict[Any, Any] = memory_of_layers().setdefault(self, {}) if active_layers.get() else self._memory
        if memory.get(self) != now:
            memory.clear()
            reinstate(self._grounds)
            for layer in active_layers.get():
                reinstate(layer.grounds)
            memory[self] = [*map(overriding_of, self.own)]
        return memory

    def plans(self) -> dict[Any, Any]:
        """A place for what has to be opened before a provider is called; each entry knows whether it is current."""
        if not active_layers.get():
            return self._plans
        plans: dict[Any, Any] = memory_of_layers().setdefault((self, "plans"), {})
        return plans

    def forget(self) -> None:
        """Lets go of what was worked out: the application is closed, and its objects must not live on in that."""
        self._memory.clear()
        self._plans.clear()
        for layer in active_layers.get():
            for memory in layer.memories.values():
                memory.pop(self, None)
                memory.pop((self, "plans"), None)

    def open_run(self, values: Mapping[type, Any], open_timeout: float | None) -> ContainerScope:
        return ContainerScope("run", self.app, values, memories=self, open_timeout=open_timeout)

    def tool(self, listed: Any, value_types: Set[type]) -> Recipe:
        if not isinstance(listed, (str, type)) and not providers.is_provider(listed):
            return Recipe(repr_of(listed), product=listed, identity=listed, instance=listed)
        memory = self.memory()
        place = (listed, value_types)  # a hook or model is asked for in each run
        recipe: Recipe | None = memory.get(place)
        if recipe is not None:
            return recipe
        recipe = self.recipe(listed, value_types)
        if recipe.instance is UNSET:
            self._check_needs(recipe, value_types, is_for_call=False)
        if isinstance(listed, (str, type)) or own_provider(self.container, listed) in self.own:
            memory[place] = recipe  # another provider may have been made for one run
        return recipe

    def parameter(self, parameter: Parameter, owner: str, value_types: Set[type]) -> Recipe | None:
        recipe = self.parameter_recipe(parameter, owner, value_types)
        if recipe is not None:
            self._check_needs(recipe, value_types, is_for_call=True)
        return recipe

    def parameter_recipe(self, parameter: Parameter, owner: str, value_types: Set[type]) -> Recipe | None:
        """As `parameter`, but the values that it needs may be missing."""
        key = find_for_parameter(parameter, self.candidates(), value_types, owner, self._embedded)
        if key is UNSET:
            return None
        return Recipe(f"parameter '{parameter.name}' of {owner}", key=self._as_provider(key))

    def named(self, name: str, value_types: Set[type] = frozenset()) -> Recipe:
        """The recipe of a provider by its name. Raises `ConfigurationError` with the names that exist."""
        return self._of_provider(self.provider_named(name), f"provider '{name}'", value_types)

    def provider_named(self, name: str) -> AnyProvider:
        """The provider of a name, which may be nested. Raises `ConfigurationError` with the names that exist."""
        provider = provider_at(self.container, name)
        if provider is None:
            near = names_near(name, (known for known, _ in names_in(self.container)))
            raise ConfigurationError(f"the container has no provider {name!r}; {near}")
        return provider

    def name_of(self, provider: Any) -> str:
        """The name of a provider, the container's own or its class's. Raises `ConfigurationError` for anything else."""
        if not providers.is_provider(provider):
            raise ConfigurationError(f"{repr_of(provider)} is neither a provider of the container nor the name of one")
        own = own_provider(self.container, cast("AnyProvider", provider))
        names = [name for name, known in names_in(self.container) if known is own]
        if not names:
            near = names_near("", (name for name, _ in names_in(self.container)), "the container has")
            raise ConfigurationError(f"{describe(own)} is no provider of the container, nor of its class; {near}")
        return names[0]

    def candidates(self) -> list[Candidate]:
        """The providers of the container itself (not those of embedded ones), with the classes that they give."""
        return [Candidate(name, product_of(provider), provider) for name, provider in self.container.providers.items()]

    def recipe(self, listed: Any, value_types: Set[type]) -> Recipe:
        """As `tool`, but the values that it needs may be missing."""
        if isinstance(listed, str):
            return self.named(listed, value_types)
        if providers.is_provider(listed):
            provider = self._as_here(cast("AnyProvider", listed))
            return self._of_provider(provider, self._label(provider), value_types)
        if isinstance(listed, type):
            return self._of_class(listed, value_types)
        return Recipe(repr_of(listed), product=listed, identity=listed, instance=listed)

    def _of_class(self, cls: type, value_types: Set[type]) -> Recipe:
        """The recipe of a class: its provider's, but not of one that it replaces itself; else it is built by type."""
        providing = {
            id(candidate.key): candidate
            for candidate in self.candidates()
            if candidate.product is cls and object_of(candidate.key) is not cls
        }
        if len(providing) > 1:
            names = in_quotes(candidate.name for candidate in providing.values())
            raise ConfigurationError(
                f"more than one provider gives {label_of(cls)}: {names}; list the tool by one of these names"
            )
        for candidate in providing.values():
            return self._of_provider(candidate.key, f"provider '{candidate.name}'", value_types)
        label = label_of(cls)
        arguments = constructor_arguments(cls, self.candidates(), value_types, label, self._embedded)
        factory = providers.Factory(cls, **{name: self._as_provider(key) for name, key in arguments.items()})
        return Recipe(label, product=cls, key=factory, identity=cls, is_owned=True)

    def _of_provider(self, provider: AnyProvider, label: str, value_types: Set[type]) -> Recipe:
        there = object_of(provider)
        if isinstance(there, type):  # a class that stands in for a tool: `overriding(container, weather=FakeWeather)`
            return self._of_class(there, value_types)
        if there is not UNSET:
            return Recipe(label, product=there, identity=there, instance=there)
        product = product_of(effective(provider))
        return Recipe(
            label,
            product=None if product is UNSET or not isinstance(product, type) else product,
            key=provider,
            identity=provider,
            is_owned=makes_anew(answering(provider)),
        )

    def _check_needs(self, recipe: Recipe, value_types: Set[type], *, is_for_call: bool) -> None:
        """What can't be had in a run is found at its start rather than at the first call."""
        given = dict.fromkeys((*_ALWAYS_GIVEN, *value_types), True)
        nodes = list(walk(recipe.key))
        for culprit, misuse in misuses_in(nodes):
            path = path_between(recipe.key, culprit, names_by_provider(self.container))
            raise ConfigurationError(f"{' -> '.join((recipe.label, *path[recipe.identity is not None :]))}: {misuse}")
        for node in nodes:
            if isinstance(node, ScopeValue):
                if value_of_type(node.wanted, given) is UNSET:
                    name = label_of(node.wanted)
                    raise ConfigurationError(
                        f"{recipe.label} needs a value of {name}; pass values={{{name}: ...}} to run(...)"
                    )
            elif isinstance(node, CallScoped) and not is_for_call:
                raise ConfigurationError(call_scoped_in(recipe.label, node))

    def _as_here(self, listed: AnyProvider) -> AnyProvider:
        """The same for each run, so that what is listed twice counts once, and a singleton keeps its object."""
        here: AnyProvider | None = self._from_elsewhere.get(listed)
        if here is None:
            here = as_in(self.container, listed)
            if here not in self.own:
                self._from_elsewhere[listed] = here
        return here

    def _as_provider(self, key: Any) -> AnyProvider:
        if not isinstance(key, GivenValue):
            return cast("AnyProvider", key)
        value: AnyProvider | None = self._values.get(key.wanted)
        if value is None:
            value = self._values[key.wanted] = cast("AnyProvider", ScopeValue(key.wanted))
        return value

    def _label(self, provider: AnyProvider) -> str:
        for name, candidate in names_in(self.container):
            if candidate is provider:
                return f"provider '{name}'"
        return describe(provider)


def call_scoped_in(label: str, provider: AnyProvider) -> str:
    """What is said of something that outlives a call and wants an object of one."""
    return (
        f"{label} needs {describe(provider)}, which lives for one call; only parameters of a handler that are marked "
        f"Inject can have it"
    )
