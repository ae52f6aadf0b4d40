"""Whatever a model sends and whatever a handler returns, the run goes on; nothing runs as `{}` that was not that."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.runs.parts import assert_consistent
from toolkit import Agent, Run, Tool, tool
from toolkit.messages import messages_from_json, messages_to_json
from toolkit.testing import ScriptedModel, call, calls, says

# Arguments

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
TEXTS = st.one_of(
    st.text(max_size=20),
    st.text('{}[]",:\\ \n0123456789truefalsnE.-\ud800', max_size=20),
    JSON.map(json.dumps),
    st.dictionaries(st.sampled_from(["count", "text", "x"]), JSON, max_size=3).map(json.dumps),
    st.sampled_from(["", " ", "null", "{}", " {} ", '"{}"', "[]", "[{}]", '{"count": 1}', '{"count": 1, "count": 2}']),
)
DICTS = st.dictionaries(
    st.text(max_size=5) | st.sampled_from(["count", "text"]), JSON | st.binary(max_size=3), max_size=3
)
ODD = st.none() | st.integers() | st.lists(JSON, max_size=2)


class Taken:
    """What the handlers got."""

    def __init__(self) -> None:
        self.got: list[Any] = []

    def tools(self, ctx: Any) -> list[Any]:
        async def ping() -> str:
            self.got.append({})
            return "pong"

        async def typed(count: int, text: str = "x") -> str:
            self.got.append({"count": count, "text": text})
            return "typed"

        def whatever(arguments: dict[str, Any]) -> str:
            self.got.append(arguments)
            return "whatever"

        return [
            Tool.define(name="ping", description="Ping.", handler=ping),
            Tool.define(name="typed", description="Typed.", handler=typed),
            Tool.define(
                name="whatever",
                description="Whatever.",
                handler=whatever,
                input_schema={"type": "object"},
                run_in_thread=False,
            ),
        ]


def is_empty(raw: Any) -> bool:
    """Whether arguments mean `{}`: they say so, or nothing."""
    if isinstance(raw, str):
        return raw.strip() in ("", "null") or "".join(raw.split()) == "{}"
    return raw is None or raw == {}


@settings(max_examples=200, deadline=None, derandomize=True)
@given(raw=TEXTS | DICTS | ODD, name=st.sampled_from(["ping", "typed", "whatever"]))
def test_whatever_a_model_sends_as_arguments_the_run_goes_on_and_runs_nothing_else_as_none(raw: Any, name: str) -> None:
    taken = Taken()
    run = _run([calls(call(name, raw)), says("done")], [taken])

    assert run.outcome == "completed"
    (record,) = run.calls
    assert record.result.is_error == (not taken.got)
    if name == "ping":
        assert bool(taken.got) == is_empty(raw)
    elif taken.got and taken.got[0] == {}:
        assert is_empty(raw)
    elif taken.got and isinstance(raw, str):
        sent = json.loads(raw)
        assert taken.got[0] == (sent if name == "whatever" else {"text": "x", **sent})


# Results


class Evil:
    """Fails whatever it is asked for, but for what Python and Hypothesis ask everything."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise RuntimeError(name)


class EvilDict(dict[str, Any]):
    def items(self) -> Any:
        raise RuntimeError("no items")


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers() | st.integers(min_value=10**400, max_value=10**401),
    st.floats(),
    st.text(st.characters(), max_size=5),
    st.text("\ud800a", max_size=3),
    st.binary(max_size=5),
    st.complex_numbers(),
    st.dates() | st.datetimes() | st.times() | st.timedeltas(),
    st.decimals() | st.fractions() | st.uuids(),
    st.sampled_from([object(), Evil(), Evil, len, json, ..., NotImplemented, range(3), memoryview(b"ab")]),
    st.sampled_from([EvilDict(a=1), ValueError("token=abc123"), dt.UTC, slice(1), iter([1]), lambda: 1, int, Any]),
)
HASHABLE = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.binary(max_size=3) | st.dates()
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(HASHABLE, inner, max_size=3),
        st.sets(HASHABLE, max_size=3),
        st.lists(inner, max_size=2).map(iter),
    ),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(value=VALUES)
def test_whatever_a_handler_returns_the_run_goes_on_and_the_model_reads_json_or_that_there_is_none(value: Any) -> None:
    @tool
    async def give() -> Any:
        """Give it."""
        return value

    run = _run([calls(call("give")), says("done")], [give])

    assert run.outcome == "completed"
    (record,) = run.calls
    if record.result.is_error:
        assert record.result.content.startswith(
            ("tool 'give' returned a value that can't be written", "tool 'give' failed")
        )
        assert "abc123" not in record.result.content
    else:
        assert record.result.value is value
        if not isinstance(value, str) and value is not None:
            json.loads(record.result.content, parse_constant=_refuse)


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


def _run(script: list[Any], tools: list[Any]) -> Run[Any]:
    run = asyncio.run(Agent(ScriptedModel(script), tools).run("go"))
    assert_consistent(run)
    assert list(messages_from_json(messages_to_json(run.messages))) == list(run.messages)
    for record in run.calls:
        record.result.content.encode()
    return run
