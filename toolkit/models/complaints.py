"""What a provider's error says: its body and status read into the one tree of `ProviderError`."""

from __future__ import annotations

import re
from typing import Any, cast

import msgspec
from msgspec import Struct

from toolkit.errors import (
    AuthenticationError,
    BadRequestError,
    BrokenStreamError,
    ContentRefusedError,
    ContextLengthError,
    OverloadedError,
    ProviderError,
    RateLimitError,
    UnexpectedReplyError,
)

__all__ = ["Complaint", "kind_of", "read_complaint", "says_nothing"]


class Complaint(Struct, frozen=True):
    """What an error says.

    Attributes:
        text: The provider's sentence, for the developer.
        codes: Its own words for the error, the most telling one first.
        retry_after: Seconds to wait, where the body says so.
        request_id: Where the body names it.
    """

    text: str = ""
    codes: tuple[str, ...] = ()
    retry_after: float | None = None
    request_id: str | None = None


# The providers' own words, in any case of letters. OpenAI and those like it: `error.code`, else `error.type`;
# Anthropic: `error.type`; Gemini: `error.status`, and the reason in its details.
_KINDS: dict[str, type[ProviderError]] = {
    **dict.fromkeys(
        (
            "authentication_error",
            "permission_error",
            "invalid_api_key",
            "api_key_invalid",
            "unauthenticated",
            "permission_denied",
            "account_deactivated",
        ),
        AuthenticationError,
    ),
    **dict.fromkeys(
        ("rate_limit_exceeded", "rate_limit_error", "resource_exhausted", "insufficient_quota", "billing_error"),
        RateLimitError,
    ),
    **dict.fromkeys(
        (
            "overloaded_error",
            "unavailable",
            "server_error",
            "internal_server_error",
            "api_error",
            "internal",
            "timeout_error",
            "deadline_exceeded",
            "service_unavailable",
            "engine_overloaded",
        ),
        OverloadedError,
    ),
    **dict.fromkeys(("context_length_exceeded", "model_context_window_exceeded"), ContextLengthError),
    **dict.fromkeys(
        ("content_filter", "content_policy_violation", "responsibleaipolicyviolation", "moderation_blocked"),
        ContentRefusedError,
    ),
    **dict.fromkeys(("tool_use_failed", "output_parse_failed"), UnexpectedReplyError),  # Groq: what the model wrote
}

# Inside a stream, where no status says more. OpenAI uses the first one for wrong keys too, so a status comes before it.
_WRONG = frozenset(
    {
        "invalid_request_error",
        "not_found_error",
        "request_too_large",
        "invalid_argument",
        "failed_precondition",
        "not_found",
        "missing_thought_signature",
    }
)

_SPENT = frozenset({"insufficient_quota", "billing_error", "billing_hard_limit_reached"})

# Servers that know no code for it say it in words.
_TOO_LONG = re.compile(
    r"prompt is too long|maximum context length|context (length|window|limit)|exceeds? the maximum number of tokens"
    r"|input token count|too many (input )?tokens|reduce the length",
    re.IGNORECASE,
)


def kind_of(status: int | None, complaint: Complaint) -> tuple[type[ProviderError], bool]:
    """The class of the error, and whether the same request may succeed later."""
    codes = [code.lower() for code in complaint.codes]
    if status in (None, 400, 413, 422) and _TOO_LONG.search(complaint.text):
        return ContextLengthError, False
    for code in codes:
        kind = _KINDS.get(code)
        if kind is not None:
            return kind, kind.is_temporary and _SPENT.isdisjoint(codes)
    if status is None and not _WRONG.isdisjoint(codes):
        return BadRequestError, False
    return _kind_of_status(status)


# A web framework's words for a path that it does not know, and OpenAI's. A model that is unknown is named.
_NOTHING = re.compile(
    r"((404|file|page|path|url|route|resource)\s*)*not found\W*|method not allowed\W*|invalid url\b.*", re.I
)


def says_nothing(complaint: Complaint) -> bool:
    """Whether it says no more than that there is nothing at this address."""
    return not complaint.text or _NOTHING.fullmatch(" ".join(complaint.text.split())) is not None


def _kind_of_status(status: int | None) -> tuple[type[ProviderError], bool]:
    if status in (401, 403):
        return AuthenticationError, False
    if status == 402:
        return RateLimitError, False
    if status == 429:
        return RateLimitError, True
    if status is None:
        return BrokenStreamError, True
    if status in (408, 409, 425) or status >= 500:
        return OverloadedError, True
    if 400 <= status < 500:
        return BadRequestError, False
    return UnexpectedReplyError, False


def read_complaint(content: bytes) -> Complaint:
    """What the body of an error says. A body that is no JSON gives nothing."""
    try:
        body = cast("object", msgspec.json.decode(content))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Complaint()
    if isinstance(body, list):  # Gemini wraps it so, when it is asked for a stream without `alt=sse`
        body = next(iter(cast("list[object]", body)), None)
    outer = _mapping(body)
    error = outer.get("error", outer)
    if isinstance(error, str):
        return Complaint(text=error, codes=_codes(outer), request_id=_text(outer.get("request_id")))
    inner = _mapping(error)
    metadata = _mapping(inner.get("metadata"))  # OpenRouter: the text of the provider behind it
    text = _text(inner.get("message")) or _text(outer.get("message")) or _text(outer.get("detail"))
    behind = _text(metadata.get("raw"))
    if behind:
        text = f"{text}: {behind}" if text else behind
    return Complaint(
        text=text or "",
        codes=(*_codes(inner), *_reasons(inner.get("details"))),
        retry_after=_retry_delay(inner.get("details")),
        request_id=_text(outer.get("request_id")),
    )


def _codes(error: dict[str, Any]) -> tuple[str, ...]:
    """Its words: the code, the code inside (Azure), the status, the type."""
    inside = _mapping(error.get("innererror")) or _mapping(error.get("inner_error"))
    words = (error.get("code"), inside.get("code"), error.get("status"), error.get("type"))
    return tuple(str(word) for word in words if isinstance(word, (str, int)) and word not in ("", "error"))


def _reasons(details: object) -> tuple[str, ...]:
    """Gemini's `google.rpc.ErrorInfo`: `"reason": "API_KEY_INVALID"`, of a status that says `INVALID_ARGUMENT`."""
    if not isinstance(details, list):
        return ()
    reasons = (_text(_mapping(detail).get("reason")) for detail in cast("list[object]", details))
    return tuple(reason for reason in reasons if reason)


def _retry_delay(details: object) -> float | None:
    """Gemini's `google.rpc.RetryInfo`: `"retryDelay": "43s"`."""
    if not isinstance(details, list):
        return None
    for detail in cast("list[object]", details):
        found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)s", _text(_mapping(detail).get("retryDelay")) or "")
        if found is not None:
            return float(found.group(1))
    return None


def _mapping(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
