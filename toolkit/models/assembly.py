"""Tool calls put together from the pieces of a stream, however a server cuts and labels them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from toolkit.messages import ToolCall, sendable
from toolkit.models.protocol import ToolCallDelta
from toolkit.tools.schemas.json_values import is_object

__all__ = ["CallAssembly", "object_of_arguments", "text_of_arguments", "with_own_ids"]


class _Growing:
    """A call that is not complete yet."""

    __slots__ = ("arguments", "id", "name", "place")

    def __init__(self, place: int) -> None:
        self.place = place
        self.id = ""
        self.name = ""
        self.arguments: list[str] = []


class CallAssembly:
    """The calls of one answer.

    Servers that speak OpenAI's format label pieces differently: some repeat id and name in each piece or send null
    for them later, some send no index, some the same index for all calls. So a null or empty id or name never
    overwrites one that is known, and a piece with another id, or with another name and no id, begins another call. A
    name may come in pieces as long as no arguments have.
    """

    def __init__(self) -> None:
        self._calls: list[_Growing] = []
        self._at: dict[int, _Growing] = {}

    def add(
        self, index: int | None, id: str | None = None, name: str | None = None, arguments: Any = None
    ) -> ToolCallDelta:
        """Takes in a piece, whose `arguments` are text or an object. Gives it with its call's place in the answer."""
        call = self._call(index, id, name)
        new_id = id if id and not call.id else None
        new_name = name if name and name != call.name and not call.arguments else None
        if new_id:
            call.id = new_id
        if new_name:
            call.name += new_name
        text = text_of_arguments(arguments)
        if text:
            call.arguments.append(text)
        return ToolCallDelta(call.place, new_id, new_name, text)

    def calls(self) -> tuple[ToolCall, ...]:
        """The calls so far, in the order in which they began. A piece that never got a name is none."""
        return tuple(ToolCall(call.id, call.name, "".join(call.arguments)) for call in self._calls if call.name)

    def _call(self, index: int | None, id: str | None, name: str | None) -> _Growing:
        last = self._calls[-1] if self._calls else None
        call = last if index is None else self._at.get(index)
        if call is not None and id and call.id and id != call.id:
            call = next((known for known in self._calls if known.id == id), None)
        elif call is not None and not id and name and call.name and name != call.name and call.arguments:
            call = None
        if call is None:
            call = _Growing(len(self._calls))
            self._calls.append(call)
        if index is not None:
            self._at[index] = call
        return call


def text_of_arguments(arguments: Any) -> str:
    """Arguments as JSON text: as they are, or an object that a server sends as one. Nothing is an empty text."""
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    try:
        return msgspec.json.encode(arguments).decode()
    except UnicodeEncodeError:  # half of a character
        return msgspec.json.encode(sendable(arguments)).decode()


def object_of_arguments(call: ToolCall) -> dict[str, Any]:
    """The arguments, for servers that take an object only; a run's transcript has no others. Else an empty one.

    What is in them is looked through, and goes into a request as it was written.
    """
    arguments: Any = call.arguments
    if isinstance(arguments, str):
        try:
            return _as_written(arguments)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return {}
    return arguments if is_object(arguments) else {}


_as_written = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def with_own_ids(calls: Iterable[ToolCall]) -> tuple[ToolCall, ...]:
    """The calls of one answer, each with an id that is not empty and not another's."""
    taken: set[str] = set()
    own: list[ToolCall] = []
    for number, call in enumerate(calls, 1):
        id_ = call.id or f"call_{number}"
        while id_ in taken:
            id_ = f"{id_}_{number}"
        taken.add(id_)
        own.append(call if id_ == call.id else ToolCall(id_, call.name, call.arguments))
    return tuple(own)
