"""Types made at random: a value comes through a tool's schema as it was, and a broken one is refused by its place."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import json
import uuid
from collections.abc import Callable
from typing import Any, Literal, TypedDict

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from toolkit import Tool
from toolkit.tools.kept_specifications import specify
from toolkit.tools.specification import ToolSpecification
from toolkit.tools.violations import InvalidArguments, child_path, printable


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


Made = tuple[Any, st.SearchStrategy[Any]]
"""A type, and values of it."""

KEYS = st.text(max_size=3)
SCALARS: list[Made] = [
    (str, st.text(max_size=4)),
    (int, st.integers()),
    (float, st.floats(allow_nan=False, allow_infinity=False)),
    (bool, st.booleans()),
    (dt.date, st.dates()),
    (dt.datetime, st.datetimes(timezones=st.just(dt.UTC))),
    (uuid.UUID, st.uuids()),
    (decimal.Decimal, st.decimals(allow_nan=False, allow_infinity=False)),
    (Colour, st.sampled_from(Colour)),
    (Literal["a", 1], st.sampled_from(["a", 1])),
    (int | str | None, st.integers() | st.text(max_size=4) | st.none()),
    (dt.date | None, st.dates() | st.none()),
]


def list_of(made: Made) -> Made:
    return list[made[0]], st.lists(made[1], max_size=3)  # type: ignore[name-defined]  # made at run time


def dict_of(made: Made) -> Made:
    return dict[str, made[0]], st.dictionaries(KEYS, made[1], max_size=3)  # type: ignore[name-defined]  # the same


def tuple_of(two: tuple[Made, Made]) -> Made:
    (first, firsts), (second, seconds) = two
    return tuple[first, second], st.tuples(firsts, seconds)  # type: ignore[valid-type]  # the same


def members_of(types: list[Made]) -> dict[str, Any]:
    return {f"member_{place}": annotation for place, (annotation, _) in enumerate(types)}


def dataclass_of(types: list[Made]) -> Made:
    made = dataclasses.make_dataclass("Record", members_of(types).items())
    return made, st.builds(made, *(values for _, values in types))


def struct_of(types: list[Made]) -> Made:
    made = msgspec.defstruct("Record", list(members_of(types).items()))
    return made, st.builds(made, *(values for _, values in types))


def typed_dict_of(types: list[Made]) -> Made:
    made = TypedDict("Record", members_of(types))  # type: ignore[misc]  # made at run time
    values = {f"member_{place}": strategy for place, (_, strategy) in enumerate(types)}
    return made, st.fixed_dictionaries(values)


def larger(inner: st.SearchStrategy[Made]) -> st.SearchStrategy[Made]:
    some = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        inner.map(list_of),
        inner.map(dict_of),
        st.tuples(inner, inner).map(tuple_of),
        some.map(dataclass_of),
        some.map(struct_of),
        some.map(typed_dict_of),
    )


TYPES = st.recursive(st.sampled_from(SCALARS), larger, max_leaves=5)


def specification_of(annotation: Any) -> ToolSpecification:
    def handler(value: Any) -> None:
        return None

    handler.__annotations__["value"] = annotation
    return specify(Tool.define(name="take", description="Take it.", handler=handler))


def leaves(value: Any, path: str, put: Callable[[Any], Any]) -> list[tuple[str, Callable[[Any], Any]]]:
    """The place of each scalar in a JSON value, and a function that gives the whole with another thing there."""
    if isinstance(value, dict):
        return [
            leaf
            for key in value
            for leaf in leaves(value[key], child_path(path, key), lambda new, key=key: put({**value, key: new}))
        ]
    if isinstance(value, list):
        return [
            leaf
            for at in range(len(value))
            for leaf in leaves(
                value[at], child_path(path, at), lambda new, at=at: put([*value[:at], new, *value[at + 1 :]])
            )
        ]
    return [(path, put)]


@settings(max_examples=100, deadline=None, derandomize=True)
@given(made=TYPES, as_text=st.booleans(), data=st.data())
def test_a_value_of_any_type_validates_and_converts_back_equal(made: Made, as_text: bool, data: st.DataObject) -> None:
    annotation, values = made
    value = data.draw(values)
    sent = {"value": msgspec.json.decode(msgspec.json.encode(value, enc_hook=str))}
    specification = specification_of(annotation)

    read = specification.read(json.dumps(sent) if as_text else sent)
    positional, keywords = specification.handler.bind(specification.convert(read), None, {})

    assert read == sent
    assert [*positional, *keywords.values()] == [value]


@settings(max_examples=100, deadline=None, derandomize=True)
@given(made=TYPES, data=st.data())
def test_a_value_with_a_broken_place_is_refused_by_the_path_of_that_place(made: Made, data: st.DataObject) -> None:
    annotation, values = made
    sent = {"value": msgspec.json.decode(msgspec.json.encode(data.draw(values), enc_hook=str))}
    places = leaves(sent, "$", lambda new: new)
    assume(places)
    path, put = data.draw(st.sampled_from(places))
    broken = put({"no": [["such", "thing"]]})  # no scalar is an object

    with pytest.raises(InvalidArguments) as refused:
        specification_of(annotation).read(broken)

    assert f"{printable(path, 300)}: " in str(refused.value)
