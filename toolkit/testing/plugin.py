"""The pytest plugin: the fixture `override`, and no accidental network. pytest finds it by its entry point.

It costs test runs that have nothing to do with the toolkit next to nothing: it imports neither the toolkit nor a
container library, and stands in nobody's way until a test imports the toolkit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any, Protocol

import pytest

from toolkit.testing.arrival import Arrival
from toolkit.testing.network import ModelRequestsBlocked, host_reached

__all__ = ["Override", "override", "pytest_configure"]

LIVE = "live_model"


class Override(Protocol):
    """What the fixture gives: `override(container, weather_client=fake)`."""

    def __call__(self, container: Any, replacements: Mapping[Any, Any] | None = None, /, **by_name: Any) -> None:
        """Replaces providers until the test ends; what the arguments mean stands at `toolkit.injection.overriding`."""
        ...


@pytest.fixture
def override(request: pytest.FixtureRequest) -> Iterator[Override]:
    """Replaces providers of a container for the runs that this test starts, until it ends.

    The report of a failing test says where a class was given in the place of an object: nothing calls it.

    Example:
        async def test_the_agent_tells_the_weather(override):
            override(container, weather_client=FakeWeather())
            run = await app.agent().run("How is Oslo?")
    """
    from toolkit.injection import overriding
    from toolkit.injection.overrides import classes_for_objects

    test: pytest.Item = request.node

    with ExitStack() as blocks:

        def replace(container: Any, replacements: Mapping[Any, Any] | None = None, /, **by_name: Any) -> None:
            classes = list(classes_for_objects(container, {**(replacements or {}), **by_name}))
            blocks.enter_context(overriding(container, replacements, **by_name))
            for text in classes:
                test.add_report_section("call", "override", text)

        yield replace


class NetworkGuard:
    """Refuses the requests of providers' models that would leave this machine, for one session of pytest."""

    def __init__(self) -> None:
        self._test: pytest.Item | None = None
        self._blocks = ExitStack()
        self._arrival = Arrival("toolkit.models.permission", self._stand_at)

    def start(self) -> None:
        self._arrival.start()

    def pytest_unconfigure(self) -> None:
        self._arrival.stop()
        self._blocks.close()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        self._test = item

    def pytest_runtest_logfinish(self) -> None:
        self._test = None

    def _stand_at(self, permission: Any) -> None:
        self._blocks.enter_context(permission.requests_checked_by(self._check))

    def _check(self, url: str, http: object) -> None:
        test = self._test
        if test is not None and test.get_closest_marker(LIVE) is not None:
            return
        host = host_reached(url, http)
        if host is not None:
            raise ModelRequestsBlocked(host, None if test is None else test.nodeid)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"{LIVE}: the test may send requests to a model's provider")
    guard = NetworkGuard()
    config.pluginmanager.register(guard, "toolwire-network")
    guard.start()
