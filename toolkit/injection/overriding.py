"""`overriding`: providers replaced for the runs that this task and its children start inside a block."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, cast

from dependency_injector import providers

from toolkit.errors import ConfigurationError
from toolkit.injection.graph import own_provider, provider_at, walk
from toolkit.injection.overlays import AnyProvider, Layer, active_layers, dispatch
from toolkit.injection.providers import AppScoped, RunScoped

__all__ = ["overriding"]


@contextmanager
def overriding(
    container: Any, replacements: Mapping[Any, Any] | None = None, /, **by_name: Any
) -> Generator[None, None, None]:
    """Replaces providers for the runs that are started inside the block, by this task and its children only.

    Concurrent tests with overlapping overrides of one container never see each other's, and nothing that was built
    with a fake outlives the block: singletons and app-wide objects above it get twins of their own.

    Args:
        container: A container (not its class).
        replacements: `{provider: value}`, or a name in quotes, which may be nested: `{"tools.http": fake}`.
        by_name: `weather_client=fake`. A provider replaces; any other value is used as it is.

    Raises:
        ConfigurationError: the container has no such provider.

    Example:
        >>> from dependency_injector import containers, providers
        >>> class Application(containers.DeclarativeContainer):
        ...     greeting = providers.Object("Hello")
        >>> container = Application()
        >>> with overriding(container, greeting="Hi"):
        ...     container.greeting()
        'Hi'
        >>> container.greeting()
        'Hello'
    """
    layer = Layer()
    for key, value in {**(replacements or {}), **by_name}.items():
        target = _target(container, key)
        layer.replacements[target] = _replacement(value)
        dispatch(target)
    active_layers.set((*active_layers.get(), layer))
    try:
        _add_twins(container, layer)
        yield
    finally:
        # Not a token's reset: blocks may end in another order than they began in.
        active_layers.set(tuple(active for active in active_layers.get() if active is not layer))


def _target(container: Any, key: Any) -> AnyProvider:
    if isinstance(container, type):
        raise ConfigurationError(f"overriding takes a container, and {container.__name__} is a class; pass an instance")
    if providers.is_provider(key):
        return own_provider(container, cast("AnyProvider", key))
    found = provider_at(container, key) if isinstance(key, str) else None
    if found is None:
        names = ", ".join(sorted(container.providers))
        raise ConfigurationError(f"the container has no provider {key!r} to override; it has {names}")
    return found


def _replacement(value: Any) -> AnyProvider:
    if not providers.is_provider(value):
        return providers.Object(value)
    if isinstance(value, AppScoped):  # the application is open already: each run opens one of its own
        return _twin_of_app_scoped(cast("Any", value))
    return cast("AnyProvider", value)


def _add_twins(container: Any, layer: Layer) -> None:
    """What is kept for longer than the block, and is built from something replaced, gets a twin inside the layer."""
    replaced = frozenset(layer.replacements.values())
    kept: list[AnyProvider] = list(container.traverse(types=[providers.BaseSingleton, AppScoped]))
    for provider in kept:
        if provider in layer.replacements or replaced.isdisjoint(walk(provider)):
            continue
        twin = _twin_of_app_scoped(provider) if isinstance(provider, AppScoped) else _twin_of_singleton(provider)
        layer.replacements[provider] = twin
        dispatch(provider)


def _twin_of_app_scoped(provider: AppScoped[Any]) -> RunScoped[Any]:
    twin: RunScoped[Any] = RunScoped(provider.source)
    twin.arguments = provider.arguments
    return twin


def _twin_of_singleton(provider: AnyProvider) -> AnyProvider:
    original = cast("Any", provider)
    twin: providers.ThreadSafeSingleton[Any] = providers.ThreadSafeSingleton(
        original.provides, *original.args, **original.kwargs
    )
    twin.add_attributes(**original.attributes)
    return twin
