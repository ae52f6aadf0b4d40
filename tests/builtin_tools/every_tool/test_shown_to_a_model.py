"""What a model is shown of every tool: a name, a description with an example, and a schema with bounds."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from dependency_injector import providers

import toolkit
from containers import BuiltinTools
from tests.builtin_tools.every_tool.table import EACH, TOOLS, alone, arguments_of, config_for, fine, tool_of
from tests.http.loopback import serving
from tests.shared_files import shared
from toolkit import Tool

LONGEST_DESCRIPTION = 600  # characters
LONGEST_DEFINITION = 3_000  # bytes; at four a token, 750 tokens that go out with every request
LONGEST_OF_ALL = 26_000

# Numbers with a bound missing in the schema, besides those that are moved into their range: what becomes of them.
UNBOUNDED = {
    ("fetch_url", "offset"): "one under 0 is read as 0, and told",
    ("wikipedia_page", "offset"): "one under 0 is read as 0, and told",
}
RANGE = re.compile(r"(\d+) to (\d+)")


def shown(name: str) -> Any:
    return toolkit.definition(tool_of(BuiltinTools(http=None), name))


def text_of(definition: Any) -> str:
    return json.dumps([definition.name, definition.description, definition.input_schema])


def parts_of(schema: Any, path: str = "$") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema inside a schema, with its place."""
    if isinstance(schema, dict):
        yield path, schema
        for key in ("properties", "$defs"):
            for name, inner in schema.get(key, {}).items():
                yield from parts_of(inner, f"{path}.{name}")
        for key in ("anyOf", "oneOf", "allOf"):
            for inner in schema.get(key, []):
                yield from parts_of(inner, path)
        yield from parts_of(schema.get("items"), f"{path}[]")


def numbers_without_bounds(name: str) -> dict[str, dict[str, Any]]:
    properties: dict[str, dict[str, Any]] = shown(name).input_schema["properties"]
    return {
        parameter: schema
        for parameter, schema in properties.items()
        for _, part in parts_of(schema)
        if part.get("type") in ("integer", "number") and not {"minimum", "maximum"} <= set(part)
    }


def in_range(name: str) -> dict[str, tuple[int, int]]:
    """The numbers that are moved into a range, with it, as their descriptions tell it."""
    found: dict[str, tuple[int, int]] = {}
    for parameter, schema in numbers_without_bounds(name).items():
        if (name, parameter) not in UNBOUNDED:
            told = RANGE.search(schema["description"])
            assert told, f"{name}.{parameter} has no bounds, neither in the schema nor in words"
            found[parameter] = (int(told[1]), int(told[2]))
    return found


def test_the_table_has_every_tool_of_the_container_and_no_other() -> None:
    tools = BuiltinTools(http=None)
    factories = {name for name, provider in tools.providers.items() if isinstance(provider, providers.Factory)}
    made = {name for name in factories if inspect.isclass(tools.providers[name].cls)}  # type: ignore[attr-defined]

    found = {name for name in made if issubclass(tools.providers[name].cls, Tool)}  # type: ignore[attr-defined]

    assert found == set(TOOLS)


def test_the_container_has_every_tool_that_is_promised() -> None:
    page = shared("API.md").read_text()
    promise = re.search(r"One provider per\s+tool, named as the tool: `([^`]+)`", page)
    assert promise

    names = {name.strip() for name in promise[1].split(",")}

    assert names == set(TOOLS)


@EACH
def test_the_name_is_that_of_the_provider(name: str) -> None:
    assert shown(name).name == name


@EACH
def test_the_description_is_short_names_only_tools_that_there_are_and_ends_with_an_example_that_fits(
    name: str,
) -> None:
    definition = shown(name)

    named = set(
        re.findall(r"\b(?:web|fetch|wikipedia|pubmed|linear|exa|firecrawl|brightdata)_\w+", definition.description)
    )
    example = arguments_of(tool_of(BuiltinTools(http=None), name), "https://a.example")

    assert 100 < len(definition.description) < LONGEST_DESCRIPTION
    assert named <= set(TOOLS)
    jsonschema.Draft202012Validator(definition.input_schema).validate(example)


@EACH
def test_the_description_tells_what_comes_back(name: str) -> None:
    assert " Gives " in " ".join(shown(name).description.split())


@EACH
def test_the_schema_is_valid_and_closed_and_describes_each_parameter(name: str) -> None:
    schema = shown(name).input_schema

    jsonschema.Draft202012Validator.check_schema(schema)
    assert [
        path
        for path, part in parts_of(schema)
        if part.get("type") == "object" and part.get("additionalProperties", True)
    ] == []
    assert [parameter for parameter, part in schema["properties"].items() if not part.get("description")] == []


@EACH
def test_every_text_and_every_list_has_a_longest_length(name: str) -> None:
    endless = [
        path
        for path, part in parts_of(shown(name).input_schema)
        if (part.get("type") == "string" and not {"maxLength", "enum", "const", "format"} & set(part))
        or (part.get("type") == "array" and "maxItems" not in part)
    ]

    assert endless == []


@EACH
def test_a_number_has_bounds_in_the_schema_or_is_moved_into_the_range_that_its_description_tells(name: str) -> None:
    assert all(low < high for low, high in in_range(name).values())


@EACH
@pytest.mark.parametrize("value", [-7, 10**15])
async def test_a_number_outside_of_the_range_is_moved_into_it_and_the_model_is_told(
    http: Any, name: str, value: int
) -> None:
    ranges = in_range(name)
    async with serving(fine) as server:
        tools = alone(http, config_for(server.url))
        for parameter, (low, high) in ranges.items():
            tool = tool_of(tools, name)
            result = await toolkit.execute(tool, {**arguments_of(tool, server.url), parameter: value})

            assert not result.is_error, result.content
            kept = low if value < 0 else high
            assert f"{parameter} has to be {low} to {high}, so {kept} was used instead of {value}" in result.content


@pytest.mark.parametrize(("name", "parameter"), UNBOUNDED)
async def test_a_number_with_a_reason_in_place_of_a_bound_does_what_the_reason_says(
    http: Any, name: str, parameter: str
) -> None:
    async with serving(fine) as server:
        tool = tool_of(alone(http, config_for(server.url)), name)
        result = await toolkit.execute(tool, {**arguments_of(tool, server.url), parameter: -7})

    assert f"{parameter} can't be under 0, so 0 was used instead of -7" in result.content


@EACH
def test_a_definition_is_small(name: str) -> None:
    assert len(text_of(shown(name)).encode()) < LONGEST_DEFINITION


def test_all_definitions_together_are_small() -> None:
    assert sum(len(text_of(shown(name)).encode()) for name in TOOLS) < LONGEST_OF_ALL
