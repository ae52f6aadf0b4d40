"""The examples run, offline, and print what they say they print."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from tests.offline import refuse_connections

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


def expected_output(source: str) -> str:
    """The comment at the end of an example, below `# prints:`."""
    _, marker, below = source.partition("\n# prints:\n")
    assert marker, "an example ends with the comment `# prints:` and what it prints"
    return re.sub(r"^# ?", "", below, flags=re.MULTILINE)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_prints_what_it_says(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_connections(monkeypatch)

    runpy.run_path(str(path), run_name="__main__")

    assert capsys.readouterr().out == expected_output(path.read_text())


def test_the_examples_are_numbered_in_reading_order() -> None:
    assert [path.name[:2] for path in EXAMPLES] == [f"{number:02}" for number in range(1, len(EXAMPLES) + 1)]
    assert len(EXAMPLES) >= 4
