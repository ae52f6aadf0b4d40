"""Typed value → JSON → the schema's verdict → typed value, for values that nobody thought of."""

from __future__ import annotations

import datetime as dt
import decimal
import pathlib
import uuid
from collections.abc import Callable
from typing import Any, Literal

import jsonschema_rs
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tools.schemas import early, late
from tests.tools.schemas.table import Cat, Colour, Dog, Mood, Size
from toolkit.tools.schemas import MsgspecMaker, SchemaMaker, Shape
from toolkit.tools.schemas.pydantic_maker import PydanticMaker

DAYS = dt.timedelta(days=3650)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
DECIMALS = st.decimals(allow_nan=False, allow_infinity=False)
DURATIONS = st.timedeltas(-DAYS, DAYS)
PATHS = st.from_regex(r"[a-z]{1,5}(/[a-z]{1,5}){0,2}", fullmatch=True).map(pathlib.Path)


def trees(module: Any) -> st.SearchStrategy[Any]:
    points = st.builds(module.Point, st.integers(), st.integers(min_value=0))
    leaf = st.builds(module.Tree, st.text(), planted=st.dates(), at=st.none() | points)
    return st.recursive(
        leaf, lambda inner: st.builds(module.Tree, st.text(), st.lists(inner, max_size=3)), max_leaves=5
    )


def bookings() -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries({"day": st.dates()}, optional={"nights": st.integers()})


TYPES: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "str": (str, st.text()),
    "int": (int, st.integers()),
    "float": (float, FLOATS),
    "bool": (bool, st.booleans()),
    "date": (dt.date, st.dates()),
    "datetime": (dt.datetime, st.datetimes() | st.datetimes(timezones=st.just(dt.UTC))),
    "time": (dt.time, st.times()),
    "timedelta": (dt.timedelta, DURATIONS),
    "decimal": (decimal.Decimal, DECIMALS),
    "uuid": (uuid.UUID, st.uuids()),
    "bytes": (bytes, st.binary()),
    "path": (pathlib.Path, PATHS),
    "literal": (Literal["a", 1, None], st.sampled_from(["a", 1, None])),
    "enum": (Colour, st.sampled_from(Colour)),
    "int_enum": (Size, st.sampled_from(Size)),
    "str_enum": (Mood, st.sampled_from(Mood)),
    "union": (int | str | bool | None, st.integers() | st.text() | st.booleans() | st.none()),
    "set": (set[int], st.sets(st.integers())),
    "frozenset": (frozenset[str], st.frozensets(st.text())),
    "tuple": (tuple[int, dt.date], st.tuples(st.integers(), st.dates())),
    "tuple_variadic": (tuple[bool, ...], st.lists(st.booleans()).map(tuple)),
    "nested": (
        dict[str, list[dt.date | None]],
        st.dictionaries(st.text(), st.lists(st.none() | st.dates(), max_size=4), max_size=4),
    ),
    "dict_of_int_keys": (dict[int, bool], st.dictionaries(st.integers(-(2**63), 2**63 - 1), st.booleans())),
    "dict_of_enum_keys": (dict[Colour, int], st.dictionaries(st.sampled_from(Colour), st.integers())),
    "dataclass_early": (early.Tree, trees(early)),
    "dataclass_late": (late.Tree, trees(late)),
    "typed_dict": (late.Booking, bookings()),
    "named_tuple": (list[early.Pair], st.lists(st.builds(early.Pair, st.integers(), st.text()), max_size=3)),
}
ONLY_BY_PYDANTIC: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "dataclasses": (Cat | Dog, st.builds(Cat, st.integers()) | st.builds(Dog, st.text())),
    "date_or_list": (dt.date | list[Cat] | Dog, st.dates() | st.lists(st.builds(Cat, st.integers()), max_size=3)),
}
MSGSPEC, PYDANTIC = MsgspecMaker(), PydanticMaker()


def judge_of(schema: dict[str, Any]) -> Callable[[Any], bool]:
    return jsonschema_rs.validator_for(schema).is_valid


def shape_by(maker: SchemaMaker, annotation: Any) -> tuple[Shape, Callable[[Any], bool]]:
    shape = maker.shape_of_type(annotation)
    return shape, judge_of(shape.schema)


CASES = [
    pytest.param(*shape_by(maker, annotation), values, id=f"{name}-{label}")
    for label, maker, types in (
        ("msgspec", MSGSPEC, TYPES),
        ("pydantic", PYDANTIC, TYPES | ONLY_BY_PYDANTIC),
    )
    for name, (annotation, values) in types.items()
]


@pytest.mark.parametrize(("shape", "is_valid", "values"), CASES)
@settings(max_examples=25, deadline=None, derandomize=True)
@given(data=st.data())
def test_a_value_comes_back_from_its_json_as_it_was(
    shape: Shape, is_valid: Callable[[Any], bool], values: st.SearchStrategy[Any], data: st.DataObject
) -> None:
    value = data.draw(values)
    sent = msgspec.json.decode(msgspec.json.encode(value, enc_hook=str))

    came_back = sent if shape.convert is None else shape.convert(sent)

    assert is_valid(sent)
    assert came_back == value
    assert type(came_back) is type(value)
