"""What is needed of an HTTP client. `httpx.AsyncClient` and `httpx2.AsyncClient` both have it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeAlias

__all__ = ["HttpClient", "HttpResponse", "HttpStream", "StreamingHttpClient", "Timeout"]

Timeout: TypeAlias = "float | tuple[float | None, float | None, float | None, float | None] | None"
"""Seconds for each step; or for connecting, reading, writing and waiting for a free connection, in this order."""


class HttpResponse(Protocol):
    """An answer whose body has been read. `headers` are looked up without regard to case."""

    status_code: int

    @property
    def headers(self) -> Mapping[str, str]: ...

    @property
    def content(self) -> bytes: ...


class HttpStream(Protocol):
    """An answer whose body is still on its way."""

    status_code: int

    @property
    def headers(self) -> Mapping[str, str]: ...

    def aiter_bytes(self) -> AsyncIterator[bytes]: ...


class HttpClient(Protocol):
    """The client that the application injects. Whoever is given it never closes it and never changes its settings."""

    async def request(
        self,
        method: str,
        url: str,
        *,
        content: bytes | None = None,
        params: Mapping[str, str] | None = None,
        data: Mapping[str, Any] | None = None,
        json: Any = None,
        headers: Mapping[str, str] | None = None,
        follow_redirects: bool = False,
        timeout: Timeout = None,
        extensions: dict[str, Any] | None = None,
    ) -> HttpResponse: ...


class StreamingHttpClient(HttpClient, Protocol):
    """A client that can also give an answer piece by piece. The connection is free again when the block ends."""

    def stream(
        self,
        method: str,
        url: str,
        *,
        content: bytes | None = None,
        params: Mapping[str, str] | None = None,
        data: Mapping[str, Any] | None = None,
        json: Any = None,
        headers: Mapping[str, str] | None = None,
        follow_redirects: bool = False,
        timeout: Timeout = None,
        extensions: dict[str, Any] | None = None,
    ) -> AbstractAsyncContextManager[HttpStream]: ...
