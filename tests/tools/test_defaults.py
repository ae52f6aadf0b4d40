"""Defaults of a handler's parameters: how the schema shows them, and what the handler gets."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import msgspec
import pydantic
import pytest

from toolkit import Tool, definition, execute, tool


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


def nested(value: dict[str, list[tuple[int, ...]]] = {"a": [(1,), ()]}) -> Any:  # noqa: B006 - what is tested
    """Do it."""
    return value


def by_dataclass(value: Area = Area()) -> Any:
    """Do it."""
    return value


def by_named_tuple(value: Point = Point(1)) -> Any:  # noqa: B008 - what is tested
    """Do it."""
    return value


def by_model(value: Model = Model()) -> Any:  # noqa: B008 - what is tested
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


def appending(value: Any, seen: list[int] = []) -> Any:  # noqa: B006 - what is tested
    """Do it."""
    seen.append(1)
    return list(seen)


def appending_by_position(seen: list[int] = [], /) -> Any:  # noqa: B006 - what is tested
    """Do it."""
    seen.append(1)
    return list(seen)


def appending_deep(seen: dict[str, list[int]] = {"a": []}) -> Any:  # noqa: B006 - what is tested
    """Do it."""
    seen["a"].append(1)
    return list(seen["a"])


def appending_in_a_tuple(seen: tuple[list[int], int] = ([], 1)) -> Any:
    """Do it."""
    seen[0].append(1)
    return list(seen[0])


def adding(seen: set[int] = set()) -> Any:  # noqa: B006 - what is tested
    """Do it."""
    seen.add(len(seen))
    return [1] * len(seen)


def appending_to_a_dataclass(seen: Notes = Notes()) -> Any:  # noqa: B008 - what is tested
    """Do it."""
    seen.lines.append("x")
    return [1] * len(seen.lines)


def appending_in_a_frozen_one(seen: FrozenNotes = FrozenNotes()) -> Any:  # noqa: B008 - what is tested
    """Do it."""
    seen.lines.append("x")
    return [1] * len(seen.lines)


def appending_to_a_model(seen: ModelNotes = ModelNotes()) -> Any:  # noqa: B008 - what is tested
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
        locks: list[Any] = [LOCK, NOTHING],  # noqa: B006 - what is tested
        absent: Any = NOTHING,
        locked: Locked = Locked(),  # noqa: B008 - what is tested
    ) -> Any:
        """Look."""
        return [locks[0] is LOCK, locks[1] is NOTHING, absent is NOTHING, locked.lock is LOCK]

    assert (await look.execute()).value == [True, True, True, True]
