"""openai-agents: a model of its own interface; no tracing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agents import Agent, Model, ModelResponse, Runner, Usage, function_tool, set_tracing_disabled
from agents.exceptions import UserError
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from benchmarks.comparison.adapters.adapter import Adapter
from benchmarks.comparison.script import PROMPT, Turn, next_turn
from benchmarks.comparison.workloads import INSTRUCTIONS, Task

set_tracing_disabled(True)


class PlayedModel(Model):
    """Plays the script."""

    async def get_response(self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any) -> ModelResponse:
        turn = next_turn(input)
        return ModelResponse(output=_calls(turn) or [_message(turn)], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError


def _calls(turn: Turn) -> list[Any]:
    return [
        ResponseFunctionToolCall(type="function_call", call_id=call.id, name=call.name, arguments=call.text)
        for call in turn.calls
    ]


def _message(turn: Turn) -> ResponseOutputMessage:
    text = ResponseOutputText(type="output_text", text=turn.text, annotations=[])
    return ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])


def tool_of(function: Callable[..., Any]) -> Any:
    """A strict tool, where its parameters allow that."""
    try:
        return function_tool(function)
    except UserError:
        return function_tool(function, strict_mode=False)


class OpenAIAgents(Adapter):
    """openai-agents."""

    can = frozenset({"history", "sync"})

    async def build(self, task: Task) -> Any:
        tools = [tool_of(function) for function in task.functions]
        return Agent(name="agent", instructions=INSTRUCTIONS, tools=tools, model=PlayedModel()), task.max_turns

    def history_of(self, texts: Sequence[tuple[str, str]]) -> Any:
        return [{"role": role, "content": text} for role, text in texts]

    async def run(self, built: Any, history: Any) -> str:
        agent, max_turns = built
        prompt = [*history, {"role": "user", "content": PROMPT}] if history else PROMPT
        return str((await Runner.run(agent, prompt, max_turns=max_turns)).final_output)


ADAPTER = OpenAIAgents
