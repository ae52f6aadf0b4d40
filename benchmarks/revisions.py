"""Two revisions of this toolkit side by side, in CPU time: whether a change made runs cheaper.

python -m benchmarks.revisions 5f9bf59 HEAD                      W1
python -m benchmarks.revisions 5f9bf59 HEAD W2 toolwire:hooks    another workload, another variant

Each revision's `toolkit` is put beside the benchmarks of now. Their processes take turns, and begin anew once, since
where things lie in memory makes a difference, too. It needs `make .venv-bench/toolwire/.ready`.
"""

from __future__ import annotations

import io
import json
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any, Final

from benchmarks.comparison.toolkits import ROOT, environment, python_of

PROCESSES: Final = 2
ROUNDS: Final = 30
SECONDS: Final = 0.03


class Worker:
    """A process that measures the toolkit of one folder. Whoever makes it ends it."""

    def __init__(self, folder: Path, adapter: str) -> None:
        self._process = subprocess.Popen(
            [python_of(adapter), "-m", "benchmarks.comparison.worker", adapter],
            cwd=folder,
            env={**environment(), "PYTHONPATH": str(folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._answer()  # that it is ready

    def microseconds(self, workload: str) -> float:
        """CPU time of one run, over a batch of them."""
        answer = self._ask({"workload": workload, "seconds": SECONDS})
        if "error" in answer:
            raise SystemExit(answer["error"])
        taken: float = answer["cpu_us"]
        return taken

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _ask(self, command: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        answer: dict[str, Any] = json.loads(self._process.stdout.readline() or '{"error": "the process has ended"}')
        return answer


def unpack(revision: str, folder: Path) -> None:
    """Puts the toolkit of a revision into a folder, and the benchmarks of now beside it."""
    packed = subprocess.run(["git", "archive", revision, "toolkit"], cwd=ROOT, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    shutil.copytree(ROOT / "benchmarks", folder / "benchmarks")


def compare(folders: list[Path], workload: str, adapter: str) -> list[list[float]]:
    """The times of each folder's toolkit, round by round."""
    times: list[list[float]] = [[] for _ in folders]
    for _ in range(PROCESSES):
        workers = [Worker(folder, adapter) for folder in folders]
        try:
            for worker in workers:
                worker.microseconds(workload)  # warms up
            for _ in range(ROUNDS):
                for taken, worker in zip(times, workers, strict=True):
                    taken.append(worker.microseconds(workload))
        finally:
            for worker in workers:
                worker.end()
    return times


def main() -> None:
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    revisions = sys.argv[1:3]
    workload = sys.argv[3] if len(sys.argv) > 3 else "W1"
    adapter = sys.argv[4] if len(sys.argv) > 4 else "toolwire"
    with tempfile.TemporaryDirectory() as parent:
        folders = [Path(parent) / str(place) for place in range(2)]
        for revision, folder in zip(revisions, folders, strict=True):
            unpack(revision, folder)
        times = compare(folders, workload, adapter)
    for revision, taken in zip(revisions, times, strict=True):
        tenths = statistics.quantiles(taken, n=10)
        print(f"{revision:>12}  {statistics.median(taken):8.1f} µs  ({tenths[0]:.1f} to {tenths[-1]:.1f})")
    ratios = [after / before for before, after in zip(*times, strict=True)]
    tenths = statistics.quantiles(ratios, n=10)
    print(f"{'ratio':>12}  {statistics.median(ratios):8.3f}     ({tenths[0]:.3f} to {tenths[-1]:.3f})")


if __name__ == "__main__":
    main()
