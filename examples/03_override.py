"""A provider replaced in a test. Tests that run at the same time never see each other's fakes."""

import asyncio

from dependency_injector import containers, providers

from toolkit import Agent, Tool
from toolkit.injection import application, overriding, provide
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
    def __init__(self, time: str) -> None:
        self.time = time

    def now(self) -> str:
        return self.time


async def test_the_agent_tells_the_time(container: Application, time: str) -> str:
    model = ScriptedModel([calls(call("clock_tool")), says("There you are.")])
    with overriding(container, clock=StoppedClock(time)):
        async with application(container) as app:
            run = await app.agent().run("What time is it?", model=model)
    assert run.calls[0].result.content == time
    model.assert_exhausted()
    return run.calls[0].result.content


async def main() -> None:
    container = Application()
    told = await asyncio.gather(
        test_the_agent_tells_the_time(container, "08:00"),
        test_the_agent_tells_the_time(container, "20:00"),
    )
    print("told:", *told)


asyncio.run(main())

# prints:
# told: 08:00 20:00
