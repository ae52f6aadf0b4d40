"""`ScopeValue` and `values=`: what the application hands to one run."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from dependency_injector import containers, providers

from tests.injection.parts import answers, asking
from toolkit import Agent, ConfigurationError, Inject, Invocation, Run, RunContext, Tool, tool
from toolkit.injection import RunScoped, ScopeValue, application, dep, provide
from toolkit.testing import ScriptedModel, call, calls, says


class Tenant:
    def __init__(self, name: str) -> None:
        self.name = name
        self.settings = {"limit": 3}


class Tells(Tool):
    """Tell what was injected."""

    name = "tells"

    def __init__(self, *injected: Any) -> None:
        self.injected = injected

    async def handler(self, ctx: RunContext) -> str:
        return " ".join("its own" if is_of_run(part, ctx) else str(part) for part in self.injected)


def is_of_run(part: Any, ctx: RunContext) -> bool:
    return part is ctx.run or part is ctx.invocation or (isinstance(part, RunContext) and part.run is ctx.run)


class Application(containers.DeclarativeContainer):
    invocation = ScopeValue(Invocation)
    run = ScopeValue(Run)
    ctx = ScopeValue(RunContext)
    tenant = ScopeValue(Tenant)
    agent: Any = provide(Agent)


def telling(*injected: Any) -> Any:
    return type("Made", (Application,), {"agent": provide(Agent, tools=[provide(Tells, *injected)])})()


async def test_the_run_fills_its_own_objects() -> None:
    async with application(telling(Application.invocation, Application.run, Application.ctx)) as app:
        run = await app.agent().run("go", model=asking("tells"))

    assert answers(run) == ["its own its own its own"]


async def test_attributes_items_and_methods_are_read_from_values() -> None:
    tenant = Application.tenant.provided
    wanted = (Application.invocation.provided.actor_id, tenant.name, tenant.settings["limit"], tenant.name.upper.call())

    async with application(telling(*wanted)) as app:
        run = await app.agent().run("go", model=asking("tells"), actor_id="u1", values={Tenant: Tenant("acme")})

    assert answers(run) == ["u1 acme 3 ACME"]


async def test_each_run_has_its_own_values_also_below_what_it_opens() -> None:
    class Db:
        def __init__(self, tenant: str) -> None:
            self.tenant = tenant

    async with application(telling(RunScoped(Db, Application.tenant.provided.name).provided.tenant)) as app:
        heard = [
            answers(await app.agent().run("go", model=asking("tells"), values={Tenant: Tenant(name)}))
            for name in ("acme", "globex")
        ]

    assert heard == [["acme"], ["globex"]]


async def test_a_value_of_a_subclass_fills_it() -> None:
    class Special(Tenant):
        pass

    async with application(telling(Application.tenant.provided.name)) as app:
        run = await app.agent().run("go", model=asking("tells"), values={Special: Special("special")})

    assert answers(run) == ["special"]


@tool
async def by_tenant(name: Annotated[str, Inject("tenant_name")]) -> str:
    """Tell the tenant."""
    return name


@pytest.mark.parametrize(
    "listed",
    [
        pytest.param(provide(Tells, Application.tenant), id="directly"),
        pytest.param(provide(Tells, providers.List(RunScoped(Tells, Application.tenant))), id="deep down"),
        pytest.param(by_tenant, id="for a handler's parameter"),
    ],
)
async def test_a_value_that_a_listed_tool_needs_and_nobody_gave_is_found_at_the_runs_start(listed: Any) -> None:
    model = ScriptedModel([])
    container: Any = type(
        "Made",
        (Application,),
        {"tenant_name": Application.tenant.provided.name, "agent": provide(Agent, tools=[listed])},
    )()

    async with application(container) as app:
        with pytest.raises(
            ConfigurationError, match=r"needs a value of Tenant; pass values=\{Tenant: ...\}"
        ) as refused:
            await app.agent().run("go", model=model)

    assert model.requests == []
    assert refused.value.run.outcome == "failed"


async def test_a_value_that_the_agent_itself_needs_is_named_too() -> None:
    container = type("Made", (Application,), {"agent": provide(Agent, name=dep(Application.tenant.provided.name))})()

    async with application(container) as app:
        with pytest.raises(ConfigurationError, match=r"no Tenant was given; pass values=\{Tenant: ...\} to run"):
            await app.agent().run("go", model=ScriptedModel([]))


def test_a_value_outside_of_a_run_says_so() -> None:
    with pytest.raises(ConfigurationError, match=r"ScopeValue\(Tenant\) is used outside of a run"):
        Application().tenant()


class Customer:
    """Who is asking, known to a run only."""

    def __init__(self, number: int) -> None:
        self.number = number


class TellCustomer(Tool):
    """Tell the customer's number."""

    def handler(self, customer: Customer) -> int:
        return customer.number


async def test_a_handlers_parameter_of_a_declared_values_type_is_accepted_by_check_and_filled_by_the_run() -> None:
    class Application(containers.DeclarativeContainer):
        customer = ScopeValue(Customer)
        agent = provide(Agent, tools=[TellCustomer])

    model = ScriptedModel([calls(call("tell_customer")), says("Told.")])
    async with application(Application()) as app:
        run = await app.agent().run("Who?", model=model, values={Customer: Customer(5)})

    assert run.calls[0].result.value == 5
