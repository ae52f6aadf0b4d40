"""The collection of arguments and schemas that break such toolkits, each with what its manifest wants."""

from __future__ import annotations

from typing import Any

import pytest

from tests.shared_files import names_in, shared_json
from toolkit.errors import ConfigurationError
from toolkit.tools.arguments import parse_arguments
from toolkit.tools.validation import Validator, compile_schema
from toolkit.tools.violations import InvalidArguments, text_of


def raw_of(odd: dict[str, Any]) -> str:
    """The text of a file of arguments, made where the file only says how."""
    if "N" in odd:
        return '{"x":' + "[" * odd["N"] + "]" * odd["N"] + "}"
    if "digits" in odd:
        return '{"a": ' + "9" * odd["digits"] + "}"
    return str(odd["arguments_raw"])


def schema_of(odd: dict[str, Any]) -> Any:
    if "inputSchema_generator" in odd:
        options = [f"option {number}" for number in range(odd["n"])]
        return {"type": "object", "properties": {"x": {"type": "string", "enum": options}}}
    return odd["inputSchema"]


def compiled(name: str) -> tuple[Validator, Any]:
    odd = shared_json(f"odd_inputs/{name}")
    return compile_schema(schema_of(odd), owner="tool 'odd'"), odd.get("args")


# Arguments

REFUSED = {
    "args_deep_nesting.json": "nested too deep",
    "args_huge_int_digits.json": "$.a: the integer has more than 4,300 digits",
    "args_list.json": "must be a JSON object, not an array",
    "args_lone_surrogate.json": "$.b: the string holds a lone surrogate",
    "args_markdown_fence.json": "line 1, column 1",
    "args_nan.json": "$.a: NaN is not JSON",
    "args_raw_newline_in_string.json": r"inside a string a line break is written \n",
    "args_single_quotes.json": "line 1, column 2",
    "args_trailing_comma.json": "line 1, column 1",
    "args_truncated.json": "the text seems cut off after 48 characters",
}
ACCEPTED = {
    "args_double_encoded_property.json": {"items": [1, 2, 3]},
    "args_null.json": {},
    "args_number_float_as_int.json": {"a": 5.0},
}


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_odd_arguments_are_refused_with_what_is_wrong_and_where(name: str) -> None:
    raw = raw_of(shared_json(f"odd_inputs/{name}"))

    with pytest.raises(InvalidArguments) as caught:
        parse_arguments(raw)

    assert REFUSED[name] in str(caught.value)


@pytest.mark.parametrize("name", sorted(ACCEPTED))
def test_odd_arguments_that_can_only_mean_one_thing_are_accepted(name: str) -> None:
    odd = shared_json(f"odd_inputs/{name}")
    validator = compile_schema(odd["tool_schema"], owner="tool 'odd'")

    arguments = validator.decode_nested(parse_arguments(raw_of(odd)))

    assert arguments == ACCEPTED[name]
    assert validator.is_valid(arguments)
    assert validator.violations(arguments) == []


def test_a_string_parameter_that_holds_json_stays_a_string() -> None:
    odd = shared_json("odd_inputs/args_double_encoded_property.json")
    odd["tool_schema"]["properties"]["items"] = {"type": "string"}
    validator = compile_schema(odd["tool_schema"], owner="tool 'odd'")

    assert validator.decode_nested(parse_arguments(raw_of(odd))) == {"items": "[1, 2, 3]"}


# Schemas


@pytest.mark.parametrize(
    "name",
    [
        "schema_bool_true.json",
        "schema_default_violates.json",
        "schema_draft7_items_tuple.json",
        "schema_no_type.json",
        "schema_pointer_escape.json",
        "schema_property_named_keywords.json",
        "schema_recursive_ref.json",
        "schema_type_array.json",
    ],
)
def test_odd_schemas_compile_and_accept_their_arguments(name: str) -> None:
    validator, arguments = compiled(name)

    assert validator.is_valid(arguments)
    assert validator.violations(arguments) == []
    assert validator.decode_nested(arguments) is arguments


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("schema_bool_true.json", {"y": 1}, "$.y: no value is allowed here"),
        ("schema_default_violates.json", {"x": "auto"}, "$.x: 'auto' is not of type 'integer'"),
        ("schema_draft7_items_tuple.json", {"x": ["a", 1]}, "$.x[0]: 'a' is not of type 'integer'"),
        ("schema_no_type.json", {"x": "1"}, "$.x: '1' is not of type 'integer'"),
        ("schema_pointer_escape.json", {"y": 1}, "$.y: 1 is not of type 'string'"),
        ("schema_property_named_keywords.json", {"x-y": "1"}, "$['x-y']: '1' is not of type 'integer'"),
        ("schema_recursive_ref.json", {"head": {"v": 1, "next": {}}}, "$.head.next.v: 'v' is a required property"),
        ("schema_redos_pattern.json", None, "!' does not match '^(a+)+$'"),
        ("schema_type_array.json", {"x": 1}, "$.x: 1 is not of type 'string', 'null'"),
    ],
)
def test_odd_schemas_refuse_what_breaks_them(name: str, arguments: Any, told: str) -> None:
    validator, own = compiled(name)

    violations = validator.violations(arguments or own)

    assert told in text_of(violations)


def test_a_huge_enum_is_not_repeated_to_the_model() -> None:
    validator, _ = compiled("schema_huge_enum.json")

    assert validator.is_valid({"x": "option 4999"})
    assert len(text_of(validator.violations({"x": "other"}))) < 400


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("schema_file_ref.json", "$.properties.x['$ref']: 'file:///etc/passwd' lies outside this schema"),
        ("schema_null.json", "the schema of tool 'odd' must be a dict, not NoneType"),
        ("schema_type_dict.json", "is not valid JSON Schema: $.type: 'dict' is not"),
    ],
)
def test_odd_schemas_that_are_none_are_refused_when_they_are_listed(name: str, told: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        compiled(name)

    assert told in str(caught.value)


def test_every_odd_file_has_a_test_here_or_is_about_a_name() -> None:
    names = {*names_in("odd_inputs", "args_*.json"), *names_in("odd_inputs", "schema_*.json")}
    if not names:
        pytest.skip("the shared material is not here")
    with open(__file__, encoding="utf-8") as source:
        text = source.read()

    about_a_name = {"schema_long_name.json"}
    assert {name for name in names - about_a_name if f'"{name}"' not in text} == set()
