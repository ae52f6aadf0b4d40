"""The seam between a run and a container: the run knows only these Protocols.

A `Resolver` lives as long as the application, a `RunScope` as long as a run. `toolkit.injection` has one for a
dependency-injector container and one for a mapping of callables; any other container needs these few methods.
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Set
from typing import Any, Protocol, runtime_checkable

from msgspec import UNSET, Struct

from toolkit.tools.parameters import Parameter

__all__ = ["Recipe", "Resolver", "RunScope"]


class Recipe(Struct, frozen=True, eq=False):
    """How one object comes about, found without building it.

    Attributes:
        label: For error texts, such as `"provider 'weather'"`.
        product: Its class, a function tool, or the object itself; None when that is known only once it is built.
        key: What the resolver builds it by.
        identity: The same object (by `is`) for two listings of one tool: its provider, its class, or itself.
        is_owned: It is made anew for each run, so the run closes it.
        instance: The object, when it is there already: shared by all runs, closed by none.
    """

    label: str
    product: Any = None
    key: Any = None
    identity: Any = None
    is_owned: bool = False
    instance: Any = UNSET


class RunScope(Protocol):
    """What one run opened. Its methods are called in the run's owner task, but for `build_for_call`.

    Attributes:
        open_timeout: Seconds for opening one object; the run sets its agent's once it has the agent.
    """

    open_timeout: float | None

    def ready(self, recipe: Recipe, memory: dict[Any, Any]) -> Any:
        """The object, when it is there from another run and a new one would be the same; else UNSET, and it is built.

        Only an agent is kept so, in the resolver's memory."""
        ...

    def build(self, recipe: Recipe) -> Coroutine[Any, Any, Any]:
        """The object, with all that it needs opened first. An owned object with `aclose` or `close` is kept to be
        closed. Raises what its construction raised, with notes of what was being built."""
        ...

    async def prepare_for_call(self, recipes: Mapping[str, Recipe]) -> None:
        """Opens what the values of a call need that outlives it, so that `build_for_call` opens nothing of the run."""
        ...

    async def build_for_call(self, recipes: Mapping[str, Recipe]) -> tuple[dict[str, Any], RunScope | None]:
        """Values for a handler's injected parameters, and the scope of what lives for this call only, if any.

        Called in the call's own task after `prepare_for_call`; that scope is closed in the same task. What it opened is
        closed again when it raises.
        """
        ...

    def close_at_once(self) -> bool:
        """As `close`, where nothing has to be closed; else False, and nothing was done."""
        ...

    async def close(self, error: BaseException | None, timeout: float | None) -> list[BaseException]:
        """Closes everything, last opened first, each within `timeout` seconds, all of them.

        Args:
            error: What the run ended with; generators see it.

        Returns:
            What went wrong, in the order in which it did.
        """
        ...


@runtime_checkable
class Resolver(Protocol):
    """Finds how to build things, and opens the scope of a run. Built for one application."""

    def tool(self, listed: Any, value_types: Set[type]) -> Recipe:
        """The recipe of a listed tool: a class, a name, a provider, a function tool or an instance.

        Args:
            value_types: Types of which the run has a value.

        Raises:
            ConfigurationError: it can't be built, with the candidates.
        """
        ...

    def parameter(self, parameter: Parameter, owner: str, value_types: Set[type]) -> Recipe | None:
        """The recipe for a parameter marked `Inject`; None when nothing matches and its default stands.

        Raises:
            ConfigurationError: nothing matches, or more than one does.
        """
        ...

    def memory(self) -> dict[Any, Any]:
        """A place to keep what was worked out for the container as it is overridden now."""
        ...

    def open_run(self, values: Mapping[type, Any], open_timeout: float | None) -> RunScope:
        """A scope in which the values are known by their types. Nothing is opened yet."""
        ...
