"""Transcripts that always pair: every call has one result, ids are unique, arguments are JSON objects."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Sequence
from typing import Any

from msgspec.structs import replace

from toolkit.errors import ConfigurationError, repr_of
from toolkit.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    Transcript,
    UserMessage,
    has_object_arguments,
    sendable,
)
from toolkit.tools.violations import printable

__all__ = ["begin_transcript", "with_harmless_name", "with_object_arguments", "with_unique_id"]


def begin_transcript(history: Sequence[Message]) -> tuple[Transcript, set[str], list[str]]:
    """The transcript that a run goes on with, the call ids that are taken, and warnings of what was mended.

    The list of an earlier run is valid by construction, and what `messages_from_json` read was looked through there;
    neither is scanned, unless it was changed since.
    """
    if not history:
        return Transcript(), set(), []
    if isinstance(history, Transcript) and history.is_sealed:
        return Transcript(history), set(history.call_ids), []
    return _mended(history)


def with_unique_id(call: ToolCall, taken: set[str]) -> ToolCall:
    """The call with an id of its own, which is added to those that are taken."""
    if call.id and not call.id.isascii():
        call = ToolCall(sendable(call.id), call.name, call.arguments)
    if not call.id or call.id in taken:
        call = ToolCall(_free_id(call.id, taken), call.name, call.arguments)
    taken.add(call.id)
    return call


_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")


def with_harmless_name(call: ToolCall) -> ToolCall:
    """The call of an unknown tool with a name that every provider takes in a history: they refuse others, for ever."""
    name = _NO_NAME.sub("_", call.name)[:64] or "unknown"
    return call if name == call.name else ToolCall(call.id, name, call.arguments)


def _free_id(wanted: str | None, taken: set[str]) -> str:
    """Found by doubling and halving: a server may give one id to all calls, and to try each number took a minute for a
    history of 100,000 messages."""
    stem = wanted or "call"
    free = len(taken) + 1 if not wanted else 2
    used = free - 1
    while f"{stem}_{free}" in taken:
        used, free = free, 2 * free
    while free - used > 1:
        middle = (used + free) // 2
        if f"{stem}_{middle}" in taken:
            used = middle
        else:
            free = middle
    return f"{stem}_{free}"


def with_object_arguments(call: ToolCall) -> ToolCall:
    """The call with arguments that any server reads as a JSON object: its own where they are one.

    Strict servers refuse a history whose arguments can't be read, for ever. So what is no object stands as text inside
    one, and what is blank or `null` becomes `{}`.
    """
    if has_object_arguments(call):
        return call
    arguments: Any = call.arguments
    text = arguments if isinstance(arguments, str) else "" if arguments is None else repr_of(arguments)
    if text.strip() in ("", "null"):
        return ToolCall(call.id, call.name, "{}")
    readable = text.encode("utf-8", "replace").decode()
    return ToolCall(call.id, call.name, json.dumps({"malformed_arguments": readable}, ensure_ascii=False))


def _mended(history: Sequence[Message]) -> tuple[Transcript, set[str], list[str]]:
    """A copy in which each call is followed by its one result."""
    warnings: list[str] = []
    messages: list[Message] = []
    taken: set[str] = set()
    at = 0
    while at < len(history):
        message = history[at]
        at += 1
        if isinstance(message, ToolMessage):
            warnings.append(_left_out(message))
        elif isinstance(message, AssistantMessage) and message.tool_calls:
            results: list[ToolMessage] = []
            while at < len(history) and isinstance(result := history[at], ToolMessage):
                results.append(result)
                at += 1
            messages.extend(_paired(message, results, taken, warnings))
        else:
            messages.append(_checked(message))
    return Transcript(messages), taken, warnings


def _checked(message: Any) -> Message:
    if isinstance(message, (SystemMessage, UserMessage, AssistantMessage)):
        return message
    text = f"messages hold {type(message).__name__}; give messages of toolkit.messages, such as earlier.messages"
    if isinstance(message, (str, dict)):
        text += "; toolkit.messages.messages_from_json(text) reads what was kept as JSON"
    raise ConfigurationError(text)


def _left_out(result: ToolMessage) -> str:
    return f"a result without a call was left out of the history: {_in_words(result.name, result.call_id)}"


def _in_words(name: str, id: str) -> str:
    """A call for a warning, which ends up in a log: a history may come from anywhere."""
    return f"{printable(name, 64)} {printable(repr(id), 80)}"


def _paired(
    message: AssistantMessage, results: list[ToolMessage], taken: set[str], warnings: list[str]
) -> list[Message]:
    left = dict(enumerate(results))
    places: dict[Any, list[int]] = {}  # of the results of each id, the first one last
    for place in reversed(left):
        id_: Any = left[place].call_id
        if isinstance(id_, Hashable):  # a history may hold anything; what is no id belongs to no call
            places.setdefault(id_, []).append(place)
    calls: list[ToolCall] = []
    answers: list[Message] = []
    for original in message.tool_calls:
        call = with_unique_id(original, taken)
        kept = with_object_arguments(call)
        if kept is not call:
            warnings.append(f"arguments of {_in_words(call.name, original.id)} in the history were no JSON object")
        calls.append(kept)
        answering = places.get(original.id)
        if answering:
            found = left.pop(answering.pop())
        else:
            warnings.append(f"a call without a result was given one in the history: {_in_words(call.name, call.id)}")
            found = ToolMessage(call.id, call.name, "no result of this call was recorded", True)
        answers.append(found if found.call_id == call.id else replace(found, call_id=call.id, name=call.name))
    warnings.extend(map(_left_out, left.values()))
    return [AssistantMessage(message.text, calls, message.reasoning, message.provider_data), *answers]
