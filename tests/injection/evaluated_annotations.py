"""A tool of a module without `from __future__ import annotations`: its annotations are classes from the start."""

from typing import Annotated, Optional

from tests.injection.parts import Client, Connection
from toolkit import Inject, Tool


class Evaluated(Tool):
    """Tell the address."""

    def __init__(self, client: Client, again: Annotated[Optional[Client], Inject("client")] = None) -> None:  # noqa: UP045
        self.client = client
        self.again = again

    async def handler(self, connection: Annotated[Connection, Inject()]) -> str:
        assert self.again is not None
        return f"{self.client.connection.url} {connection.url}"
