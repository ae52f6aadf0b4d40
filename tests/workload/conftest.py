"""The counts of the workload, told at the end of the tests."""

from __future__ import annotations

from collections import Counter

import pytest

_COUNTS = pytest.StashKey[dict[str, Counter[str]]]()


@pytest.fixture
def counts(request: pytest.FixtureRequest) -> Counter[str]:
    """What the test counts, by kind. It is told in the summary."""
    kept = request.config.stash.setdefault(_COUNTS, {})
    return kept.setdefault(request.node.name, Counter())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    kept = {name: counted for name, counted in config.stash.get(_COUNTS, {}).items() if counted}
    if kept:
        terminalreporter.section("workload")
    for name, counted in kept.items():
        terminalreporter.write_line(f"{name}: " + ", ".join(f"{count} {kind}" for kind, count in counted.items()))
