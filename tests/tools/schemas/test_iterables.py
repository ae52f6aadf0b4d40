"""`Iterable` and its kin: what the handler gets is a list, which it may go through more than once."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Reversible, Sequence
from typing import Annotated, Any
from typing import Iterable as OldIterable  # noqa: UP035 - what is tested

import msgspec
import pydantic
import pytest

from toolkit import definition, tool


@pytest.mark.parametrize(
    ("annotation", "sent"),
    [
        (Iterable[int], [1, 2]),
        (Iterable, [1, 2]),
        (OldIterable[int], [1, 2]),
        (Collection[int], [1, 2]),
        (Sequence[int], [1, 2]),
        (Reversible[int], [1, 2]),
        (Container[int], [1, 2]),
        (Iterable[int] | None, [1, 2]),
        (Annotated[Iterable[int], msgspec.Meta(examples=[[1]])], [1, 2]),
        (Annotated[Iterable[int], pydantic.Field(max_length=2)], [1, 2]),
        (list[Iterable[int]], [[1], [2]]),
        (Iterable[Iterable[int]], [[1], [2]]),
        (dict[str, Iterable[int]], {"a": [1]}),
    ],
    ids=str,
)
async def test_a_parameter_that_is_iterable_gets_a_list(annotation: Any, sent: Any) -> None:
    async def look(value: Any) -> Any:
        """Look."""
        assert list(value) == list(value)
        return value

    look.__annotations__["value"] = annotation

    result = await tool(look).execute({"value": sent})

    assert result.value == sent
    assert "$defs" not in definition(tool(look)).input_schema


async def test_items_are_converted_and_checked() -> None:
    @tool
    async def add(values: Iterable[int]) -> int:
        """Add."""
        return sum(values)

    assert (await add.execute({"values": [1.0, 2]})).value == 3
    assert (await add.execute({"values": ["1"]})).content == "$.values[0]: '1' is not of type 'integer'"
