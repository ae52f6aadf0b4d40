"""From what a handler returned to what the model reads: text as it is, everything else as JSON, cut to size."""

from __future__ import annotations

import collections
import collections.abc
import datetime
import decimal
import enum
import numbers
import pathlib
import sys
from collections.abc import Iterable, Sequence
from typing import Any, cast

import msgspec

from toolkit.errors import ToolkitError
from toolkit.messages import DocumentPart, ImagePart, TextPart, sendable
from toolkit.records import Invocation, ToolResult

__all__ = ["UnwritableValue", "cut", "error_result", "failure_result", "result_of", "to_json"]

BYTES_PER_TOKEN = 4
"""A rough measure that needs no tokeniser."""


class UnwritableValue(ToolkitError):
    """A value can't be written as JSON. `type_name` is the type of the part that can't."""

    def __init__(self, type_name: str, reason: str) -> None:
        super().__init__(f"{type_name}: {reason}")
        self.type_name = type_name


def result_of(value: Any) -> ToolResult:
    """The result for a value: `str` as is, None as `""`, a `ToolResult` as it says, everything else as JSON.

    A value with a method `to_content()` says itself how it reads; `value` stays the object. An `ImagePart` or a
    `DocumentPart`, alone or in a list, becomes `media`, and a line of the content that says what it is.

    Raises:
        UnwritableValue: it can't be written as JSON.
    """
    if type(value) is str:
        return ToolResult(value, value if value.isascii() else _without_surrogates(value))
    if value is None:
        return ToolResult(None, "")
    if isinstance(value, ToolResult):
        content = value.content or result_of(value.value).content
        return ToolResult(value.value, _without_surrogates(content), value.is_error, value.error, value.media)
    if isinstance(value, str) and not isinstance(value, enum.Enum):
        return ToolResult(value, _without_surrogates(str(value)))
    if isinstance(value, (ImagePart, DocumentPart)):
        return ToolResult(value, _label_of(value), media=(value,))
    if _has_media(value):
        return _result_of_parts(value, value)
    to_content = getattr(value, "to_content", None)
    if callable(to_content) and not isinstance(value, type):
        return ToolResult(value, _without_surrogates(str(to_content())))
    return ToolResult(value, to_json(value).decode())


def _has_media(value: Any) -> bool:
    if not isinstance(value, (list, tuple)):
        return False
    return any(isinstance(item, (ImagePart, DocumentPart)) for item in cast("Sequence[Any]", value))


def _result_of_parts(value: Any, items: Sequence[Any]) -> ToolResult:
    """A list with media in it: each item reads as it would alone, on lines of its own."""
    results = [ToolResult(content=item.text) if isinstance(item, TextPart) else result_of(item) for item in items]
    content = _without_surrogates("\n".join(result.content for result in results))
    return ToolResult(value, content, media=tuple(part for result in results for part in result.media))


def _label_of(part: ImagePart | DocumentPart) -> str:
    kind = "image" if isinstance(part, ImagePart) else "document"
    what = f"{len(part.data):,} bytes" if part.data is not None else str(part.url)
    return f"[{kind}: {part.media_type + ', ' if part.media_type else ''}{what}]"


def error_result(text: str, error: BaseException) -> ToolResult:
    """What the model reads when a call went wrong; the exception is for the application."""
    return ToolResult(None, _without_surrogates(text), True, error)


def failure_result(name: str, error: BaseException) -> ToolResult:
    """An exception that is no `ToolError`: the model learns the tool's name and the class, nothing of the message."""
    if isinstance(error, UnwritableValue):
        return error_result(f"tool '{name}' returned a value that can't be written as JSON: {error.type_name}", error)
    return error_result(f"tool '{name}' failed: {type(error).__name__}", error)


def to_json(value: Any) -> bytes:
    """JSON of any value that has one.

    ISO 8601 for dates, text for `Decimal`, `UUID`, paths and IP addresses, the value of an enum, an array for a set,
    base64 for bytes, null for NaN and infinities, an object for dataclasses, msgspec Structs and pydantic models. Keys
    that are no text become text in the same way; lone surrogates become U+FFFD.

    Raises:
        UnwritableValue: there is none.
    """
    try:
        try:
            written = _encode(value)
        except UnicodeEncodeError:
            return _encode(_with_sendable_texts(value))
        if b'"1":' in written or b'"0":' in written:  # maybe of a bool, which msgspec takes for a number
            return _encode(_with_sendable_texts(value))
        return written
    except RecursionError as error:
        raise UnwritableValue(type(value).__name__, "it is nested too deeply, or contains itself") from error
    except (TypeError, ValueError, OverflowError) as error:  # an integer of over 4,300 digits, a model's own serializer
        raise UnwritableValue(type(value).__name__, str(error)) from error


def cut(content: str, max_tokens: int) -> str:
    """The content, or its beginning and end with a note between them of how much is gone.

    Args:
        max_tokens: 4 bytes of UTF-8 each. The note is part of it, unless there is no room even for that.
    """
    budget = max_tokens * BYTES_PER_TOKEN
    if len(content) * BYTES_PER_TOKEN <= budget or (len(content) <= budget and content.isascii()):
        return content  # a character has at most 4 bytes
    if content.isascii():  # a character is a byte, so that nothing of it need be copied but what stays
        room = max(0, budget - len(_note(len(content))))
        head, tail = content[: room - room // 2], content[len(content) - room // 2 :]
        return head + _note(len(content) - len(head) - len(tail)) + tail
    encoded = content.encode()
    if len(encoded) <= budget:
        return content
    note = _note(len(encoded))  # as long as the final one, or a digit longer
    room = max(0, budget - len(note.encode()))
    first = encoded[: room - room // 2].decode(errors="ignore")
    last = encoded[len(encoded) - room // 2 :].decode(errors="ignore")
    gone = len(encoded) - len(first.encode()) - len(last.encode())
    return first + _note(gone) + last


def _note(gone: int) -> str:
    return f"\n[... {gone:,} bytes cut, about {-(-gone // BYTES_PER_TOKEN):,} tokens ...]\n"


def _without_surrogates(text: str) -> str:
    """Lone surrogates can't be sent to anyone; each becomes U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        mended: str = sendable(text)
        return mended
    return text


def _unknown(value: Any) -> Any:
    """msgspec asks here for types that it does not know, and for keys of types that it knows as values only."""
    if value is None:
        return "null"  # a key: JSON's own word
    kind = cast("type[Any]", type(value))
    if isinstance(value, Invocation):  # its context is for the application alone
        return {"actor_id": value.actor_id, "metadata": value.metadata, "session_id": value.session_id}
    if isinstance(value, _NO_KEYS):
        raise UnwritableValue(kind.__name__, "JSON has no keys of this type")
    dump = getattr(value, "model_dump", None)
    if dump is not None and not isinstance(value, type) and "pydantic" in sys.modules:
        return dump(by_alias=True)
    for known, plain in _PLAIN:
        if isinstance(value, known):
            return plain(value)
    if kind.__module__ == "ipaddress":
        return str(value)
    if hasattr(kind, "__get_pydantic_core_schema__"):  # pydantic's own types, such as Url and SecretStr
        from pydantic_core import to_jsonable_python

        return to_jsonable_python(value)
    raise UnwritableValue(kind.__name__, "it has no JSON form")


_NO_KEYS = (tuple, list, dict, set, frozenset)


def _datetime(value: datetime.datetime) -> datetime.datetime:
    return datetime.datetime(
        value.year,
        value.month,
        value.day,
        value.hour,
        value.minute,
        value.second,
        value.microsecond,
        value.tzinfo,
        fold=value.fold,
    )


def _date(value: datetime.date) -> datetime.date:
    return datetime.date(value.year, value.month, value.day)


def _time(value: datetime.time) -> datetime.time:
    return datetime.time(value.hour, value.minute, value.second, value.microsecond, value.tzinfo, fold=value.fold)


def _timedelta(value: datetime.timedelta) -> datetime.timedelta:
    return datetime.timedelta(value.days, value.seconds, value.microseconds)


def _float(value: Any) -> float:
    if isinstance(value, numbers.Rational):
        raise UnwritableValue(type(value).__name__, "a float is not its value; return a float, a Decimal or a text")
    return float(value)


# msgspec knows some types only exactly: subclasses become what they stand for. Numbers of other libraries (numpy) tell
# by their abstract class what they are.
_PLAIN: tuple[tuple[type | tuple[type, ...], Any], ...] = (
    (str, str.__str__),
    (int, int),
    (float, float),
    (datetime.datetime, _datetime),
    (datetime.date, _date),
    (datetime.time, _time),
    (datetime.timedelta, _timedelta),
    (decimal.Decimal, str),
    ((bytes, bytearray), bytes),
    (pathlib.PurePath, str),
    (collections.abc.Mapping, dict),
    (collections.abc.Set, list),
    (collections.abc.ValuesView, list),
    (collections.abc.Sequence, list),
    (numbers.Integral, int),
    (numbers.Real, _float),
)

_encode = msgspec.json.Encoder(enc_hook=_unknown).encode


def _with_sendable_texts(value: Any) -> Any:
    """The value, as far as JSON sees it, with every text made sendable and every key a text."""
    if isinstance(value, str):
        return _without_surrogates(str.__str__(value))
    if isinstance(value, dict):
        members = cast("dict[Any, Any]", value).items()
        return {_without_surrogates(_key(key)): _with_sendable_texts(item) for key, item in members}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_with_sendable_texts(item) for item in cast("Iterable[Any]", value)]
    built = msgspec.to_builtins(value, enc_hook=_unknown)  # dataclasses, Structs and models as dicts
    return _with_sendable_texts(built) if isinstance(built, (str, dict, list)) else built


def _key(key: Any) -> str:
    if isinstance(key, bool):
        return "true" if key else "false"
    if isinstance(key, str):
        return str.__str__(key)
    if isinstance(key, enum.Enum):
        return _key(key.value)
    if isinstance(key, pathlib.PurePath):
        return str(key)
    (text,) = msgspec.json.decode(_encode({key: None}))
    return str(text)
