"""Models: what one is to a run, and those that come with the toolkit."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from toolkit.models.protocol import (
    Model,
    ModelDelta,
    ModelDone,
    ModelRequest,
    ModelResponse,
    ModelSettings,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
)

if TYPE_CHECKING:
    from toolkit.models.anthropic import AnthropicModel
    from toolkit.models.environment import from_environment
    from toolkit.models.fallback import FallbackModel
    from toolkit.models.gemini import GeminiModel
    from toolkit.models.keyword import KeywordModel
    from toolkit.models.openai_chat import OpenAIChatModel
    from toolkit.models.openai_responses import OpenAIResponsesModel
    from toolkit.models.retrying import RetryingModel

__all__ = [
    "AnthropicModel",
    "FallbackModel",
    "GeminiModel",
    "KeywordModel",
    "Model",
    "ModelDelta",
    "ModelDone",
    "ModelRequest",
    "ModelResponse",
    "ModelSettings",
    "OpenAIChatModel",
    "OpenAIResponsesModel",
    "ReasoningDelta",
    "RetryingModel",
    "TextDelta",
    "ToolCallDelta",
    "from_environment",
]

# Imported where they are asked for: every run imports this package, and most talk to one provider.
_LAZY = {
    "AnthropicModel": "anthropic",
    "FallbackModel": "fallback",
    "GeminiModel": "gemini",
    "KeywordModel": "keyword",
    "OpenAIChatModel": "openai_chat",
    "OpenAIResponsesModel": "openai_responses",
    "RetryingModel": "retrying",
    "from_environment": "environment",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        value = globals()[name] = getattr(import_module(f"toolkit.models.{_LAZY[name]}"), name)
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
