"""What type checkers see of tools: a function keeps its own types, and mistakes are found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools import typed_tools
from toolkit import definition
from toolkit.tools.protocol import OPTIONAL_MEMBERS, FurtherMembers, OptionalMembers

ROOT = Path(__file__).resolve().parents[2]
CHECKERS = pytest.mark.parametrize(
    "checker",
    [
        pytest.param(["mypy"], id="mypy"),
        pytest.param(["pyright", "--warnings", "--pythonpath", sys.executable], id="pyright"),
    ],
)

MISTAKES = """
from tests.tools.typed_tools import PerInstance, WeatherTool, add, takes_tool
from toolkit import FunctionTool, Tool, tool

add("1")
add(1, c=2)
WeatherTool("client")
PerInstance()
takes_tool("weather")
tool(timout=3)
tool(needs_approval="yes")
tool(timeout="3")
tool(exclusive=None)
tool(max_result_tokens=0.5)
tool(on_before_call=lambda ctx: None)
tool(on_after_call="deny")
tool(available_if=True)
Tool.define(name="t", description="Do it.", handler=print, need_approval=True)
Tool.define(name="t", description="Do it.", handler=print, run_in_thread="no")
FunctionTool(print, "t", "Do it.", exclusiv=True)
"""


def checked(checker: list[str], path: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", *checker, str(path)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)


@CHECKERS
def test_a_strict_checker_reads_tools_as_they_are_written(checker: list[str]) -> None:
    ended = checked(checker, Path(typed_tools.__file__))

    assert ended.returncode == 0, ended.stdout + ended.stderr


@CHECKERS
def test_a_checker_finds_wrong_calls_of_tools(checker: list[str], tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text(MISTAKES)

    ended = checked(checker, wrong)

    for line, mistake in enumerate(MISTAKES.splitlines(), 1):
        if mistake and not mistake.startswith("from "):
            assert f"wrong.py:{line}:" in ended.stdout, f"nothing is said of {mistake!r}"


def test_checkers_know_the_members_that_there_are() -> None:
    assert sorted(OptionalMembers.__annotations__) == sorted(OPTIONAL_MEMBERS)
    assert sorted(FurtherMembers.__annotations__) == sorted({*OPTIONAL_MEMBERS} - {"input_schema"})


def test_the_tools_that_checkers_read_are_tools_at_run_time() -> None:
    described = definition(typed_tools.WeatherTool)

    assert described.name == "get_weather"
    assert described.description == "Get the current weather of a city."
    assert described.input_schema == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": 'City name, such as "Paris".'},
            "units": {
                "type": "string",
                "enum": ["metric", "imperial"],
                "default": "metric",
                "description": "Unit system of the answer.",
            },
        },
        "required": ["city"],
        "additionalProperties": False,
    }
