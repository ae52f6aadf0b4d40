"""Bars on what a streamed piece costs, in function calls: they hold whatever else the machine does."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks import streamed_answers
from benchmarks.streaming import function_calls
from toolkit.models import AnthropicModel, GeminiModel, OpenAIChatModel, OpenAIResponsesModel


@pytest.mark.parametrize(
    ("adapter", "chunks"),
    [
        pytest.param(OpenAIChatModel, streamed_answers.chat(), id="chat"),
        pytest.param(OpenAIResponsesModel, streamed_answers.responses(), id="responses"),
        pytest.param(AnthropicModel, streamed_answers.anthropic(), id="anthropic"),
        pytest.param(GeminiModel, streamed_answers.gemini(), id="gemini"),
    ],
)
def test_a_streamed_chunk_takes_at_most_60_function_calls(adapter: Any, chunks: list[bytes]) -> None:
    calls = function_calls(adapter, chunks)

    assert 5 < calls <= 60
