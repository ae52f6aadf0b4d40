"""Deciding whether a page may be read, and from which addresses. Nothing is sent anywhere before."""

from __future__ import annotations

import socket
from ipaddress import ip_address

from builtin_tools.fetch_url.addresses import IPAddress, refusal_of
from builtin_tools.fetch_url.protocol import NameResolver
from builtin_tools.fetch_url.refusals import PROVIDER, Refused
from builtin_tools.fetch_url.settings import FetchSettings
from builtin_tools.fetch_url.web_address import WebAddress
from builtin_tools.http import ServiceError

__all__ = ["AddressGuard"]

_PORTS = (80, 443)
_METADATA_NAMES = ("metadata.google.internal", "metadata.goog", "instance-data.ec2.internal", "metadata.azure.internal")
# Special-use names (RFC 6761, 6762, 7686, 8375, 9476), and what offices and clusters use.
_LOCAL_SUFFIXES = ("localhost", "local", "internal", "intranet", "lan", "corp", "home", "home.arpa", "localdomain")
_NO_HOST_SUFFIXES = ("onion", "alt", "invalid", "arpa")


class AddressGuard:
    """Tells from which IP addresses a page may be read.

    A name is resolved once, and the page is then read from an address that was checked: whatever the name resolves
    to a moment later (DNS rebinding) has no effect.
    """

    def __init__(self, resolver: NameResolver, settings: FetchSettings) -> None:
        self._resolver = resolver
        self._settings = settings

    async def checked(self, address: WebAddress) -> tuple[IPAddress, ...]:
        """All addresses of the host, each of which may be read from.

        Raises:
            Refused: if only one of them may not.
            ServiceError: `not_found`, for a name without any; `unavailable`, where that could not be found out.
        """
        if address.port not in _PORTS and not self._settings.allow_private:
            raise Refused("port", "pages are read from the ports 80 and 443 only")
        literal = address.ip
        if literal is not None:
            self._check(literal, is_answer=False)
            return (literal,)
        self._check_name(address.host)
        addresses = await self._resolved(address.host)
        for found in addresses:
            self._check(found, is_answer=True)
        return addresses

    def _check_name(self, host: str) -> None:
        if _is_under(host, _METADATA_NAMES):
            raise Refused("metadata", "the host is one where clouds keep their metadata")
        if self._settings.allow_private:
            return
        if "." not in host or _is_under(host, _LOCAL_SUFFIXES):
            raise Refused("local_name", "the host's name is one of a local network, not of the public web")
        if _is_under(host, _NO_HOST_SUFFIXES):
            raise Refused("local_name", "the host's name is not one of the public web")

    async def _resolved(self, host: str) -> tuple[IPAddress, ...]:
        try:
            texts = await self._resolver.addresses(host)
        except (OSError, UnicodeError) as error:  # UnicodeError: getaddrinfo has its own opinion of long labels
            raise _unresolved(host, error) from error
        try:
            addresses = tuple(dict.fromkeys(map(ip_address, texts)))
        except ValueError as error:
            raise Refused("resolver", "the host's address is none that can be read") from error
        if not addresses:
            raise _unresolved(host, None)
        return addresses

    def _check(self, address: IPAddress, *, is_answer: bool) -> None:
        reason = refusal_of(address, allow_private=self._settings.allow_private, is_answer=is_answer)
        if reason is not None:
            told = "the host has" if is_answer else "the host is"
            raise Refused("address", f"{told} {reason}; only pages of the public web are read")


def _is_under(host: str, names: tuple[str, ...]) -> bool:
    return any(host == name or host.endswith(f".{name}") for name in names)


def _unresolved(host: str, error: Exception | None) -> ServiceError:
    is_temporary = isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN
    return ServiceError(
        "unavailable" if is_temporary else "not_found",
        f'the host "{host}" could not be looked up' if is_temporary else f'there is no host "{host}"',
        provider=PROVIDER,
        operation="fetch",
        code="unknown_host",
        is_temporary=is_temporary,
    )
