"""What must never be read, through the tool: each address is refused for its reason, and no connection is opened."""

from __future__ import annotations

from typing import Any

import pytest

import toolkit
from builtin_tools.http import ServiceError
from tests.builtin_tools.fetch_url.web import PUBLIC, PUBLIC_V6, NameBook, remembering, tool_over
from tests.http.clients import LIBRARIES

LOOPBACK, PRIVATE, CLOUD = "a loopback address", "a private address", "clouds keep their metadata"
INNER, EMBEDDED, NO_HOST = "inner network", "an IPv4 address inside an IPv6 address", "stands for no host"
DECIMALS, NAME = "four decimal numbers", "the host's name is none"
CREDENTIALS, PORTS, SCHEME = "user name or password", "ports 80 and 443 only", "only https and http"
LOCAL, CHARACTERS = "local network", "characters that no address may have"

URLS = [
    # spellings of IPv4 addresses
    ("http://127.0.0.1/", "address", LOOPBACK),
    ("http://127.8.9.10/admin", "address", LOOPBACK),
    ("http://10.0.0.5/", "address", PRIVATE),
    ("http://172.31.255.255/", "address", PRIVATE),
    ("http://192.168.1.1/", "address", PRIVATE),
    ("http://100.64.0.1/", "address", INNER),
    ("http://0.0.0.0/", "address", NO_HOST),
    ("http://255.255.255.255/", "address", "reserved or broadcast"),
    ("http://224.0.0.251/", "address", "multicast"),
    ("http://198.18.0.1/", "address", "for measurements"),
    ("http://203.0.113.9/", "address", "for documentation"),
    ("http://192.0.0.8/", "address", "of a protocol"),
    ("http://2130706433/", "number", DECIMALS),
    ("http://134744072/", "number", DECIMALS),
    ("http://0x7f000001/", "number", DECIMALS),
    ("http://0x7f.0.0.1/", "number", DECIMALS),
    ("http://0x7f.1/", "number", DECIMALS),
    ("http://0X7F.0X0.0X0.0X1/", "number", DECIMALS),
    ("http://017700000001/", "number", DECIMALS),
    ("http://0177.0.0.1/", "number", DECIMALS),
    ("http://127.1/", "number", DECIMALS),
    ("http://127.0.1/", "number", DECIMALS),
    ("http://0/", "number", DECIMALS),
    ("http://010.8.8.8/", "number", DECIMALS),
    ("http://127.0.0.256/", "number", DECIMALS),
    ("http://1.2.3.4.5/", "number", DECIMALS),
    ("http://example.0x7f/", "number", DECIMALS),
    ("http://127.0.0.1./", "address", LOOPBACK),
    ("http://127.0.0.1../", "host", NAME),
    # metadata
    ("http://169.254.169.254/latest/meta-data/", "address", CLOUD),
    ("http://169.254.170.2/v2/credentials", "address", CLOUD),
    ("http://168.63.129.16/machine?comp=goalstate", "address", CLOUD),
    ("http://100.100.100.200/latest/meta-data/", "address", CLOUD),
    ("http://192.0.0.192/opc/v2/", "address", CLOUD),
    ("http://[fd00:ec2::254]/latest/", "address", CLOUD),
    ("http://[fd20:ce::254]/", "address", CLOUD),
    ("http://metadata.google.internal/computeMetadata/v1/", "metadata", CLOUD),
    ("http://METADATA.google.INTERNAL./", "metadata", CLOUD),
    # IPv6
    ("http://[::1]/", "address", LOOPBACK),
    ("http://[0:0:0:0:0:0:0:1]/", "address", LOOPBACK),
    ("http://[::]/", "address", NO_HOST),
    ("http://[::ffff:127.0.0.1]/", "address", EMBEDDED),
    ("http://[::ffff:7f00:1]/", "address", EMBEDDED),
    ("http://[::ffff:a9fe:a9fe]/", "address", EMBEDDED),
    ("http://[::127.0.0.1]/", "address", EMBEDDED),
    ("http://[::ffff:0:10.0.0.1]/", "address", EMBEDDED),
    ("http://[2002:7f00:1::]/", "address", EMBEDDED),
    ("http://[2002:c0a8:101::1]/", "address", EMBEDDED),
    ("http://[2001:0:53aa:64c:0:0:80ff:fffe]/", "address", EMBEDDED),
    ("http://[64:ff9b::7f00:1]/", "address", EMBEDDED),
    ("http://[64:ff9b::169.254.169.254]/", "address", EMBEDDED),
    ("http://[64:ff9b:1::a00:1]/", "address", EMBEDDED),
    ("http://[2606:4700::5efe:7f00:1]/", "address", EMBEDDED),
    ("http://[2606:4700::200:5efe:7f00:1]/", "address", EMBEDDED),
    ("http://[fc00::1]/", "address", PRIVATE),
    ("http://[fe80::1]/", "address", "link-local"),
    ("http://[fe80::1%25eth0]/", "zone", "zone"),
    ("http://[fe80::1%eth0]/", "zone", "zone"),
    ("http://[::1%25lo]/", "zone", "zone"),
    ("http://[fec0::1]/", "address", "site-local"),
    ("http://[ff02::1]/", "address", "multicast"),
    ("http://[2001:db8::1]/", "address", "for documentation"),
    ("http://[100::1]/", "address", "outside of the public range"),
    ("http://[4000::1]/", "address", "outside of the public range"),
    ("http://[::1/", "host", "has no end"),
    ("http://[127.0.0.1]/", "host", "no IPv6 address"),
    ("http://[::1]evil.example/", "host", "has no end"),
    # local names
    ("http://localhost/", "local_name", LOCAL),
    ("http://LOCALHOST./", "local_name", LOCAL),
    ("http://db.localhost/", "local_name", LOCAL),
    ("http://printer.local/", "local_name", LOCAL),
    ("http://vault.internal/", "local_name", LOCAL),
    ("http://intranet/", "local_name", LOCAL),
    ("http://router.home.arpa/", "local_name", LOCAL),
    ("http://hidden.onion/", "local_name", "not one of the public web"),
    # what Unicode makes of a name
    ("http://１２７.0.0.1/", "address", LOOPBACK),  # noqa: RUF001
    ("http://①②⑦.⓪.⓪.①/", "address", LOOPBACK),
    ("http://127。0。0。1/", "address", LOOPBACK),
    ("http://127．0．0．1/", "address", LOOPBACK),  # noqa: RUF001
    ("http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/", "local_name", LOCAL),
    ("http://loc\u00adalhost/", "local_name", LOCAL),
    ("http://loc\u200balhost/", "local_name", LOCAL),
    ("http://１６９.254.169.254/", "address", CLOUD),  # noqa: RUF001
    ("http://０x7f000001/", "number", DECIMALS),  # noqa: RUF001
    ("http://exa⒈mple.org/", "host", "characters that no host's name may have"),
    ("http://example.org℀/", "host", "no"),
    # credentials
    ("http://user:pass@example.org/", "credentials", CREDENTIALS),
    ("http://example.org@127.0.0.1/", "credentials", CREDENTIALS),
    ("http://127.0.0.1:80@example.org/", "credentials", CREDENTIALS),
    ("http://@example.org/", "credentials", CREDENTIALS),
    ("http://user%40example.org:x@127.0.0.1/", "credentials", CREDENTIALS),
    # ports
    ("http://example.org:22/", "port", PORTS),
    ("http://example.org:6379/", "port", PORTS),
    ("https://example.org:8443/", "port", PORTS),
    ("http://example.org:0/", "port", "from 1 to 65535"),
    ("http://example.org:65536/", "port", "from 1 to 65535"),
    ("http://example.org:８０/", "port", "from 1 to 65535"),  # noqa: RUF001
    ("http://example.org:80:80/", "host", NAME),
    ("http://example.org:+80/", "port", "from 1 to 65535"),
    # schemes
    ("file:///etc/passwd", "scheme", SCHEME),
    ("ftp://example.org/", "scheme", SCHEME),
    ("gopher://127.0.0.1:6379/_INFO", "scheme", SCHEME),
    ("data:text/html,hello", "scheme", SCHEME),
    ("javascript:alert(1)", "scheme", SCHEME),
    ("unix:///var/run/docker.sock", "scheme", SCHEME),
    ("http+unix://%2Fvar%2Frun/", "scheme", SCHEME),
    ("view-source:http://example.org/", "scheme", SCHEME),
    ("//example.org/", "scheme", "begin with https:// or http://"),
    ("example.org", "scheme", "begin with https:// or http://"),
    ("127.0.0.1:80", "scheme", "begin with https:// or http://"),
    # what two parsers read in two ways
    ("http:///example.org/", "host", "names no host"),
    ("http:example.org", "host", "names no host"),
    ("http://?x", "host", "names no host"),
    ("http://example.org\\@127.0.0.1/", "characters", "backslash"),
    ("http:\\\\127.0.0.1\\", "host", "names no host"),
    ("http://127.0.0.1%2f@example.org/", "credentials", CREDENTIALS),
    ("http://%31%32%37.0.0.1/", "host", NAME),
    ("http://example.org%00.evil.example/", "host", NAME),
    ("http://exam\tple.org/", "characters", CHARACTERS),
    ("http://example.org /", "characters", CHARACTERS),
    ("http://example.org/\r\nHost: 127.0.0.1", "characters", CHARACTERS),
    ("http://example.org/\x00", "characters", CHARACTERS),
    ("http://example.org/\ud800", "characters", CHARACTERS),
    ("http://-example.org/", "host", NAME),
    ("http://example..org/", "host", NAME),
    ("http://.example.org/", "host", NAME),
    ("http://./", "host", NAME),
    ("http://" + "a" * 64 + ".org/", "host", NAME),
    ("http://" + "a.b" * 100 + ".org/", "host", NAME),
    ("http://example.org/" + "a" * 4_080, "length", "longer than 4096 characters"),
]

ANSWERS = [
    ("loopback", ["127.0.0.1"], LOOPBACK),
    ("private", ["10.1.2.3"], PRIVATE),
    ("metadata", ["169.254.169.254"], CLOUD),
    ("azure", ["168.63.129.16"], CLOUD),
    ("a private one after a public one", [PUBLIC, "192.168.0.1"], PRIVATE),
    ("a private one before a public one", ["10.0.0.1", PUBLIC], PRIVATE),
    ("loopback for IPv6 beside public IPv4", [PUBLIC, "::1"], LOOPBACK),
    ("mapped", ["::ffff:10.0.0.1"], EMBEDDED),
    ("mapped though public", [f"::ffff:{PUBLIC}"], EMBEDDED),
    ("6to4", ["2002:a00:1::1"], EMBEDDED),
    ("teredo", ["2001::1"], EMBEDDED),
    ("nat64 to loopback", ["64:ff9b::7f00:1"], LOOPBACK),
    ("nat64 to metadata", ["64:ff9b::a9fe:a9fe"], CLOUD),
    ("nat64 of one's own", ["64:ff9b:1::808:808"], EMBEDDED),
    ("a zone", ["fe80::1%eth0"], "zone"),
    ("a zone on a public address", [f"{PUBLIC_V6}%eth0"], "zone"),
    ("unique local", ["fd12:3456::1"], PRIVATE),
    ("carrier", ["100.127.255.255"], INNER),
    ("nothing that can be read", ["localhost"], "none that can be read"),
]

REDIRECTS = [
    ("to loopback", ["http://127.0.0.1/"], "address", LOOPBACK),
    ("to metadata", ["http://169.254.169.254/latest/meta-data/iam/"], "address", CLOUD),
    ("to a name that is private", ["http://inside.example/"], "address", PRIVATE),
    ("through a second page", ["http://other.example/", "http://[::1]/"], "address", LOOPBACK),
    ("without a scheme", ["//127.0.0.1/"], "address", LOOPBACK),
    ("to a port", ["http://other.example:6379/"], "port", PORTS),
    ("to another port of the host", ["http://page.example:8080/"], "port", PORTS),
    ("to a file", ["file:///etc/passwd"], "scheme", SCHEME),
    ("to gopher", ["gopher://127.0.0.1:25/"], "scheme", SCHEME),
    ("with credentials", ["http://user:pass@other.example/"], "credentials", CREDENTIALS),
    ("by backslashes", ["\\\\127.0.0.1\\"], "characters", "backslash"),
    ("to a decimal address", ["http://2130706433/"], "number", DECIMALS),
    ("to localhost", ["/next", "http://localhost/"], "local_name", LOCAL),
]


def every_page_is_there(library: Any) -> tuple[Any, Any]:
    return remembering(library, lambda _: library.Response(200, text="reached", headers={"content-type": "text/plain"}))


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(("url", "code", "reason"), URLS, ids=[ascii(row[0])[:60] for row in URLS])
async def test_an_address_that_must_not_be_read_is_refused_and_nothing_is_sent(
    library: Any, url: str, code: str, reason: str
) -> None:
    http, sent = every_page_is_there(library)
    resolver = NameBook({"example.org": [PUBLIC], "localhost": ["127.0.0.1"], "vault.internal": [PUBLIC]})

    async with http:
        with pytest.raises(ServiceError) as caught:
            await tool_over(http, resolver).client.page(url)

    error = caught.value
    assert (error.kind, error.code) == ("blocked_url", code)
    assert reason in str(error)
    assert str(error).startswith("blocked url: ")
    assert sent.requests == []
    assert resolver.asked == []


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(("addresses", "reason"), [row[1:] for row in ANSWERS], ids=[row[0] for row in ANSWERS])
async def test_a_name_with_an_address_that_must_not_be_read_is_refused_and_nothing_is_sent(
    library: Any, addresses: list[str], reason: str
) -> None:
    http, sent = every_page_is_there(library)
    resolver = NameBook({"page.example": addresses})

    async with http:
        result = await toolkit.execute(tool_over(http, resolver), {"url": "https://page.example/"})

    assert result.is_error
    assert reason in result.content
    assert sent.requests == []
    assert not any(address in result.content for address in addresses if address != "localhost")


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    ("locations", "code", "reason"), [row[1:] for row in REDIRECTS], ids=[row[0] for row in REDIRECTS]
)
async def test_a_redirect_to_what_must_not_be_read_is_not_followed(
    library: Any, locations: list[str], code: str, reason: str
) -> None:
    following = iter(locations)
    http, sent = remembering(library, lambda _: library.Response(302, headers={"location": next(following)}))
    resolver = NameBook({"page.example": [PUBLIC], "other.example": [PUBLIC_V6], "inside.example": ["10.0.0.1"]})

    async with http:
        result = await toolkit.execute(tool_over(http, resolver), {"url": "http://page.example/"})

    assert isinstance(result.error, ServiceError)
    assert (result.error.kind, result.error.code) == ("blocked_url", code)
    assert reason in result.content
    assert "the page redirects to an address that is not read" in result.content
    assert {request.url.host for request in sent.requests} <= {PUBLIC, PUBLIC_V6}
    assert len(sent.requests) == len(locations)
    for secret in ("127.0.0.1", "169.254", "inside.example", "10.0.0.1", "passwd", "user:pass"):
        assert secret not in result.content


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    "location", ["http://127.0.0.1\t/", "http://[::1/", "http://[::1]:x/", "http://1.2.3.4:99999/"]
)
async def test_a_redirect_that_can_not_be_read_ends_in_an_error_and_nothing_more_is_sent(
    library: Any, location: str
) -> None:
    http, sent = remembering(library, lambda _: library.Response(302, headers={"location": location}))

    async with http:
        result = await toolkit.execute(
            tool_over(http, NameBook({"page.example": [PUBLIC]})), {"url": "http://page.example/"}
        )

    # httpx refuses some of them itself, as an answer against the protocol
    assert isinstance(result.error, ServiceError)
    assert result.error.kind in ("blocked_url", "unavailable")
    assert {request.url.host for request in sent.requests} == {PUBLIC}
    assert "127.0.0.1" not in result.content


@pytest.mark.parametrize("library", LIBRARIES)
async def test_a_name_that_resolves_to_another_address_a_moment_later_is_read_from_the_checked_one(
    library: Any,
) -> None:
    http, sent = every_page_is_there(library)
    resolver = NameBook({"rebinding.example": [[PUBLIC], ["127.0.0.1"]]})

    async with http:
        result = await toolkit.execute(tool_over(http, resolver), {"url": "http://rebinding.example/"})

    assert not result.is_error
    assert resolver.asked == ["rebinding.example"]
    assert sent.urls == [f"http://{PUBLIC}/"]
    assert sent.requests[0].headers["host"] == "rebinding.example"


@pytest.mark.parametrize("library", LIBRARIES)
async def test_a_name_that_rebinds_between_redirects_is_checked_again(library: Any) -> None:
    http, sent = remembering(library, lambda _: library.Response(302, headers={"location": "/again"}))
    resolver = NameBook({"rebinding.example": [[PUBLIC], ["127.0.0.1"]]})

    async with http:
        result = await toolkit.execute(tool_over(http, resolver), {"url": "http://rebinding.example/"})

    assert LOOPBACK in result.content
    assert sent.urls == [f"http://{PUBLIC}/"]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    ("url", "addresses", "sent_to", "host"),
    [
        ("http://page.example/", [PUBLIC], f"http://{PUBLIC}/", "page.example"),
        ("HTTPS://Page.Example.:443/a b?q=ü#top", [PUBLIC], f"https://{PUBLIC}/a%20b?q=%C3%BC", "page.example"),
        ("https://page.example", [PUBLIC_V6], f"https://[{PUBLIC_V6}]/", "page.example"),
        ("http://bücher.example/", [PUBLIC], f"http://{PUBLIC}/", "xn--bcher-kva.example"),
        ("http://my_blog.example/", [PUBLIC], f"http://{PUBLIC}/", "my_blog.example"),
        (f"http://{PUBLIC}/", [], f"http://{PUBLIC}/", PUBLIC),
        (f"http://[{PUBLIC_V6}]/", [], f"http://[{PUBLIC_V6}]/", f"[{PUBLIC_V6}]"),
        ("http://page.example:443/", [PUBLIC], f"http://{PUBLIC}:443/", "page.example:443"),
        ("http://8.8.8.8.example/", ["8.8.8.8"], "http://8.8.8.8/", "8.8.8.8.example"),
        ("http://page.example/", ["64:ff9b::808:808"], "http://[64:ff9b::808:808]/", "page.example"),
        ("http://page.example/?next=http://127.0.0.1/@x", [PUBLIC], None, "page.example"),
    ],
)
async def test_a_public_address_is_read_by_its_checked_address_with_its_name_in_the_request(
    library: Any, url: str, addresses: list[str], sent_to: str | None, host: str
) -> None:
    http, sent = every_page_is_there(library)
    name = host.partition(":")[0]

    async with http:
        result = await toolkit.execute(tool_over(http, NameBook({name: addresses} if addresses else {})), {"url": url})

    assert not result.is_error, result.content
    [request] = sent.requests
    assert sent_to in (None, str(request.url))
    assert request.url.host in (*addresses, PUBLIC, PUBLIC_V6)
    assert request.headers["host"] == host
    assert request.extensions.get("sni_hostname") == (name if addresses else None)


def test_the_tables_are_as_long_as_promised() -> None:
    assert len(URLS) + len(ANSWERS) + len(REDIRECTS) >= 60
    assert len({row[0] for row in URLS}) == len(URLS)
