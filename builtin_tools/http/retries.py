"""Trying again, where that can do nothing twice: a lost answer does not mean that nothing was written."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from builtin_tools.http.errors import ServiceError
from toolkit.http.clock import Clock

__all__ = ["retried"]

T = TypeVar("T")

_ATTEMPTS = 3
_LONGEST = 20.0

# Not tenacity or stamina: the wait comes from the answer, has to be compared with the time that is left, and both
# clock and sleep are injected. In tenacity each of these is a callable of its own; the loop is shorter.


async def retried(
    send: Callable[[], Awaitable[T]],
    clock: Clock,
    *,
    longest: float = _LONGEST,
    jitter: Callable[[], float] = random.random,
) -> T:
    """What `send` gives, after at most 3 attempts.

    Only a `ServiceError` that is temporary is tried again: after the seconds that the service asked for, or else
    after 0.5 and 1 second, each with up to as much again at random. No attempt starts later than `longest` seconds
    after the first one; a service that wants more is reported at once, with the seconds it asked for.
    """
    began = clock.monotonic()
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return await send()
        except ServiceError as error:
            if not error.is_temporary or attempt == _ATTEMPTS:
                raise
            pause = error.retry_after if error.retry_after is not None else 0.5 * 2 ** (attempt - 1) * (1 + jitter())
            if clock.monotonic() - began + pause > longest:
                raise
        await clock.sleep(pause)
    raise AssertionError("the last attempt returns or raises")
