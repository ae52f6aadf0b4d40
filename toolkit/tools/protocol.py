"""`ITool`: the members that an object must have to be a tool. No inheritance is needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypedDict, runtime_checkable

__all__ = [
    "DEFAULTS",
    "MAX_RESULT_TOKENS",
    "OPTIONAL_MEMBERS",
    "REQUIRED_MEMBERS",
    "FurtherMembers",
    "ITool",
    "OptionalMembers",
]

MAX_RESULT_TOKENS = 10_000
"""Tokens of a result that a model is shown, unless the tool says otherwise; 4 bytes count as one."""

REQUIRED_MEMBERS = ("name", "description", "handler")
OPTIONAL_MEMBERS = (
    "input_schema",
    "output_schema",
    "on_before_call",
    "on_after_call",
    "exclusive",
    "timeout",
    "available_if",
    "needs_approval",
    "max_result_tokens",
    "run_in_thread",
)

DEFAULTS: dict[str, Any] = {
    "exclusive": False,
    "needs_approval": False,
    "max_result_tokens": MAX_RESULT_TOKENS,
    "run_in_thread": True,
}
"""What an optional member is where a tool has none; None for the others."""


class FurtherMembers(TypedDict, total=False):
    """The optional members beside `input_schema`, as type checkers know the arguments of `Tool.define`.

    A schema is `Any`: besides a dict, whatever Python has for a type, such as `list[int]` or `Annotated[int, ...]`.
    """

    output_schema: Any
    on_before_call: Callable[[Any, Any], Any] | None
    on_after_call: Callable[[Any, Any], Any] | None
    exclusive: bool
    timeout: float | None
    available_if: Callable[..., Any] | None
    needs_approval: bool
    max_result_tokens: int
    run_in_thread: bool


class OptionalMembers(FurtherMembers, total=False):
    """All of `OPTIONAL_MEMBERS`, as type checkers know the arguments of `@tool(...)`."""

    input_schema: Any


@runtime_checkable
class ITool(Protocol):
    """A described operation that a model may call. A tool is no security boundary.

    Required are `name` (1 to 64 of `A-Z a-z 0-9 _ -`), `description` (never blank) and `handler`, sync or async. A
    sync handler runs in a worker thread with the caller's context variables, unless `run_in_thread` is False.

    Optional members, with their meaning when absent:

    * `input_schema`: derived from the handler's parameters and closed. A `dict` is a hand-written JSON Schema, and the
      handler gets one dict. A type (dataclass, TypedDict, msgspec Struct, pydantic model): its schema, and the
      handler gets one instance. The arguments of a hand-written schema are spread to a handler of `**kwargs` only;
      where it describes no argument, the handler may take none.
    * `output_schema`: a dict or a type that the handler's value has to meet; nothing is checked.
    * `on_before_call(ctx, call)` and `on_after_call(ctx, info)`: see `toolkit.hooks`.
    * `exclusive` (False): never overlaps another exclusive call of the same run, nor a thread that one has left at its
      timeout: it waits for that for its own `timeout`, or `close_timeout`, and then does not run.
    * `timeout` (None): seconds for one call.
    * `available_if(ctx, ...)`, static or class method: asked once per run, before anything is built.
    * `needs_approval` (False): denied unless a before-hook returned `Allow()`.
    * `max_result_tokens` (10,000): longer results are cut in the middle; 4 bytes count as a token.
    * `aclose()` or `close()`: called once, by the run that built the instance.

    Example:
        >>> class Add:
        ...     name = "add"
        ...     description = "Add two numbers."
        ...
        ...     def handler(self, a: int, b: int) -> int:
        ...         return a + b
        >>> isinstance(Add(), ITool)
        True
    """

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def handler(self) -> Callable[..., Any]: ...
