"""Providers with a lifetime, for a dependency-injector container. Calling one is always synchronous.

dependency-injector declares, configures and overrides; it does not open or close here. Its own resources do that in
tasks of their own and in no fixed order, and one asynchronous provider turns all above it into futures (measured: see
docs/decisions/0002-scopes.md). So a scope opens asynchronous objects first, and then calls the providers.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from dependency_injector import providers
from msgspec import UNSET

from toolkit.errors import ConfigurationError
from toolkit.injection.scopes import Scope
from toolkit.injection.sources import Kind, kind_of, open_sync, plain_source
from toolkit.tools.parameters import label_of

__all__ = [
    "AppScoped",
    "CallScoped",
    "Literal",
    "NotOpened",
    "RunScoped",
    "ScopeValue",
    "Scoped",
    "application_scope",
    "arguments_of",
    "as_argument",
    "current_scope",
]

T = TypeVar("T")

current_scope: ContextVar[Scope | None] = ContextVar("toolwire_scope", default=None)
"""The scope in which providers are being called right now."""


class NotOpened(ConfigurationError):
    """What is opened asynchronously was asked for before its scope had opened it."""


_ARTICLES = {"app": "an application's", "run": "a run's", "call": "a call's"}

ProviderT = TypeVar("ProviderT", bound=providers.Provider[Any])


def _copied(
    provider: ProviderT, memo: dict[Any, Any] | None, fill: Callable[[ProviderT, dict[Any, Any]], None]
) -> ProviderT:
    """The copy for a container instance: dependency-injector copies the providers of the class for each."""
    memo = {} if memo is None else memo
    if (done := memo.get(id(provider))) is not None:
        return cast("ProviderT", done)
    made = cast("Any", type(provider))()
    memo[id(provider)] = made  # before what it depends on, which may lead back to it
    fill(made, memo)
    cast("Any", provider)._copy_overridings(made, memo)
    return cast("ProviderT", made)


class _Call:
    """The arguments that a provider would call its source with. It is the scope that calls."""

    __slots__ = ("args", "kwargs")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args = args
        self.kwargs = kwargs


_NO_ARGUMENTS = _Call()


class Literal(providers.Object[T]):
    """Gives a value as it is, never copied. Providers inside a list or tuple become the container's own."""

    def __init__(self, value: Any = None) -> None:
        super().__init__(value)

    @property
    def value(self) -> Any:
        return self.provides

    def __deepcopy__(self, memo: dict[Any, Any] | None) -> Literal[T]:
        def fill(copied: Literal[T], memo: dict[Any, Any]) -> None:
            copied.set_provides(_with_copied_providers(self.value, memo))

        return _copied(self, memo, fill)

    @property
    def related(self) -> Iterator[providers.Provider[Any]]:
        # What is inside is listed, not injected.
        yield from cast("Any", self).overridden


def _with_copied_providers(value: Any, memo: dict[Any, Any]) -> Any:
    if providers.is_provider(value):
        return providers.deepcopy(value, memo)
    if type(value) in (list, tuple):
        items = cast("list[Any]", value)
        if any(providers.is_provider(item) for item in items):
            return type(items)(_with_copied_providers(item, memo) for item in items)
    return value


def as_argument(value: Any) -> Any:
    """An argument of a provider: another provider, or a value that is passed as it is."""
    return value if providers.is_provider(value) else Literal[Any](value)


def arguments_of(*args: Any, **kwargs: Any) -> providers.Factory[_Call]:
    """A provider of the arguments for a source that a scope calls."""
    return providers.Factory(
        _Call,
        *(as_argument(value) for value in args),
        **{name: as_argument(value) for name, value in kwargs.items()},
    )


class Scoped(providers.Provider[T]):
    """One object per scope, opened and closed by it. The subclasses say which scope."""

    level = ""
    _where = ""  # where it may be asked for, as an error text ends

    source: Callable[..., Any]

    if TYPE_CHECKING:

        @property
        def provided(self) -> Any: ...

    if TYPE_CHECKING:  # a block of its own: beside anything else mypy does not find the implementation of the overloads

        @overload
        def __init__(self, source: type[T], /, *args: Any, **kwargs: Any) -> None: ...
        @overload
        def __init__(self, source: Callable[..., AsyncIterator[T]], /, *args: Any, **kwargs: Any) -> None: ...
        @overload
        def __init__(self, source: Callable[..., Iterator[T]], /, *args: Any, **kwargs: Any) -> None: ...
        @overload
        def __init__(self, source: Callable[..., Awaitable[T]], /, *args: Any, **kwargs: Any) -> None: ...
        @overload
        def __init__(self, source: Callable[..., T], /, *args: Any, **kwargs: Any) -> None: ...

    def __init__(self, source: Any = None, /, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        if source is not None and not callable(source):
            raise ConfigurationError(
                f"{type(self).__name__} takes a class or function and its arguments; it was given {source!r}"
            )
        # None only while a container copies the provider
        self.source = cast("Callable[..., Any]", None if source is None else plain_source(source))
        self.kind = Kind.PLAIN if source is None else kind_of(self.source)
        self.arguments = arguments_of(*args, **kwargs)
        self.open_in: list[Scope] = []

    def __deepcopy__(self, memo: dict[Any, Any] | None) -> Scoped[T]:
        def fill(copied: Scoped[T], memo: dict[Any, Any]) -> None:
            copied.source = self.source
            copied.kind = self.kind
            copied.arguments = providers.deepcopy(self.arguments, memo)

        return _copied(self, memo, fill)

    @property
    def provides(self) -> Any:
        """The class or function."""
        return self.source

    @property
    def related(self) -> Iterator[providers.Provider[Any]]:
        yield from cast("Any", self.arguments).related
        yield from cast("Any", super()).related

    @property
    def arguments(self) -> providers.Factory[_Call]:
        """Gives what the source is called with."""
        return self._arguments

    @arguments.setter
    def arguments(self, arguments: providers.Factory[_Call]) -> None:
        given: Any = arguments
        self._arguments = arguments
        self._takes_nothing = not given.args and not given.kwargs

    def home(self) -> Scope:
        """The scope that keeps the object. Raises `ConfigurationError` outside one."""
        current = current_scope.get()
        scope = None if current is None else current.at(self.level)
        if scope is None:
            raise ConfigurationError(
                f"{type(self).__name__}({label_of(self.source)}) is used outside of {_ARTICLES[self.level]} scope; "
                f"{self._where}"
            )
        return scope

    def call(self) -> _Call:
        """The arguments, built: what is asynchronous among them is open by now."""
        if self._takes_nothing:
            return _NO_ARGUMENTS
        built: Any = self.arguments()
        if isinstance(built, _Call):
            return built
        raise ConfigurationError(
            f"an argument of {type(self).__name__}({label_of(self.source)}) is built in the future, by something "
            f"asynchronous; declare that as RunScoped(...) or AppScoped(...)"
        )

    def _provide(self, args: Any, kwargs: Any) -> Any:
        scope = current_scope.get()
        if scope is None or scope.level != self.level:
            scope = self.home()
        if args or kwargs:
            raise ConfigurationError(
                f"{type(self).__name__}({label_of(self.source)}) is called with arguments, and there is one object for "
                f"all who ask; give them where it is declared"
            )
        try:
            return scope.cache[self]
        except KeyError:
            pass
        if self.kind.is_async:
            raise NotOpened(
                f"{type(self).__name__}({label_of(self.source)}) is opened asynchronously, by the {self.level} scope; "
                f"it can't be opened by calling the provider"
            )
        if scope.is_closed:
            raise ConfigurationError(f"{label_of(self.source)} is asked for after its {self.level} scope was closed")
        call = self.call()
        made, closer = open_sync(self.source, self.kind, call.args, call.kwargs)
        scope.keep(self, made, closer)
        return made


class AppScoped(Scoped[T]):
    """One object per application: opened by `application(container)`, closed with it.

    Args:
        source: A class, a function, a coroutine function, a generator function or an async generator function. A
            generator's code after `yield` (in `try/finally` or `with`) closes the object; of any other object
            `aclose()` or `close()` is called.
        args, kwargs: Its arguments: providers, or values that are passed as they are.

    Example:
        >>> import asyncio
        >>> from dependency_injector import containers
        >>> from toolkit.injection import application
        >>> async def connect():
        ...     print("connected")
        ...     yield "a connection"
        ...     print("closed")
        >>> class Application(containers.DeclarativeContainer):
        ...     db = AppScoped(connect)
        >>> async def main():
        ...     async with application(Application()) as app:
        ...         print("use", app.container.db())
        >>> asyncio.run(main())
        connected
        use a connection
        closed
    """

    level = "app"
    _where = "open one with `async with application(container) as app:`"

    # No constructor of its own: type checkers would not see the overloads.

    def home(self) -> Scope:
        scope = application_scope(self.open_in)
        if scope is not None:
            return scope
        if self.open_in:
            raise ConfigurationError(
                f"AppScoped({label_of(self.source)}) is used outside of a run, and {len(self.open_in)} applications of "
                f"its container are open: which one is meant can't be known; give each a container of its own"
            )
        return super().home()


def application_scope(open_in: list[Scope]) -> Scope | None:
    """The application of the code that runs now: of its run, else the one that is open; None when that is not clear."""
    current = current_scope.get()
    scope = None if current is None else current.at("app")
    return open_in[0] if scope is None and len(open_in) == 1 else scope


class RunScoped(Scoped[T]):
    """One object per run, shared by the run's tools and closed by the run. Takes the same sources as `AppScoped`.

    A generator sees the error that the run ends with: code after a failing `yield` can roll back.

    Example:
        >>> import asyncio
        >>> from dependency_injector import containers
        >>> from toolkit import Agent, Tool
        >>> from toolkit.injection import application, dep, provide
        >>> from toolkit.testing import ScriptedModel, call, calls, says
        >>> async def begin():
        ...     yield "a transaction"
        ...     print("committed")
        >>> class Save(Tool):
        ...     "Save it."
        ...     def __init__(self, transaction: str) -> None:
        ...         self.transaction = transaction
        ...     async def handler(self) -> str:
        ...         return f"saved in {self.transaction}"
        >>> class Application(containers.DeclarativeContainer):
        ...     transaction = RunScoped(begin)
        ...     save = provide(Save, transaction=dep(transaction))
        ...     agent = provide(Agent, tools=["save"])
        >>> async def main():
        ...     async with application(Application()) as app:
        ...         run = await app.agent().run("go", model=ScriptedModel([calls(call("save")), says("done")]))
        ...         print(run.calls[0].result.content)
        >>> asyncio.run(main())
        committed
        saved in a transaction
    """

    level = "run"
    _where = "a tool of a run, or another RunScoped object, has to ask for it"


class CallScoped(Scoped[T]):
    """One object per tool call, for parameters of a handler that are marked `Inject`; closed when the call is over."""

    level = "call"
    _where = "only handler parameters marked `Inject` can ask for it"


class ScopeValue(providers.Provider[T]):
    """A value that a run is given: `Invocation`, `Run`, `RunContext`; others by `run(..., values={T: value})`.

    `.provided.actor_id` reads an attribute of it.
    """

    if TYPE_CHECKING:

        @property
        def provided(self) -> Any: ...

    def __init__(self, wanted: type[T] | None = None) -> None:
        super().__init__()
        self.wanted = wanted

    def __deepcopy__(self, memo: dict[Any, Any] | None) -> ScopeValue[T]:
        def fill(copied: ScopeValue[T], memo: dict[Any, Any]) -> None:
            copied.wanted = self.wanted

        return _copied(self, memo, fill)

    def _provide(self, args: Any, kwargs: Any) -> Any:
        scope = current_scope.get()
        value = UNSET if scope is None else scope.value(cast("type", self.wanted))
        if value is UNSET:
            name = label_of(self.wanted)
            raise ConfigurationError(
                f"no {name} was given; pass values={{{name}: ...}} to run(...)"
                if scope is not None
                else f"ScopeValue({name}) is used outside of a run"
            )
        return value
