"""What a request carries, where it goes, and what is left behind: real connections to loopback servers."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

import toolkit
from builtin_tools.fetch_url import FetchSettings
from tests.builtin_tools.fetch_url.web import PUBLIC, NameBook, page, remembering, sending, tool_over, tunnelling
from tests.http.clients import LIBRARIES, ManualClock, open_client
from tests.http.loopback import Reply, serving

OK = page("fine")
TLS_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nfine"


@pytest.mark.parametrize("library", LIBRARIES)
async def test_nothing_of_the_clients_own_goes_to_a_page(library: Any) -> None:
    client = open_client(
        library,
        headers={"Authorization": "Bearer sk-1234567890", "X-Api-Key": "k-123"},
        cookies={"session": "s-123"},
        params={"key": "p-123"},
        auth=("user", "pass"),
        follow_redirects=True,
        base_url="http://inside.example/api",
    )
    async with serving([Reply(status=302, headers={"Location": "/b"}), OK]) as server, client as http:
        result = await toolkit.execute(tool_over(http, allow_private=True), {"url": f"{server.url}/a?q=1"})

    assert result.value.text == "fine"
    assert [got.target for got in server.requests] == ["/a?q=1", "/b"]
    for got in server.requests:
        assert set(got.headers) == {"host", "user-agent", "accept", "accept-encoding", "connection"}
        assert got.headers["connection"] == "close"


async def test_the_user_agent_is_sent_and_the_contact_is_not(http: Any) -> None:
    config = {"contact": "ada@example.org", "user_agent": "Acme/2.1", "fetch_url": {"allow_private": True}}
    settings = FetchSettings.read(config, {"TOOLWIRE_CONTACT": "bob@example.org"})
    async with serving(OK) as server:
        await toolkit.execute(
            tool_over(http, identity=settings.identity, allow_private=settings.allow_private), {"url": server.url}
        )

    assert server.requests[0].headers["user-agent"] == "Acme/2.1"


async def test_cookies_of_a_page_are_neither_kept_nor_sent_and_the_applications_stay(http: Any) -> None:
    http.cookies.set("own", "1", domain="127.0.0.1")
    replies = [
        Reply(status=302, headers={"Location": "/b", "Set-Cookie": "track=1; Path=/"}),
        page("fine", Set_Cookie="track=2"),
    ]
    async with serving(replies) as server:
        await toolkit.execute(tool_over(http, allow_private=True), {"url": server.url})

    assert all("cookie" not in got.headers for got in server.requests)
    assert [(cookie.name, cookie.value) for cookie in http.cookies.jar] == [("own", "1")]


async def test_the_next_address_is_tried_when_one_takes_no_connection(http: Any, clock: ManualClock) -> None:
    async with serving(OK) as server:
        port = server.url.rpartition(":")[2]
        resolver = NameBook({"page.example": ["::1", "127.0.0.1"]})
        result = await toolkit.execute(
            tool_over(http, resolver, clock=clock, allow_private=True), {"url": f"http://page.example:{port}/"}
        )

    assert result.value.text == "fine"
    assert server.requests[0].headers["host"] == f"page.example:{port}"
    assert clock.slept == []


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("is_allowed", [False, True])
async def test_a_proxy_is_used_only_where_the_application_says_so(library: Any, is_allowed: bool) -> None:
    async with serving(OK) as proxy, open_client(library, proxy=proxy.url) as http:
        resolver = NameBook({"page.example": [PUBLIC]})
        result = await toolkit.execute(
            tool_over(http, resolver, allow_proxy=is_allowed), {"url": "http://page.example/"}
        )
        await proxy.until_no_connection()

    assert [got.target for got in proxy.requests] == [f"http://{PUBLIC}/"]
    if is_allowed:
        assert result.value.text == "fine"
    else:
        assert result.content.startswith("not configured: the application's HTTP client goes through a proxy")
        assert "fetch_url.allow_proxy" in result.content
        assert "fine" not in result.content


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    ("peer", "name", "is_read"),
    [
        ((PUBLIC, 443), "page.example", True),
        ((PUBLIC, 443), "other.example", False),
        (("127.0.0.1", 443), "page.example", False),
        (("10.0.0.1", 3128), "page.example", False),
        ("/run/docker.sock", "page.example", False),
        (None, "page.example", False),
        (("localhost", 443), "page.example", False),
    ],
)
async def test_an_answer_counts_only_from_the_checked_address_over_a_connection_for_its_name(
    library: Any, peer: Any, name: str, is_read: bool
) -> None:
    known = {"server_addr": peer, "ssl_object": SimpleNamespace(server_hostname=name)}
    stream = SimpleNamespace(get_extra_info=known.get)
    http, _ = remembering(
        library,
        lambda _: library.Response(
            200, text="fine", headers={"content-type": "text/plain"}, extensions={"network_stream": stream}
        ),
    )
    async with http:
        result = await toolkit.execute(
            tool_over(http, NameBook({"page.example": [PUBLIC]})), {"url": "https://page.example/"}
        )

    assert (not result.is_error) is is_read
    assert ("fine" in result.content) is is_read


@pytest.fixture(scope="module")
def authority() -> Iterator[tuple[ssl.SSLContext, ssl.SSLContext]]:
    """The server's context, with a certificate for two names, and the client's, which trusts it."""
    trustme = pytest.importorskip("trustme", reason="certificates for tests are made by trustme")
    issuer = trustme.CA()
    server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
    issuer.issue_cert("one.example", "two.example").configure_cert(server)
    issuer.configure_trust(client)
    return server, client


@pytest.mark.parametrize("library", LIBRARIES)
async def test_a_certificate_is_verified_against_the_name_and_each_name_has_its_own_connection(
    library: Any, authority: tuple[ssl.SSLContext, ssl.SSLContext]
) -> None:
    resolver = NameBook({name: ["127.0.0.1"] for name in ("one.example", "two.example", "three.example")})
    async with (
        sending(lambda: [TLS_ANSWER], tls=authority[0]) as server,
        open_client(library, verify=authority[1]) as http,
    ):
        tool = tool_over(http, resolver, allow_private=True)
        read = [
            await toolkit.execute(tool, {"url": f"https://{name}.example:{server.port}/"})
            for name in ("one", "two", "three")
        ]
        await server.until_no_connection()

    assert [result.is_error for result in read] == [False, False, True]
    assert server.names == ["one.example", "two.example", "three.example"]
    assert read[2].content.startswith('unavailable: "three.example" has no valid certificate')


@pytest.mark.parametrize("library", LIBRARIES)
async def test_https_through_an_allowed_proxy_is_verified_against_the_name_too(
    library: Any, authority: tuple[ssl.SSLContext, ssl.SSLContext]
) -> None:
    resolver = NameBook({"one.example": [PUBLIC]})
    async with (
        sending(lambda: [TLS_ANSWER], tls=authority[0]) as server,
        tunnelling(server.port) as proxy,
        open_client(library, verify=authority[1], proxy=proxy.url) as http,
    ):
        result = await toolkit.execute(tool_over(http, resolver, allow_proxy=True), {"url": "https://one.example/"})

    assert proxy.asked[0] == f"{PUBLIC}:443"
    if library.__name__ == "httpx2":
        assert result.value.text == "fine"
    else:  # httpx 0.28 leaves the name out in a tunnel, and verifies the certificate against the IP address
        assert result.content.startswith('unavailable: "one.example" has no valid certificate')


@pytest.mark.parametrize("library", LIBRARIES)
async def test_a_redirect_from_https_to_http_is_not_followed(
    library: Any, authority: tuple[ssl.SSLContext, ssl.SSLContext]
) -> None:
    answer = b"HTTP/1.1 302 Found\r\nLocation: http://one.example/\r\nContent-Length: 0\r\n\r\n"
    async with (
        sending(lambda: [answer], tls=authority[0]) as server,
        open_client(library, verify=authority[1]) as http,
    ):
        result = await toolkit.execute(
            tool_over(http, NameBook({"one.example": ["127.0.0.1"]}), allow_private=True),
            {"url": f"https://one.example:{server.port}/"},
        )

    assert result.error is not None
    assert "it is http, and the page was https" in result.content
    assert len(server.names) == 1


@pytest.mark.parametrize(
    ("url", "addresses"),
    [
        ("http://169.254.169.254/", []),
        ("http://[fe80::1]/", []),
        ("http://metadata.google.internal/", ["127.0.0.1"]),
        ("http://page.example/", ["169.254.169.254"]),
        ("http://page.example/", ["127.0.0.1", "fd00:ec2::254"]),
        ("http://page.example/", ["::ffff:127.0.0.1"]),
        ("http://0.0.0.0/", []),
    ],
)
async def test_metadata_and_their_like_stay_closed_where_private_addresses_are_allowed(
    http: Any, url: str, addresses: list[str]
) -> None:
    resolver = NameBook({url.split("/")[2]: addresses})

    result = await toolkit.execute(tool_over(http, resolver, allow_private=True), {"url": url})

    assert result.content.startswith("blocked url: ")


@pytest.mark.parametrize("name", ["localhost", "intranet", "wiki.corp"])
async def test_local_names_and_other_ports_can_be_read_where_private_addresses_are_allowed(
    http: Any, name: str
) -> None:
    async with serving(OK) as server:
        port = server.url.rpartition(":")[2]
        result = await toolkit.execute(
            tool_over(http, NameBook({name: ["127.0.0.1"]}), allow_private=True), {"url": f"http://{name}:{port}/"}
        )

    assert result.value.text == "fine"
