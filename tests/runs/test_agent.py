"""What an agent is made of: arguments, class attributes, and the mistakes that are found at once."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

import pytest

from tests.runs.parts import add, echo, fail
from toolkit import Agent, ConfigurationError, Inject, Limits, RunContext, tool
from toolkit.messages import SystemMessage, UserMessage
from toolkit.models import ModelSettings
from toolkit.testing import ScriptedModel, call, calls, says


@dataclasses.dataclass
class Answer:
    city: str
    degrees: int


async def test_an_agent_needs_no_container() -> None:
    model = ScriptedModel([calls(call("add", {"a": 1, "b": 2})), says("It is 3.")])

    run = await Agent(model, tools=[add]).run("1 + 2?")

    assert run.response == run.output == "It is 3."
    assert [record.result.value for record in run.calls] == [3]
    model.assert_exhausted()


async def test_instructions_go_with_every_request_and_are_not_kept() -> None:
    model = ScriptedModel([calls(call("add", {"a": 1, "b": 2})), says("3")])

    run = await Agent(model, tools=[add], instructions="Be short.").run("1 + 2?")

    assert [request.messages[0] for request in model.requests] == [SystemMessage("Be short.")] * 2
    assert [request.messages[1] for request in model.requests] == [UserMessage("1 + 2?")] * 2
    assert not any(isinstance(message, SystemMessage) for message in run.messages)


def greet(ctx: RunContext) -> str:
    return f"You serve {ctx.invocation.actor_id}; tools: {[d.name for d in ctx.agent.definitions]}."


async def greet_later(ctx: RunContext) -> str:
    return greet(ctx)


class WithFunction(Agent[str]):
    instructions = greet


class WithMethod(Agent[str]):
    def instructions(self, ctx: RunContext) -> str:  # type: ignore[override]
        return f"{self.name}: {greet(ctx)}"


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        pytest.param(Agent(tools=[add], instructions=greet), "You serve u1; tools: ['add'].", id="function"),
        pytest.param(Agent(tools=[add], instructions=greet_later), "You serve u1; tools: ['add'].", id="async"),
        pytest.param(WithFunction(tools=[add]), "You serve u1; tools: ['add'].", id="function as class attribute"),
        pytest.param(WithMethod(tools=[add]), "agent: You serve u1; tools: ['add'].", id="method"),
    ],
)
async def test_instructions_may_be_a_function_of_the_context(agent: Agent[str], expected: str) -> None:
    model = ScriptedModel([says("hello")])

    await agent.run("hi", model=model, actor_id="u1")

    assert model.requests[0].messages[0] == SystemMessage(expected)


async def test_without_instructions_there_is_no_system_message() -> None:
    model = ScriptedModel([says("hello")])

    await Agent(model, instructions=lambda ctx: None).run("hi")

    assert list(model.requests[0].messages) == [UserMessage("hi")]


# Subclasses


class Support(Agent[str]):
    name = "support"
    instructions = "Help."
    tools = (add,)
    limits = Limits(max_turns=3)
    settings = ModelSettings(temperature=0.0)


class ShopSupport(Support):
    tools = [echo]  # noqa: RUF012 - as a user may write it


class Other(Agent[str]):
    tools = (fail,)


class Both(ShopSupport, Other):
    pass


async def test_a_subclass_sets_the_arguments_as_class_attributes() -> None:
    model = ScriptedModel([says("hello")])

    await Support(model).run("hi")

    [request] = model.requests
    assert request.messages[0] == SystemMessage("Help.")
    assert [definition.name for definition in request.tools] == ["add"]
    assert request.settings == ModelSettings(temperature=0.0)
    assert Support(model).limits.max_turns == 3
    assert repr(Support(model)) == "<Support 'support'>"


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        pytest.param(ShopSupport(), ["add", "echo"], id="to its parent's"),
        pytest.param(ShopSupport(tools=[fail]), ["add", "echo", "fail"], id="to its class's"),
        pytest.param(Both(), ["add", "echo", "fail"], id="of both parents"),
        pytest.param(Support(), ["add"], id="and the parent's own stay"),
    ],
)
async def test_tools_add(agent: Agent[str], expected: list[str]) -> None:
    model = ScriptedModel([says("hello")])

    await agent.run("hi", model=model)

    assert [definition.name for definition in model.requests[0].tools] == expected


async def test_the_same_tool_listed_twice_counts_once() -> None:
    model = ScriptedModel([says("hello")])

    await Agent(model, tools=[add, add]).run("hi", tools=[add])

    assert [definition.name for definition in model.requests[0].tools] == ["add"]


async def test_constructor_arguments_win_over_class_attributes() -> None:
    model = ScriptedModel([says("hello")])

    await Support(model, instructions="Refuse.", settings=ModelSettings(seed=7)).run("hi")

    [request] = model.requests
    assert request.messages[0] == SystemMessage("Refuse.")
    assert request.settings == ModelSettings(seed=7)


# The typed answer


async def test_an_output_type_is_told_to_the_model_and_read_from_its_answer() -> None:
    model = ScriptedModel([says('{"city": "Oslo", "degrees": 7}')])

    run = await Agent(model, output_type=Answer).run("How is it?")

    assert run.output == Answer("Oslo", 7)
    assert run.response == '{"city": "Oslo", "degrees": 7}'
    assert model.requests[0].output_schema is not None
    assert set(model.requests[0].output_schema["properties"]) == {"city", "degrees"}


# Mistakes


class NoHook:
    def on_call(self, ctx: RunContext) -> None: ...


def guard_function(ctx: RunContext, call: Any) -> None: ...


class OneParameter:
    def on_before_call(self, ctx: RunContext) -> None: ...


class ThreeParameters:
    async def on_after_model(self, ctx: RunContext, response: Any, more: Any) -> None: ...


class NotCallable:
    on_after_call = "log"


class Closed:
    def __init__(self, *args: Any) -> None:
        pass


MISTAKES = {
    "limits": ({"limits": {"max_turns": 3}}, r"give Limits\(max_turns="),
    "name": ({"name": ""}, "the name of an agent is ''"),
    "instructions": ({"instructions": 5}, "instructions are 5; give a text, or a function"),
    "settings": ({"settings": {"temperature": 0}}, r"give ModelSettings\(temperature="),
    "tools": ({"tools": add}, "tools .*are .*; give a list"),
    "hooks": ({"hooks": NoHook()}, "hooks are .*; give a list"),
    "function as hook": (
        {"hooks": [guard_function]},
        "hook guard_function is a function; hooks are objects with methods of the names on_before_call",
    ),
    "no hook": ({"hooks": [NoHook()]}, "NoHook has none of on_before_call, on_after_call"),
    "one parameter": (
        {"hooks": [OneParameter()]},
        r"on_before_call of hook OneParameter is called as on_before_call\(ctx, call\), and it takes \(ctx",
    ),
    "three parameters": ({"hooks": [ThreeParameters()]}, r"called as on_after_model\(ctx, response\)"),
    "not callable": ({"hooks": [NotCallable()]}, "on_after_call of hook NotCallable is 'log'"),
    "output without a schema": ({"output_type": Closed}, "output_type is .*Closed.* has no JSON Schema"),
}


@pytest.mark.parametrize(("arguments", "text"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_the_arguments_is_found_at_construction(arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigurationError, match=text):
        Agent(**arguments)


@pytest.mark.parametrize(("attributes", "text"), MISTAKES.values(), ids=MISTAKES)
def test_and_in_class_attributes_too(attributes: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigurationError, match=text):
        type("Wrong", (Agent,), attributes)()


async def test_an_agent_without_a_model_says_how_to_give_one() -> None:
    with pytest.raises(ConfigurationError, match=r"agent 'support' has no model; give it one: Agent\(model=") as caught:
        await Support().run("hi")

    assert caught.value.run.outcome == "failed"


async def test_an_object_that_is_no_model_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"no model: it has no `async def respond\(request\)`"):
        await Agent(object()).run("hi")


async def test_two_tools_of_names_too_much_alike_are_both_named_before_the_model_is_asked() -> None:
    model = ScriptedModel([says("hello")])
    one, other = add, type(add)(add.handler, "Add", "Add as well.")

    with pytest.raises(ConfigurationError, match="two tools are named 'add' and 'Add'"):
        await Agent(model, tools=[one, other]).run("hi")

    assert model.requests == []


async def test_a_name_in_place_of_a_model_is_told_as_such() -> None:
    with pytest.raises(
        ConfigurationError, match="the model 'gpt' is a text, and there is no provider of that name"
    ) as caught:
        await Agent("gpt").run("go")
    assert "or the provider itself: model=dep(gpt)" in str(caught.value)


async def test_a_handler_whose_parameter_only_a_container_could_fill_is_told_what_to_write_instead() -> None:
    async def fetch(client: Annotated[Any, Inject("client")]) -> str:
        """Fetch it."""
        return "fetched"

    with pytest.raises(
        ConfigurationError, match=r"This agent has no container.*let tool 'fetch' take it in a constructor"
    ):
        await Agent(ScriptedModel([]), [tool(fetch)]).run("go")


async def test_a_models_name_of_the_environment_is_told_where_it_belongs() -> None:
    with pytest.raises(ConfigurationError, match=r"from_environment.* with TOOLKIT_MODEL=gemini:flash in the env"):
        await Agent("gemini:flash").run("go")
