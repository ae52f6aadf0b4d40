"""Where jsonschema-rs is missing, jsonschema does both, and patterns are kept from hanging."""

from __future__ import annotations

import sys

import pytest

from tests.tools.compiling import (
    compiled,
    refusal,
    words,
)
from toolkit.tools.validation.patterns import may_explode, python_pattern
from toolkit.tools.violations import Violation


def test_jsonschema_does_both_where_the_other_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)

    validator = compiled({"properties": {"city": {"type": "string"}, "code": {"pattern": r"^[A-Z]-\d$"}}})

    assert validator.is_valid({"city": "Oslo", "code": "A-1"})
    assert validator.violations({"city": 1}) == [Violation("$.city", "1 is not of type 'string'")]
    assert "install 'jsonschema-rs'" in refusal({"properties": {"x": {"pattern": "^(a+)+$"}}})


def test_long_strings_are_kept_from_pythons_patterns() -> None:
    validator = compiled({"pattern": "a"}, "python")

    assert validator.is_valid("b" * 999 + "a")
    assert words({"pattern": "a"}, "a" * 1_001, "python") == [
        "$: a string of over 1,000 characters can't be matched here against 'a'"
    ]


@pytest.mark.parametrize(
    ("pattern", "explodes"),
    [
        ("^(a+)+$", True),
        ("(a*)*", True),
        ("(?:a|b)*c", True),
        ("((a{2,})b){3}", True),
        ("(ab?)+", True),
        ("((a+))*", True),
        ("(-[a-z]+)*", True),
        ("(?<name>a+)*", True),
        ("^(a+)+", True),
        (r"(\d+,)*", True),
        ("^a+$", False),
        ("^[a-z]+-[a-z]+$", False),
        ("(abc)+", False),
        ("(a+)?", False),
        ("(a|b)", False),
        ("a{2,5}", False),
        ("[(+)*]+", False),
        (r"\(a+\)*", False),
        ("(?:http|https)://x", False),
        ("(?=a+)b", False),
        ("[^)]+(x)*", False),
        ("(a+)b*", False),
        ("(a)(b+)", False),
    ],
)
def test_patterns_that_can_make_python_hang_are_known(pattern: str, explodes: bool) -> None:
    assert may_explode(pattern) is explodes


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("^a$", "a", "a\n"),
        (r"^\$$", "$", "\\"),
        ("^[$]$", "$", "$\n"),
        (r"^[\]$]$", "$", "a"),
        (r"^\d\w$", "1a", "١é"),
        ("a|b$", "xb", "b\n"),
    ],
)
def test_pythons_patterns_are_read_as_ecmas(pattern: str, matching: str, other: str) -> None:
    assert python_pattern(pattern).search(matching)
    assert not python_pattern(pattern).search(other)
