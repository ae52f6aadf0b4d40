"""`ScriptedModel`: a model for tests that says what the script says, and keeps what it was asked."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from typing import Any, TypeAlias

from msgspec.structs import replace

from toolkit.errors import ConfigurationError, ModelError
from toolkit.messages import ToolCall, Usage
from toolkit.models.protocol import ModelDelta, ModelDone, ModelRequest, ModelResponse, TextDelta, ToolCallDelta
from toolkit.testing.wording import call_in_words, lines_of, shortened

__all__ = ["ScriptExhausted", "ScriptedModel", "call", "calls", "says"]

Turn: TypeAlias = ModelResponse | BaseException
"""What a scripted model gives for one request: a response, or an exception that it raises."""


class ScriptExhausted(ModelError, AssertionError):
    """A scripted model was asked more often than it was scripted for."""


def says(text: str, *, usage: Usage | None = None) -> ModelResponse:
    """A turn in which the model answers with a text."""
    return ModelResponse(text, usage=usage or Usage())


def calls(*tool_calls: ToolCall, text: str = "", usage: Usage | None = None) -> ModelResponse:
    """A turn in which the model asks for tool calls."""
    return ModelResponse(text, tool_calls, usage=usage or Usage())


def call(name: str, arguments: dict[str, Any] | str | None = None, id: str | None = None) -> ToolCall:
    """A tool call. `arguments` is a dict, or raw text as a model may send it. Without `id` the run makes one."""
    return ToolCall("" if id is None else id, name, {} if arguments is None else arguments)


class ScriptedModel:
    """Gives the turns of its script, one for each request.

    Args:
        turns: `says("...")`, `calls(call("tool", {...}), ...)`, a `ModelResponse`, or an exception to raise.

    Attributes:
        requests: The `ModelRequest`s that it got, as they were then.

    Example:
        >>> model = ScriptedModel([calls(call("add", {"a": 1, "b": 2})), says("3")])
    """

    def __init__(self, turns: Sequence[Turn]) -> None:
        if isinstance(turns, (ModelResponse, str, BaseException)):
            raise ConfigurationError(f"a script is a list of turns, and it is {turns!r}; write ScriptedModel([...])")
        self._turns = [_checked(turn) for turn in turns]
        self.requests: list[ModelRequest] = []

    async def respond(self, request: ModelRequest) -> ModelResponse:
        return self._next(request)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelDelta]:
        response = self._next(request)
        for piece in _pieces(response.text):
            yield TextDelta(piece)
        for index, wanted in enumerate(response.tool_calls):
            arguments = wanted.arguments if isinstance(wanted.arguments, str) else ""
            yield ToolCallDelta(index, wanted.id, wanted.name, arguments)
        yield ModelDone(response)

    def assert_exhausted(self) -> None:
        """Raises `AssertionError` unless every turn of the script was asked for."""
        __tracebackhide__ = True
        left = self._turns[len(self.requests) :]
        if left:
            raise AssertionError(
                f"the model was asked {_times(len(self.requests))}, and its script goes on with:"
                + "".join(f"\n    {_in_words(turn)}" for turn in left)
            )

    def _next(self, request: ModelRequest) -> ModelResponse:
        place = len(self.requests)
        self.requests.append(replace(request, messages=list(request.messages)))
        if place >= len(self._turns):
            raise ScriptExhausted(
                f"the model was asked {_times(place + 1)}, once more than its script has turns, the last time with "
                + _messages_in_words(request)
            )
        turn = self._turns[place]
        if isinstance(turn, BaseException):
            raise turn
        return turn


def _checked(turn: Any) -> Turn:
    if isinstance(turn, (ModelResponse, BaseException)):
        return turn
    hint = "says(...) or calls(...)"
    if isinstance(turn, (str, ToolCall)):
        hint = f"says({turn!r})" if isinstance(turn, str) else "calls(call(...))"
    raise ConfigurationError(f"a turn of a script is {turn!r}; write {hint}")


def _pieces(text: str) -> list[str]:
    """The text word by word, so that what reads a stream meets more than one piece."""
    return re.findall(r"\S+\s*|\s+", text)


_SHOWN = 8
"""Messages of a request that did not fit the script: the last ones tell what happened."""


def _messages_in_words(request: ModelRequest) -> str:
    lines = lines_of(request.messages)
    if not lines:
        return "no messages"
    before = len(lines) - _SHOWN
    told = [f"({before} earlier)"] * (before > 0) + [shortened(line) for line in lines[-_SHOWN:]]
    return "these messages:" + "".join(f"\n    {line}" for line in told)


def _in_words(turn: Turn) -> str:
    if isinstance(turn, BaseException):
        return f"raises {type(turn).__name__}"
    if turn.tool_calls:
        return "calls " + ", ".join(call_in_words(wanted.name, wanted.arguments) for wanted in turn.tool_calls)
    return f"says {turn.text!r}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
