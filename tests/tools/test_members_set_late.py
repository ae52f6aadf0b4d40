"""Members that an instance sets where its class does not show it: the run is told, and the handler never runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from toolkit import Agent, ConfigurationError, Tool
from toolkit.hooks import Deny
from toolkit.testing import ScriptedModel, call, calls, says

RAN: list[str] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


class Wipe(Tool):
    """Wipe the disk."""

    name = "wipe"

    async def handler(self) -> str:
        RAN.append("wipe")
        return "wiped"


class ByHelper(Wipe):
    def __init__(self) -> None:
        self.configure()

    def configure(self) -> None:
        self.needs_approval = True


class GuardByHelper(Wipe):
    def __init__(self) -> None:
        self.configure()

    def configure(self) -> None:
        self.on_before_call = lambda ctx, call: Deny("never")


class BySetattr(Wipe):
    def __init__(self) -> None:
        for member, value in {"needs_approval": True}.items():
            setattr(self, member, value)


class ByUpdate(Wipe):
    def __init__(self) -> None:
        self.__dict__.update(needs_approval=True)


class ByNew(Wipe):
    def __new__(cls) -> ByNew:
        made = super().__new__(cls)
        made.needs_approval = True
        return made


class Described(Wipe):
    def __init__(self) -> None:
        vars(self)["description"] = "Look at the disk."


class Renamed(Wipe):
    def __init__(self) -> None:
        vars(self)["name"] = "look"


class OtherHandler(Wipe):
    def __init__(self) -> None:
        vars(self)["handler"] = super().handler


class OtherSchema(Wipe):
    def __init__(self) -> None:
        vars(self)["input_schema"] = {"type": "object"}


def wiping() -> ScriptedModel:
    return ScriptedModel([calls(call("wipe")), says("done")])


@pytest.mark.parametrize(
    ("cls", "member"),
    [
        (ByHelper, "needs_approval"),
        (GuardByHelper, "on_before_call"),
        (BySetattr, "needs_approval"),
        (ByUpdate, "needs_approval"),
        (ByNew, "needs_approval"),
        (Described, "description"),
        (Renamed, "name"),
        (OtherHandler, "handler"),
        (OtherSchema, "input_schema"),
    ],
)
async def test_a_member_that_an_instance_sets_unseen_ends_the_run(cls: type[Tool], member: str) -> None:
    with pytest.raises(ConfigurationError, match=f"tool 'wipe' has another '{member}' than .*self.{member} = ") as told:
        await Agent(wiping(), [cls]).run("x")

    assert RAN == []
    assert told.value.run is not None


class Annotated(ByHelper):
    description: str
    name: str

    def __init__(self) -> None:
        super().__init__()
        self.name = "wipe"


async def test_a_class_that_says_so_is_built_to_be_described() -> None:
    run = await Agent(wiping(), [Annotated]).run("x")

    assert run.calls[0].result.content == "tool 'wipe' needs an approval, and none was given"
    assert RAN == []


class Same(Wipe):
    def __init__(self) -> None:
        vars(self).update(needs_approval=False, timeout=None, name="wipe", max_result_tokens=10_000, on_after_call=None)


class Plain:
    name = "wipe"
    description = "Wipe the disk."

    def __init__(self) -> None:
        vars(self).update(needs_approval=False, timeout=None, run_in_thread=True, exclusive=False, input_schema=None)

    async def handler(self) -> str:
        RAN.append("wipe")
        return "wiped"


@dataclasses.dataclass
class Given(Wipe):
    needs_approval: bool = False


def label_of(tool: Any) -> str:
    return tool.__name__ if isinstance(tool, type) else f"an instance of {type(tool).__name__}"


@pytest.mark.parametrize("tool", [Same, Plain, Given, Same(), Plain(), Given()], ids=label_of)
async def test_a_member_that_an_instance_sets_to_what_its_class_has_changes_nothing(tool: Any) -> None:
    run = await Agent(wiping(), [tool]).run("x")

    assert run.calls[0].result.content == "wiped"


def set_flag(tool: Any) -> None:
    tool.needs_approval = True


def set_guard(tool: Any) -> None:
    tool.on_before_call = lambda ctx, call: Deny("never")


@pytest.mark.parametrize("change", [set_flag, set_guard])
async def test_a_flag_that_a_listed_tool_gets_after_a_run_is_not_passed_over(change: Callable[[Any], None]) -> None:
    tool = Wipe()
    agent = Agent(tools=[tool])
    await agent.run("x", model=wiping())
    change(tool)
    RAN.clear()

    run = await agent.run("x", model=wiping())

    assert RAN == []
    assert run.calls[0].result.is_error
