"""`application`: a container that is checked and open, whose agents can be run."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from dependency_injector import providers
from msgspec import UNSET

from toolkit.errors import ConfigurationError, repr_of
from toolkit.injection.checks import check_wiring
from toolkit.injection.container import ContainerResolver
from toolkit.injection.graph import answering, describe, everything_in, listed_in, product_of, walk
from toolkit.injection.host import ApplicationScope
from toolkit.injection.named_providers import declaring, is_container, names_in, not_a_container, provider_at
from toolkit.injection.overlays import AnyProvider, Dispatcher, active_layers, dispatch
from toolkit.injection.providers import AppScoped
from toolkit.injection.run_scope import OPENING, ContainerScope
from toolkit.injection.runnable import AgentProvider, RunnableAgent
from toolkit.injection.scopes import Scope
from toolkit.injection.survey import is_agent
from toolkit.injection.twins import ApplicationTwin
from toolkit.tools.parameters import label_of
from toolkit.tools.resolver import Recipe

__all__ = ["App", "application"]

T = TypeVar("T")


class App:
    """An open application. `container` is its container.

    Example:
        >>> import asyncio
        >>> from dependency_injector import containers
        >>> from toolkit import Agent
        >>> from toolkit.injection import application, provide
        >>> from toolkit.testing import ScriptedModel, says
        >>> class Application(containers.DeclarativeContainer):
        ...     agent = provide(Agent, tools=[])
        >>> async def main():
        ...     async with application(Application()) as app:
        ...         run = await app.agent().run("Hi", model=ScriptedModel([says("Hello")]))
        ...         print(run.response)
        >>> asyncio.run(main())
        Hello
    """

    def __init__(self, container: Any) -> None:
        self.container = container
        self._scope = ApplicationScope()
        self._grounds: list[Dispatcher] = []
        self._resolver = ContainerResolver(container, self._scope, self._grounds)
        self._embedded: dict[Any, ContainerResolver] = {}
        self._open_in: list[list[Scope]] = []

    @overload
    def agent(self, name: str = "agent") -> RunnableAgent[Any]: ...

    @overload
    def agent(self, provider: AgentProvider[T], /) -> RunnableAgent[T]: ...

    def agent(self, name: str | AgentProvider[Any] = "agent") -> RunnableAgent[Any]:
        """The agent of a provider, bound to this application.

        Each of its runs asks the container for the agent, its model, hooks and tools, under the overrides of whoever
        starts the run, however old the bound agent is. What can be worked out once is kept: also an agent that would
        be made of the very same parts.

        Args:
            name: The provider's name, which may be nested; or the provider itself, the container's own or its class's
                (`Application.agent`), so that type checkers know the output type of its runs.

        Raises:
            ConfigurationError: there is no such provider, or it gives no agent.
        """
        if not isinstance(name, str):
            name = self._resolver.name_of(name)
        provider = self._resolver.provider_named(name)
        product = product_of(answering(provider))
        bind = getattr(product, "bound_to", None)
        if bind is None:
            gives = "something that is not known before it is built" if product is UNSET else label_of(product)
            raise ConfigurationError(
                f"provider '{name}' gives {gives}, and no agent; declare it as provide(Agent, ...), or annotate what "
                f"its function returns"
            )
        # No instance, though one may be there: what replaces the agent here must not be kept for later runs.
        recipe = Recipe(f"provider '{name}'", product=product, key=provider, identity=provider)
        return cast("RunnableAgent[Any]", bind(self._resolver_for(name), recipe))

    if not TYPE_CHECKING:  # a type checker shall go on refusing the name

        def __getattr__(self, name: str) -> Any:
            """Says where a provider that is asked of the application is to be had."""
            text = f"the application has no attribute {name!r}"
            container = vars(self).get("container")  # not there yet in a copy
            provider = None if container is None or name.startswith("_") else provider_at(container, name)
            if provider is not None:
                where = f'app.agent("{name}")' if is_agent(provider) else f"app.container.{name}()"
                text += f", and its container has a provider of that name: {where}"
            raise AttributeError(text, name=name, obj=self)

    def _resolver_for(self, name: str) -> ContainerResolver:
        """The resolver of the container that declares an agent: it finds its tools there, embedded or not."""
        container = declaring(self.container, name)
        if container is self.container:
            return self._resolver
        return self._embedded.setdefault(container, ContainerResolver(container, self._scope, self._grounds))

    async def open(self, open_timeout: float | None, close_timeout: float | None) -> None:
        """Opens what is reachable, but for what is built with something replaced here: a fake must not outlive its
        block. It is opened when a run outside of the block needs it."""
        reachable = [scoped for _, provider in names_in(self.container) for scoped in _app_scoped_below(provider)]
        contextvars.copy_context().run(self._register)
        opening = ContainerScope(OPENING, self._scope, memories=self._resolver, open_timeout=open_timeout)

        async def open_one(scoped: AppScoped[Any]) -> None:
            await opening.build(Recipe(describe(scoped), key=scoped, identity=scoped))

        self._scope.opener = open_one
        self._scope.enter(close_timeout)
        for scoped in reachable:
            if scoped not in self._scope.cache:
                await (self._scope.open(scoped) if _is_asynchronous(scoped) else open_one(scoped))

    async def close(self, error: BaseException | None) -> list[BaseException]:
        """Closes what was opened, and gives what went wrong."""
        try:
            return await self._scope.finish(error)
        finally:
            for open_in in self._open_in:
                open_in.remove(self._scope)
            for resolver in (self._resolver, *self._embedded.values()):
                resolver.forget()

    @property
    def has_cancelled_its_body(self) -> bool:
        """One of its objects failed in the background, so the task that entered the application was cancelled."""
        return self._scope.has_cancelled

    def _register(self) -> None:
        """Makes this application known to what it keeps: routes of a web framework run in no context of its own."""
        active_layers.set(())  # also what is replaced here is registered
        everything = everything_in(self.container.providers.values())
        for provider in everything:
            if isinstance(provider, AppScoped):
                self._open_in.append(provider.open_in)
            elif isinstance(provider, providers.BaseSingleton) and _may_hold_app_wide(provider):
                ground = dispatch(provider)
                if ground.standby is None:
                    ground.standby = ApplicationTwin(provider)
                self._open_in.append(cast("ApplicationTwin", ground.standby).open_in)
                self._grounds.append(ground)
        for open_in in self._open_in:
            open_in.append(self._scope)


@asynccontextmanager
async def application(
    container: Any, *, open_timeout: float | None = 30.0, close_timeout: float | None = 10.0
) -> AsyncGenerator[App, None]:
    """Checks a container, opens its `AppScoped` objects, and closes them at the end, last opened first.

    They are opened and closed in one task of the application's own. When a task group that one of them holds fails in
    the background, the task that entered the application is cancelled, and that failure is raised at the end.

    Args:
        container: A dependency-injector container.
        open_timeout: Seconds that opening one object may take.
        close_timeout: Seconds that closing one object may take.

    Raises:
        ConfigurationError: the container is wired wrongly; every finding is in the text.
        BaseException: what an object raised when it was opened (those opened before it are closed), or what went wrong
            when closing after a good end: the error itself, or a group of several.
    """
    if not is_container(container):
        raise ConfigurationError(not_a_container("application", container))
    check_wiring(container)
    app = App(container)
    error: BaseException | None = None
    try:
        await app.open(open_timeout, close_timeout)
        yield app
    except BaseException as raised:
        error = raised
        raise
    finally:
        failed = await app.close(error)
        if app.has_cancelled_its_body and isinstance(error, asyncio.CancelledError) and failed:
            error = None  # the cancellation only carried the news
        if error is not None:
            for late in failed:
                error.add_note(f"also, while the application was closed: {repr_of(late)}")
        elif failed:
            raise _one_of(failed)


def _is_asynchronous(scoped: AppScoped[Any]) -> bool:
    return any(isinstance(node, AppScoped) and node.kind.is_async for node in walk(scoped))


def _app_scoped_below(provider: AnyProvider) -> Iterator[AppScoped[Any]]:
    """The `AppScoped` providers, dependencies first. One that is overridden answers as another provider.

    What an argument lists (the tools of an agent) is not needed to build it, and belongs to the application all the
    same."""
    for node in walk(provider):
        for listed in listed_in(node):
            yield from _app_scoped_below(listed)
        if isinstance(node, AppScoped):
            yield node


def _may_hold_app_wide(singleton: AnyProvider) -> bool:
    """Whether anything below is `AppScoped`, also where another branch is selected now, or another provider answers."""
    return any(isinstance(below, AppScoped) for below in everything_in([singleton]))


def _one_of(failed: list[BaseException]) -> BaseException:
    """One error, or a group of several; a cancellation stays one."""
    for late in failed:
        if isinstance(late, asyncio.CancelledError):
            for other in failed:
                if other is not late:
                    late.add_note(f"also, while the application was closed: {other!r}")
            return late
    return failed[0] if len(failed) == 1 else BaseExceptionGroup("errors while the application was closed", failed)
