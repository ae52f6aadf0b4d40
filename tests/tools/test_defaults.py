"""Defaults of a handler's parameters: how the schema shows them, and what the handler gets."""

# ruff: noqa: B006, B008 - such defaults are what is tested

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import msgspec
import pydantic
import pytest

from toolkit import ConfigurationError, Tool, definition, execute, tool


class Point(NamedTuple):
    x: int
    y: int = 0


@dataclasses.dataclass(frozen=True)
class Area:
    corners: tuple[tuple[int, int], ...] = ((0, 0), (1, 1))
    center: Point = Point(1)  # noqa: RUF009 - a tuple


class Model(pydantic.BaseModel):
    corners: tuple[int, ...] = (1, 2)


def default_of(described: Any, name: str = "value") -> Any:
    return definition(described).input_schema["properties"][name]["default"]


def by_tuple(value: tuple[int, ...] = (1, 2)) -> Any:
    """Do it."""
    return value


def by_sequence(value: Sequence[str] = ("a",)) -> Any:
    """Do it."""
    return value


def nested(value: dict[str, list[tuple[int, ...]]] = {"a": [(1,), ()]}) -> Any:
    """Do it."""
    return value


def by_dataclass(value: Area = Area()) -> Any:
    """Do it."""
    return value


def by_named_tuple(value: Point = Point(1)) -> Any:
    """Do it."""
    return value


def by_model(value: Model = Model()) -> Any:
    """Do it."""
    return value


def by_pydantic(value: Annotated[tuple[int, ...], pydantic.Field(max_length=9)] = (1, 2)) -> Any:
    """Do it."""
    return value


@pytest.mark.parametrize(
    ("handler", "shown"),
    [
        (by_tuple, [1, 2]),
        (by_sequence, ["a"]),
        (nested, {"a": [[1], []]}),
        (by_dataclass, {"corners": [[0, 0], [1, 1]], "center": [1, 0]}),
        (by_named_tuple, [1, 0]),
        (by_model, {"corners": [1, 2]}),
        (by_pydantic, [1, 2]),
    ],
)
async def test_a_tuple_in_a_default_is_shown_as_an_array(handler: Any, shown: Any) -> None:
    made = tool(handler)

    assert default_of(made) == shown
    assert (await made.execute()).value == handler()


async def test_a_tuple_in_a_members_default_is_shown_as_an_array() -> None:
    @tool
    def draw(area: Area, model: Model) -> Any:
        """Draw it."""
        return area.corners

    shown = definition(draw).input_schema["$defs"]

    assert shown["Area"]["properties"]["corners"]["default"] == [[0, 0], [1, 1]]
    assert shown["Model"]["properties"]["corners"]["default"] == [1, 2]
    assert (await draw.execute({"area": {}, "model": {}})).value == ((0, 0), (1, 1))


EXTRA = msgspec.Meta(examples=[(1, 2)], extra_json_schema={"x-order": ("a", ("b",))})


@pytest.mark.parametrize(
    "annotation",
    [
        Annotated[list[int], EXTRA],
        Annotated[list[int], pydantic.Field(examples=[(1, 2)], json_schema_extra={"x-order": ["a", ("b",)]})],
    ],
    ids=["msgspec", "pydantic"],
)
def test_a_tuple_in_what_an_annotation_says_is_an_array(annotation: Any) -> None:
    def handler(value: Any) -> None:
        """Do it."""

    handler.__annotations__["value"] = annotation

    shown = definition(tool(handler)).input_schema["properties"]["value"]

    assert shown["examples"] == [[1, 2]]
    assert shown["x-order"] == ["a", ["b"]]


async def test_a_tuple_in_a_hand_written_schema_is_an_array() -> None:
    schema = {"properties": {"day": {"enum": ("sat", "sun")}}, "required": ("day",)}
    rest = Tool.define(name="rest", description="Rest.", handler=lambda arguments: {"day": "mon"}, input_schema=schema)
    checked = Tool.define(
        name="rest",
        description="Rest.",
        handler=lambda arguments: {"day": "mon"},
        input_schema={},
        output_schema=schema,
    )

    assert definition(rest).input_schema == {"properties": {"day": {"enum": ["sat", "sun"]}}, "required": ["day"]}
    assert (await rest.execute({"day": "mon"})).content == "$.day: 'mon' is not one of ['sat', 'sun']"
    assert (await execute(checked, {})).is_error


@dataclasses.dataclass
class Notes:
    lines: list[str] = dataclasses.field(default_factory=list)


class FrozenNotes(msgspec.Struct, frozen=True):
    lines: list[str] = []


class ModelNotes(pydantic.BaseModel):
    lines: list[str] = []


def appending(value: Any, seen: list[int] = []) -> Any:
    """Do it."""
    seen.append(1)
    return list(seen)


def appending_by_position(seen: list[int] = [], /) -> Any:
    """Do it."""
    seen.append(1)
    return list(seen)


def appending_deep(seen: dict[str, list[int]] = {"a": []}) -> Any:
    """Do it."""
    seen["a"].append(1)
    return list(seen["a"])


def appending_in_a_tuple(seen: tuple[list[int], int] = ([], 1)) -> Any:
    """Do it."""
    seen[0].append(1)
    return list(seen[0])


def adding(seen: set[int] = set()) -> Any:
    """Do it."""
    seen.add(len(seen))
    return [1] * len(seen)


def appending_to_a_dataclass(seen: Notes = Notes()) -> Any:
    """Do it."""
    seen.lines.append("x")
    return [1] * len(seen.lines)


def appending_in_a_frozen_one(seen: FrozenNotes = FrozenNotes()) -> Any:
    """Do it."""
    seen.lines.append("x")
    return [1] * len(seen.lines)


def appending_to_a_model(seen: ModelNotes = ModelNotes()) -> Any:
    """Do it."""
    seen.lines.append("x")
    return [1] * len(seen.lines)


@pytest.mark.parametrize(
    "handler",
    [
        appending,
        appending_by_position,
        appending_deep,
        appending_in_a_tuple,
        adding,
        appending_to_a_dataclass,
        appending_in_a_frozen_one,
        appending_to_a_model,
    ],
)
async def test_calls_do_not_share_a_default_that_can_change(handler: Any) -> None:
    made = tool(handler)
    arguments = {"value": 1} if handler is appending else {}

    results = [(await made.execute(arguments)).value for _ in range(3)]

    assert results == [[1], [1], [1]]


class Lock:
    def __deepcopy__(self, memo: Any) -> Any:
        raise TypeError("cannot pickle 'Lock'")


LOCK = Lock()
NOTHING: Any = object()


@dataclasses.dataclass
class Locked:
    lock: Any = LOCK


async def test_objects_in_a_default_are_shared_and_so_is_what_cannot_be_copied() -> None:
    @tool
    def look(
        locks: list[Any] = [LOCK, NOTHING],
        absent: Any = NOTHING,
        locked: Locked = Locked(),
    ) -> Any:
        """Look."""
        return [locks[0] is LOCK, locks[1] is NOTHING, absent is NOTHING, locked.lock is LOCK]

    assert (await look.execute()).value == [True, True, True, True]


def required_by_pydantic(n: int = pydantic.Field(ge=1, description="How many.")) -> Any:
    """Do it."""
    return n


def by_pydantic_field(n: int = pydantic.Field(3, ge=1, description="How many.")) -> Any:
    """Do it."""
    return n


def by_position_of_pydantic(n: int = pydantic.Field(3, ge=1, description="How many."), /) -> Any:
    """Do it."""
    return n


def by_msgspec_field(n: Annotated[int, msgspec.Meta(ge=1, description="How many.")] = msgspec.field(default=3)) -> Any:
    """Do it."""
    return n


def by_dataclass_field(
    n: Annotated[int, msgspec.Meta(ge=1, description="How many.")] = dataclasses.field(default=3),
) -> Any:
    """Do it."""
    return n


@pytest.mark.parametrize("handler", [by_pydantic_field, by_position_of_pydantic, by_msgspec_field, by_dataclass_field])
async def test_a_field_as_a_default_says_what_it_says_in_an_annotation(handler: Any) -> None:
    made = tool(handler)

    assert definition(made).input_schema == {
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 1, "description": "How many.", "default": 3}},
        "additionalProperties": False,
    }
    assert (await made.execute()).value == 3
    assert (await made.execute({"n": 5})).value == 5
    assert (await made.execute({"n": 0})).content == "$.n: 0 is less than the minimum of 1"


async def test_a_field_without_a_default_is_required() -> None:
    made = tool(required_by_pydantic)

    assert definition(made).input_schema["required"] == ["n"]
    assert (await made.execute()).content == "$.n: 'n' is a required property"
    assert (await made.execute({"n": 2})).value == 2


def listing_by_pydantic(n: list[int] = pydantic.Field(default_factory=list, max_length=2)) -> Any:
    """Do it."""
    n.append(1)
    return n


def listing_by_default(n: list[int] = pydantic.Field([], max_length=2)) -> Any:
    """Do it."""
    n.append(1)
    return n


def listing_by_msgspec(
    n: Annotated[list[int], pydantic.Field(max_length=2)] = msgspec.field(default_factory=list),
) -> Any:
    """Do it."""
    n.append(1)
    return n


def listing_by_dataclasses(
    n: Annotated[list[int], pydantic.Field(max_length=2)] = dataclasses.field(default_factory=list),
) -> Any:
    """Do it."""
    n.append(1)
    return n


@pytest.mark.parametrize(
    "handler", [listing_by_pydantic, listing_by_default, listing_by_msgspec, listing_by_dataclasses]
)
async def test_a_factory_of_a_field_makes_the_default_of_each_call(handler: Any) -> None:
    made = tool(handler)

    results = [(await made.execute()).value for _ in range(2)]

    assert results == [[1], [1]]
    assert "required" not in definition(made).input_schema
    assert (await made.execute({"n": [1, 2, 3]})).is_error


def renamed_by_pydantic(n: int = pydantic.Field(3, alias="count")) -> None:
    """Do it."""


def renamed_by_msgspec(n: int = msgspec.field(default=3, name="count")) -> None:
    """Do it."""


def made_of_others(n: int = pydantic.Field(default_factory=lambda data: 1)) -> None:
    """Do it."""


@pytest.mark.parametrize(
    ("handler", "told"),
    [
        (renamed_by_pydantic, "parameter 'n' of tool 'renamed_by_pydantic' has another name by alias='count'"),
        (renamed_by_msgspec, "parameter 'n' of tool 'renamed_by_msgspec' has another name by name='count'"),
        (made_of_others, "parameter 'n' of tool 'made_of_others' has a default_factory that takes the other arguments"),
    ],
)
def test_a_field_that_a_handler_cannot_honour_is_refused(handler: Any, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        tool(handler)
