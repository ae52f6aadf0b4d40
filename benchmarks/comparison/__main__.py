"""Compares this toolkit with the floors and with peers.

python -m benchmarks.comparison                            the three fastest peers (`make bench`)
python -m benchmarks.comparison --all                      all ten (`make bench-all`)
python -m benchmarks.comparison --workloads W1,W2 --adapters floor:jsonschema_rs,toolwire --rounds 11
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
from collections.abc import Sequence

from benchmarks.comparison import report
from benchmarks.comparison.rounds import Samples, Worker, measure
from benchmarks.comparison.toolkits import (
    BASE,
    FASTEST,
    FLOORS,
    OTHERS,
    OURS,
    WITH_HOOKS,
    requirements_of,
    toolkit_of,
    versions_of,
)

TIMED = ("W1", "W2", "W3_20", "W3_200", "W4_1000", "W5_100", "W6_1000")
NEW = ("W8_stream", "W9_sync", "W10_clients", "W11_nested")
PROBES = ("P_parallel", "P_enum", "P_missing", "P_item")
COUNTED = ("W1", "W2", "W3_20")
OF_US = ("toolwire", "dependency-injector", "msgspec", "jsonschema-rs", "jsonschema", "anyio")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="all ten peers, not only the three fastest")
    parser.add_argument("--workloads", default=",".join((*TIMED, *report.LARGE, *NEW)))
    parser.add_argument("--adapters", help="in place of the floors, this toolkit and the peers")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.1, help="CPU time of one batch")
    parser.add_argument("--json", help="a file for what was measured")
    options = parser.parse_args()
    others = OTHERS if options.all else ()
    adapters = options.adapters.split(",") if options.adapters else (*FLOORS, *OURS, *FASTEST, *WITH_HOOKS, *others)
    workloads = options.workloads.split(",")
    samples = measure(workloads, adapters, options.rounds, options.seconds)
    show(samples, workloads, adapters)
    if options.json:
        with open(options.json, "w") as file:
            json.dump([[*key, rounds] for key, rounds in samples.of.items()], file)


def show(samples: Samples, workloads: Sequence[str], adapters: Sequence[str]) -> None:
    """All tables, to the terminal."""
    print(f"{datetime.date.today()}, {platform.python_implementation()} {platform.python_version()}, ", end="")
    print(f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.0f}. {_versions(adapters)}\n")
    sections = [[each for each in group if each in workloads] for group in (TIMED, report.LARGE, NEW)]
    for section in filter(None, sections):
        print(report.times(samples, section, adapters), "\n")
        if BASE in adapters:
            print(report.ratios(samples, section, adapters), "\n")
    divided = [each for each in ("W3_20", "W3_200", "W8_stream") if each in workloads]
    if divided:
        print(report.parts(samples, divided, adapters), "\n")
    if "W4_1000" in workloads:
        print(report.memory(samples, adapters), "\n")
    print(_counted(adapters), "\n")
    print(_probed(adapters), "\n")
    print(report.bars(samples), "\n")
    print(report.faults(samples))


def _versions(adapters: Sequence[str]) -> str:
    ours = versions_of("toolwire")
    named = [f"{name} {ours[name]}" for name in OF_US]
    for toolkit in dict.fromkeys(map(toolkit_of, adapters)):
        if toolkit != "toolwire":
            named += [each.replace("==", " ") for each in requirements_of(toolkit)]
    return ", ".join(named)


def _counted(adapters: Sequence[str]) -> str:
    """Function calls a run, which do not depend on the machine's load."""
    rows = []
    for adapter in adapters:
        worker = Worker(adapter)
        counts = [worker.ask(profile=name, runs=10).get("calls") for name in COUNTED]
        worker.close()
        rows.append([adapter, *("-" if count is None else f"{count:,.0f}" for count in counts)])
    return report.table(["function calls a run", *COUNTED], rows)


def _probed(adapters: Sequence[str]) -> str:
    """Whether ten calls of 10 ms overlap, and whether what breaks the schema is kept from the tool."""
    rows = []
    for adapter in adapters:
        worker = Worker(adapter)
        worker.ask(check="P_parallel")  # the first run has much to work out
        parallel, *refusals = [worker.ask(check=name) for name in PROBES]
        worker.close()
        overlaps = "-" if "error" in parallel else f"{parallel['wall_ms']:.0f} ms"
        rows.append([adapter, overlaps, *map(_refusal, refusals)])
    return report.table(["probes", "ten calls of 10 ms", *PROBES[1:]], rows)


def _refusal(answer: dict[str, object]) -> str:
    if "error" in answer:
        return "the run fails"
    return "the tool runs" if answer["tool_runs"] else "kept from the tool"


if __name__ == "__main__":
    main()
