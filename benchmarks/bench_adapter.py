"""The adapter for the bench of ../shared: an agent as a user writes it, in a container, with a tool class per function.

`toolwire:everything` has all four agent-wide hooks, the tool's own, an async generator of the run's, a tool to close,
and reads the run as a stream. benchmarks/README.md says how to run it; `common` is a module of that bench.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import common
from dependency_injector import containers, providers

from toolkit import Agent, Limits, RunContext, Tool, ToolCall
from toolkit.hooks import Allow
from toolkit.injection import RunScoped, application, dep, provide
from toolkit.messages import AssistantMessage, UserMessage, messages_from_json, messages_to_json
from toolkit.models import ModelRequest, ModelResponse


class Client:
    """What each tool is built with."""


async def open_client() -> AsyncIterator[Client]:
    """A client of one run."""
    try:
        yield Client()
    finally:
        pass


class Hooks:
    """All four agent-wide hooks, doing nothing."""

    async def on_before_call(self, ctx: RunContext, call: Any) -> None:
        return None

    async def on_after_call(self, ctx: RunContext, info: Any) -> None:
        return None

    async def on_before_model(self, ctx: RunContext, request: Any) -> None:
        return None

    async def on_after_model(self, ctx: RunContext, response: Any) -> None:
        return None


class PlayedModel:
    """Plays the bench's script."""

    async def respond(self, request: ModelRequest) -> ModelResponse:
        turn = common.next_turn(request.messages)
        return ModelResponse(turn.text, tuple(ToolCall(call.id, call.name, call.args_json) for call in turn.calls))


def tool_class(function: Any) -> type[Tool]:
    class FunctionTool(Tool):
        name = function.__name__
        description = function.__doc__.splitlines()[0]
        handler = staticmethod(function)

        def __init__(self, client: Client) -> None:
            self.client = client

    return FunctionTool


def closing(tool: type[Tool]) -> type[Tool]:
    class ClosingTool(tool):  # type: ignore[valid-type, misc]  # a class made at run time
        async def on_before_call(self, ctx: RunContext, call: Any) -> Allow:
            return Allow()

        async def on_after_call(self, ctx: RunContext, info: Any) -> None:
            return None

        async def aclose(self) -> None:
            return None

    return ClosingTool


class Adapter:
    def __init__(self, variant: str = "") -> None:
        self.has_everything = variant == "everything"

    def build(self, spec: Any) -> Any:
        tools = [tool_class(function) for function in spec.tools]

        class Application(containers.DeclarativeContainer):
            client = RunScoped(open_client) if self.has_everything else providers.Singleton(Client)
            model = providers.Singleton(PlayedModel)
            agent = provide(
                Agent,
                model=dep(model),
                tools=[closing(tool) for tool in tools] if self.has_everything else tools,
                hooks=[Hooks()] if self.has_everything else [],
                instructions=spec.instructions,
                limits=Limits(max_turns=spec.max_turns),
            )

        return _Opened(application(Application()))

    def make_history(self, texts: Any) -> Any:
        made = [UserMessage(text) if role == "user" else AssistantMessage(text) for role, text in texts]
        return messages_from_json(messages_to_json(made))

    async def run(self, opened: _Opened, history: Any) -> str:
        if opened.agent is None:  # the first run, which the bench throws away
            opened.agent = (await opened.context.__aenter__()).agent()
        if not self.has_everything:
            run = await opened.agent.run(common.PROMPT, messages=history or ())
            return str(run.response)
        async with opened.agent.stream(common.PROMPT, messages=history or ()) as stream:
            async for _ in stream:
                pass
        return str(stream.run.response)


class _Opened:
    """An application, entered by the first run: the bench builds outside of its event loop."""

    def __init__(self, context: Any) -> None:
        self.context = context
        self.agent: Any = None
