"""Asking a model, or an agent, in either way: at once, or by a stream that is read to its end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from toolkit import Agent, Run
from toolkit.messages import Part
from toolkit.models import ModelDelta, ModelDone, ModelRequest, ModelResponse, ReasoningDelta, TextDelta

__all__ = ["answered", "both_ways", "ran", "told"]

both_ways = pytest.mark.parametrize("is_streamed", [False, True], ids=["whole", "streamed"])


async def answered(model: Any, request: ModelRequest, *, is_streamed: bool) -> tuple[ModelResponse, list[ModelDelta]]:
    """The response, and the pieces that it came in; none where it came whole."""
    if not is_streamed:
        return await model.respond(request), []
    deltas = [delta async for delta in model.stream(request)]
    assert isinstance(deltas[-1], ModelDone)
    return deltas[-1].response, deltas


async def told(model: Any, request: ModelRequest, *, is_streamed: bool) -> tuple[ModelResponse, str, str]:
    """The response, with the text and the reasoning as they were streamed."""
    response, deltas = await answered(model, request, is_streamed=is_streamed)
    if not is_streamed:
        return response, response.text, response.reasoning
    text = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    return response, text, "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta))


async def ran(agent: Agent[Any], prompt: str | Sequence[Part], *, is_streamed: bool, **options: Any) -> Run[Any]:
    """The run of a prompt, over."""
    if not is_streamed:
        return await agent.run(prompt, **options)
    async with agent.stream(prompt, **options) as stream:
        async for _ in stream:
            pass
    return stream.run
