"""`resolver_for`: the resolver of a container or of a mapping."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from toolkit.errors import ConfigurationError
from toolkit.injection.container import ContainerResolver
from toolkit.injection.mapping import MappingResolver
from toolkit.injection.named_providers import is_container
from toolkit.tools.resolver import Resolver

__all__ = ["resolver_for"]


def resolver_for(container: Any) -> Resolver:
    """A resolver for a dependency-injector container, or for a mapping of names or types to callables.

    App-wide objects of the container belong to an application: open it with `application(container)` first.

    Raises:
        ConfigurationError: it is neither.
    """
    if is_container(container):
        return ContainerResolver(container, None)
    if isinstance(container, Mapping):
        return MappingResolver(cast("Mapping[Any, Any]", container))
    raise ConfigurationError(
        f"there is no resolver for {container!r}; give a dependency-injector container, or a mapping of names or types "
        f"to callables"
    )
