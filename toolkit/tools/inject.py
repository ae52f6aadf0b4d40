"""The mark of a parameter that the application fills in, not the model."""

from __future__ import annotations

import types
from typing import Annotated, Any, Union, get_args, get_origin

from msgspec import Struct

from toolkit.errors import ConfigurationError

__all__ = ["Inject", "split_mark"]


class Inject(Struct, frozen=True):
    """`Annotated[WeatherClient, Inject()]` is filled by the one provider of that type.

    `Annotated[str, Inject("api_key")]` names the provider, which is needed where the type is a Protocol or builtin:
    only classes are matched by type. Such a parameter is not in the tool's schema, and a model that sends its name is
    refused. It works in constructors, in `handler` methods, in `available_if` and in `@tool` functions.

    Raises:
        ConfigurationError: the name is no text (`Inject(WeatherClient)`: the type stands before the mark).
    """

    name: str | None = None

    def __post_init__(self) -> None:
        if self.name is None:
            return
        if not isinstance(self.name, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers err
            raise ConfigurationError(
                f"Inject takes the name of a provider (a text), and not {self.name!r}; a type stands before the mark: "
                f"Annotated[WeatherClient, Inject()]"
            )


def split_mark(annotation: Any) -> tuple[Any, Inject | None]:
    """`Annotated[T, Inject("x")]` → `(T, Inject("x"))`; anything else → `(annotation, None)`.

    `Annotated[T, Inject()] | None` is marked too, and gives `T | None`.
    """
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *metadata = get_args(annotation)
        for mark in metadata:
            if isinstance(mark, Inject):
                return inner, mark
            if mark is Inject:  # `Annotated[T, Inject]`, without the brackets
                return inner, Inject()
        inner, found = split_mark(inner)  # `Annotated[Annotated[T, Inject()] | None, "..."]`
        return (annotation, None) if found is None else (inner, found)
    if origin in (Union, types.UnionType):
        parts = [split_mark(part) for part in get_args(annotation)]
        marks = [found for _, found in parts if found is not None]
        if marks:
            return Union[tuple(part for part, _ in parts)], marks[0]  # noqa: UP007 - the arms are known at run time only
    return annotation, None
