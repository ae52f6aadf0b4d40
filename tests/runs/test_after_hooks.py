"""After-hooks: when they are told, what they may change, and what happens when they fail."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from tests.runs.parts import After, Before, add, assert_consistent, echo, fail
from toolkit import Agent, HookError, RunContext, Tool, ToolError, ToolResult, tool
from toolkit.hooks import Allow, CallInfo, Deny, Replace, Skip
from toolkit.messages import ToolMessage
from toolkit.testing import ScriptedModel, call, calls, says


@tool
async def refuse() -> str:
    """Refuse."""
    raise ToolError("only on weekdays")


@tool(timeout=0.01)
async def slow() -> str:
    """Take for ever."""
    await asyncio.Event().wait()
    return "never"


@tool
async def unwritable() -> Any:
    """Give what has no JSON."""
    return object()


@tool
async def error_result() -> ToolResult:
    """Give an error as a result."""
    return ToolResult(None, "sold out", True)


async def told_of(wanted: Any, *, hooks: tuple[Any, ...] = (), **arguments: Any) -> tuple[Any, list[CallInfo]]:
    infos: list[CallInfo] = []
    model = ScriptedModel([calls(call(wanted if isinstance(wanted, str) else wanted.name, arguments)), says("done")])
    tools = [] if isinstance(wanted, str) else [wanted]
    run = await Agent(model, tools=tools, hooks=[*hooks, After(lambda ctx, info: infos.append(info))]).run("go")
    assert_consistent(run)
    return run.calls[0], infos


TOLD: dict[str, tuple[Any, bool]] = {
    "a success": (echo, True),
    "a handler's error": (fail, False),
    "a tool error": (refuse, False),
    "a timeout": (slow, False),
    "a value without JSON": (unwritable, False),
    "an error as a result": (error_result, False),
}


@pytest.mark.parametrize(("wanted", "ok"), TOLD.values(), ids=TOLD)
async def test_an_after_hook_is_told_of(wanted: Any, ok: bool) -> None:
    record, [info] = await told_of(wanted, **({"text": "x"} if wanted is echo else {}))

    assert info.ok is ok
    assert info.ok is not info.result.is_error
    assert info.result == record.result
    assert info.error is record.error
    assert info.duration == record.duration >= 0
    assert (info.call.id, info.call.name) == (record.id, record.name)


NOT_TOLD: dict[str, tuple[Any, dict[str, Any], tuple[Any, ...]]] = {
    "a denied call": (echo, {"text": "x"}, (Before(lambda ctx, call: Deny("no")),)),
    "a blocked call": (echo, {"text": "x"}, (Before(lambda ctx, call: "nonsense"),)),
    "an unknown tool": ("nothing", {}, ()),
    "invalid arguments": (echo, {"text": 5}, ()),
}


@pytest.mark.parametrize(("wanted", "arguments", "hooks"), NOT_TOLD.values(), ids=NOT_TOLD)
async def test_an_after_hook_is_not_told_of(wanted: Any, arguments: Any, hooks: tuple[Any, ...]) -> None:
    record, infos = await told_of(wanted, hooks=hooks, **arguments)

    assert record.result.is_error
    assert infos == []


async def test_a_call_that_needs_an_approval_and_gets_none_is_not_told_of() -> None:
    class Guarded(Tool):
        """Act."""

        name = "act"
        needs_approval = True

        async def handler(self) -> str:
            return "acted"

    _, infos = await told_of(Guarded())

    assert infos == []


async def test_the_duration_is_that_of_the_handler_in_seconds() -> None:
    @tool
    async def wait() -> str:
        """Wait for twenty milliseconds."""
        await asyncio.sleep(0.02)
        return "ok"

    record, [info] = await told_of(wait)

    assert info.duration == record.duration > 0.01


# Replace

REPLACED: dict[str, tuple[Any, ToolResult]] = {
    "text": ("hidden", ToolResult("hidden", "hidden")),
    "none": (None, ToolResult(None, "")),
    "an object": ({"a": [1]}, ToolResult({"a": [1]}, '{"a":[1]}')),
    "a result": (ToolResult("v", "c", True), ToolResult("v", "c", True)),
}


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize(("value", "expected"), REPLACED.values(), ids=REPLACED)
async def test_a_replace_is_normalised_like_a_handlers_value(value: Any, expected: ToolResult, is_async: bool) -> None:
    async def replace_later(ctx: RunContext, info: Any) -> Replace:
        return Replace(value)

    hook = After(replace_later if is_async else lambda ctx, info: Replace(value))
    model = ScriptedModel([calls(call("echo", {"text": "secret"})), says("done")])

    run = await Agent(model, tools=[echo], hooks=[hook]).run("go")

    assert run.calls[0].result == expected
    assert isinstance(model.requests[1].messages[-1], ToolMessage)
    assert model.requests[1].messages[-1].content == expected.content


async def test_each_hook_sees_what_the_one_before_has_made_of_it() -> None:
    seen: list[tuple[str, bool, BaseException | None]] = []

    def look(ctx: RunContext, info: Any) -> None:
        seen.append((info.result.content, info.ok, info.error))

    def mend(ctx: RunContext, info: Any) -> Replace:
        return Replace(f"mended: {info.result.content}")

    model = ScriptedModel([calls(call("refuse")), says("done")])
    # The last hook is told first.
    run = await Agent(model, tools=[refuse], hooks=[After(look), After(mend), After(look)]).run("go")

    assert [content for content, _, _ in seen] == ["only on weekdays", "mended: only on weekdays"]
    assert [ok for _, ok, _ in seen] == [False, True]
    assert seen[1][2] is None
    assert not run.calls[0].result.is_error


async def test_the_exception_stays_on_the_record_when_its_result_is_replaced() -> None:
    model = ScriptedModel([calls(call("fail")), says("done")])

    run = await Agent(model, tools=[fail], hooks=[After(lambda ctx, info: Replace("all is well"))]).run("go")

    assert run.calls[0].result.content == "all is well"
    assert str(run.calls[0].error) == "token=abc123"


async def test_the_error_that_an_after_hook_is_told_can_be_logged_with_its_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    logger = logging.getLogger("audit")
    hook = After(lambda ctx, info: logger.error("called", exc_info=info.error))

    for wanted in (fail, error_result):
        await told_of(wanted, hooks=(hook,))

    raised, unraised = (record.exc_text or "" for record in caplog.records)
    assert raised.startswith("Traceback")
    assert "token=abc123" in raised
    assert unraised == ""


async def test_a_replaced_result_is_cut_to_size_after_the_hooks() -> None:
    class Short(Tool):
        """Say little."""

        name = "say"
        max_result_tokens = 50

        async def handler(self) -> str:
            return "x" * 10_000

    sizes: list[int] = []

    def double(ctx: RunContext, info: Any) -> Replace:
        sizes.append(len(info.result.content))
        return Replace(info.result.value * 2)

    model = ScriptedModel([calls(call("say")), says("done")])

    run = await Agent(model, tools=[Short()], hooks=[After(double)]).run("go")

    assert sizes == [10_000]
    assert len(run.calls[0].result.content) <= 200
    assert len(run.calls[0].result.value) == 20_000


# Failing

FAILING: dict[str, Any] = {
    "raises": lambda ctx, info: 1 / 0,
    "raises a tool error": lambda ctx, info: (_ for _ in ()).throw(ToolError("no")),
    "returns a text": lambda ctx, info: "ok",
    "returns a before-hook's decision": lambda ctx, info: Allow(),
    "replaces by what is no result": lambda ctx, info: Replace(object()),
}


@pytest.mark.parametrize("hook", FAILING.values(), ids=FAILING)
@pytest.mark.parametrize("count", [1, 2], ids=["one call", "two calls"])
async def test_a_failing_after_hook_ends_the_run_and_the_call_keeps_its_one_result(hook: Any, count: int) -> None:
    model = ScriptedModel([calls(*(call("add", {"a": 1, "b": n}) for n in range(count)))])

    with pytest.raises(HookError) as caught:
        await Agent(model, tools=[add], hooks=[After(hook)]).run("go")

    run = caught.value.run
    assert run.outcome == "failed"
    assert run.calls[0].result == ToolResult(1, "1")
    assert len(run.calls) == count
    assert_consistent(run)


async def test_a_failing_after_hook_is_not_asked_again() -> None:
    asked: list[Any] = []

    def hook(ctx: RunContext, info: Any) -> None:
        asked.append(info)
        raise ValueError

    with pytest.raises(HookError):
        await Agent(ScriptedModel([calls(call("echo", {"text": "x"}))]), tools=[echo], hooks=[After(hook)]).run("go")

    assert len(asked) == 1


async def test_a_skip_builds_the_tool_for_its_own_after_hook_only() -> None:
    log: list[str] = []

    class Telling(Tool):
        """Act."""

        name = "act"

        def __init__(self) -> None:
            log.append("built")

        def on_after_call(self, ctx: RunContext, info: Any) -> None:
            log.append(f"told {info.result.content}")

        async def handler(self) -> str:
            return "acted"

    model = ScriptedModel([calls(call("act")), says("done")])
    await Agent(model, tools=[Telling], hooks=[Before(lambda ctx, call: Skip("cached"))]).run("go")

    assert log == ["built", "told cached"]


async def test_after_hooks_see_the_arguments_as_they_were_each_in_a_copy_of_its_own() -> None:
    seen: list[Any] = []

    @tool
    async def cover(items: list[int], ctx: RunContext) -> str:
        """Cover the traces."""
        assert ctx.call is not None
        ctx.call.arguments["items"] = ["rewritten"]
        items.append(99)
        return "done"

    def tell(ctx: RunContext, info: Any) -> None:
        assert ctx.call is info.call
        seen.append(dict(info.call.arguments))
        info.call.arguments["items"] = "changed by a hook"

    model = ScriptedModel([calls(call("cover", {"items": [1]})), says("done")])
    run = await Agent(model, [cover], hooks=[After(tell), After(tell)]).run("go")

    assert seen == [{"items": [1]}, {"items": [1]}]
    assert run.calls[0].arguments == {"items": [1]}
