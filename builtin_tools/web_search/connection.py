"""What a provider over HTTP is made with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from builtin_tools.http import Answer, Clock, HttpClient, Pace, Request, Service, SystemClock
from builtin_tools.web_search.accounts import Account

__all__ = ["Connection", "body_with", "error_body"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Connection:
    """One provider's account, over the application's client.

    Attributes:
        timeout: Seconds for one request.
        user_agent: What the provider is told of the application.
    """

    http: HttpClient
    account: Account
    pace: Pace
    timeout: float = 10.0
    user_agent: str = "toolwire"
    clock: Clock = field(default_factory=SystemClock)

    async def post(self, path: str, body: Any, decode: Callable[[Answer], T], headers: Mapping[str, str]) -> T:
        """What `decode` makes of the answer to a search that goes as JSON. Temporary failures are tried again."""
        return await self._ask(
            Request("search", self._url(path), "POST", json=body, headers=self._all(headers)), decode
        )

    async def get(
        self, path: str, params: Mapping[str, str], decode: Callable[[Answer], T], headers: Mapping[str, str]
    ) -> T:
        """The same for a search that goes in the address, where no key may be."""
        return await self._ask(Request("search", self._url(path), params=params, headers=self._all(headers)), decode)

    async def _ask(self, request: Request, decode: Callable[[Answer], T]) -> T:
        service = Service(
            self.account.provider,
            self.http,
            pace=self.pace,
            timeout=self.timeout,
            clock=self.clock,
            confidential=self.account.confidential,
        )
        return await service.read(request, decode)

    def _url(self, path: str) -> str:
        if self.account.base_url is None:
            raise self.account.missing("an address")
        return self.account.base_url + path

    def _all(self, headers: Mapping[str, str]) -> dict[str, str]:
        return {"Accept": "application/json", "User-Agent": self.user_agent, **headers}


def body_with(answer: Answer, type: type[T], *members: str) -> T:
    """The body of an answer that has at least one of these members.

    Raises:
        ServiceError: `malformed_response`: it has none. An error that comes with status 200 is not "no results".
    """
    if answer.json(dict[str, msgspec.Raw]).keys().isdisjoint(members):
        raise answer.failure("malformed_response", f"{answer.provider} sent an answer that can't be read")
    return answer.json(type)


def error_body(answer: Answer, type: type[T]) -> T | None:
    """The body of a failure, or None when it is of another shape: a text, or a page of HTML."""
    try:
        return msgspec.json.decode(answer.content, type=type)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
