"""An agent's instructions: a text, or a function of the run's context."""

from __future__ import annotations

import inspect
from typing import Any

from toolkit.context import RunContext
from toolkit.errors import ConfigurationError

__all__ = ["instructions_text"]


async def instructions_text(instructions: Any, ctx: RunContext) -> str | None:
    """The text of this run. A function may be sync or async. Raises `ConfigurationError` for anything else."""
    if callable(instructions):
        instructions = instructions(ctx)
        if inspect.isawaitable(instructions):
            instructions = await instructions
    if instructions is None or isinstance(instructions, str):
        return instructions
    raise ConfigurationError(
        f"instructions are {instructions!r}; they are a text, or a function of the RunContext that gives one"
    )
