"""The graph of a container's providers: what depends on what, in which order, and what each one gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

from dependency_injector import containers, providers
from msgspec import UNSET

from toolkit.errors import ConfigurationError
from toolkit.injection.overlays import AnyProvider, Dispatcher, effective, original_of, overrides_on
from toolkit.injection.providers import Literal, Scoped, ScopeValue
from toolkit.injection.sources import product_of_source
from toolkit.tools.parameters import label_of

__all__ = [
    "CONTAINERS",
    "RESOURCES",
    "CyclicDependency",
    "Selected",
    "answering",
    "as_in",
    "branch_of",
    "call_of",
    "declaring",
    "dependencies",
    "describe",
    "everything_in",
    "is_container",
    "is_container_class",
    "listed_in",
    "names_by_provider",
    "names_in",
    "nested_names_in",
    "not_a_container",
    "own_provider",
    "product_of",
    "provider_at",
    "short_label",
    "values_in",
    "walk",
]

CONTAINERS = (providers.Container, providers.DependenciesContainer)
RESOURCES = (providers.Resource, providers.ContextLocalResource)
_CALLING = (providers.Factory, providers.BaseSingleton, providers.Callable)


class CyclicDependency(ConfigurationError):
    """Providers that need each other. `path` is the circle."""

    def __init__(self, path: tuple[AnyProvider, ...]) -> None:
        super().__init__("cyclic dependency: " + " -> ".join(short_label(provider) for provider in path))
        self.path = path


Selected = list[tuple[providers.Selector, "AnyProvider | None"]]
"""Selectors, each with the branch that it selected when it was asked."""


def dependencies(provider: AnyProvider, selected: Selected | None = None) -> list[AnyProvider]:
    """What a provider needs directly. Of a `Selector`, the branch that is selected now, which `selected` gets.

    By `isinstance` only: a `ConfigurationOption` or `.provided` answers to any attribute.
    """
    if isinstance(provider, CONTAINERS):
        return []  # a container is no dependency; a provider inside it is named by itself
    if isinstance(provider, providers.ConfigurationOption):
        option = cast("Any", provider)
        return [option._get_root(), *filter(providers.is_provider, option.get_name_segments())]
    if isinstance(provider, providers.Configuration):
        return []  # its options are not what it needs, but what it has
    if isinstance(provider, providers.Selector):
        chooser = cast("Any", provider).selector  # a provider, or any callable
        chosen = branch_of(provider)
        if selected is not None:
            selected.append((provider, chosen))
        return [*([chooser] if providers.is_provider(chooser) else []), *([] if chosen is None else [chosen])]
    related: list[Any] = list(cast("Any", provider).related)
    return [found for found in related if providers.is_provider(found) and not isinstance(found, Dispatcher)]


def branch_of(selector: providers.Selector) -> AnyProvider | None:
    """The branch that is selected now; None when none is, which `check` reports."""
    inner = cast("Any", selector)
    branches: dict[str, AnyProvider] = inner.providers
    try:
        return branches.get(inner.selector())
    except Exception:  # noqa: BLE001 - the option is not set yet, or is no name
        return None


def walk(
    root: AnyProvider, met: set[AnyProvider] | None = None, selected: Selected | None = None
) -> Iterator[AnyProvider]:
    """The provider and all below it, as they answer now, each once, dependencies first.

    Args:
        root: Where to begin.
        met: Gets every provider that was asked, also those that another one answers for.
        selected: Gets every `Selector`, with the branch that was followed.

    Raises:
        CyclicDependency: naming the circle.
    """
    seen: set[AnyProvider] = set()
    path: list[AnyProvider] = []

    def visit(provider: AnyProvider) -> Iterator[AnyProvider]:
        if met is not None:
            met.update(overrides_on(provider))
        provider = effective(provider)
        if provider in path:
            raise CyclicDependency((*path[path.index(provider) :], provider))
        if provider in seen:
            return
        seen.add(provider)
        path.append(provider)
        for dependency in dependencies(provider, selected):
            yield from visit(dependency)
        path.pop()
        yield provider

    return visit(root)


def everything_in(roots: Iterable[AnyProvider]) -> list[AnyProvider]:
    """The providers and all below them, overridden or not, in containers, in branches and in lists of tools."""
    found: dict[AnyProvider, None] = {}
    waiting = list(roots)
    while waiting:
        provider = waiting.pop()
        if provider in found:
            continue
        found[provider] = None
        below: list[Any] = [*cast("Any", provider).related, *listed_in(provider)]
        if isinstance(provider, providers.ConfigurationOption):
            below = [*below, *dependencies(provider)]
        waiting.extend(found for found in below if providers.is_provider(found))
    return list(found)


def listed_in(provider: AnyProvider) -> list[AnyProvider]:
    """Providers that an argument lists, such as tools: they are handed on, and not called, when it is built."""
    if not isinstance(provider, Literal):
        return []
    value: Any = cast("Any", provider).value
    if type(value) not in (list, tuple):
        return []
    return [item for item in cast("list[Any]", value) if providers.is_provider(item)]


def answering(provider: AnyProvider) -> AnyProvider:
    """The provider that makes the object in the end: overrides, defaults and the selected branch are followed."""
    while True:
        provider = effective(provider)
        if isinstance(provider, providers.Dependency) and cast("Any", provider).default is not None:
            provider = cast("Any", provider).default
        elif isinstance(provider, providers.Selector) and (branch := branch_of(provider)) is not None:
            provider = branch
        else:
            return provider


def call_of(provider: AnyProvider) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """What a provider calls, and with which arguments; None when it calls nothing."""
    inner = cast("Any", provider)
    if isinstance(provider, Scoped):
        return inner.source, tuple(inner.arguments.args), dict(inner.arguments.kwargs)
    if isinstance(provider, _CALLING):
        # One that is declared with another provider calls that one, which is below it, and nothing itself.
        is_known = callable(inner.provides) and not providers.is_provider(inner.provides)
        return (inner.provides if is_known else None), tuple(inner.args), dict(inner.kwargs)
    return None, (), {}


def product_of(provider: AnyProvider) -> Any:
    """The class that a provider gives, found without calling it; UNSET when that can't be known."""
    if isinstance(provider, ScopeValue):
        return provider.wanted
    if isinstance(provider, CONTAINERS):
        return UNSET  # a container of this container, and nothing to fill a parameter with
    if isinstance(provider, providers.Object):
        given: Any = cast("Any", provider).provides
        return UNSET if isinstance(given, type) else cast("Any", type(given))
    if isinstance(provider, providers.Dependency):
        return _product_of_dependency(provider)
    if isinstance(provider, providers.Selector):
        products = {product_of(branch) for branch in cast("Any", provider).providers.values()}
        return products.pop() if len(products) == 1 else UNSET
    original = original_of(provider)
    if original is not None:
        return product_of(original)
    if isinstance(provider, RESOURCES):
        source: Any = cast("Any", provider).provides
    else:
        source = call_of(provider)[0]
    return product_of_source(source) if callable(source) else UNSET


def _product_of_dependency(provider: providers.Dependency[Any]) -> Any:
    filled = answering(provider)
    if filled is not provider:
        return product_of(filled)
    wanted = cast("Any", provider).instance_of
    return UNSET if wanted is object else wanted


def describe(provider: AnyProvider) -> str:
    """A provider in words: its kind and what it calls."""
    label = short_label(provider)
    kind = type(provider).__name__
    return label if label.startswith(kind) else f"{kind}({label})"


def short_label(provider: AnyProvider) -> str:
    """What a provider calls, in a path of names: `WeatherClient`; its kind where it calls nothing."""
    if isinstance(provider, ScopeValue):
        return f"ScopeValue({label_of(provider.wanted)})"
    if isinstance(provider, (providers.ConfigurationOption, providers.Configuration)):
        return str(cast("Any", provider).get_name())
    source = call_of(provider)[0]
    return type(provider).__name__ if source is None else label_of(source)


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
