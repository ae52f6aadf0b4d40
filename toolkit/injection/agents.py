"""What can be wrong with the agents of a container: their tools, hooks and model, and what those need."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, cast

from dependency_injector import providers
from msgspec import UNSET

from toolkit.errors import ConfigurationError
from toolkit.injection.container import ContainerResolver, call_scoped_in
from toolkit.injection.failures import path_between
from toolkit.injection.futures import misuses_in
from toolkit.injection.graph import CyclicDependency, answering, call_of, describe, product_of, walk
from toolkit.injection.listing import listed_tools, with_listed_tools
from toolkit.injection.named_providers import declaring, names_by_provider, names_in, values_in
from toolkit.injection.overlays import AnyProvider, object_of
from toolkit.injection.providers import CallScoped, Literal, RunScoped
from toolkit.injection.survey import is_agent
from toolkit.tools.kept_specifications import specify, specify_class
from toolkit.tools.members import gives_tools
from toolkit.tools.names import alike, folded
from toolkit.tools.parameters import Parameter
from toolkit.tools.resolver import Recipe
from toolkit.tools.specification import ToolSpecification

__all__ = ["AgentFindings", "ListedParts", "specification_of"]


class AgentFindings:
    """What is found about all agents of a container.

    Attributes:
        problems: In words.
        advice: What is not wrong, but seldom meant; in words, too.
        recipes: What the agents' runs build.
        futures: The providers that would give one of these a future.
    """

    def __init__(self, container: Any) -> None:
        self.problems: list[str] = []
        self.advice: list[str] = []
        self.recipes: list[Recipe] = []
        self.futures: set[AnyProvider] = set()
        self._given = frozenset(values_in(container))
        self._names = names_by_provider(container)
        for name, provider in names_in(container):
            if is_agent(provider):
                self._resolver = ContainerResolver(declaring(container, name), None)
                before = len(self.recipes)
                for problem in self._of_agent(provider):
                    self.problems.append(f"'{name}': {problem}")
                for recipe in self.recipes[before:]:
                    self.problems.extend(self._futures_in(recipe, f"'{name}'"))

    def _of_agent(self, provider: AnyProvider) -> Iterator[str]:
        yield from self._of_recipe(Recipe("the agent", key=with_listed_tools(provider), identity=provider))
        parts = ListedParts(answering(provider))
        for part in parts.built:
            yield from self._of_part(part)
        yield from self._of_tools(parts.tools)

    def _of_part(self, part: Any) -> Iterator[str]:
        """A hook or model that is listed as a class, a name or a provider."""
        try:
            recipe = self._resolver.recipe(part, frozenset())
        except ConfigurationError as error:
            yield str(error)
            return
        yield from self._of_recipe(recipe)

    def _of_tools(self, listed: list[Any]) -> Iterator[str]:
        named: dict[str, tuple[str, Recipe]] = {}
        for item in listed:
            try:
                recipe = self._resolver.recipe(item, frozenset())
                specification = specification_of(recipe, self._given)
            except CyclicDependency:
                continue  # reported by itself
            except ConfigurationError as error:
                yield str(error)
                continue
            yield from self._of_recipe(recipe)
            if specification is None:
                continue
            yield from self._of_parameters(specification)
            name = specification.name
            first, other = named.setdefault(folded(name), (name, recipe))
            if other.identity is not recipe.identity:
                yield alike(first, name, other.label, recipe.label)

    def _of_recipe(self, recipe: Recipe, *, is_for_call: bool = False) -> Iterator[str]:
        if recipe.instance is not UNSET:
            return
        self.recipes.append(recipe)
        for node in _below(recipe):
            if isinstance(node, CallScoped) and not is_for_call:
                yield call_scoped_in(recipe.label, node)

    def _futures_in(self, recipe: Recipe, agent: str) -> Iterator[str]:
        """Providers that would give a future where this is built, each with its path from the agent."""
        for node, misuse in misuses_in(_below(recipe)):
            self.futures.add(node)
            path = path_between(recipe.key, node, self._names)
            if recipe.identity is None:  # a parameter: its provider is not all that it is
                path = (recipe.label, *path)
            yield f"{' -> '.join(path if path[0] == agent else (agent, *path))}: {misuse}"

    def _of_parameters(self, specification: ToolSpecification) -> Iterator[str]:
        owner = specification.label
        for parameter in specification.handler.injected:
            yield from self._of_parameter(parameter, owner)
        for parameter in specification.availability:
            yield from self._of_parameter(parameter, f"available_if of {owner}", is_of_application=True)

    def _of_parameter(self, parameter: Parameter, owner: str, *, is_of_application: bool = False) -> Iterator[str]:
        try:
            recipe = self._resolver.parameter_recipe(parameter, owner, frozenset())
        except ConfigurationError as error:
            yield str(error)
            return
        if recipe is None:
            if parameter.inject is not None and parameter.inject.name is not None:
                self.advice.append(
                    f"parameter '{parameter.name}' of {owner} asks for the provider {parameter.inject.name!r}, and "
                    f"there is none: its default stands"
                )
            return
        yield from self._of_recipe(recipe, is_for_call=True)
        for node in _below(recipe):
            if is_of_application and isinstance(node, (RunScoped, CallScoped)):
                yield f"{recipe.label} needs {describe(node)}, and it is asked before anything of a run is there"


class ListedParts:
    """What an agent's class and its provider list.

    Attributes:
        tools: The tools, and what gives tools in a run.
        built: Hooks and the model, where a run builds them.
    """

    def __init__(self, provider: AnyProvider) -> None:
        there = object_of(provider)
        source: Any = product_of(provider) if there is UNSET else there
        given = {} if there is not UNSET else _arguments_of(provider)
        self.tools = _together(source, given, "tools")
        self.built = [hook for hook in _together(source, given, "hooks") if _is_to_be_built(hook)]
        model = given.get("model", getattr(source, "model", None))
        if _is_to_be_built(model):
            self.built.append(model)


def _together(source: Any, given: dict[str, Any], name: str) -> list[Any]:
    """What the class lists, and what the provider adds; a provider of a list can't be looked into."""
    listed: list[Any] = []
    for items in (getattr(source, name, ()), given.get(name, ())):
        if isinstance(items, (list, tuple)):
            listed.extend(cast("list[Any]", items))
    return listed


def _arguments_of(provider: AnyProvider) -> dict[str, Any]:
    """What the class of an agent is called with, but for what another provider gives: that is known in a run."""
    source, args, kwargs = call_of(provider)
    if not isinstance(source, type):
        return {}  # a function makes the agent: what it lists is known in a run
    try:
        given = dict(inspect.signature(source).bind_partial(*args, **kwargs).arguments)
    except (TypeError, ValueError):
        given = dict(kwargs)
    known: dict[str, Any] = {}
    for name, value in given.items():
        if isinstance(value, Literal):
            known[name] = cast("Any", value).value
        elif not providers.is_provider(listed := listed_tools(value)):
            known[name] = listed
    return known


def _gives_tools(recipe: Recipe) -> bool:
    """True for an object with `tools(ctx)`, or what makes one: a run asks it."""
    made = recipe.product if recipe.instance is UNSET else recipe.instance
    return made is not None and gives_tools(made)


def _is_to_be_built(part: Any) -> bool:
    return isinstance(part, (str, type)) or providers.is_provider(part)


def _below(recipe: Recipe) -> list[AnyProvider]:
    try:
        return list(walk(recipe.key))
    except CyclicDependency:
        return []  # reported by itself


def specification_of(recipe: Recipe, given: frozenset[type]) -> ToolSpecification | None:
    """What is known of a tool before a run; None of what gives tools, and of what is not known before it is built."""
    if _gives_tools(recipe):
        return None
    if recipe.instance is not UNSET:
        return specify(recipe.instance, given)
    return specify_class(recipe.product, given) if isinstance(recipe.product, type) else None
