"""What the built-in tools need of an HTTP client. `httpx.AsyncClient` and `httpx2.AsyncClient` both have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

__all__ = ["HttpClient", "HttpResponse"]


class HttpResponse(Protocol):
    """An answer whose body has been read. `headers` are looked up without regard to case."""

    status_code: int

    @property
    def headers(self) -> Mapping[str, str]: ...

    @property
    def content(self) -> bytes: ...


class HttpClient(Protocol):
    """The client that the application injects. The built-in tools never close it and never change its settings."""

    async def request(
        self,
        method: str,
        url: str,
        *,
        params: Mapping[str, str] | None = None,
        data: Mapping[str, Any] | None = None,
        json: Any = None,
        headers: Mapping[str, str] | None = None,
        follow_redirects: bool = False,
        timeout: float | None = None,
    ) -> HttpResponse: ...
