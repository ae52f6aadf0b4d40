"""`overriding`: providers replaced for the runs that this task and its children start inside a block."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

from dependency_injector import providers

from toolkit.errors import ConfigurationError
from toolkit.injection.graph import (
    CONTAINERS,
    RESOURCES,
    answering,
    below_in_any_branch,
    describe,
    everything_in,
    product_of,
    walk,
)
from toolkit.injection.named_providers import as_in, is_container, names_in, own_provider, provider_at
from toolkit.injection.nearest import names_near
from toolkit.injection.overlays import AnyProvider, Layer, active_layers, dispatch, effective, original_of
from toolkit.injection.providers import AppScoped, arguments_of
from toolkit.injection.twins import BlockTwin, OptionTwin, RunTwin
from toolkit.tools.parameters import label_of

__all__ = ["classes_for_objects", "overriding"]


@contextmanager
def overriding(
    container: Any, replacements: Mapping[Any, Any] | None = None, /, **by_name: Any
) -> Generator[None, None, None]:
    """Replaces providers for the runs that are started inside the block, by this task and its children only.

    Concurrent tests with overlapping overrides of one container never see each other's, and nothing that was built
    with a fake outlives the block: singletons above it get twins of their own, app-wide objects one in each run.

    Args:
        container: A container (not its class).
        replacements: `{provider: value}`, or a name in quotes, which may be nested: `{"tools.http": fake}`,
            `{"config.http.timeout": 5}`.
        by_name: `weather_client=fake`. A provider replaces; any other value is used as it is, also a class: it is not
            called, but in the place of a tool. An error that leaves the block says so where an object was expected.

    Raises:
        ConfigurationError: the container has no such provider, or it is replaced by itself.

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
    if not is_container(container):
        hint = (
            f"{label_of(container)} is a class; pass an instance" if isinstance(container, type) else f"{container!r}"
        )
        raise ConfigurationError(f"overriding takes a container, and it was given another thing: {hint}")
    wanted = {**(replacements or {}), **by_name}
    layer = _layer_of(container, wanted)
    classes = list(classes_for_objects(container, wanted))
    active_layers.set((*active_layers.get(), layer))
    try:
        _refuse_circles(container, wanted)
        _add_twins(container, layer)
        yield
    except Exception as error:
        for text in classes:
            error.add_note(text)
        raise
    finally:
        # Not a token's reset: blocks may end in another order than they began in.
        active_layers.set(tuple(active for active in active_layers.get() if active is not layer))


def _refuse_circles(container: Any, wanted: Mapping[Any, Any]) -> None:
    """Refuses what is replaced by itself, also by way of others, here or in a block around this one."""
    for key in wanted:
        target = _target(container, key)
        try:
            effective(target)
        except ConfigurationError:
            name = repr(key) if isinstance(key, str) else describe(target)
            raise ConfigurationError(
                f"{name} is replaced by itself, or by others that are replaced by it; nothing is left that could answer"
            ) from None


def classes_for_objects(container: Any, wanted: Mapping[Any, Any]) -> Iterator[str]:
    """What is to be known where a class replaces a provider of objects, and something fails: it may be meant so."""
    for key, value in wanted.items() if is_container(container) else ():
        product = product_of(answering(_target(container, key)))
        if not isinstance(value, type) or not isinstance(product, type) or hasattr(product, "handler"):
            continue  # a class in the place of a tool is built as a listed one is
        name, given = repr(key) if isinstance(key, str) else label_of(product), label_of(value)
        yield (
            f"{name} gives an object of {label_of(product)}, and was replaced by the class {given} itself, which "
            f"nothing calls; to give an object of it, replace by {given}() or providers.Factory({given})"
        )


def _layer_of(container: Any, wanted: dict[Any, Any]) -> Layer:
    layer = Layer()
    for key, value in wanted.items():
        target = _target(container, key)
        if isinstance(target, providers.ConfigurationOption):
            root, value = _configuration_with(target, value, layer)
            layer.replacements[root] = value
        else:
            layer.replacements[target] = _replacement(container, value)
    for target in layer.replacements:
        layer.grounds.append(dispatch(target, layer))
    return layer


def _target(container: Any, key: Any) -> AnyProvider:
    if isinstance(key, str):
        target = _target_at(container, key)
    else:
        target = own_provider(container, key) if providers.is_provider(key) else None
        if target is not None and target not in everything_in(container.providers.values()):
            target = None
    if target is None:
        near = names_near(key if isinstance(key, str) else "", (name for name, _ in names_in(container)))
        raise ConfigurationError(f"the container has no provider {key!r} to override; {near}")
    if isinstance(target, CONTAINERS):
        raise ConfigurationError(
            f"{key!r} is a container inside the container; override what is in it, by a nested name: "
            f"{{'{key if isinstance(key, str) else 'tools'}.http': fake}}"
        )
    return target


def _target_at(container: Any, path: str) -> AnyProvider | None:
    """The provider of a nested name, which may lead to an option of a configuration."""
    found = provider_at(container, path)
    if found is not None:
        return found
    names = path.split(".")
    for length in range(1, len(names)):
        found = provider_at(container, ".".join(names[:length]))
        if isinstance(found, providers.Configuration):
            return providers.ConfigurationOption(cast("Any", tuple(names[length:])), found)
    return None


def _configuration_with(option: Any, value: Any, layer: Layer) -> tuple[AnyProvider, AnyProvider]:
    """The configuration of an option, and what replaces it: the same but for that option."""
    root: AnyProvider = option._get_root()
    replaced: Any = layer.replacements.get(root)
    settings = _with_option((root if replaced is None else replaced)(), option._get_self_name().split("."), value)
    return root, providers.Object(settings)


def _with_option(settings: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value() if providers.is_provider(value) else value
    inner: dict[str, Any] = dict(cast("Any", settings)) if isinstance(settings, Mapping) else {}
    inner[path[0]] = _with_option(inner.get(path[0]), path[1:], value)
    return inner


def _replacement(container: Any, value: Any) -> AnyProvider:
    return as_in(container, cast("AnyProvider", value)) if providers.is_provider(value) else providers.Object(value)


def _add_twins(container: Any, layer: Layer) -> None:
    """What is kept for longer than the block, and is built from something replaced, gets a twin inside the layer."""
    replaced = frozenset(layer.replacements.values())
    own = everything_in(container.providers.values())
    brought = set(everything_in(replaced)).difference(own)
    # Options first: to walk past a Selector reads the one that chooses, which without its twin would keep what it read.
    for provider in sorted((*own, *brought), key=lambda found: not isinstance(found, providers.ConfigurationOption)):
        if provider in layer.replacements or not _answers_for_itself(provider):
            continue
        # The application is open already: what a fake brings along is opened by each run.
        is_of_the_fake = isinstance(provider, AppScoped) and provider in brought
        # What the application has opened already stays as it is, whichever branch is selected later.
        below = walk(provider) if isinstance(provider, AppScoped) else below_in_any_branch(provider)
        if is_of_the_fake or not replaced.isdisjoint(below):
            layer.replacements[provider] = _twin_of(provider)
            layer.grounds.append(dispatch(provider, layer))


def _answers_for_itself(provider: AnyProvider) -> bool:
    """False for one that keeps nothing, or that another provider stands on, but for a twin of it."""
    if not isinstance(provider, _KEEPING):
        return False
    answers = effective(provider)
    return answers is provider or original_of(answers) is provider


_KEEPING = (providers.BaseSingleton, AppScoped, providers.ConfigurationOption, *RESOURCES)


def _twin_of(provider: AnyProvider) -> AnyProvider:
    if isinstance(provider, AppScoped):
        return RunTwin.of(provider, provider.source, provider.arguments)
    if isinstance(provider, providers.ConfigurationOption):
        return OptionTwin(provider)
    if isinstance(provider, RESOURCES):
        resource = cast("Any", provider)
        return RunTwin.of(provider, resource.provides, arguments_of(*resource.args, **resource.kwargs))
    return BlockTwin(provider)
