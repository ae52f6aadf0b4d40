"""The least that the work takes: a loop written by hand, with nothing around it.

`floor:none`, `floor:jsonschema`, `floor:jsonschema_rs` say what checks the arguments. With `+di` behind it a
dependency-injector Factory makes each run's tool.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from benchmarks.comparison.adapters.adapter import Adapter
from benchmarks.comparison.script import PROMPT, Call, Turn, chunk_came, next_turn
from benchmarks.comparison.tools import SCHEMAS
from benchmarks.comparison.workloads import Task

Reader = Callable[[str], dict[str, Any]]


class Client:
    """What a tool is made with: it stands for an HTTP client."""


class BareTool:
    """A function, and what it would need."""

    __slots__ = ("client", "function")

    def __init__(self, client: Client, function: Callable[..., Any]) -> None:
        self.client = client
        self.function = function


@asynccontextmanager
async def open_client() -> AsyncIterator[Client]:
    """A client of one run."""
    yield Client()


def reader_of(check: str, schema: dict[str, Any]) -> Reader:
    """Arguments from their JSON text, checked in one of the ways."""
    match check:
        case "none":
            return json.loads
        case "jsonschema":
            from jsonschema import Draft202012Validator

            validate: Callable[[Any], None] = Draft202012Validator(schema).validate
        case "jsonschema_rs":
            import jsonschema_rs

            validate = jsonschema_rs.Draft202012Validator(schema).validate
        case _:
            raise ValueError(f"there is no check '{check}'")

    def read(text: str) -> dict[str, Any]:
        arguments: dict[str, Any] = json.loads(text)
        validate(arguments)
        return arguments

    return read


class Agent:
    """The loop's parts: readers and makers of tools by name, and what the model is told."""

    def __init__(self, task: Task, check: str, has_factories: bool) -> None:
        self.task = task
        self.functions = {function.__name__: function for function in task.functions}
        self.readers = {name: reader_of(check, SCHEMAS[name]) for name in self.functions}
        self.definitions = [{"name": name, "input_schema": SCHEMAS[name]} for name in self.functions]
        self.is_sync = {name: not inspect.iscoroutinefunction(each) for name, each in self.functions.items()}
        self.makers = self._factories() if has_factories else self._constants()

    def _factories(self) -> dict[str, Callable[[], BareTool]]:
        from dependency_injector import providers

        client = providers.Singleton(Client)
        return {name: providers.Factory(BareTool, client, each) for name, each in self.functions.items()}

    def _constants(self) -> dict[str, Callable[[], BareTool]]:
        client = Client()
        tools = {name: BareTool(client, each) for name, each in self.functions.items()}
        return {name: (lambda tool=tool: tool) for name, tool in tools.items()}

    async def call(self, asked: Call, tools: dict[str, BareTool]) -> dict[str, Any]:
        """The message for one call."""
        arguments = self.readers[asked.name](asked.text)
        tool = tools.get(asked.name)
        if tool is None:
            tool = tools[asked.name] = self.makers[asked.name]()
        if self.is_sync[asked.name]:
            result = await asyncio.to_thread(tool.function, **arguments)
        else:
            result = await tool.function(**arguments)
        content = result if type(result) is str else json.dumps(result)
        return {"role": "tool", "tool_call_id": asked.id, "content": content}


class Floor(Adapter):
    """A loop by hand."""

    can = frozenset({"history", "stream", "sync", "run_scope"})

    def __init__(self, variant: str = "") -> None:
        self.check, _, maker = variant.partition("+")
        self.has_factories = maker == "di"

    async def build(self, task: Task) -> Agent:
        return Agent(task, self.check, self.has_factories)

    def history_of(self, texts: Any) -> list[dict[str, Any]]:
        return [{"role": role, "content": text} for role, text in texts]

    async def run(self, agent: Agent, history: Any) -> str:
        if agent.task.is_streamed:
            return await _read_stream(agent)
        if not agent.task.clients:
            return await _loop(agent, history, {})
        async with AsyncExitStack() as stack:
            clients = [await stack.enter_async_context(open_client()) for _ in range(agent.task.clients)]
            tools = {
                name: BareTool(clients[place % len(clients)], function)
                for place, (name, function) in enumerate(agent.functions.items())
            }
            return await _loop(agent, history, tools)


async def _loop(agent: Agent, history: Any, tools: dict[str, BareTool]) -> str:
    messages = list(history) if history else []
    messages.append({"role": "user", "content": PROMPT})
    while True:
        turn = await _respond(messages, agent.definitions)
        messages.append({"role": "assistant", "content": turn.text, "tool_calls": turn.calls})
        if not turn.calls:
            return turn.text
        if len(turn.calls) == 1:
            messages.append(await agent.call(turn.calls[0], tools))
        else:
            messages.extend(await asyncio.gather(*[agent.call(each, tools) for each in turn.calls]))


async def _respond(messages: list[dict[str, Any]], definitions: list[dict[str, Any]]) -> Turn:
    return next_turn(messages)


async def _read_stream(agent: Agent) -> str:
    pieces = []
    async for piece in _chunks([{"role": "user", "content": PROMPT}], agent.definitions):
        chunk_came()
        pieces.append(piece)
    return "".join(pieces)


async def _chunks(messages: list[dict[str, Any]], definitions: list[dict[str, Any]]) -> AsyncIterator[str]:
    for piece in next_turn(messages).chunks:
        yield piece


ADAPTER = Floor
