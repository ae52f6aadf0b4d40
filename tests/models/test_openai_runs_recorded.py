"""Whole runs over recorded conversations of several turns: tools called, results sent back, a final answer."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.models.asking import ran
from tests.models.replaying import Exchange, exchanges, replaying
from tests.shared_files import names_in
from toolkit import Agent, Tool, ToolError
from toolkit.models import Model, OpenAIChatModel, OpenAIResponsesModel

CHAT = {
    "openai-chat-dbos-agent-with-hitl-tool": {"delete_file": "true", "create_file": "Success"},
    "openai-chat-openai-text-output-function": {"get_user_country": "Mexico"},
    "openai-chat-run-stream-sync-streams-real-model": {"get_capital": "London"},
    "deepseek-chat-deepseek-deferred-capability-with-thinking": {
        "load_capability": "{}",
        "search_tools": "[]",
        "get_player_name": "Anne",
        "roll_dice": "4",
    },
    "groq-chat-tool-use-failed-error-streaming": {"get_something_by_name": "Something with name: example"},
}
RESPONSES = {
    "openai-responses-openai-responses-stream": {"get_capital": "Paris"},
    "openai-responses-openai-responses-model-retry": {"get_location": '{"lat": 51, "lng": 0}'},
    "deepseek-responses-deepseek-responses-function-tool": {"get_temperature": "21.0"},
}
TABLE = {**CHAT, **RESPONSES}
ERRORS = {
    "openai-responses-openai-responses-model-retry": ['Wrong location, I only know about "London".'],
    "groq-chat-tool-use-failed-error-streaming": [
        "$.invalid_param: Additional properties are not allowed ('invalid_param' was unexpected); "
        "$.name: 'name' is a required property"
    ],
}
FOUND = {name.removesuffix(".json") for name in names_in("cassettes", "*.json")}


def tools_of(cassette: str, results: dict[str, str]) -> list[Any]:
    """Tools with the recorded names and schemas, and the recorded results."""
    shown = {
        (tool.get("function") or tool)["name"]: (tool.get("function") or tool)
        for exchange in exchanges(cassette)
        for tool in exchange.request["tools"]
    }

    def made(name: str, result: str) -> Any:
        async def handler(arguments: dict[str, Any]) -> str:
            if arguments.get("loc_name") == "Londos":
                raise ToolError('Wrong location, I only know about "London".')
            return result

        description = shown[name].get("description") or "A recorded tool."
        return Tool.define(name=name, description=description, handler=handler, input_schema=shown[name]["parameters"])

    return [made(name, result) for name, result in results.items()]


def model_of(cassette: str, exchange: Exchange, base_url: str, http: httpx.AsyncClient) -> Model:
    if cassette in RESPONSES:
        path = exchange.path.removesuffix("/responses")
        return OpenAIResponsesModel(exchange.request["model"], http=http, base_url=base_url + path)
    path = exchange.path.removesuffix("/chat/completions")
    server = cassette.split("-")[0]
    return OpenAIChatModel(exchange.request["model"], http=http, base_url=base_url + path, server=server)


@pytest.mark.parametrize("is_streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize("cassette", sorted(FOUND & set(TABLE)))
async def test_a_run_goes_through_a_recorded_conversation(cassette: str, is_streamed: bool) -> None:
    recorded = exchanges(cassette)
    with replaying(13) as replay:
        async with httpx.AsyncClient(trust_env=False) as http:
            model = model_of(cassette, recorded[0], replay.base_url(cassette), http)
            agent = Agent(model, tools=tools_of(cassette, TABLE[cassette]))
            run = await ran(agent, "as recorded", is_streamed=is_streamed)
        log = replay.log(cassette)

    assert run.outcome == "completed"
    assert run.turns == len(recorded)
    assert run.response
    assert {record.name for record in run.calls} == {name for name in TABLE[cassette] if name != "search_tools"}
    assert [record.result.content for record in run.calls if record.result.is_error] == ERRORS.get(cassette, [])
    last = json.dumps(log[-1]["sent"])
    for record in run.calls:  # every result went back, under the id of its call
        assert record.id in last
        assert json.dumps(record.result.content) in last
    if run.messages[1].reasoning and "deepseek" in cassette:  # type: ignore[union-attr]
        assert json.dumps(run.messages[1].reasoning) in last  # type: ignore[union-attr]
