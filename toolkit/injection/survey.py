"""Every provider that a container can reach, each with the path of names that leads to it, and the circles."""

from __future__ import annotations

from typing import Any

from dependency_injector import providers
from msgspec import UNSET

from toolkit.injection.graph import answering, dependencies, listed_in, product_of, short_label
from toolkit.injection.named_providers import names_by_provider, names_in
from toolkit.injection.overlays import AnyProvider, effective

__all__ = ["Survey", "is_agent"]


class Survey:
    """What `check` looks at, found in one walk that a circle does not stop.

    Attributes:
        paths: How each provider is reached: `'agent' -> WeatherTool -> WeatherClient`; dependencies first.
        circles: Providers that need each other, in words.
        sections: Options that stand in for a configuration, that of an embedded container: they may be absent.
    """

    def __init__(self, container: Any) -> None:
        self.paths: dict[AnyProvider, str] = {}
        self.circles: list[str] = []
        self.sections: set[AnyProvider] = set()
        self._names = names_by_provider(container)
        self._open: list[AnyProvider] = []
        self._seen: set[AnyProvider] = set()
        # The agents first: a path from them says most.
        for name, provider in sorted(names_in(container), key=lambda root: not is_agent(root[1])):
            self._visit(provider, (f"'{name}'",))

    def _visit(self, provider: AnyProvider, path: tuple[str, ...]) -> None:
        asked, provider = provider, effective(provider)
        if isinstance(asked, providers.Configuration) and asked is not provider:
            self.sections.add(provider)
        if provider in self._open:
            circle = (*self._open[self._open.index(provider) :], provider)
            self.circles.append("cyclic dependency: " + " -> ".join(map(self._name, circle)))
            return
        if provider in self._seen:
            return
        self._seen.add(provider)
        self._open.append(provider)
        for dependency in dependencies(provider):
            self._visit(dependency, (*path, self._label(dependency)))
        self._open.pop()
        self.paths[provider] = " -> ".join(path)
        for listed in listed_in(provider):  # handed on, not needed: no circle can come of it
            held, self._open = self._open, []
            self._visit(listed, (*path[:-1], self._label(listed)))
            self._open = held

    def _name(self, provider: AnyProvider) -> str:
        name = self._names.get(provider)
        return self._label(provider) if name is None else f"'{name}'"

    def _label(self, provider: AnyProvider) -> str:
        provider = effective(provider)
        label, name = short_label(provider), self._names.get(provider)
        return f"'{name}'" if name is not None and label == type(provider).__name__ else label


def is_agent(provider: AnyProvider) -> bool:
    """True when what it gives can be bound to an application."""
    product = product_of(answering(provider))
    return product is not UNSET and hasattr(product, "bound_to")
