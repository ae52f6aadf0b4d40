"""Providers that give a future, and so turn all that is built from them into futures: a tool would get no client.

dependency-injector does so for a coroutine function, an async generator or async context manager of a `Resource`, and
an async method that is called by `.provided`; after the first future a provider stays in its async mode for good.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator
from types import CoroutineType
from typing import Any, cast

from dependency_injector import providers

from toolkit.errors import ConfigurationError
from toolkit.injection.graph import CALLING, RESOURCES, call_of, describe, product_of, walk
from toolkit.injection.overlays import AnyProvider
from toolkit.injection.sources import Kind, kind_of, plain_source, product_of_source
from toolkit.tools.cancellation import leave_unheard
from toolkit.tools.parameters import label_of

__all__ = ["FUTURES", "misuses_in", "refused_future"]

FUTURES = (asyncio.Future, CoroutineType)
"""What is not there yet. Looked for in everything that a run builds, so in a single step."""

_INSTEAD = "declare it as RunScoped(...) or AppScoped(...)"
_TURNS = "turns all that is built from it into futures"


def misuses_in(nodes: Iterable[AnyProvider]) -> Iterator[tuple[AnyProvider, str]]:
    """The providers that can't be below something that a run builds, each with the reason.

    Args:
        nodes: As `walk` gives them: dependencies first, so that what another one put into async mode is not blamed.
    """
    found_one = False
    for node in nodes:
        misuse = _misuse_of(node)
        if misuse is not None:
            yield node, misuse
        elif not found_one and cast("Any", node).is_async_mode_enabled():
            misuse = f"{_named(node)} is in dependency-injector's async mode, and so {_TURNS}; {_INSTEAD}"
            yield node, misuse
        found_one = found_one or misuse is not None


def _misuse_of(node: AnyProvider) -> str | None:
    """Why a provider can't be below something that a run builds, as it is declared; None when it can."""
    if isinstance(node, providers.Coroutine):
        return f"{describe(node)} gives a coroutine, and so {_TURNS}; {_INSTEAD}"
    if isinstance(node, providers.Object):
        return _misuse_of_object(cast("Any", node).provides)
    source = _source_of(node)
    if source is None:
        return None
    kind = kind_of(source)
    if kind in (Kind.GENERATOR, Kind.ASYNC_GENERATOR) and not isinstance(node, RESOURCES):
        what = "an async generator" if kind.is_async else "a generator"
        return f"{describe(node)} gives {what} that nobody opens; {_INSTEAD}"
    if kind.is_async or _gives_a_future(source) or (isinstance(node, RESOURCES) and _is_entered(source)):
        return f"{_named(node)} {_TURNS}; {_INSTEAD}"
    return None


def refused_future(made: Any, root: AnyProvider) -> tuple[AnyProvider, ConfigurationError]:
    """The provider that gave a future (one of `FUTURES`) where an object was to be built, and the error.

    For what can't be known before it is called, such as a function that gives a coroutine and does not say so.
    """
    made = asyncio.ensure_future(made)
    made.add_done_callback(leave_unheard)
    nodes = list(walk(root))
    culprit = next((node for node in nodes if cast("Any", node).is_async_mode_enabled()), nodes[-1])
    return culprit, ConfigurationError(f"{_named(culprit)} gave a future where an object was needed; {_INSTEAD}")


def _misuse_of_object(value: Any) -> str | None:
    if not isinstance(value, FUTURES):
        return None
    return f"Object({type(cast('object', value)).__name__}) {_TURNS}; await it in a coroutine function, and {_INSTEAD}"


def _source_of(node: AnyProvider) -> Callable[..., Any] | None:
    """What a provider calls when it is called itself; None where that is nothing, or can't be known."""
    if isinstance(node, RESOURCES):
        source: Any = cast("Any", node).provides
        return plain_source(source) if callable(source) else None
    if isinstance(node, providers.MethodCaller):
        return _method_of(cast("Any", node).provides)
    if isinstance(node, CALLING):
        return cast("Callable[..., Any] | None", call_of(node)[0])
    return None


def _method_of(member: Any) -> Callable[..., Any] | None:
    """The method that `service.provided.connect` stands for, where the class of the service is known."""
    if not isinstance(member, providers.AttributeGetter):
        return None
    instance: Any = cast("Any", member).provides
    if not isinstance(instance, providers.ProvidedInstance):
        return None
    product = product_of(cast("Any", instance).provides)
    method: Any = getattr(product, cast("Any", member).name, None) if isinstance(product, type) else None
    return method if callable(method) else None


def _gives_a_future(source: Callable[..., Any]) -> bool:
    """It says that it gives one: an annotation, or the class of futures itself. Other awaitables are objects."""
    product = product_of_source(source)
    return isinstance(product, type) and issubclass(product, (asyncio.Future, Coroutine))


def _is_entered(source: Callable[..., Any]) -> bool:
    """A `Resource` enters what has `__aenter__`, in a future."""
    return hasattr(product_of_source(source), "__aenter__")


def _named(node: AnyProvider) -> str:
    """As `describe`; also for those whose source `graph.call_of` does not tell."""
    source = _source_of(node)
    return describe(node) if source is None else f"{type(node).__name__}({label_of(source)})"
