"""An agent of an embedded container finds its tools in the container that declares it."""

from __future__ import annotations

import pytest
from dependency_injector import containers, providers

from toolkit import Agent, ConfigurationError, Tool
from toolkit.injection import application, check, overriding, provide
from toolkit.testing import ScriptedModel, call, calls, says


class Client:
    """What the tool needs."""

    name = "inner"


class Ask(Tool):
    """Ask."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def handler(self) -> str:
        return self.client.name


class Inner(containers.DeclarativeContainer):
    client = providers.Factory(Client)
    agent = provide(Agent, tools=[Ask])


class Outer(containers.DeclarativeContainer):
    inner = providers.Container(Inner)


class Fake(Client):
    name = "fake"


async def told(container: Outer) -> str:
    model = ScriptedModel([calls(call("ask")), says("There.")])
    async with application(container) as app:
        run = await app.agent("inner.agent").run("Ask!", model=model)
    return run.calls[0].result.content


async def test_a_container_that_is_sound_alone_is_sound_embedded() -> None:
    check(Inner())
    check(Outer())

    assert await told(Outer()) == "inner"


async def test_an_override_by_a_nested_name_reaches_an_embedded_agent() -> None:
    container = Outer()

    with overriding(container, {"inner.client": Fake()}):
        assert await told(container) == "fake"

    assert await told(container) == "inner"


async def test_an_agent_that_was_not_taken_from_its_application_says_so() -> None:
    with pytest.raises(ConfigurationError, match=r"This agent has no container: .*app\.agent\(\)\.run"):
        await Inner().agent().run("Ask!", model=ScriptedModel([says("no")]))
