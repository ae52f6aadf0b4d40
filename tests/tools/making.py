"""Tools for the tests of execution, with a handler of each kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from toolkit import RunContext, Tool

KINDS = pytest.mark.parametrize("kind", ["async", "thread", "loop"])


def made(work: Callable[..., Any], kind: str = "async", **members: Any) -> Any:
    """A tool named `t` whose handler is async, sync in a thread, or sync on the event loop."""
    if kind == "async":

        async def asynchronous(arguments: Any, ctx: RunContext) -> Any:
            return work(arguments, ctx)

        return Tool.define(name="t", description="Do it.", handler=asynchronous, input_schema={}, **members)

    def synchronous(arguments: Any, ctx: RunContext) -> Any:
        return work(arguments, ctx)

    members["run_in_thread"] = kind == "thread"
    return Tool.define(name="t", description="Do it.", handler=synchronous, input_schema={}, **members)


def raising(error: BaseException) -> Callable[..., Any]:
    def handler(arguments: Any, ctx: RunContext) -> Any:
        raise error

    return handler
