"""What a model sends as arguments is read strictly: all of it, or an error that says what is wrong and where."""

from __future__ import annotations

import json
import sys
import traceback
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolkit.tools.arguments import MAX_DEPTH, parse_arguments, parse_json, refuse_non_json
from toolkit.tools.violations import InvalidArguments


def refusal(raw: Any) -> str:
    with pytest.raises(InvalidArguments) as caught:
        parse_arguments(raw)
    text = str(caught.value)
    text.encode()  # whatever was sent, the error itself can be sent on
    assert len(text) < 1_000
    return text


# What is accepted


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [
        pytest.param('{"city": "Paris", "days": 3}', {"city": "Paris", "days": 3}, id="text"),
        pytest.param(b'{"city": "Z\xc3\xbcrich"}', {"city": "Zürich"}, id="bytes"),
        pytest.param(' \n{"a": 1}\t\r\n', {"a": 1}, id="blanks around it"),
        pytest.param('{"a": null}', {"a": None}, id="a null inside is kept"),
        pytest.param(
            '{"at": "12:30", "u": "http://a/:b"}', {"at": "12:30", "u": "http://a/:b"}, id="colons in strings"
        ),
        pytest.param('{":": {":a": ["::", {":": 1}]}}', {":": {":a": ["::", {":": 1}]}}, id="colons in keys"),
        pytest.param(r'{"a": "\u003a", "b": {"c": "\u003A:"}}', {"a": ":", "b": {"c": "::"}}, id="escaped colons"),
        pytest.param('{"a": {"b": 1}, "c": {"b": 1}}', {"a": {"b": 1}, "c": {"b": 1}}, id="one key in two objects"),
        pytest.param(r'{"a": "\ud83d\ude00"}', {"a": "😀"}, id="a pair of surrogates is a character"),
        pytest.param('{"a": 1e308, "b": 1e-999}', {"a": 1e308, "b": 0.0}, id="large and tiny numbers"),
        pytest.param('{"a": 5.0}', {"a": 5.0}, id="a whole float stays a float"),
        pytest.param('{"a": "NaN", "b": "[1]"}', {"a": "NaN", "b": "[1]"}, id="strings stay strings"),
        pytest.param(r'{"a": "line1\nline2"}', {"a": "line1\nline2"}, id="an escaped line break"),
        pytest.param('{"a": ' + "9" * 4_300 + "}", {"a": int("9" * 4_300)}, id="4,300 digits"),
        pytest.param('{"a": -' + "9" * 4_300 + "}", {"a": -int("9" * 4_300)}, id="4,300 digits and a sign"),
    ],
)
def test_json_objects_are_read_as_they_are(raw: Any, arguments: dict[str, Any]) -> None:
    parsed = parse_arguments(raw)

    assert parsed == arguments
    assert json.dumps(parsed) == json.dumps(arguments)  # 5 and 5.0 are equal in Python


@pytest.mark.parametrize("raw", ["", " ", "\n\t ", "null", " null ", b"", b" \n", b"null", None, {}], ids=repr)
def test_blank_text_null_and_none_are_no_arguments(raw: Any) -> None:
    assert parse_arguments(raw) == {}


# What is refused


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        pytest.param('{"a": NaN, "b": "Infinity"}', "$.a: NaN is not JSON", id="NaN"),
        pytest.param('{"a": [1, Infinity]}', "$.a[1]: Infinity is not JSON", id="Infinity"),
        pytest.param('{"a": {"x-y": -Infinity}}', "$.a['x-y']: -Infinity is not JSON", id="-Infinity"),
        pytest.param('{"a": 1e400}', "$.a: the number 1e400 is too large (it overflows to infinity)", id="overflow"),
        pytest.param('{"a": [-1E999]}', "$.a[0]: the number -1E999 is too large", id="negative overflow"),
        pytest.param('{"a": ' + "9" * 4_301 + "}", "$.a: the integer has more than 4,300 digits", id="4,301 digits"),
        pytest.param('{"a": -' + "9" * 5_000 + "}", "$.a: the integer has more than 4,300 digits", id="-5,000 digits"),
        pytest.param('{"a": 1, "a": 2}', "$.a: the key 'a' is repeated", id="a repeated key"),
        pytest.param('{"a": 1, "a": 1}', "$.a: the key 'a' is repeated", id="a repeated key with one value"),
        pytest.param(r'{"\u0061": 1, "a": 2}', "$.a: the key 'a' is repeated", id="a repeated key, once escaped"),
        pytest.param('{"a": {"b": [{"c": 1, "c": 2}]}}', "$.a.b[0].c: the key 'c' is repeated", id="repeated, deep"),
        pytest.param('{"a": {"x": 1, "y": 2}, "a": ":"}', "the key 'a' is repeated", id="repeated, other colons"),
        pytest.param(r'{"a": {"b": "\u003a", "b": ":"}}', "the key 'b' is repeated", id="repeated, an escaped colon"),
        pytest.param(r'{"o": {"b": 1, "b": "\u003a"}}', "the key 'b' is repeated", id="repeated, a colon made up for"),
        pytest.param('{"a": ":", "b": {"c": 1, "c": 2}}', "the key 'c' is repeated", id="repeated beside a colon"),
        pytest.param(r'{"a": "\ud83d"}', "$.a: the string holds a lone surrogate", id="a lone high surrogate"),
        pytest.param(r'{"a": ["\udc00x"]}', "$.a[0]: the string holds a lone surrogate", id="a lone low surrogate"),
        pytest.param('{"a": "\udc00"}', "$.a: the string holds a lone surrogate", id="a raw surrogate"),
        pytest.param(r'{"\ud83d": 1}', r"$: the key '\ud83d' holds a lone surrogate", id="a surrogate in a key"),
        pytest.param(b'{"a": "\xff"}', "not UTF-8 text: byte 7 is wrong", id="bytes that are no UTF-8"),
        pytest.param(
            '"{\\"a\\": 1}"', "must be a JSON object, not a string; send the object itself", id="JSON in a string"
        ),
        pytest.param("[1, 2]", "must be a JSON object, not an array", id="an array"),
        pytest.param("[]", "must be a JSON object, not an array", id="an empty array"),
        pytest.param("3", "must be a JSON object, not a number", id="a number"),
        pytest.param("true", "must be a JSON object, not a boolean", id="a boolean"),
        pytest.param([1], "must be a JSON object, not an array", id="a list"),
        pytest.param(3.5, "must be a JSON object, not a number", id="a float"),
        pytest.param(object(), "must be a JSON object, not a value of type object", id="any object"),
    ],
)
def test_what_is_not_an_object_of_json_is_refused_with_its_place(raw: Any, told: str) -> None:
    assert told in refusal(raw)


@pytest.mark.parametrize(
    ("raw", "place", "hint"),
    [
        pytest.param('{"a": 1,}', "line 1, column", "a comma stands only between two entries", id="trailing comma"),
        pytest.param(
            '{"a": [1, ]}', "line 1", "a comma stands only between two entries", id="trailing comma in an array"
        ),
        pytest.param("{'a': 'it'}", "line 1, column 2 (character 1)", "double quotes", id="single quotes"),
        pytest.param("{\"a\": 'x'}", "line 1, column 7 (character 6)", "double quotes", id="single quotes of a value"),
        pytest.param(
            '```json\n{"a": 1}\n```', "line 1, column 1 (character 0)", "without a Markdown fence", id="fence"
        ),
        pytest.param('{"a": 1,\n "b": "x\ny"}', "line 2, column 9 (character 17)", r"written \n", id="raw line break"),
        pytest.param('{"a": "x\ty"}', "line 1, column 9 (character 8)", r"a tab \t", id="raw tab"),
        pytest.param("\ufeff{}", "line 1, column 1 (character 0)", "byte order mark", id="byte order mark"),
        pytest.param('query = """x"""', "line 1, column 1 (character 0)", "near 'query", id="code"),
        pytest.param('{"a": 1} and more', "line 1, column 10 (character 9)", "near", id="text behind it"),
        pytest.param('{"a": 1}{"b": 2}', "line 1, column 9 (character 8)", "near", id="two objects"),
        pytest.param("{a: 1}", "line 1, column 2 (character 1)", "near", id="a key without quotes"),
        pytest.param('{"a": True}', "line 1, column 7 (character 6)", "near", id="Python's True"),
        pytest.param('{"a": 01}', "line 1", "near", id="a leading zero"),
        pytest.param('{"a": 1 /* one */}', "line 1, column 9 (character 8)", "near", id="a comment"),
        pytest.param(r'{"a": "\x41"}', "line 1, column 8 (character 7)", "near", id="an unknown escape"),
    ],
)
def test_what_is_not_json_is_refused_with_its_position_and_never_mended(raw: str, place: str, hint: str) -> None:
    told = refusal(raw)

    assert told.startswith("the arguments are not JSON: ")
    assert place in told
    assert hint in told
    assert "cut off" not in told


@pytest.mark.parametrize("end", range(1, 51))
def test_a_truncated_object_is_said_to_seem_cut_off(end: int) -> None:
    whole = r'{"a": [1, true, -2.5], "b": {"c": "x\u00e9", "d": 1}}'

    told = refusal(whole[:end])

    assert f"the text seems cut off after {end} characters" in told
    assert "line 1, column" in told


def test_an_error_about_a_megabyte_stays_under_a_kilobyte() -> None:
    big = "x" * 1_000_000

    for raw in (
        big,
        f'{{"a": "{big}',
        f'{{"{big}": NaN}}',
        f'{{"{big}": 1, "{big}": 2}}',
        f'["{big}"]',
        f'{{"a": {big}}}',
    ):
        refusal(raw)
    refusal({big: float("nan")})
    refusal('{"a":' * 150 + "NaN" + "}" * 150)


@pytest.mark.parametrize("depth", [MAX_DEPTH, MAX_DEPTH + 1])
@pytest.mark.parametrize("inside", ["1", "[]", '{"key": "x"}'], ids=["a number", "an empty array", "an object"])
@pytest.mark.parametrize("others", [300, 90_000], ids=["among few", "among many"])
def test_depth_is_counted_among_many_brackets_and_in_no_string(depth: int, inside: str, others: int) -> None:
    levels = depth - 1 - (inside != "1")  # of the array in the object
    brackets = json.dumps(["]]}}[[{{\n" + " " * 300] * others)
    text = '{"brackets": ' + brackets + ', "nested": ' + "[" * levels + inside + "]" * levels + "}"

    if depth > MAX_DEPTH:
        assert "nested too deep" in refusal(text)
    else:
        assert parse_arguments(text) == json.loads(text)


@pytest.mark.parametrize(
    "wrap",
    [
        pytest.param(lambda n: '{"x":' + "[" * (n - 1) + "]" * (n - 1) + "}", id="text, arrays"),
        pytest.param(lambda n: '{"x":' * n + "1" + "}" * n, id="text, objects"),
        pytest.param(lambda n: ('{"x":' * n + "1" + "}" * n).encode(), id="bytes"),
        pytest.param(
            lambda n: '{"pad": "' + "[" * 500 + '", "x":' + "[" * (n - 1) + "]" * (n - 1) + "}", id="brackets in text"
        ),
        pytest.param(lambda n: nested_dict(n), id="dict"),
    ],
)
def test_values_may_be_nested_200_deep_and_no_deeper(wrap: Any) -> None:
    assert parse_arguments(wrap(MAX_DEPTH))

    for depth in (MAX_DEPTH + 1, 900):
        assert "nested too deep: at most 200 objects and arrays" in refusal(wrap(depth))


def nested_dict(depth: int) -> dict[str, Any]:
    value: Any = 1
    for _ in range(depth):
        value = {"x": value}
    return value  # type: ignore[no-any-return]  # at least one level


def test_nesting_without_end_is_an_error_and_not_a_crash() -> None:
    endless: dict[str, Any] = {}
    endless["again"] = endless

    assert "nested too deep" in refusal('{"x":' + "[" * 100_000 + "]" * 100_000 + "}")
    assert "nested too deep" in refusal(endless)


@pytest.mark.parametrize("raw", ['{"x":' + "[" * 150 + "]" * 150 + "}", nested_dict(150)], ids=["text", "dict"])
def test_a_stack_that_is_nearly_used_up_is_no_crash(raw: Any) -> None:
    def further_down(frames: int) -> str:
        if frames:
            return further_down(frames - 1)
        try:
            return str(len(parse_arguments(raw)))
        except InvalidArguments as error:
            return str(error)

    depth = len(traceback.extract_stack())

    told = further_down(sys.getrecursionlimit() - depth - 100)

    assert told == "1" or "nested too deep" in told  # C code counts against Python's limit before 3.12 only


# Dicts


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        pytest.param({"a": float("nan")}, "$.a: NaN is not JSON", id="NaN"),
        pytest.param({"a": [float("inf")]}, "$.a[0]: Infinity is not JSON", id="infinity"),
        pytest.param({"a": {"b": -float("inf")}}, "$.a.b: -Infinity is not JSON", id="negative infinity"),
        pytest.param({"a": 10**4_300}, "$.a: the integer has more than 4,300 digits", id="a huge integer"),
        pytest.param({1: 2}, "$: a key is of type int, not a string", id="a key that is no string"),
        pytest.param({"a": {"b": {None: 1}}}, "$.a.b: a key is of type NoneType, not a string", id="such a key, deep"),
        pytest.param({"a": {10**5_000: 1}}, "$.a: a key is of type int", id="a key that can't be printed"),
        pytest.param({"a": (1, 2)}, "$.a: a value of type tuple is not JSON", id="a tuple"),
        pytest.param({"a": [{"b": {1, 2}}]}, "$.a[0].b: a value of type set is not JSON", id="a set"),
        pytest.param({"a": b"x"}, "$.a: a value of type bytes is not JSON", id="bytes"),
        pytest.param({"a-b": object()}, "$['a-b']: a value of type object is not JSON", id="any object"),
        pytest.param({"a": "\ud800"}, "$.a: the string holds a lone surrogate", id="a lone surrogate"),
        pytest.param({"\ud800": 1}, r"$: the key '\ud800' holds a lone surrogate", id="a lone surrogate in a key"),
    ],
)
def test_a_dict_must_hold_json_all_through(raw: Any, told: str) -> None:
    assert told in refusal(raw)


def test_a_dict_is_handed_back_as_it_is() -> None:
    inner = {"b": [1, 2.5, "x", "é", None, True, 10**40]}
    given = {"a": inner, "c": 5.0}

    parsed = parse_arguments(given)

    assert parsed is given
    assert parsed["a"] is inner
    assert given == {"a": {"b": [1, 2.5, "x", "é", None, True, 10**40]}, "c": 5.0}


def test_any_json_value_can_be_read_as_strictly() -> None:
    assert parse_json("[1, {}]") == [1, {}]
    assert parse_json("null") is None
    for text in ("", "NaN", '[{"a": 1, "a": 1}]', "1e400", "[1,]"):
        with pytest.raises(InvalidArguments):
            parse_json(text)


def test_a_value_that_is_json_is_not_refused() -> None:
    refuse_non_json([1, "x", {"a": None}])

    with pytest.raises(InvalidArguments, match=r"^\$\[0\]: a value of type tuple is not JSON$"):
        refuse_non_json([()])


# Over many texts

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(':"\\[{a\n'),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(':"\\a', max_size=3), inner, max_size=4),
    max_leaves=12,
)


@settings(derandomize=True, max_examples=300)
@given(st.dictionaries(st.text(), json_values, max_size=4), st.booleans())
def test_whatever_json_is_written_is_read_back(value: dict[str, Any], ascii_only: bool) -> None:
    assert parse_arguments(json.dumps(value, ensure_ascii=ascii_only)) == value
    assert parse_arguments(json.dumps(value, indent=1).replace(":", r"\u003a", 0)) == value
    assert parse_arguments(msgspec.json.encode(value)) == value


@settings(derandomize=True, max_examples=300)
@given(st.dictionaries(st.text(":a", max_size=3), json_values, min_size=1, max_size=4), st.data())
def test_a_key_repeated_anywhere_is_found(value: dict[str, Any], data: st.DataObject) -> None:
    key = data.draw(st.sampled_from(sorted(value)))
    again = f"{json.dumps(key)}: {json.dumps(data.draw(json_values))}"
    text = json.dumps(value)[:-1] + f", {again}}}"
    nested = data.draw(st.sampled_from(["%s", '{"o": %s}', '{"s": ":", "o": [1, {"p": %s}]}'])) % text

    assert "is repeated" in refusal(nested)


@settings(derandomize=True, max_examples=500)
@given(st.text('{}[]",:\\ \nu0123456789abcdefntrlsE.-+😀\ud800'), st.booleans())
def test_whatever_the_text_it_is_read_or_refused_and_nothing_else(text: str, in_object: bool) -> None:
    raw = f'{{"a": {text}}}' if in_object else text
    try:
        parsed = parse_arguments(raw)
    except InvalidArguments as error:
        str(error).encode()
        return

    assert parsed == (json.loads(raw) if raw.strip() else {}) or raw.strip() == "null"
