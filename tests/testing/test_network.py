"""Which requests would leave the machine, with both HTTP libraries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import AsyncMock

import httpx
import pytest

from tests.http.clients import LIBRARIES, open_client
from toolkit.testing.network import host_reached

URL = "https://provider.example/v1/chat"


def answer(request: Any) -> Any:
    raise AssertionError("nothing is sent here")


async def app(scope: Any, receive: Any, send: Any) -> None:
    raise AssertionError("nothing is sent here")


class OwnTransport:
    """Made a subclass of the library's by `own_transport`: a fake that the application wrote."""

    async def handle_async_request(self, request: Any) -> Any:
        raise AssertionError("nothing is sent here")


def own_transport(library: Any) -> Any:
    return type("Own", (OwnTransport, library.AsyncBaseTransport), {})()


class Wrapping:
    """A client around another."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner


def transport_around(library: Any, inner: Any) -> Any:
    """As retrying and recording transports are."""
    return type("Around", (Wrapping, library.AsyncBaseTransport), {})(inner)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://127.0.0.1:8080/v1", None),
        ("http://127.9.8.7/v1", None),
        ("http://[::1]:8080/v1", None),
        ("http://localhost:8080/v1", None),
        ("http://LOCALHOST/v1", None),
        ("https://provider.example/v1", "provider.example"),
        ("https://localhost.example/v1", "localhost.example"),
        ("https://localhost@provider.example/v1", "provider.example"),
        ("http://10.0.0.1/v1", "10.0.0.1"),
        ("http://0.0.0.0/v1", "0.0.0.0"),
        ("http://[fe80::1]/v1", "fe80::1"),
        ("/v1", ""),
    ],
)
def test_only_the_loopback_interface_is_no_host_beyond_this_machine(library: Any, url: str, host: str | None) -> None:
    assert host_reached(url, open_client(library)) == host


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda lib: lib.AsyncClient(), id="async client"),
        pytest.param(lambda lib: lib.Client(), id="sync client"),
        pytest.param(lambda lib: type("Ours", (lib.AsyncClient,), {})(), id="subclass of a client"),
        pytest.param(lambda lib: lib.AsyncClient(transport=lib.AsyncHTTPTransport(retries=3)), id="own settings"),
        pytest.param(
            lambda lib: lib.AsyncClient(transport=type("Ours", (lib.AsyncHTTPTransport,), {})()),
            id="subclass of the transport",
        ),
        pytest.param(
            lambda lib: lib.AsyncClient(transport=transport_around(lib, lib.AsyncHTTPTransport())),
            id="inside another transport",
        ),
        pytest.param(lambda lib: Wrapping(lib.AsyncClient()), id="inside a client that is none of the library's"),
        pytest.param(
            lambda lib: Wrapping(
                lib.AsyncClient(transport=transport_around(lib, transport_around(lib, lib.AsyncHTTPTransport())))
            ),
            id="inside three",
        ),
        pytest.param(
            lambda lib: lib.AsyncClient(
                transport=lib.MockTransport(answer), mounts={"https://": lib.AsyncHTTPTransport()}
            ),
            id="mounted for this URL",
        ),
        pytest.param(lambda lib: AsyncMock(wraps=lib.AsyncClient()), id="a mock that passes calls on"),
    ],
)
def test_the_librarys_own_transport_reaches_the_network(library: Any, make: Callable[[Any], Any]) -> None:
    assert host_reached(URL, make(library)) == "provider.example"


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda lib: lib.AsyncClient(transport=lib.MockTransport(answer)), id="MockTransport"),
        pytest.param(lambda lib: lib.AsyncClient(transport=lib.ASGITransport(app)), id="ASGITransport"),
        pytest.param(lambda lib: lib.Client(transport=lib.WSGITransport(answer)), id="WSGITransport"),
        pytest.param(lambda lib: lib.AsyncClient(transport=own_transport(lib)), id="a transport of one's own"),
        pytest.param(
            lambda lib: lib.AsyncClient(transport=transport_around(lib, lib.MockTransport(answer))),
            id="a fake inside another transport",
        ),
        pytest.param(
            lambda lib: lib.AsyncClient(mounts={"https://provider.example": lib.MockTransport(answer)}),
            id="mounted for this URL",
        ),
        pytest.param(lambda lib: Wrapping(lib.AsyncClient(transport=lib.MockTransport(answer))), id="wrapped client"),
        pytest.param(
            lambda lib: lib.AsyncClient(transport=lib.AsyncHTTPTransport(uds="/run/model.socket")), id="a local socket"
        ),
        pytest.param(lambda lib: AsyncMock(spec=lib.AsyncClient), id="a mock"),
        pytest.param(lambda lib: object(), id="no client of a library"),
        pytest.param(lambda lib: None, id="nothing"),
    ],
)
def test_a_fake_transport_or_client_reaches_no_network(library: Any, make: Callable[[Any], Any]) -> None:
    assert host_reached(URL, make(library)) is None


@pytest.mark.parametrize("library", LIBRARIES)
def test_neither_a_proxy_abroad_nor_one_on_this_machine_makes_a_request_stay_here(library: Any) -> None:
    abroad = library.AsyncClient(proxy="http://proxy.example:3128", trust_env=False)
    at_home = library.AsyncClient(proxy="http://127.0.0.1:3128", trust_env=False)

    assert host_reached("http://127.0.0.1/v1", abroad) == "proxy.example"
    assert host_reached(URL, at_home) == "provider.example"
    assert host_reached("http://127.0.0.1/v1", at_home) is None


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_transport_that_holds_itself_is_looked_through_once(library: Any) -> None:
    around = transport_around(library, None)
    around.inner = around

    assert host_reached(URL, library.AsyncClient(transport=around)) is None


def test_what_is_no_url_is_left_to_the_client() -> None:
    assert host_reached("http://[::1", open_client(httpx)) is None
