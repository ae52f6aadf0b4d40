"""One table of types for both makers: the schema, values and what becomes of them, values that are refused."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import pathlib
import re
import sys
import typing
import uuid
from collections.abc import Sequence
from typing import Annotated, Any, Literal, NewType, Optional, Union

import annotated_doc
import annotated_types
import msgspec
import pydantic
import typing_extensions

from tests.tools.schemas import early, late
from toolkit.tools.schemas import refusals
from toolkit.tools.violations import Violation


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Size(enum.IntEnum):
    """How big."""

    SMALL = 1
    LARGE = 2


class Mood(enum.StrEnum):
    GOOD = "good"
    BAD = "bad"


class Ratio(enum.Enum):
    HALF = 0.5


Id = NewType("Id", int)
Names = typing_extensions.TypeAliasType("Names", list[str])


class PlainTypedDict(typing.TypedDict):
    day: dt.date


@dataclasses.dataclass
class Range:
    low: int
    high: int

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError("low must not be above high")


@dataclasses.dataclass
class Odd:
    """Members that are named as keywords of JSON Schema."""

    title: str
    type: int
    enum: list[str]
    properties: dict[str, str]
    const: Literal["$ref"] = "$ref"


@dataclasses.dataclass
class Cat:
    lives: int


@dataclasses.dataclass
class Dog:
    bark: str


class Circle(msgspec.Struct, tag="circle"):
    radius: float


class Square(msgspec.Struct, tag="square", rename="camel"):
    side_length: float


class Model(pydantic.BaseModel):
    """A model."""

    day: dt.date
    tags: set[str] = set()
    price: decimal.Decimal | None = None
    data: bytes = b""
    kind: Literal["model"] = "model"
    colour: Colour = Colour.RED


class OpenModel(pydantic.BaseModel, extra="allow", title="Open to all"):
    x: int


class LenientModel(pydantic.BaseModel, extra="ignore"):
    x: int


class Kitten(pydantic.BaseModel):
    kind: Literal["kitten"]
    age: int


class Puppy(pydantic.BaseModel):
    kind: Literal["puppy"]
    when: dt.date


ONLY_MSGSPEC = "msgspec's Structs are unknown to pydantic"
ONLY_PYDANTIC = "pydantic's own types and words"
TWO_TEXTS = "msgspec can't tell two text-like types apart"
TWO_OBJECTS = "msgspec can't tell two untagged object types apart"


@dataclasses.dataclass(frozen=True)
class Row:
    """`values` are pairs of a JSON value and its typed value; `refused` are values valid for the schema, with why.

    `invalid` are values that the schema refuses. `not_by_...` is the reason why that maker can't.
    """

    name: str
    annotation: Any
    schema: dict[str, Any]
    values: Sequence[tuple[Any, Any]] = ()
    invalid: Sequence[Any] = ()
    refused: Sequence[tuple[Any, list[Violation]]] = ()
    not_by_msgspec: str = ""
    not_by_pydantic: str = ""


def refused(value: Any, message: str, path: str = "$") -> tuple[Any, list[Violation]]:
    """A value, and what is told of it: the message is preceded by the part of it at the path."""
    steps = [name or quoted or int(index) for name, quoted, index in _STEP.findall(path)]
    return value, [Violation(path, refusals.of_the_value(value, steps, message))]


_STEP = re.compile(r"\.(\w+)|\['(.*?)'\]|\[(\d+)\]")


def closed(properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    needs = {"required": list(required)} if required else {}
    return {"type": "object", "properties": properties, "additionalProperties": False} | needs | more


STRING: dict[str, Any] = {"type": "string"}
INTEGER: dict[str, Any] = {"type": "integer"}
NUMBER: dict[str, Any] = {"type": "number"}
NULL: dict[str, Any] = {"type": "null"}
DATE: dict[str, Any] = {"type": "string", "format": "date"}
BYTES: dict[str, Any] = {"type": "string", "contentEncoding": "base64"}
DECIMAL: dict[str, Any] = {"anyOf": [NUMBER, {"type": "string", "pattern": "^[+-]?[0-9.]+([eE][+-]?[0-9]+)?$"}]}

SCALARS = [
    Row("str", str, STRING, [("a", "a"), ("5", "5")], [5, None]),
    Row("int", int, INTEGER, [(5, 5), (5.0, 5), (10**30, 10**30), (1e300, int(1e300))], [True, "5", 5.5]),
    Row(
        "float",
        float,
        NUMBER,
        [(5, 5.0), (2.5, 2.5)],
        [True, "5"],
        [refused(10**400, refusals.OUT_OF_RANGE)],
    ),
    Row("bool", bool, {"type": "boolean"}, [(True, True)], [1, "true"]),
    Row("none", None, NULL, [(None, None)], ["null"]),
    Row("any", Any, {}, [([1, {"a": None}], [1, {"a": None}])]),
    Row("object", object, {}, [(5, 5)]),
    Row("date", dt.date, DATE, [("2024-05-31", dt.date(2024, 5, 31))], [5], [refused("2024-13-01", refusals.DATE)]),
    Row(
        "datetime",
        dt.datetime,
        {"type": "string", "format": "date-time"},
        [
            ("2024-05-31T14:30:00", dt.datetime(2024, 5, 31, 14, 30)),
            ("2024-05-31T14:30:00Z", dt.datetime(2024, 5, 31, 14, 30, tzinfo=dt.UTC)),
        ],
        [5],
        [refused("tomorrow", refusals.DATETIME)],
    ),
    Row(
        "time",
        dt.time,
        {"type": "string", "format": "time"},
        [("14:30:00", dt.time(14, 30))],
        [5],
        [refused("25:00:00", refusals.TIME)],
    ),
    Row(
        "timedelta",
        dt.timedelta,
        {"type": "string", "format": "duration"},
        [("P1DT2H", dt.timedelta(days=1, hours=2))],
        [5],
        [refused("a while", refusals.DURATION)],
    ),
    Row(
        "decimal",
        decimal.Decimal,
        DECIMAL,
        [("19.99", decimal.Decimal("19.99")), (19.99, decimal.Decimal("19.99")), (5, decimal.Decimal(5))],
        [True, "NaN", "Infinity", "x"],
        [refused("1.2.3", refusals.DECIMAL)],
    ),
    Row(
        "uuid",
        uuid.UUID,
        {"type": "string", "format": "uuid"},
        [("12345678-1234-5678-1234-567812345678", uuid.UUID("12345678-1234-5678-1234-567812345678"))],
        [5],
        [refused("1234", refusals.UUID)],
    ),
    Row("bytes", bytes, BYTES, [("aGk=", b"hi"), ("+/+/", b"\xfb\xff\xbf")], [5], [refused("a", refusals.BASE64)]),
    Row("path", pathlib.Path, STRING, [("a/b.txt", pathlib.Path("a/b.txt"))], [5]),
]

CHOICES = [
    Row("optional", Optional[str], {"anyOf": [STRING, NULL]}, [(None, None), ("null", "null")], [5]),  # noqa: UP045
    Row("or_none", str | None, {"anyOf": [STRING, NULL]}, [(None, None), ("a", "a")], [5]),
    Row("none_first", None | dt.date, {"anyOf": [DATE, NULL]}, [(None, None), ("2024-05-31", dt.date(2024, 5, 31))]),
    Row(
        "union",
        Union[int, str, None],  # noqa: UP007
        {"anyOf": [INTEGER, STRING, NULL]},
        [(5, 5), (5.0, 5), ("5", "5"), (None, None)],
        [True, 5.5],
    ),
    Row("bool_or_str", bool | str, {"anyOf": [{"type": "boolean"}, STRING]}, [("true", "true"), (True, True)], [1]),
    Row("int_or_float", int | float, {"anyOf": [INTEGER, NUMBER]}, [(5, 5), (2.5, 2.5)], [True, "5"]),
    Row("optional_decimal", decimal.Decimal | None, {"anyOf": [*DECIMAL["anyOf"], NULL]}, [(None, None)], ["x"]),
    Row("literal_str", Literal["b", "a"], {"type": "string", "enum": ["b", "a"]}, [("a", "a")], ["c", 1]),
    Row("literal_one", Literal["a"], {"type": "string", "enum": ["a"]}, [("a", "a")], ["c"]),
    Row("literal_int", Literal[5, 6], {"type": "integer", "enum": [5, 6]}, [(5, 5), (5.0, 5)], [7, "5", True]),
    Row("literal_mixed", Literal["a", 1], {"enum": ["a", 1]}, [("a", "a"), (1.0, 1)], ["1", True]),
    Row("literal_none", Literal["a", None], {"enum": ["a", None]}, [(None, None)], ["null"]),
    Row("enum_str", Colour, {"type": "string", "enum": ["red", "blue"]}, [("red", Colour.RED)], ["RED", "green"]),
    Row(
        "enum_int",
        Size,
        {"type": "integer", "enum": [1, 2], "description": "How big."},
        [(1, Size.SMALL), (2.0, Size.LARGE)],
        [3, "1", True],
    ),
    Row("str_enum", Mood, {"type": "string", "enum": ["good", "bad"]}, [("bad", Mood.BAD)], ["x"]),
    Row(
        "enum_float",
        Ratio,
        {"type": "number", "enum": [0.5]},
        [(0.5, Ratio.HALF)],
        [1],
        not_by_msgspec="msgspec takes enums of texts or of ints",
    ),
    Row(
        "optional_enum",
        Colour | None,
        {
            "anyOf": [{"$ref": "#/$defs/Colour"}, NULL],
            "$defs": {"Colour": {"type": "string", "enum": ["red", "blue"]}},
        },
        [(None, None), ("blue", Colour.BLUE)],
        ["x"],
    ),
    Row(
        "date_or_str",
        dt.date | str,
        {"anyOf": [DATE, STRING]},
        [("2024-05-31", dt.date(2024, 5, 31)), ("soon", "soon")],
        [5],
        not_by_msgspec=TWO_TEXTS,
    ),
    Row(
        "literal_of_str_enum",
        Literal[Mood.GOOD],
        {"type": "string", "enum": ["good"]},
        [("good", Mood.GOOD)],
        ["bad"],
        not_by_msgspec="msgspec takes no enum members in a Literal",
    ),
]

CONTAINERS = [
    Row("list", list[str], {"type": "array", "items": STRING}, [(["a"], ["a"])], ["a", [1]]),
    Row("bare_list", list, {"type": "array"}, [([1, "a"], [1, "a"])], [{}]),
    Row("list_of_any", list[Any], {"type": "array"}, [([1, None], [1, None])]),
    Row("list_of_int", list[int], {"type": "array", "items": INTEGER}, [([1, 2.0], [1, 2])], [[True]]),
    Row("sequence", Sequence[int], {"type": "array", "items": INTEGER}, [([1], [1])]),
    Row("dict", dict[str, Any], {"type": "object"}, [({"a": [1]}, {"a": [1]})], [[]]),
    Row("bare_dict", dict, {"type": "object"}, [({"a": 1}, {"a": 1})], [[]]),
    Row(
        "dict_of_dates",
        dict[str, dt.date],
        {"type": "object", "additionalProperties": DATE},
        [({"a": "2024-05-31"}, {"a": dt.date(2024, 5, 31)})],
        [{"a": 1}],
        [
            refused({"a": "2024-05-31", "b": "x", "c": "2024-05-31"}, refusals.DATE, "$.b"),
            refused({"odd name": "x"}, refusals.DATE, "$['odd name']"),
        ],
    ),
    Row(
        "dict_of_dicts",
        dict[str, dict[str, list[dt.date]]],
        {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "additionalProperties": {"type": "array", "items": DATE},
            },
        },
        refused=[
            refused(
                {"a": {"b": []}, "c": {"d": ["2024-05-31"], "e.f": ["2024-05-31", "x"]}},
                refusals.DATE,
                "$.c['e.f'][1]",
            )
        ],
    ),
    Row(
        "dict_of_int_keys",
        dict[int, str],
        {"type": "object", "additionalProperties": STRING},
        [({"1": "a"}, {1: "a"})],
        refused=[refused({"1": "a", "x": "b"}, "its key 'x' is not an integer")],
    ),
    Row(
        "dict_of_enum_keys",
        dict[Colour, int],
        {
            "type": "object",
            "propertyNames": {"$ref": "#/$defs/Colour"},
            "additionalProperties": INTEGER,
            "$defs": {"Colour": {"type": "string", "enum": ["red", "blue"]}},
        },
        [({"red": 1}, {Colour.RED: 1})],
        [{"green": 1}],
    ),
    Row(
        "dict_of_int_enum_keys",
        dict[Size, int],
        {"type": "object", "additionalProperties": INTEGER},
        [({"1": 1}, {Size.SMALL: 1})],
    ),
    Row("set", set[int], {"type": "array", "items": INTEGER, "uniqueItems": True}, [([1, 2], {1, 2})], [[1, 1]]),
    Row("bare_set", set, {"type": "array", "uniqueItems": True}, [([1, 2], {1, 2})]),
    Row(
        "frozenset",
        frozenset[str],
        {"type": "array", "items": STRING, "uniqueItems": True},
        [(["a"], frozenset({"a"}))],
    ),
    Row("tuple_variadic", tuple[int, ...], {"type": "array", "items": INTEGER}, [([1, 2], (1, 2)), ([], ())]),
    Row("bare_tuple", tuple, {"type": "array"}, [([1, "a"], (1, "a"))]),
    Row(
        "tuple_fixed",
        tuple[int, str],
        {"type": "array", "prefixItems": [INTEGER, STRING], "minItems": 2, "maxItems": 2},
        [([1, "a"], (1, "a"))],
        [[1], [1, "a", 2], ["a", 1]],
    ),
    Row("tuple_empty", tuple[()], {"type": "array", "minItems": 0, "maxItems": 0}, [([], ())], [[1]]),
    Row(
        "nested",
        dict[str, list[tuple[dt.date, int | None]]],
        {
            "type": "object",
            "additionalProperties": {
                "type": "array",
                "items": {
                    "type": "array",
                    "prefixItems": [DATE, {"anyOf": [INTEGER, NULL]}],
                    "minItems": 2,
                    "maxItems": 2,
                },
            },
        },
        [({"a": [["2024-05-31", None]]}, {"a": [(dt.date(2024, 5, 31), None)]})],
        refused=[refused({"a": [["2024-05-31", 1], ["x", 1]]}, refusals.DATE, "$.a[1][0]")],
    ),
    Row("new_type", Id, INTEGER, [(5.0, 5)], ["5"]),
    Row(
        "alias",
        Names,
        {"type": "array", "items": STRING},
        [(["a"], ["a"])],
        [[1]],
        not_by_msgspec=(
            ""
            if typing_extensions.TypeAliasType is getattr(typing, "TypeAliasType", None)
            else "msgspec takes the aliases of Python 3.12's typing only"
        ),
    ),
]

POINT = closed(
    {
        "x": INTEGER,
        "y": {"type": "integer", "minimum": 0, "description": "Steps to the north.", "default": 0},
    },
    "x",
    description="A place on the map.",
)
TREE = closed(
    {
        "name": STRING,
        "children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
        "planted": DATE | {"default": "2024-05-31"},
        "at": {"anyOf": [{"$ref": "#/$defs/Point"}, NULL], "default": None},
    },
    "name",
)


def classes(module: Any, when: str) -> list[Row]:
    """Rows for the classes of `early` or `late`."""
    return [
        Row(
            f"dataclass_{when}",
            module.Point,
            POINT,
            [({"x": 1.0}, module.Point(1)), ({"x": 1, "y": 2}, module.Point(1, 2))],
            [{}, {"x": 1, "z": 2}, {"x": 1, "y": -1}, [1, 2]],
        ),
        Row(
            f"dataclass_recursive_{when}",
            module.Tree,
            TREE | {"$defs": {"Tree": TREE, "Point": POINT}},
            [
                (
                    {"name": "a", "children": [{"name": "b", "at": {"x": 1}}]},
                    module.Tree("a", [module.Tree("b", at=module.Point(1))]),
                )
            ],
            [{"name": "a", "children": [{}]}, {"name": "a", "children": [{"name": "b", "leaf": 1}]}],
            [
                refused(
                    {"name": "a", "children": [{"name": "b", "planted": "x"}]}, refusals.DATE, "$.children[0].planted"
                )
            ],
        ),
        Row(
            f"dataclass_generic_{when}",
            list[module.Box[dt.date]],
            {
                "type": "array",
                "items": {"$ref": "#/$defs/Box_date_"},
                "$defs": {"Box_date_": closed({"item": DATE}, "item")},
            },
            [([{"item": "2024-05-31"}], [module.Box(dt.date(2024, 5, 31))])],
            [[{}]],
        ),
        Row(
            f"dataclass_of_generic_{when}",
            module.Parcel,
            closed({"item": INTEGER, "label": {"type": "string", "default": ""}}, "item"),
            [({"item": 5}, module.Parcel(5))],
            [{"item": "5"}],
        ),
        Row(
            f"typed_dict_{when}",
            module.Booking,
            closed({"day": DATE, "nights": {"type": "integer", "description": "How many."}}, "day"),
            [({"day": "2024-05-31"}, {"day": dt.date(2024, 5, 31)})],
            [{"nights": 1}, {"day": "2024-05-31", "x": 1}],
            [refused({"day": "x"}, refusals.DATE, "$.day")],
        ),
        Row(
            f"typed_dict_not_total_{when}",
            module.Search,
            closed({"text": STRING, "limit": INTEGER}, "text"),
            [({"text": "a", "limit": 5.0}, {"text": "a", "limit": 5})],
            [{"limit": 5}],
        ),
        Row(
            f"named_tuple_{when}",
            module.Pair,
            {
                "type": "array",
                "prefixItems": [
                    {"type": "integer", "description": "left"},
                    {"type": "string", "description": "right", "default": "r"},
                ],
                "minItems": 1,
                "maxItems": 2,
            },
            [([1], module.Pair(1)), ([1, "a"], module.Pair(1, "a"))],
            [[], ["a"], [1, "a", 2]],
        ),
    ]


OBJECTS = [
    *classes(early, "early"),
    *classes(late, "late"),
    Row(
        "dataclass_that_checks",
        list[Range],
        {
            "type": "array",
            "items": {"$ref": "#/$defs/Range"},
            "$defs": {"Range": closed({"low": INTEGER, "high": INTEGER}, "low", "high")},
        },
        [([{"low": 1, "high": 2}], [Range(1, 2)])],
        refused=[refused([{"low": 2, "high": 1}], "low must not be above high", "$[0]")],
    ),
    Row(
        "members_named_as_keywords",
        Odd,
        closed(
            {
                "title": STRING,
                "type": INTEGER,
                "enum": {"type": "array", "items": STRING},
                "properties": {"type": "object", "additionalProperties": STRING},
                "const": {"type": "string", "enum": ["$ref"], "default": "$ref"},
            },
            "title",
            "type",
            "enum",
            "properties",
            description="Members that are named as keywords of JSON Schema.",
        ),
        [
            (
                {"title": "a", "type": 1, "enum": ["b"], "properties": {"$ref": "c"}},
                Odd("a", 1, ["b"], {"$ref": "c"}),
            )
        ],
        [{"title": 1, "type": 1, "enum": [], "properties": {}}],
    ),
    Row(
        "typing_typed_dict",
        PlainTypedDict,
        closed({"day": DATE}, "day"),
        [({"day": "2024-05-31"}, {"day": dt.date(2024, 5, 31)})],
        not_by_pydantic=(
            "before Python 3.12, pydantic wants typing_extensions.TypedDict" if sys.version_info < (3, 12) else ""
        ),
    ),
    Row(
        "two_dataclasses",
        Cat | Dog,
        {
            "anyOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}],
            "$defs": {"Cat": closed({"lives": INTEGER}, "lives"), "Dog": closed({"bark": STRING}, "bark")},
        },
        [({"lives": 9}, Cat(9)), ({"bark": "wow"}, Dog("wow"))],
        [{}, {"lives": 9, "bark": "wow"}],
        not_by_msgspec=TWO_OBJECTS,
    ),
    Row(
        "tagged_structs",
        Circle | Square,
        {
            "anyOf": [{"$ref": "#/$defs/Circle"}, {"$ref": "#/$defs/Square"}],
            "$defs": {
                "Circle": closed({"type": {"type": "string", "enum": ["circle"]}, "radius": NUMBER}, "type", "radius"),
                "Square": closed(
                    {"type": {"type": "string", "enum": ["square"]}, "sideLength": NUMBER}, "type", "sideLength"
                ),
            },
        },
        [({"type": "square", "sideLength": 2}, Square(2.0)), ({"type": "circle", "radius": 1.5}, Circle(1.5))],
        [{"radius": 1}, {"type": "circle", "radius": 1, "side": 2}],
        not_by_pydantic=ONLY_MSGSPEC,
    ),
    Row(
        "model",
        Model,
        closed(
            {
                "day": DATE,
                "tags": {"type": "array", "items": STRING, "uniqueItems": True, "default": []},
                "price": {"anyOf": [*DECIMAL["anyOf"], NULL], "default": None},
                "data": {"type": "string", "default": ""},
                "kind": {"type": "string", "enum": ["model"], "default": "model"},
                "colour": {"$ref": "#/$defs/Colour", "default": "red"},
            },
            "day",
            description="A model.",
        )
        | {"$defs": {"Colour": {"type": "string", "enum": ["red", "blue"]}}},
        [({"day": "2024-05-31", "data": "hi"}, Model(day=dt.date(2024, 5, 31), data=b"hi"))],
        [{}, {"day": "2024-05-31", "x": 1}],
        [refused({"day": "x"}, refusals.DATE, "$.day")],
        not_by_msgspec=ONLY_PYDANTIC,
    ),
    Row(
        "model_open",
        OpenModel,
        {
            "type": "object",
            "title": "Open to all",
            "properties": {"x": INTEGER},
            "required": ["x"],
            "additionalProperties": True,
        },
        [({"x": 1, "y": 2}, OpenModel.model_validate({"x": 1, "y": 2}))],
        not_by_msgspec=ONLY_PYDANTIC,
    ),
    Row(
        "model_lenient",
        LenientModel,
        {"type": "object", "properties": {"x": INTEGER}, "required": ["x"]},
        [({"x": 1, "y": 2}, LenientModel(x=1))],
        not_by_msgspec=ONLY_PYDANTIC,
    ),
    Row(
        "models_told_apart",
        list[Annotated[Kitten | Puppy, pydantic.Field(discriminator="kind")]],
        {
            "type": "array",
            "items": {"anyOf": [{"$ref": "#/$defs/Kitten"}, {"$ref": "#/$defs/Puppy"}]},
            "$defs": {
                "Kitten": closed({"kind": {"type": "string", "enum": ["kitten"]}, "age": INTEGER}, "kind", "age"),
                "Puppy": closed({"kind": {"type": "string", "enum": ["puppy"]}, "when": DATE}, "kind", "when"),
            },
        },
        [([{"kind": "kitten", "age": 1}], [Kitten(kind="kitten", age=1)])],
        [[{"kind": "cow"}]],
        [refused([{"kind": "puppy", "when": "x"}], refusals.DATE, "$[0].when")],
        not_by_msgspec=ONLY_PYDANTIC,
    ),
]

WITH_WORDS = [
    Row("text", Annotated[str, "A city."], STRING | {"description": "A city."}, [("a", "a")]),
    Row("last_text_wins", Annotated[str, "A.", "B."], STRING | {"description": "B."}),
    Row("typing_doc", Annotated[int, typing_extensions.Doc("How many.")], INTEGER | {"description": "How many."}),
    Row("annotated_doc", Annotated[int, annotated_doc.Doc("How many.")], INTEGER | {"description": "How many."}),
    Row(
        "meta",
        Annotated[int, msgspec.Meta(ge=1, lt=10, multiple_of=2, title="N", description="How many.", examples=[2])],
        {
            "type": "integer",
            "minimum": 1,
            "exclusiveMaximum": 10,
            "multipleOf": 2,
            "title": "N",
            "description": "How many.",
            "examples": [2],
        },
        [(2.0, 2)],
        [0, 10, 3],
    ),
    Row(
        "meta_of_text",
        Annotated[str, msgspec.Meta(pattern="^a", min_length=1, max_length=3, extra_json_schema={"format": "x"})],
        {"type": "string", "pattern": "^a", "minLength": 1, "maxLength": 3, "format": "x"},
        [("ab", "ab")],
        ["b", "", "abcd"],
    ),
    Row(
        "meta_inside",
        list[Annotated[int, msgspec.Meta(ge=1), "One of them."]],
        {"type": "array", "items": {"type": "integer", "minimum": 1, "description": "One of them."}},
        [([1], [1])],
        [[0]],
    ),
    Row(
        "bounds",
        Annotated[int, annotated_types.Ge(1), annotated_types.Le(9), annotated_types.MultipleOf(3)],
        {"type": "integer", "minimum": 1, "maximum": 9, "multipleOf": 3},
        [(9, 9)],
        [0, 10, 4],
    ),
    Row(
        "interval",
        Annotated[float, annotated_types.Interval(gt=0, lt=1)],
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        [(0.5, 0.5)],
        [0, 1],
    ),
    Row(
        "length",
        Annotated[list[int], annotated_types.Len(1, 2)],
        {"type": "array", "items": INTEGER, "minItems": 1, "maxItems": 2},
        [([1], [1])],
        [[], [1, 2, 3]],
    ),
    Row(
        "length_of_dict",
        Annotated[dict[str, int], annotated_types.MinLen(1)],
        {"type": "object", "additionalProperties": INTEGER, "minProperties": 1},
        [({"a": 1}, {"a": 1})],
        [{}],
    ),
    Row(
        "length_of_bytes",
        Annotated[bytes, annotated_types.MaxLen(2)],
        BYTES | {"maxLength": 4},
        [("aGk=", b"hi")],
        ["aGlqa2w="],
    ),
    Row(
        "bounds_of_optional",
        Annotated[int | None, annotated_types.Ge(1)],
        {"anyOf": [{"type": "integer", "minimum": 1}, NULL]},
        [(None, None), (1, 1)],
        [0],
    ),
    Row("unknown_words", Annotated[int, object(), ["x"], {"a": 1}], INTEGER, [(5, 5)]),
    Row(
        "described_reference",
        list[Annotated[Cat, "Whose."]],
        {
            "type": "array",
            "items": {"$ref": "#/$defs/Cat", "description": "Whose."},
            "$defs": {"Cat": closed({"lives": INTEGER}, "lives")},
        },
        [([{"lives": 9}], [Cat(9)])],
    ),
    Row(
        "bounds_of_decimal",
        Annotated[decimal.Decimal, annotated_types.Ge(0)],
        {"anyOf": [NUMBER | {"minimum": 0}, DECIMAL["anyOf"][1]]},
        [("0.5", decimal.Decimal("0.5"))],
        [-1],
        [refused("-1", "should be greater than or equal to 0")],
        not_by_msgspec="msgspec bounds no decimals",
    ),
    Row(
        "meta_of_decimal",
        Annotated[decimal.Decimal, msgspec.Meta(ge=0)],
        {"anyOf": [NUMBER | {"minimum": 0}, DECIMAL["anyOf"][1]]},
        refused=[refused("-1", "should be greater than or equal to 0")],
        not_by_msgspec="msgspec bounds no decimals",
    ),
    Row(
        "bounds_of_date",
        Annotated[dt.date, annotated_types.Ge(dt.date(2024, 1, 1)), "Not before 2024."],
        DATE | {"description": "Not before 2024."},
        [("2024-05-31", dt.date(2024, 5, 31))],
        refused=[refused("2023-05-31", "should be greater than or equal to 2024-01-01")],
        not_by_msgspec="msgspec bounds no dates",
    ),
    Row(
        "field",
        Annotated[int, pydantic.Field(ge=1, description="How many.", title="N", examples=[1])],
        {"type": "integer", "minimum": 1, "description": "How many.", "title": "N", "examples": [1]},
        [(2.0, 2)],
        [0, True],
        not_by_msgspec=ONLY_PYDANTIC,
    ),
    Row(
        "field_around_words",
        Annotated[list[Annotated[early.Point, "Where."]], pydantic.Field(max_length=2)],
        {
            "type": "array",
            "items": {"$ref": "#/$defs/Point", "description": "Where."},
            "maxItems": 2,
            "$defs": {"Point": POINT},
        },
        [([{"x": 1}], [early.Point(1)])],
        [[{"x": 1, "y": -1}]],
        not_by_msgspec=ONLY_PYDANTIC,
    ),
    Row(
        "validator",
        list[Annotated[dt.date, pydantic.BeforeValidator(lambda text: text.strip())]],
        {"type": "array", "items": DATE},
        [([" 2024-05-31 "], [dt.date(2024, 5, 31)])],
        not_by_msgspec=ONLY_PYDANTIC,
    ),
    Row(
        "constrained",
        pydantic.PositiveInt,
        {"type": "integer", "exclusiveMinimum": 0},
        [(5.0, 5)],
        [0],
    ),
]

TABLE = [*SCALARS, *CHOICES, *CONTAINERS, *OBJECTS, *WITH_WORDS]
