"""Declarations whose arguments type checkers check."""

from __future__ import annotations

import typing
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

from dependency_injector import providers

from toolkit.errors import ConfigurationError
from toolkit.injection.kept_agents import AgentFactory, gives_agents
from toolkit.injection.providers import as_argument

__all__ = ["dep", "provide"]

P = ParamSpec("P")
T = TypeVar("T")


def provide(cls: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> providers.Factory[T]:
    """A `Factory` of `cls` whose arguments mypy and pyright check against its constructor.

    Args:
        cls: A class or function; each call of the provider calls it.
        args, kwargs: Its arguments: `dep(provider)` for what a provider gives; anything else is passed as it is, and
            never copied (a plain `Factory` copies such values).

    Example:
        >>> from dependency_injector import providers
        >>> class Greeter:
        ...     def __init__(self, greeting: str) -> None:
        ...         self.greeting = greeting
        >>> provide(Greeter, greeting=dep(providers.Object("Hello")))().greeting
        'Hello'
    """
    if not callable(cls):
        raise ConfigurationError(f"provide takes a class or function and its arguments; it was given {cls!r}")
    source: Callable[..., T] = typing.get_origin(cls) or cls  # `Agent[Answer]` says to type checkers what it gives
    kind: Any = AgentFactory if gives_agents(source) else providers.Factory
    factory: providers.Factory[T] = kind(
        source, *(as_argument(value) for value in args), **{name: as_argument(value) for name, value in kwargs.items()}
    )
    return factory


def dep(provider: providers.Provider[T], /) -> T:
    """Stands for what a provider gives, in the arguments of `provide`. At run time it is the provider itself."""
    if not providers.is_provider(provider):
        raise ConfigurationError(f"dep takes a provider of a container; it was given {provider!r}")
    return cast("T", provider)
