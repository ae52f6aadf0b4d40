"""Function calls per run, counted by profile: a measure that does not depend on the machine's load.

python benchmarks/counting.py            W1, also with other models and with everything on, W2, W3 of 20 and 200 turns
python benchmarks/counting.py W1 30      the 30 functions that W1 spends most calls in
"""

from __future__ import annotations

import asyncio
import cProfile
import pstats
import sys
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from benchmarks.workloads import ANSWER, PROMPT, AppWide, Configured, Everything, Plain, PlayedModel, Selected
from toolkit.injection import application


class Load(NamedTuple):
    """A workload: what container, how many calls the model asks for in each turn, and how the run is read.

    Without turns the model is the container's own.
    """

    container: type
    turns: list[int] | None = None
    is_streamed: bool = False


WORKLOADS = {
    "W1": Load(Plain, [1]),
    "W1 app-wide": Load(AppWide),
    "W1 selected": Load(Selected),
    "W1 configured": Load(Configured, [1]),
    "W1 everything": Load(Everything, [1], is_streamed=True),
    "W2": Load(Plain, [10]),
    "W3_20": Load(Plain, [1] * 20),
    "W3_200": Load(Plain, [1] * 200),
}


def profile_of(name: str, runs: int = 50) -> tuple[float, pstats.Stats]:
    """Function calls per run of a workload, Python's and C's, and the profile they were counted in."""
    return asyncio.run(_profiled(WORKLOADS[name], runs))


async def _profiled(load: Load, runs: int) -> tuple[float, pstats.Stats]:
    async with application(load.container()) as app:
        one = one_of(app.agent(), load)
        for _ in range(3):  # what is worked out once is worked out
            await one()
        profile = cProfile.Profile()
        profile.enable()
        for _ in range(runs):
            await one()
        profile.disable()
    stats = pstats.Stats(profile)
    return stats.total_calls / runs, stats  # type: ignore[attr-defined]  # typeshed leaves it out


def one_of(agent: Any, load: Load) -> Callable[[], Awaitable[None]]:
    """One run of a workload, whole."""
    model = None if load.turns is None else PlayedModel(load.turns)
    return _streamed(agent, model) if load.is_streamed else _run(agent, model)


def _run(agent: Any, model: PlayedModel | None) -> Callable[[], Awaitable[None]]:
    async def one() -> None:
        run = await agent.run(PROMPT, model=model)
        assert run.response == ANSWER

    return one


def _streamed(agent: Any, model: PlayedModel | None) -> Callable[[], Awaitable[None]]:
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
