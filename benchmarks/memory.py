"""What a run keeps while it is under way, for 1,000 at once; and what it leaves for the garbage collector.

python -m benchmarks.memory
"""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from typing import Any

from dependency_injector import containers, providers

from benchmarks.counting import WORKLOADS, one_of
from benchmarks.workloads import ANSWER, PROMPT, Client, PlayedModel, WeatherTool
from toolkit import Agent
from toolkit.injection import application, dep, provide

RUNS = 1_000


class WaitingClient(Client):
    """Answers once it may, so that any number of runs are inside their tool's call at the same time."""

    def __init__(self) -> None:
        self.expected = 0
        self.all_wait = asyncio.Event()
        self.gate = asyncio.Event()

    async def current(self, city: str, units: str) -> str:
        self.expected -= 1
        if self.expected == 0:
            self.all_wait.set()
        await self.gate.wait()
        return await super().current(city, units)


class Waiting(containers.DeclarativeContainer):
    """W4: the one tool waits."""

    client = providers.Singleton(WaitingClient)
    tool = provide(WeatherTool, client=dep(client))
    model = providers.Object(None)
    agent = provide(Agent, model=dep(model), tools=[WeatherTool])


def bytes_per_run(runs: int = RUNS) -> float:
    """Memory that Python allocates for one of so many runs, all of which are inside a handler: the task of the caller
    and that of the run, everything that the run is made of, and the frames of both tasks."""
    return asyncio.run(_bytes_per_run(runs))


async def _bytes_per_run(runs: int) -> float:
    async with application(Waiting()) as app:
        agent = app.agent()
        client: WaitingClient = app.container.client()
        model = PlayedModel([1])
        client.gate.set()
        await agent.run(PROMPT, model=model)  # what is worked out once is worked out
        client.gate.clear()
        client.expected = runs
        gc.collect()
        tracemalloc.start()
        try:
            before, _ = tracemalloc.get_traced_memory()
            under_way = [asyncio.create_task(agent.run(PROMPT, model=model)) for _ in range(runs)]
            await client.all_wait.wait()
            now, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        client.gate.set()
        ended: list[Any] = await asyncio.gather(*under_way)
        assert all(run.response == ANSWER for run in ended)
        return (now - before) / runs


def garbage_of(name: str, runs: int = 20) -> int:
    """Objects that so many runs of a workload leave in circles, which only the garbage collector can take away."""
    return asyncio.run(_garbage_of(name, runs))


async def _garbage_of(name: str, runs: int) -> int:
    load = WORKLOADS[name]
    async with application(load.container()) as app:
        one = one_of(app.agent(), load)
        for _ in range(3):
            await one()
        gc.collect()
        gc.disable()
        try:
            for _ in range(runs):
                await one()
            return gc.collect()
        finally:
            gc.enable()


def main() -> None:
    for runs in (100, RUNS):
        print(f"{runs:6,} runs at once {bytes_per_run(runs) / 1000:8.1f} KB each")
    for name in WORKLOADS:
        print(f"{name:15} {garbage_of(name):6} objects in circles after 20 runs")


if __name__ == "__main__":
    main()
