"""The adapter for the bench of ../shared: an agent as a user writes it, in a container, with a tool class per function.

benchmarks/README.md says how to run it; `common` is a module of that bench.
"""

from __future__ import annotations

from typing import Any

import common
from dependency_injector import containers, providers

from toolkit import Agent, Limits, Tool, ToolCall
from toolkit.injection import application, dep, provide
from toolkit.messages import AssistantMessage, UserMessage, messages_from_json, messages_to_json
from toolkit.models import ModelRequest, ModelResponse


class Client:
    """What each tool is built with."""


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


class Adapter:
    def build(self, spec: Any) -> Any:
        class Application(containers.DeclarativeContainer):
            client = providers.Singleton(Client)
            model = providers.Singleton(PlayedModel)
            agent = provide(
                Agent,
                model=dep(model),
                tools=[tool_class(function) for function in spec.tools],
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
        run = await opened.agent.run(common.PROMPT, messages=history or ())
        return str(run.response)


class _Opened:
    """An application, entered by the first run: the bench builds outside of its event loop."""

    def __init__(self, context: Any) -> None:
        self.context = context
        self.agent: Any = None
