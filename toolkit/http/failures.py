"""How HTTP libraries say that no answer came, read without importing any of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

__all__ = ["Failure", "failure_of", "transport_errors", "unreadable_headers"]

Failure: TypeAlias = Literal["timeout", "broken", "undecodable", "refused", "unreachable"]
"""Too slow; broken off or against the protocol; compressed or written wrongly; not sent by the library itself; no
connection."""


def transport_errors() -> tuple[type[BaseException], ...]:
    """The classes by which a client says that no answer came: `RequestError` of each HTTP library that is loaded.

    `OSError` covers `TimeoutError`, and clients that are neither.
    """
    return (OSError, *(library.RequestError for library in _libraries()))


def unreadable_headers() -> tuple[type[BaseException], ...]:
    """The classes by which a client says that a header of an answer can't be read: `InvalidURL` and `UnicodeError`.

    The libraries read where a redirect leads also when they don't follow it, and send a cookie back as ASCII. To be
    caught right around a request only, whose own texts can be encoded.
    """
    return (UnicodeError, *(library.InvalidURL for library in _libraries()))


def _libraries() -> Iterator[Any]:
    return filter(None, map(sys.modules.get, ("httpx", "httpx2")))


def failure_of(error: BaseException) -> Failure:
    """What went wrong, by the names of the error's classes, which both libraries share."""
    names = {cls.__name__ for cls in type(error).__mro__}
    if names & {"TimeoutException", "TimeoutError"}:
        return "timeout"
    if names & {"DecodingError", "InvalidURL", "UnicodeError"}:
        return "undecodable"
    if names & {"RemoteProtocolError", "ReadError", "WriteError", "ConnectionResetError", "BrokenPipeError"}:
        return "broken"
    if names & {"LocalProtocolError", "UnsupportedProtocol"}:
        return "refused"
    return "unreachable"
