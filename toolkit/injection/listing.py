"""Tools that an agent's provider lists in a `providers.List`, which dependency-injector would build all at once.

Handed on as providers, they are built as all listed tools are: by the run, when the model first calls them, and closed
with it. So it makes no difference whether tools are given as `[weather]` or as `providers.List(weather)`.
"""

from __future__ import annotations

import inspect
from typing import Any, cast

from dependency_injector import providers

from toolkit.injection.graph import call_of
from toolkit.injection.kept_agents import AgentFactory
from toolkit.injection.overlays import AnyProvider, effective, overrides_on
from toolkit.injection.providers import Literal

__all__ = ["listed_tools", "read_of", "with_listed_tools"]


def listed_tools(given: Any) -> Any:
    """The items of a `providers.List`, which may be replaced here and now; anything else as it is."""
    answering = effective(given) if providers.is_provider(given) else given
    return list(cast("Any", answering).args) if type(answering) is providers.List else given


def with_listed_tools(provider: AnyProvider, met: set[AnyProvider] | None = None) -> AnyProvider:
    """A provider of the same agent that hands its listed tools on; any other provider as it is.

    Args:
        provider: Of an agent, or of anything else.
        met: Gets every provider that this depends on.
    """
    met = set() if met is None else met
    met.update(overrides_on(provider))
    making = effective(provider)
    if type(making) not in (AgentFactory, providers.Factory, providers.Callable):
        return provider
    source, args, kwargs = call_of(making)
    if not isinstance(source, type) or not _takes_tools(source):
        return provider
    try:
        bound = inspect.signature(source).bind_partial(*args, **kwargs)
    except TypeError:
        return provider  # to call it says what is wrong
    given = bound.arguments.get("tools")
    if not providers.is_provider(given):
        return provider
    met.update(overrides_on(cast("AnyProvider", given)))
    tools = listed_tools(given)
    if tools is given:
        return provider
    bound.arguments["tools"] = Literal[Any](tools)
    factory: providers.Factory[Any] = providers.Factory(source, *bound.args, **bound.kwargs)
    return factory.add_attributes(**getattr(making, "attributes", {}))


def read_of(provider: AnyProvider) -> list[Any]:
    """What `with_listed_tools` reads of an agent's provider, which `add_kwargs` and its likes change at any time."""
    making = effective(provider)
    source, args, kwargs = call_of(making)
    attributes: dict[str, Any] = getattr(making, "attributes", {})
    read = [source, *kwargs, *attributes, *attributes.values()]
    for value in (*args, *kwargs.values()):
        tools = listed_tools(value)
        read += (value,) if tools is value else (value, *tools)
    return read


def _takes_tools(cls: type) -> bool:
    """True for a class of agents with the constructor of `Agent`: one of its own may look into what it is given."""
    agent = next((parent for parent in cls.__mro__ if "bound_to" in vars(parent)), None)
    return agent is not None and cast("Any", cls).__init__ is cast("Any", agent).__init__
