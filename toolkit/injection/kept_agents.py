"""An agent that would be made of the same objects as before is the same agent, and is not made again.

Nothing of a run is in an agent, so nobody can tell. To see that nothing has changed costs a third of making it.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, cast

from dependency_injector import providers
from msgspec import UNSET, Struct

from toolkit.injection.overlays import AnyProvider, effective
from toolkit.injection.providers import Literal

__all__ = ["KeptAgent", "kept_agent"]

_declaration_of: Callable[[Any], Any] = attrgetter("provides", "args", "kwargs", "attributes")


class KeptAgent(Struct, eq=False):
    """The agent that a provider made last, and what it was made of.

    Attributes:
        making: The provider.
        declaration: What it was declared with: `add_kwargs` and its likes change that at any time.
        asked: Those of its arguments that are asked for their object, which is the same until it is reset.
        lists: Those that are lists, which an agent copies when it is made.
    """

    making: Any
    declaration: Any
    asked: list[AnyProvider]
    lists: list[list[Any]]
    _last: tuple[Any, list[tuple[AnyProvider, Any]], list[list[Any]]] | None = None

    def agent(self) -> Any:
        """The agent, when the provider would make the same one now; else UNSET."""
        if self._last is None or _declaration_of(self.making) != self.declaration:
            return UNSET
        agent, objects, copies = self._last
        for provider, given in objects:
            if provider() is not given:
                return UNSET
        return agent if self.lists == copies else UNSET

    def keep(self, agent: Any) -> None:
        """Takes note of an agent that the provider has just made."""
        if _declaration_of(self.making) == self.declaration:
            objects = [(provider, provider()) for provider in self.asked]
            self._last = (agent, objects, [[*given] for given in self.lists])  # in one step, since threads share it


def kept_agent(provider: AnyProvider) -> KeptAgent | None:
    """How to keep the agent of a provider; None where it can't be told what would come out.

    That is so for any other provider, for a subclass, whose constructor may do anything, and where an argument is made
    anew each time.
    """
    making = cast("Any", effective(provider))
    if type(making) not in (providers.Factory,) or making.args or making.attributes:
        return None
    source: Any = making.provides
    if not isinstance(source, type) or "bound_to" not in vars(source):
        return None
    kept = KeptAgent(making, _declaration_of(making), [], [])
    for value in making.kwargs.values():
        given = effective(value) if providers.is_provider(value) else Literal[Any](value)
        if type(given) is Literal:
            held: Any = cast("Any", given).value
            if isinstance(held, list):
                kept.lists.append(cast("list[Any]", held))
        elif isinstance(given, providers.BaseSingleton) or type(given) is providers.Object:
            kept.asked.append(cast("AnyProvider", value))
        else:
            return None
    return kept
