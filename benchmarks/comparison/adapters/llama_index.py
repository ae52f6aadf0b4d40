"""llama-index-core's FunctionAgent (a workflow): a model with function calling; no streaming."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata, TextBlock, ToolCallBlock
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.tools import FunctionTool

from benchmarks.comparison.adapters.adapter import Adapter
from benchmarks.comparison.script import PROMPT, next_turn
from benchmarks.comparison.workloads import INSTRUCTIONS, Task


def _unused(self: Any, *args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError


class PlayedModel(FunctionCallingLLM):
    """Plays the script."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_chat_model=True, is_function_calling_model=True, model_name="played")

    def _prepare_chat_with_tools(
        self, tools: Any, user_msg: Any = None, chat_history: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        return {"messages": chat_history or [], "tools": [each.metadata.to_openai_tool() for each in tools]}

    async def achat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        turn = next_turn(messages)
        calls = [
            ToolCallBlock(tool_call_id=call.id, tool_name=call.name, tool_kwargs=call.arguments) for call in turn.calls
        ]
        return ChatResponse(message=ChatMessage(role="assistant", blocks=calls or [TextBlock(text=turn.text)]))

    def get_tool_calls_from_response(self, response: Any, error_on_no_tool_call: bool = True, **kwargs: Any) -> Any:
        return [
            ToolSelection(tool_id=block.tool_call_id, tool_name=block.tool_name, tool_kwargs=block.tool_kwargs)
            for block in response.message.blocks
            if isinstance(block, ToolCallBlock)
        ]

    chat = complete = stream_chat = stream_complete = _unused
    acomplete = astream_chat = astream_complete = _unused


class LlamaIndex(Adapter):
    """llama-index-core."""

    async def build(self, task: Task) -> Any:
        tools = [FunctionTool.from_defaults(async_fn=function) for function in task.functions]
        agent = FunctionAgent(tools=tools, llm=PlayedModel(), system_prompt=INSTRUCTIONS, streaming=False)
        return agent, task.max_turns + 5

    def history_of(self, texts: Sequence[tuple[str, str]]) -> Any:
        return [ChatMessage(role=role, content=text) for role, text in texts]

    async def run(self, built: Any, history: Any) -> str:
        agent, most = built
        return str(await agent.run(PROMPT, chat_history=history, max_iterations=most))


ADAPTER = LlamaIndex
