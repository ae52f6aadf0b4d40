"""The graph of a container's providers: what depends on what, in which order, and what each one gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

from dependency_injector import providers
from msgspec import UNSET

from toolkit.errors import ConfigurationError
from toolkit.injection.overlays import AnyProvider, Dispatcher, effective, original_of, overrides_on
from toolkit.injection.providers import Literal, Scoped, ScopeValue
from toolkit.injection.sources import product_of_source
from toolkit.tools.parameters import label_of

__all__ = [
    "CALLING",
    "CONTAINERS",
    "RESOURCES",
    "CyclicDependency",
    "Selected",
    "answering",
    "below_in_any_branch",
    "branch_of",
    "call_of",
    "dependencies",
    "describe",
    "everything_in",
    "listed_in",
    "makes_anew",
    "product_of",
    "short_label",
    "walk",
]

CONTAINERS = (providers.Container, providers.DependenciesContainer)
RESOURCES = (providers.Resource, providers.ContextLocalResource)
CALLING = (providers.Factory, providers.BaseSingleton, providers.Callable)
"""Kinds of dependency-injector's own providers that call what they are declared with."""


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


def below_in_any_branch(root: AnyProvider) -> set[AnyProvider]:
    """The provider and all below it, as they answer now, whichever branch of a `Selector` is selected later."""
    found: set[AnyProvider] = set()
    waiting = [root]
    while waiting:
        provider = effective(waiting.pop())
        if provider in found:
            continue
        found.add(provider)
        waiting.extend(dependencies(provider))
        if isinstance(provider, providers.Selector):
            waiting.extend(cast("Any", provider).providers.values())
    return found


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


def makes_anew(provider: AnyProvider) -> bool:
    """True when each call gives an object of its own, so that whoever calls has to close it."""
    if not isinstance(provider, (providers.Factory, providers.Callable)):
        return False
    source: Any = cast("Any", provider).provides
    if providers.is_provider(source):  # the object is that one's
        return makes_anew(answering(cast("AnyProvider", source)))
    return isinstance(provider, providers.Factory) or isinstance(source, type)


def call_of(provider: AnyProvider) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """What a provider calls, and with which arguments; None when it calls nothing."""
    inner = cast("Any", provider)
    if isinstance(provider, Scoped):
        return inner.source, tuple(inner.arguments.args), dict(inner.arguments.kwargs)
    if isinstance(provider, CALLING):
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
