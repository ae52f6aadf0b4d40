"""What runs bring for themselves is not kept for ever."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from dependency_injector import containers

from toolkit import Agent, Tool
from toolkit.injection import application, memories, provide
from toolkit.testing import ScriptedModel, call, calls, says
from toolkit.tools.forgetting import make_room


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


class Shared(dict[Any, Any]):
    """A dict that another thread changes just when its oldest entry is looked for, once."""

    rival: Callable[[dict[Any, Any]], None] | None = None

    def __iter__(self) -> Iterator[Any]:
        keys = super().__iter__()
        rival, self.rival = self.rival, None
        if rival is None:
            return keys
        if rival is forget_the_oldest:
            keys = iter([next(keys)])
        rival(self)
        return keys


def forget_the_oldest(kept: dict[Any, Any]) -> None:
    del kept[min(kept)]


def keep_another(kept: dict[Any, Any]) -> None:
    kept[max(kept) + 1] = "another"


@pytest.mark.parametrize("rival", [forget_the_oldest, keep_another, dict.clear])
def test_room_is_made_whatever_another_thread_does_meanwhile(rival: Callable[[dict[Any, Any]], None]) -> None:
    kept = Shared((n, "kept") for n in range(4))
    kept.rival = rival

    make_room(kept, 4)

    assert len(kept) <= 3
    assert min(kept, default=2) >= 1
