"""smolagents' ToolCallingAgent. It is synchronous, so runs go to threads; it takes no earlier messages.

It ends by a call of its tool `final_answer`. The agent keeps its conversation, so each run makes an agent of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from smolagents import LogLevel, Model, Tool, ToolCallingAgent
from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole
from smolagents.monitoring import TokenUsage

from benchmarks.comparison.adapters.adapter import Adapter
from benchmarks.comparison.script import PROMPT, next_turn
from benchmarks.comparison.tools import SCHEMAS
from benchmarks.comparison.workloads import Task

THREADS = 1000


class PlayedModel(Model):
    """Plays the script."""

    def generate(
        self,
        messages: Any,
        stop_sequences: Any = None,
        response_format: Any = None,
        tools_to_call_from: Any = None,
        **kwargs: Any,
    ) -> ChatMessage:
        self._prepare_completion_kwargs(messages=messages, tools_to_call_from=tools_to_call_from)
        turn = next_turn(messages)
        asked = [(call.id, call.name, call.arguments) for call in turn.calls]
        calls = [
            ChatMessageToolCall(
                id=id, type="function", function=ChatMessageToolCallFunction(name=name, arguments=arguments)
            )
            for id, name, arguments in asked or [("end", "final_answer", {"answer": turn.text})]
        ]
        return ChatMessage(role=MessageRole.ASSISTANT, content="", token_usage=TokenUsage(1, 1), tool_calls=calls)


def tool_of(function: Callable[..., Any]) -> Tool:
    """A tool whose coroutine is run to its end in its thread."""

    def forward(self: Tool, **arguments: Any) -> Any:
        coroutine = function(**arguments)
        if function.__name__ in ("get_weather_slowly", "ask_expert"):
            return asyncio.run(coroutine)
        try:
            coroutine.send(None)
        except StopIteration as end:  # it never waits
            return end.value
        raise RuntimeError("a tool that waits")

    name = function.__name__
    members = {
        "name": name,
        "description": str(function.__doc__).split("\n", 1)[0],
        "inputs": {key: {"description": key, **part} for key, part in SCHEMAS[name]["properties"].items()},
        "output_type": "any" if name == "find_records" else "string",
        "forward": forward,
        "skip_forward_signature_validation": True,
    }
    return type(name, (Tool,), members)()


class SmolAgents(Adapter):
    """smolagents."""

    can = frozenset()

    def __init__(self, variant: str = "") -> None:
        super().__init__(variant)
        self.threads = ThreadPoolExecutor(THREADS)

    async def build(self, task: Task) -> Any:
        asyncio.get_running_loop().set_default_executor(self.threads)
        return task.max_turns, PlayedModel(model_id="played"), [tool_of(function) for function in task.functions]

    async def run(self, built: Any, history: Any) -> str:
        max_steps, model, tools = built

        def work() -> Any:
            agent = ToolCallingAgent(tools=tools, model=model, max_steps=max_steps, verbosity_level=LogLevel.OFF)
            return agent.run(PROMPT)

        return str(await asyncio.to_thread(work))


ADAPTER = SmolAgents
