"""The page of security: each statement names the tests that show it, and they exist."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import ROOT, assert_is_a_test, named_tests

PAGE = ROOT / "docs" / "security.md"
TABLES = re.findall(r"^\| What holds \| Shown by \|\n\|---\|---\|\n((?:\|.*\n)+)", PAGE.read_text(), re.MULTILINE)
STATEMENTS = [row for table in TABLES for row in table.splitlines()]


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda row: row.split("|")[1].strip())
def test_a_statement_names_tests_that_exist(statement: str) -> None:
    _, said, shown, _ = statement.split("|")

    tests = named_tests(shown)
    assert said.strip().endswith(".")
    assert tests
    assert shown.strip() == "; ".join(f"`{test}`" for test in tests)
    for test in tests:
        assert_is_a_test(test)


def test_every_table_of_the_page_is_read() -> None:
    assert PAGE.read_text().count("| What holds |") == len(TABLES) > 0
