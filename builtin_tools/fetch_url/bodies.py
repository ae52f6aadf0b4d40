"""Reading a page's body no further than a bound, compressed or not."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator

__all__ = ["Inflater", "OversizedPage", "UnreadableBody", "is_readable_encoding", "read_body"]

_GZIP = 16 + zlib.MAX_WBITS


class OversizedPage(Exception):
    """The body is longer than the bound."""


class UnreadableBody(Exception):
    """The body is not what its `Content-Encoding` says, or ends too early for it."""


class Inflater:
    """Unpacks gzip, at most so many bytes at a time: a bomb of 1000:1 is never in memory. What follows the first member
    is left out, as browsers do."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(_GZIP)

    def unpacked(self, packed: bytes, room: int) -> bytes:
        """What comes out of a piece.

        Raises:
            OversizedPage: more than `room` bytes come out.
            UnreadableBody: it is not gzip.
        """
        try:
            unpacked = self._stream.decompress(packed, room + 1)
        except zlib.error as error:
            raise UnreadableBody from error
        if len(unpacked) > room:
            raise OversizedPage
        return unpacked

    @property
    def is_complete(self) -> bool:
        return self._stream.eof


def is_readable_encoding(encoding: str) -> bool:
    """True for a `Content-Encoding` that was asked for: gzip, or none."""
    return encoding.strip().lower() in ("", "identity", "gzip", "x-gzip")


async def read_body(pieces: AsyncIterator[bytes], *, encoding: str, max_bytes: int) -> bytes:
    """The whole body, unpacked.

    Not the HTTP library's own unpacking: that unpacks a piece of the network, of 64 KB, as a whole, which can be 64 MB.

    Raises:
        OversizedPage: once more than `max_bytes` have come, whatever `Content-Length` says.
        UnreadableBody: it can't be unpacked.
    """
    inflater = Inflater() if encoding.strip().lower() in ("gzip", "x-gzip") else None
    body = bytearray()
    is_empty = True
    async for piece in pieces:
        is_empty = is_empty and not piece
        room = max_bytes - len(body)
        if inflater is not None:
            piece = inflater.unpacked(piece, room)
        elif len(piece) > room:
            raise OversizedPage
        body += piece
    if inflater is not None and not inflater.is_complete and not is_empty:
        raise UnreadableBody
    return bytes(body)
