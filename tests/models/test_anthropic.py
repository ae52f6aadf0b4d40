"""`AnthropicModel` by values: what it sends, and what it makes of answers, whole and streamed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.http.loopback import Reply, serving
from tests.models.asking import answered, both_ways, ran
from toolkit import Agent, Tool
from toolkit.errors import (
    AuthenticationError,
    BadRequestError,
    BrokenStreamError,
    ContextLengthError,
    OverloadedError,
    ProviderError,
    RateLimitError,
    UnexpectedReplyError,
)
from toolkit.messages import (
    AssistantMessage,
    DocumentPart,
    ImagePart,
    Message,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    Usage,
    UserMessage,
    messages_from_json,
    messages_to_json,
)
from toolkit.models import AnthropicModel, ModelDelta, ModelDone, ModelRequest, ModelResponse, ModelSettings, TextDelta

HELLO = UserMessage("Hello")
CLOSED = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CLOSED = {**CLOSED, "additionalProperties": False}
WEATHER = ToolDefinition("weather", "The weather of a city.", CLOSED)
ANSWER = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "degrees": {"type": "integer", "minimum": -90}},
    "required": ["city", "degrees"],
}
FREE = {"type": "object", "additionalProperties": {"type": "integer"}}  # no grammar holds any names
NAME = "claude-sonnet-4-6"


def answer(*content: dict[str, Any], stop: str = "end_turn", **fields: Any) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-of-the-server",
        "content": list(content),
        "stop_reason": stop,
        "usage": {"input_tokens": 3, "output_tokens": 5},
        **fields,
    }


def text(said: str, **fields: Any) -> dict[str, Any]:
    return {"type": "text", "text": said, **fields}


def use(id: str, name: str, arguments: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": arguments, **fields}


THOUGHT = {"type": "thinking", "thinking": "Rain, probably.", "signature": "c2ln"}
HIDDEN = {"type": "redacted_thinking", "data": "ZW5jcnlwdGVk"}
SEARCH = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "rain"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [{"type": "web_search_result"}]}


def events_of(message: dict[str, Any], cut: int = 3) -> list[dict[str, Any]]:
    """The events of a stream that says what the whole message says, texts in pieces of `cut` characters."""
    begun = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": begun}, {"type": "ping"}]
    for index, block in enumerate(message["content"]):
        start, deltas = dict(block), []
        if "input" in block and block["input"] != {}:
            start["input"] = {}
            pieces = pieces_of(json.dumps(block["input"]), cut)
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ["", *pieces]]
        for kind in ("text", "thinking"):
            if block["type"] == kind:
                start[kind] = ""
                deltas = [{"type": f"{kind}_delta", kind: piece} for piece in pieces_of(block[kind], cut)]
        if "signature" in start:
            deltas.append({"type": "signature_delta", "signature": start.pop("signature")})
        deltas += [{"type": "citations_delta", "citation": one} for one in start.pop("citations", ())]
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    ending = {name: message.get(name) for name in ("stop_reason", "stop_details", "container")}
    told = {name: count for name, count in message["usage"].items() if name != "input_tokens"}
    events.append({"type": "message_delta", "delta": ending, "usage": told})
    return [*events, {"type": "a_kind_of_2030", "index": 0}, {"type": "message_stop"}]


def pieces_of(said: str, cut: int) -> list[str]:
    return [said[start : start + cut] for start in range(0, len(said), cut)]


def stream_of(events: Iterable[dict[str, Any]]) -> str:
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


def reply_of(message: dict[str, Any], is_streamed: bool) -> Reply:
    if not is_streamed:
        return Reply(message)
    return Reply(stream_of(events_of(message)), headers={"Content-Type": "text/event-stream"})


@dataclass
class Asked:
    response: ModelResponse
    deltas: list[ModelDelta]
    bodies: list[dict[str, Any]]


async def ask(http: Any, request: ModelRequest, *replies: Reply, name: str = NAME, is_streamed: bool = False) -> Asked:
    async with serving(replies or [Reply(answer(text("Hi")))]) as server:
        model = AnthropicModel(name, http=http, base_url=server.url)
        response, deltas = await answered(model, request, is_streamed=is_streamed)
    return Asked(response, deltas, [json.loads(request.body) for request in server.requests])


# What is sent


async def test_the_key_and_the_version_go_into_headers_of_their_own(http: Any) -> None:
    async with serving(Reply(answer(text("Hi")))) as server:
        model = AnthropicModel(NAME, http=http, base_url=server.url, api_key="k-1")
        await model.respond(ModelRequest([HELLO]))

    (request,) = server.requests
    assert request.path == "/messages"
    assert (request.headers["x-api-key"], request.headers["anthropic-version"]) == ("k-1", "2023-06-01")
    assert "anthropic-beta" not in request.headers


async def test_no_more_is_sent_than_has_to_be(http: Any) -> None:
    asked = await ask(http, ModelRequest([HELLO]))

    hello = {"role": "user", "content": [text("Hello")]}
    assert asked.bodies == [{"model": NAME, "max_tokens": 16_384, "messages": [hello], "stream": False}]


CALLED = AssistantMessage("", [ToolCall("c1", "weather", '{"city": "Oslo"}')])
PNG = {"type": "base64", "media_type": "image/png", "data": "AQ=="}

CONVERSATIONS: dict[str, tuple[list[Message], list[Any]]] = {
    "users in a row are one turn": ([HELLO, UserMessage("you")], [("user", [text("Hello"), text("you")])]),
    "blank texts are left out": (
        [UserMessage([TextPart(" "), TextPart("Hello")]), AssistantMessage(" \n"), UserMessage("you")],
        [("user", [text("Hello"), text("you")])],
    ),
    "a blank prompt is said to be one": ([UserMessage("")], [("user", [text("(no text)")])]),
    "the first turn is the user's": (
        [AssistantMessage("Welcome"), HELLO],
        [("user", [text("(no text)")]), ("assistant", [text("Welcome")]), ("user", [text("Hello")])],
    ),
    "results come first, and in one turn": (
        [
            HELLO,
            AssistantMessage("Let me see", [ToolCall("c1", "weather", "{}"), ToolCall("c2", "weather", {"city": "x"})]),
            UserMessage("quick"),
            ToolMessage("c1", "weather", "sun"),
            ToolMessage("c2", "weather", "rain", is_error=True),
        ],
        [
            ("user", [text("Hello")]),
            ("assistant", [text("Let me see"), use("c1", "weather", {}), use("c2", "weather", {"city": "x"})]),
            (
                "user",
                [
                    {"type": "tool_result", "tool_use_id": "c1", "content": "sun"},
                    {"type": "tool_result", "tool_use_id": "c2", "content": "rain", "is_error": True},
                    text("quick"),
                ],
            ),
        ],
    ),
    "images and documents": (
        [
            UserMessage(
                [
                    ImagePart(data=b"\x01"),
                    ImagePart(url="https://example.com/a.gif", media_type="image/gif"),
                    ImagePart(url="data:image/png;base64,AQ=="),
                    DocumentPart(data=b"%PDF"),
                    DocumentPart(url="https://example.com/a.pdf"),
                    DocumentPart(data=b"{}", media_type="application/json"),
                    DocumentPart(data=b"\xff", media_type="application/msword"),
                ]
            )
        ],
        [
            (
                "user",
                [
                    {"type": "image", "source": PNG},
                    {"type": "image", "source": {"type": "url", "url": "https://example.com/a.gif"}},
                    {"type": "image", "source": PNG},
                    {
                        "type": "document",
                        "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="},
                    },
                    {"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}},
                    {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "{}"}},
                    {
                        "type": "document",
                        "source": {"type": "base64", "media_type": "application/msword", "data": "/w=="},
                    },
                ],
            )
        ],
    ),
    "media of tools stand in the result, and behind one that is an error": (
        [
            HELLO,
            AssistantMessage("", [ToolCall("c1", "map", "{}"), ToolCall("c2", "map", ""), ToolCall("c3", "map", "{}")]),
            ToolMessage("c1", "map", "Oslo", media=[ImagePart(data=b"\x01")]),
            ToolMessage("c2", "map", " ", is_error=True, media=[ImagePart(data=b"\x01")]),
            ToolMessage("c3", "map", "", media=[ImagePart(data=b"\x01")]),
        ],
        [
            ("user", [text("Hello")]),
            ("assistant", [use("c1", "map", {}), use("c2", "map", {}), use("c3", "map", {})]),
            (
                "user",
                [
                    {
                        "type": "tool_result",
                        "tool_use_id": "c1",
                        "content": [text("Oslo"), {"type": "image", "source": PNG}],
                    },
                    {"type": "tool_result", "tool_use_id": "c2", "content": "(no text)", "is_error": True},
                    {"type": "tool_result", "tool_use_id": "c3", "content": [{"type": "image", "source": PNG}]},
                    {"type": "image", "source": PNG},
                ],
            ),
        ],
    ),
    "ids of another provider that are refused here": (
        [HELLO, AssistantMessage("", [ToolCall("a.b:0", "w", "{}")]), ToolMessage("a.b:0", "w", "sun")],
        [
            ("user", [text("Hello")]),
            ("assistant", [use("a_b_0_3cd44bcb2626", "w", {})]),
            ("user", [{"type": "tool_result", "tool_use_id": "a_b_0_3cd44bcb2626", "content": "sun"}]),
        ],
    ),
}


@pytest.mark.parametrize(("messages", "wanted"), CONVERSATIONS.values(), ids=CONVERSATIONS)
async def test_a_conversation_is_written_as_turns(messages: list[Message], wanted: list[Any], http: Any) -> None:
    asked = await ask(http, ModelRequest(messages))

    assert [(turn["role"], turn["content"]) for turn in asked.bodies[0]["messages"]] == wanted


async def test_system_messages_go_into_system_wherever_they_stand(http: Any) -> None:
    messages = [
        SystemMessage("Be kind."),
        HELLO,
        SystemMessage(" "),
        AssistantMessage("Hi"),
        SystemMessage("Be brief."),
    ]

    asked = await ask(http, ModelRequest([*messages, UserMessage("So?")]))

    assert asked.bodies[0]["system"] == [text("Be kind."), text("Be brief.")]
    assert [turn["role"] for turn in asked.bodies[0]["messages"]] == ["user", "assistant", "user"]


BUDGET = {"thinking": {"type": "enabled", "budget_tokens": 2000}}
ADAPTIVE = {"thinking": {"type": "adaptive"}}
ALL = ModelSettings(temperature=0.0, top_p=0.0, max_tokens=0, stop=("END",), seed=0, parallel_tool_calls=False)

SETTINGS: dict[str, tuple[str, ModelSettings, dict[str, Any]]] = {
    "zero is kept": (
        NAME,
        ALL,
        {"temperature": 0.0, "top_p": 0.0, "max_tokens": 0, "stop_sequences": ["END"], "seed": None},
    ),
    "no sampling": ("claude-opus-4-7", ALL, {"temperature": None, "top_p": None, "max_tokens": 0}),
    "an old model": ("claude-3-haiku-20240307", ModelSettings(), {"max_tokens": 4096}),
    "room beside thinking": (NAME, ModelSettings(extra=BUDGET), {"max_tokens": 18_384, **BUDGET}),
    "anything else": (NAME, ModelSettings(extra={"metadata": {"user_id": "u"}}), {"metadata": {"user_id": "u"}}),
}


@pytest.mark.parametrize(("name", "given", "wanted"), SETTINGS.values(), ids=SETTINGS)
async def test_settings_are_sent_as_the_model_takes_them(
    name: str, given: ModelSettings, wanted: dict[str, Any], http: Any
) -> None:
    asked = await ask(http, ModelRequest([HELLO], settings=given), name=name)

    assert {field: asked.bodies[0].get(field) for field in wanted} == wanted


CHOICES: dict[str, tuple[str | None, ModelSettings | None, str, Any]] = {
    "left out": (None, None, NAME, None),
    "auto": ("auto", None, NAME, {"type": "auto"}),
    "none": ("none", ModelSettings(parallel_tool_calls=False), NAME, {"type": "none"}),
    "required": ("required", None, NAME, {"type": "any"}),
    "a tool": (
        "weather",
        ModelSettings(parallel_tool_calls=False),
        NAME,
        {"type": "tool", "name": "weather", "disable_parallel_tool_use": True},
    ),
    "one at a time": (
        None,
        ModelSettings(parallel_tool_calls=False),
        NAME,
        {"type": "auto", "disable_parallel_tool_use": True},
    ),
    "many at a time": (
        "required",
        ModelSettings(parallel_tool_calls=True),
        NAME,
        {"type": "any", "disable_parallel_tool_use": False},
    ),
    "forced while thinking": ("required", ModelSettings(extra=BUDGET), NAME, {"type": "auto"}),
    "forced while it may think": ("weather", ModelSettings(extra=ADAPTIVE), NAME, {"type": "tool", "name": "weather"}),
    "forced where that is refused": ("required", None, "claude-opus-5-5", {"type": "auto"}),
    "none while thinking": ("none", ModelSettings(extra=BUDGET), NAME, {"type": "none"}),
}


@pytest.mark.parametrize(("choice", "given", "name", "wanted"), CHOICES.values(), ids=CHOICES)
async def test_the_choice_of_tools_is_written(
    choice: str | None, given: ModelSettings | None, name: str, wanted: Any, http: Any
) -> None:
    asked = await ask(http, ModelRequest([HELLO], [WEATHER], given, tool_choice=choice), name=name)

    assert asked.bodies[0].get("tool_choice") == wanted


async def test_a_choice_without_tools_is_not_sent(http: Any) -> None:
    asked = await ask(http, ModelRequest([HELLO], tool_choice="required", settings=ALL))

    assert not {"tool_choice", "tools"} & asked.bodies[0].keys()


async def test_a_history_with_calls_brings_its_tools_when_the_request_has_none(http: Any) -> None:
    messages = [HELLO, CALLED, ToolMessage("c1", "weather", "sun"), UserMessage("So?")]

    asked = await ask(http, ModelRequest(messages, tool_choice="none"))

    assert asked.bodies[0]["tools"] == [{"name": "weather", "input_schema": {"type": "object"}}]
    assert asked.bodies[0]["tool_choice"] == {"type": "none"}


async def test_tools_in_extra_are_not_forbidden_by_a_history_with_calls(http: Any) -> None:
    messages = [HELLO, CALLED, ToolMessage("c1", "weather", "sun")]
    tools = [{"type": "web_search_20250305", "name": "web_search"}]

    asked = await ask(http, ModelRequest(messages, settings=ModelSettings(extra={"tools": tools})))

    assert asked.bodies[0]["tools"] == tools
    assert "tool_choice" not in asked.bodies[0]


async def test_tools_are_described_and_held_to_their_schemas_where_that_can_be(http: Any) -> None:
    open_tool = ToolDefinition("open.tool", "Opens.", {"type": "object", "properties": {"a": {}}})

    asked = await ask(http, ModelRequest([HELLO], [WEATHER, open_tool]))

    assert asked.bodies[0]["tools"] == [
        {"name": "weather", "description": "The weather of a city.", "input_schema": CLOSED, "strict": True},
        {
            "name": "open_tool_e6b9daf89228",
            "description": "Opens.",
            "input_schema": {"type": "object", "properties": {"a": {}}},
        },
    ]


async def test_no_more_than_twenty_tools_are_strict_and_none_where_told_so(http: Any) -> None:
    tools = [ToolDefinition(f"t{number}", "A tool.", CLOSED) for number in range(25)]
    async with serving(Reply(answer(text("Hi")))) as server:
        for strict in (True, False):
            model = AnthropicModel(NAME, http=http, base_url=server.url, strict=strict)
            await model.respond(ModelRequest([HELLO], tools))

    counts = [sum("strict" in tool for tool in json.loads(request.body)["tools"]) for request in server.requests]
    assert counts == [20, 0]


# Typed answers


@both_ways
async def test_an_answers_schema_goes_the_native_way_beside_tools_and_effort(is_streamed: bool, http: Any) -> None:
    given = ModelSettings(extra={"output_config": {"effort": "low"}})
    reply = reply_of(answer(text('{"city": "Oslo", "degrees": 3}')), is_streamed)

    asked = await ask(http, ModelRequest([HELLO], [WEATHER], given, ANSWER), reply, is_streamed=is_streamed)

    held = {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "degrees": {"type": "integer", "description": "(minimum: -90)"},
        },
        "required": ["city", "degrees"],
        "additionalProperties": False,
    }
    assert asked.bodies[0]["output_config"] == {"effort": "low", "format": {"type": "json_schema", "schema": held}}
    assert "tool_choice" not in asked.bodies[0]
    assert asked.response.text == '{"city": "Oslo", "degrees": 3}'


FINAL: dict[str, tuple[str, dict[str, Any], ModelSettings | None, Any]] = {
    "a schema that no grammar holds": (NAME, FREE, None, {"type": "tool", "name": "final_answer"}),
    "a model without a grammar": ("claude-opus-4-1", ANSWER, None, {"type": "tool", "name": "final_answer"}),
    "another server's model": ("glm-5", ANSWER, None, {"type": "tool", "name": "final_answer"}),
    "while thinking": (NAME, FREE, ModelSettings(extra=BUDGET), {"type": "auto"}),
}


@both_ways
@pytest.mark.parametrize(("name", "schema", "given", "choice"), FINAL.values(), ids=FINAL)
async def test_an_answers_schema_becomes_a_final_tool_elsewhere(
    name: str, schema: dict[str, Any], given: ModelSettings | None, choice: Any, is_streamed: bool, http: Any
) -> None:
    reply = reply_of(answer(use("c1", "final_answer", {"a": 1}), stop="tool_use"), is_streamed)

    asked = await ask(http, ModelRequest([HELLO], (), given, schema), reply, name=name, is_streamed=is_streamed)

    assert asked.bodies[0]["tools"][0]["name"] == "final_answer"
    assert asked.bodies[0]["tool_choice"] == choice
    assert "output_config" not in asked.bodies[0]
    assert (json.loads(asked.response.text), asked.response.tool_calls) == ({"a": 1}, ())


# What comes back

CITED = {"type": "char_location", "cited_text": "rain", "document_title": None, "file_id": None}
USAGE = {
    "input_tokens": 10,
    "cache_creation_input_tokens": 200,
    "cache_read_input_tokens": 3000,
    "output_tokens": 40,
    "output_tokens_details": {"thinking_tokens": 7},
}


def responded(*, data: Any = None, **fields: Any) -> ModelResponse:
    if data is not None:
        data = {"provider": "anthropic", **data}
    return ModelResponse(**{"usage": Usage(3, 5), "model": "claude-of-the-server", "provider_data": data, **fields})


CALL = ToolCall("c1", "weather", '{"city": "Oslo"}')
REPLIES: dict[str, tuple[dict[str, Any], ModelResponse]] = {
    "text": (answer(text("Grüß dich 👋")), responded(text="Grüß dich 👋")),
    "texts": (answer(text("Hel"), text("lo")), responded(text="Hello")),
    "calls": (
        answer(text("Well"), use("c1", "weather", {"city": "Oslo"}), use("c2", "now", {}), stop="tool_use"),
        responded(text="Well", tool_calls=(CALL, ToolCall("c2", "now", "{}"))),
    ),
    "calls of the same id, and of none": (
        answer(use("c1", "now", {}), use("c1", "now", {}), use("", "now", {}), stop="tool_use"),
        responded(
            tool_calls=(ToolCall("c1", "now", "{}"), ToolCall("c1_2", "now", "{}"), ToolCall("call_3", "now", "{}"))
        ),
    ),
    "a call that ends with end_turn": (
        answer(use("c1", "weather", {"city": "Oslo"})),
        responded(tool_calls=(CALL,), stop_reason="tool_calls"),
    ),
    "called directly": (
        answer(use("c1", "weather", {"city": "Oslo"}, caller={"type": "direct"}), stop="tool_use"),
        responded(tool_calls=(CALL,)),
    ),
    "called from the API's own code": (
        answer(
            {**SEARCH, "name": "code_execution"},
            use("c1", "weather", {"city": "Oslo"}, caller={"type": "code", "tool_id": "srv_1"}),
            stop="tool_use",
            container={"id": "box_1", "expires_at": "2026-12-01"},
        ),
        responded(
            tool_calls=(CALL,),
            data={
                "content": [
                    {**SEARCH, "name": "code_execution"},
                    {"type": "tool_use", "caller": {"type": "code", "tool_id": "srv_1"}},
                ],
                "container": "box_1",
            },
        ),
    ),
    "thinking": (
        answer(THOUGHT, HIDDEN, text("Rain."), use("c1", "weather", {"city": "Oslo"}), stop="tool_use"),
        responded(
            text="Rain.",
            reasoning="Rain, probably.",
            tool_calls=(CALL,),
            data={"content": [THOUGHT, HIDDEN, text("Rain."), {"type": "tool_use"}]},
        ),
    ),
    "tools of its own, and citations": (
        answer(SEARCH, FOUND, text("rain", citations=[CITED])),
        responded(
            text="rain",
            data={
                "content": [
                    SEARCH,
                    FOUND,
                    text("rain", citations=[{name: CITED[name] for name in CITED if name != "file_id"}]),
                ]
            },
        ),
    ),
    "a kind of block that nobody knows": (
        answer({"type": "hologram", "data": 1}, text("Hi")),
        responded(text="Hi", data={"content": [{"type": "hologram", "data": 1}, text("Hi")]}),
    ),
    "refused": (
        answer(THOUGHT, use("c1", "weather", {}), stop="refusal", stop_details={"type": "refusal", "category": "bio"}),
        responded(
            stop_reason="refusal",
            reasoning="Rain, probably.",
            data={"stop_details": {"type": "refusal", "category": "bio"}},
        ),
    ),
    "refused without a reason": (answer(text("I"), stop="refusal"), responded(text="I", stop_reason="refusal")),
    "cut off": (answer(text("I"), stop="max_tokens"), responded(text="I", stop_reason="length")),
    "cut off while it thought or searched": (
        answer({"type": "thinking", "thinking": "So"}, SEARCH, stop="max_tokens"),
        responded(reasoning="So", stop_reason="length"),
    ),
    "too long": (
        answer(text("I"), stop="model_context_window_exceeded"),
        responded(text="I", stop_reason="length"),
    ),
    "stopped by a word": (answer(text("I"), stop="stop_sequence"), responded(text="I", stop_reason="stop")),
    "stopped by what nobody knows": (answer(text("I"), stop="boredom"), responded(text="I", stop_reason="other")),
    "usage": (answer(text("I"), usage=USAGE), responded(text="I", usage=Usage(3210, 40, 3000, 7))),
}


@both_ways
@pytest.mark.parametrize(("message", "wanted"), REPLIES.values(), ids=REPLIES)
async def test_an_answer_is_read(message: dict[str, Any], wanted: ModelResponse, is_streamed: bool, http: Any) -> None:
    asked = await ask(http, ModelRequest([HELLO]), reply_of(message, is_streamed), is_streamed=is_streamed)

    assert asked.response == wanted
    if is_streamed:
        assert "".join(delta.text for delta in asked.deltas if isinstance(delta, TextDelta)) == wanted.text


async def test_arguments_stay_as_they_were_written(http: Any) -> None:
    written = json.dumps(answer(use("c1", "weather", "HERE"), stop="tool_use")).replace('"HERE"', '{"a": 1e400}')

    asked = await ask(http, ModelRequest([HELLO]), Reply(written))

    assert asked.response.tool_calls == (ToolCall("c1", "weather", '{"a": 1e400}'),)


async def test_a_call_may_begin_with_its_arguments(http: Any) -> None:
    events = events_of(answer(use("c1", "weather", {}), stop="tool_use"))
    for event in events:
        if event["type"] == "content_block_start":
            event["content_block"]["input"] = {"city": "Oslo"}

    reply = Reply(stream_of(events), headers={"Content-Type": "text/event-stream"})
    asked = await ask(http, ModelRequest([HELLO]), reply, is_streamed=True)

    assert json.loads(asked.response.tool_calls[0].arguments) == {"city": "Oslo"}  # type: ignore[arg-type]


EVENTS = events_of(REPLIES["thinking"][0], cut=2)
BYTES = stream_of([*EVENTS[:3], {"type": "ping"}, *EVENTS[3:]]).encode()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, len(BYTES)), max_size=30))
def test_a_stream_cut_anywhere_gives_the_same_answer(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(BYTES)]
    chunks = [BYTES[start:end] for start, end in pairwise(edges)]

    class Chunks(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            for chunk in chunks:
                yield chunk

    def respond(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=Chunks())

    async def responses() -> list[ModelResponse]:
        async with httpx.AsyncClient(transport=httpx.MockTransport(respond)) as http:
            model = AnthropicModel(NAME, http=http, api_key="k")
            return [d.response async for d in model.stream(ModelRequest([HELLO])) if isinstance(d, ModelDone)]

    assert asyncio.run(responses()) == [REPLIES["thinking"][1]]


# What goes back

THINKING = REPLIES["thinking"][1]


def said(response: ModelResponse, **changed: Any) -> AssistantMessage:
    fields = {"text": response.text, "tool_calls": response.tool_calls, "provider_data": response.provider_data}
    return AssistantMessage(**{**fields, **changed})


RENAMED = ToolCall("c9", "weather", {"city": "Bergen"})
BACK: dict[str, tuple[AssistantMessage, list[dict[str, Any]]]] = {
    "as it came": (said(THINKING), [THOUGHT, HIDDEN, text("Rain."), use("c1", "weather", {"city": "Oslo"})]),
    "with the message's own calls": (
        said(THINKING, tool_calls=[RENAMED]),
        [THOUGHT, HIDDEN, text("Rain."), use("c9", "weather", {"city": "Bergen"})],
    ),
    "not with another number of calls": (said(THINKING, tool_calls=[]), [text("Rain.")]),
    "not with another text": (
        said(THINKING, text="Sun."),
        [text("Sun."), use("c1", "weather", {"city": "Oslo"})],
    ),
    "not from another provider": (
        said(THINKING, provider_data={**(THINKING.provider_data or {}), "provider": "openai"}),
        [text("Rain."), use("c1", "weather", {"city": "Oslo"})],
    ),
    "not from nonsense": (
        said(THINKING, provider_data={"provider": "anthropic", "content": "?"}),
        [text("Rain."), use("c1", "weather", {"city": "Oslo"})],
    ),
    "who called": (
        said(REPLIES["called from the API's own code"][1]),
        [
            {**SEARCH, "name": "code_execution"},
            use("c1", "weather", {"city": "Oslo"}, caller={"type": "code", "tool_id": "srv_1"}),
        ],
    ),
}


@pytest.mark.parametrize(("message", "wanted"), BACK.values(), ids=BACK)
async def test_what_the_api_wants_back_goes_back_also_through_json(
    message: AssistantMessage, wanted: list[dict[str, Any]], http: Any
) -> None:
    results = [ToolMessage(call.id, call.name, "sun") for call in message.tool_calls]
    kept = messages_from_json(messages_to_json([HELLO, message, *results, UserMessage("So?")]))

    asked = await ask(http, ModelRequest(kept, [WEATHER]))

    assert asked.bodies[0]["messages"][1] == {"role": "assistant", "content": wanted}
    has_container = "container" in (message.provider_data or {})
    assert asked.bodies[0].get("container") == ("box_1" if has_container else None)


class WeatherTool(Tool):
    """The weather of a city."""

    name = "weather"

    def handler(self, city: str) -> str:
        return f"sun in {city}"


@both_ways
async def test_a_run_sends_its_thinking_back_beside_the_calls(is_streamed: bool, http: Any) -> None:
    replies = [reply_of(REPLIES["thinking"][0], is_streamed), reply_of(answer(text("Sun.")), is_streamed)]
    async with serving(replies) as server:
        agent = Agent(AnthropicModel(NAME, http=http, base_url=server.url), tools=[WeatherTool])
        run = await ran(agent, "Weather?", is_streamed=is_streamed)

    assert run.response == "Sun."
    assert json.loads(server.requests[1].body)["messages"][1:] == [
        {"role": "assistant", "content": BACK["as it came"][1]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "sun in Oslo"}]},
    ]


async def test_a_model_that_binds_its_thinking_may_drop_what_no_longer_fits(http: Any) -> None:
    messages = [HELLO, said(THINKING), ToolMessage("c1", "weather", "sun")]
    async with serving(Reply(answer(text("Hi")))) as server:
        model = AnthropicModel("claude-opus-5-5", http=http, base_url=server.url)
        for asked, extra in ((messages, None), ([HELLO], None), (messages, {"thinking": {"type": "disabled"}})):
            await model.respond(ModelRequest(asked, [WEATHER], ModelSettings(extra=extra)))

    assert {request.headers["anthropic-beta"] for request in server.requests} == {
        "thinking-binding-controls-2026-08-01"
    }
    assert [json.loads(request.body).get("thinking") for request in server.requests] == [
        {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}},
        None,
        {"type": "disabled"},
    ]


# A turn that the API pauses

PAUSED = answer(text("Let me see. "), SEARCH, stop="pause_turn")


@both_ways
async def test_a_paused_turn_is_continued_as_one_answer(is_streamed: bool, http: Any) -> None:
    resumed = answer(FOUND, text("Rain."), use("c1", "weather", {"city": "Oslo"}), stop="tool_use")
    replies = [reply_of(PAUSED, is_streamed), reply_of(resumed, is_streamed)]

    asked = await ask(http, ModelRequest([HELLO], [WEATHER]), *replies, is_streamed=is_streamed)

    assert asked.bodies[1]["messages"][1:] == [{"role": "assistant", "content": [text("Let me see. "), SEARCH]}]
    content = [text("Let me see. "), SEARCH, FOUND, text("Rain."), {"type": "tool_use"}]
    assert asked.response == responded(
        text="Let me see. Rain.", tool_calls=(CALL,), usage=Usage(6, 10), data={"content": content}
    )
    if is_streamed:
        assert sum(isinstance(delta, ModelDone) for delta in asked.deltas) == 1


@both_ways
@pytest.mark.parametrize(
    ("later", "stop_reason", "data"),
    [
        (answer(text("Rain.")), "stop", {"content": [text("Let me see. "), SEARCH, text("Rain.")]}),
        (answer(text("Rain."), stop="refusal"), "refusal", None),
    ],
    ids=["text", "refused"],
)
async def test_a_paused_turn_ends_as_what_follows_it(
    later: dict[str, Any], stop_reason: Any, data: Any, is_streamed: bool, http: Any
) -> None:
    replies = [reply_of(PAUSED, is_streamed), reply_of(later, is_streamed)]

    asked = await ask(http, ModelRequest([HELLO]), *replies, is_streamed=is_streamed)

    assert asked.response == responded(text="Let me see. Rain.", stop_reason=stop_reason, usage=Usage(6, 10), data=data)


@both_ways
async def test_a_turn_that_is_paused_without_end_is_given_as_it_is(is_streamed: bool, http: Any) -> None:
    replies = [reply_of(PAUSED, is_streamed)] * 20

    asked = await ask(http, ModelRequest([HELLO]), *replies, is_streamed=is_streamed)

    assert len(asked.bodies) == 11
    assert (asked.response.stop_reason, asked.response.text) == ("other", "Let me see. " * 11)
    later = await ask(http, ModelRequest([HELLO, said(asked.response), UserMessage("So?")]))
    assert later.bodies[0]["messages"][1]["content"] == [text("Let me see. ")] * 11  # what nobody finished is refused


# What goes wrong


def error(kind: str, words: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": words}, "request_id": "req_1"}


ERRORS: dict[str, tuple[int, dict[str, Any], type[ProviderError], bool]] = {
    "key": (401, error("authentication_error", "invalid x-api-key"), AuthenticationError, False),
    "permission": (403, error("permission_error", "no"), AuthenticationError, False),
    "billing": (402, error("billing_error", "pay"), RateLimitError, False),
    "model": (404, error("not_found_error", "model: claude-9"), BadRequestError, False),
    "request": (400, error("invalid_request_error", "max_tokens: Field required"), BadRequestError, False),
    "size": (413, error("request_too_large", "Request exceeds the maximum size"), BadRequestError, False),
    "prompt": (400, error("invalid_request_error", "prompt is too long: 9 > 8"), ContextLengthError, False),
    "prompt and answer": (
        400,
        error("invalid_request_error", "input length and `max_tokens` exceed context limit: 8 + 1 > 8"),
        ContextLengthError,
        False,
    ),
    "rate": (429, error("rate_limit_error", "slow down"), RateLimitError, True),
    "server": (500, error("api_error", "Internal server error"), OverloadedError, True),
    "timeout": (504, error("timeout_error", "too slow"), OverloadedError, True),
    "overloaded": (529, error("overloaded_error", "Overloaded"), OverloadedError, True),
}


@pytest.mark.parametrize(("status", "body", "kind", "is_temporary"), ERRORS.values(), ids=ERRORS)
async def test_an_error_has_its_kind_whether_it_is_a_status_or_stands_in_a_stream(
    status: int, body: dict[str, Any], kind: type[ProviderError], is_temporary: bool, http: Any
) -> None:
    begun = stream_of([*events_of(answer(text("Hello there")))[:5], body])
    in_stream = Reply(begun, headers={"Content-Type": "text/event-stream"})

    for reply, is_streamed in ((Reply(body, status), False), (Reply(body, status), True), (in_stream, True)):
        with pytest.raises(kind) as caught:
            await ask(http, ModelRequest([HELLO]), reply, is_streamed=is_streamed)

        assert type(caught.value) is kind
        assert (caught.value.provider, caught.value.code) == ("anthropic", body["error"]["type"])
        assert (caught.value.request_id, caught.value.is_temporary) == ("req_1", is_temporary)


async def test_an_error_with_status_200_is_one(http: Any) -> None:
    with pytest.raises(OverloadedError):
        await ask(http, ModelRequest([HELLO]), Reply(error("overloaded_error", "Overloaded")))


BROKEN: dict[str, tuple[bytes | str, type[ProviderError]]] = {
    "nothing": ("", BrokenStreamError),
    "an end in the middle": (stream_of(events_of(answer(text("Hello there")))[:6]), BrokenStreamError),
    "junk": ("data: {]\n\n", UnexpectedReplyError),
    "no object": ("data: []\n\n", UnexpectedReplyError),
    "a piece of nothing": (
        stream_of([{"type": "content_block_delta", "index": 4, "delta": {"type": "text_delta", "text": "x"}}]),
        UnexpectedReplyError,
    ),
}


@pytest.mark.parametrize(("body", "kind"), BROKEN.values(), ids=BROKEN)
async def test_a_stream_that_is_none_is_an_error(body: str, kind: type[ProviderError], http: Any) -> None:
    reply = Reply(body, headers={"Content-Type": "text/event-stream"})

    with pytest.raises(kind):
        await ask(http, ModelRequest([HELLO]), reply, is_streamed=True)


@pytest.mark.parametrize("body", ["{]", "[]", "{}", '{"content": 1}', b"\xff"], ids=repr)
async def test_a_reply_that_is_no_message_is_an_error(body: Any, http: Any) -> None:
    with pytest.raises(UnexpectedReplyError):
        await ask(http, ModelRequest([HELLO]), Reply(body))
