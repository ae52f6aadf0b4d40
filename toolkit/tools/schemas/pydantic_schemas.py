"""JSON Schemas of pydantic's own types, in the form that this toolkit's writer gives all others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import msgspec
from pydantic import ConfigDict, TypeAdapter
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, JsonSchemaWarningKind
from pydantic_core import PydanticSerializationError, core_schema

from toolkit.tools.schemas.annotations import Notes, notes_of
from toolkit.tools.schemas.bounds import base64_length, bounded
from toolkit.tools.schemas.defaults import json_form
from toolkit.tools.schemas.definitions import PREFIX, mapped
from toolkit.tools.schemas.writing import DECIMAL_TEXT, choice

__all__ = ["described_by_fields", "schema_by_pydantic"]


def schema_by_pydantic(annotation: Any) -> dict[str, Any]:
    """The schema, with its own `$defs`. Raises what pydantic raises for types it doesn't know."""
    schema = TypeAdapter(annotation).json_schema(schema_generator=_Generator)
    definitions: dict[str, Any] = schema.get("$defs", {})

    for definition in definitions.values():
        if "enum" in definition:
            definition.pop("title", None)  # the class's name

    def tidied(part: dict[str, Any]) -> dict[str, Any]:
        if isinstance(part.get("discriminator"), dict):  # OpenAPI's; each branch says its tag itself
            del part["discriminator"]
        if part.get("format") == "path":
            del part["format"]
        if part.get("items") == {}:
            del part["items"]
        if part.get("type") == "object" and "properties" not in part:
            _tidy_mapping(part, definitions)
        return part

    tidy: dict[str, Any] = mapped(schema, tidied)
    return tidy


def described_by_fields(schema: dict[str, Any], fields: Sequence[FieldInfo]) -> dict[str, Any] | None:
    """The schema with what these `pydantic.Field(...)` say of it. None where they say more than JSON Schema can."""
    keywords: dict[str, Any] = {}
    metadata: list[Any] = []
    pattern: Any = None
    for field in fields:
        if field.discriminator is not None or field.deprecated or callable(field.json_schema_extra):
            return None
        said = {"title": field.title, "description": field.description, "examples": field.examples}
        keywords |= {key: value for key, value in said.items() if value is not None}
        keywords |= field.json_schema_extra or {}
        metadata += field.metadata
        # pydantic keeps a pattern in a class of its own, beside other words that are no business of JSON Schema's.
        pattern = next((found for item in field.metadata if (found := getattr(item, "pattern", None))), pattern)
    notes = notes_of(metadata)
    notes = Notes(keywords, notes.bounds, notes.lengths, getattr(pattern, "pattern", pattern))
    within = bounded(schema, notes)
    return None if within is None else within | keywords


def _tidy_mapping(schema: dict[str, Any], definitions: dict[str, Any]) -> None:
    if schema.get("additionalProperties") in (True, {}):
        del schema["additionalProperties"]
    names = schema.get("propertyNames", {})
    if "$ref" in names and definitions[names["$ref"].removeprefix(PREFIX)].get("type") != "string":
        del schema["propertyNames"]  # an enum of numbers: as keys its values are texts


class _Generator(GenerateJsonSchema):
    """Without titles that nobody wrote, with closed objects, with the words that `SchemaWriter` uses."""

    ignored_warning_kinds: set[JsonSchemaWarningKind] = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - pydantic declares it so

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._owners: list[ConfigDict] = []

    def sort(self, value: JsonSchemaValue, parent_key: str | None = None) -> JsonSchemaValue:
        return value  # as declared

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def encode_default(self, dft: Any) -> Any:
        form = json_form(dft)
        if form is msgspec.UNSET:
            raise PydanticSerializationError("JSON has no form for the default")
        return form

    def is_subclass_schema(self, schema: core_schema.IsSubclassSchema) -> JsonSchemaValue:
        return self.handle_invalid_for_json_schema(schema, "a class")  # which pydantic itself lets be anything

    def literal_schema(self, schema: core_schema.LiteralSchema) -> JsonSchemaValue:
        written = super().literal_schema(schema)
        return choice(written["enum"] if "enum" in written else [written["const"]])

    def enum_schema(self, schema: core_schema.EnumSchema) -> JsonSchemaValue:
        written = super().enum_schema(schema)
        return choice(written["enum"]) | {key: written[key] for key in ("description",) if key in written}

    def bytes_schema(self, schema: core_schema.BytesSchema) -> JsonSchemaValue:
        # A model's own config decides how it reads bytes (as UTF-8, by default); elsewhere they are base64.
        is_base64 = not self._owners or self._owners[-1].get("val_json_bytes") == "base64"
        written: dict[str, Any] = {"type": "string"} | ({"contentEncoding": "base64"} if is_base64 else {})
        for key, keyword in (("min_length", "minLength"), ("max_length", "maxLength")):
            if (length := cast("dict[str, Any]", schema).get(key)) is not None:
                written[keyword] = base64_length(length) if is_base64 else length
        return written

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        number = super().decimal_schema(schema)["anyOf"][0]
        return {"anyOf": [number, {"type": "string", "pattern": DECIMAL_TEXT}]}

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        written = super().tagged_union_schema(schema)
        return {("anyOf" if key == "oneOf" else key): value for key, value in written.items()}

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        config: ConfigDict = schema["cls"].model_config
        self._owners.append(config)
        try:
            written = super().model_schema(schema)
        finally:
            self._owners.pop()
        return _own_words(written, schema["cls"], config)

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        config: ConfigDict | None = getattr(schema["cls"], "__pydantic_config__", None)
        if config is None:  # the standard library's: the model around it decides
            return _own_words(super().dataclass_schema(schema), schema["cls"], {})
        self._owners.append(config)
        try:
            written = super().dataclass_schema(schema)
        finally:
            self._owners.pop()
        return _own_words(written, schema["cls"], config)

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        cls = schema.get("cls")
        config: ConfigDict = getattr(cls, "__pydantic_config__", None) or ConfigDict()
        return _own_words(super().typed_dict_schema(schema), cls, config)

    def named_tuple_schema(self, schema: Any) -> JsonSchemaValue:
        return _with_names(super().named_tuple_schema(schema), [field["name"] for field in schema["fields"]])

    def p_arguments_schema(self, arguments: Any, var_args_schema: Any) -> JsonSchemaValue:
        # What a NamedTuple was before pydantic had a core schema for it.
        written = super().p_arguments_schema(arguments, var_args_schema)
        return _with_names(written, [argument["name"] for argument in arguments])


def _own_words(schema: JsonSchemaValue, cls: Any, config: ConfigDict) -> JsonSchemaValue:
    """Without the title that is just the class's name; closed, unless its config says otherwise."""
    if schema.get("title") == getattr(cls, "__name__", None) and config.get("title") is None:
        schema.pop("title", None)
    if "properties" in schema and config.get("extra") not in {"allow", "ignore"}:
        schema.setdefault("additionalProperties", False)
    return schema


def _with_names(schema: JsonSchemaValue, names: list[str]) -> JsonSchemaValue:
    for item, name in zip(schema.get("prefixItems", ()), names, strict=False):
        item.setdefault("description", name)
    return schema
