"""The same script gives the same run, by `run`, `stream` and `run_sync`."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.runs.parts import Before, add, assert_consistent, echo, fail
from toolkit import Agent, Limits, Run, RunError, Usage, tool
from toolkit.hooks import Deny, Modify, Skip
from toolkit.messages import Message
from toolkit.models import ModelResponse
from toolkit.testing import ScriptedModel, call, calls, says


@tool
def shout(text: str) -> str:
    """Shout, from a thread."""
    return text.upper()


def guard(ctx: Any, call: Any) -> Any:
    """Decides by the text of an echo."""
    decisions = {"deny": Deny("no"), "skip": Skip([1]), "block": "nonsense", "change": Modify({"text": "changed"})}
    return decisions.get(call.arguments.get("text"))


texts = st.sampled_from(["deny", "skip", "block", "change", "hello", "", "ünï", "\n"])
arguments = st.one_of(
    st.fixed_dictionaries({"text": texts}),
    st.fixed_dictionaries({"a": st.integers(-5, 5), "b": st.integers(-5, 5)}),
    st.sampled_from(["", "null", "[1]", '{"text": "x', '{"text": "x"}', '{"a": 1, "b": NaN}', "{}"]),
    st.none(),
)
one_call = st.builds(
    call,
    st.sampled_from(["add", "echo", "fail", "shout", "nothing"]),
    arguments,
    st.sampled_from([None, "", "c", "c_2", "call_1"]),
)
usages = st.builds(Usage, st.integers(0, 9), st.integers(0, 9))
turns = st.builds(
    lambda wanted, text, usage: calls(*wanted, text=text, usage=usage),
    st.lists(one_call, min_size=1, max_size=4),
    st.sampled_from(["", " ", "So."]),
    usages,
)
scripts = st.tuples(
    st.lists(turns, max_size=4),
    st.one_of(st.builds(says, st.sampled_from(["", "done", "two words"])), st.just(OSError())),
)
limits = st.builds(
    Limits,
    max_turns=st.sampled_from([None, 1, 2, 4]),
    max_tool_calls=st.sampled_from([None, 0, 3, 6]),
    max_concurrency=st.sampled_from([None, 1, 2]),
    max_tokens=st.sampled_from([None, 20]),
    on_limit=st.sampled_from(["raise", "answer"]),
)


def outline(run: Run[Any], error: RunError | None, model: ScriptedModel) -> dict[str, Any]:
    """All of a run but its id, times and exceptions."""
    return {
        "error": None if error is None else (type(error), str(error)),
        "outcome": run.outcome,
        "response": run.response,
        "messages": list[Message](run.messages),
        "calls": [
            (r.id, r.name, r.arguments, r.result.content, r.result.value, r.result.is_error, type(r.error))
            for r in run.calls
        ],
        "usage": run.usage,
        "turns": run.turns,
        "requests": [list(request.messages) for request in model.requests],
    }


def agent_with(script: tuple[list[ModelResponse], Any], limits: Limits) -> tuple[Agent[str], ScriptedModel]:
    model = ScriptedModel([*script[0], script[1], says("forced")])
    return Agent(model, tools=[add, echo, fail, shout], hooks=[Before(guard)], limits=limits), model


async def by_run(agent: Agent[str]) -> tuple[Run[Any], RunError | None]:
    try:
        return await agent.run("go"), None
    except RunError as error:
        return error.run, error


async def by_stream(agent: Agent[str]) -> tuple[Run[Any], RunError | None]:
    async with agent.stream("go") as stream:
        try:
            async for _ in stream:
                pass
        except RunError as error:
            return error.run, error
    return stream.run, None


def by_run_sync(agent: Agent[str]) -> tuple[Run[Any], RunError | None]:
    try:
        return agent.run_sync("go"), None
    except RunError as error:
        return error.run, error


@given(scripts, limits)
@settings(derandomize=True, deadline=None, max_examples=150)
def test_run_stream_and_run_sync_give_the_same_transcript_and_records(
    script: tuple[list[ModelResponse], Any], limits: Limits
) -> None:
    outlines = []
    for way in (lambda a: asyncio.run(by_run(a)), lambda a: asyncio.run(by_stream(a)), by_run_sync):
        agent, model = agent_with(script, limits)
        run, error = way(agent)
        assert_consistent(run)
        outlines.append(outline(run, error, model))

    assert outlines[0] == outlines[1] == outlines[2]
