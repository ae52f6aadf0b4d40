"""How an object is opened and closed, by the kind of its source: class, function, coroutine function, generators."""

from __future__ import annotations

import asyncio
import contextlib
import enum
import inspect
import typing
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from typing import Any, cast

from msgspec import UNSET, Struct

from toolkit.errors import ConfigurationError
from toolkit.tools.parameters import is_async_callable, label_of, product_annotation, without_none

__all__ = ["Closer", "Kind", "closer_of", "kind_of", "open_async", "open_sync", "plain_source", "product_of_source"]


_SELF: Any = typing.Self


class Kind(enum.Enum):
    """What calling a source gives."""

    PLAIN = "the object"
    COROUTINE = "a coroutine that gives the object"
    GENERATOR = "a generator that yields it once, and closes it afterwards"
    ASYNC_GENERATOR = "an async generator that yields it once, and closes it afterwards"

    @property
    def is_async(self) -> bool:
        return self in (Kind.COROUTINE, Kind.ASYNC_GENERATOR)


class Closer(Struct, frozen=True):
    """Closes one object.

    Attributes:
        of: For error texts: what gave the object, or a text that says so.
        work: What closes it, sync or async.
    """

    of: Any
    work: Any

    def close(self, error: BaseException | None) -> Awaitable[None] | None:
        """Closes it, or gives what has to be awaited for that. `error` is what the scope ended with."""
        closing: Awaitable[None] | None = self.work()
        return closing

    @property
    def label(self) -> str:
        return self.of if isinstance(self.of, str) else label_of(self.of)


class _GeneratorCloser(Closer, frozen=True):
    """Closes what a generator yielded: `work` is the generator, and sees what the scope ended with."""

    def close(self, error: BaseException | None) -> None:
        generator: Generator[Any, Any, Any] = self.work
        traceback = None if error is None else error.__traceback__
        try:
            if error is None:
                next(generator)
            else:
                generator.throw(error)
        except StopIteration:
            return
        except BaseException as raised:  # noqa: BLE001 - all but the scope's own error is raised again
            _raise_unless_passed(raised, error)
            return
        finally:
            if error is not None:
                error.__traceback__ = traceback  # each closer that it passes would add itself
        generator.close()
        raise ConfigurationError(f"the generator {label_of(self.of)} yielded more than once")


class _AsyncGeneratorCloser(Closer, frozen=True):
    """As `_GeneratorCloser`, of an async one."""

    async def close(self, error: BaseException | None) -> None:
        generator: AsyncGenerator[Any, Any] = self.work
        if error is None:
            async for _ in generator:  # once, or not at all
                break
            else:
                return
        elif await _has_ended(generator, error):
            return
        await generator.aclose()
        raise ConfigurationError(f"the generator {label_of(self.of)} yielded more than once")


async def _has_ended(generator: AsyncGenerator[Any, Any], error: BaseException) -> bool:
    """Whether a generator ends with the error of its scope, as it should. Raises what it raises of its own."""
    traceback = error.__traceback__
    try:
        await generator.athrow(error)
    except StopAsyncIteration:
        return True
    except BaseException as raised:  # noqa: BLE001 - all but the scope's own error is raised again
        _raise_unless_passed(raised, error)
        return True
    finally:
        error.__traceback__ = traceback
    return False


def plain_source(source: Callable[..., Any]) -> Callable[..., Any]:
    """The generator function under `@contextmanager` or `@asynccontextmanager`, and the class of `Pool[Connection]`;
    any other source as it is."""
    wrapped = getattr(source, "__wrapped__", None)
    if wrapped is not None and getattr(source, "__globals__", None) is vars(contextlib):
        return cast("Callable[..., Any]", wrapped)
    return typing.get_origin(source) or source


def kind_of(source: Callable[..., Any]) -> Kind:
    """What calling a source gives, by how it is defined; it is not called."""
    if isinstance(source, type):
        return Kind.PLAIN
    called: Any = source
    if not inspect.isroutine(source) and not hasattr(source, "func"):  # a partial is looked through by `inspect`
        called = getattr(source, "__call__", source)  # noqa: B004 - of an object that can be called: it is read
    if inspect.isasyncgenfunction(called):
        return Kind.ASYNC_GENERATOR
    if inspect.isgeneratorfunction(called):
        return Kind.GENERATOR
    return Kind.COROUTINE if is_async_callable(source) else Kind.PLAIN


def product_of_source(source: Callable[..., Any]) -> Any:
    """The class that a source gives: itself, or what it is annotated to return or yield; UNSET when not known."""
    if isinstance(source, type):
        return source
    source = plain_source(source)
    returned: Any = product_annotation(source)
    if returned is UNSET:
        return UNSET
    if kind_of(source) in (Kind.GENERATOR, Kind.ASYNC_GENERATOR):
        arguments = typing.get_args(returned)
        returned = arguments[0] if arguments else UNSET
    plain = without_none(returned)
    if plain is _SELF:
        return getattr(source, "__self__", UNSET)  # `Client.create`, a class method that returns Self
    plain = typing.get_origin(plain) or plain
    return plain if isinstance(plain, type) else UNSET


def open_sync(
    source: Callable[..., Any], kind: Kind, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Closer | None]:
    """Opens an object whose source is a class, a function or a generator function."""
    if kind is Kind.PLAIN:
        made = source(*args, **kwargs)
        if inspect.iscoroutine(made) or inspect.isgenerator(made) or inspect.isasyncgen(made):
            raise _unopened(made, label_of(source))
        return made, closer_of(made, source)
    generator: Generator[Any, Any, Any] = source(*args, **kwargs)
    try:
        made = next(generator)
    except StopIteration:
        raise ConfigurationError(_nothing_yielded(source)) from None
    return made, _GeneratorCloser(source, generator)


async def open_async(
    keep: Callable[[Any, Any, Closer | None], None],
    key: Any,
    source: Callable[..., Any],
    kind: Kind,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> None:
    """Opens an object whose source is a coroutine function or an async generator function, and keeps it.

    Also one that is too late, but opens after all, is kept, and so closed with the scope whose `keep` it is.
    """
    if kind is Kind.COROUTINE:
        made = await source(*args, **kwargs)
        keep(key, made, closer_of(made, source))
        return
    generator: AsyncGenerator[Any, Any] = source(*args, **kwargs)
    try:
        made = await anext(generator)
    except StopAsyncIteration:
        raise ConfigurationError(_nothing_yielded(source)) from None
    keep(key, made, _AsyncGeneratorCloser(source, generator))


def closer_of(made: Any, of: Any) -> Closer | None:
    """The closer of an object with `aclose()` or `close()`; the first is preferred. None when it has neither."""
    close = getattr(made, "aclose", None) or getattr(made, "close", None)
    if close is None or not callable(close) or isinstance(made, type):
        return None
    return Closer(of, close)


def _nothing_yielded(source: Any) -> str:
    return f"the generator {label_of(source)} yielded nothing; it has to yield its object once"


def _unopened(made: Any, label: str) -> ConfigurationError:
    if inspect.iscoroutine(made):
        made.close()  # else Python complains that it was never awaited
    return ConfigurationError(
        f"{label} gave a {type(made).__name__}, and nobody opens that; give the coroutine or generator function "
        f"itself and its arguments, not a function that calls it"
    )


def _raise_unless_passed(raised: BaseException, error: BaseException | None) -> None:
    """Raises what a generator raised of its own; the scope's error that it only let pass is no failure to close."""
    if error is None:
        raise raised
    if isinstance(raised, BaseExceptionGroup):  # a task group wraps what passes through it
        rest = cast("BaseExceptionGroup[BaseException]", raised).split(lambda leaf: _is_the_same(leaf, error))[1]
        if rest is None:
            return
        raise rest
    if not _is_the_same(raised, error):
        raise raised


def _is_the_same(raised: BaseException, error: BaseException) -> bool:
    """True for the scope's error itself, or a new cancellation for it (`asyncio.timeout` does that)."""
    if raised is error or (isinstance(raised, RuntimeError) and raised.__cause__ is error):
        return True
    return isinstance(raised, asyncio.CancelledError) and isinstance(error, asyncio.CancelledError)
