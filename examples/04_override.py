"""A provider replaced in a test, by the fixture `override` of Toolwire's pytest plugin.

Run it with `pytest examples/04_override.py`; pytest-asyncio runs the `async def`s. What a test replaces lasts until it
ends, and is seen by the runs that this test starts, and by no other.
"""

from dependency_injector import containers, providers

from toolkit import Agent, Tool
from toolkit.injection import application, provide
from toolkit.testing import ScriptedModel, call, calls, says


class Clock:
    def now(self) -> str:
        raise OSError("tests must not ask the real clock")


class ClockTool(Tool):
    """Tell the time."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def handler(self) -> str:
        return self.clock.now()


class Application(containers.DeclarativeContainer):
    clock = providers.Singleton(Clock)
    agent = provide(Agent, tools=[ClockTool])


class StoppedClock(Clock):
    def now(self) -> str:
        return "08:00"


container = Application()


async def test_the_agent_tells_the_time(override) -> None:
    model = ScriptedModel([calls(call("clock_tool")), says("It is eight.")])
    override(container, clock=StoppedClock())

    async with application(container) as app:
        run = await app.agent().run("What time is it?", model=model)

    assert run.calls[0].result.content == "08:00"
    model.assert_exhausted()


def test_the_next_test_has_the_real_clock_again() -> None:
    assert type(container.clock()) is Clock


# prints:
# 2 passed
