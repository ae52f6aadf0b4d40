"""Whether a model may send a request: providers' models ask here before each one.

Everything may be sent, until something stands in the way: the pytest plugin does, so that no test reaches a provider
by accident. Models know of nothing but this question.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeAlias

__all__ = ["RequestCheck", "check_request", "requests_checked_by"]

RequestCheck: TypeAlias = Callable[[str, object], None]
"""Gets the absolute URL and the HTTP client of a request, and raises where it must not be sent."""

# Of the process, and no context variable: threads that a test starts, and event loops that were made before it, would
# not see one (docs/decisions/0005). An application never sets it.
_check: RequestCheck | None = None


def check_request(url: str, http: object) -> None:
    """Raises where a model's request must not be sent. A model calls it right before each request, also of a stream.

    Args:
        url: Where the request goes, with its host.
        http: The client that would send it.
    """
    if _check is not None:
        _check(url, http)


@contextmanager
def requests_checked_by(check: RequestCheck) -> Generator[None, None, None]:
    """Inside the block `check` decides alone, for every thread and event loop of the process. For test runners."""
    global _check
    before, _check = _check, check
    try:
        yield
    finally:
        _check = before
