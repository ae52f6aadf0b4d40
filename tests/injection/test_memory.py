"""What runs bring for themselves is not kept for ever."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest
from dependency_injector import containers

from toolkit import Agent, Tool
from toolkit.injection import application, memories, provide
from toolkit.testing import ScriptedModel, call, calls, says


class Application(containers.DeclarativeContainer):
    agent = provide(Agent)


def class_for_one_run() -> type[Tool]:
    class Local(Tool):
        """Made for one run."""

        def handler(self) -> str:
            return "done"

    return Local


def script() -> ScriptedModel:
    return ScriptedModel([calls(call("local")), says("Done.")])


@pytest.mark.parametrize("is_bound", [True, False], ids=["container", "no container"])
async def test_classes_of_tools_that_runs_bring_are_let_go(is_bound: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memories, "MOST_KEPT", 16)
    seen: list[weakref.ref[Any]] = []
    async with application(Application()) as app:
        agent = app.agent() if is_bound else Agent()
        for _ in range(200):
            local = class_for_one_run()
            seen.append(weakref.ref(local))
            run = await agent.run("Go!", model=script(), tools=[local])
            assert run.calls[0].result.content == "done"
        del local, run
        gc.collect()
        alive = sum(reference() is not None for reference in seen)

    assert alive <= 80  # 64 sets of tools and 16 recipes are kept at most
