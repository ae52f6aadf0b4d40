"""How long large arguments and results hold the event loop: the longest time between two beats of a task beside it.

python -m benchmarks.heartbeat

Time is CPU time of the loop's own thread, so that neighbours and threads beside it are not counted.
"""

from __future__ import annotations

import asyncio
import gc
import time
from dataclasses import replace
from typing import Any

import msgspec

from benchmarks.comparison import tools
from benchmarks.comparison.adapters import adapter_of
from benchmarks.comparison.report import table
from benchmarks.comparison.script import Progress, playing, turns_of
from benchmarks.comparison.workloads import WORKLOADS, Task, Workload

WRONG: dict[str, Any] = {"id": "no number", "name": "n", "tags": [], "price": 1.0}


def _items(items: list[Any]) -> Workload:
    return Workload(Task([tools.store_items]), turns_of([1], "store_items", {"items": items}), is_refused=True)


def loads() -> dict[str, Workload]:
    """What is sent or given back, by what it is."""
    good = tools.RECORDS[:10_000]
    large = ("W7_result_text", "W7_result_object", "W7_args_text", "W7_args_items")
    return {
        "a run of W1": WORKLOADS["W1"](),
        **{name: WORKLOADS[name]() for name in large},
        "10,000 objects, the last one wrong": _items([*good[:-1], WRONG]),
        "10,000 objects, all wrong": _items([WRONG] * 10_000),
        "100,000 objects": replace(_items(good * 10), is_refused=False),
    }


async def longest_hold(workload: Workload, runs: int = 5) -> float:
    """Seconds of CPU time of the loop's thread between two beats, the median over runs of the longest of each run."""
    adapter = adapter_of("toolwire")
    agent = await adapter.build(workload.task)
    longest = [0.0]
    is_over = False

    async def beat() -> None:
        last = time.thread_time()
        while not is_over:
            await asyncio.sleep(0)
            now = time.thread_time()
            longest[-1] = max(longest[-1], now - last)
            last = now

    async def run() -> None:
        playing.set(Progress(workload.turns))
        await adapter.run(agent, None)

    await run()  # what is worked out once is worked out
    gc.collect()
    gc.freeze()  # what the workloads themselves hold is nobody's garbage
    beating = asyncio.create_task(beat())
    for _ in range(runs):
        longest.append(0.0)
        await run()
    is_over = True
    await beating
    await adapter.aclose()
    return sorted(longest[1:])[runs // 2]


def decoding(runs: int = 5) -> float:
    """Seconds of CPU time of one call that reads the largest arguments: no thread gets its turn meanwhile."""
    text = msgspec.json.encode({"items": tools.RECORDS[:10_000] * 10})
    took: list[float] = []
    gc.disable()
    for _ in range(runs):
        began = time.thread_time()
        msgspec.json.decode(text)
        took.append(time.thread_time() - began)
    gc.enable()
    return sorted(took)[runs // 2]


async def main() -> None:
    rows = [[name, f"{await longest_hold(load) * 1000:.1f}"] for name, load in loads().items()]
    rows.append(["msgspec's decoder alone, 100,000 objects, no garbage collector", f"{decoding() * 1000:.1f}"])
    print(table(["holds the loop for, in one piece", "ms of CPU"], rows))


if __name__ == "__main__":
    asyncio.run(main())
