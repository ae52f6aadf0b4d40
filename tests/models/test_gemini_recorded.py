"""Recorded traffic of Gemini, through `GeminiModel`: what it answers, what we send, and whole runs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.http.loopback import Reply, serving
from tests.models.asking import ran
from tests.models.differences import differences, unexplained, unused
from tests.models.providers import sse
from tests.models.replaying import Exchange, Replay, cassettes, exchanges
from toolkit import Agent, Tool
from toolkit.errors import BadRequestError
from toolkit.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    UserMessage,
    messages_from_json,
    messages_to_json,
)
from toolkit.models import (
    GeminiModel,
    ModelDone,
    ModelRequest,
    ModelResponse,
    ModelSettings,
    TextDelta,
    ToolCallDelta,
)

CASSETTES = cassettes("generateContent")
FAILING = [name for name in CASSETTES if name.endswith("model-name-suggestion-google")]
ANSWERING = [name for name in CASSETTES if name not in FAILING]


def test_there_are_recordings() -> None:
    if not CASSETTES:
        pytest.skip("the shared recordings are not here: they lie beside the repository and are not part of it")

    assert len(FAILING) == 1
    assert set(RUNS) < set(ANSWERING)


def model_for(exchange: Exchange, replay: Replay, http: Any) -> GeminiModel:
    name = exchange.path.split("/models/")[1].split(":")[0]
    return GeminiModel(name, http=http, base_url=replay.base_url(exchange.cassette, "/v1beta"))


async def answered(
    model: GeminiModel, request: ModelRequest, is_streamed: bool
) -> tuple[ModelResponse, str, list[Any]]:
    """The response, with the text and the calls as they were streamed."""
    if not is_streamed:
        response = await model.respond(request)
        return response, response.text, [(call.name, call.arguments) for call in response.tool_calls]
    text, calls = "", []
    async for delta in model.stream(request):
        if isinstance(delta, TextDelta):
            text += delta.text
        elif isinstance(delta, ToolCallDelta):
            calls.append((delta.name, delta.arguments))
        elif isinstance(delta, ModelDone):
            return delta.response, text, calls
    raise AssertionError("no end")


def pieces_of(exchange: Exchange) -> list[dict[str, Any]]:
    if not exchange.is_streamed:
        return [exchange.answer]
    return [json.loads(line[6:]) for line in exchange.answer.split("\n") if line.startswith("data: ")]


def recorded_answer(exchange: Exchange) -> dict[str, Any]:
    """What was recorded, read another way: the pieces' parts in one answer, with what the last piece says."""
    pieces = pieces_of(exchange)
    parts = [part for piece in pieces for part in piece["candidates"][0]["content"]["parts"]]
    last = pieces[-1]
    return {**last, "candidates": [{**last["candidates"][0], "content": {"role": "model", "parts": parts}}]}


@pytest.mark.parametrize("cassette", ANSWERING)
async def test_each_recorded_answer_is_read_as_it_was_given(cassette: str, replay: Replay, http: Any) -> None:
    replay.rewind(cassette)
    for exchange in exchanges(cassette):
        request = ModelRequest([UserMessage("as recorded")])
        response, text, calls = await answered(model_for(exchange, replay, http), request, exchange.is_streamed)

        wanted = recorded_answer(exchange)
        parts, usage = wanted["candidates"][0]["content"]["parts"], wanted["usageMetadata"]
        wanted_calls = [
            (part["functionCall"]["name"], part["functionCall"]["args"]) for part in parts if "functionCall" in part
        ]
        wanted_text = "".join(part.get("text", "") for part in parts)
        thoughts = max(piece.get("usageMetadata", {}).get("thoughtsTokenCount", 0) for piece in pieces_of(exchange))
        assert (response.text, text) == (wanted_text, wanted_text)
        assert [(call.name, json.loads(str(call.arguments))) for call in response.tool_calls] == wanted_calls
        assert [(name, json.loads(arguments)) for name, arguments in calls] == wanted_calls
        assert len({call.id for call in response.tool_calls}) == len(wanted_calls)
        assert response.stop_reason == ("tool_calls" if wanted_calls else "stop")
        assert response.model == wanted["modelVersion"]
        assert response.usage.input_tokens == usage["promptTokenCount"] + usage.get("toolUsePromptTokenCount", 0)
        assert response.usage.output_tokens == usage["candidatesTokenCount"] + thoughts
        assert response.usage.reasoning_tokens == thoughts
        assert response.usage.cached_tokens == usage.get("cachedContentTokenCount", 0)
        kept = response.provider_data or {}
        assert kept.get("groundingMetadata") == wanted["candidates"][0].get("groundingMetadata")
        assert [part["thoughtSignature"] for part in kept.get("parts", ()) if "thoughtSignature" in part] == [
            part["thoughtSignature"] for part in parts if "thoughtSignature" in part
        ]


@pytest.mark.parametrize("cassette", FAILING)
async def test_a_recorded_error_is_a_typed_one(cassette: str, replay: Replay, http: Any) -> None:
    replay.rewind(cassette)
    (exchange,) = exchanges(cassette)

    with pytest.raises(BadRequestError) as caught:
        await model_for(exchange, replay, http).respond(ModelRequest([UserMessage("hello")]))

    assert (caught.value.status, caught.value.code) == (404, "NOT_FOUND")
    assert exchange.answer["error"]["message"] in str(caught.value)


# What we send

EXPLAINED = {
    r"\$\.generationConfig: nothing, recorded (\{\}|\{\"responseModalities\": \[\"TEXT\"\]\})": (
        "the recorder says that it wants text, which is the default"
    ),
    r"\$\.generationConfig\.responseModalities: nothing, recorded \[\"TEXT\"\]": "the same beside other settings",
    r"\$\.systemInstruction\.role: nothing, recorded \"user\"": "instructions have no role; the API ignores it",
    r"\$\.contents\[0\]\.parts\[0\]\.text: \"\(no text\)\", recorded \"\"": "a blank text, which some servers refuse",
    r"\$\.contents\[\d+\]\.parts\[\d+\]\.functionResponse\.response\.output: \"\w+\", recorded nothing": (
        "`output` is the documented name of a result"
    ),
    r"\$\.contents\[\d+\]\.parts\[\d+\]\.functionResponse\.response\.return_value: nothing, recorded \"\w+\"": (
        "the recorder's own name for it"
    ),
    r"\$\.toolConfig\.functionCallingConfig\.allowedFunctionNames: nothing, recorded \[.*\]": (
        "the recorder names all tools that there are, which is what ANY means"
    ),
}


def schema_of(function: dict[str, Any]) -> dict[str, Any]:
    """The recorded schema as JSON Schema; one recorder wrote OpenAPI's, with types in capitals."""
    if "parameters" not in function:
        schema: dict[str, Any] = function["parameters_json_schema"]
        return schema
    written = json.dumps(function["parameters"]).replace("OBJECT", "object").replace("STRING", "string")
    lowered: dict[str, Any] = json.loads(written)
    return lowered


def respelled(recorded: dict[str, Any]) -> dict[str, Any]:
    """The recorded request with the field of schemas as the API's reference spells it; the API takes both."""
    tools = [
        {
            kind: [
                {"name": one["name"], "description": one["description"], "parametersJsonSchema": schema_of(one)}
                for one in value
            ]
            if kind == "functionDeclarations"
            else value
            for kind, value in tool.items()
        }
        for tool in recorded.get("tools", ())
    ]
    return {**recorded, "tools": tools} if tools else recorded


def request_of(recorded: dict[str, Any]) -> ModelRequest:
    """The request of ours that asks what the recorded one asked."""
    tools = recorded.get("tools", [])
    functions = [one for tool in tools for one in tool.get("functionDeclarations", ())]
    mode = recorded.get("toolConfig", {}).get("functionCallingConfig", {}).get("mode")
    return ModelRequest(
        messages_of(recorded),
        [ToolDefinition(one["name"], one["description"], schema_of(one)) for one in functions],
        ModelSettings(
            temperature=recorded["generationConfig"].get("temperature"),
            extra=None if functions or not tools else {"tools": tools},
        ),
        tool_choice={"ANY": "required"}.get(mode),
    )


def messages_of(recorded: dict[str, Any]) -> list[Message]:
    instructions = recorded.get("systemInstruction", {}).get("parts", ())
    messages: list[Message] = [SystemMessage(part["text"]) for part in instructions]
    for content in recorded["contents"]:
        parts = content["parts"]
        if content["role"] == "model":
            calls = [part["functionCall"] for part in parts if "functionCall" in part]
            kept = [{**part, "functionCall": {}} if "functionCall" in part else part for part in parts]
            text = "".join(part.get("text", "") for part in parts)
            messages.append(
                AssistantMessage(
                    text,
                    [ToolCall(call["id"], call["name"], call["args"]) for call in calls],
                    provider_data={"provider": "gemini", "parts": kept},
                )
            )
        for part in parts if content["role"] == "user" else ():
            if "functionResponse" in part:
                result = part["functionResponse"]
                messages.append(ToolMessage(result["id"], result["name"], result["response"]["return_value"]))
            else:
                messages.append(UserMessage(part["text"]))
    return messages


@pytest.mark.skipif(not CASSETTES, reason="the shared recordings are not here")
async def test_what_we_send_differs_from_what_was_recorded_where_the_table_says_why(replay: Replay, http: Any) -> None:
    found: list[str] = []
    for cassette in ANSWERING:
        replay.rewind(cassette)
        for exchange in exchanges(cassette):
            await answered(model_for(exchange, replay, http), request_of(exchange.request), exchange.is_streamed)
        log = replay.log(cassette)
        assert len(log) == len(exchanges(cassette))
        found += [line for entry in log for line in differences(entry["sent"], respelled(entry["recorded"]))]

    assert unexplained(found, EXPLAINED) == []
    assert unused(found, EXPLAINED) == []


# Whole runs

RUNS = {
    "gemini-generateContent-google-instructions-only-with-tool-calls": {"generate_topic": "cars", "final_result": "ok"},
    "gemini-generateContent-google-streaming-tool-call-thought-signature": {"get_country": "Mexico"},
    "gemini-generateContent-google-tool-config-any-with-tool-without-args": {"bar": "hello", "final_result": "ok"},
}


def tools_of(cassette: str) -> list[Any]:
    """Tools with the recorded names and schemas, and the recorded results."""
    results = RUNS[cassette]

    def made(function: dict[str, Any]) -> Any:
        async def handler(arguments: dict[str, Any]) -> str:
            return results[function["name"]]

        description = function["description"] or "A recorded tool."
        return Tool.define(
            name=function["name"], description=description, handler=handler, input_schema=schema_of(function)
        )

    return [made(one) for one in exchanges(cassette)[0].request["tools"][0]["functionDeclarations"]]


def replies_of(cassette: str, is_streamed: bool) -> list[Reply]:
    """The recorded answers, streamed or whole, and one more where the recorder's last one was a call to its end."""
    answers = [[recorded_answer(exchange)] for exchange in exchanges(cassette)]
    if is_streamed:
        answers = [pieces_of(exchange) for exchange in exchanges(cassette)]
    if "final_result" in RUNS[cassette]:
        done = {"candidates": [{"content": {"parts": [{"text": "That is all."}]}, "finishReason": "STOP"}]}
        answers.append([done])
    if is_streamed:
        return [Reply(sse(*pieces), headers={"Content-Type": "text/event-stream"}) for pieces in answers]
    return [Reply(pieces[0]) for pieces in answers]


@pytest.mark.parametrize("is_streamed", [False, True], ids=["run", "stream"])
@pytest.mark.parametrize("cassette", [name for name in RUNS if name in CASSETTES])
async def test_a_run_goes_through_a_recorded_conversation(cassette: str, is_streamed: bool, http: Any) -> None:
    recorded = [recorded_answer(exchange)["candidates"][0]["content"]["parts"] for exchange in exchanges(cassette)]
    replies = replies_of(cassette, is_streamed)
    async with serving(replies) as server:
        model = GeminiModel(
            exchanges(cassette)[0].path.split("/models/")[1].split(":")[0], http=http, base_url=server.url
        )
        run = await ran(Agent(model, tools=tools_of(cassette)), "as recorded", is_streamed=is_streamed)

    assert (run.outcome, run.turns) == ("completed", len(replies))
    assert run.response
    assert {record.name for record in run.calls} == set(RUNS[cassette])
    assert len({record.id for record in run.calls}) == len(run.calls)
    assert messages_from_json(messages_to_json(run.messages)) == run.messages
    contents = json.loads(server.requests[-1].body)["contents"]
    said = [part for content in contents if content["role"] == "model" for part in content["parts"]]
    signed = [part for parts in recorded[: len(replies) - 1] for part in parts if part != {"text": ""}]
    assert [part.get("thoughtSignature") for part in said] == [part.get("thoughtSignature") for part in signed]
    calls = [part["functionCall"] for part in said if "functionCall" in part]
    results = [
        part["functionResponse"] for content in contents for part in content["parts"] if "functionResponse" in part
    ]
    assert [(call["id"], call["name"]) for call in calls] == [(record.id, record.name) for record in run.calls]
    assert [(result["id"], result["response"]) for result in results] == [
        (record.id, {"output": record.result.content}) for record in run.calls
    ]
