"""What page reading needs from outside: a resolver of names, and an HTTP client that sends what it is given."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Protocol

__all__ = ["NameResolver", "PageClient", "PageResponse"]


class NameResolver(Protocol):
    """Where the addresses of a host's name come from."""

    async def addresses(self, host: str) -> Sequence[str]:
        """The IP addresses of a name, the best first. Raises `OSError` when there are none."""
        ...


class PageResponse(Protocol):
    """An answer whose body is still on its way, as the server sent it: compressed, if it is.

    Where `is_stream_consumed`, the body has been read already, by a hook of the client or a transport of tests, and is
    the `content`, unpacked.
    """

    status_code: int
    is_stream_consumed: bool

    @property
    def content(self) -> bytes: ...

    @property
    def headers(self) -> Mapping[str, str]: ...

    @property
    def extensions(self) -> Mapping[str, Any]: ...

    def aiter_raw(self) -> AsyncIterator[bytes]: ...

    async def aclose(self) -> None: ...


class PageClient(Protocol):
    """`httpx.AsyncClient` or `httpx2.AsyncClient`.

    Not `stream()`: that adds the client's own headers, cookies and parameters to a request, and what an application
    sets there for its own services must not go to a page that a model chose.
    """

    @property
    def cookies(self) -> Any: ...

    def build_request(self, method: str, url: str) -> Any: ...

    async def send(
        self, request: Any, *, stream: bool = False, auth: None = None, follow_redirects: bool = False
    ) -> PageResponse: ...
