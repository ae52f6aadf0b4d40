"""The mark of a parameter that the application fills in, not the model."""

from __future__ import annotations

from typing import Annotated, Any, get_args, get_origin

from msgspec import Struct

__all__ = ["Inject", "split_mark"]


class Inject(Struct, frozen=True):
    """`Annotated[WeatherClient, Inject()]` is filled by the one provider of that type.

    `Annotated[str, Inject("api_key")]` names the provider, which is needed where the type is a Protocol or builtin:
    only classes are matched by type. Such a parameter is not in the tool's schema, and a model that sends its name is
    refused. It works in constructors, in `handler` methods, in `available_if` and in `@tool` functions.
    """

    name: str | None = None


def split_mark(annotation: Any) -> tuple[Any, Inject | None]:
    """`Annotated[T, Inject("x")]` → `(T, Inject("x"))`; anything else → `(annotation, None)`."""
    if get_origin(annotation) is not Annotated:
        return annotation, None
    inner, *metadata = get_args(annotation)
    for mark in metadata:
        if isinstance(mark, Inject):
            return inner, mark
        if mark is Inject:  # `Annotated[T, Inject]`, without the brackets
            return inner, Inject()
    return annotation, None
