"""strands-agents: a streaming model. The agent keeps its conversation, so each run makes an agent of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from strands import Agent, tool
from strands.models import Model

from benchmarks.comparison.adapters.adapter import Adapter
from benchmarks.comparison.script import PROMPT, chunk_came, next_turn
from benchmarks.comparison.workloads import INSTRUCTIONS, Task


class PlayedModel(Model):
    """Plays the script."""

    def update_config(self, **settings: Any) -> None: ...

    def get_config(self) -> dict[str, Any]:
        return {"model_id": "played"}

    def structured_output(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    async def stream(
        self, messages: Any, tool_specs: Any = None, system_prompt: Any = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        turn = next_turn(messages)
        yield {"messageStart": {"role": "assistant"}}
        for call in turn.calls:
            yield {"contentBlockStart": {"start": {"toolUse": {"toolUseId": call.id, "name": call.name}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": call.text}}}}
            yield {"contentBlockStop": {}}
        if not turn.calls:
            yield {"contentBlockStart": {"start": {}}}
            for piece in turn.chunks or [turn.text]:
                yield {"contentBlockDelta": {"delta": {"text": piece}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if turn.calls else "end_turn"}}
        usage = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}
        yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 1}}}


class Strands(Adapter):
    """strands-agents."""

    can = frozenset({"history", "stream", "sync"})

    async def build(self, task: Task) -> Any:
        return task, PlayedModel(), [tool(function) for function in task.functions]

    def history_of(self, texts: Sequence[tuple[str, str]]) -> Any:
        return [{"role": role, "content": [{"text": text}]} for role, text in texts]

    async def run(self, built: Any, history: Any) -> str:
        task, model, tools = built
        agent = Agent(
            model=model,
            tools=tools,
            system_prompt=INSTRUCTIONS,
            callback_handler=None,
            messages=list(history) if history else None,
            load_tools_from_directory=False,
        )
        if not task.is_streamed:
            return str(await agent.invoke_async(PROMPT))
        pieces = []
        async for event in agent.stream_async(PROMPT):
            if "data" in event:
                chunk_came()
                pieces.append(event["data"])
        return "".join(pieces)


ADAPTER = Strands
