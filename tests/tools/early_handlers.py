"""Handlers whose annotations are evaluated when they are defined: the same as in `late_handlers`."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Optional

from toolkit import Inject, Invocation, Run, RunContext


class Client:
    def __init__(self, label: str = "client") -> None:
        self.label = label


@dataclass
class Place:
    city: str
    country: str = "NO"


def many_kinds(
    place: Place,
    days: list[int],
    units: Literal["metric", "imperial"] = "metric",
    note: Optional[str] = None,  # noqa: UP045 - as people write it
    limits: dict[str, float] | None = None,
) -> Any:
    """Do it."""
    return [type(place).__name__, place.city, days, units, note, limits]


def filled(
    ctx: RunContext,
    a: int,
    client: Annotated[Client, Inject()],
    b: int = 2,
    *,
    run: Run[str],
    c: int = 3,
    invocation: Invocation | None = None,
) -> Any:
    """Do it."""
    return [type(ctx).__name__, a, client.label, b, type(run).__name__, c, type(invocation).__name__]
