"""A member that can't be read is said to be so when the tool is listed, with its name and the error as the cause."""

from __future__ import annotations

from typing import Any, NoReturn

import pytest

from toolkit import Agent, ConfigurationError, definition, execute
from toolkit.testing import ScriptedModel, says


class Boom(Exception):
    pass


class Tell:
    name: Any = "tell"
    description: Any = "Tell it."

    async def handler(self) -> str:
        return "told"


class ByProperty(Tell):
    @property
    def name(self) -> NoReturn:  # type: ignore[override]  # what is tested
        raise Boom("no name yet")


class ByOptionalProperty(Tell):
    @property
    def timeout(self) -> NoReturn:
        raise Boom("no timeout yet")


class Raising:
    def __get__(self, instance: Any, owner: Any = None) -> NoReturn:
        raise Boom("a descriptor")


class ByDescriptor(Tell):
    needs_approval = Raising()


class ByGetattr(Tell):
    def __getattr__(self, name: str) -> NoReturn:
        raise Boom(name)


class RaisingMeta(type):
    def __getattr__(cls, name: str) -> NoReturn:
        raise Boom(name)


class ByMetaclass(Tell, metaclass=RaisingMeta):
    pass


CLASSES = [
    (ByProperty, "name"),
    (ByOptionalProperty, "timeout"),
    (ByDescriptor, "needs_approval"),
    (ByMetaclass, "input_schema"),
]


@pytest.mark.parametrize(("cls", "member"), [*CLASSES, (ByGetattr, "input_schema")])
async def test_an_object_whose_member_raises_is_refused(cls: type, member: str) -> None:
    for look in (lambda: definition(cls()), lambda: execute(cls(), {})):
        with pytest.raises(ConfigurationError, match=f"reading '{member}' of {cls.__name__} failed: Boom: ") as told:
            await look()
        assert isinstance(told.value.__cause__, Boom)


@pytest.mark.parametrize("built", [True, False], ids=["object", "class"])
@pytest.mark.parametrize(("cls", "member"), CLASSES[:3])
async def test_a_run_that_lists_it_is_refused(cls: Any, member: str, built: bool) -> None:
    agent = Agent(ScriptedModel([says("x")]), [cls() if built else cls])

    with pytest.raises(ConfigurationError, match=f"reading '{member}' of {cls.__name__} failed: Boom: ") as told:
        await agent.run("x")

    assert isinstance(told.value.__cause__, Boom)


async def test_a_run_that_lists_an_object_whose_every_member_raises_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="of ByGetattr failed: Boom: "):
        await Agent(ScriptedModel([says("x")]), [ByGetattr()]).run("x")
