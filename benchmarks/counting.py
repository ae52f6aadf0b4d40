"""Function calls per run, counted by profile: a measure that does not depend on the machine's load.

python benchmarks/counting.py            W1, W1 with everything on, W2, W3 of 20 and of 200 turns
python benchmarks/counting.py W1 30      the 30 functions that W1 spends most calls in
"""

from __future__ import annotations

import asyncio
import cProfile
import pstats
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from benchmarks.workloads import ANSWER, PROMPT, Everything, Plain, PlayedModel
from toolkit.injection import application

WORKLOADS: dict[str, tuple[type, list[int], bool]] = {
    "W1": (Plain, [1], False),
    "W1 everything": (Everything, [1], True),
    "W2": (Plain, [10], False),
    "W3_20": (Plain, [1] * 20, False),
    "W3_200": (Plain, [1] * 200, False),
}


def profile_of(name: str, runs: int = 50) -> tuple[float, pstats.Stats]:
    """Function calls per run of a workload, Python's and C's, and the profile they were counted in."""
    container, turns, is_streamed = WORKLOADS[name]
    return asyncio.run(_profiled(container, turns, is_streamed, runs))


async def _profiled(container: type, turns: list[int], is_streamed: bool, runs: int) -> tuple[float, pstats.Stats]:
    async with application(container()) as app:
        agent = app.agent()
        one = one_of(agent, PlayedModel(turns), is_streamed)
        for _ in range(3):  # what is worked out once is worked out
            await one()
        profile = cProfile.Profile()
        profile.enable()
        for _ in range(runs):
            await one()
        profile.disable()
    stats = pstats.Stats(profile)
    return stats.total_calls / runs, stats  # type: ignore[attr-defined]  # typeshed leaves it out


def one_of(agent: Any, model: PlayedModel, is_streamed: bool) -> Callable[[], Awaitable[None]]:
    """One run of a workload, whole."""
    return _streamed(agent, model) if is_streamed else _run(agent, model)


def _run(agent: Any, model: PlayedModel) -> Callable[[], Awaitable[None]]:
    async def one() -> None:
        run = await agent.run(PROMPT, model=model)
        assert run.response == ANSWER

    return one


def _streamed(agent: Any, model: PlayedModel) -> Callable[[], Awaitable[None]]:
    async def one() -> None:
        async with agent.stream(PROMPT, model=model) as stream:
            async for _ in stream:
                pass
        assert stream.run.response == ANSWER

    return one


def main() -> None:
    if len(sys.argv) > 1:
        _, stats = profile_of(sys.argv[1])
        stats.sort_stats("ncalls").print_stats(int(sys.argv[2]) if len(sys.argv) > 2 else 40)
        return
    for name in WORKLOADS:
        calls, _ = profile_of(name)
        print(f"{name:15} {calls:8.0f} function calls a run")


if __name__ == "__main__":
    main()
