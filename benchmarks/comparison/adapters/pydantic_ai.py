"""pydantic-ai-slim: a model of its own interface (its FunctionModel would estimate tokens over all of the history)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models import Model
from pydantic_ai.usage import RequestUsage, UsageLimits

from benchmarks.comparison.adapters.adapter import Adapter
from benchmarks.comparison.script import PROMPT, next_turn
from benchmarks.comparison.workloads import INSTRUCTIONS, Task


class PlayedModel(Model):
    """Plays the script."""

    model_name = "played"
    system = "played"

    async def request(self, messages: Any, model_settings: Any, model_request_parameters: Any) -> ModelResponse:
        self.prepare_request(model_settings, model_request_parameters)
        turn = next_turn(messages)
        calls = [ToolCallPart(call.name, call.text, tool_call_id=call.id) for call in turn.calls]
        return ModelResponse(parts=calls or [TextPart(turn.text)], usage=RequestUsage(), model_name="played")


class PydanticAI(Adapter):
    """pydantic-ai-slim."""

    can = frozenset({"history", "sync"})

    async def build(self, task: Task) -> Any:
        return Agent(PlayedModel(), tools=list(task.functions), instructions=INSTRUCTIONS)

    def history_of(self, texts: Sequence[tuple[str, str]]) -> Any:
        return [
            ModelRequest(parts=[UserPromptPart(text)]) if role == "user" else ModelResponse(parts=[TextPart(text)])
            for role, text in texts
        ]

    async def run(self, agent: Any, history: Any) -> str:
        done = await agent.run(PROMPT, message_history=history, usage_limits=UsageLimits(request_limit=None))
        return str(done.output)


ADAPTER = PydanticAI
