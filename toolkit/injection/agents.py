"""What can be wrong with the agents of a container: their tools, hooks and model, and what those need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET

from toolkit.errors import ConfigurationError
from toolkit.injection.agent_parts import ListedParts, specification_of
from toolkit.injection.container import ContainerResolver, call_scoped_in
from toolkit.injection.failures import path_between
from toolkit.injection.futures import misuses_in
from toolkit.injection.graph import (
    CyclicDependency,
    answering,
    class_made_by,
    declaring,
    describe,
    names_by_provider,
    names_in,
    values_in,
    walk,
)
from toolkit.injection.listing import with_listed_tools
from toolkit.injection.overlays import AnyProvider
from toolkit.injection.providers import CallScoped, RunScoped
from toolkit.injection.survey import is_agent
from toolkit.tools.hook_methods import check_hook_class, check_hook_object
from toolkit.tools.names import alike, folded
from toolkit.tools.parameters import Parameter
from toolkit.tools.resolver import Recipe
from toolkit.tools.specification import ToolSpecification

__all__ = ["AgentFindings"]


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
        yield from self._of_recipe(Recipe("the agent", key=with_listed_tools(provider, set()), identity=provider))
        parts = ListedParts(answering(provider))
        for hook in parts.hooks:
            yield from self._of_part(hook, is_hook=parts.are_known)
        for model in parts.models:
            yield from self._of_part(model)
        yield from self._of_tools(parts.tools)

    def _of_part(self, part: Any, *, is_hook: bool = False) -> Iterator[str]:
        """A hook or model that is listed as a class, a name or a provider."""
        try:
            recipe = self._resolver.recipe(part, frozenset())
        except ConfigurationError as error:
            yield str(error)
            return
        yield from self._of_recipe(recipe)
        if is_hook:
            yield from _problems_of_hook(recipe)

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
            name = specification.definition.name
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
        owner = f"tool '{specification.name}'"
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


def _problems_of_hook(recipe: Recipe) -> Iterator[str]:
    """Why a run would refuse what the recipe gives as a hook, as far as that is known."""
    try:
        if recipe.instance is not UNSET:
            check_hook_object(recipe.instance)
        elif (cls := class_made_by(recipe.key)) is not None:
            check_hook_class(cls)
    except ConfigurationError as error:
        yield str(error)


def _below(recipe: Recipe) -> list[AnyProvider]:
    try:
        return list(walk(recipe.key))
    except CyclicDependency:
        return []  # reported by itself
