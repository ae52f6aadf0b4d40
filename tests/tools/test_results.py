"""From what a handler returns to what the model reads."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import ipaddress
import json
import math
import pathlib
import types
import uuid
from typing import Any, NamedTuple, TypedDict

import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tools.making import made
from toolkit import ToolError, ToolResult, execute
from toolkit.tools.results import cut


async def result_of(value: Any, **members: Any) -> ToolResult:
    return await execute(made(lambda arguments, ctx: value, "loop", **members))


class Colour(enum.Enum):
    RED = "red"
    TWO = 2
    WHEN = datetime.date(2024, 2, 1)
    PAIR = (1, 2)


class Word(enum.StrEnum):
    HELLO = "hello"


class Level(enum.IntEnum):
    HIGH = 3


@dataclasses.dataclass
class AsDataclass:
    city: str
    when: datetime.date
    inner: Any = None


class AsStruct(msgspec.Struct):
    city: str
    when: datetime.date
    inner: Any = None


class AsModel(pydantic.BaseModel):
    city: str
    when: datetime.date
    inner: Any = None


class AsNamedTuple(NamedTuple):
    city: str
    degrees: float


class AsTypedDict(TypedDict):
    city: str


class MyDateTime(datetime.datetime): ...


class MyDate(datetime.date): ...


class MyTime(datetime.time): ...


class MyDelta(datetime.timedelta): ...


class MyDecimal(decimal.Decimal): ...


class MyUUID(uuid.UUID): ...


class MyText(str): ...


class MyBytes(bytes): ...


class MyInt(int): ...


class MyDict(dict[str, int]): ...


class MyList(list[int]): ...


class Mapping(collections.UserDict[str, int]): ...


DAY = datetime.date(2024, 2, 1)
MOMENT = datetime.datetime(2024, 2, 1, 12, 30, tzinfo=datetime.UTC)
EAST = datetime.timezone(datetime.timedelta(hours=2))
ID = uuid.UUID("12345678123456781234567812345678")

VALUES = {
    "bool": (True, "true"),
    "int": (3, "3"),
    "big int": (2**70, "1180591620717411303424"),
    "float": (1.5, "1.5"),
    "whole float": (3.0, "3.0"),
    "nan": (math.nan, "null"),
    "infinity": (-math.inf, "null"),
    "date": (DAY, '"2024-02-01"'),
    "datetime": (datetime.datetime(2024, 2, 1, 12, 30), '"2024-02-01T12:30:00"'),
    "datetime in UTC": (MOMENT, '"2024-02-01T12:30:00Z"'),
    "datetime elsewhere": (MOMENT.replace(tzinfo=EAST), '"2024-02-01T12:30:00+02:00"'),
    "time": (datetime.time(12, 30), '"12:30:00"'),
    "timedelta": (datetime.timedelta(hours=1, seconds=1), '"PT3601S"'),
    "Decimal": (decimal.Decimal("1.50"), '"1.50"'),
    "UUID": (ID, '"12345678-1234-5678-1234-567812345678"'),
    "enum of a text": (Colour.RED, '"red"'),
    "enum of a number": (Colour.TWO, "2"),
    "enum of a date": (Colour.WHEN, '"2024-02-01"'),
    "enum of a tuple": (Colour.PAIR, "[1,2]"),
    "IntEnum": (Level.HIGH, "3"),
    "StrEnum": (Word.HELLO, '"hello"'),
    "set": ({1}, "[1]"),
    "frozenset": (frozenset({DAY}), '["2024-02-01"]'),
    "tuple": ((1, "a"), '[1,"a"]'),
    "NamedTuple": (AsNamedTuple("Oslo", 3.5), '["Oslo",3.5]'),
    "bytes": (b"\x00\xff", '"AP8="'),
    "bytearray": (bytearray(b"\x00\xff"), '"AP8="'),
    "memoryview": (memoryview(b"\x00\xff"), '"AP8="'),
    "path": (pathlib.PurePosixPath("/a/b"), '"/a/b"'),
    "dataclass": (AsDataclass("Oslo", DAY), '{"city":"Oslo","when":"2024-02-01","inner":null}'),
    "Struct": (AsStruct("Oslo", DAY), '{"city":"Oslo","when":"2024-02-01","inner":null}'),
    "model": (AsModel(city="Oslo", when=DAY), '{"city":"Oslo","when":"2024-02-01","inner":null}'),
    "TypedDict": (AsTypedDict(city="Oslo"), '{"city":"Oslo"}'),
    "empty list": ([], "[]"),
    "empty dict": ({}, "{}"),
    "deque": (collections.deque([1, 2]), "[1,2]"),
    "Counter": (collections.Counter("aab"), '{"a":2,"b":1}'),
    "OrderedDict": (collections.OrderedDict(b=1, a=2), '{"b":1,"a":2}'),
    "range": (range(3), "[0,1,2]"),
    "keys": ({"a": 1}.keys(), '["a"]'),
    "values": ({"a": 1}.values(), "[1]"),
    "items": ({"a": 1}.items(), '[["a",1]]'),
    "mapping": (types.MappingProxyType({"a": DAY}), '{"a":"2024-02-01"}'),
    "UserDict": (Mapping(a=1), '{"a":1}'),
    "secret": (pydantic.SecretStr("secret"), '"**********"'),
    "url": (pydantic.AnyUrl("http://example.org"), '"http://example.org/"'),
    "datetime subclass": (MyDateTime(2024, 2, 1, 12, 30, tzinfo=EAST, fold=1), '"2024-02-01T12:30:00+02:00"'),
    "date subclass": (MyDate(2024, 2, 1), '"2024-02-01"'),
    "time subclass": (MyTime(12, 30), '"12:30:00"'),
    "timedelta subclass": (MyDelta(seconds=5), '"PT5S"'),
    "Decimal subclass": (MyDecimal("1.50"), '"1.50"'),
    "UUID subclass": (MyUUID(int=ID.int), '"12345678-1234-5678-1234-567812345678"'),
    "bytes subclass": (MyBytes(b"\x00\xff"), '"AP8="'),
    "int subclass": (MyInt(3), "3"),
    "dict subclass": (MyDict(a=1), '{"a":1}'),
    "list subclass": (MyList([1]), "[1]"),
}


@pytest.mark.parametrize(("value", "content"), VALUES.values(), ids=VALUES)
async def test_every_kind_of_value_has_one_json(value: Any, content: str) -> None:
    result = await result_of(value)

    assert result.error is None
    assert (result.content, result.is_error) == (content, False)
    assert result.value is value


@pytest.mark.parametrize(("value", "content"), VALUES.values(), ids=VALUES)
async def test_a_value_has_the_same_json_wherever_it_stands(value: Any, content: str) -> None:
    wrapped = await result_of({"list": [value], "tuple": (value,)})
    in_dataclass = await result_of(AsDataclass("Oslo", DAY, {"deep": [value]}))
    in_model = await result_of(AsModel(city="Oslo", when=DAY, inner={"deep": [value]}))

    assert wrapped.content == f'{{"list":[{content}],"tuple":[{content}]}}'
    assert (
        in_dataclass.content
        == in_model.content
        == f'{{"city":"Oslo","when":"2024-02-01","inner":{{"deep":[{content}]}}}}'
    )


@pytest.mark.parametrize("kind", [AsDataclass, AsStruct, AsModel])
async def test_the_same_values_have_the_same_json_as_a_dict_and_as_an_object(kind: Any) -> None:
    values: dict[str, Any] = {
        "city": "Oslo",
        "when": DAY,
        "inner": {"at": MOMENT, "price": decimal.Decimal("1.10"), "tags": [Colour.RED], "raw": b"x", "nan": math.nan},
    }

    assert (await result_of(kind(**values))).content == (await result_of(values)).content


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("plain", "plain"),
        (1, "1"),
        (2**70, "1180591620717411303424"),
        (1.5, "1.5"),
        (None, "null"),
        (DAY, "2024-02-01"),
        (MOMENT, "2024-02-01T12:30:00Z"),
        (decimal.Decimal("1.50"), "1.50"),
        (ID, "12345678-1234-5678-1234-567812345678"),
        (Colour.RED, "red"),
        (Colour.TWO, "2"),
        (Colour.WHEN, "2024-02-01"),
        (Word.HELLO, "hello"),
        (Level.HIGH, "3"),
        (pathlib.PurePosixPath("/a"), "/a"),
        (b"\x00\xff", "AP8="),
        (MyText("t"), "t"),
        (MyDate(2024, 2, 1), "2024-02-01"),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_every_kind_of_key_becomes_text(key: Any, text: str) -> None:
    assert json.loads((await result_of({key: [1]})).content) == {text: [1]}
    assert json.loads((await result_of(AsDataclass("Oslo", DAY, {key: [1]}))).content)["inner"] == {text: [1]}
    assert json.loads((await result_of([{key: "\ud800"}])).content) == [{text: "\ufffd"}]
    assert json.loads((await result_of(AsStruct("\ud800", DAY, {key: 1}))).content)["inner"] == {text: 1}


class Odd:
    pass


@dataclasses.dataclass(frozen=True)
class Key:
    x: int


def itself() -> Any:
    value: dict[str, Any] = {"list": []}
    value["list"].append(value)
    return value


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "type_name"),
    [
        (Odd(), "Odd"),
        ([{"a": (Odd(),)}], "Odd"),
        (AsDataclass("Oslo", DAY, Odd()), "Odd"),
        (AsStruct("Oslo", DAY, Odd()), "Odd"),
        (AsModel(city="Oslo", when=DAY, inner=Odd()), "Odd"),
        ({"lone": "\ud800", "odd": Odd()}, "Odd"),
        (Odd, "type"),
        (AsModel, "ModelMetaclass"),
        ((number for number in range(3)), "generator"),
        ({"rows": map(str, [1])}, "map"),
        (lambda: None, "function"),
        (len, "builtin_function_or_method"),
        (object(), "object"),
        (1j, "complex"),
        (fractions.Fraction(1, 3), "Fraction"),
        (ValueError("secret"), "ValueError"),
        (10**5000, "int"),
        ({"deep": [10**5000]}, "dict"),
        (itself(), "dict"),
        (nested(100_000), "list"),
        ({(1, 2): "pair"}, "tuple"),
        ({frozenset({1}): "set"}, "frozenset"),
        ({Colour.PAIR: 1}, "tuple"),
        ({Key(1): "key"}, "Key"),
        ({Odd: 1}, "type"),
        (AsDataclass("Oslo", DAY, {(1, 2): "pair"}), "tuple"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_what_has_no_json_names_the_tool_and_the_type_at_once(value: Any, type_name: str) -> None:
    result = await result_of(value)

    assert result.content == f"tool 't' returned a value that can't be written as JSON: {type_name}"
    assert (result.is_error, result.value) == (True, None)


async def test_an_async_generator_is_named_too() -> None:
    async def rows() -> Any:
        yield 1

    assert (await result_of(rows())).content.endswith("can't be written as JSON: async_generator")


class Integral:
    """A number of another library, which says by its abstract class what it is."""

    def __int__(self) -> int:
        return 3

    def __float__(self) -> float:
        return 3.5


async def test_numbers_of_other_libraries_are_numbers() -> None:
    import numbers

    whole, real = type("int64", (Integral,), {}), type("float32", (Integral,), {})
    numbers.Integral.register(whole)
    numbers.Real.register(real)

    assert (await result_of([whole(), real()])).content == "[3,3.5]"


# Text


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ('as is: {"a": 1} \n ü 🎈', 'as is: {"a": 1} \n ü 🎈'),
        ("", ""),
        (None, ""),
        (MyText("of a subclass"), "of a subclass"),
        ("lone \ud800 and \udfff", "lone \ufffd and \ufffd"),
        ("a pair \ud83c\udf88", "a pair 🎈"),
        (MyText("lone \ud800"), "lone \ufffd"),
    ],
    ids=repr,
)
async def test_text_is_told_as_it_is_and_can_always_be_sent(value: Any, content: str) -> None:
    result = await result_of(value)

    assert result.content == content
    assert result.value is value
    result.content.encode()


async def test_lone_surrogates_inside_a_value_can_be_sent_too() -> None:
    value = {"x\ud800": ["y\udfff", {AsStruct("z\ud800", DAY).city: pathlib.PurePosixPath("/\udcff")}]}

    result = await result_of([value, AsDataclass("\ud800", DAY)])

    assert json.loads(result.content) == [
        {"x\ufffd": ["y\ufffd", {"z\ufffd": "/\ufffd"}]},
        {"city": "\ufffd", "when": "2024-02-01", "inner": None},
    ]


async def test_the_text_of_an_error_can_be_sent_too() -> None:
    def handler(arguments: Any, ctx: Any) -> None:
        raise ToolError("no file \udcff")

    assert (await execute(made(handler))).content == "no file \ufffd"


# Values that say themselves how they read


class Article:
    def __init__(self, text: Any) -> None:
        self.text = text

    def to_content(self) -> Any:
        if isinstance(self.text, Exception):
            raise self.text
        return self.text


@pytest.mark.parametrize(("text", "content"), [("compact", "compact"), ("\ud800", "\ufffd"), (3, "3")], ids=repr)
async def test_a_value_may_say_itself_how_it_reads(text: Any, content: str) -> None:
    article = Article(text)

    result = await result_of(article)

    assert (result.content, result.value) == (content, article)


async def test_a_value_that_fails_to_say_how_it_reads_is_a_failure_of_the_tool() -> None:
    assert (await result_of(Article(RuntimeError("secret")))).content == "tool 't' failed: RuntimeError"


async def test_the_class_itself_says_nothing() -> None:
    assert (await result_of(Article)).content.endswith("can't be written as JSON: type")


# ToolResult


@pytest.mark.parametrize(
    ("given", "content"),
    [
        (ToolResult({"a": 1}, "one a"), "one a"),
        (ToolResult({"a": 1}), '{"a":1}'),
        (ToolResult("text"), "text"),
        (ToolResult(None), ""),
        (ToolResult(Odd(), "an odd thing"), "an odd thing"),
        (ToolResult(Article("compact")), "compact"),
        (ToolResult(1, "lone \ud800"), "lone \ufffd"),
    ],
    ids=["both", "value", "text", "nothing", "unwritable", "to_content", "surrogate"],
)
async def test_a_handler_may_give_value_and_content_apart(given: ToolResult, content: str) -> None:
    result = await result_of(given)

    assert (result.content, result.value, result.is_error) == (content, given.value, False)


async def test_a_tool_result_without_content_needs_a_value_that_can_be_written() -> None:
    assert (await result_of(ToolResult(Odd()))).content.endswith("can't be written as JSON: Odd")


# Size


@pytest.mark.parametrize("unit", ["a", "ü", "€", "🎈"], ids=["1 byte", "2 bytes", "3 bytes", "4 bytes"])
@pytest.mark.parametrize("over", [-1, 0, 1, 1000])
async def test_content_within_its_budget_is_whole_and_over_it_cut_in_the_middle(unit: str, over: int) -> None:
    count = 400 // len(unit.encode()) + over

    result = await result_of(unit * count, max_result_tokens=100)

    if over <= 0:
        assert result.content == unit * count
    else:
        head, note, tail = result.content.split("\n")
        gone = len((unit * count).encode()) - len((head + tail).encode())
        assert note == f"[... {gone:,} bytes cut, about {-(-gone // 4):,} tokens ...]"
        assert len(result.content.encode()) <= 400
        assert set(head) == set(tail) == {unit}
        assert abs(len(head) - len(tail)) <= 1
    assert result.value == unit * count


@pytest.mark.parametrize("tokens", [1, 5, 12, 13, 14, 20])
async def test_a_budget_that_is_too_small_for_anything_still_says_how_much_is_gone(tokens: int) -> None:
    result = await result_of("🎈" * 1000, max_result_tokens=tokens)

    assert "bytes cut" in result.content
    assert len(result.content.encode()) <= max(4 * tokens, 50)


async def test_json_errors_and_results_of_tools_are_cut_to_size_alike() -> None:
    def fails(arguments: Any, ctx: Any) -> None:
        raise ToolError("e" * 1000)

    rows = [{"row": number} for number in range(1000)]
    results = [
        await result_of(rows, max_result_tokens=50),
        await result_of(ToolResult(rows, "r" * 1000), max_result_tokens=50),
        await result_of(Article("c" * 1000), max_result_tokens=50),
        await execute(made(fails, max_result_tokens=50)),
    ]

    assert all("bytes cut" in result.content and len(result.content) <= 200 for result in results)
    assert results[0].value is rows
    assert len(str(results[3].error)) == 1000


async def test_five_megabytes_are_cut_to_ten_thousand_tokens_by_themselves() -> None:
    result = await result_of("x" * 5_000_000)

    assert len(result.content) <= 40_000
    assert "[... 4,960,0" in result.content
    assert len(result.value) == 5_000_000


@given(st.text(max_size=300), st.integers(min_value=1, max_value=60))
def test_a_cut_is_made_of_the_beginning_and_the_end(text: str, tokens: int) -> None:
    text = text.encode("utf-8", "replace").decode()

    shown = cut(text, tokens)

    if shown != text:
        head, _, rest = shown.partition("\n[... ")
        _, _, tail = rest.partition(" tokens ...]\n")
        assert text.startswith(head)
        assert text.endswith(tail)
        assert len(text.encode()) > 4 * tokens


@dataclasses.dataclass
class Votes:
    by_answer: dict[bool, int]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ({True: 1}, '{"true":1}'),
        ({False: {True: [{True: 2}]}}, '{"false":{"true":[{"true":2}]}}'),
        ([{"a": ({True: 1},)}], '[{"a":[{"true":1}]}]'),
        (Votes({True: 3, False: 4}), '{"by_answer":{"true":3,"false":4}}'),
        ({1: True, 0: None, None: 1}, '{"1":true,"0":null,"null":1}'),
        ({"1": "x", True: float("nan")}, '{"1":"x","true":null}'),
        ({True: "\ud800"}, '{"true":"\ufffd"}'),
    ],
    ids=repr,
)
async def test_a_key_that_is_a_bool_is_written_as_json_writes_it(value: Any, written: str) -> None:
    assert (await result_of(value)).content == written


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (ipaddress.ip_address("10.0.0.1"), '"10.0.0.1"'),
        (ipaddress.ip_network("10.0.0.0/8"), '"10.0.0.0/8"'),
        (ipaddress.ip_interface("10.0.0.1/8"), '"10.0.0.1/8"'),
        ([ipaddress.ip_address("::1")], '["::1"]'),
        ({ipaddress.ip_address("::1"): {"net": ipaddress.ip_network("::/8")}}, '{"::1":{"net":"::/8"}}'),
        ({ipaddress.ip_address("::1"): "\ud800"}, '{"::1":"\ufffd"}'),
    ],
    ids=repr,
)
async def test_an_ip_address_is_written_as_text(value: Any, written: str) -> None:
    assert (await result_of(value)).content == written
