"""What a provider wants of a schema is worked out once, and not in each request: a schema is never changed."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["once_for_each_schema"]

T = TypeVar("T")
Schema = dict[str, Any]

_MAX_KEPT = 1_024


def once_for_each_schema(work: Callable[[Schema], T]) -> Callable[[Schema], T]:
    """The function, which keeps what came out for the 1,024 schemas that it had last. Do not change what it gives.

    A schema is known by its identity: a `ToolDefinition` and a request are not changed, and to compare a schema would
    take as long as the work.
    """
    kept: dict[int, tuple[Schema, T]] = {}  # with the schema, so that no other one can have its identity
    lock = threading.Lock()

    @functools.wraps(work)
    def worked_out(schema: Schema) -> T:
        known = kept.get(id(schema))
        if known is None:
            known = schema, work(schema)
            with lock:
                if len(kept) >= _MAX_KEPT:
                    del kept[next(iter(kept))]
                kept[id(schema)] = known
        return known[1]

    return worked_out
