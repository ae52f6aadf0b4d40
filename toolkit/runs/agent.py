"""`Agent`: a model, tools and hooks, and the ways to run them."""

from __future__ import annotations

import asyncio
import inspect
import types
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Generic, TypeVar, Unpack, cast, overload

from toolkit.context import RunContext
from toolkit.errors import ConfigurationError
from toolkit.injection.mapping import MappingResolver
from toolkit.injection.nearest import names_near
from toolkit.injection.runnable import RunOptions
from toolkit.messages import DocumentPart, ImagePart, Message, Part, TextPart, UserMessage
from toolkit.models.protocol import ModelSettings
from toolkit.records import Invocation, Run
from toolkit.runs.hooks import agent_hooks, is_to_be_built
from toolkit.runs.limits import Limits
from toolkit.runs.output import output_of
from toolkit.runs.owner import Owner
from toolkit.runs.state import AgentParts, RunRequest
from toolkit.runs.streaming import RunStream
from toolkit.tools.resolver import Recipe, Resolver

__all__ = ["Agent"]

T = TypeVar("T")
K = TypeVar("K")
_OPTIONS = RunOptions.__optional_keys__
_GIVEN_BY_THE_RUN = (Invocation, Run, RunContext)


class Runnable(ABC, Generic[T]):
    """The ways to run an agent; a subclass says where its tools are found, and which agent it is."""

    @abstractmethod
    def _source(self) -> tuple[Resolver, AgentParts | Recipe]: ...

    async def run(
        self,
        prompt: str | Sequence[Part],
        *,
        tools: Sequence[Any] = (),
        context: Any = None,
        metadata: Mapping[str, Any] | None = None,
        actor_id: str | None = None,
        session_id: str | None = None,
        messages: Sequence[Message] = (),
        state: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        values: Mapping[type, Any] | None = None,
        model: Any = None,
        settings: ModelSettings | None = None,
    ) -> Run[T]:
        """Runs the agent, from a prompt to its answer. What the run opened is closed when this returns or raises.

        Args:
            prompt: A text, or a sequence of parts. An empty text goes on with `messages` alone.
            tools: Further tools, for this run.
            context: The application's live objects for tools and hooks, as `ctx.context`. Never sent, saved or logged.
            metadata: Saved with the run, may be logged, never sent to the model.
            actor_id: Who is asking: what permission is decided by.
            session_id: Recorded.
            messages: An earlier conversation: `earlier.messages` continues it. Another list is mended where a call has
                no result, or a result no call, with a warning.
            state: What `ctx.state` starts with.
            timeout: Seconds from now.
            values: Objects for `ScopeValue`s and parameters, by type.
            model: Instead of the agent's.
            settings: On top of the agent's.

        Returns:
            The run; its `outcome` is `completed`, or `partial` for an answer forced by a limit.

        Raises:
            RunError: a subclass says what ended the run; its `run` is the run so far.
            ConfigurationError: something is wired wrongly.
            asyncio.CancelledError: the caller was cancelled.
        """
        request = _request(
            prompt, tools, context, metadata, actor_id, session_id, messages, state, timeout, values, model, settings
        )
        resolver, source = self._source()
        owner = Owner(resolver, source, request)
        owner.start()
        return await owner.finish()

    def run_sync(self, prompt: str | Sequence[Part], **options: Unpack[RunOptions]) -> Run[T]:
        """As `run`, for scripts without an event loop: it makes one for this run.

        Raises:
            ConfigurationError: an event loop is running already; `await agent.run(...)` there.
        """
        _refuse_misspelt(options)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass  # not run here: what the run raises would stand below this error
        else:
            raise ConfigurationError("run_sync was called where an event loop is running; use `await agent.run(...)`")
        return asyncio.run(self.run(prompt, **options))

    def stream(
        self, prompt: str | Sequence[Part], **options: Unpack[RunOptions]
    ) -> AbstractAsyncContextManager[RunStream[T]]:
        """As `run`, with its events as they happen.

        Example:
            async with agent.stream("Hello") as stream:
                async for event in stream:
                    print(event)
            print(stream.run.response)
        """
        _refuse_misspelt(options)
        resolver, source = self._source()
        stream: RunStream[T] = RunStream(resolver, source, _request(prompt, **options))
        return stream


class Agent(Runnable[T]):
    """A model with tools.

    A subclass may set the arguments as class attributes; its `tools` add to its parent's, and those of the constructor
    to both. The same agent can run many times at once: nothing of a run is kept in it.

    Args:
        model: An object with `async def respond(request)`.
        tools: Classes, functions made by `@tool`, instances, names or providers of the container, or objects with
            `tools(ctx)`.
        name: For records and errors.
        instructions: A text, or a function of the `RunContext`; sent with each request, not kept in the messages.
        limits: See `Limits`.
        hooks: Objects with any of `on_before_call`, `on_after_call`, `on_before_model`, `on_after_model`.
        output_type: `run.output` is an instance of it: the answer is read as JSON of that type. Some providers take
            only types whose JSON is an object (dataclass, TypedDict, msgspec Struct, pydantic model).
        settings: Sampling and the like.

    Raises:
        ConfigurationError: an argument is of the wrong kind, or a hook takes a wrong number of parameters.

    Example:
        >>> from toolkit import tool
        >>> from toolkit.testing import ScriptedModel, call, calls, says
        >>> @tool
        ... def add(a: int, b: int) -> int:
        ...     "Add two numbers."
        ...     return a + b
        >>> model = ScriptedModel([calls(call("add", {"a": 1, "b": 2})), says("It is 3.")])
        >>> Agent(model, tools=[add]).run_sync("1 + 2?").response
        'It is 3.'
    """

    model: Any = None
    tools: Sequence[Any] = ()
    name: str = "agent"
    instructions: Any = None
    limits: Limits = Limits()
    hooks: Sequence[Any] = ()
    output_type: Any = None
    settings: ModelSettings | None = None

    _resolver: Resolver | None = None
    _checked: type | None = None  # the class whose attributes were checked: this one, or one above it

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        inherited = [tool for base in cls.__bases__ for tool in getattr(base, "tools", ())]
        listed = (*inherited, *_sequence(vars(cls).get("tools", ()), f"tools of {cls.__name__}"))
        cls.tools = tuple({id(tool): tool for tool in listed}.values())
        instructions = vars(cls).get("instructions")
        if isinstance(instructions, types.FunctionType) and _takes_one(instructions):
            cls.instructions = staticmethod(instructions)  # a function of the context, and no method

    # Without an output type the output is text. The second is also for a subclass, which may set the type itself.
    @overload
    def __init__(
        self: Agent[str],
        model: Any = None,
        tools: Sequence[Any] = (),
        *,
        name: str | None = None,
        instructions: str | Callable[[RunContext], Any] | None = None,
        limits: Limits | None = None,
        hooks: Sequence[Any] = (),
        output_type: None = None,
        settings: ModelSettings | None = None,
    ) -> None: ...

    @overload
    def __init__(
        self,
        model: Any = None,
        tools: Sequence[Any] = (),
        *,
        name: str | None = None,
        instructions: str | Callable[[RunContext], Any] | None = None,
        limits: Limits | None = None,
        hooks: Sequence[Any] = (),
        output_type: type[T] | None = None,
        settings: ModelSettings | None = None,
    ) -> None: ...

    def __init__(
        self,
        model: Any = None,
        tools: Sequence[Any] = (),
        *,
        name: str | None = None,
        instructions: str | Callable[[RunContext], Any] | None = None,
        limits: Limits | None = None,
        hooks: Sequence[Any] = (),
        output_type: type[T] | None = None,
        settings: ModelSettings | None = None,
    ) -> None:
        if self._checked is not self.__class__:
            self.__class__._check_attributes()
        if model is not None:
            self.model = model
        if tools:
            self.tools = (*type(self).tools, *_sequence(tools, "tools"))
        if name is not None:
            self.name = _checked_name(name)
        if instructions is not None:
            self.instructions = _checked_instructions(instructions)
        if limits is not None:
            self.limits = _of_kind(limits, Limits, "limits", "Limits(max_turns=...)")
        if hooks:
            self.hooks = (*type(self).hooks, *_checked_hooks(hooks))
        if output_type is not None:
            output_of(output_type)
            self.output_type = output_type
        if settings is not None:
            self.settings = _of_kind(settings, ModelSettings, "settings", "ModelSettings(temperature=...)")

    @classmethod
    def _check_attributes(cls) -> None:
        """Checks what a subclass has set, as the constructor checks its arguments; once for each class."""
        _checked_name(cls.name)
        if cls.instructions is not None:
            _checked_instructions(cls.instructions)
        _of_kind(cls.limits, Limits, "limits", "Limits(max_turns=...)")
        _checked_hooks(cls.hooks)
        output_of(cls.output_type)
        if cls.settings is not None:
            _of_kind(cls.settings, ModelSettings, "settings", "ModelSettings(temperature=...)")
        cls._checked = cls

    @classmethod
    def bound_to(cls, resolver: Resolver, recipe: Recipe) -> Runnable[Any]:
        """An agent that each run asks a container for. `app.agent()` calls this."""
        return BoundAgent(resolver, recipe)

    def _source(self) -> tuple[Resolver, AgentParts | Recipe]:
        if self._resolver is None:
            self._resolver = MappingResolver()
        return self._resolver, self

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"


class BoundAgent(Runnable[T]):
    """An agent of an application: each run asks the container for it, its model, hooks and tools."""

    def __init__(self, resolver: Resolver, recipe: Recipe) -> None:
        self._bound_resolver = resolver
        self._recipe = recipe

    def _source(self) -> tuple[Resolver, AgentParts | Recipe]:
        return self._bound_resolver, self._recipe

    def __repr__(self) -> str:
        return f"<BoundAgent of {self._recipe.label}>"


def _sequence(given: Any, what: str) -> Sequence[Any]:
    kind: type = given.__class__
    if kind is list or kind is tuple or issubclass(kind, (list, tuple)):
        sequence: Sequence[Any] = given
        return sequence
    raise ConfigurationError(f"{what} are {given!r}; give a list")


def _of_kind(given: Any, kind: type[K], what: str, example: str) -> K:
    if given.__class__ is kind or isinstance(given, kind):
        found: K = given
        return found
    raise ConfigurationError(f"{what} are {given!r}; give {example}")


def _checked_name(name: Any) -> str:
    if isinstance(name, str) and name:
        return name
    raise ConfigurationError(f"the name of an agent is {name!r}; it is a text")


def _checked_instructions(instructions: Any) -> Any:
    if isinstance(instructions, str) or callable(instructions):
        return instructions
    raise ConfigurationError(f"instructions are {instructions!r}; give a text, or a function of the RunContext")


def _checked_hooks(hooks: Any) -> Sequence[Any]:
    listed = _sequence(hooks, "hooks")
    for hook in listed:
        if not is_to_be_built(hook):
            agent_hooks((hook,))
    return listed


def _takes_one(function: Callable[..., Any]) -> bool:
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        return True
    return False


def _request(
    prompt: str | Sequence[Part],
    tools: Sequence[Any] = (),
    context: Any = None,
    metadata: Mapping[str, Any] | None = None,
    actor_id: str | None = None,
    session_id: str | None = None,
    messages: Sequence[Message] = (),
    state: Mapping[str, Any] | None = None,
    timeout: float | None = None,
    values: Mapping[type, Any] | None = None,
    model: Any = None,
    settings: ModelSettings | None = None,
) -> RunRequest:
    """The arguments of a run, checked."""
    for kind in values or ():
        if not isinstance(kind, type):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers err
            raise ConfigurationError(f"values are given by type: {{{kind!r}: ...}} has a key that is no class")
        if kind in _GIVEN_BY_THE_RUN:
            raise ConfigurationError(f"the run gives {kind.__name__} itself; leave it out of values")
    if timeout is not None and (timeout.__class__ not in (int, float) or not timeout > 0):
        raise ConfigurationError(f"timeout is {timeout!r}; it is None or a number of seconds above 0")
    if settings is not None:
        _of_kind(settings, ModelSettings, "settings", "ModelSettings(temperature=...)")
    return RunRequest(
        prompt=_user_message(prompt, bool(messages)),
        tools=_sequence(tools, "tools") if tools else (),
        invocation=Invocation(
            actor_id,
            {} if context is None else context,
            {} if metadata is None else _dict(metadata, "metadata"),
            session_id,
        ),
        history=messages,
        state={} if state is None else _dict(state, "state"),
        timeout=timeout,
        values={} if values is None else values,
        model=model,
        settings=settings,
        brings_parts=bool(tools or values or settings is not None or model is not None),
    )


def _refuse_misspelt(options: Iterable[str]) -> None:
    """Raises for what a run does not take; Python would name a function that the caller did not call."""
    if not _OPTIONS.issuperset(options):
        name = next(name for name in options if name not in _OPTIONS)
        raise TypeError(f"a run takes no '{name}'; {names_near(name, _OPTIONS, 'it takes')}")


def _dict(given: Any, what: str) -> dict[str, Any]:
    if isinstance(given, Mapping):
        return dict(cast("Mapping[str, Any]", given))
    raise ConfigurationError(f"{what} is {type(given).__name__}; it is a dict")


def _user_message(prompt: Any, continues: bool) -> UserMessage | None:
    if prompt.__class__ is str or isinstance(prompt, str):
        if prompt or not continues:
            return UserMessage(prompt)
        return None
    if isinstance(prompt, (list, tuple)):
        parts = cast("Sequence[Any]", prompt)
        if all(isinstance(part, (TextPart, ImagePart, DocumentPart)) for part in parts) and (parts or continues):
            return UserMessage(tuple(parts)) if parts else None
    raise ConfigurationError(
        f"the prompt is {prompt!r}; it is a text, or a list of TextPart, ImagePart and DocumentPart"
    )
