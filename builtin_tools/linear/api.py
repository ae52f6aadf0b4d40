"""Linear's GraphQL API: one document at a time, its errors, and its rate limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar, cast

import msgspec
from msgspec import Raw, Struct

from builtin_tools.http import Answer, Clock, ErrorKind, HttpClient, Pace, Request, Service, ServiceError, SystemClock
from builtin_tools.linear.operations import SEARCH, Operation
from builtin_tools.linear.settings import LinearSettings

__all__ = ["PROVIDER", "LinearApi", "Reply", "pace_of_requests", "pace_of_searches"]

T = TypeVar("T")

PROVIDER = "Linear"

_NULL = b"null"
_DIGITS = 14  # of a moment in milliseconds, until the year 5138


def pace_of_requests(clock: Clock | None = None) -> Pace:
    """Four requests at once. How many an hour is told by Linear itself, and has changed over the years."""
    return Pace(at_once=4, interval=0.0, clock=clock)


def pace_of_searches(clock: Clock | None = None) -> Pace:
    """30 searches a minute, the limit of `searchIssues` by its description in the schema (July 2026)."""
    return Pace(at_once=2, interval=2.0, clock=clock)


@dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    """What an operation gave. `notes` are errors that stood beside the data."""

    value: T
    notes: tuple[str, ...] = ()


class LinearApi:
    """Sends operations. It knows nothing of what they mean.

    Raises (both methods):
        ServiceError: `not_configured` before anything is sent, when there is no key; what Linear answers.
    """

    def __init__(
        self,
        http: HttpClient,
        settings: LinearSettings,
        *,
        pace: Pace,
        search_pace: Pace,
        clock: Clock | None = None,
    ) -> None:
        self.settings = settings
        self._clock = SystemClock() if clock is None else clock
        self._services = {
            is_search: Service(
                PROVIDER,
                http,
                pace=search_pace if is_search else pace,
                timeout=settings.timeout,
                clock=clock,
                confidential=settings.confidential,
            )
            for is_search in (False, True)
        }

    async def read(self, operation: Operation[T], variables: Mapping[str, Any]) -> Reply[T]:
        """Asks. Temporary failures are tried again."""
        service = self._services[operation is SEARCH]
        return await service.read(self._request(operation, variables), lambda answer: self._decoded(answer, operation))

    async def write(
        self, operation: Operation[T], variables: Mapping[str, Any], *, is_repeatable: bool = False
    ) -> Reply[T]:
        """Changes something. Sent once, unless the variables carry an id by which Linear knows a repeat."""
        return await self._services[False].write(
            self._request(operation, variables),
            lambda answer: self._decoded(answer, operation),
            is_repeatable=is_repeatable,
        )

    def _request(self, operation: Operation[Any], variables: Mapping[str, Any]) -> Request:
        authorization = self.settings.authorization
        if authorization is None:
            raise ServiceError(
                "not_configured",
                "there is no key for Linear",
                advice="Tell the user to set `linear.api_key` (or the variable LINEAR_API_KEY); do not retry.",
                provider=PROVIDER,
                operation=operation.name,
            )
        return Request(
            operation.name,
            self.settings.endpoint,
            method="POST",
            json={"query": operation.document, "variables": variables},
            headers={
                "Authorization": authorization,
                "User-Agent": self.settings.identity.header,
                "Accept": "application/json",
            },
        )

    def _decoded(self, answer: Answer, operation: Operation[T]) -> Reply[T]:
        if answer.retry_after is None:
            answer = replace(answer, retry_after=_wait_of(answer.headers, self._clock.now()))
        body = _body_of(answer)
        raw = bytes((body.data or {}).get(operation.field, _NULL))
        if body.errors and (raw == _NULL or answer.status >= 300):
            raise _failure(answer, body.errors[0])
        _check_status(answer)
        try:
            if raw == _NULL:
                raise msgspec.ValidationError(f"no `{operation.field}` in the data")
            value = msgspec.json.decode(raw, type=operation.result)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise answer.failure("malformed_response", "Linear sent an answer that can't be read") from error
        return Reply(value, tuple(f"Linear also reported: {_text_of(answer, error)}" for error in body.errors[:3]))


class _Extensions(Struct, frozen=True, rename="camel"):
    code: Any = None
    type: Any = None
    user_presentable_message: Any = None
    validation_errors: Any = None


class _Error(Struct, frozen=True):
    message: str = ""
    extensions: _Extensions = _Extensions()


class _Body(Struct, frozen=True):
    data: dict[str, Raw] | None = None
    errors: tuple[_Error, ...] = ()


_KINDS: dict[str, tuple[ErrorKind, bool]] = {
    "ratelimited": ("rate_limited", True),
    "authentication error": ("unauthorized", False),
    "forbidden": ("unauthorized", False),
    "feature not accessible": ("unauthorized", False),
    "usage limit exceeded": ("quota_exhausted", False),
    "invalid input": ("invalid_input", False),
    "user error": ("invalid_input", False),
    "graphql error": ("invalid_input", False),
    "internal error": ("unavailable", True),
    "lock timeout": ("unavailable", True),
    "bootstrap error": ("unavailable", True),
    "network error": ("unavailable", True),
}
"""By `extensions.type`; its words are those of Linear's SDK."""

_CODES = {
    "RATELIMITED": "ratelimited",
    "AUTHENTICATION_ERROR": "authentication error",
    "FORBIDDEN": "forbidden",
    "FEATURE_NOT_ACCESSIBLE": "feature not accessible",
    "USAGE_LIMIT_EXCEEDED": "usage limit exceeded",
    "INVALID_INPUT": "invalid input",
    "INPUT_ERROR": "invalid input",
    "USER_ERROR": "user error",
    "GRAPHQL_VALIDATION_FAILED": "graphql error",
    "GRAPHQL_PARSE_FAILED": "graphql error",
    "INTERNAL_SERVER_ERROR": "internal error",
    "LOCK_TIMEOUT": "lock timeout",
}


def _body_of(answer: Answer) -> _Body:
    """The body. Of a failure by status it may be anything, such as a page of HTML: that says nothing, then."""
    try:
        return answer.json(_Body)
    except ServiceError:
        if answer.status < 300:
            raise
        return _Body()


def _check_status(answer: Answer) -> None:
    if answer.status >= 500:
        raise answer.failure("unavailable", f"Linear failed (HTTP {answer.status})", is_temporary=True)
    answer.check_status()


def _failure(answer: Answer, error: _Error) -> ServiceError:
    """By the body's code first: a rate limit comes as HTTP 400, and what was not found as HTTP 200."""
    kind, is_temporary = _kind_of(error, answer.status)
    code = error.extensions.code or error.extensions.type
    return answer.failure(
        kind,
        f"Linear answered: {_text_of(answer, error)}",
        code=code if isinstance(code, str) else "error",
        is_temporary=is_temporary,
    )


def _kind_of(error: _Error, status: int) -> tuple[ErrorKind, bool]:
    code, type_ = error.extensions.code, error.extensions.type
    if error.message.lower().startswith("entity not found"):
        return "not_found", False
    for name in (_CODES.get(code) if isinstance(code, str) else None, type_):
        if isinstance(name, str) and name.lower() in _KINDS:
            return _KINDS[name.lower()]
    if status in (401, 403):
        return "unauthorized", False
    if status == 429:
        return "rate_limited", True
    return ("invalid_input", False) if 400 <= status < 500 else ("unavailable", status >= 500)


def _text_of(answer: Answer, error: _Error) -> str:
    """What Linear wants users to read, else its message, with what is wrong about which argument."""
    told = error.extensions.user_presentable_message
    parts = [told if isinstance(told, str) and told.strip() else error.message, *_constraints(error)]
    return answer.words(": ".join(part.rstrip(".") for part in parts if part) or "an error without a text", 300)


def _constraints(error: _Error) -> list[str]:
    found = error.extensions.validation_errors
    rows = cast("list[Any]", found) if isinstance(found, list) else []
    texts: list[str] = []
    for row in rows[:5]:
        constraints = cast("Mapping[str, Any]", row).get("constraints") if isinstance(row, Mapping) else None
        if isinstance(constraints, Mapping):
            values = cast("Mapping[str, Any]", constraints).values()
            texts += [value for value in values if isinstance(value, str)]
    return ["; ".join(texts)] if texts else []


def _wait_of(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds until a limit that is used up is filled again; the headers tell the moment in milliseconds since 1970."""
    waits: list[float] = []
    for limit in ("requests", "complexity", "endpoint"):
        remaining, reset = (headers.get(f"x-ratelimit-{limit}-{part}", "") for part in ("remaining", "reset"))
        if remaining.strip() == "0" and reset.strip().isdecimal() and len(reset.strip()) <= _DIGITS:
            waits.append(float(reset) / 1000 - now)
    longest = max(waits, default=0.0)
    return longest if longest > 0 else None
