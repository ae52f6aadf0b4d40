"""Every exception of the toolkit.

ToolkitError
├── ConfigurationError      the wiring is wrong; the application has to be changed (also a ValueError)
├── ToolError               a tool says something that the model may read
└── RunError                a run ended without an answer; `run` is the run so far
    ├── LimitExceeded       one of `Limits`
    ├── DeadlineExceeded    `timeout=` of the run
    ├── RunAborted          a guard returned `Abort`
    ├── HookError           a hook failed (on a call's record: a guard blocked the call)
    ├── ModelError          the model failed
    │   └── ProviderError   a provider of models did not do what was asked; each kind below
    │       ├── AuthenticationError   the key is missing, wrong, or not allowed to do this
    │       ├── RateLimitError        too many requests; `retry_after` is the wait
    │       ├── OverloadedError       the provider fails for now
    │       ├── UnreachableError      no answer came: no connection, or a timeout
    │       ├── ContextLengthError    the conversation is longer than the model takes
    │       ├── ContentRefusedError   the provider's filter refuses the content
    │       ├── BadRequestError       the request is wrong, such as the name of the model
    │       ├── UnexpectedReplyError  the reply can't be read
    │       └── BrokenStreamError     the reply broke off
    ├── OutputError         the answer does not meet `output_type`
    └── CleanupError        the answer is there, and something could not be closed
"""

from __future__ import annotations

import re
from typing import Any

__all__ = [
    "AuthenticationError",
    "BadRequestError",
    "BrokenStreamError",
    "CleanupError",
    "ConfigurationError",
    "ContentRefusedError",
    "ContextLengthError",
    "DeadlineExceeded",
    "HookError",
    "LimitExceeded",
    "ModelError",
    "OutputError",
    "OverloadedError",
    "ProviderError",
    "RateLimitError",
    "RunAborted",
    "RunError",
    "ToolError",
    "ToolkitError",
    "UnexpectedReplyError",
    "UnreachableError",
]


class ToolkitError(Exception):
    """The root: `except ToolkitError` catches all that this toolkit raises of its own accord."""


class ConfigurationError(ToolkitError, ValueError):
    """Something was declared or wired wrongly. The text says what, where, and what to do.

    `run` is set when it was found in a run (at its start, or when a tool was built), else None. It is typed
    `Any` because this module lies below the one that defines `Run`.
    """

    run: Any = None


class ToolError(ToolkitError):
    """Raised by a tool (or by a hook: then it is a denial). The model is shown exactly this text."""


class RunError(ToolkitError):
    """A run ended without an answer. `run` is the `Run` so far; its transcript pairs every call with a result.

    `run` is None only where no run exists: a `ModelError` of a model that is used alone, and a `HookError` that
    stands on a `CallRecord`.
    """

    def __init__(self, message: str = "", *, run: Any = None) -> None:
        super().__init__(message)
        self.run = run

    def __reduce__(self) -> tuple[Any, ...]:
        """As it is, whatever its constructor takes."""
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[RunError], args: tuple[Any, ...], attributes: dict[str, Any]) -> RunError:
    error = Exception.__new__(kind)
    error.args = args
    error.__dict__.update(attributes)
    return error


class LimitExceeded(RunError):
    """A limit of `Limits` was reached. `limit` is its name, such as `"max_turns"`, and `value` its number."""

    def __init__(self, message: str = "", *, limit: str = "", value: float | None = None, run: Any = None) -> None:
        super().__init__(message, run=run)
        self.limit = limit
        self.value = value


class DeadlineExceeded(RunError):
    """The run took longer than its `timeout` (seconds)."""

    def __init__(self, message: str = "", *, timeout: float | None = None, run: Any = None) -> None:
        super().__init__(message, run=run)
        self.timeout = timeout


class RunAborted(RunError):
    """A guard ended the run. `reason` is what it gave."""

    def __init__(self, reason: str = "", *, run: Any = None) -> None:
        super().__init__(f"a guard ended the run: {reason}" if reason else "a guard ended the run", run=run)
        self.reason = reason


class HookError(RunError):
    """A hook failed, or a guard answered with something that is no decision."""


class ModelError(RunError):
    """The model could not answer. The provider's own error is the cause (`__cause__`)."""


class ProviderError(ModelError):
    """A provider of models did not do what was asked. It holds no key, no header and no text of the conversation.

    Attributes:
        provider: Its name, such as `"openai"`.
        status: The HTTP status, or None when no answer came.
        code: The provider's own word for it, such as `"model_not_found"`.
        request_id: The provider's name for the request, to be quoted to its support.
        retry_after: Seconds that it asked to wait, or None.
        is_temporary: True when the same request may succeed a little later.
    """

    is_temporary = False

    def __init__(
        self,
        message: str = "",
        *,
        provider: str = "",
        status: int | None = None,
        code: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        run: Any = None,
    ) -> None:
        super().__init__(message, run=run)
        self.provider = provider
        self.status = status
        self.code = code
        self.request_id = request_id
        self.retry_after = retry_after


class AuthenticationError(ProviderError):
    """The provider refuses the key, or what it is used for (HTTP 401, 403)."""


class RateLimitError(ProviderError):
    """Too many requests or tokens (HTTP 429). A quota that is used up is one too, with `is_temporary` False."""

    is_temporary = True


class OverloadedError(ProviderError):
    """The provider can't answer for now (HTTP 5xx, 408, 409, and errors of that meaning inside a stream)."""

    is_temporary = True


class UnreachableError(ProviderError):
    """No answer came: no connection, or none within the time limit of a step."""

    is_temporary = True


class ContextLengthError(ProviderError):
    """The request holds more tokens than the model takes."""


class ContentRefusedError(ProviderError):
    """The provider's content filter refuses the request or its answer."""


class BadRequestError(ProviderError):
    """The provider can't work with the request (other HTTP 4xx): an unknown model, an argument that it doesn't take."""


class UnexpectedReplyError(ProviderError):
    """The reply is not what the provider's format says: HTML, broken JSON, no answer in it, far too long."""


class BrokenStreamError(ProviderError):
    """A reply broke off before its end, or holds an error that says no more."""

    is_temporary = True


class OutputError(RunError):
    """The model's answer does not meet the `output_type`."""


class CleanupError(RunError):
    """The run had its answer, and closing failed: work such as a commit may be undone. The cause is the error."""


# C0, DEL and C1, line and paragraph separators, what turns the direction of writing round, and lone surrogates. Other
# format characters stay: Persian, Hindi and emoji are not written without joiners.
STEERING = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def escaped(text: str, keep: str = "") -> str:
    r"""The text with what could steer a terminal, or end a line of a log, as escapes such as `\x1b` and `\n`.

    Args:
        keep: Characters that stay as they are.
    """
    if text.isprintable():
        return text
    return STEERING.sub(lambda found: found[0] if found[0] in keep else ascii(found[0])[1:-1], text)


def text_of_error(error: BaseException) -> str:
    """`str(error)`, or the name of its class where that fails: it may be any exception of the application."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - whatever its code raises
        return type(error).__name__


def repr_of(value: object) -> str:
    """`repr(value)`, or `<TheClass>` where that fails."""
    try:
        return repr(value)
    except Exception:  # noqa: BLE001 - whatever its code raises
        return f"<{type(value).__name__}>"
