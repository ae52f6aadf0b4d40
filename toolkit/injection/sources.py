"""How an object is opened and closed, by the kind of its source: class, function, coroutine function, generators."""

from __future__ import annotations

import asyncio
import enum
import inspect
import typing
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from typing import Any, cast

from msgspec import UNSET, Struct

from toolkit.errors import ConfigurationError
from toolkit.tools.parameters import is_async_callable, label_of, product_annotation, without_none

__all__ = ["Closer", "Kind", "closer_of", "kind_of", "open_async", "open_sync", "product_of_source"]


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
    """Closes one object: `close(error)`, where error is what the scope ended with."""

    label: str
    close: Callable[[BaseException | None], Awaitable[None] | None]


def kind_of(source: Callable[..., Any]) -> Kind:
    if isinstance(source, type):
        return Kind.PLAIN
    if inspect.isasyncgenfunction(source):
        return Kind.ASYNC_GENERATOR
    if inspect.isgeneratorfunction(source):
        return Kind.GENERATOR
    return Kind.COROUTINE if is_async_callable(source) else Kind.PLAIN


def product_of_source(source: Callable[..., Any]) -> Any:
    """The class that a source gives: itself, or what it is annotated to return or yield; UNSET when not known."""
    if isinstance(source, type):
        return source
    returned = product_annotation(source)
    if returned is UNSET:
        return UNSET
    if kind_of(source) in (Kind.GENERATOR, Kind.ASYNC_GENERATOR):
        arguments = typing.get_args(returned)
        returned = arguments[0] if arguments else UNSET
    plain = without_none(returned)
    plain = typing.get_origin(plain) or plain
    return plain if isinstance(plain, type) else UNSET


def open_sync(
    source: Callable[..., Any], kind: Kind, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Closer | None]:
    """Opens an object whose source is a class, a function or a generator function."""
    label = label_of(source)
    if kind is Kind.PLAIN:
        made = source(*args, **kwargs)
        return made, closer_of(made, label)
    generator: Generator[Any, Any, Any] = source(*args, **kwargs)
    try:
        made = next(generator)
    except StopIteration:
        raise ConfigurationError(f"the generator {label} yielded nothing; it has to yield its object once") from None
    return made, Closer(label, lambda error: _finish(generator, label, error))


async def open_async(
    source: Callable[..., Any], kind: Kind, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Closer | None]:
    """Opens an object whose source is a coroutine function or an async generator function."""
    label = label_of(source)
    if kind is Kind.COROUTINE:
        made = await source(*args, **kwargs)
        return made, closer_of(made, label)
    generator: AsyncGenerator[Any, Any] = source(*args, **kwargs)
    try:
        made = await anext(generator)
    except StopAsyncIteration:
        raise ConfigurationError(f"the generator {label} yielded nothing; it has to yield its object once") from None
    return made, Closer(label, lambda error: _finish_async(generator, label, error))


def closer_of(made: Any, label: str) -> Closer | None:
    """The closer of an object with `aclose()` or `close()`; the first is preferred. None when it has neither."""
    close = getattr(made, "aclose", None) or getattr(made, "close", None)
    if not callable(close) or isinstance(made, type):
        return None
    return Closer(label, lambda _: cast("Awaitable[None] | None", close()))


def _finish(generator: Generator[Any, Any, Any], label: str, error: BaseException | None) -> None:
    try:
        if error is None:
            next(generator)
        else:
            generator.throw(error)
    except StopIteration:
        return
    except BaseException as raised:
        if not _is_the_same(raised, error):
            raise
        return
    generator.close()
    raise ConfigurationError(f"the generator {label} yielded more than once")


async def _finish_async(generator: AsyncGenerator[Any, Any], label: str, error: BaseException | None) -> None:
    try:
        if error is None:
            await anext(generator)
        else:
            await generator.athrow(error)
    except StopAsyncIteration:
        return
    except BaseException as raised:
        if not _is_the_same(raised, error):
            raise
        return
    await generator.aclose()
    raise ConfigurationError(f"the generator {label} yielded more than once")


def _is_the_same(raised: BaseException, error: BaseException | None) -> bool:
    """True when a generator let the scope's error pass, or a new cancellation for it (`asyncio.timeout` does that)."""
    if error is None:
        return False
    if raised is error or (isinstance(raised, RuntimeError) and raised.__cause__ is error):
        return True
    return isinstance(raised, asyncio.CancelledError) and isinstance(error, asyncio.CancelledError)
