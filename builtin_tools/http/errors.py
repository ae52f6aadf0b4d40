"""The one error of the built-in tools: a line for the model, and data for the developer."""

from __future__ import annotations

from typing import Literal, TypeAlias

from toolkit.errors import ToolError, escaped

__all__ = ["ErrorKind", "ServiceError"]

ErrorKind: TypeAlias = Literal[
    "invalid_input",
    "not_found",
    "ambiguous",
    "rate_limited",
    "quota_exhausted",
    "not_configured",
    "unauthorized",
    "unavailable",
    "blocked_url",
    "unsupported_content",
    "malformed_response",
]

_ADVICE: dict[ErrorKind, str] = {
    "invalid_input": "Change the arguments and call again.",
    "not_found": "Check the spelling, or search first.",
    "ambiguous": "Call again with one of the choices.",
    "rate_limited": "Try again later.",
    "quota_exhausted": "Tell the user; do not retry.",
    "not_configured": "Tell the user; do not retry.",
    "unauthorized": "Tell the user; do not retry.",
    "unavailable": "Go on without it, and say so, or try again later.",
    "blocked_url": "Use another address.",
    "unsupported_content": "Use another source.",
    "malformed_response": "Go on without it, and say so.",
}


class ServiceError(ToolError):
    """A service did not do what was asked. `str(error)` is the line that the model reads: kind, cause, advice.

    No key, header, contact or query string is kept here. The HTTP library's own exception is the `__cause__`.

    Attributes:
        kind: One of `ErrorKind`; the model reads it with spaces.
        provider: The service, such as `"Wikipedia"`.
        operation: What was asked of it, such as `"search"`.
        status: The HTTP status, or None when no answer came.
        code: The service's own code, such as `"ratelimited"`.
        url: Scheme, host and path of the request.
        body: The first 500 characters of the answer.
        retry_after: Seconds that the service asked to wait.
        is_temporary: True when the same request may succeed a little later. Reads have been retried by then.
    """

    def __init__(
        self,
        kind: ErrorKind,
        cause: str,
        *,
        advice: str | None = None,
        provider: str = "",
        operation: str = "",
        status: int | None = None,
        code: str | None = None,
        url: str | None = None,
        body: str | None = None,
        retry_after: float | None = None,
        is_temporary: bool = False,
    ) -> None:
        self._cause_told = cause
        advice = _ADVICE[kind] if advice is None else advice
        super().__init__(escaped(" ".join(f"{kind.replace('_', ' ')}: {cause.rstrip('.')}. {advice}".split())))
        self.kind: ErrorKind = kind
        self.provider = provider
        self.operation = operation
        self.status = status
        self.code = code
        self.url = url
        self.body = body
        self.retry_after = retry_after
        self.is_temporary = is_temporary

    def advised(self, advice: str) -> ServiceError:
        """The same error with another advice, for who knows more than the one that raised it."""
        return ServiceError(
            self.kind,
            self._cause_told,
            advice=advice,
            provider=self.provider,
            operation=self.operation,
            status=self.status,
            code=self.code,
            url=self.url,
            body=self.body,
            retry_after=self.retry_after,
            is_temporary=self.is_temporary,
        )
