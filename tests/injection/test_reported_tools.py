"""What users report of tools that the container builds: lost injections, and leaks when a start fails."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from dependency_injector import containers, providers
from msgspec import Struct

from tests.injection.parts import Connection, answers, connection_open
from toolkit import Agent, ConfigurationError, Inject, RunContext, RunError, Tool, definition
from toolkit.injection import RunScoped, application, provide
from toolkit.testing import ScriptedModel, call, calls, says

SCHEMA = {"type": "object", "properties": {"sql": {"type": "string"}}, "required": ["sql"]}


class Query(Struct):
    """A query."""

    sql: str


def table_of(schema: Any) -> type[Tool]:
    class Table(Tool):
        """Ask the table."""

        name = "ask"
        input_schema = schema

        def __init__(self, connection: Connection) -> None:
            self.connection = connection

        async def handler(self, ctx: RunContext, asked: Any, other: Annotated[Connection, Inject()]) -> dict[str, Any]:
            return {
                "asked": asked,
                "kind": type(asked).__name__,
                "one connection": other is self.connection,
                "actor": ctx.invocation.actor_id,
            }

    return Table


@pytest.mark.parametrize(("schema", "kind"), [(SCHEMA, "dict"), (Query, "Query")], ids=["by hand", "a type"])
async def test_a_schema_of_ones_own_leaves_what_is_injected_where_it_was(schema: Any, kind: str) -> None:
    table = table_of(schema)

    class Container(containers.DeclarativeContainer):
        connection = RunScoped(connection_open)
        agent = provide(Agent, tools=[table])

    model = ScriptedModel([calls(call("ask", {"sql": "select 1"})), says("done")])
    async with application(Container()) as app:
        run = await app.agent().run("go", model=model, actor_id="u1")

    assert list(definition(table).input_schema["properties"]) == ["sql"]
    assert answers(run) == [f'{{"asked":{{"sql":"select 1"}},"kind":"{kind}","one connection":true,"actor":"u1"}}']


class Recorded(Tool):
    """Named when it is built, so that each run builds it at its start."""

    name: str

    def __init__(self, name: str, log: list[str], error: Exception | None = None) -> None:
        if error is not None:
            raise error
        self.name, self.log = name, log
        log.append(f"built {name}")

    async def handler(self) -> str:
        return self.name

    async def aclose(self) -> None:
        self.log.append(f"closed {self.name}")


def container_with(*tools: Any) -> containers.DynamicContainer:
    container = containers.DynamicContainer()
    for number, listed in enumerate(tools):
        setattr(container, f"tool_{number}", listed)
    container.agent = provide(Agent, tools=[f"tool_{number}" for number in range(len(tools))])
    return container


async def test_two_tools_that_turn_out_to_have_one_name_are_refused_and_each_is_closed_once() -> None:
    log: list[str] = []
    container = container_with(*(providers.Factory(Recorded, "same", providers.Object(log)) for _ in range(2)))
    model = ScriptedModel([says("never")])

    with pytest.raises(ConfigurationError, match=r"two tools are named 'same'.*'tool_0' and provider 'tool_1'"):
        async with application(container) as app:
            await app.agent().run("go", model=model)

    assert log == ["built same", "built same", "closed same", "closed same"]
    assert model.requests == []


async def test_a_tool_that_can_not_be_built_at_the_start_ends_the_run_and_those_before_it_are_closed_once() -> None:
    log: list[str] = []
    error = OSError("secret-7")
    container = container_with(
        providers.Factory(Recorded, "first", providers.Object(log)),
        providers.Factory(Recorded, "second", providers.Object(log), providers.Object(error)),
    )

    async with application(container) as app:
        with pytest.raises(RunError, match=r"could not start.*provider 'tool_1'.*OSError") as caught:
            await app.agent().run("go", model=ScriptedModel([says("never")]))

    assert log == ["built first", "closed first"]
    assert "secret-7" not in str(caught.value)
    cause: BaseException | None = caught.value
    while cause is not None and cause is not error:
        cause = cause.__cause__
    assert cause is error
