"""What Google's models take, where they differ: data, looked up by the beginning of a model's name.

As of November 2026: Google's pages on thought signatures, on structured outputs with tools and on multimodal function
responses.
"""

from __future__ import annotations

from msgspec import Struct

__all__ = ["Gemini", "gemini_named"]


class Gemini(Struct, frozen=True):
    """How a model takes requests. The defaults are those of Gemini 3 and of what comes after it.

    Attributes:
        has_output_beside_tools: Whether it holds its answer to a schema also when it may call tools; the earlier ones
            refuse such requests (`Function calling with a response mime type: 'application/json' is unsupported`).
        result_media: The types of media that may stand inside the result of a call.
        wants_signatures: Whether it refuses calls of its own without the signature of the thought behind them.
    """

    has_output_beside_tools: bool = True
    result_media: frozenset[str] = frozenset({"image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"})
    wants_signatures: bool = True


_EARLY = Gemini(has_output_beside_tools=False, result_media=frozenset(), wants_signatures=False)

# The longest beginning that fits counts. Names that tell no generation (`gemini-flash-latest`) mean a present model.
_GEMINIS: dict[str, Gemini] = {
    **dict.fromkeys(("gemini-1", "gemini-2", "gemini-exp", "gemini-robotics-er-1.5"), _EARLY),
    "gemini-": Gemini(),
}


def gemini_named(name: str) -> Gemini:
    """What the model takes, by its name, such as `gemini-3.8-flash` or `models/gemini-2.5-pro`.

    Others (Gemma, tuned models) are taken as early ones, which asks the least of them.
    """
    plain = name.lower().removeprefix("models/")
    known = [beginning for beginning in _GEMINIS if plain.startswith(beginning)]
    return _GEMINIS[max(known, key=len)] if known else _EARLY
