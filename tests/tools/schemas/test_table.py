from __future__ import annotations

from typing import Any

import jsonschema_rs
import pydantic
import pytest

from tests.tools.schemas.table import CHOICES, CONTAINERS, OBJECTS, SCALARS, TABLE, Row
from toolkit.tools.schemas import (
    ConversionError,
    Field,
    MsgspecMaker,
    SchemaMaker,
    Shape,
    UnsupportedType,
    shape_of_fields,
    shape_of_type,
)
from toolkit.tools.schemas.pydantic_maker import PydanticMaker
from toolkit.tools.violations import Violation

MAKERS: dict[str, SchemaMaker] = {"msgspec": MsgspecMaker(), "pydantic": PydanticMaker()}


def reason_against(maker: str, row: Row) -> str:
    return row.not_by_msgspec if maker == "msgspec" else row.not_by_pydantic


def converted(shape: Shape, value: Any) -> Any:
    return value if shape.convert is None else shape.convert(value)


CAN = [
    pytest.param(MAKERS[maker], row, id=f"{row.name}-{maker}")
    for row in TABLE
    for maker in MAKERS
    if not reason_against(maker, row)
]
CANT = [
    pytest.param(MAKERS[maker], row, id=f"{row.name}-{maker}")
    for row in TABLE
    for maker in MAKERS
    if reason_against(maker, row)
]
ROWS = [pytest.param(row, id=row.name) for row in TABLE]


@pytest.mark.parametrize(("maker", "row"), CAN)
def test_each_maker_gives_a_type_the_same_schema(maker: SchemaMaker, row: Row) -> None:
    shape = maker.shape_of_type(row.annotation)

    assert shape.schema == row.schema


IN_A_MODEL = [
    pytest.param(row, id=row.name)
    for row in [*SCALARS, *CHOICES, *CONTAINERS, *OBJECTS]
    # Inside a model pydantic reads annotations itself: it knows no msgspec.Meta, loses a base's type arguments, and
    # makes a definition of an alias.
    if not row.not_by_pydantic
    and not row.name.startswith(("dataclass_", "typed_dict_early", "typed_dict_late", "alias"))
]


@pytest.mark.parametrize("row", IN_A_MODEL)
def test_pydantic_writes_the_members_of_a_model_as_the_writer_writes_them(row: Row) -> None:
    config = pydantic.ConfigDict(val_json_bytes="base64")
    model = pydantic.create_model("Holder", __config__=config, member=(list[row.annotation], ...))

    in_a_model = shape_of_type(model).schema

    alone = shape_of_type(list[row.annotation]).schema
    assert in_a_model["properties"]["member"] == {key: alone[key] for key in alone if key != "$defs"}
    assert in_a_model.get("$defs") == alone.get("$defs")


@pytest.mark.parametrize("row", ROWS)
def test_every_schema_is_a_valid_one(row: Row) -> None:
    schema = shape_of_type(row.annotation).schema

    jsonschema_rs.meta.validate(schema)


@pytest.mark.parametrize(("maker", "row"), CAN)
def test_a_valid_value_becomes_the_same_instance_by_each_maker(maker: SchemaMaker, row: Row) -> None:
    shape = maker.shape_of_type(row.annotation)

    for value, expected in row.values:
        result = converted(shape, value)

        assert result == expected
        assert type(result) is type(expected)


@pytest.mark.parametrize("row", ROWS)
def test_the_schema_accepts_what_converts_and_refuses_the_rest(row: Row) -> None:
    validator = jsonschema_rs.validator_for(shape_of_type(row.annotation).schema)

    verdicts = {
        "valid": [validator.is_valid(value) for value, _ in row.values],
        "invalid": [validator.is_valid(value) for value in row.invalid],
        "refused later": [validator.is_valid(value) for value, _ in row.refused],
    }

    assert verdicts == {
        "valid": [True] * len(row.values),
        "invalid": [False] * len(row.invalid),
        "refused later": [True] * len(row.refused),
    }


@pytest.mark.parametrize(("maker", "row"), CAN)
def test_a_value_that_is_no_instance_is_refused_in_the_same_words_by_each_maker(maker: SchemaMaker, row: Row) -> None:
    shape = maker.shape_of_type(row.annotation)

    for value, violations in row.refused:
        with pytest.raises(ConversionError) as caught:
            converted(shape, value)

        assert caught.value.violations == violations


@pytest.mark.parametrize(("maker", "row"), CANT)
def test_a_maker_says_so_when_it_has_no_schema(maker: SchemaMaker, row: Row) -> None:
    with pytest.raises(UnsupportedType, match=r"\w"):
        maker.shape_of_type(row.annotation)


@pytest.mark.parametrize("row", ROWS)
def test_a_type_is_converted_as_a_field_as_it_is_alone(row: Row) -> None:
    shape = shape_of_fields([Field("a name", row.annotation), Field("other", int, default=1)])

    for value, expected in row.values:
        assert converted(shape, {"a name": value}) == {"a name": expected}
    for value, violations in row.refused:
        with pytest.raises(ConversionError) as caught:
            converted(shape, {"a name": value})
        assert caught.value.violations == [
            Violation("$['a name']" + violation.path.removeprefix("$"), violation.message) for violation in violations
        ]
