"""Any model's answer in pieces, and its failures, for models around models."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator
from typing import Any

from toolkit.errors import ModelError
from toolkit.http.failures import transport_errors
from toolkit.models.protocol import Model, ModelDelta, ModelDone, ModelRequest

__all__ = ["failures", "stream_of"]


def failures() -> tuple[type[BaseException], ...]:
    """What any model fails with; one of an application's own may let through what says that no answer came.

    Asked for whenever a model has failed: an HTTP library may have been loaded by then.
    """
    return (ModelError, *transport_errors())


async def stream_of(model: Model, request: ModelRequest) -> AsyncGenerator[ModelDelta, None]:
    """What the model's `stream` gives; its whole answer as a single `ModelDone` where it has no `stream`.

    Closing it closes the model's own stream.
    """
    stream: Any = getattr(model, "stream", None)
    if stream is None:
        yield ModelDone(await model.respond(request))
        return
    deltas = stream(request)
    if inspect.isawaitable(deltas):
        deltas = await deltas
    try:
        async for delta in deltas:
            yield delta
    finally:
        close = getattr(deltas, "aclose", None)
        if close is not None:
            await close()
