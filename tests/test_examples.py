"""The examples run, offline, and print what they say they print. One that holds tests is run by pytest."""

from __future__ import annotations

import contextlib
import re
import runpy
import sys
from pathlib import Path

import pytest

from tests.offline import refuse_connections

pytest_plugins = ["pytester"]

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))
WITH_TESTS = [path for path in EXAMPLES if re.search(r"^(async )?def test_", path.read_text(), re.MULTILINE)]
PROGRAMS = [path for path in EXAMPLES if path not in WITH_TESTS]
FIRST_BUILT_IN = 20


def expected_output(source: str) -> str:
    """The comment at the end of an example, below `# prints:`."""
    _, marker, below = source.partition("\n# prints:\n")
    assert marker, "an example ends with the comment `# prints:` and what it prints"
    return re.sub(r"^# ?", "", below, flags=re.MULTILINE)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_an_example_prints_what_it_says(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_connections(monkeypatch)
    monkeypatch.setattr(sys, "argv", [str(path)])

    with contextlib.suppress(SystemExit):  # how a command line ends; what it prints tells whether well
        runpy.run_path(str(path), run_name="__main__")

    assert capsys.readouterr().out == expected_output(path.read_text())


@pytest.mark.parametrize("path", WITH_TESTS, ids=lambda path: path.name)
def test_the_tests_of_an_example_pass(path: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_connections(monkeypatch)

    outcomes = pytester.runpytest_inprocess("-p", "no:cacheprovider", path).parseoutcomes()

    told = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.items())
    assert f"{told}\n" == expected_output(path.read_text())


def test_the_examples_are_numbered_in_reading_order_and_those_of_built_in_tools_come_after_them() -> None:
    numbers = [int(path.name[:2]) for path in EXAMPLES]
    first_steps = [number for number in numbers if number < FIRST_BUILT_IN]

    assert first_steps == list(range(1, len(first_steps) + 1))
    assert len(first_steps) >= 10
    assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_is_short_and_says_first_what_it_shows(path: Path) -> None:
    lines = path.read_text().splitlines()

    assert len(lines) < 60
    assert re.match(r'"""[A-Z].*\w', lines[0])
