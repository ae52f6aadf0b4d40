"""The odd inputs and the real tools of the collection, through the public door: `Tool.define` and `execute`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.shared_files import names_in, shared_json
from tests.tools.test_odd_inputs_arguments import ACCEPTED, REFUSED, raw_of, schema_of
from tests.tools.test_real_tool_schemas import value_for
from toolkit import ConfigurationError, FunctionTool, Tool, definition


def echoing(schema: Any, name: str = "odd") -> FunctionTool[..., Any]:
    return Tool.define(name=name, description="Do it.", handler=lambda arguments: arguments, input_schema=schema)


@pytest.mark.parametrize("name", sorted(REFUSED))
async def test_odd_arguments_are_told_to_the_model_and_never_run(name: str) -> None:
    odd = shared_json(f"odd_inputs/{name}")
    ran: list[Any] = []
    tool = Tool.define(name="odd", description="Do it.", handler=ran.append, input_schema=odd.get("tool_schema", {}))

    result = await tool.execute(raw_of(odd))

    assert result.is_error
    assert REFUSED[name] in result.content
    assert len(result.content) < 1000
    assert ran == []


@pytest.mark.parametrize("name", sorted(ACCEPTED))
async def test_odd_arguments_that_can_only_mean_one_thing_run(name: str) -> None:
    odd = shared_json(f"odd_inputs/{name}")

    result = await echoing(odd["tool_schema"]).execute(raw_of(odd))

    assert result.value == ACCEPTED[name]


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
async def test_odd_schemas_are_listed_as_they_are_and_their_arguments_reach_the_tool(name: str) -> None:
    odd = shared_json(f"odd_inputs/{name}")
    tool = echoing(odd["inputSchema"])

    assert definition(tool).input_schema == odd["inputSchema"]
    assert (await tool.execute(odd["args"])).value == odd["args"]
    assert (await tool.execute(json.dumps(odd["args"]))).value == odd["args"]


async def test_a_pattern_that_could_run_for_ever_is_decided_at_once() -> None:
    odd = shared_json("odd_inputs/schema_redos_pattern.json")

    result = await echoing(odd["inputSchema"]).execute(odd["args"])

    assert result.is_error
    assert "does not match" in result.content


async def test_a_huge_enum_is_not_repeated_to_the_model() -> None:
    tool = echoing(schema_of(shared_json("odd_inputs/schema_huge_enum.json")))

    assert not (await tool.execute({"x": "option 4999"})).is_error
    assert len((await tool.execute({"x": "other"})).content) < 400


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("schema_file_ref.json", "$.properties.x['$ref']: 'file:///etc/passwd' lies outside this schema"),
        ("schema_type_dict.json", "the schema of tool 'odd' is not valid JSON Schema: $.type: 'dict' is not"),
    ],
)
def test_odd_schemas_that_are_none_are_refused_when_the_tool_is_made(name: str, told: str) -> None:
    schema = shared_json(f"odd_inputs/{name}")["inputSchema"]

    with pytest.raises(ConfigurationError) as caught:
        echoing(schema)

    assert told in str(caught.value)


def test_a_schema_that_is_null_leaves_the_parameters_to_the_handler() -> None:
    assert shared_json("odd_inputs/schema_null.json")["inputSchema"] is None

    assert list(definition(echoing(None)).input_schema["properties"]) == ["arguments"]


def test_a_name_that_no_provider_takes_is_refused_when_the_tool_is_made() -> None:
    odd = shared_json("odd_inputs/schema_long_name.json")

    with pytest.raises(ConfigurationError, match="1 to 64 characters"):
        echoing(odd["inputSchema"], name=odd["name"])


@pytest.mark.parametrize("name", names_in("tool_schemas", "*.json"))
async def test_the_schema_of_a_real_tool_makes_a_tool_that_takes_its_arguments(name: str) -> None:
    found = shared_json(f"tool_schemas/{name}")
    schema = found["inputSchema"]
    tool = Tool.define(
        name=found["name"], description=found["description"], handler=lambda arguments: arguments, input_schema=schema
    )
    arguments = value_for(schema, schema)

    result = await tool.execute(json.dumps(arguments))

    assert definition(tool).input_schema == schema
    assert (result.error, result.value) == (None, arguments)
    for missing in schema.get("required", []):
        refused = await tool.execute({key: value for key, value in arguments.items() if key != missing})
        assert f"'{missing}' is a required property" in refused.content
