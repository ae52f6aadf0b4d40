"""A guard under a wrong name is refused: nobody would ask it."""

from __future__ import annotations

from typing import Any

import pytest

from toolkit import Agent, ConfigurationError, Tool, definition
from toolkit.testing import ScriptedModel, says

TOOL_NAMES = [
    ("on_before_calls", "on_before_call"),
    ("on_before_tool_call", "on_before_call"),
    ("onBeforeCall", "on_before_call"),
    ("on_aftercall", "on_after_call"),
    ("need_approval", "needs_approval"),
    ("needs_approvals", "needs_approval"),
    ("availableIf", "available_if"),
    ("needs_approvel", "needs_approval"),
    ("needs_aproval", "needs_approval"),
    ("needs_approvaal", "needs_approval"),
    ("needs_apporval", "needs_approval"),
    ("on_befor_call", "on_before_call"),
    ("avialable_if", "available_if"),
]


def tool_with(name: str, value: Any) -> type[Tool]:
    async def handler(self: Any) -> str:
        return "done"

    members = {"description": "Do it.", "name": "do_it", "handler": handler, name: value}
    return type("DoIt", (Tool,), members)


@pytest.mark.parametrize(("wrong", "right"), TOOL_NAMES, ids=lambda name: name)
def test_a_tool_with_a_misspelt_guard_is_refused(wrong: str, right: str) -> None:
    with pytest.raises(ConfigurationError, match=f"has '{wrong}', which nothing asks for; did you mean '{right}'"):
        definition(tool_with(wrong, True))


OTHER_NAMES = [
    "on_before_save",
    "before_call",
    "approval",
    "call",
    "on_call",
    "needs_review",
    "inclusive",
    "on_before_mail",
    "available_in",
    "available_ids",
    "on_after_all",
    "_needs_approval",
    "_available_if",
    "_on_before_call",
    "_DoIt__needs_approval",
]


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_names_that_mean_something_else_are_fine(name: str) -> None:
    assert definition(tool_with(name, True)).name == "do_it"


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("on_before_calls", "on_before_call"),
        ("on_before_models", "on_before_model"),
        ("OnAfterModel", "on_after_model"),
    ],
)
async def test_a_hook_with_a_misspelt_method_is_refused_though_another_is_right(wrong: str, right: str) -> None:
    def ask(self: Any, ctx: Any, call: Any) -> None: ...

    hook = type("Guard", (), {"on_before_call": ask, wrong: ask})()

    with pytest.raises(ConfigurationError, match=f"has '{wrong}', which nothing asks for; did you mean '{right}'"):
        await Agent(ScriptedModel([says("")]), hooks=[hook]).run("go")


@pytest.mark.parametrize("name", ["_on_before_call", "_on_after_model", "on_after_all", "on_before_mode"])
async def test_a_hook_may_have_a_method_of_its_own_that_is_named_like_one_that_is_asked(name: str) -> None:
    class Guard:
        def on_before_call(self, ctx: Any, call: Any) -> None: ...

    setattr(Guard, name, Guard.on_before_call)

    run = await Agent(ScriptedModel([says("hello")]), hooks=[Guard()]).run("go")

    assert run.output == "hello"


async def test_a_hook_with_all_its_names_right_is_asked() -> None:
    asked: list[str] = []

    class Guard:
        def on_before_model(self, ctx: Any, request: Any) -> None:
            asked.append("before")

        def on_after_model(self, ctx: Any, response: Any) -> None:
            asked.append("after")

    await Agent(ScriptedModel([says("")]), hooks=[Guard()]).run("go")

    assert asked == ["before", "after"]
