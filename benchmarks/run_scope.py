"""What the scope of a run costs for five tools and a connection, against a hand-written `AsyncExitStack`.

python -m benchmarks.run_scope                        a table of ratios
python -m benchmarks.run_scope runscope.py            the prototype at that path as well

The kinds take turns, so that a slow moment of the machine hits all of them. CPU time is measured, and a ratio is made
of two times of one round.
"""

from __future__ import annotations

import asyncio
import cProfile
import gc
import importlib.util
import pstats
import statistics
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from time import process_time
from typing import Any

from dependency_injector import containers, providers

from toolkit import Tool
from toolkit.injection import RunScoped, dep, provide, resolver_for

ROUNDS = 60
SCOPES_PER_ROUND = 200

Scope = Callable[[], Awaitable[None]]
"""Opens a connection and five tools, and closes them."""


class Connection:
    """What the five tools share for a run."""


async def open_connection() -> AsyncIterator[Connection]:
    try:
        yield Connection()
    finally:
        pass


class ConnectedTool(Tool):
    """Ask over the connection."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    async def handler(self) -> str:
        return "answer"


class FirstTool(ConnectedTool):
    name = "first"


class SecondTool(ConnectedTool):
    name = "second"


class ThirdTool(ConnectedTool):
    name = "third"


class FourthTool(ConnectedTool):
    name = "fourth"


class FifthTool(ConnectedTool):
    name = "fifth"


TOOLS: tuple[type[ConnectedTool], ...] = (FirstTool, SecondTool, ThirdTool, FourthTool, FifthTool)


class Application(containers.DeclarativeContainer):
    """Five tools on one connection of the run."""

    connection = RunScoped(open_connection)
    first = provide(FirstTool, connection=dep(connection))
    second = provide(SecondTool, connection=dep(connection))
    third = provide(ThirdTool, connection=dep(connection))
    fourth = provide(FourthTool, connection=dep(connection))
    fifth = provide(FifthTool, connection=dep(connection))


def through_the_resolver() -> Scope:
    """The scope as a run opens it: five recipes, five tools, one connection."""
    resolver = resolver_for(Application())
    nothing = frozenset[type]()

    async def one() -> None:
        scope = resolver.open_run({}, 30.0)
        made = [await scope.build(resolver.tool(tool, nothing)) for tool in TOOLS]
        errors = await scope.close(None, 10.0)
        assert len(made) == 5
        assert not errors

    return one


def by_hand() -> Scope:
    """The same as one writes it without a container."""
    connected = asynccontextmanager(open_connection)

    async def one() -> None:
        async with AsyncExitStack() as stack:
            connection = await stack.enter_async_context(connected())
            made = [tool(connection) for tool in TOOLS]
            assert len(made) == 5

    return one


def by_the_prototype(path: Path) -> Scope:
    """The same through the prototype of the scopes, a file that is no part of this repository."""
    specification = importlib.util.spec_from_file_location("runscope", path)
    if specification is None or specification.loader is None:
        raise SystemExit(f"'{path}' is no Python file")
    prototype: Any = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(prototype)
    connection = prototype.RunScoped(open_connection)
    tools = [providers.Factory(tool, connection=connection) for tool in TOOLS]
    app = prototype.Scope("app")

    async def one() -> None:
        async with app.child("run") as scope:
            made = await scope.resolve_all(tools, own=True)
            assert len(made) == 5

    return one


async def seconds_of(scopes: dict[str, Scope], rounds: int, per_round: int) -> dict[str, list[float]]:
    """CPU seconds for one scope of each kind, round by round."""
    seconds: dict[str, list[float]] = {name: [] for name in scopes}
    for scope in scopes.values():
        for _ in range(per_round):  # what is worked out once is worked out
            await scope()
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, scope in scopes.items():
                began = process_time()
                for _ in range(per_round):
                    await scope()
                seconds[name].append((process_time() - began) / per_round)
            gc.collect()
    finally:
        gc.enable()
    return seconds


def function_calls(scope: Scope, times: int = 50) -> float:
    """Function calls of one scope, Python's and C's."""

    async def profiled() -> cProfile.Profile:
        for _ in range(3):
            await scope()
        profile = cProfile.Profile()
        profile.enable()
        for _ in range(times):
            await scope()
        profile.disable()
        return profile

    calls: int = pstats.Stats(asyncio.run(profiled())).total_calls  # type: ignore[attr-defined]  # not in typeshed
    return calls / times


def main() -> None:
    scopes = {"AsyncExitStack by hand": by_hand(), "toolwire": through_the_resolver()}
    if len(sys.argv) > 1:
        scopes["prototype"] = by_the_prototype(Path(sys.argv[1]))
    seconds = asyncio.run(seconds_of(scopes, ROUNDS, SCOPES_PER_ROUND))
    floor = seconds["AsyncExitStack by hand"]
    print(f"{'five tools and a connection':28} {'µs, median':>10} {'ratio':>7} {'10th to 90th':>14} {'calls':>6}")
    for name, times in seconds.items():
        ratios = [one / least for one, least in zip(times, floor, strict=True)]
        tenths = statistics.quantiles(ratios, n=10)
        spread = f"{tenths[0]:.2f} to {tenths[-1]:.2f}"
        median, ratio = statistics.median(times) * 1e6, statistics.median(ratios)
        print(f"{name:28} {median:10.1f} {ratio:7.2f} {spread:>14} {function_calls(scopes[name]):6.0f}")


if __name__ == "__main__":
    main()
