"""Toolwire as a user writes it: a container, `application`, tools as classes with an injected client.

`toolwire:hooks` has all four agent-wide hooks and the tool's own two. `toolwire:everything` has the four, a client that
is an async generator of the run, a tool to close, and reads each run as a stream.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from typing import Any

from dependency_injector import containers, providers

from benchmarks.comparison.adapters.adapter import Adapter
from benchmarks.comparison.adapters.toolwire_tools import (
    Client,
    Expert,
    open_first,
    open_second,
    open_third,
    tool_class,
)
from benchmarks.comparison.script import PROMPT, chunk_came, next_turn
from benchmarks.comparison.workloads import INSTRUCTIONS, Task
from toolkit import Agent, Limits, RunContext, Tool, ToolCall
from toolkit.events import TextDelta
from toolkit.hooks import Allow
from toolkit.injection import AppScoped, RunScoped, application, dep, provide
from toolkit.messages import AssistantMessage, UserMessage, messages_from_json, messages_to_json
from toolkit.models import ModelDelta, ModelDone, ModelRequest, ModelResponse
from toolkit.models import TextDelta as TextPiece


class PlayedModel:
    """Plays the script."""

    async def respond(self, request: ModelRequest) -> ModelResponse:
        turn = next_turn(request.messages)
        return ModelResponse(turn.text, tuple(ToolCall(call.id, call.name, call.text) for call in turn.calls))


class StreamingModel(PlayedModel):
    """Plays an answer in pieces."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelDelta]:
        turn = next_turn(request.messages)
        for piece in turn.chunks:
            yield TextPiece(piece)
        yield ModelDone(ModelResponse(turn.text))


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


def with_hooks(tool: type[Tool]) -> type[Tool]:
    """The tool, with a guard and an after-hook of its own."""

    class GuardedTool(tool):  # type: ignore[valid-type, misc]  # a class made at run time
        __doc__ = tool.__doc__

        async def on_before_call(self, ctx: RunContext, call: Any) -> Allow:
            return Allow()

        async def on_after_call(self, ctx: RunContext, info: Any) -> None:
            return None

    return GuardedTool


def with_close(tool: type[Tool]) -> type[Tool]:
    """The tool, with something to close."""

    class ClosingTool(tool):  # type: ignore[valid-type, misc]  # a class made at run time
        __doc__ = tool.__doc__

        async def aclose(self) -> None:
            return None

    return ClosingTool


async def open_client() -> AsyncIterator[Client]:
    """A client of one run."""
    yield Client()


class Opened:
    """An agent that is bound to its application, and how it is read."""

    def __init__(self, agent: Any, is_streamed: bool) -> None:
        self.agent = agent
        self.is_streamed = is_streamed


class Toolwire(Adapter):
    """This toolkit."""

    can = frozenset({"history", "stream", "sync", "run_scope"})

    def __init__(self, variant: str = "") -> None:
        if variant not in ("", "hooks", "everything"):
            raise ValueError(f"there is no variant '{variant}': hooks or everything")
        self.has_hooks = bool(variant)
        self.has_everything = variant == "everything"
        self.stack = AsyncExitStack()

    async def build(self, task: Task) -> Opened:
        app = await self.stack.enter_async_context(application(self._container(task)))
        return Opened(app.agent(), task.is_streamed or self.has_everything)

    def _container(self, task: Task) -> containers.DeclarativeContainer:
        functions = {function.__name__: function for function in task.functions}
        tools = [tool_class(name, place, task.clients) for place, name in enumerate(functions)]
        if self.has_everything:
            tools = [with_close(tool) for tool in tools]
        elif self.has_hooks:
            tools = [with_hooks(tool) for tool in tools]

        class Application(containers.DeclarativeContainer):
            client = RunScoped(open_client) if self.has_everything else providers.Singleton(Client)
            first = RunScoped(open_first)
            second = RunScoped(open_second)
            third = RunScoped(open_third)
            expert = providers.Singleton(Expert, functions.get("ask_expert"))
            model = AppScoped(StreamingModel if task.is_streamed else PlayedModel)
            agent = provide(
                Agent,
                model=dep(model),
                tools=tools,
                hooks=[Hooks()] if self.has_hooks else [],
                instructions=INSTRUCTIONS,
                limits=Limits(max_turns=task.max_turns),
            )

        if not task.clients:  # matched by type, there is but one client then
            for name in ("first", "second", "third"):
                delattr(Application, name)
        return Application()

    def history_of(self, texts: Sequence[tuple[str, str]]) -> Any:
        made = [UserMessage(text) if role == "user" else AssistantMessage(text) for role, text in texts]
        return messages_from_json(messages_to_json(made))

    async def run(self, opened: Opened, history: Any) -> str:
        if not opened.is_streamed:
            run = await opened.agent.run(PROMPT, messages=history or ())
            return str(run.response)
        async with opened.agent.stream(PROMPT, messages=history or ()) as stream:
            async for event in stream:
                if event.__class__ is TextDelta:
                    chunk_came()
        return str(stream.run.response)

    async def aclose(self) -> None:
        await self.stack.aclose()


ADAPTER = Toolwire
