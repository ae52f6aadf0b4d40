"""Interleaved rounds: in each, every adapter takes its turn at every workload, in a process of its own.

On a machine with neighbours a slow moment lasts longer than one batch, so a ratio is made of two times of one round.
CPU time is measured, of all threads of the process; wall time says more of the neighbours.
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from benchmarks.comparison.toolkits import ROOT, VARIED, environment, is_variant, python_of
from benchmarks.comparison.workloads import WORKLOADS

SLOW: Final = 2.0
"""Seconds: who takes longer for a batch takes part in two rounds only."""

PATIENCE: Final = 120.0
"""Seconds to wait for an answer."""


class Worker:
    """The process of one adapter."""

    def __init__(self, adapter: str) -> None:
        python = python_of(adapter)
        if not python.exists():
            raise SystemExit(f"'{adapter}' is not installed: run make {python.parents[1].relative_to(ROOT)}/.ready")
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks.comparison.worker", adapter],
            cwd=ROOT,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.fault = self._line().get("error", "")

    def ask(self, **command: Any) -> dict[str, Any]:
        """The answer to one command. `error` in it says what went wrong."""
        if self.fault:
            return {"error": self.fault}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        answer = self._line()
        if answer.get("is_over"):
            self.fault = str(answer["error"])
        return answer

    def close(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.communicate()

    def _line(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        if not select.select([self._process.stdout], [], [], PATIENCE)[0]:
            self.close()
            return {"error": f"no answer within {PATIENCE:g} s", "is_over": True}
        line = self._process.stdout.readline()
        answer: dict[str, Any] = json.loads(line) if line else {"error": "the process has ended", "is_over": True}
        return answer


@dataclass
class Samples:
    """What was measured: per workload and adapter, the answers by round."""

    of: dict[tuple[str, str], dict[int, dict[str, Any]]] = field(default_factory=dict)
    faults: dict[tuple[str, str], str] = field(default_factory=dict)

    def values(self, workload: str, adapter: str, what: str = "cpu_us") -> dict[int, float]:
        """One number of each round."""
        return {number: answer[what] for number, answer in self.of.get((workload, adapter), {}).items()}

    def ratios(self, one: tuple[str, str], other: tuple[str, str]) -> list[float]:
        """CPU time of one workload and adapter to that of another, round by round, where both took part."""
        above, below = self.values(*one), self.values(*other)
        return [above[number] / below[number] for number in above.keys() & below.keys()]


def measure(workloads: Sequence[str], adapters: Sequence[str], rounds: int, seconds: float) -> Samples:
    """Times every adapter at every workload, `seconds` of CPU time a batch. What an adapter can't do is a fault."""
    samples = Samples()
    workers = {adapter: Worker(adapter) for adapter in adapters}
    try:
        for number in range(rounds):
            for workload, adapter in _turns(workloads, adapters, number):
                if _takes_part(samples, workload, adapter, number):
                    _sample(samples, workload, adapter, number, _timed(workers[adapter], adapter, workload, seconds))
            print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
    finally:
        for worker in workers.values():
            worker.close()
    return samples


def _turns(workloads: Sequence[str], adapters: Sequence[str], number: int) -> Iterator[tuple[str, str]]:
    """Every round begins with another adapter. Variants have but a few workloads."""
    first = number % len(adapters)
    for workload in workloads:
        for adapter in [*adapters[first:], *adapters[:first]]:
            if workload in VARIED or not is_variant(adapter):
                yield workload, adapter


def _takes_part(samples: Samples, workload: str, adapter: str, number: int) -> bool:
    if (workload, adapter) in samples.faults:
        return False
    took = samples.values(workload, adapter, "batch_s")
    return number < 2 or max(took.values(), default=0) < SLOW


def _timed(worker: Worker, adapter: str, workload: str, seconds: float) -> dict[str, Any]:
    if not WORKLOADS[workload]().at_once:
        return worker.ask(workload=workload, seconds=seconds)
    alone = Worker(adapter)  # so that the most memory it ever had is that of this workload
    try:
        alone.ask(workload="W4_20", runs=1)
        return alone.ask(workload=workload, runs=1)
    finally:
        alone.close()


def _sample(samples: Samples, workload: str, adapter: str, number: int, answer: dict[str, Any]) -> None:
    if "error" in answer:
        samples.faults[workload, adapter] = answer["error"]
    else:
        samples.of.setdefault((workload, adapter), {})[number] = answer
