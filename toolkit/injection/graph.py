"""The graph of a container's providers: what depends on what, in which order, and what each one gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from dependency_injector import containers, providers
from msgspec import UNSET

from toolkit.errors import ConfigurationError
from toolkit.injection.overlays import AnyProvider, Dispatcher, effective
from toolkit.injection.providers import Scoped, ScopeValue
from toolkit.injection.sources import product_of_source
from toolkit.tools.parameters import label_of

__all__ = ["CyclicDependency", "dependencies", "describe", "own_provider", "product_of", "provider_at", "walk"]

_CONTAINERS = (providers.Container, providers.DependenciesContainer)


class CyclicDependency(ConfigurationError):
    """Providers that need each other. `path` is the circle."""

    def __init__(self, path: tuple[AnyProvider, ...]) -> None:
        super().__init__("cyclic dependency: " + " -> ".join(describe(provider) for provider in path))
        self.path = path


def dependencies(provider: AnyProvider) -> list[AnyProvider]:
    """What a provider needs directly. Of a `Selector`, the branch that is selected now (all while none is).

    By `isinstance` only: a `ConfigurationOption` or `.provided` answers to any attribute.
    """
    if isinstance(provider, _CONTAINERS):
        return []  # a container is no dependency; a provider inside it is named by itself
    if isinstance(provider, providers.Selector):
        return _selected(provider)
    related: list[Any] = list(cast("Any", provider).related)
    return [found for found in related if providers.is_provider(found) and not isinstance(found, Dispatcher)]


def _selected(selector: providers.Selector) -> list[AnyProvider]:
    inner = cast("Any", selector)
    branches: dict[str, AnyProvider] = inner.providers
    try:
        chosen = branches.get(inner.selector())
    except Exception:  # noqa: BLE001 - the option is not set yet; `check` says so where it matters
        chosen = None
    return [inner.selector, *(branches.values() if chosen is None else (chosen,))]


def walk(root: AnyProvider) -> Iterator[AnyProvider]:
    """The provider and all below it, as they answer now, each once, dependencies first.

    Raises:
        CyclicDependency: naming the circle.
    """
    seen: set[AnyProvider] = set()
    path: list[AnyProvider] = []

    def visit(provider: AnyProvider) -> Iterator[AnyProvider]:
        provider = effective(provider)
        if provider in path:
            raise CyclicDependency((*path[path.index(provider) :], provider))
        if provider in seen:
            return
        seen.add(provider)
        path.append(provider)
        for dependency in dependencies(provider):
            yield from visit(dependency)
        path.pop()
        yield provider

    return visit(root)


def product_of(provider: AnyProvider) -> Any:
    """The class that a provider gives, found without calling it; UNSET when that can't be known."""
    if isinstance(provider, Scoped):
        return product_of_source(provider.source)
    if isinstance(provider, ScopeValue):
        return provider.wanted
    if isinstance(provider, providers.Object):
        given: Any = cast("Any", provider).provides
        return UNSET if isinstance(given, type) else cast("Any", type(given))
    if isinstance(provider, providers.Dependency):
        return _product_of_dependency(provider)
    if isinstance(provider, (providers.Factory, providers.BaseSingleton, providers.Callable)):
        source = cast("Any", provider).provides
        return product_of_source(source) if callable(source) else UNSET
    return UNSET


def _product_of_dependency(provider: providers.Dependency[Any]) -> Any:
    answering = effective(provider)
    if answering is not provider:
        return product_of(answering)
    wanted = cast("Any", provider).instance_of
    return UNSET if wanted is object else wanted


def describe(provider: AnyProvider) -> str:
    """A provider in words: its kind and what it calls."""
    if isinstance(provider, ScopeValue):
        return f"ScopeValue({label_of(provider.wanted)})"
    source = cast("Any", provider).provides if isinstance(provider, (Scoped, *_CALLING)) else None
    return f"{type(provider).__name__}({label_of(source)})" if source is not None else type(provider).__name__


_CALLING = (providers.Factory, providers.BaseSingleton, providers.Callable)


def provider_at(container: Any, path: str) -> AnyProvider | None:
    """The provider of a name, or of a nested one such as `"tools.http"`; None when there is none."""
    found: Any = container
    for name in path.split("."):
        inside: dict[str, AnyProvider] = getattr(found, "providers", {})
        found = inside.get(name)
        if found is None:
            return None
    return cast("AnyProvider", found)


def own_provider(container: Any, provider: AnyProvider) -> AnyProvider:
    """The container's own copy of a provider that was named by its class (`Application.http`); else the provider."""
    declared = getattr(container, "declarative_parent", None)
    if declared is not None:
        for name, candidate in declared.providers.items():
            if candidate is provider:
                return cast("AnyProvider", container.providers.get(name, provider))
    return provider


def is_container(candidate: Any) -> bool:
    """True for an instance of a dependency-injector container."""
    return isinstance(candidate, containers.Container)
