"""Chat completions by value: how servers label pieces of calls, what they answer, and what each of them is sent."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.models.asking import answered as asked
from tests.models.asking import both_ways, ran
from tests.models.providers import sse
from toolkit import Agent, Tool
from toolkit.errors import ContextLengthError, ProviderError
from toolkit.messages import AssistantMessage, Message, ToolCall, ToolDefinition, ToolMessage, UserMessage
from toolkit.models import ModelRequest, ModelResponse, ModelSettings, OpenAIChatModel, TextDelta, ToolCallDelta
from toolkit.models.servers import SERVERS

CLOSED: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
WEATHER = ToolDefinition("weather", "Get the weather.", CLOSED)
HELLO = UserMessage("Hi")


async def answered(answer: Any, request: ModelRequest | None = None, **made: Any) -> tuple[ModelResponse, Any]:
    """The response to an answer (a list: the chunks of a stream), and the body that was sent."""
    sent: list[Any] = []

    def respond(asked: httpx.Request) -> httpx.Response:
        sent.append(json.loads(asked.content))
        if isinstance(answer, list):
            content = sse(*answer, "[DONE]")
            return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=content)
        return httpx.Response(200, json=answer)

    request = request or ModelRequest([HELLO])
    async with httpx.AsyncClient(transport=httpx.MockTransport(respond)) as http:
        model = OpenAIChatModel("m", http=http, **{"base_url": "http://127.0.0.1/v1", **made})
        if not isinstance(answer, list):
            return await model.respond(request), sent[0]
        deltas = [delta async for delta in model.stream(request)]
    return deltas[-1].response, sent[0]  # type: ignore[union-attr]  # ModelDone is the last


# How pieces of calls are labelled


def label(arguments: str | None = None, **labels: Any) -> dict[str, Any]:
    """One piece; `name` stands in its function, other labels beside it."""
    function = {"arguments": arguments, **({"name": labels.pop("name")} if "name" in labels else {})}
    return {**labels, "function": function}


LABELS: dict[str, tuple[list[dict[str, Any]], list[tuple[str, str, str]]]] = {
    "null id and name later": (
        [label("", index=0, id="a", name="f"), label("{}", index=0, id=None, name=None)],
        [("a", "f", "{}")],
    ),
    "empty id and name later": (
        [label("{", index=0, id="a", name="f"), label("}", index=0, id="", name="")],
        [("a", "f", "{}")],
    ),
    "id and name in each piece": (
        [label("{", index=0, id="a", name="f"), label("}", index=0, id="a", name="f")],
        [("a", "f", "{}")],
    ),
    "no index": (
        [label("{", id="a", name="f"), label("}"), label("[", id="b", name="g"), label("]")],
        [("a", "f", "{}"), ("b", "g", "[]")],
    ),
    "one index for all": (
        [label("{}", index=0, id="a", name="f"), label("[", index=0, id="b", name="f"), label("]", index=0)],
        [("a", "f", "{}"), ("b", "f", "[]")],
    ),
    "one index for all, and pieces in turns": (
        [
            label("{", index=0, id="a", name="f"),
            label("[", index=0, id="b", name="g"),
            label("}", index=0, id="a"),
            label("]", index=0, id="b"),
        ],
        [("a", "f", "{}"), ("b", "g", "[]")],
    ),
    "indexes with gaps, from one": (
        [label("{}", index=1, id="a", name="f"), label("[]", index=4, id="b", name="g")],
        [("a", "f", "{}"), ("b", "g", "[]")],
    ),
    "the same id for two": (
        [label("{}", index=0, id="a", name="f"), label("[]", index=1, id="a", name="g")],
        [("a", "f", "{}"), ("a_2", "g", "[]")],
    ),
    "no ids": (
        [label("{}", index=0, id="", name="f"), label("[]", index=1, name="g")],
        [("call_1", "f", "{}"), ("call_2", "g", "[]")],
    ),
    "no name at all": ([label("{}", index=0, id="a"), label("[]", index=1, id="b", name="g")], [("b", "g", "[]")]),
    "null arguments": ([label(None, index=0, id="a", name="f")], [("a", "f", "")]),
}


@pytest.mark.parametrize(("pieces", "wanted"), LABELS.values(), ids=LABELS)
async def test_pieces_of_calls_are_put_together_however_they_are_labelled(
    pieces: list[dict[str, Any]], wanted: list[tuple[str, str, str]]
) -> None:
    chunks = [{"choices": [{"delta": {"tool_calls": [piece]}}]} for piece in pieces]

    response, _ = await answered([*chunks, {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}])

    assert [(call.id, call.name, call.arguments) for call in response.tool_calls] == wanted


# What is answered


def refused(generation: Any, code: str = "tool_use_failed") -> dict[str, Any]:
    """Groq's error about arguments that break a schema."""
    return {"error": {"message": "did not match schema", "code": code, "failed_generation": generation}}


CALL_REFUSED = refused('{"name": "weather", "arguments": {"town": "Oslo"}}')


@both_ways
async def test_a_call_that_the_server_refuses_for_its_arguments_is_told_to_the_model_like_any_other(
    is_streamed: bool,
) -> None:
    answers = [
        httpx.Response(400, json=CALL_REFUSED),
        httpx.Response(200, json={"choices": [{"message": {"content": "Done"}, "finish_reason": "stop"}]}),
    ]
    tool = Tool.define(name="weather", description="Get it.", handler=lambda arguments: "fine", input_schema=CLOSED)

    async with httpx.AsyncClient(transport=httpx.MockTransport(lambda _: answers.pop(0))) as http:
        model = OpenAIChatModel("m", http=http, server="groq", api_key="k")
        run = await ran(Agent(model, tools=[tool]), "Hi", is_streamed=is_streamed)

    assert run.response == "Done"
    assert [record.arguments for record in run.calls] == ['{"town":"Oslo"}']
    assert "'city' is a required property" in run.calls[0].result.content


async def test_a_refused_call_inside_a_stream_stands_behind_those_before_it() -> None:
    piece = label('{"city": "Rome"}', index=0, id="a", name="weather")

    response, _ = await answered([{"choices": [{"delta": {"tool_calls": [piece]}}]}, CALL_REFUSED])

    assert [(call.id, call.arguments) for call in response.tool_calls] == [
        ("a", '{"city": "Rome"}'),
        ("call_2", '{"town":"Oslo"}'),
    ]
    assert response.stop_reason == "tool_calls"


@pytest.mark.parametrize(
    "error",
    [
        *map(refused, ("", "no JSON", "[]", "{}", '{"name": ""}', '{"name": 5}', None, 5)),
        *map(refused, ('{"name": "f"}', '{"name": "f", "arguments": null}', '{"name": "f", "parameters": {"a": 1}}')),
        refused(CALL_REFUSED["error"]["failed_generation"], code="invalid_request_error"),
    ],
    ids=json.dumps,
)
@both_ways
async def test_a_refusal_without_a_call_in_it_is_an_error(error: dict[str, Any], is_streamed: bool) -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(400, json=error))
    async with httpx.AsyncClient(transport=transport) as http:
        model = OpenAIChatModel("m", http=http, server="groq", api_key="k")
        with pytest.raises(ProviderError, match="did not match schema"):
            await asked(model, ModelRequest([HELLO]), is_streamed=is_streamed)


THOUGHT = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm. "}]}
ANSWERS: dict[str, tuple[dict[str, Any], str, tuple[str, str, str]]] = {
    "text": ({"content": "Hello"}, "stop", ("Hello", "", "stop")),
    "Mistral's parts": ({"content": [THOUGHT, {"type": "text", "text": "Yes"}]}, "stop", ("Yes", "Hm. ", "stop")),
    "a refusal": ({"content": None, "refusal": "No."}, "stop", ("No.", "", "refusal")),
    "cut off": ({"content": "He"}, "length", ("He", "", "length")),
    "cut off by Mistral": ({"content": "He"}, "model_length", ("He", "", "length")),
    "filtered": ({"content": "He"}, "content_filter", ("He", "", "refusal")),
    "filtered by Z.ai": ({"content": ""}, "sensitive", ("", "", "refusal")),
    "an unknown end": ({"content": "He"}, "bored", ("He", "", "other")),
    "a call that ends with stop": (
        {"content": None, "tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}]},
        "stop",
        ("", "", "tool_calls"),
    ),
    "a call that is cut off": (
        {"content": None, "tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{"}}]},
        "length",
        ("", "", "length"),
    ),
}


@pytest.mark.parametrize("is_streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(("message", "finish", "wanted"), ANSWERS.values(), ids=ANSWERS)
async def test_an_answer_is_read(
    message: dict[str, Any], finish: str, wanted: tuple[str, str, str], is_streamed: bool
) -> None:
    whole = {"choices": [{"message": message, "finish_reason": finish}]}
    chunks = [{"choices": [{"delta": message}]}, {"choices": [{"delta": {}, "finish_reason": finish}]}]

    response, _ = await answered(chunks if is_streamed else whole)

    assert (response.text, response.reasoning, response.stop_reason) == wanted


# What each server is sent

DONE = {"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]}
END = [{"choices": [{"delta": {"content": "ok"}, "finish_reason": "stop"}]}]
HISTORY: list[Message] = [
    HELLO,
    AssistantMessage("", [ToolCall("call-1", "weather", '{"city": "Oslo"}')], "Hm."),
    ToolMessage("call-1", "weather", "Rain."),
]
SENT: dict[str, dict[str, Any]] = {  # the deviations from what most take; Mistral's id is the start of a SHA-256
    "openai": {"max": "max_completion_tokens", "strict": True},
    "azure": {"max": "max_completion_tokens", "strict": True},
    "openrouter": {"reasoning": "reasoning"},
    "groq": {"max": "max_completion_tokens"},
    "mistral": {"seed": "random_seed", "choice": "any", "usage": False, "id": "5d7963c4f"},
    "deepseek": {"reasoning": "reasoning_content", "parallel": False},
    "together": {},
    "zai": {"reasoning": "reasoning_content", "parallel": False, "choice": "auto"},
    "ollama": {"reasoning": "reasoning"},
    "lmstudio": {},
    "vllm": {"reasoning": "reasoning"},
    "llamacpp": {"reasoning": "reasoning_content"},
    "openai-compatible": {},
}


def test_every_server_is_in_the_table() -> None:
    assert [server.name for server in SERVERS] == list(SENT)


@pytest.mark.parametrize(("server", "differs"), SENT.items(), ids=SENT)
async def test_each_server_is_sent_what_it_takes(server: str, differs: dict[str, Any]) -> None:
    settings = ModelSettings(temperature=0, top_p=0, max_tokens=9, seed=0, stop=["."], parallel_tool_calls=False)
    request = ModelRequest(HISTORY, [WEATHER], settings, tool_choice="required")

    _, sent = await answered(END, request, server=server)

    call_id = differs.get("id", "call-1")
    call = {"id": call_id, "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
    assistant: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [call]}
    if "reasoning" in differs:
        assistant[differs["reasoning"]] = "Hm."
    function: dict[str, Any] = {"name": "weather", "description": "Get the weather.", "parameters": CLOSED}
    if "strict" in differs:
        function["strict"] = True
    wanted: dict[str, Any] = {
        "model": "m",
        "stream": True,
        "messages": [
            {"role": "user", "content": "Hi"},
            assistant,
            {"role": "tool", "tool_call_id": call_id, "content": "Rain."},
        ],
        "tools": [{"type": "function", "function": function}],
        "tool_choice": differs.get("choice", "required"),
        "temperature": 0,
        "top_p": 0,
        differs.get("max", "max_tokens"): 9,
        differs.get("seed", "seed"): 0,
        "stop": ["."],
    }
    if differs.get("usage", True):
        wanted["stream_options"] = {"include_usage": True}
    if differs.get("parallel", True):
        wanted["parallel_tool_calls"] = False
    assert sent == wanted


async def test_settings_that_say_nothing_send_nothing() -> None:
    _, sent = await answered(DONE, ModelRequest([HELLO], (), ModelSettings()))

    assert sent == {"model": "m", "stream": False, "messages": [{"role": "user", "content": "Hi"}]}


async def test_what_another_provider_keeps_in_a_message_is_not_sent() -> None:
    foreign = AssistantMessage("Hello", (), "", {"provider": "anthropic", "content": [{"type": "thinking"}]})

    _, sent = await answered(DONE, ModelRequest([HELLO, foreign, HELLO]))

    assert sent["messages"][1] == {"role": "assistant", "content": "Hello"}


# A typed answer from a server that has no way of its own for it


def final(*calls: tuple[str, str]) -> list[dict[str, Any]]:
    """The chunks of calls, each in two pieces."""
    chunks: list[dict[str, Any]] = []
    for index, (name, arguments) in enumerate(calls):
        for piece in (
            label(arguments[:4], index=index, id=f"c{index}", name=name),
            label(arguments[4:], index=index),
        ):
            chunks.append({"choices": [{"delta": {"tool_calls": [piece]}}]})
    return [*chunks, {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}]


OBJECT = '{"city": "Oslo"}'
LIST = {"type": "array", "items": {"type": "integer"}}
FINALS: dict[str, tuple[dict[str, Any], list[tuple[str, str]], str, list[str]]] = {
    "an object": (CLOSED, [("final_answer", OBJECT)], OBJECT, []),
    "a list": (LIST, [("final_answer", '{"value": [1, 2]}')], "[1,2]", []),
    "a list that is not where it belongs": (LIST, [("final_answer", '{"values": [1, 2]}')], "", []),
    "an object beside another call": (CLOSED, [("weather", OBJECT), ("final_answer", OBJECT)], "", ["weather"]),
    "a list beside another call": (LIST, [("weather", OBJECT), ("final_answer", '{"value": [1]}')], "", ["weather"]),
    "two answers": (LIST, [("final_answer", '{"value": [1]}'), ("final_answer", '{"value": [2]}')], "", []),
}


@pytest.mark.parametrize(("schema", "calls", "text", "others"), FINALS.values(), ids=FINALS)
async def test_a_final_call_is_the_answer_and_no_call_of_the_run(
    schema: dict[str, Any], calls: list[tuple[str, str]], text: str, others: list[str]
) -> None:
    request = ModelRequest([HELLO], [WEATHER], output_schema=schema)

    response, sent = await answered(final(*calls), request, server="groq")

    assert (response.text, [call.name for call in response.tool_calls]) == (text, others)
    assert [tool["function"]["name"] for tool in sent["tools"]] == ["weather", "final_answer"]
    assert sent["tool_choice"] == "required"
    assert "response_format" not in sent


@pytest.mark.parametrize("name", ["an object", "a list"])
async def test_the_pieces_of_a_final_answer_make_its_text(name: str) -> None:
    schema, calls, text, _ = FINALS[name]

    def respond(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=sse(*final(*calls), "[DONE]"))

    async with httpx.AsyncClient(transport=httpx.MockTransport(respond)) as http:
        model = OpenAIChatModel("m", http=http, base_url="http://127.0.0.1/v1", server="groq")
        request = ModelRequest([HELLO], [WEATHER], output_schema=schema)
        deltas = [delta async for delta in model.stream(request)]

    assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == text
    assert not [delta for delta in deltas if isinstance(delta, ToolCallDelta)]


async def test_a_name_that_comes_in_pieces_is_one_name() -> None:
    pieces = [label(index=0, id="a", name="wea"), label("{}", index=0, name="ther")]
    chunks = [{"choices": [{"delta": {"tool_calls": [piece]}}]} for piece in pieces]

    response, _ = await answered([*chunks, {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}])

    assert response.tool_calls == (ToolCall("a", "weather", "{}"),)


@pytest.mark.parametrize(
    ("own", "of_the_request", "wanted"),
    [(None, "required", "required"), ("none", "required", "required"), ("none", None, "none")],
)
async def test_the_tool_choice_of_settings_is_sent(own: Any, of_the_request: Any, wanted: str) -> None:
    request = ModelRequest([HELLO], [WEATHER], ModelSettings(tool_choice=of_the_request))

    _, sent = await answered(
        {"choices": [{"message": {"content": "x"}}]}, request, settings=ModelSettings(tool_choice=own)
    )

    assert sent["tool_choice"] == wanted


@pytest.mark.parametrize(
    ("schema", "sent_as"),
    [
        ({}, {"type": "object"}),
        ({"properties": {"x": {"type": "integer"}}}, {"type": "object", "properties": {"x": {"type": "integer"}}}),
        (
            {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "definitions": {"a": {}}},
            {"type": "object", "$defs": {"a": {}}},
        ),
    ],
    ids=["empty", "no type", "draft 7"],
)
async def test_a_schema_is_sent_as_one_of_an_object_in_todays_words(schema: Any, sent_as: Any) -> None:
    request = ModelRequest([HELLO], [ToolDefinition("t", "Do it.", schema)])

    _, sent = await answered({"choices": [{"message": {"content": "x"}}]}, request)

    assert sent["tools"][0]["function"]["parameters"] == sent_as


async def test_a_short_key_does_not_make_errors_unreadable() -> None:
    error = {"error": {"message": "maximum context length, key x", "code": "context_length_exceeded"}}
    async with httpx.AsyncClient(transport=httpx.MockTransport(lambda _: httpx.Response(400, json=error))) as http:
        with pytest.raises(ContextLengthError) as caught:
            await OpenAIChatModel("m", http=http, api_key="x").respond(ModelRequest([HELLO]))

    assert "maximum context length, key [hidden]" in str(caught.value)
    assert caught.value.code == "context_length_exceeded"
