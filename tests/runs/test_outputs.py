"""Typed answers: types of every kind, and answers that don't meet them."""

from __future__ import annotations

import gc
import weakref
from typing import Annotated, Any, Literal

import msgspec
import pydantic
import pytest

from toolkit import Agent, OutputError
from toolkit.runs.output import output_of
from toolkit.testing import ScriptedModel, says


@pytest.mark.parametrize(
    ("kind", "text", "output"),
    [
        (str, "Just text.", "Just text."),
        (int, "42", 42),
        (bool, "true", True),
        (list[int], "[1, 2]", [1, 2]),
        (Literal["yes", "no"], '"yes"', "yes"),
        (int | None, "null", None),
        (dict[str, int], '{"a": 1}', {"a": 1}),
        (Annotated[int, msgspec.Meta(ge=1)], "7", 7),
    ],
)
async def test_an_answer_is_read_as_json_of_the_type(kind: Any, text: str, output: Any) -> None:
    run = await Agent(ScriptedModel([says(text)]), output_type=kind).run("go")

    assert run.output == output
    assert type(run.output) is type(output)
    assert run.response == text


async def test_the_schema_that_the_model_is_told_is_that_of_the_type() -> None:
    model = ScriptedModel([says("[1]"), says("x")])

    await Agent(model, output_type=list[int]).run("go")  # type: ignore[arg-type]
    await Agent(model, output_type=str).run("go")

    assert [request.output_schema for request in model.requests] == [
        {"type": "array", "items": {"type": "integer"}},
        None,
    ]


@pytest.mark.parametrize(("kind", "text"), [(int, "forty"), (int, "1.5"), (int, ""), (list[int], "[1"), (bool, "1")])
async def test_another_answer_is_an_output_error_that_speaks_of_the_answer(kind: Any, text: str) -> None:
    with pytest.raises(OutputError, match="does not meet the output_type") as raised:
        await Agent(ScriptedModel([says(text)]), output_type=kind).run("go")

    assert "arguments" not in str(raised.value)
    assert raised.value.run.outcome == "failed"


def stumble(value: int) -> int:
    raise KeyError("token=abc123")


class Odd(pydantic.BaseModel):
    number: Annotated[int, pydantic.AfterValidator(stumble)]


async def test_whatever_a_validator_raises_is_an_output_error() -> None:
    with pytest.raises(OutputError, match="KeyError") as raised:
        await Agent(ScriptedModel([says('{"number": 1}')]), output_type=Odd).run("go")

    assert "abc123" not in str(raised.value)
    assert raised.value.run.outcome == "failed"
    assert raised.value.run.messages.is_sealed


def test_types_made_for_a_run_are_not_kept_for_ever() -> None:
    first = msgspec.defstruct("Made", [("a", int)])
    output_of(first)
    gone = weakref.ref(first)
    del first

    for number in range(100):
        output_of(msgspec.defstruct(f"Made{number}", [("a", int)]))
    gc.collect()

    assert gone() is None
