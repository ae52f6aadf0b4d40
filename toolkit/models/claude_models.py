"""What Claude's models take, where they differ: data, looked up by the beginning of a model's name.

As of November 2026: Anthropic's pages on structured outputs, on forcing tool use and on thinking, and what other
clients found where the pages are silent.
"""

from __future__ import annotations

from msgspec import Struct

__all__ = ["Claude", "claude_named"]


class Claude(Struct, frozen=True):
    """How a model takes requests. The defaults are those of a Claude that is not known here.

    Attributes:
        max_tokens: The longest answer that is asked for where the settings don't say, thinking included.
        has_grammar: Whether it holds answers and calls to a schema (`output_config.format`, `strict`).
        has_sampling: Whether it takes `temperature` and `top_p`; a model without them refuses the request.
        has_forced_choice: Whether a call may be demanded (`tool_choice` `any` and `tool`).
        binds_thinking: Whether it refuses its earlier thinking once what stood before that has changed.
    """

    max_tokens: int = 16_384
    has_grammar: bool = True
    has_sampling: bool = True
    has_forced_choice: bool = True
    binds_thinking: bool = False


_FIRST = Claude(max_tokens=4_096, has_grammar=False)  # Claude 3 can say no more
_EARLY = Claude(has_grammar=False)
_UNSAMPLED = Claude(has_sampling=False)
_BINDING = Claude(has_sampling=False, has_forced_choice=False, binds_thinking=True)

# The longest beginning that fits counts.
_CLAUDES: dict[str, Claude] = {
    **dict.fromkeys(("claude-2", "claude-3", "claude-instant"), _FIRST),
    **dict.fromkeys(("claude-4-opus", "claude-4-sonnet", "claude-opus-4", "claude-sonnet-4"), _EARLY),
    **dict.fromkeys(("claude-opus-4-5", "claude-opus-4-6", "claude-sonnet-4-5", "claude-sonnet-4-6"), Claude()),
    **dict.fromkeys(("claude-opus-4-7", "claude-opus-4-8", "claude-opus-5", "claude-sonnet-5"), _UNSAMPLED),
    **dict.fromkeys(("claude-fable-5", "claude-mythos-5"), _UNSAMPLED),
    "claude-haiku-5-5": Claude(has_sampling=False, binds_thinking=True),
    "claude-mythos-5-1": Claude(has_sampling=False, has_forced_choice=False),
    **dict.fromkeys(("claude-fable-5-1", "claude-fable-5-2", "claude-mythos-5-2"), _BINDING),
    **dict.fromkeys(("claude-opus-5-5", "claude-sonnet-5-5"), _BINDING),
}
_OTHER = Claude(has_grammar=False)  # of a server that speaks like Anthropic, and may ignore what it doesn't know


def claude_named(name: str) -> Claude:
    """What the model takes, by its name at Anthropic or elsewhere, such as `anthropic/claude-sonnet-4.5`."""
    plain = name.lower().replace(".", "-")
    start = plain.find("claude-")
    if start < 0:
        return _OTHER
    plain = plain[start:]
    known = [beginning for beginning in _CLAUDES if plain.startswith(beginning)]
    return _CLAUDES[max(known, key=len)] if known else Claude()
