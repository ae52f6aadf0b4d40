"""`GeminiModel` by values: what it sends, and what it makes of answers, whole and streamed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.http.loopback import Reply, serving
from tests.models.asking import answered, both_ways, ran
from tests.models.providers import sse
from toolkit import Agent, Tool
from toolkit.errors import (
    AuthenticationError,
    BadRequestError,
    BrokenStreamError,
    ContentRefusedError,
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
from toolkit.models import (
    GeminiModel,
    ModelDelta,
    ModelDone,
    ModelRequest,
    ModelResponse,
    ModelSettings,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
)
from toolkit.models.names import sent_name

HELLO = UserMessage("Hello")
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = ToolDefinition("weather", "The weather of a city.", CITY)
NAME = "gemini-3.8-flash"
EARLY = "gemini-2.5-flash"
OPEN = "skip_thought_signature_validator"


def answer(*parts: Any, finish: str | None = "STOP", **fields: Any) -> dict[str, Any]:
    candidate = {"content": {"role": "model", "parts": list(parts)}, "finishReason": finish, "index": 0, **fields}
    usage = {"promptTokenCount": 3, "candidatesTokenCount": 5, "totalTokenCount": 8}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-of-the-server"}


def text(said: str, **fields: Any) -> dict[str, Any]:
    return {"text": said, **fields}


def called(name: str, args: Any, id: str | None = None, **fields: Any) -> dict[str, Any]:
    call = {"name": name, "args": args} if id is None else {"id": id, "name": name, "args": args}
    return {"functionCall": call, **fields}


def pieces_of(whole: dict[str, Any], cut: int = 3) -> list[dict[str, Any]]:
    """The answer as a stream of answers: texts in pieces of `cut` characters, a signature at the last one."""
    (candidate,) = whole["candidates"]
    parts: list[dict[str, Any]] = []
    for part in candidate["content"]["parts"]:
        said = part.get("text", "")
        edges = range(0, len(said), cut)
        parts += [
            {"text": said[at : at + cut], **({"thought": True} if part.get("thought") else {})} for at in edges[:-1]
        ]
        parts.append({**part, "text": said[edges[-1] :]} if said else part)
    ending = {name: value for name, value in candidate.items() if name not in ("content", "index")}
    begun = {"promptTokenCount": 3, "candidatesTokenCount": 1}
    pieces = [{"candidates": [{"content": {"parts": [part]}, "index": 0}], "usageMetadata": begun} for part in parts]
    return [*pieces, {**whole, "candidates": [{"content": {"parts": [text("")]}, **ending}]}]


def streamed(*pieces: Any) -> Reply:
    return Reply(sse(*pieces), headers={"Content-Type": "text/event-stream"})


def reply_of(whole: dict[str, Any], is_streamed: bool) -> Reply:
    return streamed(*pieces_of(whole)) if is_streamed else Reply(whole)


@dataclass
class Asked:
    response: ModelResponse
    deltas: list[ModelDelta]
    body: dict[str, Any]


async def ask(http: Any, request: ModelRequest, *replies: Reply, name: str = NAME, is_streamed: bool = False) -> Asked:
    async with serving(replies or [Reply(answer(text("Hi")))]) as server:
        model = GeminiModel(name, http=http, base_url=server.url)
        response, deltas = await answered(model, request, is_streamed=is_streamed)
    return Asked(response, deltas, json.loads(server.requests[0].body))


# What is sent


async def test_the_key_goes_into_a_header_of_its_own(http: Any) -> None:
    async with serving(Reply(answer(text("Hi")))) as server:
        await GeminiModel(NAME, http=http, base_url=server.url, api_key="k-1").respond(ModelRequest([HELLO]))

    (request,) = server.requests
    assert request.headers["x-goog-api-key"] == "k-1"
    assert "k-1" not in request.target


PATHS = {
    "gemini-3.8-flash": "/v1beta/models/gemini-3.8-flash:generateContent",
    "models/gemini-3.8-flash": "/v1beta/models/gemini-3.8-flash:generateContent",
    "tunedModels/mine-1": "/v1beta/tunedModels/mine-1:generateContent",
    "../files/a b?c#d": "/v1beta/models/..%2Ffiles%2Fa%20b%3Fc%23d:generateContent",
    "models/../x:y": "/v1beta/models/..%2Fx%3Ay:generateContent",
}


@pytest.mark.parametrize(("name", "wanted"), PATHS.items())
async def test_the_models_name_stands_in_the_path_and_cannot_leave_it(name: str, wanted: str, http: Any) -> None:
    async with serving(Reply(answer(text("Hi")))) as server:
        model = GeminiModel(name, http=http, base_url=f"{server.url}/v1beta/")
        await model.respond(ModelRequest([HELLO]))
        async for _ in model.stream(ModelRequest([HELLO])):
            pass

    assert [request.target for request in server.requests] == [
        wanted,
        wanted.replace(":generateContent", ":streamGenerateContent?alt=sse"),
    ]


async def test_no_more_is_sent_than_has_to_be(http: Any) -> None:
    asked = await ask(http, ModelRequest([HELLO]))

    assert asked.body == {"contents": [{"role": "user", "parts": [text("Hello")]}]}


CALLED = AssistantMessage("", [ToolCall("c1", "weather", '{"city": "Oslo"}')])
CALL = called("weather", {"city": "Oslo"}, "c1")
PNG = {"inlineData": {"mimeType": "image/png", "data": "AQ=="}}


def result(output: str, id: str = "c1", name: str = "weather", key: str = "output", **fields: Any) -> dict[str, Any]:
    return {"functionResponse": {"id": id, "name": name, "response": {key: output}, **fields}}


CONVERSATIONS: dict[str, tuple[list[Message], list[Any]]] = {
    "users in a row are one turn": ([HELLO, UserMessage("you")], [("user", [text("Hello"), text("you")])]),
    "blank texts are left out": (
        [UserMessage([TextPart(" "), TextPart("Hello")]), AssistantMessage("\n"), HELLO],
        [("user", [text("Hello"), text("Hello")])],
    ),
    "something has to be said": ([UserMessage("")], [("user", [text("(no text)")])]),
    "instructions alone are no conversation": ([SystemMessage("Be brief.")], [("user", [text("(no text)")])]),
    "the user comes first": (
        [AssistantMessage("Hi"), HELLO],
        [("user", [text("(no text)")]), ("model", [text("Hi")]), ("user", [text("Hello")])],
    ),
    "the model in a row is one turn": (
        [HELLO, AssistantMessage("Hi"), AssistantMessage("there")],
        [("user", [text("Hello")]), ("model", [text("Hi"), text("there")])],
    ),
    "images and documents": (
        [
            UserMessage(
                [
                    ImagePart(b"\x01"),
                    ImagePart(b"\x01", media_type="image/webp"),
                    DocumentPart(b"\x01"),
                    DocumentPart(b"a", media_type="text/csv"),
                    ImagePart(url="data:image/gif;base64,AQ=="),
                    ImagePart(url="https://example.org/a.jpg?b=1"),
                    DocumentPart(url="https://example.org/files/1"),
                    DocumentPart(url="https://example.org/files/1", media_type="application/pdf"),
                ]
            )
        ],
        [
            (
                "user",
                [
                    PNG,
                    {"inlineData": {"mimeType": "image/webp", "data": "AQ=="}},
                    {"inlineData": {"mimeType": "application/pdf", "data": "AQ=="}},
                    {"inlineData": {"mimeType": "text/csv", "data": "YQ=="}},
                    {"inlineData": {"mimeType": "image/gif", "data": "AQ=="}},
                    {"fileData": {"fileUri": "https://example.org/a.jpg?b=1", "mimeType": "image/jpeg"}},
                    {"fileData": {"fileUri": "https://example.org/files/1"}},
                    {"fileData": {"fileUri": "https://example.org/files/1", "mimeType": "application/pdf"}},
                ],
            )
        ],
    ),
    "results of one turn are one turn and come first": (
        [
            HELLO,
            AssistantMessage("Well", [ToolCall("c1", "weather", {}), ToolCall("c2", "weather", {"city": "Oslo"})]),
            ToolMessage("c1", "weather", "rain", media=[ImagePart(url="https://example.org/a.png")]),
            ToolMessage("c2", "weather", "no such city", is_error=True),
            UserMessage("So?"),
        ],
        [
            ("user", [text("Hello")]),
            (
                "model",
                [
                    text("Well"),
                    called("weather", {}, "c1", thoughtSignature=OPEN),
                    {**CALL, "functionCall": {**CALL["functionCall"], "id": "c2"}},
                ],
            ),
            (
                "user",
                [
                    result("rain"),
                    result("no such city", "c2", key="error"),
                    {"fileData": {"fileUri": "https://example.org/a.png", "mimeType": "image/png"}},
                    text("So?"),
                ],
            ),
        ],
    ),
    "media that may stand inside a result and others": (
        [
            HELLO,
            CALLED,
            ToolMessage("c1", "weather", "", media=[ImagePart(b"\x01"), ImagePart(b"\x01", media_type="image/gif")]),
        ],
        [
            ("user", [text("Hello")]),
            ("model", [{**CALL, "thoughtSignature": OPEN}]),
            ("user", [result("", parts=[PNG]), {"inlineData": {"mimeType": "image/gif", "data": "AQ=="}}]),
        ],
    ),
    "arguments that are no object": (
        [HELLO, AssistantMessage("", [ToolCall("c1", "weather", "[1")])],
        [("user", [text("Hello")]), ("model", [called("weather", {}, "c1", thoughtSignature=OPEN)])],
    ),
    "a name that may not be sent as it is": (
        [HELLO, AssistantMessage("", [ToolCall("c1", "3d", {})]), ToolMessage("c1", "3d", "ok")],
        [
            ("user", [text("Hello")]),
            ("model", [called("_3d", {}, "c1", thoughtSignature=OPEN)]),
            ("user", [result("ok", name="_3d")]),
        ],
    ),
}


@pytest.mark.parametrize(("messages", "wanted"), CONVERSATIONS.values(), ids=CONVERSATIONS)
async def test_a_conversation_is_written_as_turns(messages: list[Message], wanted: list[Any], http: Any) -> None:
    asked = await ask(http, ModelRequest(messages))

    assert asked.body["contents"] == [{"role": role, "parts": parts} for role, parts in wanted]


async def test_early_models_get_media_of_tools_behind_the_results_and_no_open_signature(http: Any) -> None:
    messages: list[Message] = [HELLO, CALLED, ToolMessage("c1", "weather", "rain", media=[ImagePart(b"\x01")])]

    asked = await ask(http, ModelRequest(messages), name=EARLY)

    assert [content["parts"] for content in asked.body["contents"][1:]] == [[CALL], [result("rain"), PNG]]


async def test_system_messages_go_into_the_instruction_wherever_they_stand(http: Any) -> None:
    messages: list[Message] = [SystemMessage("Be brief."), HELLO, SystemMessage(" "), SystemMessage("Be kind.")]

    asked = await ask(http, ModelRequest(messages))

    assert asked.body["systemInstruction"] == {"parts": [text("Be brief."), text("Be kind.")]}
    assert asked.body["contents"] == [{"role": "user", "parts": [text("Hello")]}]


async def test_every_setting_that_the_api_has_is_sent_zero_too(http: Any) -> None:
    given = ModelSettings(
        temperature=0.0,
        top_p=0.0,
        max_tokens=0,
        parallel_tool_calls=False,
        stop=("a",),
        seed=0,
        extra={"generationConfig": {"topK": 4, "seed": 7}, "safetySettings": []},
    )

    asked = await ask(http, ModelRequest([HELLO], settings=given))

    assert asked.body["generationConfig"] == {
        "temperature": 0.0,
        "topP": 0.0,
        "maxOutputTokens": 0,
        "stopSequences": ["a"],
        "seed": 7,
        "topK": 4,
    }
    assert asked.body["safetySettings"] == []
    assert asked.body.keys() == {"contents", "generationConfig", "safetySettings"}


CHOICES: dict[str, tuple[str | None, Any]] = {
    "left out": (None, None),
    "auto": ("auto", {"mode": "AUTO"}),
    "none": ("none", {"mode": "NONE"}),
    "required": ("required", {"mode": "ANY"}),
    "a name": ("weather", {"mode": "ANY", "allowedFunctionNames": ["weather"]}),
    "a name that is sent otherwise": ("3d", {"mode": "ANY", "allowedFunctionNames": ["_3d"]}),
}


@pytest.mark.parametrize(("choice", "wanted"), CHOICES.values(), ids=CHOICES)
async def test_the_choice_of_tools_is_written(choice: str | None, wanted: Any, http: Any) -> None:
    asked = await ask(http, ModelRequest([HELLO], [WEATHER, ToolDefinition("3d", "Draw.", CITY)], tool_choice=choice))

    assert asked.body.get("toolConfig") == (wanted and {"functionCallingConfig": wanted})


async def test_a_history_with_calls_needs_no_tools_and_a_choice_without_tools_is_not_sent(http: Any) -> None:
    messages: list[Message] = [HELLO, CALLED, ToolMessage("c1", "weather", "rain")]

    asked = await ask(http, ModelRequest(messages, tool_choice="none"))

    assert asked.body.keys() == {"contents"}


async def test_tools_are_declared_with_their_schemas_as_the_api_reads_them(http: Any) -> None:
    odd = ToolDefinition("two words", "Odd.", {"properties": {"a": {"const": "x", "minLength": 1}}})
    draw = ToolDefinition("3d", "Draw.", {"type": "object", "properties": {}, "additionalProperties": False})

    asked = await ask(
        http,
        ModelRequest([HELLO], [WEATHER, draw, odd]),
        Reply(answer(called(sent_name("two words"), {}), called("_3d", {}))),
    )

    first, second, third = asked.body["tools"][0]["functionDeclarations"]
    assert first == {"name": "weather", "description": "The weather of a city.", "parametersJsonSchema": CITY}
    assert second == {"name": "_3d", "description": "Draw.", "parametersJsonSchema": draw.input_schema}
    assert third["parametersJsonSchema"] == {
        "type": "object",
        "properties": {"a": {"enum": ["x"], "description": "(minLength: 1)"}},
    }
    assert third["name"] == sent_name("two words")
    assert [call.name for call in asked.response.tool_calls] == ["two words", "3d"]


ANSWER = {"type": "object", "properties": {"degrees": {"type": "integer", "default": 3}}}


@pytest.mark.parametrize(("name", "tools"), [(NAME, [WEATHER]), (NAME, []), (EARLY, [])])
async def test_an_answers_schema_goes_the_native_way_where_the_model_has_one(
    name: str, tools: list[ToolDefinition], http: Any
) -> None:
    given = ModelSettings(temperature=1.0)

    asked = await ask(
        http, ModelRequest([HELLO], tools, given, ANSWER), Reply(answer(text('{"degrees": 4}'))), name=name
    )

    assert asked.body["generationConfig"] == {
        "temperature": 1.0,
        "responseMimeType": "application/json",
        "responseJsonSchema": {
            "type": "object",
            "properties": {"degrees": {"type": "integer", "description": "(default: 3)"}},
        },
    }
    assert ("tools" in asked.body) is bool(tools)
    assert asked.response.text == '{"degrees": 4}'


@both_ways
async def test_an_answers_schema_becomes_a_final_tool_beside_tools_of_early_models(
    is_streamed: bool, http: Any
) -> None:
    whole = answer(called("final_answer", {"degrees": 4}))

    asked = await ask(
        http,
        ModelRequest([HELLO], [WEATHER], None, ANSWER),
        reply_of(whole, is_streamed),
        name=EARLY,
        is_streamed=is_streamed,
    )

    assert [one["name"] for one in asked.body["tools"][0]["functionDeclarations"]] == ["weather", "final_answer"]
    assert asked.body["toolConfig"] == {"functionCallingConfig": {"mode": "ANY"}}
    assert "generationConfig" not in asked.body
    assert (json.loads(asked.response.text), asked.response.tool_calls) == ({"degrees": 4}, ())
    assert asked.response.stop_reason == "stop"


# What is answered

GROUNDS = {"groundingChunks": [{"web": {"uri": "https://example.org"}}], "webSearchQueries": ["rain"]}
CODE = {"executableCode": {"language": "PYTHON", "code": "print(4)"}}
RAN = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "4\n"}}
SEARCHED = {"toolCall": {"id": "s1", "toolType": "GOOGLE_SEARCH", "args": {"q": "rain"}}, "thoughtSignature": "c3I="}
COUNTS = Usage(3, 5)


def response(said: str = "", calls: Any = (), reasoning: str = "", stop: Any = None, data: Any = None) -> ModelResponse:
    kept = None if data is None else {"provider": "gemini", **data}
    return ModelResponse(said, tuple(calls), reasoning, stop, COUNTS, "gemini-of-the-server", kept)


OSLO = '{"city":"Oslo"}'
REPLIES: dict[str, tuple[dict[str, Any], ModelResponse]] = {
    "a text": (answer(text("Hello you")), response("Hello you")),
    "texts": (answer(text("Hello "), text("you")), response("Hello you")),
    "nothing": (answer(), response()),
    "a call without an id": (
        answer(called("weather", {"city": "Oslo"})),
        response(calls=[ToolCall("call_1", "weather", OSLO)]),
    ),
    "calls without ids, of one name": (
        answer(text("Well"), called("weather", {"city": "Oslo"}), called("weather", {"city": "Oslo"})),
        response("Well", [ToolCall("call_1", "weather", OSLO), ToolCall("call_2", "weather", OSLO)]),
    ),
    "calls with ids": (
        answer(called("weather", {"city": "Oslo"}, "a"), called("weather", {"city": "Oslo"}, "b")),
        response(calls=[ToolCall("a", "weather", OSLO), ToolCall("b", "weather", OSLO)]),
    ),
    "calls with one id": (
        answer(called("weather", {"city": "Oslo"}, "a"), called("time", {}, "a")),
        response(calls=[ToolCall("a", "weather", OSLO), ToolCall("a_2", "time", "{}")]),
    ),
    "a call without arguments": (
        answer({"functionCall": {"name": "time"}}, {"functionCall": {"name": "time", "args": None}}),
        response(calls=[ToolCall("call_1", "time", "{}"), ToolCall("call_2", "time", "{}")]),
    ),
    "a call of nothing": (answer(text("Hi"), {"functionCall": {"args": {}}}), response("Hi")),
    "thoughts": (
        answer(text("Rain, ", thought=True), text("probably.", thought=True), text("Rain.")),
        response("Rain.", reasoning="Rain, probably."),
    ),
    "a signed call": (
        answer(text("Hm", thought=True), called("weather", {"city": "Oslo"}, "a", thoughtSignature="c2ln")),
        response(
            calls=[ToolCall("a", "weather", OSLO)],
            reasoning="Hm",
            data={"parts": [text("Hm", thought=True), {"functionCall": {}, "thoughtSignature": "c2ln"}]},
        ),
    ),
    "a signed text": (
        answer(text("Rain."), text("", thoughtSignature="c2ln")),
        response("Rain.", data={"parts": [text("Rain."), text("", thoughtSignature="c2ln")]}),
    ),
    "signed and unsigned texts stay apart": (
        answer(text("a", thoughtSignature="czE="), text("b"), text("c", thoughtSignature="czI=")),
        response(
            "abc", data={"parts": [text("a", thoughtSignature="czE="), text("b"), text("c", thoughtSignature="czI=")]}
        ),
    ),
    "a signature that is null": (answer(text("Hi", thoughtSignature=None, thought=None)), response("Hi")),
    "tools of Google's own are never ours to call": (
        answer(SEARCHED, CODE, RAN, text("4")),
        response("4", data={"parts": [SEARCHED, CODE, RAN, text("4")]}),
    ),
    "what the answer is based on": (
        answer(text("Rain."), groundingMetadata=GROUNDS, citationMetadata={"citationSources": [{}]}),
        response("Rain.", data={"groundingMetadata": GROUNDS, "citationMetadata": {"citationSources": [{}]}}),
    ),
    "a kind of part that is not known": (
        answer(text("a"), {"hologram": {"data": 1}}, text("b")),
        response("ab", data={"parts": [text("a"), {"hologram": {"data": 1}}, text("b")]}),
    ),
    "cut short": (answer(text("Hel"), finish="MAX_TOKENS"), response("Hel", stop="length")),
    "refused": (
        answer(text("I"), called("weather", {}), finish="SAFETY", finishMessage="Blocked."),
        response("I", stop="refusal", data={"finishReason": "SAFETY", "finishMessage": "Blocked."}),
    ),
    "what was refused is not to go back": (
        answer(text("I", thoughtSignature="c2ln"), finish="SAFETY"),
        response("I", stop="refusal", data={"finishReason": "SAFETY"}),
    ),
    "recited": (answer(finish="RECITATION"), response(stop="refusal", data={"finishReason": "RECITATION"})),
    "ended otherwise": (answer(text("I"), finish="OTHER"), response("I", stop="other", data={"finishReason": "OTHER"})),
    "ended in the words of 2030": (answer(finish="TIRED"), response(stop="other", data={"finishReason": "TIRED"})),
    "a call and an odd end": (
        answer(called("weather", {"city": "Oslo"}, "a"), finish="MALFORMED_FUNCTION_CALL"),
        response(calls=[ToolCall("a", "weather", OSLO)], data={"finishReason": "MALFORMED_FUNCTION_CALL"}),
    ),
}


@both_ways
@pytest.mark.parametrize(("whole", "wanted"), REPLIES.values(), ids=REPLIES)
async def test_an_answer_is_read(whole: dict[str, Any], wanted: ModelResponse, is_streamed: bool, http: Any) -> None:
    asked = await ask(http, ModelRequest([HELLO]), reply_of(whole, is_streamed), is_streamed=is_streamed)

    got = [(call.id, call.name, json.loads(str(call.arguments))) for call in asked.response.tool_calls]
    assert got == [(call.id, call.name, json.loads(str(call.arguments))) for call in wanted.tool_calls]
    for field in ("text", "reasoning", "stop_reason", "usage", "model", "provider_data"):
        assert getattr(asked.response, field) == getattr(wanted, field)
    if is_streamed:
        assert "".join(delta.text for delta in asked.deltas if isinstance(delta, TextDelta)) == wanted.text
        assert "".join(delta.text for delta in asked.deltas if isinstance(delta, ReasoningDelta)) == wanted.reasoning
        pieces = [delta for delta in asked.deltas if isinstance(delta, ToolCallDelta)]
        assert [delta.index for delta in pieces] == list(range(len(pieces)))
        if wanted.stop_reason != "refusal":
            assert [delta.arguments for delta in pieces] == [call.arguments for call in asked.response.tool_calls]


REFUSALS = ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "MODEL_ARMOR")
OTHERS = ("LANGUAGE", "OTHER", "TOO_MANY_TOOL_CALLS", "NO_IMAGE", "FINISH_REASON_UNSPECIFIED")
FINISHES = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "CONTINUATION": "length",
    **dict.fromkeys(REFUSALS, "refusal"),
    **dict.fromkeys(OTHERS, "other"),
}


@pytest.mark.parametrize(("finish", "wanted"), FINISHES.items())
async def test_how_an_answer_ended_is_told(finish: str, wanted: str, http: Any) -> None:
    asked = await ask(http, ModelRequest([HELLO]), Reply(answer(finish=finish)))

    assert asked.response.stop_reason == wanted


@both_ways
@pytest.mark.parametrize("finish", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE"])
async def test_what_the_model_garbled_is_an_error_worth_another_try(finish: str, is_streamed: bool, http: Any) -> None:
    whole = answer(finish=finish, finishMessage="Malformed function call: print(default_api.weather(")

    with pytest.raises(UnexpectedReplyError, match=finish) as caught:
        await ask(http, ModelRequest([HELLO]), reply_of(whole, is_streamed), is_streamed=is_streamed)

    assert caught.value.is_temporary
    assert "default_api" not in str(caught.value)


@both_ways
async def test_a_signature_that_is_missing_is_an_error_of_the_request(is_streamed: bool, http: Any) -> None:
    whole = answer(finish="MISSING_THOUGHT_SIGNATURE")

    with pytest.raises(BadRequestError, match="lacks its signature"):
        await ask(http, ModelRequest([HELLO]), reply_of(whole, is_streamed), is_streamed=is_streamed)


@both_ways
@pytest.mark.parametrize("reason", ["SAFETY", "OTHER", "PROHIBITED_CONTENT"])
async def test_a_blocked_prompt_is_an_error_since_there_is_no_answer(reason: str, is_streamed: bool, http: Any) -> None:
    body = {"promptFeedback": {"blockReason": reason}, "usageMetadata": {"promptTokenCount": 3}}

    with pytest.raises(ContentRefusedError, match="the prompt was blocked") as caught:
        await ask(http, ModelRequest([HELLO]), streamed(body) if is_streamed else Reply(body), is_streamed=is_streamed)

    assert caught.value.code == reason


@both_ways
async def test_all_tokens_are_counted_thoughts_and_results_of_googles_own_tools_too(
    is_streamed: bool, http: Any
) -> None:
    usage = {
        "promptTokenCount": 100,
        "toolUsePromptTokenCount": 20,
        "cachedContentTokenCount": 60,
        "candidatesTokenCount": 7,
        "thoughtsTokenCount": 30,
        "totalTokenCount": 157,
    }
    whole = {**answer(text("Hello you")), "usageMetadata": usage}

    asked = await ask(http, ModelRequest([HELLO]), reply_of(whole, is_streamed), is_streamed=is_streamed)

    assert asked.response.usage == Usage(120, 37, 60, 30)


async def test_a_count_that_a_later_piece_leaves_out_stays(http: Any) -> None:
    first = {**answer(text("Hel"), finish=None), "usageMetadata": {"promptTokenCount": 9, "thoughtsTokenCount": 4}}
    last = {**answer(text("lo")), "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 2}}

    asked = await ask(http, ModelRequest([HELLO]), streamed(first, last, {"usageMetadata": {}}), is_streamed=True)

    assert asked.response.usage == Usage(9, 6, 0, 4)


@both_ways
async def test_of_several_candidates_the_first_is_the_answer(is_streamed: bool, http: Any) -> None:
    whole = answer(text("Hello"))
    second = {"content": {"parts": [text("Bye")]}, "finishReason": "SAFETY", "index": 1}
    whole["candidates"].append(second)

    asked = await ask(
        http,
        ModelRequest([HELLO]),
        streamed({"candidates": [second]}, whole) if is_streamed else Reply(whole),
        is_streamed=is_streamed,
    )

    assert (asked.response.text, asked.response.stop_reason) == ("Hello", "stop")


async def test_arguments_stay_as_they_were_written(http: Any) -> None:
    written = json.dumps(answer(called("weather", "HERE"))).replace('"HERE"', '{"a": 1e400}')

    asked = await ask(http, ModelRequest([HELLO]), Reply(written))

    assert asked.response.tool_calls == (ToolCall("call_1", "weather", '{"a": 1e400}'),)


LONG = answer(
    text("Hm, råin?", thought=True),
    text("It rains. ☔"),
    text("", thoughtSignature="c2ln"),
    called("weather", {"city": "Tromsø"}, "a", thoughtSignature="czI="),
    groundingMetadata=GROUNDS,
)
BYTES = sse(*pieces_of(LONG, cut=2))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, len(BYTES)), max_size=30))
def test_a_stream_cut_anywhere_gives_the_same_answer(cuts: list[int]) -> None:
    chunks = [BYTES[start:end] for start, end in pairwise([0, *sorted(cuts), len(BYTES)])]

    class Chunks(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            for chunk in chunks:
                yield chunk

    def respond(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=Chunks())

    async def responses() -> list[ModelResponse]:
        async with httpx.AsyncClient(transport=httpx.MockTransport(respond)) as http:
            model = GeminiModel(NAME, http=http, api_key="k")
            return [d.response async for d in model.stream(ModelRequest([HELLO])) if isinstance(d, ModelDone)]

    parts = LONG["candidates"][0]["content"]["parts"]
    kept = [*parts[:3], {"functionCall": {}, "thoughtSignature": "czI="}]
    assert asyncio.run(responses()) == [
        response(
            "It rains. ☔",
            [ToolCall("a", "weather", '{"city": "Tromsø"}')],
            "Hm, råin?",
            data={"parts": kept, "groundingMetadata": GROUNDS},
        )
    ]


# What goes back

SIGNED = response(
    "Well",
    [ToolCall("a", "weather", OSLO), ToolCall("b", "weather", OSLO)],
    "Hm",
    data={
        "parts": [
            text("Hm", thought=True),
            CODE,
            RAN,
            text("Well"),
            {"functionCall": {}, "thoughtSignature": "c2ln"},
            {"functionCall": {}},
        ],
        "groundingMetadata": GROUNDS,
    },
)
PLAIN_CALLS = [
    called("weather", {"city": "Oslo"}, "a", thoughtSignature=OPEN),
    called("weather", {"city": "Oslo"}, "b"),
]


def said(**changed: Any) -> AssistantMessage:
    fields = {"text": SIGNED.text, "tool_calls": SIGNED.tool_calls, "provider_data": SIGNED.provider_data}
    return AssistantMessage(**{**fields, **changed})


def kept_with(first: dict[str, Any], second: dict[str, Any]) -> list[dict[str, Any]]:
    return [text("Hm", thought=True), CODE, RAN, text("Well"), {**first, "thoughtSignature": "c2ln"}, second]


NOTHING: dict[str, Any] = SIGNED.provider_data or {}
BACK: dict[str, tuple[AssistantMessage, list[dict[str, Any]]]] = {
    "as it came": (said(), kept_with(*(called("weather", {"city": "Oslo"}, id) for id in "ab"))),
    "with the message's own calls": (
        said(tool_calls=[ToolCall("c9", "weather", {"city": "Bergen"}), ToolCall("b", "time", "{}")]),
        kept_with(called("weather", {"city": "Bergen"}, "c9"), called("time", {}, "b")),
    ),
    "not with another number of calls": (said(tool_calls=[]), [text("Well")]),
    "not with another text": (said(text="Hm"), [text("Hm"), *PLAIN_CALLS]),
    "not from another provider": (said(provider_data={**NOTHING, "provider": "openai"}), [text("Well"), *PLAIN_CALLS]),
    "not from nonsense": (
        said(provider_data={"provider": "gemini", "parts": ["?"]}),
        [text("Well"), *PLAIN_CALLS],
    ),
    "not from grounds alone": (
        said(provider_data={"provider": "gemini", "groundingMetadata": GROUNDS}),
        [text("Well"), *PLAIN_CALLS],
    ),
}


@pytest.mark.parametrize(("message", "wanted"), BACK.values(), ids=BACK)
async def test_what_the_api_wants_back_goes_back_also_through_json(
    message: AssistantMessage, wanted: list[dict[str, Any]], http: Any
) -> None:
    results = [ToolMessage(call.id, call.name, "sun") for call in message.tool_calls]
    kept = messages_from_json(messages_to_json([HELLO, message, *results, UserMessage("So?")]))

    asked = await ask(http, ModelRequest(kept, [WEATHER]))

    assert asked.body["contents"][1] == {"role": "model", "parts": wanted}


class WeatherTool(Tool):
    """The weather of a city."""

    name = "weather"

    def handler(self, city: str) -> str:
        return f"sun in {city}"


@both_ways
async def test_a_run_sends_signatures_back_also_one_that_comes_with_an_empty_text(is_streamed: bool, http: Any) -> None:
    first = answer(called("weather", {"city": "Oslo"}, thoughtSignature="czE="), called("weather", {"city": "Rome"}))
    second = answer(text("Sun."), text("", thoughtSignature="czI="))
    replies = [reply_of(one, is_streamed) for one in (first, second, answer(text("Bye.")))]
    async with serving(replies) as server:
        agent: Agent[str] = Agent(GeminiModel(NAME, http=http, base_url=server.url), tools=[WeatherTool])
        earlier = await ran(agent, "Weather?", is_streamed=is_streamed)
        run = await ran(agent, "Thanks.", messages=earlier.messages, is_streamed=is_streamed)

    assert run.response == "Bye."
    oslo, rome = (record.id for record in earlier.calls)
    assert oslo != rome
    assert json.loads(server.requests[2].body)["contents"] == [
        {"role": "user", "parts": [text("Weather?")]},
        {
            "role": "model",
            "parts": [
                called("weather", {"city": "Oslo"}, oslo, thoughtSignature="czE="),
                called("weather", {"city": "Rome"}, rome),
            ],
        },
        {"role": "user", "parts": [result("sun in Oslo", oslo), result("sun in Rome", rome)]},
        {"role": "model", "parts": [text("Sun."), text("", thoughtSignature="czI=")]},
        {"role": "user", "parts": [text("Thanks.")]},
    ]


# What goes wrong


def error(code: int, status: str, words: str, *details: dict[str, Any]) -> dict[str, Any]:
    return {"error": {"code": code, "message": words, "status": status, "details": list(details)}}


RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "43.5s"}
WRONG_KEY = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
ERRORS: dict[str, tuple[dict[str, Any], type[ProviderError], bool]] = {
    "key": (error(400, "INVALID_ARGUMENT", "API key not valid.", WRONG_KEY), AuthenticationError, False),
    "no key": (error(403, "PERMISSION_DENIED", "unregistered callers"), AuthenticationError, False),
    "place": (error(400, "FAILED_PRECONDITION", "User location is not supported"), BadRequestError, False),
    "model": (error(404, "NOT_FOUND", "models/gemini-9 is not found"), BadRequestError, False),
    "request": (error(400, "INVALID_ARGUMENT", "contents are required"), BadRequestError, False),
    "prompt": (
        error(400, "INVALID_ARGUMENT", "The input token count (9) exceeds the maximum number of tokens allowed (8)."),
        ContextLengthError,
        False,
    ),
    "rate": (error(429, "RESOURCE_EXHAUSTED", "quota", RETRY), RateLimitError, True),
    "server": (error(500, "INTERNAL", "oops"), OverloadedError, True),
    "overloaded": (error(503, "UNAVAILABLE", "The model is overloaded."), OverloadedError, True),
    "timeout": (error(504, "DEADLINE_EXCEEDED", "too slow"), OverloadedError, True),
}


@pytest.mark.parametrize(("body", "kind", "is_temporary"), ERRORS.values(), ids=ERRORS)
async def test_an_error_has_its_kind_whether_it_is_a_status_or_stands_in_a_stream(
    body: dict[str, Any], kind: type[ProviderError], is_temporary: bool, http: Any
) -> None:
    status = body["error"]["code"]
    in_stream = streamed(answer(text("Hel"), finish=None), body)

    for reply, is_streamed in ((Reply(body, status), False), (Reply([body], status), True), (in_stream, True)):
        with pytest.raises(kind) as caught:
            await ask(http, ModelRequest([HELLO]), reply, is_streamed=is_streamed)

        assert type(caught.value) is kind
        assert (caught.value.provider, caught.value.is_temporary) == ("gemini", is_temporary)
        assert caught.value.retry_after == (43.5 if kind is RateLimitError else None)
        assert body["error"]["message"] in str(caught.value)


async def test_an_error_with_status_200_is_one(http: Any) -> None:
    with pytest.raises(OverloadedError):
        await ask(http, ModelRequest([HELLO]), Reply(error(503, "UNAVAILABLE", "busy")))


BROKEN: dict[str, tuple[bytes, type[ProviderError]]] = {
    "nothing": (b"", BrokenStreamError),
    "an end in the middle": (sse(answer(text("Hel"), finish=None)), BrokenStreamError),
    "counts alone": (sse({"usageMetadata": {"promptTokenCount": 3}}), BrokenStreamError),
    "junk": (b"data: {]\n\n", UnexpectedReplyError),
    "no object": (b"data: []\n\n", UnexpectedReplyError),
    "a part that is none": (sse(answer("text")), UnexpectedReplyError),
}


@pytest.mark.parametrize(("body", "kind"), BROKEN.values(), ids=BROKEN)
async def test_a_stream_that_is_none_is_an_error(body: bytes, kind: type[ProviderError], http: Any) -> None:
    reply = Reply(body, headers={"Content-Type": "text/event-stream"})

    with pytest.raises(kind):
        await ask(http, ModelRequest([HELLO]), reply, is_streamed=True)


@pytest.mark.parametrize(
    "body", ["{]", "[]", "{}", '{"candidates": []}', '{"candidates": 1}', '{"promptFeedback": {}}', b"\xff"], ids=repr
)
async def test_a_reply_that_is_no_answer_is_an_error(body: Any, http: Any) -> None:
    with pytest.raises(UnexpectedReplyError):
        await ask(http, ModelRequest([HELLO]), Reply(body))
