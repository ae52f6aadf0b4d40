"""The schemas of 117 tools that people use."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.shared_files import names_in, shared_json
from tests.tools.compiling import (
    compiled,
)
from toolkit.tools.arguments import parse_arguments
from toolkit.tools.violations import text_of


def value_for(schema: Any, root: dict[str, Any]) -> Any:
    """A small value that meets a schema of a tool: enough for real ones, which rarely ask for more than types."""
    if not isinstance(schema, dict):
        return None
    if "$ref" in schema:
        target: Any = root
        for part in schema["$ref"].split("/")[1:]:
            target = target[part]
        return value_for(target, root)
    for keyword in ("const", "default"):
        if keyword in schema:
            return schema[keyword]
    if "enum" in schema:
        return schema["enum"][0]
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema and "properties" not in schema:
            return value_for({**{k: v for k, v in schema.items() if k != keyword}, **schema[keyword][0]}, root)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return {name: value_for(child, root) for name, child in schema.get("properties", {}).items()}
    if kind == "array":
        return [value_for(schema.get("items", {}), root)] * max(1, schema.get("minItems", 1))
    if kind in ("integer", "number"):
        return max(schema.get("minimum", 1), min(1, schema.get("maximum", 1)))
    if kind == "string":
        return ("x" * max(1, schema.get("minLength", 1)))[: schema.get("maxLength", 100)]
    return None if kind == "null" else True


@pytest.mark.parametrize("name", names_in("tool_schemas", "*.json"))
def test_the_schemas_of_real_tools_accept_what_fits_and_name_what_is_missing(name: str) -> None:
    schema = shared_json(f"tool_schemas/{name}")["inputSchema"]
    validator = compiled(schema)
    value = value_for(schema, schema)

    assert validator.violations(value) == []
    assert validator.is_valid(parse_arguments(json.dumps(value)))
    assert compiled(schema, "python").violations(value) == []
    for missing in schema.get("required", []):
        partial = {key: child for key, child in value.items() if key != missing}
        assert not validator.is_valid(partial)
        assert f"'{missing}' is a required property" in text_of(validator.violations(partial))


def test_there_are_117_schemas_of_real_tools() -> None:
    names = names_in("tool_schemas", "*.json")
    if not names:
        pytest.skip("the shared material is not here")

    assert len(names) == 117
