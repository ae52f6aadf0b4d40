"""The application of a scenario: its tools, hooks and model, and the container that builds them."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from typing import Annotated, Any

import anyio
from dependency_injector import containers, providers

from tests.faults.acts import MemberLog, names_in, perform, perform_in_thread
from tests.faults.scenario import Act, AgentHooksPlan, ResourcePlan, Scenario, ToolPlan
from tests.faults.virtual_time import CountedWorkers
from toolkit import Agent, Inject, RunContext, Tool, Usage
from toolkit.hooks import Abort, Allow, Deny, Modify, Replace, Skip
from toolkit.injection import AppScoped, CallScoped, RunScoped, ScopeValue, provide
from toolkit.models import ModelRequest, ModelResponse
from toolkit.testing import ScriptedModel, call, calls, says

__all__ = ["ChaosModel", "Pool", "Stage"]


class Pool:
    """An object of the application, or the fake that a run has instead."""

    def __init__(self, marker: str) -> None:
        self.marker = marker


class Resource:
    """Something that belongs to one run, or to one call of it."""

    def __init__(self, log: MemberLog) -> None:
        self.owner = log.name


class Connection(Resource):
    pass


class Session(Resource):
    pass


class Lease(Resource):
    pass


class Account(Resource):
    """Has a method that closes it."""

    def __init__(self, log: MemberLog, label: str, close: Act) -> None:
        super().__init__(log)
        self._log, self._label, self._close = log, label, close

    async def aclose(self) -> None:
        self._log.close(self._label)
        await perform(self._close, self._log, "close account")


class Stage:
    """Makes what a scenario describes. `workers` has the threads of its sync handlers, `curtain` lets them go."""

    def __init__(self, scenario: Scenario, workers: CountedWorkers) -> None:
        self.scenario = scenario
        self.curtain = threading.Event()
        self._workers = workers
        self.tools: list[Any] = [_TOOLS[plan.kind](self, plan) for plan in scenario.tools]
        self.hooks = [_hooks_of(plan, f"hook {number}") for number, plan in enumerate(scenario.hooks)]

    def hang(self) -> None:
        """In a thread: until the scenario is over."""
        self._workers.hang(self.curtain)

    def agent(self, log: MemberLog) -> Agent[str]:
        """For a run without a container."""
        return Agent(
            ChaosModel(log), self.tools, hooks=self.hooks, limits=self.scenario.limits, instructions=_instructions
        )

    def container(self) -> Any:
        scenario = self.scenario

        class Application(containers.DeclarativeContainer):
            log = ScopeValue(MemberLog)
            pool = AppScoped(_open_pool)
            connection = RunScoped(_open_connection, scenario.connection, log, pool)
            session = RunScoped(_open_session, scenario.session, log, connection)
            account = RunScoped(_open_account, scenario.account, log, pool)
            lease = CallScoped(_open_lease, scenario.lease, log, session)
            model = providers.Factory(ChaosModel, log)
            agent: Any = provide(
                Agent,
                model=model,
                tools=self.tools,
                hooks=self.hooks,
                limits=scenario.limits,
                instructions=_instructions,
            )

        return Application()


def _instructions(ctx: RunContext) -> str:
    ctx.context.run = ctx.run
    return "Be quick."


async def _open_pool() -> AsyncIterator[Pool]:
    async with anyio.create_task_group():
        yield Pool("the application's")


async def _open_connection(plan: ResourcePlan, log: MemberLog, pool: Pool) -> AsyncIterator[Connection]:
    log.see("pool", pool.marker, log.marker)
    await perform(plan.open, log, "open connection")
    label = f"connection {log.number('connection')}"
    async with AsyncExitStack() as stack:
        group = None if plan.background is None else await stack.enter_async_context(anyio.create_task_group())
        descriptor = os.open(os.devnull, os.O_RDONLY)
        log.open(label)
        try:
            if group is not None:
                assert plan.background is not None
                group.start_soon(perform, plan.background, log, "background")
            yield Connection(log)
        finally:
            if group is not None:
                group.cancel_scope.cancel()
            os.close(descriptor)
            log.close(label)
    await perform(plan.close, log, "close connection")


def _open_session(plan: ResourcePlan, log: MemberLog, connection: Connection) -> Iterator[Session]:
    log.see("connection", connection.owner, log.name)
    _open_or_close_at_once(plan.open, log, "open session")
    label = f"session {log.number('session')}"
    log.open(label)
    try:
        yield Session(log)
    finally:
        log.close(label)
        _open_or_close_at_once(plan.close, log, "close session")


def _open_or_close_at_once(act: Act, log: MemberLog, where: str) -> None:
    """What the sync code of a generator can do of an act: it fails, or not."""
    kind = act.kind if act.kind in ("fail", "tool_error", "own_cancel") else "work"
    perform_in_thread(Act(kind), log, where, lambda: None)


async def _open_account(plan: ResourcePlan, log: MemberLog, pool: Pool) -> Account:
    log.see("pool", pool.marker, log.marker)
    await perform(plan.open, log, "open account")
    label = f"account {log.number('account')}"
    log.open(label)
    return Account(log, label, plan.close)


async def _open_lease(plan: ResourcePlan, log: MemberLog, session: Session) -> AsyncIterator[Lease]:
    log.see("session", session.owner, log.name)
    await perform(plan.open, log, "open lease")
    label = f"lease {log.number('lease')}"
    log.open(label)
    try:
        yield Lease(log)
    finally:
        log.close(label)
        await perform(plan.close, log, "close lease")


class ChaosModel:
    """Follows the script of the run that it was built for."""

    def __init__(self, log: MemberLog) -> None:
        self._log = log

    async def respond(self, request: ModelRequest) -> ModelResponse:
        log = self._log
        for message in request.messages:
            for name in names_in(message):
                log.see("message", name, log.name)
        turn = log.plan.script[min(log.number("asked"), len(log.plan.script) - 1)]
        done = await perform(turn.act, log, "model")
        if turn.act.kind == "junk":
            return done  # type: ignore[no-any-return]  # it is no response
        usage = Usage(5, 1)
        if not turn.calls or not request.tools:
            return says(f"{log.name} answers", usage=usage)
        wanted = [call(plan.tool, plan.arguments, plan.id) for plan in turn.calls]
        return calls(*wanted, text=f"{log.name} calls", usage=usage)


async def _handle(stage: Stage, plan: ToolPlan, ctx: RunContext, *held: Any) -> Any:
    """The work of every handler that runs in the event loop."""
    log: MemberLog = ctx.context
    for thing in held:
        log.see(type(thing).__name__, thing.owner, log.name)
    ctx.state.setdefault("seen by", []).append(log.name)
    name = f"{plan.name} {log.number(plan.name)}"
    log.enter(name, plan.exclusive)
    try:
        return await perform(log.next_of(plan.handler, f"act of {plan.name}"), log, f"handler {plan.name}")
    finally:
        log.leave(name, plan.exclusive)


def _function(stage: Stage, plan: ToolPlan) -> Any:
    async def handler(text: str, ctx: RunContext) -> Any:
        return await _handle(stage, plan, ctx)

    return _defined(plan, handler)


def _thread(stage: Stage, plan: ToolPlan) -> Any:
    def handler(text: str, ctx: RunContext) -> Any:
        log: MemberLog = ctx.context
        act = log.next_of(plan.handler, f"act of {plan.name}")
        log.enter_thread(plan.exclusive)
        try:
            return perform_in_thread(act, log, f"thread {plan.name}", stage.hang)
        finally:
            log.leave_thread(plan.exclusive)

    return _defined(plan, handler)


def _nested(stage: Stage, plan: ToolPlan) -> Any:
    inner = _function(stage, plan)

    async def handler(text: str, ctx: RunContext) -> Any:
        log: MemberLog = ctx.context
        model = ScriptedModel([calls(call(plan.name, {"text": text})), says(f"{log.name} inside")])
        agent = Agent(model, [inner], limits=stage.scenario.limits, instructions=_note_inner)
        run = await agent.run("inside", context=log)
        return run.response

    return _defined(plan, handler)


def _note_inner(ctx: RunContext) -> str:
    ctx.context.inner.append(ctx.run)
    return "Be quicker."


def _defined(plan: ToolPlan, handler: Callable[..., Any]) -> Any:
    return Tool.define(
        name=plan.name, description="Do it.", handler=handler, exclusive=plan.exclusive, timeout=plan.timeout
    )


class _Built(Tool):
    """Do it."""

    stage: Stage
    plan: ToolPlan

    def __init__(self, log: MemberLog) -> None:
        self.log = log
        self.owner = log.name
        self.label = f"{self.name} {log.number(f'opened {self.name}')}"
        log.open(self.label)

    async def aclose(self) -> None:
        self.log.close(self.label)
        await perform(self.plan.close, self.log, f"close {self.name}")


class _Class(_Built):
    """Do it."""

    async def handler(self, text: str, ctx: RunContext) -> Any:
        return await _handle(self.stage, self.plan, ctx, self)


class _Holder(_Built):
    """Do it."""

    def __init__(self, log: MemberLog, session: Session, account: Account) -> None:
        super().__init__(log)
        self.session, self.account = session, account

    async def handler(self, text: str, ctx: RunContext) -> Any:
        return await _handle(self.stage, self.plan, ctx, self, self.session, self.account)


class _Leaser(_Built):
    """Do it."""

    async def handler(self, text: str, ctx: RunContext, lease: Annotated[Lease, Inject("lease")]) -> Any:
        return await _handle(self.stage, self.plan, ctx, self, lease)


def _class_of(base: type[_Built]) -> Callable[[Stage, ToolPlan], Any]:
    def make(stage: Stage, plan: ToolPlan) -> Any:
        members: dict[str, Any] = {
            "name": plan.name,
            "description": "Do it.",
            "exclusive": plan.exclusive,
            "timeout": plan.timeout,
            "stage": stage,
            "plan": plan,
            "__module__": __name__,
        }
        before, after = plan.before, plan.after
        if before is not None:

            async def on_before_call(self: _Built, ctx: RunContext, call: Any) -> Any:
                self.log.see("own hook", self.owner, ctx.context.name)
                return await _decide(before, ctx.context, call, f"before {plan.name}")

            members["on_before_call"] = on_before_call
        if after is not None:

            async def on_after_call(self: _Built, ctx: RunContext, info: Any) -> Any:
                self.log.see("own hook", self.owner, ctx.context.name)
                return await _tell(after, ctx.context, f"after {plan.name}")

            members["on_after_call"] = on_after_call
        return type(base.__name__, (base,), members)

    return make


_TOOLS: dict[str, Callable[[Stage, ToolPlan], Any]] = {
    "function": _function,
    "thread": _thread,
    "nested": _nested,
    "class": _class_of(_Class),
    "holder": _class_of(_Holder),
    "leaser": _class_of(_Leaser),
}

_DECISIONS: dict[str, Callable[[], Any]] = {
    "allow": Allow,
    "deny": lambda: Deny("not now"),
    "modify": lambda: Modify({"text": "modified"}),
    "modify_badly": lambda: Modify({"text": 1}),
    "skip": lambda: Skip("skipped"),
    "abort": lambda: Abort("enough"),
    "junk": object,
}


async def _decide(act: Act, log: MemberLog, call: Any, where: str) -> Any:
    if act.kind not in _DECISIONS:
        await perform(act, log, where)
        return None
    await perform(Act("work", act.steps), log, where)
    log.notes.append(f"{where}: {act.kind}")
    return _DECISIONS[act.kind]()


async def _tell(act: Act, log: MemberLog, where: str) -> Any:
    if act.kind == "replace":
        await asyncio.sleep(0)
        return Replace(f"{log.name} replaced")
    done = await perform(act, log, where)
    return done if act.kind == "junk" else None


def _hooks_of(plan: AgentHooksPlan, label: str) -> Any:
    """An object with those hooks that the plan has acts for."""

    async def on_before_call(self: Any, ctx: RunContext, call: Any) -> Any:
        log: MemberLog = ctx.context
        return await _decide(log.next_of(plan.before_call, f"{label} before"), log, call, f"before {label}")

    async def on_after_call(self: Any, ctx: RunContext, info: Any) -> Any:
        log: MemberLog = ctx.context
        return await _tell(log.next_of(plan.after_call, f"{label} after"), log, f"after {label}")

    async def on_before_model(self: Any, ctx: RunContext, request: Any) -> Any:
        log: MemberLog = ctx.context
        return await _tell(log.next_of(plan.before_model, f"{label} request"), log, f"model hook {label}")

    async def on_after_model(self: Any, ctx: RunContext, response: Any) -> Any:
        log: MemberLog = ctx.context
        return await _tell(log.next_of(plan.after_model, f"{label} response"), log, f"model hook {label}")

    hooks = {
        "on_before_call": (plan.before_call, on_before_call),
        "on_after_call": (plan.after_call, on_after_call),
        "on_before_model": (plan.before_model, on_before_model),
        "on_after_model": (plan.after_model, on_after_model),
    }
    return type("Hooks", (), {name: hook for name, (acts, hook) in hooks.items() if acts})()
