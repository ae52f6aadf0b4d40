"""Refusing a big value takes few steps and few words, whatever the schema."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.tools.compiling import (
    compiled,
    words,
)
from toolkit.tools.violations import MAX_TEXT, MAX_VIOLATIONS, Violation, text_of

MANY = 10_000
ROW = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
    "required": ["id", "name"],
    "additionalProperties": False,
}
TABLE = {"type": "object", "properties": {"rows": {"type": "array", "items": ROW}}}


def table(bad: Callable[[int], bool]) -> dict[str, Any]:
    return {"rows": [{"id": "x" if bad(row) else row, "name": f"row {row}"} for row in range(MANY)]}


CHOICES = [
    {"properties": {name: {"type": "string"} for name in "xyz"}, "required": [f"choice {number}"]}
    for number in range(100)
]
BIG: list[Any] = [
    pytest.param(TABLE, table(lambda row: row == MANY - 1), id="one bad row, the last"),
    pytest.param(TABLE, table(lambda row: True), id="all rows are bad"),
    pytest.param(
        {"properties": {"rows": {"items": {"anyOf": [{"type": "string"}, {"required": ["z"]}]}}}},
        table(lambda row: False),
        id="a choice in each row",
    ),
    pytest.param(
        {"properties": {"rows": {"anyOf": [{"items": {"type": "string"}}, {"items": {"required": ["z"]}}]}}},
        table(lambda row: False),
        id="a choice of tables",
    ),
    pytest.param(
        {"properties": {"rows": {"maxItems": 3, "uniqueItems": True}}},
        {"rows": [*table(lambda row: False)["rows"], {"id": 0, "name": "row 0"}]},
        id="not unique",
    ),
    pytest.param(
        {"additionalProperties": {"type": "integer"}},
        {f"k{row}": row if row else "x" for row in reversed(range(MANY))},
        id="one bad member, the last",
    ),
    pytest.param({"additionalProperties": False}, {f"k{row}": row for row in range(MANY)}, id="10,000 unexpected"),
    pytest.param({"unevaluatedProperties": False}, {f"k{row}": row for row in range(MANY)}, id="10,000 unevaluated"),
    pytest.param(
        {"unevaluatedItems": False, "contains": {"type": "integer"}},
        list(map(str, range(MANY))),
        id="10,000 unevaluated items",
    ),
    pytest.param(
        {"patternProperties": {"^k": {"type": "integer"}}},
        {f"k{row}": row if row else "x" for row in reversed(range(MANY))},
        id="one bad pattern",
    ),
    pytest.param({"items": {"enum": list(range(5_000))}}, ["x"] * MANY, id="a huge enum, 10,000 times"),
    pytest.param(
        {"properties": {"rows": {"contains": {"required": ["z"]}}}}, table(lambda row: False), id="contains nothing"
    ),
    pytest.param({"items": {"pattern": "^(a+)+$"}}, ["a" * 100 + "!"] * 50, id="a pattern that makes Python hang"),
    pytest.param(
        {"patternProperties": {"^(a+)+$": {}}, "unevaluatedProperties": False},
        {"a" * 100 + "!": 1},
        id="such a pattern of names",
    ),
    pytest.param({"propertyNames": {"pattern": "^(a+)+$"}}, {"a" * 100 + "!": 1}, id="such a pattern for names"),
    pytest.param(
        {"propertyNames": {"maxLength": 4}},
        {f"{row:04}": row for row in range(MANY)} | {"long name": 1},
        id="one bad name, the last",
    ),
    pytest.param({"items": {"anyOf": CHOICES}}, [{"z": 1}] * MANY, id="many choices, many times"),
    pytest.param({"type": "object"}, "x" * 1_000_000, id="a megabyte"),
    pytest.param(
        {"type": "object", "properties": {"x": {"allOf": [{"enum": ["a"]}] * 30}}},
        {"x": "y" * 100_000},
        id="long and often",
    ),
]


def counted(work: Callable[[], Any]) -> tuple[Any, int]:
    """What the work gives, and how many calls of functions it took: they measure it alike on a slow machine."""
    steps = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal steps
        steps += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        made = work()
    finally:
        sys.setprofile(before)
    return made, steps


@pytest.mark.parametrize(("schema", "value"), BIG)
def test_a_big_value_is_worded_in_few_steps_and_few_words(schema: dict[str, Any], value: Any) -> None:
    validator = compiled(schema)
    validator.violations(0 if isinstance(value, dict) else {})  # what is made once, for all refusals

    found, steps = counted(lambda: validator.violations(value))

    assert found
    assert len(found) <= MAX_VIOLATIONS
    assert len(text_of(found)) <= MAX_TEXT
    assert steps < 300_000


def test_the_last_of_ten_thousand_rows_is_found_and_named() -> None:
    assert words(TABLE, table(lambda row: row == MANY - 1)) == ["$.rows[9999].id: 'x' is not of type 'integer'"]


def test_it_is_said_when_not_all_was_looked_at() -> None:
    found = compiled({"items": {"anyOf": CHOICES}}).violations([{"z": 1}] * MANY)

    assert [each.path for each in found[:3]] == ["$[0]", "$[1]", "$[2]"]
    assert found[-1] == Violation("$", "there may be more: the check of so much was ended early")


def test_violations_that_are_not_listed_are_spoken_of() -> None:
    found = compiled(TABLE).violations(table(lambda row: True))
    few = compiled({"items": {"type": "integer"}}).violations(["x" * 290] * 20)

    assert [each.path for each in found] == [f"$.rows[{row}].id" for row in range(MAX_VIOLATIONS)]
    assert text_of(found).endswith("; and at least 7 more")
    assert text_of(few).count("is not of type") == 14
    assert text_of(few).endswith("; and 6 more")


def test_a_long_value_does_not_push_the_reason_out_of_the_text() -> None:
    (found,) = compiled({"type": "array", "items": {}, "maxItems": 2}).violations(["word"] * 500)
    (other,) = compiled({"enum": [f"option {number}" for number in range(5_000)]}).violations("long " * 1_000)

    assert text_of([found]).endswith("'word'] is too long")
    assert "is not one of ['option 0'" in text_of([other])
    assert text_of([other]).endswith("and 4,950 more")
