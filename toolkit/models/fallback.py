"""`FallbackModel`: the first of several models that answers."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Generator, Sequence

from toolkit.errors import ConfigurationError, text_of_error
from toolkit.models.protocol import Model, ModelDelta, ModelRequest, ModelResponse
from toolkit.models.streams import failures, stream_of

__all__ = ["FallbackModel"]


class FallbackModel:
    """Asks its models in their order, each request anew from the first, until one answers.

    A model that fails is passed over, whatever the reason: another may know the name, take more tokens, or have a key
    that works. Once a piece of a stream was shown, its error is raised: nobody is shown two answers. When all fail,
    the last error is raised, with a note for each earlier one.

    Args:
        models: At least one. They stay the caller's.
        on: The errors that make it go on to the next model; left out, `ModelError`, and what says that there was no
            connection, or is none any more (`OSError`, the HTTP libraries' `RequestError`). Any other is raised.

    Example:
        ```python
        model = FallbackModel([RetryingModel(first), second])
        ```
    """

    def __init__(self, models: Sequence[Model], *, on: tuple[type[Exception], ...] | None = None) -> None:
        if not models:
            raise ConfigurationError("FallbackModel([]): give at least one model")
        self.models = tuple(models)
        self._named = on

    def __repr__(self) -> str:
        return f"FallbackModel({list(self.models)!r})"

    @property
    def _on(self) -> tuple[type[BaseException], ...]:
        return failures() if self._named is None else self._named

    async def respond(self, request: ModelRequest) -> ModelResponse:
        """The answer of the first model that gives one. Raises what the last one raised."""
        notes: list[str] = []
        for model in self.models[:-1]:
            try:
                return await model.respond(request)
            except self._on as error:
                notes.append(_note(model, error))
        with _noting(notes, self._on):
            return await self.models[-1].respond(request)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelDelta, None]:
        """The answer of the first model that begins one, in pieces."""
        notes: list[str] = []
        for model in self.models[:-1]:
            is_shown = False
            try:
                async with contextlib.aclosing(stream_of(model, request)) as deltas:
                    async for delta in deltas:
                        is_shown = True
                        yield delta
                return
            except self._on as error:
                if is_shown:
                    raise
                notes.append(_note(model, error))
        with _noting(notes, self._on):
            async with contextlib.aclosing(stream_of(self.models[-1], request)) as deltas:
                async for delta in deltas:
                    yield delta


def _note(model: Model, error: BaseException) -> str:
    return f"before that, {model!r} failed: {type(error).__name__}: {text_of_error(error)}"


@contextlib.contextmanager
def _noting(notes: list[str], on: tuple[type[BaseException], ...]) -> Generator[None, None, None]:
    try:
        yield
    except on as error:
        for note in notes:
            if note not in getattr(error, "__notes__", ()):  # one object that is raised again has them
                error.add_note(note)
        raise
