"""A page's address, read strictly: what two libraries could read in two ways is refused."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from urllib.parse import quote, urljoin

from builtin_tools.fetch_url.addresses import IPAddress
from builtin_tools.fetch_url.refusals import Refused

__all__ = ["MAX_LENGTH", "WebAddress"]

MAX_LENGTH = 4_096
_DEFAULT_PORTS = {"http": 80, "https": 443}
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_AUTHORITY = re.compile(r"//([^/?#]*)([^#]*)")
_PORT = re.compile(r"[0-9]{1,5}")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029\ufeff\ud800-\udfff]")
_KEPT = "/?%:@!$&'()*+,;=~-._[]|"


@dataclass(frozen=True, slots=True)
class WebAddress:
    """An http or https address without name, password and fragment.

    Attributes:
        host: A name in lower case and ASCII (IDNA), without a dot at its end; or an IP address as text.
        target: Path and query, percent-encoded; it begins with `/`.

    Example:
        >>> WebAddress.read("HTTPS://Bücher.Example:443/a b?q=ü#top").url
        'https://xn--bcher-kva.example/a%20b?q=%C3%BC'
    """

    scheme: str
    host: str
    port: int
    target: str

    @classmethod
    def read(cls, text: str) -> WebAddress:
        """The address that a text is.

        Raises:
            Refused: with what is wrong.
        """
        text = text.strip(" \t\r\n")
        if len(text) > MAX_LENGTH:
            raise Refused("length", f"the address is longer than {MAX_LENGTH} characters")
        scheme = _SCHEME.match(text)
        if scheme is None:
            raise Refused("scheme", "the address has to begin with https:// or http://")
        name = scheme[1].lower()
        if name not in _DEFAULT_PORTS:
            raise Refused("scheme", f'the scheme "{name[:20]}" is not read; only https and http are')
        rest = _AUTHORITY.match(text, scheme.end())
        if rest is None or not rest[1]:
            raise Refused("host", "the address names no host")
        authority, target = rest[1], rest[2]
        if "\\" in text:
            raise Refused("characters", "the address holds a backslash")
        # A space is common in a path that people wrote; anywhere else, and any other such character, is a trick.
        if _FORBIDDEN.search(authority) or _FORBIDDEN.search(target.replace(" ", "")):
            raise Refused("characters", "the address holds characters that no address may have")
        if "@" in authority:
            raise Refused("credentials", "the address holds a user name or password, which are not sent")
        host, port = _host_and_port(authority, _DEFAULT_PORTS[name])
        return cls(name, host, port, quote(target if target.startswith("/") else f"/{target}", safe=_KEPT))

    @property
    def ip(self) -> IPAddress | None:
        """The host as an IP address, or None when it is a name."""
        return _address_of(self.host)

    @property
    def authority(self) -> str:
        """The host as URLs and the `Host` header have it, with the port where it is not the scheme's own."""
        return self._at(self.host)

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"

    def at(self, ip: IPAddress) -> str:
        """The same address with an IP address for the host's name."""
        return f"{self.scheme}://{self._at(str(ip))}{self.target}"

    def joined(self, location: str) -> WebAddress:
        """Where a redirect leads. Raises as `read` does."""
        if len(location) > MAX_LENGTH:
            raise Refused("length", f"it is longer than {MAX_LENGTH} characters")
        if _FORBIDDEN.search(location.strip(" \t").replace(" ", "")):  # urljoin would drop some of them silently
            raise Refused("characters", "it holds characters that no address may have")
        try:
            joined = urljoin(self.url, location.strip(" \t"))
        except ValueError:
            raise Refused("host", "it can't be read") from None
        return WebAddress.read(joined)

    def _at(self, host: str) -> str:
        host = f"[{host}]" if ":" in host else host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"


def _host_and_port(authority: str, default: int) -> tuple[str, int]:
    if authority.startswith("["):
        host, bracket, rest = authority[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise Refused("host", "the IPv6 address has no end")
        return _ipv6(host), _port(rest[1:], default)
    host, colon, port = authority.rpartition(":")
    if not colon:
        host, port = authority, ""
    return _name(host), _port(port, default)


def _port(text: str, default: int) -> int:
    if not text:
        return default
    if not _PORT.fullmatch(text) or not 0 < int(text) < 65_536:
        raise Refused("port", "the port is no number from 1 to 65535")
    return int(text)


def _ipv6(text: str) -> str:
    if "%" in text:
        raise Refused("zone", "an IPv6 address with a zone is of this computer's own network")
    try:
        return str(IPv6Address(text))
    except AddressValueError:
        raise Refused("host", "what stands in brackets is no IPv6 address") from None


def _name(text: str) -> str:
    host = _ascii(text).lower()
    host = host.removesuffix(".")
    labels = host.split(".")
    if len(host) > 253 or not all(map(_LABEL.fullmatch, labels)):
        raise Refused("host", "the host's name is none: letters, digits and hyphens between dots are")
    if not _NUMBER.fullmatch(labels[-1]):
        return host
    try:
        return str(IPv4Address(host))
    except AddressValueError:
        # 127.1, 2130706433, 0177.0.0.1 and 0x7f.1 are all 127.0.0.1 to some libraries, and something else to others.
        raise Refused("number", "an IPv4 address has to be four decimal numbers without zeros in front") from None


def _ascii(host: str) -> str:
    if host.isascii():
        return host
    import idna  # tables of 2 MB, for the few hosts that need them

    try:
        return idna.encode(host, uts46=True).decode("ascii")
    except UnicodeError:
        raise Refused("host", "the host's name holds characters that no host's name may have") from None


def _address_of(host: str) -> IPAddress | None:
    if ":" in host:
        return IPv6Address(host)
    return IPv4Address(host) if _NUMBER.fullmatch(host.rpartition(".")[2]) else None
