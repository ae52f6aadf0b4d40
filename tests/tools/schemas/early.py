"""Classes whose annotations are evaluated where they stand."""

import dataclasses
import datetime
from typing import Annotated, Generic, NamedTuple, NotRequired, Required, TypeVar

import msgspec
from typing_extensions import Doc, TypedDict

T = TypeVar("T")


@dataclasses.dataclass
class Point:
    """A place on the map."""

    x: int
    y: Annotated[int, msgspec.Meta(ge=0), "Steps to the north."] = 0


@dataclasses.dataclass
class Tree:
    name: str
    children: "list[Tree]" = dataclasses.field(default_factory=list)
    planted: datetime.date = datetime.date(2024, 5, 31)
    at: Point | None = None


@dataclasses.dataclass
class Box(Generic[T]):
    item: T


@dataclasses.dataclass
class Parcel(Box[int]):
    label: str = ""


class Booking(TypedDict):
    day: datetime.date
    nights: NotRequired[Annotated[int, Doc("How many.")]]


class Search(TypedDict, total=False):
    text: Required[str]
    limit: int


class Pair(NamedTuple):
    left: int
    right: str = "r"
