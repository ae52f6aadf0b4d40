"""The start of a run: the agent, its model, hooks, tools and instructions, and what the model is asked with."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from toolkit.context import AgentInfo
from toolkit.errors import ConfigurationError, RunError, repr_of
from toolkit.messages import Message, SystemMessage
from toolkit.models.protocol import ModelRequest
from toolkit.runs.builder import Builder
from toolkit.runs.hooks import agent_hooks
from toolkit.runs.output import output_of
from toolkit.runs.state import AgentParts, RunRequest, RunState
from toolkit.runs.toolset import ToolSet, compile_tools
from toolkit.tools.driving import settled
from toolkit.tools.resolver import Recipe, Resolver, RunScope

__all__ = ["NO_LIMIT", "Start"]

NO_LIMIT = float("inf")


class Start:
    """Builds what a run begins with, into its state.

    Args:
        state: Gets everything.
        resolver: Where parts are found.
        request: What the caller asked for.
        scope: What opens and builds.
    """

    def __init__(self, state: RunState, resolver: Resolver, request: RunRequest, scope: RunScope) -> None:
        self._state = state
        self._resolver = resolver
        self._request = request
        self._scope = scope
        state.builder = Builder(scope, state.cancellation)

    async def build(self, source: AgentParts | Recipe) -> None:
        """The agent, or what the recipe of one gives, and all that belongs to it.

        Raises:
            ConfigurationError: something is wired wrongly.
            RunError: something failed that the run can't do without; its error is the cause.
        """
        state, request = self._state, self._request
        agent: AgentParts = await self._start_building(source) if isinstance(source, Recipe) else source
        state.limits = agent.limits
        self._scope.open_timeout = agent.limits.open_timeout
        state.cancellation.grace = NO_LIMIT if agent.limits.close_timeout is None else agent.limits.close_timeout
        state.output = output_of(agent.output_type)
        state.hooks = agent_hooks([await self._built(hook) for hook in agent.hooks] if agent.hooks else ())
        state.model = await self._model(agent)
        state.ctx.agent = AgentInfo(agent.name)
        state.tools = await self._tools(agent)
        state.renew_tools = functools.partial(self._renew_tools, agent)
        definitions = state.tools.definitions
        state.ctx.agent = AgentInfo(agent.name, None, definitions)
        messages: list[Message] = state.run.messages
        instructions = await self._instructions(agent) if agent.instructions else None
        if instructions:
            state.ctx.agent = AgentInfo(agent.name, instructions, definitions)
            messages = state.asked = state.run.messages.behind(SystemMessage(instructions))
        settings = agent.settings if request.settings is None else request.settings.over(agent.settings)
        schema = None if state.output is None else state.output.shape.schema
        choice = None if settings is None else settings.tool_choice
        state.request = ModelRequest(messages, definitions, settings, schema, choice)

    async def _renew_tools(self, agent: AgentParts) -> None:
        state = self._state
        state.tools = await self._tools(agent, anew=True)
        definitions = state.tools.definitions
        state.ctx.agent = replace(state.ctx.agent, definitions=definitions)
        state.request = replace(state.request, tools=definitions)

    async def _tools(self, agent: AgentParts, *, anew: bool = False) -> ToolSet:
        state, request = self._state, self._request
        return await compile_tools(
            (*agent.tools, *request.tools),
            self._resolver,
            frozenset(request.values),
            state.ctx,
            self._start_building,
            self._started,
            anew=anew,
        )

    async def _instructions(self, agent: AgentParts) -> str | None:
        made = agent.instructions
        if callable(made):
            made = await self._started("the instructions", lambda: agent.instructions(self._state.ctx))
        if made is None or isinstance(made, str):
            return made
        raise ConfigurationError(
            f"the instructions of agent '{agent.name}' are {type(made).__name__}; they are a text, or a function of "
            f"the RunContext that gives one"
        )

    async def _built(self, part: Any) -> Any:
        """A hook or model; one that is listed as a class, a name or a provider is built by the run."""
        recipe = self._resolver.tool(part, frozenset(self._request.values))
        return await self._start_building(recipe) if recipe.instance is UNSET else recipe.instance

    async def _model(self, agent: AgentParts) -> Any:
        model = agent.model if self._request.model is None else self._request.model
        if model is None:
            raise ConfigurationError(
                f"agent '{agent.name}' has no model; give it one: Agent(model=...) or run(model=...)"
            )
        if isinstance(model, type) or not hasattr(model, "respond"):
            model = await self._built(model)
            if not hasattr(model, "respond"):
                raise ConfigurationError(f"{repr_of(model)} is no model: it has no `async def respond(request)`")
        return model

    async def _start_building(self, recipe: Recipe) -> Any:
        """Builds a part that the run can't start without."""
        try:
            made = await self._state.builder.build(recipe)
        except (Exception, asyncio.CancelledError) as error:
            raise self._failure_of_start(recipe.label, error) from error
        if self._state.cancellation.is_requested:  # what was built has swallowed it
            raise asyncio.CancelledError
        return made

    async def _started(self, what: str, make: Callable[[], Any]) -> Any:
        """What a function of the application gives, sync or async, that the run can't start without."""
        try:
            return await settled(make(), self._state.cancellation, what)
        except (Exception, asyncio.CancelledError) as error:
            raise self._failure_of_start(what, error) from error

    def _failure_of_start(self, what: str, error: BaseException) -> BaseException:
        cancellation = self._state.cancellation
        if cancellation.is_requested or (isinstance(error, asyncio.CancelledError) and cancellation.is_real()):
            return error if isinstance(error, asyncio.CancelledError) else asyncio.CancelledError()
        if isinstance(error, (ConfigurationError, RunError)):
            return error
        return RunError(f"the run could not start: {what} failed with {type(error).__name__}")
