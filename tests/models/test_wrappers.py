"""`RetryingModel` and `FallbackModel`: models around models."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import httpx2
import pytest

from tests.http.clients import ManualClock
from tests.models.asking import answered, both_ways
from toolkit import Agent, ConfigurationError, ModelError
from toolkit.errors import AuthenticationError, BrokenStreamError, OverloadedError, ProviderError, RateLimitError
from toolkit.events import TextDelta as TextEvent
from toolkit.messages import UserMessage
from toolkit.models import (
    FallbackModel,
    ModelDelta,
    ModelDone,
    ModelRequest,
    ModelResponse,
    RetryingModel,
    TextDelta,
)
from toolkit.testing import ScriptExhausted

REQUEST = ModelRequest([UserMessage("Hi")])


class Failing:
    """Goes through its outcomes, one for each time that it is asked: an answer, an error, or pieces before an error."""

    def __init__(self, *outcomes: str | Exception | tuple[str, Exception]) -> None:
        self.outcomes = list(outcomes)
        self.asked = 0

    def next(self) -> Any:
        self.asked += 1
        return self.outcomes.pop(0)

    async def respond(self, request: ModelRequest) -> ModelResponse:
        outcome = self.next()
        if isinstance(outcome, str):
            return ModelResponse(outcome)
        raise outcome[1] if isinstance(outcome, tuple) else outcome

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelDelta]:
        outcome = self.next()
        if isinstance(outcome, Exception):
            raise outcome
        shown, error = (outcome, None) if isinstance(outcome, str) else outcome
        yield TextDelta(shown)
        if error is not None:
            raise error
        yield ModelDone(ModelResponse(shown))

    def __repr__(self) -> str:
        return "Failing()"


class WholeOnly:
    """A model without `stream`."""

    async def respond(self, request: ModelRequest) -> ModelResponse:
        return ModelResponse("whole")


async def streamed(model: Any) -> list[ModelDelta]:
    return [delta async for delta in model.stream(REQUEST)]


def retrying(model: Any, clock: ManualClock, **more: Any) -> RetryingModel:
    return RetryingModel(model, clock=clock, jitter=lambda: 0.0, **more)


async def test_a_temporary_failure_is_asked_again_after_a_growing_wait() -> None:
    clock, model = ManualClock(), Failing(OverloadedError("busy"), OverloadedError("busy"), "fine")

    response = await retrying(model, clock).respond(REQUEST)

    assert response.text == "fine"
    assert clock.slept == [0.5, 1.0]


async def test_a_plain_error_of_a_model_of_ones_own_is_asked_again() -> None:
    model = Failing(ModelError("busy"), "fine")

    assert (await retrying(model, ManualClock()).respond(REQUEST)).text == "fine"


NO_ANSWER = pytest.mark.parametrize(
    "error",
    [ConnectionResetError("gone"), TimeoutError("slow"), httpx.ConnectError("down"), httpx2.ReadTimeout("slow")],
    ids=lambda error: type(error).__name__,
)


@NO_ANSWER
@both_ways
async def test_a_lost_connection_of_a_model_of_ones_own_is_asked_again(error: Exception, is_streamed: bool) -> None:
    model = RetryingModel(Failing(error, "fine"), clock=ManualClock())

    response, _ = await answered(model, REQUEST, is_streamed=is_streamed)

    assert response.text == "fine"


@NO_ANSWER
@both_ways
async def test_a_lost_connection_of_a_model_of_ones_own_is_a_reason_for_the_next_one(
    error: Exception, is_streamed: bool
) -> None:
    model = FallbackModel([Failing(error), Failing("second")])

    response, _ = await answered(model, REQUEST, is_streamed=is_streamed)

    assert response.text == "second"


async def test_only_the_errors_that_were_named_are_a_reason_for_the_next_model() -> None:
    model = FallbackModel([Failing(ConnectionResetError("gone")), Failing("second")], on=(ModelError,))

    with pytest.raises(ConnectionResetError):
        await model.respond(REQUEST)


async def test_the_providers_own_wait_comes_before_ours() -> None:
    clock, model = ManualClock(), Failing(RateLimitError("slow down", retry_after=7.0), "fine")

    await retrying(model, clock).respond(REQUEST)

    assert clock.slept == [7.0]


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(AuthenticationError("no"), id="what waiting can't mend"),
        pytest.param(ScriptExhausted("no"), id="a script at its end"),
        pytest.param(RateLimitError("slow down", retry_after=61.0), id="a wait that is too long"),
    ],
)
async def test_other_failures_are_raised_at_once(error: ModelError) -> None:
    clock, model = ManualClock(), Failing(error, "fine")

    with pytest.raises(ModelError) as caught:
        await retrying(model, clock).respond(REQUEST)

    assert caught.value is error
    assert (model.asked, clock.slept) == (1, [])


async def test_the_last_attempts_error_is_raised() -> None:
    last = OverloadedError("still busy")
    model = Failing(OverloadedError("busy"), last)

    with pytest.raises(OverloadedError) as caught:
        await retrying(model, ManualClock(), attempts=2).respond(REQUEST)

    assert caught.value is last


async def test_a_stream_that_showed_nothing_is_begun_anew() -> None:
    model = Failing(OverloadedError("busy"), "fine")

    assert await streamed(retrying(model, ManualClock())) == [TextDelta("fine"), ModelDone(ModelResponse("fine"))]


async def test_a_stream_that_showed_something_is_not_repeated() -> None:
    broken = BrokenStreamError("gone")
    model = Failing(("half", broken), "whole")
    shown: list[str] = []

    async def read() -> None:
        async with Agent(retrying(model, ManualClock())).stream("Hi") as stream:
            async for event in stream:
                if isinstance(event, TextEvent):
                    shown.append(event.text)

    with pytest.raises(BrokenStreamError) as caught:
        await read()

    assert caught.value is broken
    assert (shown, model.asked) == (["half"], 1)


async def test_no_attempts_are_a_configuration_error() -> None:
    with pytest.raises(ConfigurationError, match="at least once"):
        RetryingModel(Failing(), attempts=0)


async def test_the_first_model_that_answers_is_taken() -> None:
    first, second = Failing(AuthenticationError("no key")), Failing("from the second")

    response = await FallbackModel([first, second]).respond(REQUEST)

    assert response.text == "from the second"
    assert (first.asked, second.asked) == (1, 1)


async def test_each_request_begins_with_the_first_model_again() -> None:
    first = Failing(OverloadedError("busy"), "from the first")
    model = FallbackModel([first, Failing("from the second")])

    assert [(await model.respond(REQUEST)).text for _ in range(2)] == ["from the second", "from the first"]


async def test_when_all_fail_the_last_error_is_raised_with_notes_of_the_others() -> None:
    last = OverloadedError("busy")
    model = FallbackModel([Failing(AuthenticationError("no key")), Failing(last)])

    with pytest.raises(ProviderError) as caught:
        await model.respond(REQUEST)

    assert caught.value is last
    assert caught.value.__notes__ == ["before that, Failing() failed: AuthenticationError: no key"]


async def test_one_error_that_is_raised_again_keeps_each_note_once() -> None:
    last = OverloadedError("busy")
    model = FallbackModel([Failing(*[AuthenticationError("no key")] * 2), Failing(last, last)])

    for _ in range(2):
        with pytest.raises(OverloadedError):
            await model.respond(REQUEST)

    assert last.__notes__ == ["before that, Failing() failed: AuthenticationError: no key"]


async def test_a_stream_goes_on_to_the_next_model_only_while_nothing_was_shown() -> None:
    fine = FallbackModel([Failing(OverloadedError("busy")), Failing("second")])
    half = FallbackModel([Failing(("half", BrokenStreamError("gone"))), Failing("second")])

    assert await streamed(fine) == [TextDelta("second"), ModelDone(ModelResponse("second"))]
    with pytest.raises(BrokenStreamError):
        await streamed(half)


async def test_an_error_that_is_not_named_is_no_reason_for_the_next_model() -> None:
    with pytest.raises(ValueError, match="a bug"):
        await FallbackModel([Failing(ValueError("a bug")), Failing("second")]).respond(REQUEST)


async def test_models_without_a_stream_are_streamed_whole() -> None:
    done = [ModelDone(ModelResponse("whole"))]

    assert await streamed(RetryingModel(WholeOnly())) == done
    assert await streamed(FallbackModel([WholeOnly()])) == done


async def test_a_stream_that_is_left_early_closes_the_models_own() -> None:
    closed: list[str] = []

    class Endless:
        async def respond(self, request: ModelRequest) -> ModelResponse:
            raise AssertionError

        async def stream(self, request: ModelRequest) -> AsyncIterator[ModelDelta]:
            try:
                while True:
                    yield TextDelta("more")
                    await asyncio.sleep(0)
            finally:
                closed.append("closed")

    for model in (RetryingModel(Endless()), FallbackModel([Endless(), WholeOnly()]), FallbackModel([Endless()])):
        async with Agent(model).stream("Hi") as stream:
            async for event in stream:
                if isinstance(event, TextEvent):
                    break

    assert closed == ["closed"] * 3
