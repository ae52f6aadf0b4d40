"""Reading an answer's body no further than a bound, whatever the server sends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from toolkit.http.packing import times_packed
from toolkit.http.protocol import HttpClient, StreamingHttpClient

__all__ = ["BoundedAnswer", "OversizedBody", "RepackedBody", "bounded_answer"]


@dataclass(frozen=True, slots=True)
class BoundedAnswer:
    status: int
    headers: Mapping[str, str]
    content: bytes


class OversizedBody(Exception):
    """The body was longer than the bound. `status` is the answer's."""

    def __init__(self, status: int) -> None:
        super().__init__(f"an answer of status {status} was too long")
        self.status = status


class RepackedBody(Exception):
    """The body was compressed more than once. `status` is the answer's."""

    def __init__(self, status: int) -> None:
        super().__init__(f"an answer of status {status} was compressed more than once")
        self.status = status


async def bounded_answer(http: HttpClient, max_bytes: int, method: str, url: str, **settings: Any) -> BoundedAnswer:
    """The answer to one request; redirects are not followed.

    What counts is the body as it is unpacked, not what `Content-Length` says. Both libraries unpack one piece of the
    network at a time, of 64 KB at most, so that is what can come on top of `max_bytes` in memory, unpacked. Packed
    twice it would be a thousand times as much again, from a body of a thousand bytes, so that is not read.

    Raises:
        OversizedBody: once more than `max_bytes` have come; the connection is closed then.
        RepackedBody: before anything is unpacked; the connection is closed, too.
    """
    if not hasattr(http, "stream"):
        whole = await http.request(method, url, follow_redirects=False, **settings)
        if len(whole.content) > max_bytes:
            raise OversizedBody(whole.status_code)
        return BoundedAnswer(whole.status_code, whole.headers, whole.content)
    pieces: list[bytes] = []
    length = 0
    async with cast("StreamingHttpClient", http).stream(method, url, follow_redirects=False, **settings) as answer:
        if times_packed(answer.headers.get("content-encoding", "")) > 1:
            raise RepackedBody(answer.status_code)
        async for piece in answer.aiter_bytes():
            length += len(piece)
            if length > max_bytes:
                raise OversizedBody(answer.status_code)
            pieces.append(piece)
        return BoundedAnswer(answer.status_code, answer.headers, b"".join(pieces))
