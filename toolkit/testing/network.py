"""Which request of a model leaves the machine, and the error of one that a test must not send."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

__all__ = ["ModelRequestsBlocked", "host_reached"]


class ModelRequestsBlocked(BaseException):
    """A model would have sent a request to its provider, in a test that is not marked `live_model`.

    It is no `Exception`, as pytest's own outcomes are none: a fallback model, a retrying model, the run (which makes a
    `ModelError` of what a model raises) and an application's `except Exception` all let it pass. The run closes what it
    opened, and ends with this very error.

    Attributes:
        host: Where the request would have gone.
        test: The test, as pytest names it; None outside of tests.
    """

    def __init__(self, host: str, test: str | None = None) -> None:
        super().__init__(host, test)
        self.host = host
        self.test = test

    def __str__(self) -> str:
        where = "code that runs outside of the tests" if self.test is None else f"the test '{self.test}'"
        return (
            f"{where} would send a model's request to '{self.host}', and tests reach no provider by accident; give the "
            f"agent a ScriptedModel, or its model an HTTP client with a fake transport (httpx.MockTransport), or mark "
            f"the test with @pytest.mark.live_model where it is meant to reach the provider"
        )


_LIBRARIES = ("httpx", "httpx2")


def host_reached(url: str, http: object) -> str | None:
    """A host beyond this machine that a request would reach, also as a proxy; None when there is none.

    A request stays here when it goes to the loopback interface or a local socket, or when its client has a fake
    transport for it: any but the HTTP library's own, which is also found inside another transport or client that
    holds it as an attribute.

    Args:
        url: Where the request goes.
        http: The client that would send it, of either HTTP library, or anything that stands in for one.
    """
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return None  # the client refuses it, too
    for transport in _network_transports(http, url, set()):
        pool = getattr(transport, "_pool", None)
        if getattr(pool, "_uds", None) is not None:
            continue
        if not _is_loopback(host):
            return host
        proxy = getattr(pool, "_proxy_url", None)
        if proxy is not None and not _is_loopback(proxy_host := proxy.host.decode("ascii")):
            return str(proxy_host)
    return None


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _network_transports(part: object, url: str, seen: set[int]) -> Iterator[Any]:
    """The transports to the network that a client, or a transport, would send by."""
    if id(part) in seen:
        return
    seen.add(id(part))
    kind = type(part)  # a mock says by `__class__` that it is what it stands for
    for name in _LIBRARIES:
        library: Any = sys.modules.get(name)  # not loaded: then nothing is of it
        if library is None:
            continue
        if issubclass(kind, (library.HTTPTransport, library.AsyncHTTPTransport)):
            yield part
            return
        if issubclass(kind, (library.Client, library.AsyncClient)):
            client: Any = part
            yield from _network_transports(client._transport_for_url(library.URL(url)), url, seen)
            return
    for inner in _held_by(part):
        yield from _network_transports(inner, url, seen)


def _held_by(part: object) -> list[Any]:
    """Clients and transports among the attributes of an object that wraps one."""
    kinds = tuple(
        getattr(sys.modules[name], kind)
        for name in _LIBRARIES
        if name in sys.modules
        for kind in ("Client", "AsyncClient", "BaseTransport", "AsyncBaseTransport")
    )
    attributes: dict[str, Any] = getattr(part, "__dict__", {})
    return [value for value in attributes.values() if issubclass(type(value), kinds)]
