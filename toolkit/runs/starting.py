"""The start of a run: the agent, its model, hooks, tools and instructions, and what the model is asked with."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import UNSET, Struct
from msgspec.structs import replace

from toolkit.context import AgentInfo
from toolkit.errors import ConfigurationError, RunError, repr_of
from toolkit.messages import Message, SystemMessage
from toolkit.models.protocol import Model, ModelRequest
from toolkit.runs.builder import Builder
from toolkit.runs.hooks import agent_hooks, is_to_be_built
from toolkit.runs.output import output_of
from toolkit.runs.state import AgentParts, RunState
from toolkit.runs.toolset import ToolSet, compile_tools, kept_tools
from toolkit.tools.driving import settled
from toolkit.tools.resolver import Recipe, RunScope

__all__ = ["NO_LIMIT", "begin_at_once", "build_parts", "renew_tools"]

NO_LIMIT = float("inf")


class _Start(Struct, frozen=True):
    """What a run begins with: its agent, and what follows from that and from what the run's caller brought.

    Attributes:
        info: What tools and hooks are told of the agent.
        system: The instructions.
        request: What the model is asked with, but for the messages.
    """

    agent: AgentParts
    model: Model
    tools: ToolSet
    info: AgentInfo
    system: SystemMessage | None
    request: ModelRequest


_STARTS = object()
_NONE_KEPT: dict[Any, _Start] = {}


def begin_at_once(state: RunState, source: AgentParts | Recipe, scope: RunScope) -> bool:
    """Begins as an earlier run did, where this one would begin with the same; else False, and `build_parts` has to."""
    if state.wanted.brings_parts or not isinstance(source, Recipe):
        return False
    memory = state.resolver.memory()
    start = memory.get(_STARTS, _NONE_KEPT).get(source.key)
    if start is None:
        return False
    hooks = start.agent.hooks
    if hooks and any(map(is_to_be_built, hooks)):
        return False
    if scope.ready(source, memory) is not start.agent:
        return False
    if hooks:
        state.hooks = agent_hooks(hooks)
    state.builder = Builder(scope, state.cancellation)
    _take(state, start.agent, scope)
    _begin(state, start)
    return True


async def build_parts(state: RunState, source: AgentParts | Recipe, scope: RunScope) -> None:
    """Puts into the state the agent, or what the recipe of one gives, and all that belongs to it.

    Raises:
        ConfigurationError: something is wired wrongly.
        RunError: something failed that the run can't do without; its error is the cause.
    """
    state.builder = Builder(scope, state.cancellation)
    agent: Any = source
    place: Any = None
    if isinstance(source, Recipe):
        agent = scope.ready(source, state.resolver.memory())
        if agent is UNSET:
            agent = await _start_building(state, source)
        elif not state.wanted.brings_parts:
            place = source.key  # of an agent of an earlier run, which nobody has in hand to change it
    _take(state, agent, scope)
    if agent.hooks:
        hooks: list[Any] = []
        for hook in agent.hooks:  # in a comprehension this would be a coroutine of its own
            hooks.append(await _built(state, hook) if is_to_be_built(hook) else hook)
        state.hooks = agent_hooks(hooks)
    start = None if place is None else state.resolver.memory().get(_STARTS, _NONE_KEPT).get(place)
    if start is None or start.agent is not agent:
        start = await _start(state, place)
    _begin(state, start)


def _take(state: RunState, agent: AgentParts, scope: RunScope) -> None:
    """The agent, and what its limits and its output type mean for the run."""
    state.agent = agent
    limits = state.limits = agent.limits
    scope.open_timeout = limits.open_timeout
    state.cancellation.grace = NO_LIMIT if limits.close_timeout is None else limits.close_timeout
    if agent.output_type is not None:
        state.output = output_of(agent.output_type)


def _begin(state: RunState, start: _Start) -> None:
    state.model, state.tools, state.ctx.agent = start.model, start.tools, start.info
    messages: list[Message] = state.run.messages
    if start.system is not None:
        messages = state.asked = state.run.messages.behind(start.system)
    request = start.request
    state.request = ModelRequest(messages, request.tools, request.settings, request.output_schema, request.tool_choice)


async def _start(state: RunState, place: Any) -> _Start:
    """What the run begins with. It is kept at that place for later runs, if they would begin with the same."""
    agent, wanted = state.agent, state.wanted
    model = agent.model if wanted.model is None else wanted.model
    is_there = _is_model(model)
    if not is_there:
        model = await _built_model(state, model)
    listed = (*agent.tools, *wanted.tools)
    tools = kept_tools(listed, state.resolver, wanted.values.keys())
    are_kept = tools is not None
    if tools is None:
        state.ctx.agent = AgentInfo(agent.name)
        tools = await _tools(state, listed)
    instructions = agent.instructions
    is_text = instructions is None or isinstance(instructions, str)
    if not is_text:
        state.ctx.agent = AgentInfo(agent.name, None, tools.definitions, tools.needing_approval)
        instructions = await _made_instructions(state)
    info = AgentInfo(agent.name, instructions or None, tools.definitions, tools.needing_approval)
    system = SystemMessage(instructions) if instructions else None
    settings = agent.settings if wanted.settings is None else wanted.settings.over(agent.settings)
    schema = None if state.output is None else state.output.shape.schema
    choice = None if settings is None else settings.tool_choice
    start = _Start(agent, model, tools, info, system, ModelRequest((), tools.definitions, settings, schema, choice))
    if place is not None and is_there and are_kept and is_text:
        state.resolver.memory().setdefault(_STARTS, {})[place] = start
    return start


async def renew_tools(state: RunState) -> None:
    """Describes the tools again, since one has changed."""
    state.resolver.memory().pop(_STARTS, None)
    state.tools = await _tools(state, (*state.agent.tools, *state.wanted.tools), anew=True)
    definitions, approvals = state.tools.definitions, state.tools.needing_approval
    state.ctx.agent = replace(state.ctx.agent, definitions=definitions, needing_approval=approvals)
    state.request = replace(state.request, tools=definitions)


async def _tools(state: RunState, listed: Sequence[Any], *, anew: bool = False) -> ToolSet:
    return await compile_tools(
        listed,
        state.resolver,
        frozenset(state.wanted.values),
        state.ctx,
        functools.partial(_start_building, state),
        functools.partial(_started, state),
        anew=anew,
    )


async def _made_instructions(state: RunState) -> str | None:
    """The instructions of this run, where they are no plain text."""
    agent = state.agent
    made = agent.instructions
    if callable(made):
        made = await _started(state, "the instructions", lambda: agent.instructions(state.ctx))
    if made is None or isinstance(made, str):
        return made
    raise ConfigurationError(
        f"the instructions of agent '{agent.name}' are {type(made).__name__}; they are a text, or a function of "
        f"the RunContext that gives one"
    )


async def _built(state: RunState, part: Any) -> Any:
    """A hook or model; one that is listed as a class, a name or a provider is built by the run."""
    recipe = state.resolver.tool(part, frozenset(state.wanted.values))
    return await _start_building(state, recipe) if recipe.instance is UNSET else recipe.instance


def _is_model(given: Any) -> bool:
    return not isinstance(given, type) and hasattr(given, "respond")


async def _built_model(state: RunState, model: Any) -> Any:
    """The model that was given as a class, a name or a provider."""
    if model is None:
        raise ConfigurationError(
            f"agent '{state.agent.name}' has no model; give it one: Agent(model=...) or run(model=...)"
        )
    try:
        made = await _built(state, model)
    except ConfigurationError as error:
        if isinstance(model, str) and "to be found by its name" in str(error):
            raise ConfigurationError(_text_for_a_model(model)) from error
        raise
    if not hasattr(made, "respond"):
        raise ConfigurationError(f"{repr_of(made)} is no model: it has no `async def respond(request)`")
    return made


def _text_for_a_model(text: str) -> str:
    """What is said of `model="..."`, where no container has a provider of that name."""
    give = f"OpenAIResponsesModel({text!r}, http=http)"
    if text.isidentifier():  # it may be the name of a provider, of a container that this agent does not have
        give += f", or the provider itself: model=dep({text})"
    if ":" in text:  # the spelling of the environment and the command line, which no class of models takes
        give = f"from_environment(http=http) of toolkit.models with TOOLKIT_MODEL={text} in the environment"
    return f"the model {text!r} is a text, and there is no provider of that name; give a model, such as {give}"


async def _start_building(state: RunState, recipe: Recipe) -> Any:
    """Builds a part that the run can't start without."""
    builder = state.builder
    if recipe in builder.built:
        return builder.built[recipe]
    try:
        made = builder.built[recipe] = await builder.build(recipe)
    except (Exception, asyncio.CancelledError) as error:
        raise _failure_of_start(state, recipe.label, error) from error
    if state.cancellation.is_requested:  # what was built has swallowed it
        raise asyncio.CancelledError
    return made


async def _started(state: RunState, what: str, make: Callable[[], Any]) -> Any:
    """What a function of the application gives, sync or async, that the run can't start without."""
    try:
        return await settled(make(), state.cancellation, what)
    except (Exception, asyncio.CancelledError) as error:
        raise _failure_of_start(state, what, error) from error


def _failure_of_start(state: RunState, what: str, error: BaseException) -> BaseException:
    cancellation = state.cancellation
    if cancellation.is_requested or (isinstance(error, asyncio.CancelledError) and cancellation.is_real()):
        return error if isinstance(error, asyncio.CancelledError) else asyncio.CancelledError()
    if isinstance(error, (ConfigurationError, RunError)):
        return error
    return RunError(f"the run could not start: {what} failed with {type(error).__name__}")
