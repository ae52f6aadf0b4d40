"""The pytest plugin: the fixture `override`. pytest finds it by its entry point.

It does nothing until a test asks for it, and imports no container library before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any, Protocol

import pytest

__all__ = ["Override", "override"]


class Override(Protocol):
    """What the fixture gives: `override(container, weather_client=fake)`."""

    def __call__(self, container: Any, replacements: Mapping[Any, Any] | None = None, /, **by_name: Any) -> None:
        """Replaces providers until the test ends; what the arguments mean stands at `toolkit.injection.overriding`."""
        ...


@pytest.fixture
def override() -> Iterator[Override]:
    """Replaces providers of a container for the runs that this test starts, until it ends.

    Example:
        async def test_the_agent_tells_the_weather(override):
            override(container, weather_client=FakeWeather())
            run = await app.agent().run("How is Oslo?")
    """
    from toolkit.injection import overriding

    with ExitStack() as blocks:

        def replace(container: Any, replacements: Mapping[Any, Any] | None = None, /, **by_name: Any) -> None:
            blocks.enter_context(overriding(container, replacements, **by_name))

        yield replace
