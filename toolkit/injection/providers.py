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
from toolkit.injection.sources import Kind, kind_of, open_sync
from toolkit.tools.parameters import label_of

__all__ = ["AppScoped", "CallScoped", "Literal", "RunScoped", "ScopeValue", "Scoped", "current_scope"]

T = TypeVar("T")

current_scope: ContextVar[Scope | None] = ContextVar("toolwire_scope", default=None)
"""The scope in which providers are being called right now."""


class _Call:
    """The arguments that a provider would call its source with. It is the scope that calls."""

    __slots__ = ("args", "kwargs")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args = args
        self.kwargs = kwargs


class Literal(providers.Provider[T]):
    """Gives a value as it is, never copied. Providers inside a list, tuple or dict become the container's own."""

    def __init__(self, value: Any = None) -> None:
        super().__init__()
        self.value = value

    def __deepcopy__(self, memo: dict[int, Any]) -> Literal[T]:
        if (done := memo.get(id(self))) is not None:
            return cast("Literal[T]", done)
        copied = memo[id(self)] = type(self)()
        copied.value = _with_copied_providers(self.value, memo)
        self._copy_overridings(copied, memo)
        return copied

    @property
    def related(self) -> Iterator[providers.Provider[Any]]:
        # Providers inside are listed, not injected: what is made of them is the business of who gets the value.
        yield from super().related

    def _provide(self, args: Any, kwargs: Any) -> Any:
        return self.value


def _with_copied_providers(value: Any, memo: dict[int, Any]) -> Any:
    if providers.is_provider(value):
        return providers.deepcopy(value, memo)
    if type(value) in (list, tuple) and any(providers.is_provider(item) for item in value):
        return type(value)(_with_copied_providers(item, memo) for item in value)
    if type(value) is dict and any(providers.is_provider(item) for item in value.values()):
        return {key: _with_copied_providers(item, memo) for key, item in value.items()}
    return value


def as_argument(value: Any) -> Any:
    """An argument of a provider: another provider, or a value that is passed as it is."""
    return value if providers.is_provider(value) else Literal(value)


class Scoped(providers.Provider[T]):
    """One object per scope, opened and closed by it. The subclasses say which scope."""

    level = ""

    def __init__(self, source: Any = None, /, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        if source is not None and not callable(source):
            raise ConfigurationError(
                f"{type(self).__name__} takes a class or function and its arguments; it was given {source!r}"
            )
        self.source = source
        self.kind = Kind.PLAIN if source is None else kind_of(source)
        self.arguments: providers.Factory[_Call] = providers.Factory(
            _Call,
            *(as_argument(value) for value in args),
            **{name: as_argument(value) for name, value in kwargs.items()},
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Scoped[T]:
        if (done := memo.get(id(self))) is not None:
            return cast("Scoped[T]", done)
        copied = memo[id(self)] = type(self)()
        copied.source = self.source
        copied.kind = self.kind
        copied.arguments = providers.deepcopy(self.arguments, memo)
        self._copy_overridings(copied, memo)
        return copied

    @property
    def provides(self) -> Any:
        """The class or function."""
        return self.source

    @property
    def related(self) -> Iterator[providers.Provider[Any]]:
        yield from self.arguments.related
        yield from super().related

    def home(self) -> Scope:
        """The scope that keeps the object. Raises `ConfigurationError` outside one."""
        current = current_scope.get()
        scope = None if current is None else current.at(self.level)
        if scope is None:
            raise ConfigurationError(
                f"{type(self).__name__}({label_of(self.source)}) is used outside of a {self.level} scope; {self._where}"
            )
        return scope

    _where = ""

    def _provide(self, args: Any, kwargs: Any) -> Any:
        scope = self.home()
        try:
            return scope.cache[self]
        except KeyError:
            pass
        if self.kind.is_async:
            raise ConfigurationError(
                f"{type(self).__name__}({label_of(self.source)}) is opened asynchronously, by the {self.level} scope; "
                f"it can't be opened by calling the provider"
            )
        if scope.is_closed:
            raise ConfigurationError(f"{label_of(self.source)} is asked for after its {self.level} scope was closed")
        call = self.arguments()
        made, closer = open_sync(self.source, self.kind, call.args, call.kwargs)
        scope.keep(self, made, closer)
        return made

    if TYPE_CHECKING:
        # What a source gives is the type of the product; the arguments are checked by `check`, when it is declared.
        @overload
        def __new__(cls, source: Callable[..., AsyncIterator[T]], /, *args: Any, **kwargs: Any) -> Scoped[T]: ...
        @overload
        def __new__(cls, source: Callable[..., Iterator[T]], /, *args: Any, **kwargs: Any) -> Scoped[T]: ...
        @overload
        def __new__(cls, source: Callable[..., Awaitable[T]], /, *args: Any, **kwargs: Any) -> Scoped[T]: ...
        @overload
        def __new__(cls, source: Callable[..., T], /, *args: Any, **kwargs: Any) -> Scoped[T]: ...
        def __new__(cls, source: Any, /, *args: Any, **kwargs: Any) -> Scoped[T]: ...


class AppScoped(Scoped[T]):
    """One object per application: opened by `application(container)`, closed with it.

    Args:
        source: A class, a function, a coroutine function, a generator function or an async generator function. A
            generator's code after `yield` (in `try/finally` or `with`) closes the object; of any other object
            `aclose()` or `close()` is called.
        args, kwargs: Its arguments: providers, or values that are passed as they are.
    """

    level = "app"
    _where = "open one with `async with application(container) as app:`"

    def __init__(self, source: Any = None, /, *args: Any, **kwargs: Any) -> None:
        super().__init__(source, *args, **kwargs)
        self.open_in: list[Scope] = []
        """Applications that are open now: a route of a web framework runs in no context of theirs."""

    def home(self) -> Scope:
        current = current_scope.get()
        scope = None if current is None else current.at("app")
        if scope is None and len(self.open_in) == 1:
            return self.open_in[0]
        return super().home() if scope is None else scope


class RunScoped(Scoped[T]):
    """One object per run, shared by the run's tools and closed by the run. Takes the same sources as `AppScoped`.

    A generator sees the error that the run ends with: code after a failing `yield` can roll back.
    """

    level = "run"
    _where = "a tool of a run, or another RunScoped object, has to ask for it"


class CallScoped(Scoped[T]):
    """One object per tool call, for parameters of a handler that are marked `Inject`; closed when the call is over."""

    level = "call"
    _where = "only handler parameters marked `Inject` can ask for it"


class ScopeValue(providers.Provider[T]):
    """A value that a run is given: `Invocation`, `Run` and `RunContext` always, others by `run(..., values={T: value})`.

    `.provided.actor_id` reads an attribute of it.
    """

    def __init__(self, wanted: type[T] | None = None) -> None:
        super().__init__()
        self.wanted = wanted

    def __deepcopy__(self, memo: dict[int, Any]) -> ScopeValue[T]:
        if (done := memo.get(id(self))) is not None:
            return cast("ScopeValue[T]", done)
        copied = memo[id(self)] = type(self)(self.wanted)
        self._copy_overridings(copied, memo)
        return copied

    @property
    def related(self) -> Iterator[providers.Provider[Any]]:
        yield from super().related

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
