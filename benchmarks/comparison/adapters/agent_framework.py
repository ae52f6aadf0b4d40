"""Microsoft's agent-framework-core: a chat client with the layers of its OpenAI client around a played answer.

`agent_framework:hooks` has middleware around the model and around functions, which do nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatContext,
    ChatMiddleware,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationContext,
    FunctionInvocationLayer,
    FunctionMiddleware,
    Message,
    tool,
)
from agent_framework.observability import ChatTelemetryLayer

from benchmarks.comparison.adapters.adapter import Adapter
from benchmarks.comparison.script import PROMPT, chunk_came, is_remembered, next_turn
from benchmarks.comparison.workloads import INSTRUCTIONS, Task


class PlayedClient(FunctionInvocationLayer, ChatMiddlewareLayer, ChatTelemetryLayer, BaseChatClient):
    """Plays the script."""

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **kwargs: Any) -> Any:
        async def respond() -> ChatResponse:
            await self._validate_options(options)
            sent = [str(part.to_dict()) for each in messages for part in each.contents] if is_remembered() else messages
            turn = next_turn(sent)
            calls = [
                Content.from_function_call(call_id=call.id, name=call.name, arguments=call.text) for call in turn.calls
            ]
            return ChatResponse(messages=[Message("assistant", calls or [turn.text])])

        async def pieces() -> AsyncIterator[ChatResponseUpdate]:
            await self._validate_options(options)
            for piece in next_turn(messages).chunks:
                yield ChatResponseUpdate(role="assistant", contents=[Content.from_text(piece)])

        return self._build_response_stream(pieces()) if stream else respond()


class AroundModel(ChatMiddleware):
    """Does nothing."""

    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        await call_next()


class AroundFunctions(FunctionMiddleware):
    """Does nothing."""

    async def process(self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]) -> None:
        await call_next()


class AgentFramework(Adapter):
    """agent-framework-core."""

    can = frozenset({"history", "stream", "sync"})

    def __init__(self, variant: str = "") -> None:
        self.has_hooks = variant == "hooks"
        super().__init__("" if self.has_hooks else variant)

    async def build(self, task: Task) -> Any:
        client = PlayedClient()
        client.function_invocation_configuration["max_iterations"] = task.max_turns
        middleware = [AroundModel(), AroundFunctions()] if self.has_hooks else None
        agent = Agent(client, INSTRUCTIONS, tools=[tool(each) for each in task.functions], middleware=middleware)
        return agent, task.is_streamed

    def history_of(self, texts: Sequence[tuple[str, str]]) -> Any:
        return [Message(role, [text]) for role, text in texts]

    async def run(self, built: Any, history: Any) -> str:
        agent, is_streamed = built
        prompt = [*history, Message("user", [PROMPT])] if history else PROMPT
        if not is_streamed:
            return str((await agent.run(prompt)).text)
        pieces = []
        async for update in agent.run(prompt, stream=True):
            chunk_came()
            pieces.append(update.text)
        return "".join(pieces)


ADAPTER = AgentFramework
