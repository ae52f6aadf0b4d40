"""langchain's create_agent (on langgraph): a chat model of its own, that makes its tools' schemas as real ones do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langchain_core.utils.function_calling import convert_to_openai_tool

from benchmarks.comparison.adapters.adapter import Adapter
from benchmarks.comparison.script import PROMPT, next_turn
from benchmarks.comparison.workloads import INSTRUCTIONS, Task


class PlayedModel(BaseChatModel):
    """Plays the script."""

    @property
    def _llm_type(self) -> str:
        return "played"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.bind(tools=[convert_to_openai_tool(each) for each in tools], **kwargs)

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        raise NotImplementedError

    async def _agenerate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        turn = next_turn(messages)
        calls = [{"name": call.name, "args": call.arguments, "id": call.id, "type": "tool_call"} for call in turn.calls]
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content=turn.text, tool_calls=calls))])


class LangChain(Adapter):
    """langchain."""

    async def build(self, task: Task) -> Any:
        tools = [tool(function) for function in task.functions]
        agent = create_agent(PlayedModel(), tools=tools, system_prompt=INSTRUCTIONS)
        return agent, {"recursion_limit": task.max_turns * 4 + 10}

    def history_of(self, texts: Sequence[tuple[str, str]]) -> Any:
        return [HumanMessage(text) if role == "user" else AIMessage(text) for role, text in texts]

    async def run(self, built: Any, history: Any) -> str:
        agent, settings = built
        state = await agent.ainvoke({"messages": [*(history or []), HumanMessage(PROMPT)]}, settings)
        return str(state["messages"][-1].content)


ADAPTER = LangChain
