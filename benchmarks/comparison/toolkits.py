"""Which toolkits are compared, and where each is installed: `make .venv-bench/agno/.ready` makes a venv for one."""

from __future__ import annotations

import os
from importlib.metadata import PathDistribution
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
VENVS: Final = ROOT / ".venv-bench"
REQUIREMENTS: Final = Path(__file__).parent / "requirements"

BASE: Final = "floor:jsonschema_rs"
"""What ratios are made against: a loop by hand that checks arguments with what Toolwire checks them with."""

FLOORS: Final = ("floor:none", "floor:jsonschema", BASE, "floor:jsonschema_rs+di", "floor_full")
OURS: Final = ("toolwire", "toolwire:hooks", "toolwire:everything")
FASTEST: Final = ("agent_framework", "agno", "haystack")
"""Of the ten, in the first comparison."""

WITH_HOOKS: Final = tuple(f"{peer}:hooks" for peer in FASTEST)
OTHERS: Final = ("strands", "openai_agents", "langchain", "pydantic_ai", "google_adk", "smolagents", "llama_index")
PEERS: Final = FASTEST + OTHERS

VARIED: Final = ("W1", "W2", "W3_20")
"""The workloads of the variants of this toolkit and of peers: `toolwire:hooks`, `agno:hooks`."""

QUIET: Final = {
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "AGNO_TELEMETRY": "false",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "OTEL_SDK_DISABLED": "true",
    "PYTHONHASHSEED": "0",
    "PYTHONPATH": str(ROOT),
}
"""The peers' own telemetry stays off."""


def toolkit_of(adapter: str) -> str:
    """The toolkit whose venv an adapter needs; the floors use what Toolwire is installed with."""
    name = adapter.partition(":")[0]
    return "toolwire" if name.startswith("floor") else name


def is_variant(adapter: str) -> bool:
    """Whether it is a toolkit with hooks or everything on, and no plain one or a floor."""
    return ":" in adapter and not adapter.startswith("floor")


def python_of(adapter: str) -> Path:
    """The interpreter of the adapter's venv."""
    return VENVS / toolkit_of(adapter) / "bin" / "python"


def environment() -> dict[str, str]:
    """Environment variables for a measured process, which keeps its bytecode as an installed one does."""
    return {name: text for name, text in {**os.environ, **QUIET}.items() if name != "PYTHONDONTWRITEBYTECODE"}


def versions_of(adapter: str) -> dict[str, str]:
    """What is installed in an adapter's venv: versions by distribution."""
    site = next((VENVS / toolkit_of(adapter) / "lib").glob("python*/site-packages"))
    found = [PathDistribution(folder) for folder in site.glob("*.dist-info")]
    return {each.metadata["Name"].lower().replace("_", "-"): each.version for each in found}


def requirements_of(toolkit: str) -> list[str]:
    """What its venv was asked for, such as `agno==3.1.10`."""
    return (REQUIREMENTS / f"{toolkit}.txt").read_text().split("\n")[:-1]
