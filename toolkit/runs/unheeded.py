"""What a model does though it was asked for something else, or for all of it: told, and never guessed about."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import cast

import msgspec

from toolkit.models.protocol import ModelRequest, ModelResponse

__all__ = ["unheeded"]

_FENCED = re.compile(r"```[A-Za-z_]*\s*(\{.*?\})\s*```|<tool_call>\s*(\{.*?\})\s*</tool_call>", re.DOTALL)
_UNFINISHED: dict[str | None, str] = {
    "length": "the answer is cut off at a limit of tokens: that of ModelSettings(max_tokens=...), or the model's own",
    "refusal": "the model refused to answer; what it said was taken as the answer",
}
_MAX_TEXT = 20_000  # characters; a call that is written as text is short


def unheeded(request: ModelRequest, response: ModelResponse, tools: Container[str]) -> str | None:
    """Why an answer without tool calls is odd, or None, as nearly always.

    Args:
        tools: The names of the run's tools.
    """
    if response.stop_reason in _UNFINISHED:
        return _UNFINISHED[response.stop_reason]
    choice = request.tool_choice
    if choice not in (None, "auto", "none"):
        wanted = "a tool" if choice == "required" else f"the tool {choice!r}"
        return f"the model was asked to call {wanted}, and answered without a call; its answer was taken as it is"
    text = response.text
    if "{" not in text or '"name"' not in text or len(text) > _MAX_TEXT:
        return None
    found = _FENCED.search(text)
    written = (found.group(1) or found.group(2)) if found is not None else text.strip()
    name = _called_name(written)
    if name is None or name not in tools:
        return None
    return f"the model wrote a call of {name!r} as text, which is no tool call; it was not run"


def _called_name(written: str) -> str | None:
    """The name in a text that is the JSON of a call."""
    try:
        value = cast("object", msgspec.json.decode(written))
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None
    if not isinstance(value, dict):
        return None
    call = cast("dict[str, object]", value)
    name = call.get("name")
    return name if isinstance(name, str) and ("arguments" in call or "parameters" in call) else None
