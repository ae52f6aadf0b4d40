"""What users report of answers that come in pieces, again, or cut off."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.http.clients import ManualClock
from tests.http.loopback import Reply, serving
from tests.runs.parts import assert_consistent, read
from toolkit import Agent, CleanupError, ModelError, ToolCall, tool
from toolkit.errors import OverloadedError
from toolkit.models import (
    AnthropicModel,
    FallbackModel,
    ModelDelta,
    ModelDone,
    ModelRequest,
    ModelResponse,
    RetryingModel,
    ToolCallDelta,
)


class BreaksOff:
    """Fails after it has begun a call, and asks for another one when it is asked again; then answers."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.asked = 0

    async def respond(self, request: ModelRequest) -> ModelResponse:
        self.asked += 1
        if self.asked == 1:
            raise self.error
        if self.asked == 2:
            return ModelResponse("", [ToolCall("c2", "note", '{"text": "second"}')])
        return ModelResponse("done")

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelDelta]:
        if self.asked == 0:
            yield ToolCallDelta(0, "c1", "note", '{"text": "first"}')
        yield ModelDone(await self.respond(request))


def noting() -> tuple[Any, list[str]]:
    ran: list[str] = []

    @tool
    async def note(text: str) -> str:
        """Note a text."""
        ran.append(text)
        return text

    return note, ran


async def test_only_the_call_of_the_attempt_that_succeeded_is_run() -> None:
    note, ran = noting()
    model = BreaksOff(OverloadedError("busy"))

    run = await Agent(RetryingModel(model, clock=ManualClock()), [note]).run("go")

    assert (ran, run.response, model.asked) == (["second"], "done", 3)
    assert_consistent(run)


async def test_a_call_whose_stream_breaks_off_is_not_run_however_whole_it_looks() -> None:
    note, ran = noting()
    model = BreaksOff(OverloadedError("busy"))

    with pytest.raises(OverloadedError) as caught:
        await read(Agent(RetryingModel(model, clock=ManualClock()), [note]).stream("go"))

    assert (ran, model.asked) == ([], 1)
    assert caught.value.run.calls == []
    assert_consistent(caught.value.run)


class Uncommitted:
    """A model whose own work could not be committed."""

    def __init__(self) -> None:
        self.asked = 0

    async def respond(self, request: ModelRequest) -> ModelResponse:
        self.asked += 1
        raise CleanupError("the commit failed")


async def test_a_model_that_could_not_commit_is_not_asked_again_and_no_other_in_its_place() -> None:
    first, other = Uncommitted(), Uncommitted()

    with pytest.raises(ModelError) as caught:
        await Agent(FallbackModel([RetryingModel(first), other])).run("go")

    assert (first.asked, other.asked) == (1, 0)
    assert isinstance(caught.value.__cause__, CleanupError)


async def test_an_answer_that_comes_beside_calls_waits_for_their_results(http: Any) -> None:
    ran: list[str] = []

    @tool
    async def search(query: str) -> str:
        """Search."""
        ran.append(query)
        return "17"

    def used(*blocks: tuple[str, dict[str, Any]]) -> Reply:
        content = [
            {"type": "tool_use", "id": f"c{number}", "name": name, "input": given}
            for number, (name, given) in enumerate(blocks)
        ]
        return Reply({"type": "message", "content": content, "stop_reason": "tool_use", "usage": {}})

    replies = [
        used(("search", {"query": "how many"}), ("final_answer", {"value": 3})),  # made up: the search has not run
        used(("final_answer", {"value": 17})),
    ]
    async with serving(replies) as server:
        model = AnthropicModel("claude-3-5-haiku-latest", http=http, base_url=server.url)
        run = await Agent(model, [search], output_type=int).run("How many?")

    assert (ran, run.output) == (["how many"], 17)
    assert [record.name for record in run.calls] == ["search"]
    assert "final_answer" not in json.dumps(json.loads(server.requests[1].body)["messages"])
