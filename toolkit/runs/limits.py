"""How much a run may do."""

from __future__ import annotations

from typing import Literal, cast

from msgspec import Struct

from toolkit.errors import ConfigurationError

__all__ = ["Limits"]


class Limits(Struct, frozen=True, kw_only=True):
    """Limits of one run; None means no limit. Crossing one ends the run before any of the calls that cross it run.

    Attributes:
        max_turns: How often the model is asked.
        max_tool_calls: Tool calls in all.
        max_calls_per_turn: Tool calls that one answer of the model may ask for.
        max_concurrency: Tool calls at the same time.
        max_tokens: Input and output tokens of all answers together. They are known when an answer is there, so an
            answer without tool calls is not refused for what it took; nor does anything stop before it.
        open_timeout: Seconds for opening one object.
        close_timeout: Seconds for closing one object, and for a cancelled handler to finish.
        on_limit: `"raise"` (`LimitExceeded`), or `"answer"`: the model is asked once more, without tools.
    """

    max_turns: int | None = 100
    max_tool_calls: int | None = 1000
    max_calls_per_turn: int | None = 128
    max_concurrency: int | None = 8
    max_tokens: int | None = None
    open_timeout: float | None = 30.0
    close_timeout: float | None = 10.0
    on_limit: Literal["raise", "answer"] = "raise"

    def __post_init__(self) -> None:
        for name in ("max_turns", "max_tool_calls", "max_calls_per_turn", "max_concurrency", "max_tokens"):
            value = getattr(self, name)
            least = 0 if name in ("max_tool_calls", "max_calls_per_turn") else 1
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
                raise ConfigurationError(f"Limits({name}={value!r}): it is None or a whole number from {least}")
        for name in ("open_timeout", "close_timeout"):
            seconds = getattr(self, name)
            if seconds is None:
                continue
            if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds > 0:
                raise ConfigurationError(f"Limits({name}={seconds!r}): it is None or a number of seconds above 0")
        if cast("str", self.on_limit) not in ("raise", "answer"):
            raise ConfigurationError(f"Limits(on_limit={self.on_limit!r}): it is 'raise' or 'answer'")
