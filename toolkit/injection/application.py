"""`application`: a container that is checked and open, whose agents can be run."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol, cast

from msgspec import UNSET
from msgspec.structs import replace

from toolkit.context import Event
from toolkit.errors import ConfigurationError
from toolkit.injection.checks import check
from toolkit.injection.container import ContainerResolver
from toolkit.injection.graph import describe, is_container, walk
from toolkit.injection.providers import AppScoped
from toolkit.injection.scopes import Scope
from toolkit.messages import Message, Part
from toolkit.records import Run
from toolkit.tools.parameters import label_of
from toolkit.tools.resolver import Recipe

__all__ = ["App", "RunnableAgent", "application"]


class EventStream(Protocol):
    """What `agent.stream(...)` gives inside its block."""

    @property
    def run(self) -> Run[Any]: ...

    def __aiter__(self) -> AsyncIterator[Event]: ...


class RunnableAgent(Protocol):
    """An agent bound to an application. What the arguments mean stands at `toolkit.Agent.run`."""

    async def run(
        self,
        prompt: str | Sequence[Part],
        *,
        tools: Sequence[Any] = (),
        context: Any = None,
        metadata: Mapping[str, Any] | None = None,
        actor_id: str | None = None,
        session_id: str | None = None,
        messages: Sequence[Message] = (),
        state: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        values: Mapping[type, Any] | None = None,
        model: Any = None,
        settings: Any = None,
    ) -> Run[Any]: ...

    def run_sync(self, prompt: str | Sequence[Part], **options: Any) -> Run[Any]: ...

    def stream(self, prompt: str | Sequence[Part], **options: Any) -> AbstractAsyncContextManager[EventStream]: ...


class App:
    """An open application. `container` is its container."""

    def __init__(self, container: Any) -> None:
        self.container = container
        self._scope = Scope("app")
        self._resolver = ContainerResolver(container, self._scope)
        self._scoped: list[AppScoped[Any]] = list(container.traverse(types=[AppScoped]))

    def agent(self, name: str = "agent") -> RunnableAgent:
        """The agent of a provider, bound to this application.

        Each of its runs builds the agent, its model, hooks and tools anew, under the overrides of whoever starts the
        run, however old the bound agent is. What can be worked out once is kept.

        Raises:
            ConfigurationError: there is no such provider, or it gives no agent.
        """
        recipe = self._resolver.named(name)
        product: Any = recipe.product if recipe.instance is UNSET else cast("Any", type(recipe.instance))
        bind = getattr(product, "bound_to", None)
        if bind is None:
            gives = "something that is not known before it is built" if product is None else label_of(product)
            raise ConfigurationError(
                f"provider '{name}' gives {gives}, and no agent; declare it as provide(Agent, ...), or annotate what "
                f"its function returns"
            )
        return cast("RunnableAgent", bind(self._resolver, replace(recipe, is_owned=False)))

    async def open(self, timeout: float | None) -> None:
        """Opens what is reachable, but for what is replaced here: a fake must not outlive its block."""
        for scoped in self._scoped:
            scoped.open_in.append(self._scope)
        opening = self._resolver.open_run({}, timeout)
        for scoped in _reachable(self.container):
            await opening.build(Recipe(describe(scoped), key=scoped))

    async def close(self, error: BaseException | None, timeout: float | None) -> list[BaseException]:
        """Closes what was opened, and gives what went wrong."""
        try:
            return await self._scope.close(error, timeout)
        finally:
            for scoped in self._scoped:
                scoped.open_in.remove(self._scope)


@asynccontextmanager
async def application(
    container: Any, *, open_timeout: float | None = 30.0, close_timeout: float | None = 10.0
) -> AsyncGenerator[App, None]:
    """Checks a container, opens its `AppScoped` objects, and closes them at the end, last opened first.

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
        raise ConfigurationError(f"application takes a container, such as Application(); it was given {container!r}")
    check(container)
    app = App(container)
    error: BaseException | None = None
    try:
        await app.open(open_timeout)
        yield app
    except BaseException as raised:
        error = raised
        raise
    finally:
        failed = await app.close(error, close_timeout)
        if failed and error is not None:
            for late in failed:
                error.add_note(f"also, while the application was closed: {late!r}")
        elif len(failed) == 1:
            raise failed[0]
        elif failed:
            raise BaseExceptionGroup("errors while the application was closed", failed)


def _reachable(container: Any) -> list[AppScoped[Any]]:
    """The `AppScoped` providers, dependencies first, each once. One that is overridden answers as another provider."""
    found: dict[AppScoped[Any], None] = {}
    for provider in container.providers.values():
        for node in walk(provider):
            if isinstance(node, AppScoped):
                found.setdefault(node)
    return list(found)
