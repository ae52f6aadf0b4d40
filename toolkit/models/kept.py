"""What a provider wants of a tool or a schema is worked out once, and not in each request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

import msgspec
from msgspec import UNSET

from toolkit.tools.bounded_store import BoundedStore

__all__ = ["Kept", "raw"]

V = TypeVar("V")
T = TypeVar("T")

_NO_JSON = (TypeError, ValueError, RecursionError, msgspec.MsgspecError)
_BESIDE = 1_000
"""What an entry takes beside its key, roughly: what came out is about as long as what went in."""


class Kept(Generic[V, T]):
    """What came of JSON values, told by what is in them: who changes one is given what comes of it then.

    It is looked up as JSON; to write that takes little of what is saved, see benchmarks/README.md. At 16 MB all goes.

    Args:
        kind: The type of the values, as which they are read again: nothing that is kept shares a part with one.
        work: Gives what is kept. Nobody may change that, so it is best bytes, numbers or None.
    """

    def __init__(self, kind: type[V], work: Callable[[V], T]) -> None:
        self._work = work
        self._decode = msgspec.json.Decoder(kind).decode
        self._kept: BoundedStore[T] = BoundedStore()

    def of(self, value: V) -> T:
        """What comes of the value."""
        try:
            written = msgspec.json.encode(value)
            known = self._kept.get(written)
            if known is not UNSET:
                return cast("T", known)
            copy = self._decode(written)
        except _NO_JSON:
            return self._work(value)
        made = self._work(copy)
        self._kept.put(written, made, 2 * len(written) + _BESIDE)
        return made


def raw(value: Any) -> Any:
    """The value as JSON, which goes into a request as it is; or itself, where it can't be written yet."""
    try:
        return msgspec.Raw(msgspec.json.encode(value))
    except _NO_JSON:
        return value
