"""Before-hooks: what they are told, what they may decide, in which order, and what then happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import pytest
from msgspec import Meta

from tests.runs.parts import After, Before, add, assert_consistent, echo
from toolkit import Agent, HookError, RunAborted, RunContext, Tool, ToolError, ToolResult, tool
from toolkit.hooks import Abort, Allow, Deny, Modify, Skip
from toolkit.testing import ScriptedModel, call, calls, says

Decide = Callable[[RunContext, Any], Any]


class Spy(Tool):
    """Take a step."""

    name = "step"
    built: list[Spy] = []  # noqa: RUF012 - of the test that uses it

    def __init__(self) -> None:
        type(self).built.append(self)

    async def handler(self, n: int = 0) -> str:
        return f"step {n}"


@pytest.fixture
def spy() -> type[Spy]:
    return type("FreshSpy", (Spy,), {"built": [], "__doc__": "Take a step."})


async def run_with(tools: list[Any], *decisions: Decide, arguments: Any = None, hooks: tuple[Any, ...] = ()) -> Any:
    model = ScriptedModel([calls(call(name_of(tools[0]), arguments or {})), says("done")])
    guards = [Before(decide) for decide in decisions]
    run = await Agent(model, tools=tools, hooks=[*guards, *hooks]).run("go")
    assert_consistent(run)
    return run.calls[0]


def name_of(listed: Any) -> str:
    return str(listed.name)


def always(decision: Any) -> Decide:
    return lambda ctx, call: decision


def later(decision: Any) -> Decide:
    async def decide(ctx: RunContext, call: Any) -> Any:
        return decision

    return decide


# What a guard is told


async def test_a_guard_sees_valid_arguments_as_json_the_id_and_the_tool() -> None:
    seen: list[Any] = []

    record = await run_with([add], lambda ctx, call: seen.append((ctx, call)), arguments='{"a": 1, "b": 2}')

    [(ctx, call_)] = seen
    assert (call_.id, call_.name, call_.arguments, call_.revised) == (record.id, "add", {"a": 1, "b": 2}, False)
    assert call_.tool.description == "Add two numbers."
    assert ctx.call is call_


async def test_a_guard_is_not_asked_about_unknown_tools_and_invalid_arguments() -> None:
    asked: list[Any] = []
    model = ScriptedModel([calls(call("nothing"), call("add", {"a": "x"}), call("add", '{"a": 1')), says("sorry")])

    run = await Agent(model, tools=[add], hooks=[Before(lambda ctx, call: asked.append(call))]).run("go")

    assert asked == []
    assert all(record.result.is_error for record in run.calls)


# Decisions, as objects and as dicts, sync and async

DECISIONS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "nothing": (None, "3", {"a": 1, "b": 2}),
    "Allow": (Allow(), "3", {"a": 1, "b": 2}),
    "allow as a dict": ({"action": "allow"}, "3", {"a": 1, "b": 2}),
    "Deny": (Deny("not today"), "not today", {"a": 1, "b": 2}),
    "deny as a dict": ({"action": "deny", "reason": "not today"}, "not today", {"a": 1, "b": 2}),
    "deny without a reason": ({"action": "deny"}, "denied by a guard", {"a": 1, "b": 2}),
    "Skip": (Skip(42), "42", {"a": 1, "b": 2}),
    "skip as a dict": ({"action": "skip", "result": {"cached": True}}, '{"cached":true}', {"a": 1, "b": 2}),
    "Modify": (Modify({"a": 5, "b": 5}), "10", {"a": 5, "b": 5}),
    "modify as a dict": ({"action": "modify", "arguments": {"a": 5, "b": 5}}, "10", {"a": 5, "b": 5}),
}


@pytest.mark.parametrize("made", [always, later], ids=["sync", "async"])
@pytest.mark.parametrize(("decision", "content", "arguments"), DECISIONS.values(), ids=DECISIONS)
async def test_a_decision_means_the_same_in_every_form(
    made: Callable[[Any], Decide], decision: Any, content: str, arguments: dict[str, Any]
) -> None:
    record = await run_with([add], made(decision), arguments={"a": 1, "b": 2})

    assert record.result.content == content
    assert record.arguments == arguments


@pytest.mark.parametrize("decision", [Abort("enough"), {"action": "abort", "reason": "enough"}], ids=["object", "dict"])
@pytest.mark.parametrize("made", [always, later], ids=["sync", "async"])
async def test_abort_ends_the_run(made: Callable[[Any], Decide], decision: Any, spy: type[Spy]) -> None:
    with pytest.raises(RunAborted) as caught:
        await run_with([spy], made(decision))

    assert caught.value.reason == "enough"
    assert spy.built == []
    assert caught.value.run.calls[0].result.is_error
    assert_consistent(caught.value.run)


async def test_a_denial_is_an_error_result_and_asks_no_later_hook(spy: type[Spy]) -> None:
    asked: list[str] = []

    record = await run_with([spy], always(Deny("no")), lambda ctx, call: asked.append("later"))

    assert (record.result.content, record.result.is_error, asked) == ("no", True, [])
    assert isinstance(record.error, ToolError)


async def test_a_tool_error_of_a_guard_is_a_denial_with_its_text(spy: type[Spy]) -> None:
    def refuse(ctx: RunContext, call: Any) -> None:
        raise ToolError("only on weekdays")

    record = await run_with([spy], refuse)

    assert (record.result.content, record.result.is_error) == ("only on weekdays", True)
    assert spy.built == []


@pytest.mark.parametrize(
    "decision",
    [Deny("no"), "nonsense", Modify({"n": "many"}), Skip({1: object()})],
    ids=["denied", "blocked", "modified to invalid", "skipped with what is no result"],
)
async def test_a_call_that_does_not_run_builds_nothing(spy: type[Spy], decision: Any) -> None:
    record = await run_with([spy], always(decision))

    assert record.result.is_error
    assert spy.built == []


# Order


class OwnHooks(Tool):
    """Take a step."""

    name = "step"

    def __init__(self, log: list[str]) -> None:
        self.log = log

    def on_before_call(self, ctx: RunContext, call: Any) -> None:
        self.log.append("own before")

    async def on_after_call(self, ctx: RunContext, info: Any) -> None:
        self.log.append("own after")

    async def handler(self) -> str:
        self.log.append("handler")
        return "done"


class Both:
    def __init__(self, name: str, log: list[str]) -> None:
        self.name, self.log = name, log

    async def on_before_call(self, ctx: RunContext, call: Any) -> None:
        self.log.append(f"{self.name} before")

    def on_after_call(self, ctx: RunContext, info: Any) -> None:
        self.log.append(f"{self.name} after")


async def test_before_hooks_run_agent_wide_first_and_after_hooks_the_other_way_round() -> None:
    log: list[str] = []

    await run_with([OwnHooks(log)], hooks=(Both("first", log), Both("second", log)))

    assert log == [
        "first before",
        "second before",
        "own before",
        "handler",
        "own after",
        "second after",
        "first after",
    ]


async def test_a_tools_own_hooks_are_asked_about_that_tool_only() -> None:
    log: list[str] = []
    model = ScriptedModel([calls(call("echo", {"text": "x"})), says("done")])

    await Agent(model, tools=[OwnHooks(log), echo]).run("go")

    assert log == []


# Modify


async def test_after_a_modify_every_guard_is_asked_once_more_with_the_new_arguments() -> None:
    asked: list[tuple[str, dict[str, Any], bool]] = []

    def first(ctx: RunContext, call: Any) -> None:
        asked.append(("first", call.arguments, call.revised))

    def clamp(ctx: RunContext, call: Any) -> Any:
        asked.append(("clamp", call.arguments, call.revised))
        return Modify({"n": min(call.arguments["n"], 10)})

    def last(ctx: RunContext, call: Any) -> None:
        asked.append(("last", call.arguments, call.revised))

    record = await run_with([Spy()], first, clamp, last, arguments={"n": 99})

    assert asked == [
        ("first", {"n": 99}, False),
        ("clamp", {"n": 99}, False),
        ("last", {"n": 10}, False),
        ("first", {"n": 10}, True),
        ("clamp", {"n": 10}, True),
        ("last", {"n": 10}, True),
    ]
    assert record.result.value == "step 10"
    assert record.arguments == {"n": 10}


async def test_the_handler_and_the_after_hooks_get_the_new_arguments() -> None:
    infos: list[Any] = []

    await run_with(
        [Spy()],
        lambda ctx, call: Modify({"n": 1}),
        arguments={"n": 99},
        hooks=(After(lambda ctx, info: infos.append((info.call, ctx.call))),),
    )

    [(told, of_context)] = infos
    assert told is of_context
    assert (told.arguments, told.revised) == ({"n": 1}, True)


async def test_a_tools_own_guard_may_modify_and_then_all_are_asked_again() -> None:
    asked: list[bool] = []

    class Clamping(Tool):
        """Take a step."""

        name = "step"

        def on_before_call(self, ctx: RunContext, call: Any) -> Any:
            return Modify({"n": min(call.arguments["n"], 10)})

        async def handler(self, n: int) -> int:
            return n

    record = await run_with([Clamping()], lambda ctx, call: asked.append(call.revised), arguments={"n": 99})

    assert asked == [False, True]
    assert record.result.value == 10


async def test_a_modify_with_equal_arguments_counts_as_nothing() -> None:
    asked: list[bool] = []

    def same(ctx: RunContext, call: Any) -> Any:
        asked.append(call.revised)
        return Modify(dict(call.arguments))

    record = await run_with([Spy()], same, same, arguments={"n": 1})

    assert asked == [False, False]
    assert not record.result.is_error


async def test_two_guards_that_each_have_a_change_to_make_agree() -> None:
    def least(ctx: RunContext, call: Any) -> Any:
        return Modify({"n": max(call.arguments["n"], 10)})

    def even(ctx: RunContext, call: Any) -> Any:
        return Modify({"n": call.arguments["n"] // 2 * 2}) if call.arguments["n"] % 2 else None

    record = await run_with([Spy()], even, least, even, arguments={"n": 3})

    assert record.result.value == "step 10"
    assert record.arguments == {"n": 10}


async def test_what_the_first_round_allowed_or_skipped_is_asked_again_of_the_new_arguments() -> None:
    class Guarded(Tool):
        """Take a step."""

        name = "step"
        needs_approval = True

        async def handler(self, n: int) -> int:
            return n

    def only_once(decision: Any) -> Decide:
        return lambda ctx, call: None if call.revised else decision

    record = await run_with(
        [Guarded()],
        only_once(Allow()),
        only_once(Skip("skipped")),
        lambda ctx, call: Modify({"n": 1}),
        arguments={"n": 9},
    )

    assert record.result.is_error
    assert "needs an approval" in record.result.content


async def test_two_guards_that_change_one_call_block_it(spy: type[Spy]) -> None:
    record = await run_with(
        [spy],
        lambda ctx, call: Modify({"n": 1}),
        lambda ctx, call: Modify({"n": 2}),
        arguments={"n": 99},
    )

    assert record.result.content == "blocked by a guard"
    assert isinstance(record.error, HookError)
    assert "changed already" in str(record.error)
    assert spy.built == []


async def test_one_guard_that_changes_its_mind_blocks_the_call() -> None:
    record = await run_with([Spy()], lambda ctx, call: Modify({"n": call.arguments["n"] + 1}), arguments={"n": 1})

    assert record.result.content == "blocked by a guard"


@tool
async def pick(value: Any) -> str:
    """Pick a value."""
    return f"{type(value).__name__} {value}"


@pytest.mark.parametrize(
    ("sent", "modified", "content"),
    [
        pytest.param(1, True, "bool True", id="true is not 1"),
        pytest.param(True, 1, "int 1", id="1 is not true"),
        pytest.param([0], [False], "list [False]", id="nor inside a list"),
        pytest.param({"x": 1}, {"x": True}, "dict {'x': True}", id="nor inside an object"),
    ],
)
async def test_values_that_only_python_calls_equal_are_a_change(sent: Any, modified: Any, content: str) -> None:
    record = await run_with([pick], lambda ctx, call: Modify({"value": modified}), arguments={"value": sent})

    assert record.result.content == content


INVALID = [
    {"n": "secret-7"},
    {"n": 1, "more": "secret-7"},
    {"n": float("nan")},
    {1: "secret-7"},
    {"n": object()},
    {"n": "1"},
]


@pytest.mark.parametrize("arguments", INVALID, ids=["type", "another", "nan", "key", "no JSON", "text"])
async def test_a_modify_to_invalid_arguments_blocks_without_telling_their_values(arguments: Any) -> None:
    record = await run_with([Spy()], lambda ctx, call: Modify(arguments), arguments={"n": 99})

    assert record.result.content == "blocked by a guard"
    assert isinstance(record.error, HookError)
    assert "secret-7" not in f"{record!r}{record.error!r}{record.error}"


async def test_a_not_a_number_from_a_guard_is_no_json_even_where_anything_goes() -> None:
    record = await run_with([pick], lambda ctx, call: Modify({"value": float("inf")}), arguments={"value": 1})

    assert record.result.content == "blocked by a guard"


async def test_changing_arguments_in_place_has_no_effect() -> None:
    def meddle(ctx: RunContext, call: Any) -> None:
        call.arguments["value"]["deep"].append("meddled")
        call.arguments["more"] = 1

    def look(ctx: RunContext, call: Any) -> None:
        assert call.arguments == {"value": {"deep": []}}

    record = await run_with([pick], meddle, look, arguments={"value": {"deep": []}})

    assert record.result.content == "dict {'deep': []}"
    assert record.arguments == {"value": {"deep": []}}


async def test_changing_what_a_modify_held_afterwards_has_no_effect() -> None:
    held: list[dict[str, Any]] = []

    def modify(ctx: RunContext, call: Any) -> Any:
        if held:
            held[0]["value"].append("meddled")
            return None
        held.append({"value": [1]})
        return Modify(held[0])

    record = await run_with([pick], modify, arguments={"value": []})

    assert record.result.content == "list [1]"
    assert record.arguments == {"value": [1]}


# Skip


async def test_a_skip_is_the_result_and_the_tool_is_not_built(spy: type[Spy]) -> None:
    record = await run_with([spy], always(Skip({"cached": [1, 2]})))

    assert record.result == ToolResult({"cached": [1, 2]}, '{"cached":[1,2]}')
    assert record.duration == 0
    assert record.error is None
    assert spy.built == []


async def test_after_a_skip_the_remaining_guards_are_asked_and_may_deny(spy: type[Spy]) -> None:
    asked: list[str] = []

    def deny(ctx: RunContext, call: Any) -> Any:
        asked.append("asked")
        return Deny("not even from the cache")

    record = await run_with([spy], always(Skip("cached")), deny)

    assert asked == ["asked"]
    assert record.result.content == "not even from the cache"


async def test_the_first_skip_stands() -> None:
    record = await run_with([Spy()], always(Skip("first")), always(Skip("second")))

    assert record.result.content == "first"


async def test_a_skip_of_arguments_that_a_later_guard_changes_is_asked_for_again() -> None:
    cache = {1: "one", 99: "ninety-nine"}

    record = await run_with(
        [Spy()],
        lambda ctx, call: Skip(cache[call.arguments["n"]]),
        lambda ctx, call: Modify({"n": 1}),
        arguments={"n": 99},
    )

    assert record.result.content == "one"


async def test_a_skip_builds_the_tool_only_if_it_has_hooks_of_its_own() -> None:
    log: list[str] = []

    class Hooked(OwnHooks):
        """Take a step."""

        def __init__(self) -> None:
            super().__init__(log)
            log.append("built")

    record = await run_with([Hooked], always(Skip("cached")))

    assert record.result.content == "cached"
    assert log == ["built", "own before", "own after"]


async def test_after_hooks_are_told_of_a_skip_with_duration_zero() -> None:
    infos: list[Any] = []

    await run_with([Spy()], always(Skip("cached")), hooks=(After(lambda ctx, info: infos.append(info)),))

    [info] = infos
    assert (info.ok, info.duration, info.result.content, info.error) == (True, 0, "cached", None)


# Approval


class Refund(Tool):
    """Refund an order."""

    name = "refund"
    needs_approval = True

    async def handler(self, euros: Annotated[int, Meta(ge=0)] = 0) -> str:
        return f"refunded {euros}"


APPROVALS: dict[str, tuple[list[Any], str]] = {
    "no guard": ([], "tool 'refund' needs an approval, and none was given"),
    "a guard that says nothing": ([None], "tool 'refund' needs an approval, and none was given"),
    "allow": ([Allow()], "refunded 5"),
    "allow, then nothing": ([Allow(), None], "refunded 5"),
    "nothing, then allow": ([None, Allow()], "refunded 5"),
    "allow, then deny": ([Allow(), Deny("too much")], "too much"),
    "a skip approves nothing": ([Skip("cached")], "tool 'refund' needs an approval, and none was given"),
    "skip and allow": ([Skip("cached"), Allow()], "cached"),
    "a modify approves nothing": ([Modify({"euros": 1})], "tool 'refund' needs an approval, and none was given"),
    "modify and allow": ([Modify({"euros": 1}), Allow()], "refunded 1"),
    "true is no approval": ([True], "blocked by a guard"),
}


@pytest.mark.parametrize(("decisions", "content"), APPROVALS.values(), ids=APPROVALS)
async def test_a_tool_that_needs_approval_runs_only_with_an_allow(decisions: list[Any], content: str) -> None:
    record = await run_with([Refund()], *map(always, decisions), arguments={"euros": 5})

    assert record.result.content == content


async def test_an_allow_for_other_arguments_is_none_for_the_changed_ones() -> None:
    def approve_once(ctx: RunContext, call: Any) -> Any:
        return None if call.revised else Allow()

    record = await run_with([Refund()], approve_once, always(Modify({"euros": 1_000})), arguments={"euros": 5})

    assert "needs an approval" in record.result.content


async def test_approvals_of_one_batch_do_not_mix() -> None:
    model = ScriptedModel([calls(*(call("refund", {"euros": n}) for n in range(3))), says("done")])
    hook = Before(lambda ctx, call: Allow() if call.arguments["euros"] == 1 else None)

    run = await Agent(model, tools=[Refund()], hooks=[hook]).run("go")

    assert [record.result.is_error for record in run.calls] == [True, False, True]


# The same with any number of hooks


@pytest.mark.parametrize("count", [0, 1, 3])
async def test_hooks_that_do_nothing_change_nothing(count: int) -> None:
    log: list[str] = []
    model = ScriptedModel([calls(call("fail")), says("Sorry.")])

    @tool
    async def fail() -> str:
        """Fail."""
        raise ValueError("token=abc123")

    run = await Agent(model, tools=[fail], hooks=[Both(str(n), log) for n in range(count)]).run("go")

    assert run.calls[0].result.content == "tool 'fail' failed: ValueError"
    assert len(log) == 2 * count


async def test_a_hook_of_the_run_is_one_object_before_and_after() -> None:
    class Masking:
        """Built for each run, since it is listed as a class."""

        def __init__(self) -> None:
            self.masked: dict[str, str] = {}

        def on_before_call(self, ctx: RunContext, call: Any) -> Any:
            self.masked[call.id] = call.arguments["text"]
            return None if call.revised else Modify({"text": "***"})

        def on_after_call(self, ctx: RunContext, info: Any) -> None:
            ctx.state["seen"] = dict(self.masked)

    agent = Agent(tools=[echo], hooks=[Masking])
    scripts = [ScriptedModel([calls(call("echo", {"text": text})), says("done")]) for text in ("a", "b")]

    runs = [await agent.run("go", model=model) for model in scripts]

    assert [len(run.state["seen"]) for run in runs] == [1, 1]
    assert [run.calls[0].result.content for run in runs] == ["***", "***"]
