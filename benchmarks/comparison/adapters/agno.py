"""agno: a model of its own interface; no telemetry, no database. `agno:hooks` has hooks that do nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from agno.agent import Agent
from agno.models.base import Model
from agno.models.message import Message
from agno.models.response import ModelResponse

from benchmarks.comparison.adapters.adapter import Adapter
from benchmarks.comparison.script import PROMPT, Turn, chunk_came, next_turn
from benchmarks.comparison.workloads import INSTRUCTIONS, Task


class PlayedModel(Model):
    """Plays the script."""

    def __init__(self) -> None:
        super().__init__(id="played", name="played", provider="played")

    async def ainvoke(self, messages: Any, assistant_message: Any, **kwargs: Any) -> ModelResponse:
        return self._parse_provider_response(next_turn(messages))

    async def ainvoke_stream(self, messages: Any, assistant_message: Any, **kwargs: Any) -> AsyncIterator[Any]:
        for piece in next_turn(messages).chunks:
            yield self._parse_provider_response_delta(piece)

    def _parse_provider_response(self, turn: Turn, **kwargs: Any) -> ModelResponse:
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.text}}
            for call in turn.calls
        ]
        return ModelResponse(role="assistant", content=turn.text or None, tool_calls=calls)

    def _parse_provider_response_delta(self, piece: str) -> ModelResponse:
        return ModelResponse(role="assistant", content=piece)

    def invoke(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def invoke_stream(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError


async def around_tools(function_name: str, function_call: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Does nothing."""
    return await function_call(**arguments)


async def before_run(run_input: Any) -> None:
    """Does nothing."""


async def after_run(run_output: Any) -> None:
    """Does nothing."""


class Agno(Adapter):
    """agno."""

    can = frozenset({"history", "stream", "sync"})

    def __init__(self, variant: str = "") -> None:
        self.hooks: dict[str, Any] = {}
        if variant == "hooks":
            self.hooks = {"tool_hooks": [around_tools], "pre_hooks": [before_run], "post_hooks": [after_run]}
        else:
            super().__init__(variant)

    async def build(self, task: Task) -> Any:
        tools = list(task.functions)
        agent = Agent(model=PlayedModel(), tools=tools, instructions=INSTRUCTIONS, telemetry=False, **self.hooks)
        return agent, task.is_streamed

    def history_of(self, texts: Sequence[tuple[str, str]]) -> Any:
        return [Message(role=role, content=text) for role, text in texts]

    async def run(self, built: Any, history: Any) -> str:
        agent, is_streamed = built
        prompt = [*history, Message(role="user", content=PROMPT)] if history else PROMPT
        if not is_streamed:
            return str((await agent.arun(prompt)).content)
        pieces = []
        async for event in agent.arun(prompt, stream=True):
            if event.event == "RunContent":
                chunk_came()
                pieces.append(event.content)
        return "".join(pieces)


ADAPTER = Agno
