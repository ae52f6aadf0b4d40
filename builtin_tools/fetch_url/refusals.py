"""An address that is not read from, and the error that it becomes."""

from __future__ import annotations

from builtin_tools.http import ServiceError

__all__ = ["PROVIDER", "Refused"]

PROVIDER = "the web"


class Refused(Exception):
    """The page is not read.

    Attributes:
        code: A word for the reason, such as `"port"`.
        cause: The reason in words, for the model. It names no address that the model did not name itself.
    """

    def __init__(self, code: str, cause: str) -> None:
        super().__init__(cause)
        self.code = code
        self.cause = cause

    def told(self, *, is_redirect: bool) -> ServiceError:
        """The `blocked_url` that the tool answers with."""
        place = "the page redirects to an address that is not read: " if is_redirect else ""
        return ServiceError("blocked_url", f"{place}{self.cause}", provider=PROVIDER, operation="fetch", code=self.code)
