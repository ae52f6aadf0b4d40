"""Models: what one is to a run, and those that come with the toolkit."""

from __future__ import annotations

from toolkit.models.environment import from_environment
from toolkit.models.keyword import KeywordModel
from toolkit.models.openai_chat import OpenAIChatModel
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

__all__ = [
    "KeywordModel",
    "Model",
    "ModelDelta",
    "ModelDone",
    "ModelRequest",
    "ModelResponse",
    "ModelSettings",
    "OpenAIChatModel",
    "ReasoningDelta",
    "TextDelta",
    "ToolCallDelta",
    "from_environment",
]
