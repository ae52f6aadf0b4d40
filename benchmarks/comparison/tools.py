"""The tools, as functions: what toolkits make tools of. `SCHEMAS` has their parameters for those that take a schema.

Annotations are not postponed here: some toolkits can't read them then.
"""

import asyncio
import json
import types
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from typing_extensions import TypedDict

from benchmarks.comparison.script import REPORT, tool_ran

Units = Literal["celsius", "fahrenheit"]

RECORDS = [
    {"id": number, "name": f"Record number {number}", "tags": ["alpha", "beta"], "price": number * 1.25}
    for number in range(14_500)
]
RECORDS_TEXT = json.dumps(RECORDS)
"""About 1 MB."""


class Item(TypedDict):
    """One element of the array that `store_items` takes."""

    id: int
    name: str
    tags: list[str]
    price: float


def report(city: str) -> str:
    """The work of the weather tools."""
    tool_ran()
    return f"{city}: {REPORT}"


async def get_weather(city: str, units: Literal["celsius", "fahrenheit"]) -> str:
    """Get the current weather of a city.

    Args:
        city: The city's name.
        units: The unit of temperature.
    """
    return report(city)


async def get_weather_slowly(city: str, units: Literal["celsius", "fahrenheit"]) -> str:
    """Get the current weather of a city, after a wait of 10 ms.

    Args:
        city: The city's name.
        units: The unit of temperature.
    """
    await asyncio.sleep(0.01)
    return report(city)


def get_weather_at_once(city: str, units: Literal["celsius", "fahrenheit"]) -> str:
    """Get the current weather of a city, by a function that is no coroutine.

    Args:
        city: The city's name.
        units: The unit of temperature.
    """
    return report(city)


async def find_text(query: str) -> str:
    """Find a large document.

    Args:
        query: What to look for.
    """
    tool_ran()
    return RECORDS_TEXT


async def find_records(query: str) -> list[dict[str, Any]]:
    """Find a large list of records.

    Args:
        query: What to look for.
    """
    tool_ran()
    return RECORDS


async def store_text(text: str) -> str:
    """Store a text.

    Args:
        text: The text to store.
    """
    tool_ran()
    return f"stored {len(text)}"


async def store_items(items: list[Item]) -> str:
    """Store a list of items.

    Args:
        items: The items to store.
    """
    tool_ran()
    return f"stored {len(items)}"


def expert(ask: Callable[[str], Awaitable[str]]) -> Callable[..., Any]:
    """A tool that asks another agent."""

    async def ask_expert(question: str) -> str:
        """Ask an expert.

        Args:
            question: What to ask.
        """
        tool_ran()
        return await ask(question)

    return ask_expert


def numbered(count: int) -> list[Callable[..., Any]]:
    """`get_weather` under so many other names: `get_weather_1`, `get_weather_2` and so on."""
    made: list[Callable[..., Any]] = []
    for number in range(1, count + 1):
        twin = types.FunctionType(get_weather.__code__, get_weather.__globals__, f"get_weather_{number}")
        twin.__annotations__ = dict(get_weather.__annotations__)
        twin.__doc__ = get_weather.__doc__
        twin.__module__ = get_weather.__module__
        SCHEMAS[twin.__name__] = _WEATHER
        made.append(twin)
    return made


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


_WEATHER = _object(
    city={"type": "string", "description": "The city's name."},
    units={"type": "string", "enum": ["celsius", "fahrenheit"], "description": "The unit of temperature."},
)
_ITEM = _object(
    id={"type": "integer"},
    name={"type": "string"},
    tags={"type": "array", "items": {"type": "string"}},
    price={"type": "number"},
)

SCHEMAS: dict[str, dict[str, Any]] = {
    "get_weather": _WEATHER,
    "get_weather_slowly": _WEATHER,
    "get_weather_at_once": _WEATHER,
    "find_text": _object(query={"type": "string"}),
    "find_records": _object(query={"type": "string"}),
    "store_text": _object(text={"type": "string"}),
    "store_items": _object(items={"type": "array", "items": _ITEM}),
    "ask_expert": _object(question={"type": "string"}),
}
