"""The page of scenarios: each row names a test that exists, or says why there is none, and no number is left out."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import ROOT, assert_is_a_test, named_tests
from tests.shared_files import shared

PAGE = ROOT / "docs" / "scenarios.md"
ROWS = [
    [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in PAGE.read_text().splitlines()
    if re.match(r"\| *F?\d", line)
]
REPORTS = [int(row[0]) for row in ROWS if not row[0].startswith("F")]
CHECKS = [int(row[0][1:]) for row in ROWS if row[0].startswith("F")]
NAMED = sorted(set(named_tests(PAGE.read_text())))


@pytest.mark.parametrize("named", NAMED)
def test_a_test_that_is_named_exists(named: str) -> None:
    assert_is_a_test(named)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_each_row_is_short_and_says_what_shows_it(row: list[str]) -> None:
    _, met, shown = row

    assert 0 < len(met.split()) <= 12
    assert re.match(r"`tests/|(Partly|Otherwise here|Later|Out of scope): ", shown)
    assert named_tests(shown) or shown.startswith(("Later: ", "Out of scope: "))


def test_the_rows_stand_in_order_and_none_twice() -> None:
    assert len(ROWS) == len(REPORTS) + len(CHECKS)
    for numbers in (REPORTS, CHECKS):
        assert numbers == sorted(set(numbers))
        assert len(numbers) > 0


def test_every_report_of_the_collection_has_its_row() -> None:
    collection = shared("reference/scenarios.md").read_text()

    assert [int(number) for number in re.findall(r"^\| (\d+) \|", collection, re.MULTILINE)] == REPORTS


def test_every_check_of_the_forebears_has_its_row() -> None:
    _, _, checks = shared("reference/forebears.md").read_text().partition("\n## C3. ")

    numbers = re.findall(r"(?:^|(?<=\. ))(\d+)\. (?!Acceptance)", checks, re.MULTILINE)
    assert [int(number) for number in numbers] == CHECKS
