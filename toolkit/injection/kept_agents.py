"""An agent that would be made of the same objects as before is the same agent, and is not made again.

Nothing of a run is in an agent, so nobody can tell. To see that nothing has changed costs a fraction of making it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar, cast

from dependency_injector import providers
from msgspec import UNSET, Struct

from toolkit.injection.graph import walk
from toolkit.injection.overlays import AnyProvider, effective, overriding_of
from toolkit.injection.providers import AppScoped, Literal, Scoped
from toolkit.injection.twins import ApplicationTwin

__all__ = ["AgentFactory", "Declaration", "KeptAgent", "declaration_of", "gives_agents", "kept_agent"]

T = TypeVar("T")


def _counted(name: str) -> Callable[..., Any]:
    change: Callable[..., Any] = getattr(providers.Factory, name)

    @functools.wraps(change)
    def counted(self: AgentFactory[Any], *args: Any, **kwargs: Any) -> Any:
        self.changes += 1
        return change(self, *args, **kwargs)

    return counted


class AgentFactory(providers.Factory[T]):
    """A `Factory` that counts the changes of its declaration: to read that takes longer than all else that is compared.

    Attributes:
        changes: How often it was changed, by `add_kwargs` and its likes.
    """

    changes = 0

    if not TYPE_CHECKING:
        set_provides = _counted("set_provides")
        add_args = _counted("add_args")
        set_args = _counted("set_args")
        clear_args = _counted("clear_args")
        add_kwargs = _counted("add_kwargs")
        set_kwargs = _counted("set_kwargs")
        clear_kwargs = _counted("clear_kwargs")
        add_attributes = _counted("add_attributes")
        set_attributes = _counted("set_attributes")
        clear_attributes = _counted("clear_attributes")


class Declaration(Struct, frozen=True, eq=False):
    """What the provider of an agent was declared with, which `add_kwargs` and its likes change at any time.

    Attributes:
        making: The provider.
        arguments: Those that it had, which have to live as long as their identity is compared.
        read: Gives what stands for all of it.
        found: What that was.
    """

    making: Any
    arguments: dict[str, Any]
    read: Callable[[Any], Any]
    found: Any

    def has_changed(self) -> bool:
        """Whether the provider was declared otherwise since."""
        return bool(self.read(self.making) != self.found)


def declaration_of(provider: AnyProvider) -> Declaration | None:
    """What the provider that answers for this one is declared with now; None where it is not one of agents."""
    making = cast("Any", effective(provider))
    if type(making) not in (AgentFactory, providers.Factory) or not gives_agents(making.provides):
        return None
    read = _changes_of if isinstance(making, AgentFactory) else _declared
    return Declaration(making, making.kwargs, read, read(making))


_changes_of: Callable[[Any], Any] = attrgetter("changes")


def _declared(making: Any) -> Any:
    """What a `Factory` has got, with the identity of each: what is equal is another all the same."""
    kwargs = making.kwargs
    return making.provides, making.args, making.attributes, [*kwargs], [*map(id, kwargs.values())]


class _Kept(Struct, frozen=True, eq=False):
    """An agent, the objects that it was made of, and the lists among them.

    Attributes:
        opened: Those of the application, by their places in it.
        lists: Each with the identities of its items.
        items: Those items, which have to live for that.
    """

    agent: Any
    objects: list[tuple[AnyProvider, Any]]
    opened: list[tuple[AnyProvider, Any]]
    lists: list[tuple[list[Any], list[int]]]
    items: list[Any]


class KeptAgent(Struct, eq=False):
    """The agent that a provider made last, and what it was made of.

    Attributes:
        declaration: What the provider is declared with.
        asked: Those of its arguments that are asked for their object, which is the same until it is reset.
        app_wide: Those that the application keeps, and the place of each in it.
        lists: Those that are lists; an asked object may be one, too.
        nodes: What it needs that the container does not name: what stands on these is looked at each time.
        overridings: What stood on each of them then.
    """

    declaration: Declaration
    asked: list[AnyProvider]
    app_wide: list[tuple[AnyProvider, AnyProvider]]
    lists: list[list[Any]]
    nodes: tuple[AnyProvider, ...]
    overridings: list[AnyProvider | None]
    _last: _Kept | None = None

    def agent(self, app_wide: Mapping[Any, Any]) -> Any:
        """The agent, when the provider would make the same one now; else UNSET.

        Args:
            app_wide: The objects of the application.
        """
        last, declaration = self._last, self.declaration
        if last is None or declaration.read(declaration.making) != declaration.found:
            return UNSET
        if self.nodes and [*map(overriding_of, self.nodes)] != self.overridings:
            return UNSET
        for provider, given in last.objects:
            if provider() is not given:
                return UNSET
        for place, given in last.opened:
            if app_wide.get(place, UNSET) is not given:  # the application is closed
                return UNSET
        for listed, ids in last.lists:
            if [*map(id, listed)] != ids:  # what is equal is another all the same, such as a hook that counts
                return UNSET
        return last.agent

    def made(self, provider: AnyProvider) -> Any:
        """An agent that the provider makes. It is kept."""
        # Asked before it is made: what another thread changes meanwhile then shows at the next look.
        objects = [(asked, asked()) for asked in self.asked]
        opened = [(place, asked()) for asked, place in self.app_wide]
        lists = [*self.lists, *(_list(given) for _, given in (*objects, *opened) if isinstance(given, list))]
        items = [[*listed] for listed in lists]
        agent = provider()
        if gives_agents(type(agent)):
            ids = [[*map(id, listed)] for listed in items]
            # In one step, since threads share it.
            self._last = _Kept(agent, objects, opened, [*zip(lists, ids, strict=True)], items)
        return agent


def gives_agents(source: Any) -> bool:
    """True for `Agent`, whose constructor is known; not for a subclass, whose own may do anything."""
    return isinstance(source, type) and "bound_to" in vars(source)


def kept_agent(declaration: Declaration, unnamed: Iterable[AnyProvider]) -> KeptAgent | None:
    """How to keep the agent of a provider; None where it can't be told what would come out.

    That is so where an argument is made anew each time, or has something below that belongs to whoever asks: a
    singleton may be reset, and would be built in the wrong scope.
    """
    if declaration.making.args or declaration.making.attributes:
        return None
    nodes = tuple(unnamed)
    kept = KeptAgent(declaration, [], [], [], nodes, [*map(overriding_of, nodes)])
    for value in declaration.arguments.values():
        given = effective(value) if providers.is_provider(value) else Literal[Any](value)
        if type(given) is Literal:
            held: Any = cast("Any", given).value
            if isinstance(held, list):
                kept.lists.append(_list(held))
        elif providers.is_delegated(value):
            return None
        elif type(given) is AppScoped:
            kept.app_wide.append((cast("AnyProvider", value), cast("AnyProvider", given)))
        elif isinstance(given, ApplicationTwin):
            kept.app_wide.append((cast("AnyProvider", value), given.original))
        elif isinstance(given, providers.BaseSingleton) or type(given) is providers.Object:
            if any(isinstance(node, Scoped) for node in walk(cast("AnyProvider", given))):
                return None
            kept.asked.append(cast("AnyProvider", value))
        else:
            return None
    return kept


def _list(given: Any) -> list[Any]:
    return cast("list[Any]", given)
