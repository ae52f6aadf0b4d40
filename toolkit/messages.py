"""What models and tools say to each other: messages, their parts, tool calls, definitions, token usage."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence, Set
from typing import Any, Self, TypeAlias, cast

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr

__all__ = [
    "AssistantMessage",
    "DocumentPart",
    "ImagePart",
    "Message",
    "Part",
    "SystemMessage",
    "TextPart",
    "ToolCall",
    "ToolDefinition",
    "ToolMessage",
    "Usage",
    "UserMessage",
    "messages_from_json",
    "messages_to_json",
]

# msgspec Structs rather than frozen dataclasses: a run makes several of these per turn, and a Struct costs a
# quarter of a frozen dataclass (measured: 0.09 against 0.46 microseconds) and no Python call.


class TextPart(Struct, frozen=True, tag="text"):
    """A piece of text in a message of several parts."""

    text: str


class _Media(Struct, frozen=True):
    data: bytes | None = None
    url: str | None = None
    media_type: str | None = None

    def __post_init__(self) -> None:
        if (self.data is None) == (self.url is None):
            raise ValueError(f"{type(self).__name__} takes either data (bytes) or url, and not both")
        if self.data is not None and self.data.__class__ is not bytes:
            _refuse_what_is_no_bytes(self.data, type(self).__name__)


def _refuse_what_is_no_bytes(data: Any, owner: str) -> None:
    try:
        memoryview(data)
    except TypeError:
        raise TypeError(
            f"{owner} takes its data as bytes, and this is {type(data).__name__}; read a file, or give its url"
        ) from None


class ImagePart(_Media, frozen=True, tag="image"):
    """An image: `data` (the bytes) or `url`, and its `media_type`, such as `image/png`."""


class DocumentPart(_Media, frozen=True, tag="document"):
    """A document: `data` (the bytes) or `url`, and its `media_type`, such as `application/pdf`."""


Part: TypeAlias = TextPart | ImagePart | DocumentPart


class ToolCall(Struct, frozen=True):
    """A model's request to call a tool. `arguments` are as sent: JSON text, or a dict."""

    id: str
    name: str
    arguments: str | dict[str, Any]


class ToolDefinition(Struct, frozen=True):
    """What a model is shown of a tool. `input_schema` is a JSON Schema of an object; do not change it."""

    name: str
    description: str
    input_schema: dict[str, Any]


class SystemMessage(Struct, frozen=True, tag="system"):
    """Text that the application says to the model. An agent's instructions are not kept as one (see `Agent`)."""

    text: str


class UserMessage(Struct, frozen=True, tag="user"):
    """What the user says: a text, or a sequence of parts (kept as a tuple)."""

    content: str | Sequence[Part]

    def __post_init__(self) -> None:
        if self.content.__class__ is not str and not isinstance(self.content, (str, tuple)):
            force_setattr(self, "content", tuple(self.content))

    @property
    def text(self) -> str:
        """The text, or the text parts joined by line ends."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content if isinstance(part, TextPart))


class AssistantMessage(Struct, frozen=True, tag="assistant"):
    """What the model says: text, tool calls (kept as a tuple), and the reasoning that it showed.

    `provider_data` is what its provider wants back and no other can read, such as signatures of the reasoning: JSON
    values under the name of the provider. Keep it as it is.
    """

    text: str = ""
    tool_calls: Sequence[ToolCall] = ()
    reasoning: str = ""
    provider_data: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        text: Any = self.text
        reasoning: Any = self.reasoning
        if text is None or reasoning is None:  # as in a provider's JSON
            force_setattr(self, "text", text or "")
            force_setattr(self, "reasoning", reasoning or "")
        if self.tool_calls.__class__ is not tuple:
            force_setattr(self, "tool_calls", tuple(self.tool_calls or ()))


class ToolMessage(Struct, frozen=True, tag="tool"):
    """The result of one tool call, as the model reads it. `call_id` pairs it with its `ToolCall`.

    `media` are images and documents that the tool gave besides its text (kept as a tuple).
    """

    call_id: str
    name: str
    content: str
    is_error: bool = False
    media: Sequence[ImagePart | DocumentPart] = ()

    def __post_init__(self) -> None:
        if self.media.__class__ is not tuple:
            force_setattr(self, "media", tuple(self.media))


Message: TypeAlias = SystemMessage | UserMessage | AssistantMessage | ToolMessage


class Transcript(list[Message]):
    """The messages of a run: valid by construction, each call paired with one result.

    A run that continues one does not scan it. `seal` notes its end, so that a list changed afterwards is noticed: one
    that has grown by its length, any other change by the methods that make it.
    `is_changed` is true once somebody else than the run has changed the list.
    """

    _sealed: tuple[int, Message | None, Set[str]] = (-1, None, frozenset())
    is_changed: bool = False

    def behind(self, first: Message) -> Transcript:
        """Another list: the first message, and these."""
        made = Transcript(self)
        list[Message].insert(made, 0, first)  # not the method that notes a change
        return made

    def seal(self, call_ids: Set[str]) -> None:
        """Notes the end of the list. The ids are kept as they are: nobody adds to them any more."""
        self._sealed = (len(self), self[-1] if self else None, call_ids)

    def _unsealed(self, method: str, *args: Any) -> Any:
        self._sealed = (-1, None, frozenset())
        self.is_changed = True
        return getattr(list, method)(self, *args)

    def __setitem__(self, place: Any, message: Any) -> None:
        self._unsealed("__setitem__", place, message)

    def __delitem__(self, place: Any) -> None:
        self._unsealed("__delitem__", place)

    def insert(self, place: Any, message: Message) -> None:
        self._unsealed("insert", place, message)

    def pop(self, place: Any = -1) -> Message:
        popped: Message = self._unsealed("pop", place)
        return popped

    def remove(self, message: Message) -> None:
        self._unsealed("remove", message)

    def reverse(self) -> None:
        self._unsealed("reverse")

    def sort(self, **options: Any) -> None:
        self._unsealed("__imul__", 1)
        super().sort(**options)

    def append(self, message: Message) -> None:
        self._unsealed("append", message)

    def extend(self, messages: Iterable[Message]) -> None:
        self._unsealed("extend", messages)

    def clear(self) -> None:
        self._unsealed("clear")

    def __iadd__(self, messages: Iterable[Message]) -> Self:  # type: ignore[misc, override]  # less than `__add__`, as of list
        self._unsealed("extend", messages)
        return self

    def __imul__(self, times: Any) -> Self:  # type: ignore[misc]  # less than `__mul__`, as of list
        self._unsealed("__imul__", times)
        return self

    @property
    def call_ids(self) -> Set[str]:
        """The ids of all calls, while the list is sealed."""
        return self._sealed[2]

    @property
    def is_sealed(self) -> bool:
        """True while the list still ends as it did when its run ended."""
        length, last, _ = self._sealed
        return length == len(self) and (length == 0 or self[-1] is last)


append_to: Callable[[list[Message], Message], None] = list[Message].append
"""Appends for the run itself, whose changes of a `Transcript` are not noted."""


class Usage(Struct, frozen=True):
    """Tokens. `cached_tokens` are part of `input_tokens`, `reasoning_tokens` part of `output_tokens`."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
        )


_messages = msgspec.json.Decoder(list[Message])


def messages_to_json(messages: Sequence[Message]) -> str:
    """The messages as a JSON array; `messages_from_json` reads it back. A lone surrogate becomes U+FFFD."""
    try:
        return msgspec.json.encode(list(messages)).decode()
    except UnicodeEncodeError:  # a model sent half of a character: text that no transport could send
        return msgspec.json.encode(sendable(msgspec.to_builtins(list(messages)))).decode()


def messages_from_json(text: str | bytes, *, trusted: bool = True) -> list[Message]:
    """The messages that `messages_to_json` wrote.

    Args:
        text: A JSON array of messages.
        trusted: False for text that may have been changed by others (a browser sent it back): then only the text
            of user and assistant messages is kept. Tool calls, results, system messages, reasoning and media go.

    Returns:
        The messages. Those in which every call has its result are a `Transcript`, looked through here once: a run
        that goes on with it does not do so again.

    Raises:
        ValueError: it is not such an array.
    """
    try:
        messages = _messages.decode(text)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise ValueError(f"this is not the JSON of messages: {error}") from error
    if trusted:
        return _transcript_of(messages)
    kept: list[Message] = []
    for message in messages:
        if isinstance(message, UserMessage) and message.text:
            kept.append(UserMessage(message.text))
        elif isinstance(message, AssistantMessage) and message.text:
            kept.append(AssistantMessage(message.text))
    return _transcript_of(kept)


def has_object_arguments(call: ToolCall) -> bool:
    """True when any server reads the call's arguments as a JSON object."""
    arguments: Any = call.arguments
    try:
        if isinstance(arguments, str):
            return isinstance(msgspec.json.decode(arguments), dict)
        if not isinstance(arguments, dict):
            return False
        text = json.dumps(arguments, allow_nan=False, ensure_ascii=False)
        text.encode()
    except (msgspec.MsgspecError, RecursionError, ValueError, TypeError):
        return False
    return text.count("{") + text.count("[") <= _MOST_NESTED or not _nests_deeper(arguments)


_MOST_NESTED = 200
"""Objects and arrays inside one another. What nests deeper may be readable here, and fail where less stack is left."""


def _nests_deeper(arguments: Any) -> bool:
    level: list[Any] = [arguments]
    for _ in range(_MOST_NESTED):
        level = [child for item in level for child in _held_by(item)]
        if not level:
            return False
    return any(isinstance(item, (dict, list, tuple)) for item in level)


def _held_by(item: Any) -> Iterable[Any]:
    if isinstance(item, dict):
        return cast("dict[Any, Any]", item).values()
    return cast("Iterable[Any]", item) if isinstance(item, (list, tuple)) else ()


def _transcript_of(messages: list[Message]) -> list[Message]:
    """The messages as a sealed transcript; as they are where a call or a result stands alone."""
    taken: set[str] = set()
    waiting: list[str] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            if not waiting or waiting.pop(0) != message.call_id:
                return messages
        elif waiting:
            return messages
        elif isinstance(message, AssistantMessage):
            for call in message.tool_calls:
                if not call.id or call.id in taken or not has_object_arguments(call):
                    return messages
                taken.add(call.id)
                waiting.append(call.id)
    if waiting:
        return messages
    transcript = Transcript(messages)
    transcript.seal(taken)
    return transcript


def sendable(value: Any) -> Any:
    """A JSON value with each lone surrogate, which no transport could send, as U+FFFD."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {sendable(key): sendable(item) for key, item in cast("dict[Any, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [sendable(item) for item in cast("list[Any]", value)]
    return value
