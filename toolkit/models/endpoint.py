"""One provider's HTTP API over the injected client: what is asked, what comes back, and every way it can fail."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from time import time
from typing import Any
from urllib.parse import urlsplit

import msgspec

from toolkit.errors import (
    AuthenticationError,
    BadRequestError,
    BrokenStreamError,
    ProviderError,
    UnexpectedReplyError,
    UnreachableError,
    escaped,
)
from toolkit.http import (
    HttpStream,
    Secret,
    StreamingHttpClient,
    failure_of,
    read_retry_after,
    times_packed,
    transport_errors,
    unreadable_headers,
    without,
)
from toolkit.messages import sendable
from toolkit.models.addresses import host_and_port
from toolkit.models.complaints import Complaint, kind_of, read_complaint, says_nothing
from toolkit.models.permission import check_request
from toolkit.models.sse import EventReader

__all__ = ["Endpoint", "Opened"]

_MAX_REPLY = 64_000_000
_MAX_COMPLAINT = 1_000_000
_KEPT_TEXT = 500
_CONNECT = 15.0
_REQUEST_IDS = ("x-request-id", "request-id", "x-goog-request-id", "cf-ray")


class Endpoint:
    """Sends requests to one provider. It owns each response until its block ends, and never the client.

    Args:
        provider: Its name in errors.
        base_url: Where the provider's own paths begin; a query (Azure's `?api-version=`) goes with every request.
        headers: Sent with every request; secrets among them are revealed there only.
        confidential: Values that no error may show.
        timeout: Seconds without a byte, after which the provider counts as unreachable.
        advice: What to do about a refused key.
        usual_end: The path in which such a `base_url` often ends.
        holds_answer: Whether the body of an error holds what the model wrote, so that it is read as an answer.
    """

    def __init__(
        self,
        provider: str,
        http: StreamingHttpClient,
        *,
        base_url: str,
        headers: Mapping[str, str | Secret],
        timeout: float,
        advice: str = "",
        usual_end: str = "/v1",
        holds_answer: Callable[[bytes], bool] | None = None,
    ) -> None:
        self.provider = provider
        self._http = http
        self._base, _, self._query = base_url.partition("?")
        self._base = self._base.rstrip("/")
        self._headers = headers
        revealed = [value.reveal() for value in headers.values() if isinstance(value, Secret)]
        self._confidential = tuple({form for value in revealed for form in (value, value.split()[-1])})  # "Bearer key"
        self._timeout = timeout
        self._advice = advice
        self._usual_end = usual_end
        self._holds_answer = holds_answer

    @asynccontextmanager
    async def open(self, path: str, body: Mapping[str, Any]) -> AsyncGenerator[Opened, None]:
        """The provider's answer to a POST of the JSON `body`, when its status or `holds_answer` says that there is one.

        Raises:
            ProviderError: whatever goes wrong, inside the block too.
        """
        url = f"{self._base}{path}"
        if self._query:
            url += ("&" if "?" in path else "?") + self._query
        check_request(url, self._http)
        headers = {
            name: value.reveal() if isinstance(value, Secret) else value for name, value in self._headers.items()
        }
        headers["content-type"] = "application/json"
        encoded = _encoded(body)
        try:
            async with self._http.stream(
                "POST",
                url,
                content=encoded,
                headers=headers,
                follow_redirects=False,
                timeout=(min(_CONNECT, self._timeout), self._timeout, self._timeout, self._timeout),
            ) as response:
                if times_packed(response.headers.get("content-encoding", "")) > 1:  # a kilobyte may hold a gigabyte
                    raise self.unexpected("sent a reply that is compressed more than once", response)
                content = None
                if not 200 <= response.status_code < 300:
                    content = await _read(response, _MAX_COMPLAINT) or b""
                    if self._holds_answer is None or not self._holds_answer(content):
                        raise self.failure(read_complaint(content), response, path)
                yield Opened(self, response, content)
        except (*transport_errors(), *unreadable_headers()) as error:
            raise self._unanswered(error) from error
        except RecursionError as error:  # of the decoder, in whatever reads the answer
            raise self.unexpected("sent a reply that is nested too deeply") from error

    def failure(
        self, complaint: Complaint, response: HttpStream | None = None, path: str | None = None
    ) -> ProviderError:
        """The error that a complaint is: of an answer's status to `path`, or (without both) from inside a stream."""
        status = None if response is None else response.status_code
        kind, is_temporary = kind_of(status, complaint)
        where = f"HTTP {status}" if status is not None else "in its reply"
        code = next((code for code in complaint.codes if code != str(status)), None)
        text = " ".join(complaint.text.split())[:_KEPT_TEXT] or "it gave no reason"
        said = f"{self.provider} answered with an error ({where}{f', {code}' if code else ''}): {text}"
        if kind is AuthenticationError and self._advice:
            said += f" ({self._advice})"
        if path is not None and status in (404, 405) and says_nothing(complaint):
            said += f"; {self._doubt(path)}"
        retry_after = complaint.retry_after if response is None else _wait(response, complaint)
        error = kind(
            escaped(without(self._confidential, said)),
            provider=self.provider,
            status=status,
            code=self._told(code),
            request_id=self._told(complaint.request_id or (None if response is None else _request_id(response))),
            retry_after=retry_after,
        )
        error.is_temporary = is_temporary
        return error

    def unexpected(self, what: str, response: HttpStream | None = None) -> UnexpectedReplyError:
        """The error of a reply that is not what the provider's format says. `what` names no content of it."""
        return UnexpectedReplyError(
            f"{self.provider} {what}",
            provider=self.provider,
            status=None if response is None else response.status_code,
            request_id=None if response is None else self._told(_request_id(response)),
        )

    def broken(self, what: str) -> BrokenStreamError:
        """The error of a reply that broke off."""
        return BrokenStreamError(f"{self.provider} {what}", provider=self.provider)

    def _told(self, word: str | None) -> str | None:
        """A word of the provider's, without what no error may show."""
        return escaped(without(self._confidential, word)) if word else None

    def _doubt(self, path: str) -> str:
        """What to ask about an address at which nobody knows the path."""
        own = path.partition("?")[0]
        asked = urlsplit(self._base).path + own
        return f"'{asked}' was asked: does base_url end where '{own}' begins, often in {self._usual_end}?"

    def _unanswered(self, error: BaseException) -> ProviderError:
        host = host_and_port(self._base)
        match failure_of(error):
            case "timeout":
                text = f"{self.provider} ({host}) sent nothing for {self._timeout:g} seconds"
                return UnreachableError(text, provider=self.provider)
            case "broken":
                return self.broken(f"({host}) broke off the connection")
            case "undecodable":
                return self.unexpected(f"({host}) sent a reply whose compression or headers can't be read")
            case "refused":
                text = f"a request to {self.provider} ({host}) could not be sent: {type(error).__name__}"
                return BadRequestError(text, provider=self.provider)
            case _:
                return UnreachableError(f"{self.provider} ({host}) could not be reached", provider=self.provider)


class Opened:
    """An answer on its way; its `content` is there already where an error holds it."""

    def __init__(self, endpoint: Endpoint, response: HttpStream, content: bytes | None = None) -> None:
        self._endpoint = endpoint
        self._response = response
        self._content = content
        self._type = response.headers.get("content-type", "").lower()

    @property
    def is_event_stream(self) -> bool:
        """False when the server answers with one JSON document, though it was asked for a stream."""
        return self._content is None and "json" not in self._type

    @property
    def is_surely_event_stream(self) -> bool:
        """True when the server answers with a stream, as it says itself; also where it was asked for no such thing."""
        return self._content is None and "event-stream" in self._type

    async def whole(self) -> bytes:
        """The body. Raises `UnexpectedReplyError` for HTML and for more than 64 MB."""
        if self._content is not None:
            return self._content
        self._check_type()
        content = await _read(self._response, _MAX_REPLY)
        if content is None:
            raise self._endpoint.unexpected(f"sent more than {_MAX_REPLY:,} bytes", self._response)
        return content

    async def events(self) -> AsyncGenerator[bytes, None]:
        """The data of each server-sent event."""
        self._check_type()
        reader = EventReader()
        size = 0
        async with aclosing(_chunks(self._response)) as chunks:
            async for chunk in chunks:
                size += len(chunk)
                if size > _MAX_REPLY:
                    raise self._endpoint.unexpected(f"sent more than {_MAX_REPLY:,} bytes", self._response)
                for event in reader.feed(chunk):
                    yield event
        for event in reader.finish():
            yield event

    def _check_type(self) -> None:
        if "html" in self._type:
            raise self._endpoint.unexpected("answered with a page of HTML; is the base_url right?", self._response)


async def _read(response: HttpStream, most: int) -> bytes | None:
    """The body, or None beyond `most` bytes."""
    pieces: list[bytes] = []
    size = 0
    async with aclosing(_chunks(response)) as chunks:
        async for chunk in chunks:
            size += len(chunk)
            if size > most:
                return None
            pieces.append(chunk)
    return b"".join(pieces)


async def _chunks(response: HttpStream) -> AsyncGenerator[bytes, None]:
    """The body in pieces. Closing this closes the library's own generator, which nothing else would."""
    chunks = response.aiter_bytes()
    try:
        async for chunk in chunks:
            yield chunk
    finally:
        close = getattr(chunks, "aclose", None)
        if close is not None:
            await close()


def _encoded(body: Mapping[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(body)
    except UnicodeEncodeError:  # half of a character, somewhere in the conversation
        return msgspec.json.encode(sendable(msgspec.to_builtins(body, enc_hook=_of_raw)))


def _of_raw(value: Any) -> Any:
    if not isinstance(value, msgspec.Raw):
        raise NotImplementedError
    try:
        return msgspec.json.decode(value)
    except msgspec.MsgspecError:  # a number that JSON can say and nothing here can hold
        return bytes(value).decode()


def _wait(response: HttpStream, complaint: Complaint) -> float | None:
    milliseconds = response.headers.get("retry-after-ms", "")  # OpenAI, Azure
    if milliseconds.isascii() and milliseconds.isdecimal():
        return int(milliseconds[:9]) / 1000
    told = read_retry_after(response.headers.get("retry-after"), time())
    return complaint.retry_after if told is None else told


def _request_id(response: HttpStream) -> str | None:
    return next((found for name in _REQUEST_IDS if (found := response.headers.get(name))), None)
