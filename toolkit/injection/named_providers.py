"""The providers of a container by their names, and as the container itself has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from dependency_injector import containers, providers

from toolkit.injection.graph import CONTAINERS, everything_in
from toolkit.injection.overlays import AnyProvider, effective
from toolkit.injection.providers import ScopeValue

__all__ = [
    "as_in",
    "declaring",
    "is_container",
    "is_container_class",
    "names_by_provider",
    "names_in",
    "nested_names_in",
    "not_a_container",
    "own_provider",
    "provider_at",
    "values_in",
]


def names_in(container: Any, prefix: str = "") -> Iterator[tuple[str, AnyProvider]]:
    """Every provider of a container with its name; those of embedded containers by nested ones: `"tools.http"`."""
    for name, provider in container.providers.items():
        yield f"{prefix}{name}", provider
        if isinstance(provider, providers.Container):
            yield from names_in(provider, f"{prefix}{name}.")


def nested_names_in(container: Any, prefix: str = "") -> Iterator[tuple[str, AnyProvider]]:
    """As `names_in`, also with what a container that is handed in gives, as far as it is named."""
    for name, provider in container.providers.items():
        yield f"{prefix}{name}", provider
        if isinstance(provider, CONTAINERS):
            yield from nested_names_in(provider, f"{prefix}{name}.")


def names_by_provider(container: Any) -> dict[AnyProvider, str]:
    """The first name of each provider that answers in a container now."""
    names: dict[AnyProvider, str] = {}
    for name, provider in names_in(container):
        names.setdefault(effective(provider), name)
    return names


def values_in(container: Any) -> Iterator[type]:
    """The types of the values that a container says its runs are given."""
    for _, provider in names_in(container):
        if isinstance(provider, ScopeValue):
            yield cast("Any", provider).wanted


def provider_at(container: Any, path: str) -> AnyProvider | None:
    """The provider of a name, or of a nested one such as `"tools.http"`; None when there is none."""
    found: Any = container
    for name in path.split("."):
        if not is_container(found) and not isinstance(found, CONTAINERS):
            return None
        found = cast("Any", found).providers.get(name)
        if found is None:
            return None
    return cast("AnyProvider", found)


def declaring(container: Any, path: str) -> Any:
    """The container that a nested name such as `"tools.http"` belongs to, and in which its agents find their tools."""
    outer, _, _ = path.rpartition(".")
    return provider_at(container, outer) if outer else container


def own_provider(container: Any, provider: AnyProvider) -> AnyProvider:
    """The container's own copy of a provider that was named by its class (`Application.http`); else the provider."""
    declared = getattr(container, "declarative_parent", None)
    if declared is None:
        return provider
    return next(
        (own for class_level, own in _pairs(declared, container) if class_level is provider),
        provider,
    )


def as_in(container: Any, provider: AnyProvider) -> AnyProvider:
    """The provider as the container has it: its own copy, or else one that stands on its own copies.

    `provide(Report, db=dep(Application.db))`, made outside of the container, names the class's provider. Left as it is,
    it would open another `db` beside the container's own.
    """
    declared = getattr(container, "declarative_parent", None)
    if declared is None:
        return provider
    own = {id(class_level): copied for class_level, copied in _pairs(declared, container)}
    if id(provider) in own:
        return own[id(provider)]
    if all(id(below) not in own for below in everything_in([provider])):
        return provider
    return cast("AnyProvider", providers.deepcopy(cast("Any", provider), own))


def _pairs(declared: Any, own: Any) -> Iterator[tuple[AnyProvider, AnyProvider]]:
    """Each provider of a class of containers beside the instance's copy, also in embedded containers."""
    for name, provider in declared.providers.items():
        copied = own.providers.get(name)
        if copied is None:
            continue
        yield provider, copied
        if isinstance(provider, providers.Container) and isinstance(copied, providers.Container):
            yield from _pairs(provider, copied)


def not_a_container(asking: str, given: Any) -> str:
    """What is said of something that is no container; a class of containers has to be called first."""
    if isinstance(given, type) and issubclass(given, containers.DeclarativeContainer):
        return f"{asking} takes a container, and {given.__name__} is a class of containers: call it, {given.__name__}()"
    return f"{asking} takes a container, such as Application(); it was given {given!r}"


def is_container(candidate: Any) -> bool:
    """True for an instance of a dependency-injector container."""
    return isinstance(candidate, containers.Container)


def is_container_class(candidate: Any) -> bool:
    """True for a class that declares a container; not for those that such a class is derived from."""
    is_class = isinstance(candidate, type) and issubclass(candidate, containers.DeclarativeContainer)
    return is_class and candidate is not containers.DeclarativeContainer
