"""jsonschema-rs decides and jsonschema words: they agree, or differ only in the ways that are listed here.

The official suite is not part of this repository. `make suite` fetches it with the sources of `jsonschema` 4.26.0 and
names its folder in JSON_SCHEMA_TEST_SUITE.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema_specifications import REGISTRY

from tests.tools.compiling import DRAFT_7, DRAFT_2020, compiled
from toolkit.errors import ConfigurationError
from toolkit.tools.violations import MAX_TEXT, text_of

STOCK = {"draft2020-12": jsonschema.Draft202012Validator, "draft7": jsonschema.Draft7Validator}
DIALECTS = {"draft2020-12": DRAFT_2020, "draft7": DRAFT_7}


# Over schemas and values made up

names = st.sampled_from(["a", "b", "c"])
scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 1.0, "", "a", "ab", "b1"])
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=8
)
counts = st.integers(0, 3)
types = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])


def schemas_over(inner: st.SearchStrategy[Any], references: tuple[str, ...] = ()) -> st.SearchStrategy[Any]:
    named = st.dictionaries(names, inner, max_size=2)
    several = st.lists(inner, min_size=1, max_size=3)
    keywords: dict[str, st.SearchStrategy[Any]] = {
        "type": types | st.lists(types, min_size=1, max_size=3, unique=True),
        "enum": st.lists(values, min_size=1, max_size=3),
        "const": values,
        "minimum": st.integers(-2, 2),
        "exclusiveMaximum": st.integers(-2, 2),
        "multipleOf": st.sampled_from([1, 2, 0.5]),
        "minLength": counts,
        "maxLength": counts,
        "pattern": st.sampled_from(["^a", "b", "[0-9]"]),
        "items": inner,
        "prefixItems": several,
        "contains": inner,
        "minContains": counts,
        "maxContains": counts,
        "uniqueItems": st.booleans(),
        "minItems": counts,
        "maxItems": counts,
        "properties": named,
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "[bc]"]), inner, max_size=2),
        "additionalProperties": inner,
        "propertyNames": inner,
        "required": st.lists(names, max_size=2, unique=True),
        "dependentRequired": st.dictionaries(names, st.lists(names, max_size=2, unique=True), max_size=1),
        "dependentSchemas": named,
        "minProperties": counts,
        "maxProperties": counts,
        "allOf": several,
        "anyOf": several,
        "oneOf": several,
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
        "unevaluatedProperties": inner,
        "unevaluatedItems": inner,
    }
    if references:
        keywords["$ref"] = st.sampled_from(references)
    return st.lists(st.sampled_from(sorted(keywords)), min_size=1, max_size=4, unique=True).flatmap(
        lambda chosen: st.fixed_dictionaries({keyword: keywords[keyword] for keyword in chosen})
    )


def parts_with(*references: str) -> st.SearchStrategy[Any]:
    return st.recursive(st.booleans(), lambda inner: schemas_over(inner, references), max_leaves=6)


# `x` refers to `y`, and neither in a circle: on those jsonschema ends in a RecursionError, and jsonschema-rs does not.
schemas = st.tuples(
    schemas_over(parts_with("#/$defs/x", "#/$defs/y"), ("#/$defs/x",)), parts_with("#/$defs/y"), parts_with()
).map(lambda made: {**made[0], "$defs": {"x": made[1], "y": made[2]}})


def stock_verdict(validator: Any, value: Any) -> bool | str:
    try:
        return bool(validator.is_valid(value))
    except re.error:  # named otherwise from Python 3.13 on
        return "error"
    except Exception as error:
        return type(error).__name__


@settings(derandomize=True, max_examples=250, deadline=None)
@given(schemas, st.lists(values, min_size=3, max_size=6))
def test_both_say_the_same_of_schemas_and_values_made_up(schema: dict[str, Any], instances: list[Any]) -> None:
    rust = compiled(schema)
    python = compiled(schema, "python")
    stock = jsonschema.Draft202012Validator(schema, registry=REGISTRY)

    for value in instances:
        expected = stock_verdict(stock, value)
        assert rust.is_valid(value) is expected
        assert python.is_valid(value) is expected


@settings(derandomize=True, max_examples=250, deadline=None)
@given(schemas, st.lists(values, min_size=3, max_size=6))
def test_whatever_is_refused_is_worded_and_nothing_else(schema: dict[str, Any], instances: list[Any]) -> None:
    validator = compiled(schema)

    for value in instances:
        found = validator.violations(value)

        assert bool(found) is not validator.is_valid(value)
        assert all(each.path.startswith("$") and each.message for each in found)
        assert "does not meet the schema" not in text_of(found)  # the last resort, for want of words
        assert len(text_of(found)) <= MAX_TEXT
        assert found == validator.violations(value)


# Where they differ, and why

DIFFERENCES: dict[str, str] = {
    "pattern": r"Python's `\d`, `\w` and `\s` follow Unicode otherwise than ECMA 262 does",
    "pattern that Python can't read": r"`\p{...}` and `\c` are unknown to Python's `re`",
    "dependencies": "jsonschema-rs still honours the keyword of draft 7 in 2020-12; jsonschema ignores it",
    "content": "jsonschema-rs checks contentEncoding and contentMediaType in drafts 6 and 7; jsonschema does not",
}
REFUSED: dict[str, str] = {
    "remote": "the reference leads to a server; the suite would serve it, and here nothing is fetched",
    "dialect": "`$schema` names a dialect of the suite's own",
}


@pytest.mark.parametrize(
    ("schema", "value", "rust", "stock"),
    [
        pytest.param({"pattern": r"^[A-Z]+-\d+$"}, "SUP-481\n", False, True, id="$ before a last line break"),
        pytest.param({"pattern": r"^\d+$"}, "٤٨١", False, True, id="digits of other scripts"),
        pytest.param({"pattern": r"^\p{L}+$"}, "Zürich", True, "error", id="Unicode classes"),
        pytest.param({"multipleOf": 0.01}, 19.99, True, False, id="decimals"),
        pytest.param({"$schema": DRAFT_7, "contentEncoding": "base64"}, "!", False, True, id="content of draft 7"),
        pytest.param({"dependencies": {"a": ["b"]}}, {"a": 1}, False, True, id="dependencies in 2020-12"),
    ],
)
def test_the_known_differences_are_still_there(
    schema: dict[str, Any], value: Any, rust: bool, stock: bool | str
) -> None:
    validator = compiled(schema)
    other = STOCK["draft7" if "$schema" in schema else "draft2020-12"](schema, registry=REGISTRY)

    assert validator.is_valid(value) is rust
    assert stock_verdict(other, value) == stock
    assert bool(validator.violations(value)) is not rust


def folder_of_the_suite() -> Path:
    folder = os.environ.get("JSON_SCHEMA_TEST_SUITE")
    if not folder:
        pytest.skip("JSON_SCHEMA_TEST_SUITE does not name the folder of the official suite; `make suite` fetches it")
    return Path(folder)


def cases(draft: str) -> Iterator[tuple[str, dict[str, Any], list[dict[str, Any]]]]:
    """File, schema and tests. Formats are annotations here, so the tests that want them asserted are left out."""
    for file in sorted((folder_of_the_suite() / "tests" / draft).rglob("*.json")):
        if file.parent.name != "format" and file.stem != "format-assertion":
            for case in json.loads(file.read_text(encoding="utf-8")):
                if isinstance(case["schema"], dict):
                    yield file.stem, {"$schema": DIALECTS[draft], **case["schema"]}, case["tests"]


def kind_of_refusal(text: str) -> str:
    return "remote" if "lies outside this schema" in text else "dialect" if "is not a dialect known" in text else text


def kind_of_difference(file: str, schema: dict[str, Any], stock: bool | str) -> str:
    if file == "ecmascript-regex":
        return "pattern" if isinstance(stock, bool) else "pattern that Python can't read"
    if "dependencies" in schema and schema["$schema"] == DRAFT_2020:
        return "dependencies"
    return "content" if file == "content" else f"{file}: {json.dumps(schema)}"


@pytest.mark.parametrize(
    ("draft", "agreed", "differing", "refused"),
    [
        pytest.param(
            "draft2020-12",
            1_297,
            {"pattern": 14, "pattern that Python can't read": 18, "dependencies": 14},
            {"remote": 45, "dialect": 5},
            id="draft 2020-12",
        ),
        pytest.param(
            "draft7",
            952,
            {"pattern": 14, "pattern that Python can't read": 18, "content": 4},
            {"remote": 25},
            id="draft 7",
        ),
    ],
)
def test_both_say_the_same_of_the_official_suite(
    draft: str, agreed: int, differing: dict[str, int], refused: dict[str, int]
) -> None:
    wrong: list[str] = []
    same = 0
    different: Counter[str] = Counter()
    refusals: Counter[str] = Counter()
    for file, schema, tests in cases(draft):
        try:
            validator = compiled(schema)
        except ConfigurationError as error:
            refusals[kind_of_refusal(str(error))] += len(tests)
            continue
        other = STOCK[draft](schema, registry=REGISTRY)
        for test in tests:
            verdict = validator.is_valid(test["data"])
            stock = stock_verdict(other, test["data"])
            if verdict is not test["valid"] or bool(validator.violations(test["data"])) is verdict:
                wrong.append(f"{file}: {test['description']}")
            if verdict is stock:
                same += 1
            else:
                different[kind_of_difference(file, schema, stock)] += 1

    assert wrong == []  # jsonschema-rs says what the suite says, always, and what it refuses has words
    assert different == differing
    assert refusals == refused
    assert same == agreed
    assert different.keys() <= DIFFERENCES.keys()
    assert refusals.keys() <= REFUSED.keys()
