"""Getting a page's bytes: from a checked address, through every redirect, within bounds."""

from __future__ import annotations

import ssl
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, cast

from builtin_tools.fetch_url.addresses import IPAddress
from builtin_tools.fetch_url.bodies import OversizedPage, UnreadableBody, is_readable_encoding, read_body
from builtin_tools.fetch_url.guard import AddressGuard
from builtin_tools.fetch_url.media import MediaType
from builtin_tools.fetch_url.protocol import PageClient, PageResponse
from builtin_tools.fetch_url.refusals import PROVIDER, Refused
from builtin_tools.fetch_url.settings import FetchSettings
from builtin_tools.fetch_url.web_address import WebAddress
from builtin_tools.http import Answer, Clock, ErrorKind, ServiceError
from builtin_tools.http.answers import sanitised
from toolkit.http.failures import failure_of, transport_errors, unreadable_headers
from toolkit.http.retry_after import read_retry_after

__all__ = ["Download", "Downloader", "unsupported"]

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_REDIRECTS_FOLLOWED = 5
_ADDRESSES_TRIED = 4
_CONNECTING = 5.0
_ACCEPT = "text/html, text/markdown, text/plain, application/json, application/xhtml+xml, text/*;q=0.8, */*;q=0.1"


@dataclass(frozen=True, slots=True)
class Download:
    """A page's bytes, unpacked, and the address that they came from at last."""

    address: WebAddress
    media: MediaType
    content: bytes


class Downloader:
    """Asks for pages with nothing in the request but what stands here.

    The request is made anew, not by the client's `stream()` or `get()`: these add the client's own headers, cookies
    and parameters, which are the application's and for its own services. What a page sets as cookies is forgotten.
    """

    def __init__(self, http: PageClient, guard: AddressGuard, settings: FetchSettings, clock: Clock) -> None:
        self._http = http
        self._guard = guard
        self._settings = settings
        self._clock = clock

    async def download(self, address: WebAddress) -> Download:
        """The page, after at most five redirects; each is checked as the first address is.

        Raises:
            ServiceError: for what is not read, what fails, and every status but 2xx.
        """
        seen: list[WebAddress] = []
        while len(seen) <= _REDIRECTS_FOLLOWED:
            seen.append(address)
            addresses = await self._checked(address, is_redirect=len(seen) > 1)
            async with self._opened(address, addresses) as response:
                if response.status_code not in _REDIRECTS:
                    return await self._read(address, response)
                location = response.headers.get("location", "")
            address = _following(address, location)
            if address in seen:
                raise _failure("unavailable", "the page redirects in a circle", address)
        raise _failure("unavailable", f"the page redirects more than {_REDIRECTS_FOLLOWED} times", address)

    async def _checked(self, address: WebAddress, *, is_redirect: bool) -> tuple[IPAddress, ...]:
        try:
            return await self._guard.checked(address)
        except Refused as error:
            raise error.told(is_redirect=is_redirect) from None

    @asynccontextmanager
    async def _opened(self, address: WebAddress, addresses: Sequence[IPAddress]) -> AsyncGenerator[PageResponse, None]:
        """The answer, from the first of the addresses that takes a connection. It is closed after the block."""
        tried = addresses[:_ADDRESSES_TRIED]
        for ip in tried:
            try:
                response = await self._sent(address, ip)
            except transport_errors() as error:
                if ip != tried[-1] and _is_of_connecting(error):
                    continue
                raise self._unanswered(address, error) from error
            except unreadable_headers() as error:
                raise Refused("host", "it can't be read").told(is_redirect=True) from error
            try:
                self._check_connection(address, ip, response)
                yield response
            finally:
                await response.aclose()
            return

    async def _sent(self, address: WebAddress, ip: IPAddress) -> PageResponse:
        url = address.at(ip)
        request_class: Any = self._http.build_request("GET", url).__class__
        seconds = self._settings.timeout
        extensions: dict[str, Any] = {
            "timeout": {"connect": min(_CONNECTING, seconds), "read": seconds, "write": seconds, "pool": seconds}
        }
        if address.ip is None:
            extensions["sni_hostname"] = address.host  # the certificate is verified against it
        headers = {
            "Host": address.authority,
            "User-Agent": self._settings.identity.header,
            "Accept": _ACCEPT,
            "Accept-Encoding": "gzip",
            # The client's pool knows a connection by its IP address, and a certificate was verified for one name only:
            # two names of one address must not share a connection.
            "Connection": "close",
        }
        request = request_class("GET", url, headers=headers, extensions=extensions)
        with self._no_cookies_kept(ip):
            return await self._http.send(request, stream=True, auth=None, follow_redirects=False)

    @contextmanager
    def _no_cookies_kept(self, ip: IPAddress) -> Generator[None, None, None]:
        jar = self._http.cookies.jar
        before = set(jar)
        try:
            yield
        finally:
            of_the_page = {form for host in (str(ip), f"[{ip}]") for form in (host, f"{host}.local")}
            for cookie in list(jar):
                if cookie not in before and cookie.domain in of_the_page:
                    jar.clear(cookie.domain, cookie.path, cookie.name)

    def _check_connection(self, address: WebAddress, ip: IPAddress, response: PageResponse) -> None:
        """The last line of defence: the connection leads where it was to lead, and was verified for this name."""
        stream = response.extensions.get("network_stream")
        if stream is None:  # a transport that opens no connection, as tests have
            return
        peer = stream.get_extra_info("server_addr")
        if peer is None and not self._settings.allow_proxy:
            cause = "the connection was gone before it could be checked"
            raise _failure("unavailable", cause, address, is_temporary=True)
        if not self._settings.allow_proxy and _ip_of(peer) != ip:
            raise _failure(
                "not_configured",
                "the application's HTTP client goes through a proxy, which could read from any address",
                address,
                advice="Tell the user to inject a client without proxy, or to set fetch_url.allow_proxy where the "
                "proxy keeps away from private addresses itself; do not retry.",
            )
        secured = stream.get_extra_info("ssl_object")
        if secured is not None and address.ip is None and secured.server_hostname != address.host:
            cause = "the connection was opened for another host"
            raise _failure("unavailable", cause, address, is_temporary=True)

    async def _read(self, address: WebAddress, response: PageResponse) -> Download:
        headers = response.headers
        self._answer(address, response).check_status()
        media = MediaType.read(headers.get("content-type", ""))
        if media.kind == "unsupported":
            raise unsupported(address, f"the page is {media.told}; only HTML and texts are read")
        encoding = headers.get("content-encoding", "")
        if not is_readable_encoding(encoding):
            raise unsupported(address, "the page came compressed in a way that was not asked for")
        bound = self._settings.max_bytes
        length = headers.get("content-length", "")
        try:
            if length.isascii() and length.isdecimal() and int(length[:20]) > bound:
                raise OversizedPage
            if response.is_stream_consumed:
                content = _bounded(response.content, bound)
            else:
                content = await read_body(response.aiter_raw(), encoding=encoding, max_bytes=bound)
        except OversizedPage:
            raise unsupported(address, f"the page has more than {bound / 1_000_000:g} MB, which is not read") from None
        except UnreadableBody as error:
            raise _failure("malformed_response", "the page came compressed, and can't be unpacked", address) from error
        except transport_errors() as error:
            raise self._unanswered(address, error) from error
        return Download(address, media, content)

    def _answer(self, address: WebAddress, response: PageResponse) -> Answer:
        return Answer(
            provider=f'"{address.host}"',
            operation="fetch",
            url=sanitised(address.url),
            status=response.status_code,
            headers=response.headers,
            content=b"",
            retry_after=read_retry_after(response.headers.get("retry-after"), self._clock.now()),
        )

    def _unanswered(self, address: WebAddress, error: BaseException) -> ServiceError:
        host = f'"{address.host}"'
        if _is_of_tls(error):
            return _failure("unavailable", f"{host} has no valid certificate, or no secure connection", address)
        match failure_of(error):
            case "timeout":
                cause = f"{host} did not answer within {self._settings.timeout:g} seconds"
            case "broken" | "undecodable":
                cause = f"{host} broke off its answer, or sent one that can't be read"
            case _:
                cause = f"{host} could not be reached"
        return _failure("unavailable", cause, address, is_temporary=failure_of(error) != "refused")


def _bounded(content: bytes, max_bytes: int) -> bytes:
    if len(content) > max_bytes:
        raise OversizedPage
    return content


def unsupported(address: WebAddress, cause: str) -> ServiceError:
    return _failure("unsupported_content", cause, address)


def _failure(kind: ErrorKind, cause: str, address: WebAddress, **more: Any) -> ServiceError:
    return ServiceError(kind, cause, provider=PROVIDER, operation="fetch", url=sanitised(address.url), **more)


def _following(address: WebAddress, location: str) -> WebAddress:
    if not location.strip():
        raise _failure("malformed_response", "the page redirects, and does not say where to", address)
    try:
        following = address.joined(location)
        if address.scheme == "https" and following.scheme == "http":
            raise Refused("downgrade", "it is http, and the page was https")
    except Refused as error:
        raise error.told(is_redirect=True) from None
    return following


def _ip_of(peer: object) -> IPAddress | None:
    """The other end of a connection; None for one that is no IP address."""
    if not isinstance(peer, tuple):
        return None
    try:
        return ip_address(str(cast("tuple[object, ...]", peer)[0]).partition("%")[0])
    except ValueError:
        return None


def _is_of_connecting(error: BaseException) -> bool:
    names = {cls.__name__ for cls in type(error).__mro__}
    return bool(names & {"ConnectError", "ConnectTimeout"}) and not _is_of_tls(error)


def _is_of_tls(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return True
        error = error.__cause__ or error.__context__
    return False
