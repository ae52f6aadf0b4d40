"""How HTTP libraries say that no answer came, read without importing any of them."""

from __future__ import annotations

import sys
from typing import Literal, TypeAlias

__all__ = ["Failure", "failure_of", "transport_errors"]

Failure: TypeAlias = Literal["timeout", "broken", "undecodable", "refused", "unreachable"]
"""Too slow; broken off or against the protocol; compressed wrongly; not sent by the library itself; no connection."""


def transport_errors() -> tuple[type[BaseException], ...]:
    """The classes by which a client says that no answer came: `RequestError` of each HTTP library that is loaded.

    `OSError` covers `TimeoutError`, and clients that are neither.
    """
    libraries = (sys.modules.get(name) for name in ("httpx", "httpx2"))
    return (OSError, *(library.RequestError for library in libraries if library is not None))


def failure_of(error: BaseException) -> Failure:
    """What went wrong, by the names of the error's classes, which both libraries share."""
    names = {cls.__name__ for cls in type(error).__mro__}
    if names & {"TimeoutException", "TimeoutError"}:
        return "timeout"
    if "DecodingError" in names:
        return "undecodable"
    if names & {"RemoteProtocolError", "ReadError", "WriteError", "ConnectionResetError", "BrokenPipeError"}:
        return "broken"
    if names & {"LocalProtocolError", "UnsupportedProtocol"}:
        return "refused"
    return "unreachable"
