"""Bytes of images and documents in a request's JSON: msgspec writes base64 faster than `b64encode` makes a text."""

from __future__ import annotations

import msgspec

from toolkit.messages import DocumentPart, ImagePart, sendable

__all__ = ["data_url"]


def data_url(part: ImagePart | DocumentPart, usual_type: str) -> msgspec.Raw:
    """The part as a `data:` URL, as JSON."""
    beginning = msgspec.json.encode(sendable(f"data:{part.media_type or usual_type};base64,"))
    return msgspec.Raw(beginning.removesuffix(b'"') + msgspec.json.encode(part.data or b"").removeprefix(b'"'))
