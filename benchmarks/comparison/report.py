"""What was measured, as Markdown: times, ratios with their spread, and each bar beside what was reached."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.comparison.rounds import Samples
from benchmarks.comparison.toolkits import BASE, PEERS
from benchmarks.comparison.workloads import WORKLOADS

LARGE: Final = ("W7_result_text", "W7_result_object", "W7_args_text", "W7_args_items")


def short(microseconds: float) -> str:
    """A time in three figures: µs, and ms from 10,000 µs on."""
    if microseconds >= 10_000:
        return f"{microseconds / 1000:,.{0 if microseconds >= 100_000 else 1}f} ms"
    return f"{microseconds:,.{0 if microseconds >= 100 else 1}f}"


def ratio_text(ratios: Sequence[float]) -> str:
    """The median, and the 10th to the 90th percentile: `5.1x (4.9 to 5.6)`."""
    if not ratios:
        return "-"
    low, high = spread(ratios)
    digits = 2 if high < 2 else 1 if high < 100 else 0
    median = statistics.median(ratios)
    return f"{median:,.{digits}f}x ({low:,.{digits}f} to {high:,.{digits}f})"


def spread(ratios: Sequence[float]) -> tuple[float, float]:
    """The 10th and the 90th percentile; of fewer than four, the least and the most."""
    if len(ratios) < 4:
        return min(ratios), max(ratios)
    tenths = statistics.quantiles(ratios, n=10, method="inclusive")
    return tenths[0], tenths[-1]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def times(samples: Samples, workloads: Sequence[str], adapters: Sequence[str]) -> str:
    """Medians of CPU time for one run."""

    def cell(workload: str, adapter: str) -> str:
        values = samples.values(workload, adapter)
        return short(statistics.median(values.values())) if values else "-"

    return _grid("µs of CPU a run", workloads, adapters, cell)


def ratios(samples: Samples, workloads: Sequence[str], adapters: Sequence[str]) -> str:
    """Ratios to the floor in the same round."""

    def cell(workload: str, adapter: str) -> str:
        return ratio_text(samples.ratios((workload, adapter), (workload, BASE)))

    return _grid(f"x {BASE}", workloads, adapters, cell)


def parts(samples: Samples, workloads: Sequence[str], adapters: Sequence[str]) -> str:
    """Time for one turn or one chunk, where a workload has many."""

    def cell(workload: str, adapter: str) -> str:
        values = samples.values(workload, adapter)
        return f"{statistics.median(values.values()) / WORKLOADS[workload]().parts:,.2f}" if values else "-"

    return _grid("µs of CPU a turn or chunk", workloads, adapters, cell)


def memory(samples: Samples, adapters: Sequence[str], workload: str = "W4_1000") -> str:
    """What a process grew by for one of the runs that were under way at once."""
    rows = []
    for adapter in adapters:
        before, peak = (samples.values(workload, adapter, what) for what in ("before_mb", "peak_mb"))
        if peak:
            grown = [(peak[number] - before[number]) * 1024 / WORKLOADS[workload]().at_once for number in peak]
            rows.append([adapter, f"{statistics.median(grown):.1f}", f"{statistics.median(peak.values()):.0f}"])
    return table([workload, "KB a run", "MB at most"], rows)


def faults(samples: Samples) -> str:
    """Who could not do what, and why."""
    return "\n".join(f"- {adapter}, {workload}: {why}" for (workload, adapter), why in sorted(samples.faults.items()))


@dataclass(frozen=True)
class Bar:
    """What a ratio must be at most, and between which two workloads and adapters."""

    what: str
    most: float
    one: tuple[str, str]
    other: tuple[str, str]
    scale: float = 1.0


def bars_of(samples: Samples) -> list[Bar]:
    """The bars that are ratios. Against peers, it is the fastest one of those that took part."""
    ours = "toolwire"
    bars = [
        Bar("W1 against the floor", 10, ("W1", ours), ("W1", BASE)),
        Bar("W1 with everything on against the floor's W1", 16, ("W1", "toolwire:everything"), ("W1", BASE)),
        Bar("W2 against the floor", 4, ("W2", ours), ("W2", BASE)),
        Bar("growth per turn, 20 to 200 turns", 1.15, ("W3_200", ours), ("W3_20", ours), 0.1),
        Bar("100 tools against W1", 1.2, ("W5_100", ours), ("W1", ours)),
        Bar("1,000 earlier messages against W1", 1.3, ("W6_1000", ours), ("W1", ours)),
        *(Bar(f"{name} against the floor", 1.3, (name, ours), (name, BASE)) for name in LARGE),
    ]
    peers = {
        peer: statistics.median(samples.values("W1", peer).values()) for peer in PEERS if samples.values("W1", peer)
    }
    if peers:
        fastest = min(peers, key=peers.__getitem__)
        bars.insert(1, Bar(f"W1 against the fastest peer, {fastest}", 0.1, ("W1", ours), ("W1", fastest)))
    return bars


def bars(samples: Samples) -> str:
    """Each bar, and what was measured."""
    rows = []
    for bar in bars_of(samples):
        found = [ratio * bar.scale for ratio in samples.ratios(bar.one, bar.other)]
        if found:
            median = statistics.median(found)
            low, high = spread(found)
            verdict = "met" if median <= bar.most else "**missed**"
            rows.append([bar.what, f"{bar.most:g}", f"{median:.3g} ({low:.3g} to {high:.3g})", verdict])
    return table(["bar", "must be at most", "measured", ""], rows) if rows else ""


def _grid(title: str, workloads: Sequence[str], adapters: Sequence[str], cell: Callable[[str, str], str]) -> str:
    rows = ([adapter, *(cell(workload, adapter) for workload in workloads)] for adapter in adapters)
    return table([title, *workloads], (row for row in rows if set(row[1:]) != {"-"}))
