"""haystack-ai: an Agent with a chat generator of its own. It checks no arguments, and gets them as a dict.

`haystack:hooks` has hooks before the model, and before and after tools, which do nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from haystack import component
from haystack.components.agents import Agent, State
from haystack.dataclasses import ChatMessage, StreamingChunk, ToolCall
from haystack.hooks import hook
from haystack.tools import Tool

from benchmarks.comparison.adapters.adapter import Adapter
from benchmarks.comparison.script import PROMPT, chunk_came, next_turn
from benchmarks.comparison.tools import SCHEMAS
from benchmarks.comparison.workloads import INSTRUCTIONS, Task


@component
class PlayedGenerator:
    """Plays the script."""

    @component.output_types(replies=list[ChatMessage])
    def run(
        self,
        messages: list[ChatMessage],
        tools: list[Tool] | None = None,
        streaming_callback: Any = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        turn = next_turn(messages)
        calls = [ToolCall(tool_name=call.name, arguments=call.arguments, id=call.id) for call in turn.calls]
        return {"replies": [ChatMessage.from_assistant(turn.text or None, tool_calls=calls)]}

    @component.output_types(replies=list[ChatMessage])
    async def run_async(
        self,
        messages: list[ChatMessage],
        tools: list[Tool] | None = None,
        streaming_callback: Any = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        if streaming_callback is None:
            return self.run(messages)
        turn = next_turn(messages)
        for piece in turn.chunks:
            await streaming_callback(StreamingChunk(piece))
        return {"replies": [ChatMessage.from_assistant(turn.text)]}


async def read_piece(piece: StreamingChunk) -> None:
    """Who reads the stream."""
    chunk_came()


@hook
async def hook_of_nothing(state: State) -> None:
    """Does nothing."""


def tool_of(function: Callable[..., Any]) -> Tool:
    """A tool of a function, by its schema."""
    described = {"name": function.__name__, "description": str(function.__doc__).split("\n", 1)[0]}
    kind = "async_function" if inspect.iscoroutinefunction(function) else "function"
    return Tool(**described, parameters=SCHEMAS[function.__name__], **{kind: function})


class Haystack(Adapter):
    """haystack-ai."""

    can = frozenset({"history", "stream", "sync"})

    def __init__(self, variant: str = "") -> None:
        self.hooks: dict[str, Any] = {}
        if variant == "hooks":
            self.hooks = {point: [hook_of_nothing] for point in ("before_llm", "before_tool", "after_tool")}
        else:
            super().__init__(variant)

    async def build(self, task: Task) -> Any:
        agent = Agent(
            chat_generator=PlayedGenerator(),
            tools=[tool_of(function) for function in task.functions],
            system_prompt=INSTRUCTIONS,
            max_agent_steps=task.max_turns,
            streaming_callback=read_piece if task.is_streamed else None,
            hooks=self.hooks or None,
        )
        agent.warm_up()
        return agent

    def history_of(self, texts: Sequence[tuple[str, str]]) -> Any:
        return [
            ChatMessage.from_user(text) if role == "user" else ChatMessage.from_assistant(text) for role, text in texts
        ]

    async def run(self, agent: Any, history: Any) -> str:
        done = await agent.run_async(messages=[*(history or []), ChatMessage.from_user(PROMPT)])
        return str(done["last_message"].text)


ADAPTER = Haystack
