"""Pages of the public web, as text."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import date

import anyio.to_thread

from builtin_tools.fetch_url.downloading import Download, Downloader, unsupported
from builtin_tools.fetch_url.guard import AddressGuard
from builtin_tools.fetch_url.html import PageText, read_html
from builtin_tools.fetch_url.invisible import visible
from builtin_tools.fetch_url.media import decoded, looks_binary, sniffed
from builtin_tools.fetch_url.protocol import NameResolver, PageClient
from builtin_tools.fetch_url.refusals import PROVIDER, Refused
from builtin_tools.fetch_url.resolver import SystemResolver
from builtin_tools.fetch_url.settings import FetchSettings
from builtin_tools.fetch_url.web_address import WebAddress
from builtin_tools.http import AnswerCache, Clock, ServiceError, SystemClock
from builtin_tools.http.retries import retried
from builtin_tools.text import one_line, shortened

__all__ = ["Page", "WebClient", "page_cache"]

_TEXT_KEPT = 1_000_000
_TITLE_KEPT = 300


@dataclass(frozen=True, slots=True)
class Page:
    """A page's whole text, at most a million characters of it; `is_cut` when there was more.

    Attributes:
        url: Where it was read, after redirects.
        is_whole: True when no main text was found, so that menus and the like are in the text.
    """

    url: str
    text: str
    title: str = ""
    published: date | None = None
    media_type: str = ""
    is_whole: bool = False
    is_cut: bool = False


def page_cache(clock: Clock | None = None) -> AnswerCache:
    """Keeps 16 pages, so that the pieces of a long one are of one reading; each is up to some MB."""
    return AnswerCache(size=16, clock=clock)


class WebClient:
    """Reads pages that may be read: of public addresses only, unless the settings allow others.

    Example:
        ```python
        page = await WebClient(http, FetchSettings()).page("https://example.org/")
        ```

    Args:
        http: An `httpx.AsyncClient` or `httpx2.AsyncClient`. It stays open; its own headers, cookies, parameters and
            credentials are not sent.
        resolver: Where the addresses of names come from; the computer's own when left out.
        cache: Shared by all clients of one application; its own when left out. Failures are not kept.
    """

    def __init__(
        self,
        http: PageClient,
        settings: FetchSettings,
        *,
        resolver: NameResolver | None = None,
        cache: AnswerCache | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.settings = settings
        self._http = http
        self._clock = SystemClock() if clock is None else clock
        self._cache = page_cache(clock) if cache is None else cache
        guard = AddressGuard(SystemResolver() if resolver is None else resolver, settings)
        self._downloader = Downloader(http, guard, settings, self._clock)

    async def page(self, url: str) -> Page:
        """The page at an address.

        Raises:
            ServiceError: `blocked_url` before anything is sent, for what is not read; `unsupported_content`,
                `not_found`, `unavailable` and the like for what came of it.
        """
        try:
            address = WebAddress.read(url)
        except Refused as error:
            raise error.told(is_redirect=False) from None
        key = (address.url, self.settings)
        found: Page | None = self._cache.get(self._http, key)
        if found is None:
            found = await self._read(address)
            self._cache.put(self._http, key, found)
        return found

    async def _read(self, address: WebAddress) -> Page:
        seconds = self.settings.timeout
        try:
            async with asyncio.timeout(seconds):
                # Half of the time for waiting, so that the last try has the other half.
                download = await retried(lambda: self._downloader.download(address), self._clock, longest=seconds / 2)
                # A thread can't be stopped: one that is too slow goes on to its end, and nobody waits for it.
                return await anyio.to_thread.run_sync(_page_of, download, abandon_on_cancel=True)
        except TimeoutError as error:
            raise ServiceError(
                "unavailable",
                f"the page was not there within {seconds:g} seconds",
                provider=PROVIDER,
                operation="fetch",
            ) from error


def _page_of(download: Download) -> Page:
    media, content = download.media, download.content
    kind = sniffed(content) if media.kind == "unknown" else media.kind
    if kind == "unsupported" or looks_binary(content):
        raise unsupported(download.address, "the page is no text, but a file such as a PDF, an image or an archive")
    text = decoded(content, media.charset, is_markup=kind == "html")
    read = read_html(text) if kind == "html" else PageText(text.strip("\r\n"))
    text = visible(read.text)
    return Page(
        url=download.address.url,
        text=text[:_TEXT_KEPT],
        title=shortened(one_line(visible(read.title)), _TITLE_KEPT),
        published=read.published,
        media_type=media.name,
        is_whole=read.is_whole,
        is_cut=len(text) > _TEXT_KEPT,
    )
