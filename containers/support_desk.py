"""The demo application, made to be copied: a support desk over one SQLite file.

Two tools share one database connection per run. Everybody may ask how a ticket stands; an order is told only to whom
it belongs, and that is decided by who is asking, never by what the model says.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import tempfile
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any, TypeVar

import httpx
from dependency_injector import containers, providers
from msgspec import Meta

from containers import BuiltinTools, Models
from toolkit import Agent, Invocation, Tool, ToolError
from toolkit.injection import AppScoped, RunScoped, dep, provide

__all__ = ["Database", "Order", "OrderStatusTool", "SupportDesk", "SupportRecords", "Ticket", "TicketStatusTool"]

T = TypeVar("T")


# The database


class Database:
    """One SQLite connection, kept in a thread of its own: the event loop never waits for the disk.

    Statements of concurrent calls queue up in that thread. Each is a transaction by itself, so none stays open while
    a model thinks.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="support-desk")
        self._connection: sqlite3.Connection | None = None

    async def open(self) -> None:
        """Connects. The file is made on first use, with the sample data in it."""
        await self._in_thread(self._connect)

    async def first(self, query: str, *values: str) -> tuple[Any, ...] | None:
        """The first row of a query, or None."""
        return await self._in_thread(self._first, query, values)

    async def close(self) -> None:
        """Closes the connection, after the statement that may still be running. It happens even if nobody waits."""
        closing = self._thread.submit(self._disconnect)
        self._thread.shutdown(wait=False)
        await asyncio.shield(asyncio.wrap_future(closing))

    async def _in_thread(self, work: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.wrap_future(self._thread.submit(work, *arguments))

    def _connect(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(self.path, isolation_level=None)
        if self._first("PRAGMA user_version", ()) == (0,):
            self._connection.executescript(_SAMPLE)

    def _first(self, query: str, values: tuple[str, ...]) -> tuple[Any, ...] | None:
        assert self._connection is not None
        row: tuple[Any, ...] | None = self._connection.execute(query, values).fetchone()
        return row

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()


async def open_database(path: str | None = None) -> AsyncGenerator[Database, None]:
    """A connection for one run. Without a path the file lies in the user's cache directory."""
    database = Database(default_path() if path is None else Path(path))
    try:
        await database.open()
        yield database
    finally:
        await database.close()


def default_path() -> Path:
    """`~/.cache/toolwire/support_desk.sqlite3`, or the same in the temporary directory where there is no such home."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if not os.access(os.path.dirname(cache), os.W_OK):
        cache = tempfile.gettempdir()
    return Path(cache, "toolwire", "support_desk.sqlite3")


# Two first runs at once: the second waits for the first, and then changes nothing.
_SAMPLE = """
    BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS tickets (id TEXT PRIMARY KEY, subject TEXT, status TEXT, updated TEXT);
    CREATE TABLE IF NOT EXISTS members (actor_id TEXT, account_id TEXT, PRIMARY KEY (actor_id, account_id));
    CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, account_id TEXT, item TEXT, status TEXT, arrives TEXT);
    INSERT OR IGNORE INTO tickets VALUES
        ('SUP-480', 'Invoice shows the old address', 'closed', '2026-02-11'),
        ('SUP-481', 'Kettle does not switch off', 'waiting for a spare part', '2026-03-02');
    INSERT OR IGNORE INTO members VALUES ('ada', 'acme'), ('grace', 'globex');
    INSERT OR IGNORE INTO orders VALUES
        ('ORD-1001', 'acme', 'kettle, spare switch', 'shipped', '2026-03-09'),
        ('ORD-2002', 'globex', 'coffee grinder', 'being packed', '2026-03-12');
    PRAGMA user_version = 1;
    COMMIT;
"""


# What is in it


@dataclass(frozen=True, slots=True)
class Ticket:
    id: str
    subject: str
    status: str
    updated: date


@dataclass(frozen=True, slots=True)
class Order:
    id: str
    item: str
    status: str
    arrives: date


class SupportRecords:
    """Tickets and orders. Whoever asks for an order says for whom."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ticket(self, ticket_id: str) -> Ticket | None:
        row = await self._database.first("SELECT id, subject, status, updated FROM tickets WHERE id = ?", ticket_id)
        return None if row is None else Ticket(*row[:3], updated=date.fromisoformat(row[3]))

    async def order(self, order_id: str, *, actor_id: str, account_id: str) -> Order | None:
        """An order of this account, if the actor is one of its members."""
        row = await self._database.first(
            "SELECT id, item, status, arrives FROM orders JOIN members USING (account_id)"
            " WHERE id = ? AND actor_id = ? AND account_id = ?",
            order_id,
            actor_id,
            account_id,
        )
        return None if row is None else Order(*row[:3], arrives=date.fromisoformat(row[3]))


# The tools


class TicketStatusTool(Tool):
    """Look up how a support ticket stands."""

    name = "ticket_status"

    def __init__(self, records: SupportRecords) -> None:
        self.records = records

    async def handler(self, ticket_id: Annotated[str, Meta(pattern="^SUP-[0-9]+$")]) -> Ticket:
        """
        Args:
            ticket_id: Number of the ticket, such as SUP-481.
        """
        ticket = await self.records.ticket(ticket_id)
        if ticket is None:
            raise ToolError(f"there is no ticket {ticket_id}")
        return ticket


class OrderStatusTool(Tool):
    """Look up an order of the customer who is asking: what it holds, where it is, when it arrives."""

    name = "order_status"

    def __init__(self, records: SupportRecords, invocation: Invocation) -> None:
        self.records = records
        self.invocation = invocation

    async def handler(self, order_id: Annotated[str, Meta(pattern="^ORD-[0-9]+$")]) -> Order:
        """
        Args:
            order_id: Number of the order, such as ORD-1001.
        """
        actor_id, account_id = self.invocation.actor_id, self.invocation.context.get("account_id")
        if not actor_id or not account_id:
            raise ToolError("orders are told to signed-in customers only")
        order = await self.records.order(order_id, actor_id=actor_id, account_id=account_id)
        if order is None:  # the same words whether it does not exist or is somebody else's
            raise ToolError(f"there is no order {order_id} in this customer's account")
        return order


# The wiring


class SupportDesk(containers.DeclarativeContainer):
    """Configuration, every key optional: `database` (a path), `models` (see `Models`), `tools` (see `BuiltinTools`).

    Example:
        ```python
        async with application(SupportDesk()) as app:
            run = await app.agent().run("Where is ORD-1001?", actor_id="ada", context={"account_id": "acme"})
        ```
    """

    config = providers.Configuration()
    http = AppScoped(httpx.AsyncClient)

    database = RunScoped(open_database, config.database)
    records = provide(SupportRecords, database=dep(database))

    builtin_tools = providers.Container(BuiltinTools, config=config.tools, http=http)
    wikipedia_search = builtin_tools.wikipedia_search

    models = providers.Container(Models, config=config.models, http=http)
    model = models.model
    agent = provide(
        Agent,
        model=dep(model),
        tools=[TicketStatusTool, OrderStatusTool, "wikipedia_search"],
        instructions="You answer the customers of a small shop. Look things up; say so when you can't find them.",
    )
