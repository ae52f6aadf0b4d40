"""Messages, calls and records in words, one line each: for transcripts and for messages of failed tests."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from toolkit.messages import AssistantMessage, Message, SystemMessage, TextPart, ToolMessage, UserMessage
from toolkit.records import CallRecord

__all__ = ["call_in_words", "lines_of", "record_in_words", "shortened"]


def call_in_words(name: str, arguments: object) -> str:
    """As `weather {"city": "Oslo"}`; raw text as it is, and what JSON has not by its `repr`."""
    if isinstance(arguments, (dict, list)):
        arguments = json.dumps(arguments, ensure_ascii=False, default=repr)
    return f"{name} {arguments}"


def record_in_words(record: CallRecord) -> str:
    """The call and what came of it, as `weather {"city": "Oslo"} -> light rain`."""
    outcome = "error: " if record.result.is_error else ""
    return shortened(f"{call_in_words(record.name, record.arguments)} -> {outcome}{record.result.content}")


def lines_of(messages: Iterable[Message]) -> list[str]:
    """The messages; each tool call that a model asks for has an entry of its own."""
    return [line for message in messages for line in _entries(message)]


def shortened(text: str, limit: int = 300) -> str:
    """At most `limit` characters of the text, in one line."""
    text = " ".join(text.split())
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text) - limit:,} characters more)"


def _entries(message: Message) -> list[str]:
    if isinstance(message, SystemMessage):
        return [f"system: {message.text}"]
    if isinstance(message, UserMessage):
        return [f"user: {_content(message.content)}"]
    if isinstance(message, ToolMessage):
        label = "error" if message.is_error else "result"
        return [f"{label}: {_content([TextPart(message.content), *message.media])}"]
    return _answer(message)


def _answer(message: AssistantMessage) -> list[str]:
    text = [f"assistant: {message.text}"] if message.text or not message.tool_calls else []
    return text + [f"call: {call_in_words(call.name, call.arguments)}" for call in message.tool_calls]


def _content(content: str | Sequence[Any]) -> str:
    if isinstance(content, str):
        return content
    return " ".join(part.text if isinstance(part, TextPart) else f"[{_kind(part)}]" for part in content)


def _kind(part: Any) -> str:
    return type(part).__name__.removesuffix("Part").lower()
