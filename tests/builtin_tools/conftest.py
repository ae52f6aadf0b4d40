from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.http.clients import LIBRARIES, ManualClock, open_client


@pytest.fixture(params=LIBRARIES)
async def http(request: pytest.FixtureRequest) -> AsyncIterator[Any]:
    """A real client of each library; closed after the test."""
    async with open_client(request.param) as client:
        yield client


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()
