"""Keys of any form appear nowhere but in their header: not in errors, representations, log records or transcripts."""

from __future__ import annotations

import json
import logging
import string
import traceback
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.models.providers import FORMATS, Format, sse
from toolkit import Agent, ModelError
from toolkit.messages import messages_to_json

# As services give them, with the signs that JSON, HTML and addresses escape. The beginning keeps them apart from words
# that stand in texts anyway.
KEYS = st.text(string.ascii_letters + string.digits + "-_.~+/=\"'\\<>&%", min_size=6, max_size=40).map("zq~".__add__)

ANSWERS = ("an error", "a failure", "a wrong code", "inside a stream", "a page", "an answer")


def echoing(kind: str, wire: Format, request: httpx.Request) -> httpx.Response:
    """A server that repeats the headers that it was sent, in one of the places where servers do."""
    echo = "; ".join(f"{name}: {value}" for name, value in request.headers.items())
    match kind:
        case "an error":
            return httpx.Response(401, json={"error": {"message": echo}}, headers={"x-request-id": "r1"})
        case "a failure":
            return httpx.Response(500, json={"error": echo})
        case "a wrong code":
            return httpx.Response(400, json={"error": {"message": "no", "code": echo, "type": echo, "status": echo}})
        case "inside a stream":
            events = wire.begun + sse({"type": "error", "error": {"message": echo, "type": "x"}})
            return httpx.Response(200, content=events, headers={"content-type": "text/event-stream"})
        case "a page":
            return httpx.Response(200, text=f"<p>{echo}</p>", headers={"content-type": "text/html"})
        case _:
            return httpx.Response(200, json=wire.whole)


async def texts_of(wire: Format, kind: str, key: str, *, is_streamed: bool) -> list[str]:
    """All that a run leaves for people and logs to see."""
    transport = httpx.MockTransport(lambda request: echoing(kind, wire, request))
    async with httpx.AsyncClient(transport=transport) as http:
        model = wire.model("a-model", http=http, api_key=key)
        seen = [repr(model), str(model)]
        agent = Agent(model)
        try:
            if is_streamed:
                async with agent.stream("Hi") as stream:
                    seen += [repr(event) async for event in stream]
                run = stream.run
            else:
                run = await agent.run("Hi")
        except ModelError as error:
            run = error.run
            seen += [*traceback.format_exception(error), repr(error), repr(vars(error)), str(error.__cause__)]
    return [*seen, repr(run), repr(run.calls), messages_to_json(run.messages)]


@pytest.mark.parametrize("is_streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("wire", FORMATS, ids=lambda wire: wire.name)
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(key=KEYS, kind=st.sampled_from(ANSWERS))
async def test_no_key_is_seen_whatever_a_server_repeats(
    wire: Format, is_streamed: bool, caplog: pytest.LogCaptureFixture, key: str, kind: str
) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.clear()

    seen = await texts_of(wire, kind, key, is_streamed=is_streamed)

    seen += [record.getMessage() for record in caplog.records]
    escaped = json.dumps(key)[1:-1]
    assert [text for text in seen if key in text or escaped in text] == []


@pytest.mark.parametrize("wire", FORMATS, ids=lambda wire: wire.name)
async def test_the_key_does_go_into_a_header(wire: Format) -> None:
    seen: list[str] = []

    def answer(request: Any) -> httpx.Response:
        seen.append(" ".join(request.headers.values()))
        return httpx.Response(200, json=wire.whole)

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http:
        await Agent(wire.model("a-model", http=http, api_key="zq~secret")).run("Hi")

    assert "zq~secret" in seen[0]
