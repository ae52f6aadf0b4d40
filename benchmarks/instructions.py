"""The processor's instructions of a run, counted by valgrind: neither neighbours nor the kind of machine change them.

python -m benchmarks.instructions                       W1 of the floor, of this toolkit, and of the fastest peer
python -m benchmarks.instructions W2 toolwire agno      another workload, of these

It needs valgrind, takes half a minute for each, and counts the same process as `benchmarks.comparison` times.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from typing import Final

from benchmarks.comparison.report import table
from benchmarks.comparison.toolkits import BASE, ROOT, environment, python_of

FEW: Final = 50
MANY: Final = 450
_COUNTING: Final = ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null")


def instructions_of(adapter: str, workload: str) -> float:
    """Instructions of one run: those of many runs without those of few, which begin the same way."""
    _ended(adapter, workload, FEW)  # bytecode is written now, if it was not there
    few, many = (_ended(adapter, workload, runs, *_COUNTING).stderr for runs in (FEW, MANY))
    return (_total(many) - _total(few)) / (MANY - FEW)


def _ended(adapter: str, workload: str, runs: int, *tool: str) -> subprocess.CompletedProcess[str]:
    """A process that has made so many runs, after as many as warm it up."""
    commands = [{"workload": workload, "runs": FEW}, {"workload": workload, "runs": runs}, {}]
    done = subprocess.run(
        [*tool, python_of(adapter), "-m", "benchmarks.comparison.worker", adapter],
        cwd=ROOT,
        env=environment(),
        input="".join(json.dumps(command) + "\n" for command in commands),
        capture_output=True,
        text=True,
        check=True,
    )
    if '"error"' in done.stdout:
        raise SystemExit(f"{adapter}: {done.stdout}")
    return done


def _total(report: str) -> int:
    found = re.search(r"Collected : (\d+)", report)
    if found is None:
        raise SystemExit(f"valgrind said no total: {report[-400:]}")
    return int(found[1])


def main() -> None:
    if shutil.which("valgrind") is None:
        raise SystemExit("valgrind is not installed, and it counts the instructions")
    workload = sys.argv[1] if len(sys.argv) > 1 else "W1"
    adapters = sys.argv[2:] or ["floor_full", "toolwire", "toolwire:hooks", "toolwire:everything", "agent_framework"]
    base = instructions_of(BASE, workload)
    rows = [[BASE, f"{base:,.0f}", "1"]]
    for adapter in adapters:
        count = instructions_of(adapter, workload)
        rows.append([adapter, f"{count:,.0f}", f"{count / base:.1f}x"])
    print(table(["", f"instructions of {workload}", f"x {BASE}"], rows))


if __name__ == "__main__":
    main()
