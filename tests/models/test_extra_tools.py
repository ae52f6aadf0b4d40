"""Tools of the provider's own, which `ModelSettings.extra` names, beside those of the run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.http.loopback import Reply, serving
from tests.models.providers import FORMATS, Format
from toolkit.messages import ToolDefinition, UserMessage
from toolkit.models import ModelRequest, ModelSettings

WEATHER = ToolDefinition("weather", "The weather.", {"type": "object", "properties": {}})
SEARCH = {"type": "web_search"}


async def tools_sent(wire: Format, http: Any, *requests: ModelRequest) -> list[Any]:
    async with serving([Reply(wire.whole)] * len(requests)) as server:
        model = wire.model("a-model", http=http, base_url=server.url)
        for request in requests:
            await model.respond(request)
    return [json.loads(got.body)["tools"] for got in server.requests]


@pytest.mark.parametrize("wire", FORMATS, ids=lambda wire: wire.name)
async def test_tools_in_extra_come_behind_the_runs_own(wire: Format, http: Any) -> None:
    messages, settings = [UserMessage("Hi")], ModelSettings(extra={"tools": [SEARCH]})

    ours, both, theirs = await tools_sent(
        wire,
        http,
        ModelRequest(messages, [WEATHER]),
        ModelRequest(messages, [WEATHER], settings),
        ModelRequest(messages, settings=settings),
    )

    assert both == [*ours, SEARCH]
    assert theirs == [SEARCH]
