"""The page of scenarios: each row names a test that exists, or says why there is none."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import ROOT, assert_is_a_test, named_tests

PAGE = ROOT / "docs" / "scenarios.md"
ROWS = [
    [cell.strip() for cell in line.strip().strip("|").split("|")]
    for line in PAGE.read_text().splitlines()
    if re.match(r"\| *\d", line)
]
NAMED = sorted(set(named_tests(PAGE.read_text())))


@pytest.mark.parametrize("named", NAMED)
def test_a_test_that_is_named_exists(named: str) -> None:
    assert_is_a_test(named)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_each_row_is_short_and_says_what_shows_it(row: list[str]) -> None:
    _, met, shown = row

    assert 0 < len(met.split()) <= 12
    assert shown != ""


def test_the_rows_stand_in_order_and_none_twice() -> None:
    numbers = [int(row[0]) for row in ROWS]

    assert numbers == sorted(set(numbers))
    assert len(numbers) > 0
