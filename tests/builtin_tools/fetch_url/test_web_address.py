"""Addresses: what is read of them is what both HTTP libraries read, and reading it again gives the same."""

from __future__ import annotations

from ipaddress import ip_address

import httpx
import httpx2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from builtin_tools.fetch_url.refusals import Refused
from builtin_tools.fetch_url.web_address import WebAddress
from tests.builtin_tools.fetch_url.web import PUBLIC, PUBLIC_V6

PIECES = [
    *(
        "http",
        "https",
        "HTTP",
        "ftp",
        ":",
        "://",
        "//",
        "/",
        "\\",
        "@",
        "?",
        "#",
        "[",
        "]",
        "%",
        "%2f",
        "%25",
        "..",
        ".",
    ),
    *("example", ".org", "localhost", "127.0.0.1", "2130706433", "0x7f", "::1", "fe80::1", ":80", ":443", ":99999"),
    *(
        "user",
        "a b",
        "ü",
        "\u3002",
        "\uff11",
        "\u2488",
        "\u200b",
        "\t",
        "\r\n",
        "\x00",
        "|",
        "'",
        '"',
        "<",
        ";",
        "&",
        "=",
    ),
]
NOISE = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), max_size=12).map("".join)


def read(text: str) -> WebAddress | None:
    try:
        return WebAddress.read(text)
    except Refused:
        return None


@given(st.one_of(NOISE, NOISE.map("http://example.org{}".format), NOISE.map("https://{}".format)))
@example("http://example.org/%")
@example("http://example.org/../../x?y=../z&[|]'\"<>`{}^")
@example("http://[::ffff:1.2.3.4]:443?x")
def test_no_library_reads_another_host_out_of_an_address_than_the_one_that_was_checked(text: str) -> None:
    address = read(text)
    if address is None:
        return

    for checked in (PUBLIC, PUBLIC_V6):
        for library in (httpx, httpx2):
            url = library.URL(address.at(ip_address(checked)))
            assert url.host == checked
            assert url.scheme == address.scheme
            assert url.port in (None, address.port)
            assert url.userinfo == b""
    assert address.url.isascii()
    assert address.url.isprintable()


@given(NOISE.map("http://example.org/{}".format))
def test_an_address_read_again_is_the_same(text: str) -> None:
    address = read(text)

    if address is not None:
        assert WebAddress.read(address.url) == address


@given(NOISE)
def test_a_redirect_leads_to_an_address_or_is_refused(location: str) -> None:
    try:
        following = WebAddress.read("https://page.example/a/b?c").joined(location)
    except Refused:
        return

    assert WebAddress.read(following.url) == following


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("", "https://page.example/a/b?c"),
        ("d", "https://page.example/a/d"),
        ("/d e", "https://page.example/d%20e"),
        ("../d", "https://page.example/d"),
        ("?d", "https://page.example/a/b?d"),
        ("#d", "https://page.example/a/b?c"),
        ("//other.example", "https://other.example/"),
        (" https://other.example/ü ", "https://other.example/%C3%BC"),
    ],
)
def test_a_redirect_is_relative_to_the_page(location: str, url: str) -> None:
    assert WebAddress.read("https://page.example/a/b?c").joined(location).url == url
