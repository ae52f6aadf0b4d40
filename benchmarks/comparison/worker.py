"""One adapter in one process: a JSON command on each line of stdin, a JSON answer on each line of stdout.

python -m benchmarks.comparison.worker agno

`{"workload": "W1", "seconds": 0.1}` times a batch of as many runs as take so much CPU time, which is found out once,
warming up; `{"workload": "W1", "runs": 3}` a batch of so many. `{"check": "W1"}` says what a run did.
`{"profile": "W1", "runs": 50}` counts its function calls. `{}` ends it.
"""

from __future__ import annotations

import asyncio
import cProfile
import gc
import json
import os
import pstats
import resource
import sys
import time
from dataclasses import replace
from typing import Any

from benchmarks.comparison import tools
from benchmarks.comparison.adapters import adapter_of
from benchmarks.comparison.adapters.adapter import Adapter
from benchmarks.comparison.script import Progress, playing
from benchmarks.comparison.workloads import WORKLOADS, Workload, texts_before

MOST_RUNS = 20_000


class Bench:
    """Times, checks and profiles the workloads of one adapter."""

    def __init__(self, adapter: Adapter) -> None:
        self.adapter = adapter
        self._prepared: dict[str, tuple[Workload, Any, Any]] = {}
        self._runs: dict[str, int] = {}

    async def check(self, name: str) -> dict[str, Any]:
        """What one run did: how often tools ran, how often the model was asked, how many results it was sent."""
        workload, agent, history = await self._prepare(name)
        began = time.perf_counter()
        progress = await self._run(workload, agent, history, has_memory=True)
        return {
            "tool_runs": progress.tool_runs,
            "model_calls": progress.position,
            "results": progress.results,
            "wall_ms": (time.perf_counter() - began) * 1e3,
        }

    async def timed(self, name: str, runs: int | None, seconds: float) -> dict[str, Any]:
        """CPU and wall time for one run, in µs, and the memory of the process, in MB, before and at its highest."""
        workload, agent, history = await self._prepare(name)
        if runs is None:
            runs = await self._enough(name, seconds)
        gc.collect()
        gc.freeze()  # what the workloads themselves hold is nobody's garbage
        before = _memory()
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(runs):
            if workload.at_once:
                under_way = (self._run(workload, agent, history) for _ in range(workload.at_once))
                await asyncio.gather(*map(asyncio.create_task, under_way))
            else:
                await self._run(workload, agent, history)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        each = runs * (workload.at_once or 1)
        return {
            "cpu_us": cpu / each * 1e6,
            "wall_us": wall / each * 1e6,
            "batch_s": wall,
            "before_mb": before,
            "peak_mb": peak,
            "runs": each,
        }

    async def profiled(self, name: str, runs: int) -> dict[str, Any]:
        """Function calls for one run, Python's and C's."""
        workload, agent, history = await self._prepare(name)
        for _ in range(3):  # what is worked out once is worked out
            await self._run(workload, agent, history)
        profile = cProfile.Profile()
        profile.enable()
        for _ in range(runs):
            await self._run(workload, agent, history)
        profile.disable()
        calls: int = pstats.Stats(profile).total_calls  # type: ignore[attr-defined]  # typeshed leaves it out
        return {"calls": calls / runs}

    async def _prepare(self, name: str) -> tuple[Workload, Any, Any]:
        if name not in self._prepared:
            workload = WORKLOADS[name]()
            if workload.needs is not None and workload.needs not in self.adapter.can:
                raise LookupError(f"the adapter has no {workload.needs}")
            task = workload.task
            if workload.inner is not None:
                task = replace(task, functions=[*task.functions, await self._expert(workload.inner)])
            agent = await self.adapter.build(task)
            history = self.adapter.history_of(texts_before(workload.history)) if workload.history else None
            self._prepared[name] = workload, agent, history
        return self._prepared[name]

    async def _expert(self, inner: Workload) -> Any:
        agent = await self.adapter.build(inner.task)

        async def ask(question: str) -> str:
            outer = playing.get()
            try:
                await self._run(inner, agent, None)
            finally:
                playing.set(outer)
            return "The expert has answered."

        return tools.expert(ask)

    async def _run(self, workload: Workload, agent: Any, history: Any, has_memory: bool = False) -> Progress:
        progress = Progress(workload.turns, has_memory)
        playing.set(progress)
        answer = await self.adapter.run(agent, history)
        fault = None if workload.is_refused else progress.fault(answer)
        if fault is not None:
            raise AssertionError(fault)
        return progress

    async def _enough(self, name: str, seconds: float) -> int:
        if name not in self._runs:
            first = await self.timed(name, 1, seconds)
            runs = 1
            if first["cpu_us"] < seconds * 1e6:
                warm = await self.timed(name, 3, seconds)
                runs = max(1, min(MOST_RUNS, round(seconds * 1e6 / max(warm["cpu_us"], 1))))
            self._runs[name] = runs
        return self._runs[name]


def _memory() -> float:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))


async def answer_to(bench: Bench, command: dict[str, Any]) -> dict[str, Any]:
    """The answer to one command; what goes wrong is an answer too."""
    try:
        if "check" in command:
            return await bench.check(command["check"])
        if "profile" in command:
            return await bench.profiled(command["profile"], command.get("runs", 50))
        return await bench.timed(command["workload"], command.get("runs"), command.get("seconds", 0.1))
    except Exception as error:  # noqa: BLE001  # the border of the process: whoever asked is told
        return {"error": f"{type(error).__name__}: {error}"[:400]}


async def main() -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    sys.stdout = sys.stderr  # whatever a toolkit prints stays out of the answers
    bench = Bench(adapter_of(sys.argv[1]))
    print(json.dumps({"ready": sys.argv[1]}), file=answers)
    loop = asyncio.get_running_loop()
    while command := json.loads(await loop.run_in_executor(None, sys.stdin.readline) or "{}"):
        print(json.dumps(await answer_to(bench, command)), file=answers)
    os._exit(0)  # some toolkits leave threads that never end


if __name__ == "__main__":
    asyncio.run(main())
