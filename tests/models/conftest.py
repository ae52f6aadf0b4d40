from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from tests.http.clients import LIBRARIES, open_client
from tests.models.replaying import SPLITS, Replay, replaying


@pytest.fixture(params=LIBRARIES)
async def http(request: pytest.FixtureRequest) -> AsyncIterator[Any]:
    """A real client of each library; closed after the test."""
    async with open_client(request.param) as client:
        yield client


@pytest.fixture(scope="module", params=SPLITS)
def replay(request: pytest.FixtureRequest) -> Iterator[Replay]:
    """The recorded exchanges, streams cut into pieces of each size."""
    with replaying(request.param) as server:
        yield server
