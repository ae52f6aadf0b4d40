"""What it costs to begin: importing, and all that it takes to the first answer, in fresh processes.

python -m benchmarks.starting                 this toolkit, in .venv-bench/toolwire (the core's dependencies only)
python -m benchmarks.starting agno haystack   and these peers, where their venvs are installed

CPU time, interleaved, medians. The first answer is that of a W1 run, with everything that is imported on the way to it;
so what is imported late can't hide.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Final

from benchmarks.comparison.report import table
from benchmarks.comparison.toolkits import ROOT, environment, python_of

ROUNDS: Final = 9

STATEMENTS: Final = {
    "toolwire": "from toolkit import Agent, Tool",
    "agent_framework": "from agent_framework import Agent, tool",
    "agno": "from agno.agent import Agent",
    "haystack": "from haystack.components.agents import Agent; from haystack.tools import tool",
    "strands": "from strands import Agent, tool",
    "openai_agents": "from agents import Agent, Runner, function_tool",
    "langchain": "from langchain.agents import create_agent",
    "pydantic_ai": "from pydantic_ai import Agent",
    "google_adk": "from google.adk.agents import LlmAgent; from google.adk.runners import InMemoryRunner",
    "smolagents": "from smolagents import ToolCallingAgent, tool",
    "llama_index": "from llama_index.core.agent.workflow import FunctionAgent",
}
"""What stands at the top of a program with an agent."""

INJECTED: Final = "from toolkit import Agent, Tool; from toolkit.injection import application"

_MEASURED: Final = """
import asyncio, os, sys, time
began = time.process_time()
{statement}
took = time.process_time() - began
resident = [int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS")][0] / 1024
os.write(1, f"{{took * 1e3}} {{resident}} {{len(sys.modules)}}".encode())
os._exit(0)
"""

_FIRST_ANSWER: Final = """
from importlib import import_module
ADAPTER = import_module("benchmarks.comparison.adapters.{adapter}").ADAPTER("")
async def first():
    agent = await ADAPTER.build(LOAD.task)
    playing.set(Progress(LOAD.turns))
    assert ANSWER in await ADAPTER.run(agent, None)
asyncio.run(first())
"""

_HARNESS: Final = """
from benchmarks.comparison.script import ANSWER, Progress, playing
from benchmarks.comparison.workloads import WORKLOADS
LOAD = WORKLOADS["W1"]()
"""
"""Imported before the clock starts."""


def main() -> None:
    toolkits = ["toolwire", *sys.argv[1:]]
    programs: dict[tuple[str, str], Callable[[], list[float]]] = {
        ("toolwire", "asyncio alone"): _of("toolwire", "pass")
    }
    programs["toolwire", "import toolkit"] = _of("toolwire", "import toolkit")
    for toolkit in toolkits:
        programs[toolkit, STATEMENTS[toolkit]] = _of(toolkit, STATEMENTS[toolkit])
    programs["toolwire", INJECTED] = _of("toolwire", INJECTED)
    for toolkit in toolkits:
        programs[toolkit, "the first answer"] = _of(toolkit, _FIRST_ANSWER.format(adapter=toolkit), _HARNESS)
    print(table(["", "of", "CPU ms beyond asyncio", "lowest", "MB resident", "modules"], _rows(programs)))


def _of(toolkit: str, statement: str, before: str = "") -> Callable[[], list[float]]:
    program = before + _MEASURED.format(statement=statement.strip())

    def measured() -> list[float]:
        done = subprocess.run(
            [python_of(toolkit), "-c", program],
            cwd=ROOT,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"{toolkit}: {done.stderr}")
        return [float(number) for number in done.stdout.split()]

    return measured


def _rows(programs: dict[tuple[str, str], Callable[[], list[float]]]) -> list[Sequence[str]]:
    samples: dict[tuple[str, str], list[list[float]]] = {key: [] for key in programs}
    for number in range(ROUNDS + 1):
        for key, measured in programs.items():
            found = measured()
            if number:  # the first round only warms the disk's cache
                samples[key].append(found)
    rows: list[Sequence[str]] = []
    for (toolkit, what), found in samples.items():
        cpu, resident, modules = zip(*found, strict=True)
        numbers = f"{statistics.median(cpu):.1f}", f"{min(cpu):.1f}", f"{statistics.median(resident):.1f}"
        rows.append([what, toolkit, *numbers, f"{modules[0]:.0f}"])
    return rows


if __name__ == "__main__":
    main()
