"""What a model is told of arguments that are valid for the schema and no instance of their type."""

from __future__ import annotations

import datetime
import uuid

from toolkit import tool


@tool
def look(u: uuid.UUID, days: list[datetime.date]) -> None:
    """Look."""


async def test_a_refusal_of_a_conversion_holds_the_value() -> None:
    result = await look.execute({"u": "zz", "days": ["2024-05-31", "2024-13-01"]})

    assert result.content == "$.u: 'zz' is not a UUID; $.days[1]: '2024-13-01' is not a date such as 2024-05-31"


async def test_a_long_value_is_shortened_in_a_refusal() -> None:
    result = await look.execute({"u": "z" * 5_000, "days": []})

    assert result.content.startswith("$.u: 'zzz")
    assert result.content.endswith("zzz' is not a UUID")
    assert len(result.content) < 150
