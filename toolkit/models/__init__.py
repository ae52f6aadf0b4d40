"""Models: what one is to a run, and those that come with the toolkit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.exports import attributes_of
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
else:
    # Loaded where it is asked for: every run imports this package, and most talk to one provider.
    __getattr__, __dir__ = attributes_of(
        __name__,
        {
            "toolkit.models.anthropic": "AnthropicModel",
            "toolkit.models.environment": "from_environment",
            "toolkit.models.fallback": "FallbackModel",
            "toolkit.models.gemini": "GeminiModel",
            "toolkit.models.keyword": "KeywordModel",
            "toolkit.models.openai_chat": "OpenAIChatModel",
            "toolkit.models.openai_responses": "OpenAIResponsesModel",
            "toolkit.models.retrying": "RetryingModel",
        },
    )

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
