"""How a run can end: what is raised, its outcome, the run on the error, and a transcript that pairs."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from dependency_injector import containers, providers

from tests.runs.parts import After, Before, CallingModel, Gate, GatedTool, add, assert_consistent, echo, fail
from toolkit import (
    Agent,
    CleanupError,
    ConfigurationError,
    DeadlineExceeded,
    HookError,
    LimitExceeded,
    Limits,
    ModelError,
    OutputError,
    Run,
    RunAborted,
    RunContext,
    RunError,
    Tool,
    ToolkitError,
    tool,
)
from toolkit.hooks import Abort
from toolkit.injection import RunScoped, application, dep, provide
from toolkit.models import ModelRequest, ModelResponse
from toolkit.testing import ScriptedModel, call, calls, says


@dataclasses.dataclass
class Answer:
    degrees: int


def raising(error: BaseException) -> Callable[..., Any]:
    def hook(*args: Any) -> None:
        raise error

    return hook


class ModelHook:
    def __init__(self, **hooks: Callable[..., Any]) -> None:
        for name, hook in hooks.items():
            setattr(self, name, hook)


class Broken(Tool):
    """Can't be built."""

    name = "broken"

    def __init__(self) -> None:
        raise ConfigurationError("there is no key")

    async def handler(self) -> str:
        return "never"


ADDING = calls(call("add", {"a": 1, "b": 2}), text="Let me see.")

ENDINGS: dict[str, tuple[Callable[[], Agent[Any]], type[Exception], str, str]] = {
    "a limit": (
        lambda: Agent(ScriptedModel([ADDING]), [add], limits=Limits(max_turns=1)),
        LimitExceeded,
        "partial",
        "the run reached its limit max_turns=1",
    ),
    "Abort": (
        lambda: Agent(ScriptedModel([ADDING]), [add], hooks=[Before(lambda ctx, call: Abort("enough"))]),
        RunAborted,
        "cancelled",
        "a guard ended the run: enough",
    ),
    "a model error": (
        lambda: Agent(ScriptedModel([ADDING, ConnectionError("no route")]), [add]),
        ModelError,
        "failed",
        "the model failed: ConnectionError: no route",
    ),
    "a model error of its own making": (
        lambda: Agent(ScriptedModel([ADDING, ModelError("quota")]), [add]),
        ModelError,
        "failed",
        "quota",
    ),
    "a failing after-hook": (
        lambda: Agent(ScriptedModel([ADDING]), [add], hooks=[After(raising(OSError("disk")))]),
        HookError,
        "failed",
        "failed: OSError('disk')",
    ),
    "a failing before-model hook": (
        lambda: Agent(ScriptedModel([]), [add], hooks=[ModelHook(on_before_model=raising_two(KeyError("x")))]),
        HookError,
        "failed",
        "failed: KeyError('x')",
    ),
    "a failing after-model hook": (
        lambda: Agent(ScriptedModel([ADDING]), [add], hooks=[ModelHook(on_after_model=raising_two(KeyError("x")))]),
        HookError,
        "failed",
        "failed: KeyError('x')",
    ),
    "a model hook that returns something": (
        lambda: Agent(ScriptedModel([ADDING]), [add], hooks=[ModelHook(on_after_model=lambda ctx, r: r)]),
        HookError,
        "failed",
        "returned ModelResponse; a model hook returns nothing",
    ),
    "an answer that does not meet the type": (
        lambda: Agent(ScriptedModel([ADDING, says('{"degrees": "warm"}')]), [add], output_type=Answer),
        OutputError,
        "failed",
        "the model's answer does not meet the output_type: $.degrees",
    ),
    "an answer that is no JSON": (
        lambda: Agent(ScriptedModel([says("It is warm.")]), output_type=Answer),
        OutputError,
        "failed",
        "line 1, column 1",
    ),
    "a configuration error at the start": (
        lambda: Agent(ScriptedModel([]), [object()]),
        ConfigurationError,
        "failed",
        "is no tool",
    ),
    "a configuration error when a tool is built": (
        lambda: Agent(ScriptedModel([calls(call("broken"), call("broken"))]), [Broken]),
        ConfigurationError,
        "failed",
        "there is no key",
    ),
    "instructions that fail": (
        lambda: Agent(ScriptedModel([]), instructions=raising(ZeroDivisionError("1/0"))),
        RunError,
        "failed",
        "the run could not start: the instructions failed with ZeroDivisionError",
    ),
}


def raising_two(error: Exception) -> Callable[[Any, Any], None]:
    def hook(ctx: Any, told: Any) -> None:
        raise error

    return hook


@pytest.mark.parametrize(("make", "kind", "outcome", "text"), ENDINGS.values(), ids=ENDINGS)
async def test_an_ending_raises_its_error_with_the_run_so_far(
    make: Callable[[], Agent[Any]], kind: type[Any], outcome: str, text: str
) -> None:
    with pytest.raises(kind) as caught:
        await make().run("hi", metadata={"page": 1})

    run: Run[Any] = caught.value.run
    assert type(caught.value) is kind
    assert isinstance(caught.value, ToolkitError)
    assert text in str(caught.value)
    assert run.outcome == outcome
    assert run.invocation.metadata == {"page": 1}
    assert_consistent(run)


async def test_an_answer_completes_the_run() -> None:
    run = await Agent(ScriptedModel([ADDING, says("3")]), tools=[add]).run("1 + 2?")

    assert run.outcome == "completed"
    assert (run.response, run.turns) == ("3", 2)
    assert_consistent(run)


async def test_an_empty_answer_is_an_answer() -> None:
    run = await Agent(ScriptedModel([ADDING, says("")]), tools=[add]).run("1 + 2?")

    assert (run.outcome, run.response) == ("completed", "")


async def test_a_run_that_fails_keeps_the_text_so_far() -> None:
    with pytest.raises(ModelError) as caught:
        await Agent(ScriptedModel([ADDING, OSError()]), tools=[add]).run("1 + 2?")

    assert caught.value.run.response == "Let me see."


async def test_the_models_own_error_is_the_cause() -> None:
    cause = ConnectionError("no route")

    with pytest.raises(ModelError) as caught:
        await Agent(ScriptedModel([cause])).run("hi")

    assert caught.value.__cause__ is cause


@pytest.mark.parametrize(
    ("answer", "text"),
    [("hello", "the model gave str"), (None, "the model gave NoneType")],
)
async def test_a_model_that_gives_no_response_is_a_model_error(answer: Any, text: str) -> None:
    async def respond(request: ModelRequest) -> Any:
        return answer

    with pytest.raises(ModelError, match=text):
        await Agent(CallingModel(respond)).run("hi")


async def test_a_model_that_fails_before_it_can_be_awaited_is_a_model_error_too() -> None:
    class Eager:
        def respond(self, request: ModelRequest) -> Any:
            raise OSError("no socket")

    with pytest.raises(ModelError, match="OSError"):
        await Agent(Eager()).run("hi")


async def test_a_cancellation_of_the_models_own_making_is_a_model_error() -> None:
    with pytest.raises(ModelError, match="CancelledError"):
        await Agent(ScriptedModel([asyncio.CancelledError()])).run("hi")


# timeout


async def test_a_run_past_its_timeout_raises_deadline_exceeded() -> None:
    gate = Gate()
    tool = GatedTool(gate)

    with pytest.raises(DeadlineExceeded, match=r"longer than 0\.01 seconds") as caught:
        await Agent(ScriptedModel([calls(call("wait"))]), tools=[tool]).run("hi", timeout=0.01)

    run = caught.value.run
    assert caught.value.timeout == 0.01
    assert run.outcome == "partial"
    assert tool.log == ["wait begins", "wait ends"]
    assert run.calls[0].result.is_error
    assert_consistent(run)


@pytest.mark.parametrize("where", ["model", "hook", "instructions", "tools", "constructor"])
async def test_the_timeout_counts_for_everything(where: str) -> None:
    async def for_ever(*args: Any) -> Any:
        await asyncio.Event().wait()

    class Kit:
        tools = staticmethod(for_ever)

    agent = {
        "model": lambda: Agent(CallingModel(for_ever)),
        "hook": lambda: Agent(ScriptedModel([ADDING]), [add], hooks=[Before(for_ever)]),
        "instructions": lambda: Agent(ScriptedModel([]), instructions=for_ever),
        "tools": lambda: Agent(ScriptedModel([]), tools=[Kit()]),
        "constructor": lambda: Agent(ScriptedModel([]), tools=[HandMade(for_ever)]),
    }[where]()

    with pytest.raises(DeadlineExceeded) as caught:
        await agent.run("hi", timeout=0.01)

    assert caught.value.run.outcome == "partial"
    assert_consistent(caught.value.run)


class HandMade:
    """Gives its tool only after a wait."""

    def __init__(self, wait: Callable[[], Any]) -> None:
        self.wait = wait

    async def tools(self, ctx: RunContext) -> list[Any]:
        await self.wait()
        return [add]


async def test_a_timeout_that_is_not_reached_changes_nothing() -> None:
    run = await Agent(ScriptedModel([ADDING, says("3")]), tools=[add]).run("1 + 2?", timeout=3600)

    assert run.outcome == "completed"


async def test_a_timeout_error_of_a_handler_is_not_the_runs() -> None:
    @tool
    async def slow() -> str:
        """Time out."""
        raise TimeoutError("mine")

    run = await Agent(ScriptedModel([calls(call("slow")), says("ok")]), tools=[slow]).run("hi", timeout=3600)

    assert run.calls[0].result.content == "tool 'slow' failed: TimeoutError"


async def test_a_run_that_was_late_can_be_followed_by_another_in_the_same_task() -> None:
    with pytest.raises(DeadlineExceeded):
        await Agent(ScriptedModel([calls(call("wait"))]), tools=[GatedTool(Gate())]).run("hi", timeout=0.01)

    assert asyncio.current_task().cancelling() == 0  # type: ignore[union-attr]
    assert (await Agent(ScriptedModel([says("hello")])).run("hi")).response == "hello"


# Closing


class Resource:
    pass


def application_with(open_resource: Any, agent_arguments: dict[str, Any] | None = None) -> Any:
    class UsesResource(Tool):
        """Use the resource."""

        name = "use"

        def __init__(self, resource: Resource) -> None:
            self.resource = resource

        async def handler(self) -> str:
            return "used"

    class Application(containers.DeclarativeContainer):
        resource = RunScoped(open_resource)
        use = provide(UsesResource, resource=dep(resource))
        model = providers.Object(ScriptedModel([calls(call("use")), says("done")]))
        agent = provide(Agent, model=dep(model), tools=["use"], **(agent_arguments or {}))

    return Application()


async def test_a_failing_close_after_an_answer_is_a_cleanup_error() -> None:
    async def open_resource() -> AsyncIterator[Resource]:
        yield Resource()
        raise OSError("the commit failed")

    async with application(application_with(open_resource)) as app:
        with pytest.raises(CleanupError, match="the commit failed") as caught:
            await app.agent().run("hi")

    assert caught.value.run.outcome == "failed"
    assert caught.value.run.response == "done"
    assert isinstance(caught.value.__cause__, OSError)
    assert_consistent(caught.value.run)


async def test_a_close_that_raises_cancelled_error_of_its_own_is_a_cleanup_error_too() -> None:
    async def open_resource() -> AsyncIterator[Resource]:
        yield Resource()
        raise asyncio.CancelledError

    async with application(application_with(open_resource)) as app:
        with pytest.raises(CleanupError):
            await app.agent().run("hi")


async def test_a_failing_close_does_not_hide_the_runs_error() -> None:
    async def open_resource() -> AsyncIterator[Resource]:
        try:
            yield Resource()
        finally:
            raise OSError("the rollback failed")

    container = application_with(open_resource, {"limits": Limits(max_turns=1)})
    async with application(container) as app:
        with pytest.raises(LimitExceeded) as caught:
            await app.agent().run("hi")

    assert any("the rollback failed" in note for note in caught.value.__notes__)


async def test_what_was_opened_sees_the_runs_error() -> None:
    seen: list[BaseException] = []

    async def open_resource() -> AsyncIterator[Resource]:
        try:
            yield Resource()
        except BaseException as error:
            seen.append(error)
            raise

    container = application_with(open_resource, {"limits": Limits(max_turns=1)})
    async with application(container) as app:
        with pytest.raises(LimitExceeded) as caught:
            await app.agent().run("hi")

    assert seen == [caught.value]


async def test_the_agents_open_timeout_holds_for_what_its_runs_open() -> None:
    async def open_resource() -> AsyncIterator[Resource]:
        await asyncio.Event().wait()
        yield Resource()

    async with application(application_with(open_resource, {"limits": Limits(open_timeout=0.01)})) as app:
        run = await app.agent().run("hi")

    assert run.calls[0].result.content == "tool 'use' failed: TimeoutError"
    assert "longer than 0.01 seconds" in str(run.calls[0].error)


# Errors carry no secrets to the model, and what they carry is for the application


async def test_a_handlers_exception_stays_on_the_record_and_its_text_is_told_to_nobody() -> None:
    model = ScriptedModel([calls(call("fail")), says("Sorry.")])

    async with Agent(model, tools=[fail]).stream("hi", context={"key": "context-secret"}) as stream:
        events = [event async for event in stream]

    run = stream.run
    assert str(run.calls[0].error) == "token=abc123"
    assert run.calls[0].result.content == "tool 'fail' failed: ValueError"
    for text in (repr(events), repr(run), repr(run.calls), repr(run.invocation), repr(run.messages)):
        assert "abc123" not in text
        assert "context-secret" not in text


async def test_a_hook_is_told_the_error_and_its_repr_tells_nobody() -> None:
    told: list[Any] = []
    hook = After(lambda ctx, info: told.append((info, ctx)))

    await Agent(ScriptedModel([calls(call("fail")), says("Sorry.")]), tools=[fail], hooks=[hook]).run(
        "hi", context="context-secret"
    )

    assert str(told[0][0].error) == "token=abc123"
    assert "abc123" not in repr(told)
    assert "context-secret" not in repr(told)


async def test_context_is_never_sent_to_the_model() -> None:
    model = ScriptedModel([calls(call("echo", {"text": "x"})), says("x")])

    await Agent(model, tools=[echo], instructions="Be kind.").run(
        "hi", context="context-secret", metadata={"m": "metadata-secret"}, actor_id="actor-secret"
    )

    assert "secret" not in repr(model.requests)


async def test_a_response_type_of_the_models_own_survives() -> None:
    async def respond(request: ModelRequest) -> ModelResponse:
        return ModelResponse("hello", stop_reason="length", model="small")

    run = await Agent(CallingModel(respond)).run("hi")

    assert run.response == "hello"
