"""`draw`: the graph of a container as Mermaid text, with lifetimes as groups."""

from __future__ import annotations

from typing import Any, cast

from dependency_injector import providers
from msgspec import UNSET

from toolkit.errors import ConfigurationError
from toolkit.injection.agents import ListedParts, specification_of
from toolkit.injection.container import ContainerResolver
from toolkit.injection.graph import RESOURCES, answering, dependencies, short_label
from toolkit.injection.listing import with_listed_tools
from toolkit.injection.named_providers import declaring, names_by_provider, names_in
from toolkit.injection.overlays import AnyProvider, effective
from toolkit.injection.providers import AppScoped, CallScoped, Literal, RunScoped, ScopeValue
from toolkit.injection.survey import is_agent
from toolkit.tools.specification import ToolSpecification

__all__ = ["draw"]

_GROUPS: dict[str, tuple[type, ...]] = {
    "application": (AppScoped, providers.BaseSingleton, *RESOURCES, providers.Object),
    "run": (RunScoped, ScopeValue),
    "call": (CallScoped,),
}
_LEFT_OUT = (Literal, providers.Container, providers.DependenciesContainer)


def draw(container: Any) -> str:
    """A Mermaid flowchart: an arrow goes from what is built to what it needs, a dotted one from an agent to its tools
    and hooks.

    What lives as long as the application, a run or a call stands in a group; what is made for each use, in none.
    Overridden providers are drawn as they answer now.
    """
    drawing = _Drawing(container)
    lines = ["flowchart LR"]
    for group in _GROUPS:
        nodes = [node for node, home in drawing.groups.items() if home == group]
        if nodes:
            lines.append(f"    subgraph {group}")
            lines.extend(f"        {drawing.box(node)}" for node in nodes)
            lines.append("    end")
    lines.extend(f"    {drawing.box(node)}" for node, home in drawing.groups.items() if home == "")
    lines.extend(f"    {edge}" for edge in drawing.edges)
    return "\n".join(lines) + "\n"


class _Drawing:
    """The boxes and arrows, in the order in which they are met.

    Attributes:
        groups: The lifetime of each provider, `""` where it is made for each use.
        edges: The arrows, each once.
    """

    def __init__(self, container: Any) -> None:
        self.groups: dict[AnyProvider, str] = {}
        self.edges: dict[str, None] = {}
        self._numbers: dict[AnyProvider, int] = {}
        self._names = names_by_provider(container)
        self._there: dict[int, AnyProvider] = {}
        for name, provider in names_in(container):
            self._visit(provider)
            if is_agent(provider):
                self._visit_parts(provider, ContainerResolver(declaring(container, name), None))

    def box(self, provider: AnyProvider) -> str:
        name, text = self._names.get(provider), short_label(provider)
        if name is not None:
            text = name if provider in self._there.values() else f"{name}<br/>{text}"
        return f'{self._id(provider)}["{text.replace(chr(34), "#quot;")}"]'

    def _visit(self, provider: AnyProvider) -> None:
        provider = effective(provider)
        if provider in self.groups or isinstance(provider, _LEFT_OUT):
            return
        self._numbers[provider] = len(self._numbers) + 1
        self.groups[provider] = next((group for group, kinds in _GROUPS.items() if isinstance(provider, kinds)), "")
        for dependency in dependencies(with_listed_tools(provider)):
            self._visit(dependency)
            self._connect(provider, "-->", dependency)

    def _visit_parts(self, agent: AnyProvider, resolver: ContainerResolver) -> None:
        parts = ListedParts(answering(agent))
        for listed in (*parts.tools, *parts.built):
            try:
                recipe = resolver.recipe(listed, frozenset())
                part = recipe.key if recipe.instance is UNSET else self._provider_of(listed, resolver)
                self._visit(part)
                self._connect(agent, "-.->", part)
                if listed not in parts.built and (tool := specification_of(recipe, frozenset())) is not None:
                    self._visit_parameters(part, tool, resolver)
            except ConfigurationError:
                continue  # `check` says what is wrong with it

    def _provider_of(self, listed: Any, resolver: ContainerResolver) -> AnyProvider:
        """The provider of something that is there already; a function or an object that is listed itself gets one."""
        if isinstance(listed, str):
            return resolver.provider_named(listed)
        if providers.is_provider(listed):
            return cast("AnyProvider", listed)
        provider = self._there.setdefault(id(listed), providers.Object(listed))
        name = getattr(listed, "name", None)
        self._names.setdefault(provider, name if isinstance(name, str) else type(listed).__name__)
        return provider

    def _visit_parameters(self, part: AnyProvider, tool: ToolSpecification, resolver: ContainerResolver) -> None:
        """What is injected into a handler, and into `available_if`."""
        for parameter in (*tool.handler.injected, *tool.availability):
            recipe = resolver.parameter_recipe(parameter, tool.label, frozenset())
            if recipe is not None and recipe.instance is UNSET:
                self._visit(recipe.key)
                self._connect(part, "-->", recipe.key)

    def _connect(self, source: AnyProvider, arrow: str, target: AnyProvider) -> None:
        source, target = effective(source), effective(target)
        if target in self.groups:
            self.edges.setdefault(f"{self._id(source)} {arrow} {self._id(target)}")

    def _id(self, provider: AnyProvider) -> str:
        return f"p{self._numbers[provider]}"
