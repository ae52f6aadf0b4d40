"""Many runs at once over one application and one SQLite file, round after round: nothing mixed, nothing left.

Each run has a connection of its own to read by; all write through the application's one writer. Half of them run under
an override of their own. `CHAOS_FULL=1` has 2,000 of them at once, as `make chaos` does.
"""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dependency_injector import containers, providers

from tests.runs.cancel_harness import Surroundings, assert_nothing_is_left
from toolkit import Agent, Invocation, Run, RunContext, Tool
from toolkit.injection import AppScoped, RunScoped, ScopeValue, application, dep, overriding, provide
from toolkit.models import ModelRequest, ModelResponse
from toolkit.testing import call, calls, says

IS_FULL = bool(os.environ.get("CHAOS_FULL"))
RUNS = 2_000 if IS_FULL else 200
ROUNDS = 10


class Rate:
    """What a deposit is multiplied by; replaced in every other run."""

    def __init__(self, value: int = 1) -> None:
        self.value = value


class Book:
    """What the runs of a round have in common, and what they saw."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.meeting = asyncio.Barrier(RUNS)
        self.open_readers = 0
        self.most_open_readers = 0
        self.closed_readers = 0


class Writer:
    """The one connection that writes, one short transaction at a time."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA synchronous = OFF")  # the disk's time is no matter of ours
        self._lock = asyncio.Lock()

    async def deposit(self, account: str, amount: int) -> None:
        async with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            await asyncio.sleep(0)  # others want it meanwhile
            self._connection.execute("UPDATE account SET balance = balance + ? WHERE name = ?", (amount, account))
            self._connection.execute("COMMIT")

    def close(self) -> None:
        self._connection.close()


class Reader:
    """A run's own connection."""

    def __init__(self, path: Path, account: str) -> None:
        self.account = account
        self._connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)

    def balance(self) -> int:
        rows = self._connection.execute("SELECT balance FROM account WHERE name = ?", (self.account,)).fetchall()
        balance: int = rows[0][0]
        return balance

    def close(self) -> None:
        self._connection.close()


def open_reader(book: Book, invocation: Invocation) -> Iterator[Reader]:
    assert invocation.actor_id is not None
    reader = Reader(book.path, invocation.actor_id)
    book.open_readers += 1
    book.most_open_readers = max(book.most_open_readers, book.open_readers)
    try:
        yield reader
    finally:
        reader.close()
        book.open_readers -= 1
        book.closed_readers += 1


class Balance(Tool):
    """Tell the balance."""

    name = "balance"

    def __init__(self, reader: Reader, book: Book) -> None:
        self.reader, self.book = reader, book

    async def handler(self, meet: bool, ctx: RunContext) -> str:
        if meet:  # every run has its connection open now
            await self.book.meeting.wait()
        assert self.reader.account == ctx.invocation.actor_id
        return f"{self.reader.account} has {self.reader.balance()}"


class Deposit(Tool):
    """Put money in."""

    name = "deposit"
    exclusive = True

    def __init__(self, writer: Writer, rate: Rate) -> None:
        self.writer, self.rate = writer, rate
        self.is_busy = False

    async def handler(self, amount: int, ctx: RunContext) -> int:
        assert not self.is_busy, "two exclusive calls of one run overlapped"
        self.is_busy = True
        try:
            assert ctx.invocation.actor_id is not None
            await self.writer.deposit(ctx.invocation.actor_id, amount * self.rate.value)
        finally:
            self.is_busy = False
        return self.rate.value


class Teller:
    """The model: asks, pays in twice at once, and asks again."""

    async def respond(self, request: ModelRequest) -> ModelResponse:
        await asyncio.sleep(0)
        if len(request.messages) == 1:
            return calls(call("balance", {"meet": True}))
        if len(request.messages) == 3:
            return calls(
                call("deposit", {"amount": 10}), call("deposit", {"amount": 1}), call("balance", {"meet": False})
            )
        return calls(call("balance", {"meet": False})) if len(request.messages) == 7 else says("done")


class Application(containers.DeclarativeContainer):
    book: Any = providers.Dependency(instance_of=Book)
    writer = AppScoped(Writer, book.provided.path)
    reader = RunScoped(open_reader, book, ScopeValue(Invocation))
    rate = providers.Factory(Rate)
    balance = provide(Balance, reader=dep(reader), book=dep(book))
    deposit = provide(Deposit, writer=dep(writer), rate=dep(rate))
    model = providers.Singleton(Teller)
    agent: Any = provide(Agent, model=dep(model), tools=["balance", "deposit"])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "bank.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE account (name TEXT PRIMARY KEY, balance INTEGER)")
    connection.executemany("INSERT INTO account VALUES (?, 0)", [(f"account {number}",) for number in range(RUNS)])
    connection.commit()
    connection.close()
    return path


@pytest.fixture
def descriptors() -> Iterator[None]:
    """Each run has a file open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = RUNS + 200
    if hard != resource.RLIM_INFINITY and hard < needed:
        pytest.skip(f"{needed} descriptors are needed, and the system gives {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, needed), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def rate_of(number: int) -> int:
    """1 without an override; else one that no other run has."""
    return number + 2 if number % 2 else 1


async def run_one(container: Any, agent: Any, number: int) -> Run[Any]:
    account = f"account {number}"
    if rate_of(number) == 1:
        run = await agent.run("go", actor_id=account)
    else:
        with overriding(container, rate=Rate(rate_of(number))):
            run = await agent.run("go", actor_id=account)
    return run  # type: ignore[no-any-return]  # the agent is any


def told(run: Run[Any]) -> list[Any]:
    return [record.result.value for record in run.calls]


async def one_round(container: Any, agent: Any, round_: int) -> None:
    runs = await asyncio.gather(*(run_one(container, agent, number) for number in range(RUNS)))
    for number, run in enumerate(runs):
        rate, account = rate_of(number), f"account {number}"
        first, paid_10, paid_1, between, last = told(run)
        assert first == f"{account} has {11 * rate * round_}"
        assert (paid_10, paid_1) == (rate, rate)
        assert between.startswith(f"{account} has ")
        assert last == f"{account} has {11 * rate * (round_ + 1)}"


async def test_runs_at_once_over_one_file_mix_nothing_and_leave_nothing_and_the_memory_is_as_before(
    path: Path, descriptors: None
) -> None:
    book = Book(path)
    container = Application(book=providers.Object(book))
    blocks: list[int] = []

    async with application(container) as app:
        agent = app.agent()
        before = Surroundings.now()
        async with asyncio.timeout(600):
            for round_ in range(ROUNDS):
                await one_round(container, agent, round_)
                gc.collect()
                blocks.append(sys.getallocatedblocks())
        assert_nothing_is_left(before, Surroundings.now())

    print(f"{RUNS} runs at once, {ROUNDS} rounds; allocated blocks after each: {blocks}")
    assert book.most_open_readers == RUNS
    assert (book.open_readers, book.closed_readers) == (0, RUNS * ROUNDS)
    assert blocks[-1] - blocks[2] < RUNS / 10, "each round leaves something"
