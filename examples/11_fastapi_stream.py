"""A run's events over HTTP: server-sent events from FastAPI, as JSON that a browser may see. Run this one by pytest."""

import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Annotated, Any

from fastapi import Depends, FastAPI
from fastapi.responses import StreamingResponse
from fastapi.testclient import TestClient

from toolkit import Agent, ToolkitError, tool
from toolkit.events import event_to_json
from toolkit.models import KeywordModel
from toolkit.testing import ScriptedModel, call, calls


@tool
async def stock(item: str) -> str:
    """Tell how many of an item are in stock."""
    return f"12 of {item}"


def shop_agent() -> Any:
    return Agent(KeywordModel(), tools=[stock])  # or that of a container: request.state.app.agent(), as in 08_fastapi


web = FastAPI()


async def lines(agent: Any, question: str) -> AsyncIterator[str]:
    with suppress(ToolkitError):  # yours logs it; the browser is told by the last event, RunFinished: "failed"
        async with agent.stream(question) as stream:  # whoever goes away leaves the block, which cancels the run
            async for event in stream:
                yield f"data: {event_to_json(event)}\n\n"


@web.get("/ask")
async def ask(question: str, agent: Annotated[Any, Depends(shop_agent)]) -> StreamingResponse:
    return StreamingResponse(lines(agent, question), media_type="text/event-stream")


def asked() -> list[dict[str, Any]]:
    text = TestClient(web).get("/ask?question=Is 'tea' in stock?").text
    return [json.loads(event.removeprefix("data: ")) for event in text.strip().split("\n\n")]


def test_a_stream_tells_of_calls_and_ends_with_the_outcome(monkeypatch) -> None:
    [record] = [event["record"] for event in asked() if event["type"] == "ToolCallFinished"]
    assert (record["arguments"], record["content"]) == ({"item": "tea"}, "12 of tea")

    failing = ScriptedModel([calls(call("stock", {"item": "tea"}))])  # asked once more than it has answers
    monkeypatch.setitem(web.dependency_overrides, shop_agent, lambda: Agent(failing, tools=[stock]))
    assert asked()[-1]["run"]["outcome"] == "failed"


# prints:
# 1 passed
