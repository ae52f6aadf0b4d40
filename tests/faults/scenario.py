"""What one seed stands for: an application, and up to three runs of it at once, with all that goes wrong in them.

A scenario is plain data. Its `repr` says everything, so a failure is repeated by its seed, or by the printed scenario.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any, Literal

from tests.runs.cancel_harness import Style
from toolkit import Limits

__all__ = ["Act", "AgentHooksPlan", "CallPlan", "MemberPlan", "ResourcePlan", "Scenario", "ToolPlan", "scenario_of"]

Way = Literal["run", "stream", "leave", "run_sync"]
ToolKind = Literal["function", "thread", "class", "holder", "leaser", "nested"]


@dataclass(frozen=True, slots=True)
class Act:
    """What a piece of the application's code does, after so many turns of the event loop."""

    kind: str
    steps: int = 0


@dataclass(frozen=True, slots=True)
class ToolPlan:
    """A tool. `handler` has what its first call does, its second, and so on, over again."""

    name: str
    kind: ToolKind
    exclusive: bool
    timeout: float | None
    handler: tuple[Act, ...]
    before: Act | None
    after: Act | None
    close: Act


@dataclass(frozen=True, slots=True)
class ResourcePlan:
    """Something that is opened. `background` runs in the task group that it holds, from its opening to its closing."""

    open: Act
    close: Act
    background: Act | None = None


@dataclass(frozen=True, slots=True)
class AgentHooksPlan:
    """One object of agent-wide hooks; what it does the first time that it is asked, the second, and so on."""

    before_call: tuple[Act, ...] = ()
    after_call: tuple[Act, ...] = ()
    before_model: tuple[Act, ...] = ()
    after_model: tuple[Act, ...] = ()


@dataclass(frozen=True, slots=True)
class CallPlan:
    """A call that the model asks for, as it sends it."""

    tool: str
    arguments: Any
    id: str = ""


@dataclass(frozen=True, slots=True)
class TurnPlan:
    """What the model does when it is asked, and the calls that it then asks for. Without calls it answers."""

    act: Act
    calls: tuple[CallPlan, ...] = ()


@dataclass(frozen=True, slots=True)
class MemberPlan:
    """One run.

    Attributes:
        way: How it is run; `leave` reads so many events of a stream as `turns` says, and leaves.
        turns: After so many turns of the event loop it is cancelled, `times` often; None for never.
        timeout: Of the run.
        is_overridden: It starts under overrides of its own.
    """

    name: str
    way: Way
    script: tuple[TurnPlan, ...]
    turns: int | None = None
    style: Style = "task"
    times: int = 1
    timeout: float | None = None
    is_overridden: bool = False


@dataclass(frozen=True, slots=True)
class Scenario:
    """Everything that one seed decides."""

    seed: int
    has_container: bool
    tools: tuple[ToolPlan, ...]
    hooks: tuple[AgentHooksPlan, ...]
    connection: ResourcePlan
    session: ResourcePlan
    account: ResourcePlan
    lease: ResourcePlan
    limits: Limits
    members: tuple[MemberPlan, ...]


WORK = Act("work")
HANDLER = (
    "fail", "tool_error", "own_cancel", "own_timeout", "hang", "wait", "junk", "swallow_once", "swallow_always",
    "spawn", "tidy", "group", "failing_group", "any_group", "move_on", "cancel_itself", "fail_in_finally",
)  # fmt: skip
THREAD = ("fail", "tool_error", "own_cancel", "own_timeout", "hang", "junk")
OPEN = (
    "fail", "tool_error", "own_cancel", "hang", "wait", "swallow_once", "swallow_always", "spawn", "tidy",
    "failing_group",
)  # fmt: skip
CLOSE = ("fail", "own_cancel", "hang", "wait", "swallow_once", "swallow_always", "spawn", "tidy", "failing_group")
BACKGROUND = ("hang", "fail", "wait", "spawn")
BEFORE = (
    "allow", "deny", "modify", "modify_badly", "skip", "abort", "fail", "tool_error", "own_cancel", "junk", "hang",
    "swallow_once", "spawn", "tidy",
)  # fmt: skip
AFTER = ("replace", "replace", "fail", "junk", "hang", "own_cancel", "swallow_once", "spawn", "tidy")
MODEL_HOOK = ("spawn", "tidy", "spawn", "tidy", "group", "fail", "junk", "hang", "own_cancel", "swallow_once")
MODEL = (
    "spawn",
    "tidy",
    "group",
    "move_on",
    "fail",
    "junk",
    "hang",
    "wait",
    "own_cancel",
    "swallow_once",
    "swallow_always",
)


def scenario_of(seed: int) -> Scenario:
    """The scenario of a seed, always the same one."""
    scenario = _Draw(random.Random(seed)).scenario(seed)
    background = scenario.connection.background
    if background is not None and background.kind == "fail" and "swallow_always" in repr(scenario):
        # anyio cancels at every turn of the loop what swallows that in a scope of its own: virtual time never passes.
        return replace(scenario, connection=replace(scenario.connection, background=Act("hang")))
    return scenario


class _Draw:
    def __init__(self, random: random.Random) -> None:
        self._random = random
        self._harm = random.choice([0.05, 0.15, 0.4])
        """How likely each piece of code is to misbehave."""

    def scenario(self, seed: int) -> Scenario:
        draw = self._random
        has_container = draw.random() < 0.6
        tools = tuple(self._tool(number, has_container) for number in range(draw.randint(1, 4)))
        hooks = tuple(self._hooks() for _ in range(draw.choice([0, 0, 1, 2])))
        members = tuple(self._member(number, tools, has_container) for number in range(draw.randint(1, 3)))
        return Scenario(
            seed,
            has_container,
            tools,
            hooks,
            self._resource(may_hold_group=True),
            self._resource(),
            self._resource(),
            self._resource(),
            self._limits(),
            members,
        )

    def _is_rare(self, chance: float) -> bool:
        return self._random.random() < chance

    def _act(self, kinds: tuple[str, ...]) -> Act:
        kind = self._random.choice(kinds) if self._is_rare(self._harm) else "work"
        return Act(kind, self._random.choice([0, 0, 1, 2, 3]))

    def _acts(self, kinds: tuple[str, ...], most: int = 3) -> tuple[Act, ...]:
        return tuple(self._act(kinds) for _ in range(self._random.randint(1, most)))

    def _maybe(self, kinds: tuple[str, ...]) -> Act | None:
        return self._act(kinds) if self._is_rare(0.3) else None

    def _tool(self, number: int, has_container: bool) -> ToolPlan:
        kinds: list[ToolKind] = ["function", "thread", "class", "nested"]
        if has_container:
            kinds += ["holder", "holder", "leaser", "leaser"]
        kind = self._random.choice(kinds)
        has_hooks = kind not in ("function", "thread", "nested")
        return ToolPlan(
            f"{kind}_{number}",
            kind,
            self._is_rare(0.3),
            self._random.choice([None, None, 5.0, 20.0]),
            self._acts(THREAD if kind == "thread" else HANDLER),
            self._maybe(BEFORE) if has_hooks else None,
            self._maybe(AFTER) if has_hooks else None,
            self._act(CLOSE),
        )

    def _resource(self, *, may_hold_group: bool = False) -> ResourcePlan:
        background = None
        if may_hold_group and self._is_rare(0.5):
            background = Act(self._random.choice(BACKGROUND) if self._is_rare(self._harm) else "hang")
        return ResourcePlan(self._act(OPEN), self._act(CLOSE), background)

    def _hooks(self) -> AgentHooksPlan:
        kinds = {"before_call": BEFORE, "after_call": AFTER, "before_model": MODEL_HOOK, "after_model": MODEL_HOOK}
        chosen = self._random.sample(sorted(kinds), self._random.randint(1, 4))
        return AgentHooksPlan(**{name: self._acts(kinds[name], 4) for name in chosen})

    def _limits(self) -> Limits:
        draw = self._random
        return Limits(
            max_turns=draw.choice([100, 100, None, 1, 2, 3]),
            max_tool_calls=draw.choice([1000, 1000, None, 2, 4]),
            max_calls_per_turn=draw.choice([128, 128, 128, 2]),
            max_concurrency=draw.choice([8, None, 1, 2]),
            max_tokens=draw.choice([None, None, None, 25]),
            open_timeout=draw.choice([30.0, 10.0]),
            close_timeout=draw.choice([10.0, 3.0]),
            on_limit=draw.choice(["raise", "answer"]),
        )

    def _member(self, number: int, tools: tuple[ToolPlan, ...], has_container: bool) -> MemberPlan:
        draw = self._random
        ways: list[Way] = ["run", "run", "stream", "stream", "leave"]
        way = draw.choice(ways if has_container else [*ways, "run_sync"])
        script = tuple(self._turn(tools) for _ in range(draw.randint(0, 4)))
        is_cancelled = way != "run_sync" and self._is_rare(0.3)
        return MemberPlan(
            f"<member {number}>",
            way,
            (*script, TurnPlan(self._act(MODEL))),
            draw.randint(0, 60) if is_cancelled or way == "leave" else None,
            draw.choice(["task", "scope", "group", "both"]),
            draw.choice([1, 1, 2, 3]),
            100.0 if way == "run_sync" else draw.choice([None, None, None, 4.0, 40.0]),
            has_container and self._is_rare(0.4),
        )

    def _turn(self, tools: tuple[ToolPlan, ...]) -> TurnPlan:
        count = self._random.choice([1, 1, 2, 3, 4])
        return TurnPlan(self._act(MODEL), tuple(self._call(tools) for _ in range(count)))

    def _call(self, tools: tuple[ToolPlan, ...]) -> CallPlan:
        draw = self._random
        name = "no_such_tool" if self._is_rare(0.05) else draw.choice(tools).name
        arguments: Any = {"text": draw.choice(["a", "ünï", ""])}
        if self._is_rare(0.15):
            arguments = draw.choice(
                ['{"text": "b"}', '{"text": ', "[]", "null", {}, {"text": 1}, '{"text": NaN}', "{}"]
            )
        return CallPlan(name, arguments, draw.choice(["", "", "c", "call_1"]))
