"""The object of a handler's parameters."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import math
import pathlib
from typing import Annotated, Any, Literal

import msgspec
import pydantic
import pytest
from typing_extensions import TypedDict

from tests.tools.schemas.early import Point, Search
from tests.tools.schemas.table import Colour, Model
from toolkit.tools.schemas import ConversionError, Field, MsgspecMaker, SchemaMaker, shape_of_fields, shape_of_type
from toolkit.tools.schemas.pydantic_maker import PydanticMaker
from toolkit.tools.violations import Violation


class Texts(TypedDict):
    text: str
    more: list[Texts]


MAKERS = [pytest.param(MsgspecMaker(), id="msgspec"), pytest.param(PydanticMaker(), id="pydantic")]


@pytest.mark.parametrize("maker", MAKERS)
def test_no_fields_are_a_closed_empty_object(maker: SchemaMaker) -> None:
    shape = maker.shape_of_fields([])

    assert shape.schema == {"type": "object", "properties": {}, "additionalProperties": False}
    assert shape.convert is None


@pytest.mark.parametrize("maker", MAKERS)
def test_fields_without_defaults_are_required_and_defaults_are_shown(maker: SchemaMaker) -> None:
    fields = [
        Field("city", str, description="City name."),
        Field("units", Literal["metric", "imperial"], default="metric"),
        Field("days", int | None, default=None),
    ]

    schema = maker.shape_of_fields(fields).schema

    assert schema == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "City name."},
            "units": {"type": "string", "enum": ["metric", "imperial"], "default": "metric"},
            "days": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
        },
        "required": ["city"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize("maker", MAKERS)
def test_a_description_in_the_annotation_wins_over_the_docstrings(maker: SchemaMaker) -> None:
    fields = [
        Field("a", Annotated[int, "From the annotation."], description="From the docstring."),
        Field("b", Annotated[Point, "From the annotation."], description="From the docstring."),
        Field("c", Point, description="From the docstring."),
    ]

    properties = maker.shape_of_fields(fields).schema["properties"]

    assert [properties[name]["description"] for name in "abc"] == [
        "From the annotation.",
        "From the annotation.",
        "From the docstring.",
    ]


@pytest.mark.parametrize(
    ("default", "shown"),
    [
        pytest.param(dt.date(2024, 5, 31), "2024-05-31", id="date"),
        pytest.param(decimal.Decimal("1.50"), "1.50", id="decimal"),
        pytest.param(Colour.RED, "red", id="enum"),
        pytest.param({3, 1, 2}, [1, 2, 3], id="set"),
        pytest.param(b"hi", "aGk=", id="bytes"),
        pytest.param(pathlib.PurePosixPath("a/b"), "a/b", id="path"),
        pytest.param(Point(1), {"x": 1, "y": 0}, id="dataclass"),
        pytest.param(
            Model(day=dt.date(2024, 5, 31)),
            {"day": "2024-05-31", "tags": [], "price": None, "data": "", "kind": "model", "colour": "red"},
            id="model",
        ),
        pytest.param("not an int", "not an int", id="breaks_its_own_annotation"),
        pytest.param({"$ref": "#/$defs/Nothing"}, {"$ref": "#/$defs/Nothing"}, id="looks_like_a_reference"),
    ],
)
def test_a_default_is_shown_in_its_json_form(default: Any, shown: Any) -> None:
    schema = shape_of_fields([Field("a", int, default=default)]).schema

    assert schema["properties"]["a"]["default"] == shown
    assert "required" not in schema


@pytest.mark.parametrize(
    "default",
    [
        pytest.param(object(), id="object"),
        pytest.param(math.inf, id="infinity"),
        pytest.param([math.nan], id="nan_inside"),
        pytest.param(len, id="function"),
    ],
)
def test_a_default_that_json_has_no_form_for_is_not_shown(default: Any) -> None:
    schema = shape_of_fields([Field("a", int, default=default)]).schema

    assert schema["properties"]["a"] == {"type": "integer"}
    assert "required" not in schema


@pytest.mark.parametrize("maker", MAKERS)
def test_what_was_not_sent_stays_absent_and_null_stays_none(maker: SchemaMaker) -> None:
    fields = [Field("a", dt.date | None, default=dt.date(2024, 1, 1)), Field("b", int, default=1), Field("c", str)]
    shape = maker.shape_of_fields(fields)
    assert shape.convert is not None

    assert shape.convert({"a": None, "c": "x"}) == {"a": None, "c": "x"}


@pytest.mark.parametrize("maker", MAKERS)
def test_what_the_fields_do_not_know_is_kept_for_a_handler_that_takes_more(maker: SchemaMaker) -> None:
    shape = maker.shape_of_fields([Field("a", int)])
    assert shape.convert is not None

    assert shape.convert({"a": 5.0, "more": "x"}) == {"a": 5, "more": "x"}
    assert shape.convert({"a": 5, "more": "x"}) == {"a": 5, "more": "x"}


@pytest.mark.parametrize("maker", MAKERS)
def test_the_arguments_themselves_are_not_changed(maker: SchemaMaker) -> None:
    shape = maker.shape_of_fields([Field("a", list[int])])
    assert shape.convert is not None
    arguments = {"a": [5.0]}

    shape.convert(arguments)

    assert isinstance(arguments["a"][0], float)


@pytest.mark.parametrize("maker", MAKERS)
def test_every_field_that_can_not_be_converted_is_told(maker: SchemaMaker) -> None:
    shape = maker.shape_of_fields([Field("a", dt.date), Field("b", list[dt.time]), Field("c", int)])
    assert shape.convert is not None

    with pytest.raises(ConversionError) as caught:
        shape.convert({"a": "x", "b": ["14:30:00", "y"], "c": 1})

    assert caught.value.violations == [
        Violation("$.a", "'x' is not a date such as 2024-05-31"),
        Violation("$.b[1]", "'y' is not a time such as 14:30:00"),
    ]
    assert str(caught.value) == "$.a: 'x' is not a date such as 2024-05-31; $.b[1]: 'y' is not a time such as 14:30:00"


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize(
    "annotation",
    [str, bool, Any, list[str], dict[str, Any], Literal["a", "b"], str | None, str | bool | list[str], Texts],
    ids=str,
)
def test_json_values_that_are_the_typed_values_are_not_converted(maker: SchemaMaker, annotation: Any) -> None:
    assert maker.shape_of_type(annotation).convert is None
    assert maker.shape_of_fields([Field("a", annotation)]).convert is None


@pytest.mark.parametrize("annotation", [int, float, Literal[5], list[int], dict[int, str], Search, set[str]], ids=str)
def test_json_values_that_may_differ_from_the_typed_values_are_converted(annotation: Any) -> None:
    assert shape_of_type(annotation).convert is not None


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize(
    ("annotation", "value"),
    [(int, True), (float, True), (int, "5"), (list[int], [False]), (dt.date, 5)],
    ids=["int", "float", "text", "inside", "date"],
)
def test_conversion_alone_never_makes_numbers_of_booleans_or_texts(
    maker: SchemaMaker, annotation: Any, value: Any
) -> None:
    shape = maker.shape_of_type(annotation)
    assert shape.convert is not None

    with pytest.raises(ConversionError):
        shape.convert(value)


@pytest.mark.parametrize("maker", MAKERS)
def test_text_that_utf8_can_not_write_is_refused_and_no_crash(maker: SchemaMaker) -> None:
    shape = maker.shape_of_fields([Field("a", dt.date)])
    assert shape.convert is not None

    with pytest.raises(ConversionError, match=r"\$\.a: is not text that can be written as UTF-8"):
        shape.convert({"a": "\ud800"})


@dataclasses.dataclass
class Broken:
    x: int

    def __post_init__(self) -> None:
        raise TypeError("a mistake of the author's")


@pytest.mark.parametrize("maker", MAKERS)
def test_a_type_error_in_a_post_init_is_the_authors_and_not_for_the_model(maker: SchemaMaker) -> None:
    shape = maker.shape_of_type(Broken)
    assert shape.convert is not None

    with pytest.raises(TypeError, match="a mistake of the author's"):
        shape.convert({"x": 1})


class Checked(pydantic.BaseModel):
    low: int
    high: int

    @pydantic.field_validator("low")
    @classmethod
    def is_not_seven(cls, value: int) -> int:
        if value == 7:
            raise AssertionError("seven is taken")  # what a failing `assert` does, without pytest's own words
        return value

    @pydantic.model_validator(mode="after")
    def is_ordered(self) -> Checked:
        if self.low > self.high:
            raise ValueError("low must not be above high")
        return self


@pytest.mark.parametrize(
    ("value", "violation"),
    [
        pytest.param({"low": 2, "high": 1}, Violation("$.it", "low must not be above high"), id="value_error"),
        pytest.param({"low": 7, "high": 9}, Violation("$.it.low", "seven is taken"), id="assertion"),
    ],
)
def test_a_models_validator_speaks_in_its_own_words(value: Any, violation: Violation) -> None:
    shape = shape_of_fields([Field("it", Checked)])
    assert shape.convert is not None

    with pytest.raises(ConversionError) as caught:
        shape.convert({"it": value})

    assert caught.value.violations == [violation]


def test_a_large_dict_with_one_bad_entry_is_searched_quickly_and_exactly() -> None:
    shape = shape_of_type(dict[str, dt.date])
    assert shape.convert is not None
    value = {f"k{number}": "2024-05-31" for number in range(5000)} | {"k1234": "x"}

    with pytest.raises(ConversionError) as caught:
        shape.convert(value)

    assert caught.value.violations == [Violation("$.k1234", "'x' is not a date such as 2024-05-31")]


def test_a_struct_is_read_and_written_by_the_names_that_its_json_has() -> None:
    struct = msgspec.defstruct("Renamed", [("first_name", str), ("age", int, 3)], rename="camel")

    shape = shape_of_type(struct)

    assert list(shape.schema["properties"]) == ["firstName", "age"]
    assert shape.convert is not None
    assert shape.convert({"firstName": "Ada"}) == struct("Ada")
