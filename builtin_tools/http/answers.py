"""A service's answer: read into types, or turned into the error that tells what went wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import urlsplit, urlunsplit

import msgspec

from builtin_tools.http.errors import ErrorKind, ServiceError
from builtin_tools.text import one_line, plain_text, shortened
from toolkit.http.secrets import without

__all__ = ["Answer", "sanitised"]

T = TypeVar("T")

_BODY_READ = 100_000
_BODY_KEPT = 500
_WORDS_TOLD = 200
_TEMPORARY = frozenset({429, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer, whatever its status. Services look at the body's own error first, at the status second.

    Attributes:
        url: Scheme, host and path of the request.
        retry_after: Seconds that the server asked to wait.
        confidential: Values that no error may show.
    """

    provider: str
    operation: str
    url: str
    status: int
    headers: Mapping[str, str] = field(repr=False)
    content: bytes = field(repr=False)
    retry_after: float | None = None
    confidential: tuple[str, ...] = field(default=(), repr=False)

    def json(self, type: type[T]) -> T:
        """The body as a value of `type`.

        Raises:
            ServiceError: `malformed_response`: not JSON, or JSON of another shape.
        """
        try:
            return msgspec.json.decode(self.content, type=type)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self.failure("malformed_response", f"{self.provider} sent an answer that can't be read") from error

    def check_status(self) -> None:
        """Return for 2xx.

        Raises:
            ServiceError: any other status.
        """
        if not 200 <= self.status < 300:
            raise self.refusal()

    def refusal(
        self, said: str = "", *, kind: ErrorKind | None = None, code: str | None = None, advice: str | None = None
    ) -> ServiceError:
        """The error of this status. With `said`, the cause is in the service's own words: up to 200 characters of them.

        `kind` is given where the body knows better than the status; such an error is not temporary.
        """
        by_status, cause = _reading_of(self.status)
        if said.strip():
            cause = f'answered "{self.words(said, is_markup=True)}" (HTTP {self.status})'
        return self.failure(
            by_status if kind is None else kind,
            f"{self.provider} {cause}",
            advice=advice,
            code=code,
            is_temporary=kind in (None, by_status) and self.status in _TEMPORARY,
        )

    def words(self, said: str, length: int = _WORDS_TOLD, *, is_markup: bool = False) -> str:
        """The service's own words as they may be shown: on one line, with nothing confidential in them.

        That is taken out before the text is cut, or the beginning of a key would stay.

        Args:
            length: The most characters.
            is_markup: The words may be HTML, of which the text is wanted.
        """
        text = without(self.confidential, said)
        return shortened(without(self.confidential, one_line(plain_text(text) if is_markup else text)), length)

    def failure(
        self,
        kind: ErrorKind,
        cause: str,
        *,
        advice: str | None = None,
        code: str | None = None,
        is_temporary: bool = False,
    ) -> ServiceError:
        """An error about this answer, with all that a developer may know of it. `cause` is for the model."""
        if advice is None and kind == "rate_limited" and self.retry_after is not None:
            advice = f"Wait {self.retry_after:.0f} seconds before trying again."
        text = self.content[:_BODY_READ].decode("utf-8", "replace")
        return ServiceError(
            kind,
            without(self.confidential, cause),
            advice=advice,
            provider=self.provider,
            operation=self.operation,
            status=self.status,
            code=code and without(self.confidential, code),
            url=self.url,
            body=without(self.confidential, text)[:_BODY_KEPT],
            retry_after=self.retry_after,
            is_temporary=is_temporary,
        )


def sanitised(url: str, confidential: tuple[str, ...] = ()) -> str:
    """Scheme, host, port and path: without name and password, query and fragment, where keys travel."""
    parts = urlsplit(url)
    return without(confidential, urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", "")))


def _reading_of(status: int) -> tuple[ErrorKind, str]:
    match status:
        case 429:
            return "rate_limited", "allows no more requests for now"
        case 401 | 403:
            return "unauthorized", f"refused the request (HTTP {status})"
        case 402:
            return "quota_exhausted", "wants to be paid for more requests (HTTP 402)"
        case 404 | 410:
            return "not_found", f"has nothing at this address (HTTP {status})"
        case 400 | 413 | 414 | 422:
            return "invalid_input", f"can't work with this request (HTTP {status})"
        case _ if 300 <= status < 400:
            return "unavailable", f"sends requests elsewhere (HTTP {status}), which is not followed"
        case _:
            return "unavailable", f"failed (HTTP {status})"
