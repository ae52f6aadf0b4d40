"""The parameters of a class are those that Python shows for it, however they are found."""

from __future__ import annotations

import functools
import inspect
from abc import ABC
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, Protocol, TypeVar

import msgspec
import pytest

from toolkit.tools.parameters import read_parameters

T = TypeVar("T")


class WithNone:
    pass


class WithInit:
    def __init__(self, client: WithNone, *rest: int, name: str = "a", **more: Any) -> None: ...


class Inherited(WithInit):
    pass


class ByPlaceOnly:
    def __init__(self, first: int, /, second: int = 2) -> None: ...


class WithNew:
    def __new__(cls, size: int) -> WithNew:
        return object.__new__(cls)


class WithBoth(WithNew):
    def __init__(self, size: int) -> None: ...


class TakingAll:
    def __init__(*everything: Any) -> None: ...


def logged(function: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> None:
        function(*args, **kwargs)

    return wrapper


class Decorated:
    @logged
    def __init__(self, wrapped: int) -> None: ...


class Unannotated:
    def __init__(self, first, second=2): ...  # type: ignore[no-untyped-def]


class Partial:
    __init__ = functools.partialmethod(Unannotated.__init__, second=3)  # type: ignore[assignment]


class SayingItself:
    __signature__ = inspect.Signature([inspect.Parameter("said", inspect.Parameter.KEYWORD_ONLY)])

    def __init__(self, other: int) -> None: ...


class Meta(type):
    def __call__(cls, by_the_metaclass: int) -> Any: ...


class OfMeta(metaclass=Meta):
    def __init__(self, other: int) -> None: ...


class OfAbc(ABC):  # noqa: B024 - its metaclass counts
    def __init__(self, part: int) -> None:
        self.part = part


class OfGeneric(Generic[T]):
    def __init__(self, item: T) -> None: ...


class OfProtocol(Protocol):
    pass


class MadeByProtocol(OfProtocol):
    pass


class OfDict(dict[str, int]):
    pass


class OfError(Exception):
    pass


@dataclass
class OfDataclass:
    first: int
    second: str = ""


class OfEnum(Enum):
    A = 1


class OfStruct(msgspec.Struct):
    first: int


CLASSES: list[Any] = [kind for kind in globals().values() if isinstance(kind, type) and kind.__module__ == __name__] + [
    object,
    dict,
    Exception,
]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_the_parameters_of_a_class_are_those_of_its_signature(cls: type) -> None:
    try:
        shown = [*inspect.signature(cls).parameters.values()]
    except ValueError:
        shown = []
    read = read_parameters(cls, "it")

    assert [(found.name, found.kind) for found in read] == [(found.name, found.kind) for found in shown]
    assert [found.is_required for found in read] == [found.default is inspect.Parameter.empty for found in shown]


def test_a_name_that_stands_for_another_class_now_is_read_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_parameters(WithInit, "it")[0].annotation is WithNone

    monkeypatch.setitem(globals(), "WithNone", OfDataclass)

    assert read_parameters(WithInit, "it")[0].annotation is OfDataclass
