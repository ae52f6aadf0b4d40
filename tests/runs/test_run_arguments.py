"""Every argument of `run`, and `run_sync`."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from typing import Annotated, Any

import pytest

from tests.runs.parts import add, echo
from toolkit import Agent, ConfigurationError, Inject, Invocation, Run, RunContext, Tool, tool
from toolkit.messages import DocumentPart, ImagePart, SystemMessage, TextPart, UserMessage
from toolkit.models import ModelSettings
from toolkit.testing import ScriptedModel, call, calls, says


class Desk:
    """Keeps the context that its tool was called with."""

    name = "look"
    description = "Look around."

    def __init__(self) -> None:
        self.seen: list[RunContext] = []

    async def handler(self, ctx: RunContext) -> str:
        self.seen.append(ctx)
        return "seen"


def looking() -> ScriptedModel:
    return ScriptedModel([calls(call("look")), says("done")])


async def test_the_invocation_reaches_tools_and_the_run() -> None:
    desk, context = Desk(), {"account": 7}

    run = await Agent(looking(), tools=[desk]).run(
        "hi", context=context, metadata={"page": "home"}, actor_id="u1", session_id="s1"
    )

    [ctx] = desk.seen
    assert ctx.context is context
    assert ctx.invocation is run.invocation
    assert run.invocation == Invocation("u1", context, {"page": "home"}, "s1")


async def test_context_may_be_any_object_and_is_an_empty_dict_when_left_out() -> None:
    desk, live = Desk(), object()

    await Agent(looking(), tools=[desk]).run("hi", context=live)
    await Agent(looking(), tools=[desk]).run("hi")

    assert desk.seen[0].context is live
    assert desk.seen[1].context == {}


async def test_two_runs_without_a_context_share_nothing() -> None:
    desk = Desk()

    await Agent(looking(), tools=[desk]).run("hi")
    desk.seen[0].context["left"] = "behind"
    await Agent(looking(), tools=[desk]).run("hi")

    assert desk.seen[1].context == {}


async def test_the_context_of_a_run_knows_run_agent_state_and_call() -> None:
    desk = Desk()

    run = await Agent(looking(), tools=[desk], name="clerk", instructions="Be kind.").run("hi", state={"n": 1})

    [ctx] = desk.seen
    assert ctx.run is run
    assert ctx.state is run.state
    assert (ctx.agent.name, ctx.agent.instructions) == ("clerk", "Be kind.")
    assert [definition.name for definition in ctx.agent.definitions] == ["look"]
    assert ctx.call is not None
    assert (ctx.call.name, ctx.call.arguments, ctx.call.id) == ("look", {}, run.calls[0].id)
    assert ctx.call.tool is ctx.agent.definitions[0]


@tool
async def count(ctx: RunContext) -> int:
    """Count the calls."""
    ctx.state["count"] = ctx.state.get("count", 0) + 1
    return int(ctx.state["count"])


async def test_state_starts_as_given_is_shared_by_the_calls_and_kept_on_the_run() -> None:
    given = {"count": 5}

    run = await Agent(ScriptedModel([calls(call("count")), calls(call("count")), says("7")]), tools=[count]).run(
        "hi", state=given
    )

    assert run.state == {"count": 7}
    assert given == {"count": 5}


async def test_tools_of_a_run_add_to_the_agents_for_that_run_only() -> None:
    model = ScriptedModel([says("1"), says("2")])
    agent = Agent(model, tools=[add])

    await agent.run("hi", tools=[echo])
    await agent.run("hi")

    assert [[d.name for d in request.tools] for request in model.requests] == [["add", "echo"], ["add"]]


async def test_model_and_settings_of_a_run_stand_on_top_of_the_agents() -> None:
    of_agent, of_run = ScriptedModel([]), ScriptedModel([says("hello")])
    agent = Agent(of_agent, settings=ModelSettings(temperature=0.7, seed=1, extra={"a": 1, "b": 1}))

    await agent.run("hi", model=of_run, settings=ModelSettings(temperature=0.0, extra={"b": 2}))

    assert of_agent.requests == []
    assert of_run.requests[0].settings == ModelSettings(temperature=0.0, seed=1, extra={"a": 1, "b": 2})


async def test_the_tool_choice_of_the_settings_is_that_of_the_request() -> None:
    model = ScriptedModel([says("hello")])

    await Agent(model, settings=ModelSettings(tool_choice="required")).run("hi")

    assert model.requests[0].tool_choice == "required"


class Clock:
    pass


async def test_values_fill_inject_parameters_by_type() -> None:
    clock = Clock()
    got: list[Any] = []

    @tool
    async def now(clock: Annotated[Clock, Inject()]) -> str:
        """Tell the time."""
        got.append(clock)
        return "noon"

    await Agent(ScriptedModel([calls(call("now")), says("noon")]), tools=[now]).run("hi", values={Clock: clock})

    assert got == [clock]


class NeedsClock(Tool):
    """Tell the time."""

    name = "now"

    def __init__(self, clock: Clock, run: Run[Any], invocation: Invocation, ctx: RunContext) -> None:
        self.given = (clock, run, invocation, ctx)

    async def handler(self, ctx: RunContext) -> str:
        clock, run, invocation, given = self.given
        assert isinstance(clock, Clock)
        assert (run, invocation) == (ctx.run, ctx.invocation)
        assert given.run is run
        return "noon"


async def test_values_and_what_the_run_gives_fill_constructors_without_a_container() -> None:
    agent = Agent(ScriptedModel([calls(call("now")), says("noon")]), tools=[NeedsClock])

    run = await agent.run("hi", values={Clock: Clock()}, actor_id="u1")

    assert run.calls[0].result.value == "noon"


async def test_a_prompt_of_parts_is_one_user_message() -> None:
    model = ScriptedModel([says("A cat.")])
    parts = [TextPart("What is this?"), ImagePart(url="https://example.org/a.png"), DocumentPart(data=b"%PDF")]

    run = await Agent(model).run(parts)

    assert run.messages[0] == UserMessage(tuple(parts))


async def test_an_empty_prompt_goes_on_with_the_messages_alone() -> None:
    model = ScriptedModel([says("first"), says("second")])
    first = await Agent(model).run("hi")

    run = await Agent(model).run("", messages=first.messages)

    assert run.messages[:2] == first.messages
    assert [type(message).__name__ for message in run.new_messages] == ["AssistantMessage"]


WRONG = {
    "prompt": ({"prompt": 5}, "the prompt is 5; it is a text, or a list of TextPart"),
    "prompt of no parts": ({"prompt": []}, "the prompt is"),
    "part": ({"prompt": ["text"]}, "the prompt is"),
    "tools": ({"tools": add}, "tools are .*; give a list"),
    "metadata": ({"metadata": 5}, "metadata is int; it is a dict"),
    "state": ({"state": ["a"]}, "state is list; it is a dict"),
    "timeout of zero": ({"timeout": 0}, "timeout is 0; it is None or a number of seconds above 0"),
    "timeout of text": ({"timeout": "5"}, "timeout is '5'"),
    "timeout of truth": ({"timeout": True}, "timeout is True"),
    "values by name": ({"values": {"clock": Clock()}}, "values are given by type"),
    "values of the run's own": ({"values": {Invocation: Invocation()}}, "the run gives Invocation itself"),
    "settings": ({"settings": {"temperature": 0}}, r"settings are .*; give ModelSettings"),
    "messages": ({"messages": ["hello"]}, "messages hold str; give messages of toolkit.messages"),
    "messages as JSON": ({"messages": "[]"}, r"messages_from_json\(text\) reads what was kept as JSON"),
    "messages as dicts": ({"messages": [{"type": "user"}]}, r"messages_from_json\(text\) reads what was kept as JSON"),
}


@pytest.mark.parametrize(("arguments", "text"), WRONG.values(), ids=WRONG)
async def test_a_wrong_argument_is_named(arguments: dict[str, Any], text: str) -> None:
    model = ScriptedModel([])

    with pytest.raises(ConfigurationError, match=text):
        await Agent(model).run(**{"prompt": "hi", **arguments})

    assert model.requests == []


def by_run_sync(agent: Any, **options: Any) -> None:
    agent.run_sync("hi", **options)


def by_stream(agent: Any, **options: Any) -> None:
    agent.stream("hi", **options)


@pytest.mark.parametrize("way", [by_run_sync, by_stream])
def test_a_misspelt_argument_is_told_with_the_one_that_was_meant(way: Callable[..., None]) -> None:
    model = ScriptedModel([])

    with pytest.raises(TypeError) as caught:
        way(Agent(model), actorid="u1", session_id="s1")

    assert str(caught.value) == (
        "a run takes no 'actorid'; did you mean 'actor_id'? It takes 'actor_id', 'context', 'messages', 'metadata', "
        "'model', 'session_id', 'settings', 'state', 'timeout', 'tools', 'values'"
    )
    assert model.requests == []


@pytest.mark.parametrize("way", [by_run_sync, by_stream])
def test_an_argument_that_is_like_no_other_is_told_with_those_that_there_are(way: Callable[..., None]) -> None:
    with pytest.raises(TypeError, match=r"^a run takes no 'colour'; it takes 'actor_id', 'context', "):
        way(Agent(ScriptedModel([])), colour="red")


async def test_a_missing_value_is_found_at_the_start() -> None:
    model = ScriptedModel([])

    with pytest.raises(ConfigurationError, match="clock") as caught:
        await Agent(model, tools=[NeedsClock]).run("hi")

    assert caught.value.run.outcome == "failed"
    assert model.requests == []


# run_sync


def test_run_sync_runs_where_there_is_no_event_loop() -> None:
    run = Agent(ScriptedModel([calls(call("add", {"a": 1, "b": 2})), says("3")]), tools=[add]).run_sync(
        "1 + 2?", actor_id="u1", metadata={"page": "home"}
    )

    assert run.response == "3"
    assert run.invocation == Invocation("u1", {}, {"page": "home"})


async def test_run_sync_in_a_running_loop_says_what_to_do() -> None:
    with pytest.raises(ConfigurationError, match=r"an event loop is running; use `await agent.run\(\.\.\.\)`"):
        Agent(ScriptedModel([])).run_sync("hi")


def test_run_sync_may_be_called_again_and_again() -> None:
    agent = Agent(ScriptedModel([says("1"), says("2")]))

    assert [agent.run_sync("hi").response for _ in range(2)] == ["1", "2"]


def test_what_run_sync_raises_stands_below_no_other_error() -> None:
    with pytest.raises(ConfigurationError, match="timeout is 0") as caught:
        Agent(ScriptedModel([])).run_sync("hi", timeout=0)

    assert caught.value.__context__ is None


# Around the run


async def test_one_agent_runs_many_times_at_once_and_keeps_nothing_of_them() -> None:
    def answer(number: int) -> ScriptedModel:
        return ScriptedModel([calls(call("count")), calls(call("count")), says(str(number))])

    agent = Agent(tools=[count])

    runs = await asyncio.gather(*(agent.run(f"{n}", model=answer(n), state={"count": n}) for n in range(20)))

    assert [run.response for run in runs] == [str(n) for n in range(20)]
    assert [run.state["count"] for run in runs] == [n + 2 for n in range(20)]
    assert len({run.id for run in runs}) == 20


who: contextvars.ContextVar[str] = contextvars.ContextVar("who")


@tool
async def whoami() -> str:
    """Tell who asks."""
    return who.get()


@tool
def whoami_sync() -> str:
    """Tell who asks, from a thread."""
    return who.get()


async def test_the_callers_context_variables_are_seen_by_handlers_async_and_sync() -> None:
    who.set("alice")
    model = ScriptedModel([calls(call("whoami"), call("whoami_sync")), says("alice")])

    run = await Agent(model, tools=[whoami, whoami_sync]).run("who?")

    assert [record.result.value for record in run.calls] == ["alice", "alice"]


async def test_an_object_with_tools_gives_more_of_them_at_each_start() -> None:
    class Kit:
        def __init__(self) -> None:
            self.asked: list[str] = []

        async def tools(self, ctx: RunContext) -> list[Any]:
            self.asked.append(f"{ctx.agent.name} for {ctx.invocation.actor_id}")
            return [add, echo]

    kit, model = Kit(), ScriptedModel([says("1"), says("2")])
    agent = Agent(model, tools=[kit])

    await agent.run("hi", actor_id="u1")
    await agent.run("hi", actor_id="u2")

    assert kit.asked == ["agent for u1", "agent for u2"]
    assert [definition.name for definition in model.requests[1].tools] == ["add", "echo"]


async def test_the_system_messages_of_a_history_stay() -> None:
    model = ScriptedModel([says("hello")])

    await Agent(model, instructions="Now.").run("hi", messages=[SystemMessage("Before.")])

    assert list(model.requests[0].messages) == [SystemMessage("Now."), SystemMessage("Before."), UserMessage("hi")]


class Deps:
    pass


@tool
async def see(ctx: RunContext[Deps], n: int = 0) -> str:  # type: ignore[type-arg]  # at run time only
    """See the context."""
    return type(ctx.context).__name__


async def test_a_parameter_may_name_the_type_of_its_context() -> None:
    run = await Agent(ScriptedModel([calls(call("see")), says("done")]), [see]).run("go", context=Deps())

    assert run.calls[0].result.value == "Deps"
