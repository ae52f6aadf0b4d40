"""The pytest plugin, as the tests of an application use it."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

APPLICATION = '''
import asyncio

import pytest
from dependency_injector import containers, providers

from toolkit import Agent, Tool
from toolkit.injection import application, provide
from toolkit.testing import ScriptedModel, call, calls, says


class Clock:
    def now(self):
        return "the real time"


class ClockTool(Tool):
    """Tell the time."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def handler(self) -> str:
        return self.clock.now()


class Stopped(Clock):
    def __init__(self, time):
        self.time = time

    def now(self):
        return self.time


class Application(containers.DeclarativeContainer):
    clock = providers.Singleton(Clock)
    agent = provide(Agent, tools=[ClockTool])


container = Application()


async def told():
    model = ScriptedModel([calls(call("clock_tool")), says("There.")])
    async with application(container) as app:
        run = await app.agent().run("What time is it?", model=model)
    return run.calls[0].result.content
'''


def outcomes_of(pytester: pytest.Pytester, tests: str) -> dict[str, int]:
    pytester.makepyfile(APPLICATION + tests)
    ended = pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider")
    return ended.parseoutcomes()


def test_override_lasts_for_the_test(pytester: pytest.Pytester) -> None:
    tests = """
def test_with(override):
    override(container, clock=Stopped("noon"))
    assert asyncio.run(told()) == "noon"

def test_after():
    assert asyncio.run(told()) == "the real time"
"""

    assert outcomes_of(pytester, tests) == {"passed": 2}


def test_a_failing_test_is_told_of_a_class_in_the_place_of_an_object(pytester: pytest.Pytester) -> None:
    tests = """
def test_fails(override):
    override(container, clock=Stopped)
    assert asyncio.run(told()) == "noon"

def test_passes(override):
    override(container, clock=Stopped)
"""
    pytester.makepyfile(APPLICATION + tests)

    ended = pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider")

    assert ended.parseoutcomes() == {"passed": 1, "failed": 1}
    assert str(ended.stdout).count("was replaced by the class Stopped itself, which nothing calls; to give") == 1


def test_override_is_seen_by_async_tests_and_fixtures(pytester: pytest.Pytester) -> None:
    tests = """
@pytest.fixture
def at_noon(override):
    override(container, clock=Stopped("noon"))

@pytest.mark.asyncio
async def test_called_in_the_test(override):
    override(container, clock=Stopped("midnight"))
    assert await told() == "midnight"

@pytest.mark.asyncio
async def test_called_in_a_fixture(at_noon):
    assert await told() == "noon"

@pytest.mark.asyncio
async def test_the_later_wins(at_noon, override):
    override(container, {"clock": Stopped("dawn")})
    assert await told() == "dawn"

@pytest.mark.asyncio
async def test_after():
    assert await told() == "the real time"
"""

    assert outcomes_of(pytester, tests) == {"passed": 4}


def test_the_plugin_imports_no_container_library_by_itself(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_nothing():
            assert "dependency_injector" not in sys.modules
        """
    )

    assert pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider").parseoutcomes() == {"passed": 1}
