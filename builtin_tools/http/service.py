"""One HTTP service over the injected client: pace, timeout, retries, and errors that can be read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from builtin_tools.http.answers import Answer, sanitised
from builtin_tools.http.bodies import OversizedBody, RepackedBody, bounded_answer
from builtin_tools.http.errors import ServiceError
from builtin_tools.http.pacing import Pace
from builtin_tools.http.retries import retried
from toolkit.http.clock import Clock, SystemClock
from toolkit.http.failures import failure_of, transport_errors, unreadable_headers
from toolkit.http.protocol import HttpClient
from toolkit.http.retry_after import read_retry_after

__all__ = ["Request", "Service"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Request:
    """One request. `operation` is its name in errors; `params` go into the URL, `form` or `json` into the body.

    Keys belong into `headers` or `form`, which are never printed: HTTP libraries log whole URLs.
    """

    operation: str
    url: str
    method: str = "GET"
    params: Mapping[str, str] | None = None
    form: Mapping[str, str] | None = field(default=None, repr=False)
    json: Any = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)


class Service:
    """A service's requests. It opens nothing and closes nothing; the client stays the application's.

    `decode` turns an `Answer` into what the caller wants, or raises `answer.failure(...)`: it sees every status,
    because services put errors into answers of 200 and reasons into answers of 4xx. Redirects are not followed, so
    that no key goes to another host.

    Args:
        provider: The service's name, as the model reads it.
        timeout: Seconds for one attempt, from connecting to the last byte.
        max_bytes: The longest body that is read, unpacked. Reading stops there and the connection is given up; a client
            without a method `stream` reads by itself, and its longer body is refused afterwards.
        confidential: Values that no error may show: keys, the contact.
    """

    def __init__(
        self,
        provider: str,
        http: HttpClient,
        *,
        pace: Pace,
        timeout: float,
        max_bytes: int = 10_000_000,
        clock: Clock | None = None,
        confidential: tuple[str, ...] = (),
    ) -> None:
        self.provider = provider
        self._http = http
        self._pace = pace
        self._timeout = timeout
        self._max_bytes = max_bytes
        self._clock = SystemClock() if clock is None else clock
        self._confidential = confidential

    async def read(self, request: Request, decode: Callable[[Answer], T]) -> T:
        """Ask for something. Temporary failures are tried again (see `retried`), whatever the method.

        Raises:
            ServiceError: the last attempt's failure.
        """

        async def attempt() -> T:
            return decode(await self._send(request))

        return await retried(attempt, self._clock)

    async def write(self, request: Request, decode: Callable[[Answer], T], *, is_repeatable: bool = False) -> T:
        """Change something. Sent once.

        Args:
            is_repeatable: The request carries an id by which the service knows a repeat from a second change, so
                temporary failures are tried again as for `read`.

        Raises:
            ServiceError: the failure; after one without `status` the change may have been made all the same.
        """
        return await self.read(request, decode) if is_repeatable else decode(await self._send(request))

    async def _send(self, request: Request) -> Answer:
        async with self._pace.place():
            try:
                async with asyncio.timeout(self._timeout):
                    response = await bounded_answer(
                        self._http,
                        self._max_bytes,
                        request.method,
                        request.url,
                        params=request.params,
                        data=request.form,
                        json=request.json,
                        headers=request.headers,
                        timeout=self._timeout,
                    )
            except OversizedBody as error:
                too_long = f"of more than {self._max_bytes / 1_000_000:g} MB"
                raise self._unread(request, too_long, error.status) from None
            except RepackedBody as error:
                raise self._unread(request, "that is compressed more than once", error.status) from None
            except (*transport_errors(), *unreadable_headers()) as error:
                raise self._unanswered(request, error) from error
        return Answer(
            provider=self.provider,
            operation=request.operation,
            url=sanitised(request.url, self._confidential),
            status=response.status,
            headers=response.headers,
            content=response.content,
            retry_after=read_retry_after(response.headers.get("retry-after"), self._clock.now()),
            confidential=self._confidential,
        )

    def _unread(self, request: Request, what: str, status: int) -> ServiceError:
        return ServiceError(
            "malformed_response",
            f"{self.provider} sent an answer {what}, which is not read",
            provider=self.provider,
            operation=request.operation,
            status=status,
            url=sanitised(request.url, self._confidential),
        )

    def _unanswered(self, request: Request, error: BaseException) -> ServiceError:
        failure = failure_of(error)
        if failure == "timeout":
            cause = f"{self.provider} did not answer within {self._timeout:g} seconds"
        elif failure in ("broken", "undecodable"):
            cause = f"{self.provider} broke off its answer, or sent one that can't be read"
        else:
            cause = f"{self.provider} could not be reached"
        return ServiceError(
            "malformed_response" if failure == "undecodable" else "unavailable",
            cause,
            provider=self.provider,
            operation=request.operation,
            url=sanitised(request.url, self._confidential),
            is_temporary=failure not in ("undecodable", "refused"),
        )
