"""`context` holds the application's live objects: no result, message or JSON holds it."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
from typing import Any

import msgspec
import pydantic
import pytest

from toolkit import Agent, Invocation, RunContext, execute, tool
from toolkit.messages import messages_to_json
from toolkit.testing import ScriptedModel, call, calls, says

SECRET = "the-key-of-acme"
GIVEN = Invocation("ada", {"key": SECRET}, {"trace": "t1"}, "s1")


@dataclasses.dataclass
class Holding:
    invocation: Any


class Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(arbitrary_types_allowed=True)
    invocation: Invocation


SHAPES: list[Any] = [
    pytest.param(lambda it: it, id="alone"),
    pytest.param(lambda it: [it], id="in a list"),
    pytest.param(lambda it: {"who": it}, id="in a dict"),
    pytest.param(lambda it: {"\ud800": [it]}, id="beside a lone surrogate"),
    pytest.param(lambda it: Holding(it), id="in a dataclass"),
    pytest.param(lambda it: Model(invocation=it), id="in a pydantic model"),
    pytest.param(lambda it: (1, {"x": (it,)}), id="deep inside"),
]


@pytest.mark.parametrize("shape", SHAPES)
async def test_an_invocation_that_a_handler_returns_is_written_without_its_context(shape: Any) -> None:
    @tool
    async def who(invocation: Invocation) -> Any:
        """Tell who asks."""
        return shape(invocation)

    run = await Agent(ScriptedModel([calls(call("who")), says("done")]), [who]).run(
        "x", context={"key": SECRET}, actor_id="ada", metadata={"trace": "t1"}
    )

    content = run.calls[0].result.content
    assert not run.calls[0].result.is_error
    assert '{"actor_id":"ada","metadata":{"trace":"t1"},"session_id":null}' in content
    assert SECRET not in messages_to_json(run.messages)


@pytest.mark.parametrize("shape", SHAPES)
async def test_a_run_context_that_a_handler_returns_is_no_json(shape: Any) -> None:
    @tool
    async def who(ctx: RunContext) -> Any:
        """Tell who asks."""
        return {"ctx": ctx} if shape is SHAPES[5].values[0] else shape(ctx)

    result = await execute(who, {}, RunContext(invocation=GIVEN))

    assert result.is_error
    assert SECRET not in result.content


@pytest.mark.parametrize(
    "write",
    [
        msgspec.json.encode,
        msgspec.to_builtins,
        msgspec.msgpack.encode,
        json.dumps,
        msgspec.structs.asdict,
        dataclasses.asdict,
        vars,
        pydantic.TypeAdapter(Any).dump_json,
    ],
)
def test_no_library_writes_an_invocation_by_itself(write: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        write(GIVEN)


def test_an_invocation_says_nothing_of_its_context() -> None:
    assert SECRET not in f"{GIVEN}{GIVEN!r}"
    assert SECRET.encode() not in pickle.dumps(GIVEN)
    assert pickle.loads(pickle.dumps(GIVEN)) == Invocation("ada", {}, {"trace": "t1"}, "s1")


def test_a_copy_of_an_invocation_keeps_the_live_objects() -> None:
    live = object()
    given = Invocation(context=live, metadata={"a": [1]})

    assert copy.copy(given).context is live
    assert copy.deepcopy(given).context is live
    assert copy.deepcopy(given).metadata == {"a": [1]}
    assert copy.deepcopy(given).metadata["a"] is not given.metadata["a"]


def test_an_invocation_is_a_value() -> None:
    assert Invocation("a", {"b": 1}, {"c": 2}, "d") == Invocation(
        actor_id="a", context={"b": 1}, metadata={"c": 2}, session_id="d"
    )
    assert Invocation() != Invocation("a")
    assert Invocation() != Invocation(context={"b": 1})
    assert Invocation() != "another thing"
    assert Invocation().context == {}
    assert Invocation().context is not Invocation().context
    assert Invocation().metadata is not Invocation().metadata
    assert repr(Invocation("a")) == "Invocation(actor_id='a', metadata={}, session_id=None)"
    with pytest.raises(AttributeError, match="actor_id"):
        Invocation().actor_id = "eve"
    with pytest.raises(AttributeError, match="actor_id"):
        del Invocation().actor_id
    with pytest.raises(AttributeError, match="other"):
        Invocation().other = 1  # type: ignore[attr-defined]  # what is tested
