"""mypy and pyright both report a misspelt, missing or wrongly typed argument of `provide`, and nothing else."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).with_name("typed_wiring.py")


def wrong_lines() -> set[int]:
    lines = FILE.read_text().splitlines()
    return {number for number, line in enumerate(lines, 1) if line.endswith("# wrong")}


def told_by(*checker: str) -> str:
    command = [sys.executable, "-m", *checker, str(FILE.relative_to(ROOT))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def lines_told_by_mypy(*flags: str) -> set[int]:
    return {int(line) for line in re.findall(rf"{FILE.name}:(\d+): error", told_by("mypy", *flags, "--no-pretty"))}


def lines_told_by_strict_mypy() -> set[int]:
    return lines_told_by_mypy("--strict", "--cache-dir=.mypy_cache/strict")  # its errors must not be told elsewhere


def lines_told_by_plain_mypy() -> set[int]:
    """As a newcomer runs it, with no settings at all."""
    return lines_told_by_mypy("--config-file=", "--cache-dir=.mypy_cache/plain")


def lines_told_by_pyright() -> set[int]:
    """With the settings of this project, which are strict."""
    told = json.loads(told_by("pyright", "--outputjson", "--pythonpath", sys.executable))["generalDiagnostics"]
    return {entry["range"]["start"]["line"] + 1 for entry in told if entry["severity"] == "error"}


def test_the_file_has_wrong_lines_of_each_kind() -> None:
    assert len(wrong_lines()) == 22


@pytest.mark.parametrize("lines_told", [lines_told_by_strict_mypy, lines_told_by_plain_mypy, lines_told_by_pyright])
def test_a_type_checker_reports_exactly_the_wrong_lines(lines_told: Callable[[], set[int]]) -> None:
    assert lines_told() == wrong_lines()
