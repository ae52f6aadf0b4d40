"""Anything but a decision blocks the call: whatever a guard returns or raises, and however it is written."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.runs.parts import Before, add, assert_consistent
from toolkit import (
    Agent,
    CleanupError,
    ConfigurationError,
    DeadlineExceeded,
    HookError,
    ModelError,
    RunAborted,
    RunContext,
    Tool,
)
from toolkit.hooks import Abort, Allow, Deny, Modify, Replace
from toolkit.testing import ScriptedModel, call, calls, says


class Ran(Tool):
    """Note that it ran."""

    name = "act"

    def __init__(self) -> None:
        self.count = 0

    async def handler(self) -> str:
        self.count += 1
        return "acted"


async def asked(decide: Any) -> tuple[Any, Ran]:
    tool = Ran()
    model = ScriptedModel([calls(call("act")), says("done")])
    run = await Agent(model, tools=[tool], hooks=[Before(decide)]).run("go")
    assert_consistent(run)
    return run.calls[0], tool


class Strange:
    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparing")

    def __bool__(self) -> bool:
        raise RuntimeError("no truth")

    def __repr__(self) -> str:
        return "Strange()"

    __hash__ = None  # type: ignore[assignment]


NO_DECISIONS: dict[str, Any] = {
    "True": True,
    "False": False,
    "a text": "allow",
    "a number": 0,
    "an empty dict": {},
    "a class": Allow,
    "an after-hook's Replace": Replace("x"),
    "a list": [Allow()],
    "a strange object": Strange(),
    "an unknown action": {"action": "permit"},
    "an action in capitals": {"action": "Allow"},
    "an action that is no text": {"action": ["deny"]},
    "allow with more": {"action": "allow", "until": "noon"},
    "deny with more": {"action": "deny", "result": "x"},
    "deny with a reason that is no text": {"action": "deny", "reason": 5},
    "Deny with a reason that is no text": Deny(5),  # type: ignore[arg-type]
    "Abort with a reason that is no text": Abort(5),  # type: ignore[arg-type]
    "modify without arguments": {"action": "modify"},
    "modify with a text": {"action": "modify", "arguments": "{}"},
    "Modify with a list": Modify([]),  # type: ignore[arg-type]
    "modify with another name": {"action": "modify", "args": {}},
    "skip without a result": {"action": "skip"},
}


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("answer", NO_DECISIONS.values(), ids=NO_DECISIONS)
async def test_an_answer_that_is_no_decision_blocks_the_call(answer: Any, is_async: bool) -> None:
    async def decide_later(ctx: RunContext, call: Any) -> Any:
        return answer

    record, tool = await asked(decide_later if is_async else lambda ctx, call: answer)

    assert tool.count == 0
    assert record.result.content == "blocked by a guard"
    assert record.result.is_error
    assert isinstance(record.error, HookError)
    assert "no decision" in str(record.error)


RAISED: list[BaseException] = [
    ValueError("secret-7"),
    KeyError(),
    AssertionError(),
    TimeoutError(),
    asyncio.CancelledError(),
    RunAborted("only a returned Abort ends the run"),
    HookError("of its own"),
    ConfigurationError("wrong"),
    DeadlineExceeded("of a run inside"),
    CleanupError("of a run inside"),
    ModelError("of a run inside"),
    ExceptionGroup("several", [ValueError()]),
]


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
async def test_a_guard_that_raises_blocks_the_call(error: BaseException, is_async: bool) -> None:
    def decide(ctx: RunContext, call: Any) -> Any:
        raise error

    async def decide_later(ctx: RunContext, call: Any) -> Any:
        raise error

    record, tool = await asked(decide_later if is_async else decide)

    assert tool.count == 0
    assert record.result.content == "blocked by a guard"
    assert isinstance(record.error, HookError)
    assert record.error is error or record.error.__cause__ is error
    assert "secret-7" not in repr(record)


async def test_a_guard_whose_own_agent_ends_with_an_error_of_a_hook_fails_with_an_error_of_this_run() -> None:
    class Wrong:
        def on_before_model(self, ctx: RunContext, request: Any) -> Any:
            return "something"

    adviser = Agent(ScriptedModel([says("fine")]), hooks=[Wrong()])

    async def decide(ctx: RunContext, call: Any) -> Any:
        await adviser.run("May it?")

    record, _ = await asked(decide)

    assert isinstance(record.error, HookError)
    assert record.error.run is None
    inner = record.error.__cause__
    assert isinstance(inner, HookError)
    assert inner.run is not None


async def test_a_tools_own_guard_fails_closed_too() -> None:
    class Guarded(Ran):
        """Note that it ran."""

        def on_before_call(self, ctx: RunContext, call: Any) -> Any:
            return "sure"

    tool = Guarded()
    run = await Agent(ScriptedModel([calls(call("act")), says("done")]), tools=[tool]).run("go")

    assert run.calls[0].result.content == "blocked by a guard"
    assert tool.count == 0


async def test_a_blocked_call_does_not_disturb_its_siblings() -> None:
    model = ScriptedModel([calls(call("add", {"a": 1, "b": 1}), call("add", {"a": 2, "b": 2})), says("done")])
    hook = Before(lambda ctx, call: "nonsense" if call.arguments["a"] == 1 else None)

    run = await Agent(model, tools=[add], hooks=[hook]).run("go")

    assert [record.result.content for record in run.calls] == ["blocked by a guard", "4"]
    assert run.outcome == "completed"


async def test_a_guard_of_a_tool_that_can_not_be_built_is_a_failure_of_the_tool() -> None:
    class Unbuildable(Tool):
        """Note that it ran."""

        name = "act"

        def __init__(self) -> None:
            raise OSError("secret-7")

        def on_before_call(self, ctx: RunContext, call: Any) -> None: ...

        async def handler(self) -> str:
            return "acted"

    run = await Agent(ScriptedModel([calls(call("act"), call("act")), says("done")]), tools=[Unbuildable]).run("go")

    assert [record.result.content for record in run.calls] == ["tool 'act' failed: OSError"] * 2
    assert [str(record.error) for record in run.calls] == ["secret-7"] * 2


class Traced:
    """Passes everything on, as a proxy does."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


class Slotted:
    __slots__ = ("on_before_call",)

    def __init__(self, decide: Any = None) -> None:
        self.on_before_call = decide

    def on_after_call(self, ctx: RunContext, info: Any) -> None:
        pass


class Audit:
    def on_after_call(self, ctx: RunContext, info: Any) -> None:
        pass


def deny(ctx: RunContext, call: Any) -> Deny:
    return Deny("never")


@pytest.mark.parametrize(
    ("other", "guard"),
    [
        pytest.param(Traced(Audit()), Traced(Before(deny)), id="a proxy"),
        pytest.param(Slotted(), Slotted(deny), id="slots"),
    ],
)
async def test_each_hook_object_is_looked_at_itself_whatever_another_of_its_class_has(other: Any, guard: Any) -> None:
    tool = Ran()
    model = ScriptedModel([calls(call("act")), says("done")])

    run = await Agent(model, tools=[tool], hooks=[other, guard]).run("go")

    assert run.calls[0].result.content == "never"
    assert tool.count == 0


def test_a_hook_that_can_not_be_read_is_refused() -> None:
    class Broken:
        @property
        def on_before_call(self) -> Any:
            raise RuntimeError("token=abc123")

        def on_after_call(self, ctx: RunContext, info: Any) -> None:
            pass

    with pytest.raises(ConfigurationError, match=r"on_before_call of hook .*Broken can't be read: RuntimeError"):
        Agent(None, hooks=[Broken()])


def test_a_slot_that_holds_no_hook_is_refused_for_each_object() -> None:
    Agent(None, hooks=[Slotted(deny)])

    with pytest.raises(ConfigurationError, match="takes"):
        Agent(None, hooks=[Slotted(lambda ctx: None)])


class Permissive:
    async def on_before_call(self, ctx: RunContext, call: Any) -> None:
        return None


async def test_what_a_hook_sets_on_itself_is_checked_though_its_class_was_found_sound() -> None:
    Agent(ScriptedModel([]), hooks=[Permissive()])
    odd: Any = Permissive()
    odd.on_before_call = Permissive.on_before_call  # the function, which takes one more than the method

    with pytest.raises(ConfigurationError, match=r"is called as on_before_call\(ctx, call\)"):
        Agent(ScriptedModel([]), hooks=[odd])


async def test_a_hook_that_a_class_gets_later_is_asked_in_the_next_run(monkeypatch: pytest.MonkeyPatch) -> None:
    async def deny(guard: Permissive, ctx: RunContext, call: Any) -> Deny:
        return Deny("closed")

    tool = Ran()
    agent = Agent(
        ScriptedModel([calls(call("act")), says("1"), calls(call("act")), says("2")]), [tool], hooks=[Permissive()]
    )
    await agent.run("Act!")
    monkeypatch.setattr(Permissive, "on_before_call", deny)

    run = await agent.run("Act!")

    assert run.calls[0].result.content == "closed"
    assert tool.count == 1
