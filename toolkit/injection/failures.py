"""Which provider failed: a construction error shows frames of dependency-injector, and never a provider's name."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator, Mapping
from types import CodeType
from typing import Any

from dependency_injector import providers

from toolkit.injection.graph import CyclicDependency, call_of, dependencies, short_label, walk
from toolkit.injection.overlays import AnyProvider, effective
from toolkit.injection.wiring import argument_problems

__all__ = ["note_failure", "path_between"]


def note_failure(
    error: Exception, label: str, root: AnyProvider, culprit: AnyProvider | None = None, *, names_root: bool = True
) -> None:
    """Notes on an error what was being built: `while building provider 'weather' -> WeatherClient -> open_http`.

    Args:
        error: What was raised.
        label: What was asked for.
        root: The provider that it is built by.
        culprit: The provider that failed, where that is known.
        names_root: The label says what the root is.
    """
    if isinstance(error, CyclicDependency):
        return  # it says more than that
    culprit = culprit or _culprit(error, root)
    path = () if culprit is None else path_between(root, culprit)[names_root:]
    error.add_note("while building " + " -> ".join((label, *path)))


def path_between(
    root: AnyProvider, target: AnyProvider, names: Mapping[AnyProvider, str] | None = None
) -> tuple[str, ...]:
    """How one gets from a provider to one below it, by what they call; both included.

    Args:
        names: The names of providers, which say more than what they call: see `names_by_provider`.
    """
    seen: set[AnyProvider] = set()
    named = names or {}

    def label(provider: AnyProvider) -> str:
        return f"'{named[provider]}'" if provider in named else short_label(provider)

    def found(provider: AnyProvider) -> tuple[str, ...]:
        provider = effective(provider)
        if provider in seen:
            return ()
        seen.add(provider)
        if provider is target:
            return (label(provider),)
        for dependency in dependencies(provider):
            if rest := found(dependency):
                return (label(provider), *rest)
        return ()

    return found(root)


def _culprit(error: Exception, root: AnyProvider) -> AnyProvider | None:
    """The provider whose source raised the error; None when that can't be told."""
    nodes = list(walk(root))
    traceback = error.__traceback__
    while traceback is not None:  # the outermost frame of a source: what it calls itself is its own affair
        for node in nodes:
            if traceback.tb_frame.f_code in _codes_of(call_of(node)[0]):
                return node
        traceback = traceback.tb_next
    if isinstance(error, TypeError):  # arguments that don't fit: the source has no frame
        return next((node for node in nodes if any(argument_problems(*call_of(node)))), None)
    for node in nodes:
        if isinstance(node, providers.ConfigurationOption) and f'"{short_label(node)}"' in str(error):
            return node
    return None


def _codes_of(source: Any) -> Iterator[CodeType]:
    """The code of a function, or what runs when a class is called."""
    while isinstance(source, functools.partial):
        source = source.func
    if isinstance(source, type):
        for base in source.__mro__[:-1]:
            for name in ("__init__", "__new__", "__post_init__"):
                member: Any = vars(base).get(name)
                code = getattr(inspect.unwrap(getattr(member, "__func__", member)), "__code__", None)
                if code is not None:
                    yield code
        return
    called: Any = source
    while called is not None:
        code = getattr(getattr(called, "__func__", called), "__code__", None)
        if code is not None:
            yield code
        elif not inspect.isroutine(called):
            yield from _codes_of(inspect.getattr_static(called, "__call__", None))
        called = getattr(called, "__wrapped__", None)
