"""Bytes of images and documents in a request's JSON: msgspec writes base64 faster than `b64encode` makes a text."""

from __future__ import annotations

import msgspec

from toolkit.messages import DocumentPart, ImagePart, sendable

__all__ = ["bytes_of", "data_url"]


def bytes_of(part: ImagePart | DocumentPart) -> bytes:
    """The data of a part: msgspec would write what is no bytes as something else, and refuse a subclass of them."""
    data: object = part.data or b""
    return data if type(data) is bytes else bytes(memoryview(data))  # type: ignore[arg-type]  # callers err


def data_url(part: ImagePart | DocumentPart, usual_type: str) -> msgspec.Raw:
    """The part as a `data:` URL, as JSON."""
    beginning = msgspec.json.encode(sendable(f"data:{part.media_type or usual_type};base64,"))
    return msgspec.Raw(beginning.removesuffix(b'"') + msgspec.json.encode(bytes_of(part)).removeprefix(b'"'))
