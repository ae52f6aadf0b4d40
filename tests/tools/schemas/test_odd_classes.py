"""Classes that one has to look at twice."""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import ipaddress
from typing import Annotated, Any, Generic, NamedTuple, TypeVar

import msgspec
import pydantic
import pytest
import typing_extensions

from toolkit.tools.schemas import ConversionError, MsgspecMaker, UnsupportedType, shape_of_type
from toolkit.tools.schemas.pydantic_maker import PydanticMaker
from toolkit.tools.violations import Violation

T = TypeVar("T")
Json = typing_extensions.TypeAliasType("Json", "dict[str, Json] | list[Json] | str | int | None")


def converted(annotation: Any, value: Any) -> Any:
    convert = shape_of_type(annotation).convert
    assert convert is not None
    return convert(value)


@dataclasses.dataclass
class WithoutInit:
    base: int
    double: int = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.double = 2 * self.base


@dataclasses.dataclass
class WithInitVar:
    text: dataclasses.InitVar[str]
    day: dt.date = dt.date(2024, 1, 1)

    def __post_init__(self, text: str) -> None:
        self.upper = text.upper()


@dataclasses.dataclass
class WithFieldDefault:
    count: int = pydantic.Field(default=3, ge=1)


@pydantic.dataclasses.dataclass
class Strict:
    count: Annotated[int, pydantic.Field(gt=0)]
    day: dt.date


@dataclasses.dataclass
class HoldsAModel:
    strict: Strict
    days: list[Annotated[dt.date, "One day."]]


class Alike(NamedTuple):
    a: int = 1
    b: int = 2


class Box(pydantic.BaseModel, Generic[T]):
    item: T


class Encoded(pydantic.BaseModel, val_json_bytes="base64"):
    data: bytes


class Renamed(pydantic.BaseModel):
    first: int = pydantic.Field(alias="the first")


class Numbers(pydantic.RootModel[list[int]]):
    pass


class ArrayLike(msgspec.Struct, array_like=True):
    a: int
    b: str = "b"


class Maybe(msgspec.Struct):
    a: int
    b: int | msgspec.UnsetType = msgspec.UNSET


@pytest.mark.parametrize("annotation", [WithoutInit, WithInitVar, WithFieldDefault])
def test_a_dataclass_whose_init_takes_other_than_its_members_is_pydantics(annotation: Any) -> None:
    with pytest.raises(UnsupportedType):
        MsgspecMaker().shape_of_type(annotation)

    assert shape_of_type(annotation).schema == PydanticMaker().shape_of_type(annotation).schema


def test_members_that_init_does_not_take_are_not_in_the_schema_and_post_init_sets_them() -> None:
    schema = shape_of_type(WithoutInit).schema

    assert list(schema["properties"]) == ["base"]
    assert converted(WithoutInit, {"base": 2.0}).double == 4


def test_an_init_var_is_in_the_schema() -> None:
    schema = shape_of_type(WithInitVar).schema

    assert schema["required"] == ["text"]
    assert converted(WithInitVar, {"text": "a"}).upper == "A"


def test_a_dataclass_may_hold_what_only_pydantic_knows() -> None:
    schema = shape_of_type(HoldsAModel).schema

    assert schema["properties"]["days"]["items"]["description"] == "One day."
    assert schema["$defs"]["Strict"]["properties"]["count"] == {"type": "integer", "exclusiveMinimum": 0}
    value = {"strict": {"count": 1, "day": "2024-05-31"}, "days": ["2024-05-31"]}
    assert converted(HoldsAModel, value) == HoldsAModel(Strict(1, dt.date(2024, 5, 31)), [dt.date(2024, 5, 31)])


def test_pydantic_tells_every_violation() -> None:
    with pytest.raises(ConversionError) as caught:
        converted(list[Strict], [{"count": 0, "day": "x"}])

    assert caught.value.violations == [
        Violation("$[0].count", "should be greater than 0"),
        Violation("$[0].day", "'x' is not a date such as 2024-05-31"),
    ]


def test_a_class_inside_a_function_may_refer_to_itself() -> None:
    @dataclasses.dataclass
    class Local:
        name: str
        parent: Local | None = None

    schema = shape_of_type(Local).schema

    assert schema["properties"]["parent"]["anyOf"][0] == {"$ref": "#/$defs/Local"}
    assert converted(Local, {"name": "a", "parent": {"name": "b"}}) == Local("a", Local("b"))


def test_a_type_alias_may_refer_to_itself() -> None:
    schema = shape_of_type(list[Json]).schema

    assert schema["items"] == {"$ref": "#/$defs/Json"}
    assert {"type": "array", "items": {"$ref": "#/$defs/Json"}} in schema["$defs"]["Json"]["anyOf"]
    assert converted(list[Json], [{"a": [1.0, None]}]) == [{"a": [1, None]}]


def test_a_named_tuple_with_defaults_only_may_be_empty() -> None:
    for maker in (MsgspecMaker(), PydanticMaker()):
        schema = maker.shape_of_type(Alike).schema

        assert "minItems" not in schema
        assert schema["maxItems"] == 2


def test_a_generic_model_is_named_with_its_arguments() -> None:
    schema = shape_of_type(list[Box[int]] | Box[dt.date]).schema

    assert sorted(schema["$defs"]) == ["Box_date_", "Box_int_"]


def test_a_models_own_config_says_how_its_bytes_are_written() -> None:
    assert shape_of_type(Encoded).schema["properties"]["data"] == {"type": "string", "contentEncoding": "base64"}
    assert converted(Encoded, {"data": "aGk="}).data == b"hi"


def test_a_model_is_read_by_its_aliases_and_errors_name_them() -> None:
    assert list(shape_of_type(Renamed).schema["properties"]) == ["the first"]
    assert converted(Renamed, {"the first": 1}).first == 1
    with pytest.raises(ConversionError, match=r"\$\['the first'\]: 'x' is not an integer"):
        converted(Renamed, {"the first": "x"})


def test_a_root_model_is_what_its_root_is() -> None:
    assert shape_of_type(Numbers).schema == {"type": "array", "items": {"type": "integer"}}
    assert converted(Numbers, [1, 2]) == Numbers([1, 2])


def test_an_array_like_struct_is_an_array() -> None:
    assert shape_of_type(ArrayLike).schema == {
        "type": "array",
        "prefixItems": [
            {"type": "integer", "description": "a"},
            {"type": "string", "description": "b", "default": "b"},
        ],
        "minItems": 1,
        "maxItems": 2,
    }
    assert converted(ArrayLike, [1]) == ArrayLike(1)


def test_a_member_that_may_be_unset_is_optional_and_has_no_default() -> None:
    schema = shape_of_type(Maybe).schema

    assert schema["properties"]["b"] == {"type": "integer"}
    assert schema["required"] == ["a"]


@pytest.mark.parametrize(
    ("annotation", "value", "expected"),
    [
        pytest.param(collections.deque[int], [1.0], collections.deque([1]), id="deque"),
        pytest.param(ipaddress.IPv4Address, "127.0.0.1", ipaddress.IPv4Address("127.0.0.1"), id="address"),
        pytest.param(pydantic.HttpUrl, "http://a.b/", pydantic.HttpUrl("http://a.b/"), id="url"),
    ],
)
def test_classes_that_pydantic_knows_work(annotation: Any, value: Any, expected: Any) -> None:
    assert converted(annotation, value) == expected
