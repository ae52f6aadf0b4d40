"""What a toolkit is measured by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.comparison.workloads import Feature, Task


class Adapter:
    """Builds agents and runs them, as a user of the toolkit would, its tracing and telemetry off.

    Attributes:
        can: What it can do of what not all can.
    """

    can: frozenset[Feature] = frozenset({"history"})

    def __init__(self, variant: str = "") -> None:
        if variant:
            raise ValueError(f"{type(self).__module__} has no variant '{variant}'")

    async def build(self, task: Task) -> Any:
        """An agent with the task's tools. Not timed."""
        raise NotImplementedError

    def history_of(self, texts: Sequence[tuple[str, str]]) -> Any:
        """Earlier messages, given as role and text, as the toolkit's own. Not timed; runs must not change them."""
        raise NotImplementedError

    async def run(self, agent: Any, history: Any) -> str:
        """The answer of one run with the script's prompt. Timed. Runs may overlap.

        Where the task is streamed, it reads the pieces, calls `chunk_came` for each, and gives the whole.
        """
        raise NotImplementedError

    async def aclose(self) -> None:
        """Closes whatever `build` opened."""
