"""What a request needs of a tool's schema is worked out once for what is in it, and not once for each request."""

from __future__ import annotations

import gc
import json
import threading
from copy import deepcopy
from typing import Any

import pytest

from benchmarks.requests import ADAPTERS, CLOSED, OPEN, Refusing, asked, calls_of, tools_of
from toolkit.messages import ToolDefinition, UserMessage
from toolkit.models import ModelRequest, ModelSettings, OpenAIChatModel
from toolkit.models.kept import Kept

every_adapter = pytest.mark.parametrize("adapter", ADAPTERS)
every_schema = pytest.mark.parametrize("schema", [OPEN, CLOSED], ids=["open", "closed"])


def counted() -> tuple[Kept[dict[str, Any], str], list[dict[str, Any]]]:
    met: list[dict[str, Any]] = []

    def keys_of(schema: dict[str, Any]) -> str:
        met.append(schema)
        return " ".join(schema)

    return Kept(dict[str, Any], keys_of), met


def test_what_is_equal_is_worked_out_once() -> None:
    keys, met = counted()

    assert [keys.of({"type": "object", "title": "A"}) for _ in range(3)] == ["type title"] * 3
    assert met == [{"type": "object", "title": "A"}]


def test_what_is_changed_or_in_another_order_is_worked_out_anew() -> None:
    keys, _ = counted()
    schema: dict[str, Any] = {"a": 1, "b": 2}

    assert keys.of(schema) == "a b"
    schema["c"] = 3
    assert keys.of(schema) == "a b c"
    assert keys.of({"b": 2, "a": 1}) == "b a"


def test_nothing_that_is_kept_shares_a_part_with_what_it_came_from() -> None:
    kept: Kept[dict[str, Any], Any] = Kept(dict[str, Any], lambda schema: schema["enum"])
    schema: dict[str, Any] = {"enum": ["a"]}

    assert kept.of(schema) == ["a"]
    schema["enum"].append("b")
    assert kept.of({"enum": ["a"]}) == ["a"]
    assert kept.of(schema) == ["a", "b"]


@pytest.mark.parametrize(
    "value", [{"a": {1, 2}.__iter__()}, {"a": "\ud800"}, {"\ud800": 1}], ids=["iterator", "text", "key"]
)
def test_what_is_no_json_is_worked_out_each_time(value: dict[str, Any]) -> None:
    keys, met = counted()

    assert [keys.of(value) for _ in range(2)] == [" ".join(value)] * 2
    assert [same is value for same in met] == [True, True]


def test_none_is_kept_too() -> None:
    met: list[Any] = []
    kept: Kept[dict[str, Any], None] = Kept(dict[str, Any], met.append)

    assert [kept.of({}), kept.of({})] == [None, None]
    assert len(met) == 1


def test_it_takes_no_more_than_16_megabytes_and_lets_nothing_else_live() -> None:
    class Result:
        """Lives as long as it is kept."""

    kept: Kept[dict[str, Any], Result] = Kept(dict[str, Any], lambda schema: Result())

    for number in range(200):
        kept.of({f"{number}" + "x" * 1_000_000: number})
    gc.collect()
    alive = sum(isinstance(found, Result) for found in gc.get_objects())

    assert 1 <= alive <= 8


def test_threads_may_ask_at_once() -> None:
    keys, _ = counted()
    failed: list[int] = []

    def ask() -> None:
        failed.extend(number for number in range(2_000) if keys.of({str(number): number}) != str(number))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failed == []


# In requests


def model_of(adapter: str) -> tuple[Any, Refusing]:
    make, name = ADAPTERS[adapter]
    http = Refusing()
    return make(name, http=http, api_key="key"), http


@every_schema
@every_adapter
async def test_a_tool_takes_at_most_8_function_calls_of_a_later_request(adapter: str, schema: dict[str, Any]) -> None:
    model, http = model_of(adapter)

    without = await calls_of(model, ModelRequest([UserMessage("go")]))
    request = ModelRequest([UserMessage("go")], tools_of(schema, 100))
    await asked(model, request)
    sent = http.sent
    with_tools = await calls_of(model, request)

    assert (with_tools - without) / 100 <= 8
    assert http.sent == sent
    assert all(f"tool_{number}".encode() in sent for number in range(100))


@every_schema
@every_adapter
async def test_a_schema_that_is_changed_in_place_is_shown_as_it_is_then(adapter: str, schema: dict[str, Any]) -> None:
    model, http = model_of(adapter)
    [tool] = tools_of(deepcopy(schema), 1)
    request = ModelRequest([UserMessage("go")], [tool])

    for name in ("Bergen", "Tromsø"):
        tool.input_schema["properties"]["city"]["description"] = f"Such as {name}."
        await asked(model, request)
        assert f"Such as {name}.".encode() in http.sent
    tool.input_schema["properties"]["city"]["enum"] = ["Oslo"]
    await asked(model, request)
    tool.input_schema["properties"]["city"]["enum"].append("Tromsø")
    await asked(model, request)
    assert '"Oslo","Tromsø"'.encode() in http.sent


@every_adapter
async def test_an_output_schema_that_is_changed_in_place_is_sent_as_it_is_then(adapter: str) -> None:
    model, http = model_of(adapter)
    schema = deepcopy(CLOSED)
    request = ModelRequest([UserMessage("go")], output_schema=schema)

    await asked(model, request)
    before = http.sent
    del schema["additionalProperties"]
    schema["properties"]["more"] = {"type": "string"}
    await asked(model, request)

    assert b"more" in http.sent
    other, fresh = model_of(adapter)
    await asked(other, ModelRequest([UserMessage("go")], output_schema=deepcopy(schema)))
    assert fresh.sent == http.sent != before


@every_schema
@every_adapter
async def test_half_a_character_in_the_conversation_leaves_the_tools_as_they_are(
    adapter: str, schema: dict[str, Any]
) -> None:
    model, http = model_of(adapter)
    tools = tools_of(schema, 2)

    await asked(model, ModelRequest([UserMessage("go ?")], tools, output_schema=None))
    whole = json.loads(http.sent)
    await asked(model, ModelRequest([UserMessage("go \ud800")], tools))

    assert json.loads(http.sent) == json.loads(json.dumps(whole).replace("go ?", "go \ufffd"))


@every_adapter
async def test_half_a_character_in_a_tool_is_sent_as_the_sign_for_it(adapter: str) -> None:
    model, http = model_of(adapter)
    broken = ToolDefinition("odd", "Half of \ud800.", deepcopy(CLOSED))

    for _ in range(2):
        await asked(model, ModelRequest([UserMessage("go")], [broken, *tools_of(OPEN, 1)]))
        assert "Half of \ufffd.".encode() in http.sent
        assert b"tool_0" in http.sent


@pytest.mark.parametrize(
    "schema",
    [{"type": "object", "properties": {"x": True, "y": False}}, {"type": "object", "properties": {}, "not": {}}, {}],
    ids=["schemas that are true and false", "nothing", "empty"],
)
@every_adapter
async def test_an_odd_schema_is_sent_all_the_same(adapter: str, schema: dict[str, Any]) -> None:
    model, http = model_of(adapter)

    await asked(model, ModelRequest([UserMessage("go")], tools_of(schema, 1)))
    assert b"tool_0" in http.sent
    await asked(model, ModelRequest([UserMessage("go")], tools_of(CLOSED, 1), output_schema=schema))
    assert b"tool_0" in http.sent


@pytest.mark.parametrize(
    ("adapter", "name"),
    [
        ("OpenAIChatModel", "response_format"),
        ("OpenAIResponsesModel", "text"),
        ("AnthropicModel", "output_config"),
        ("GeminiModel", "generationConfig"),
    ],
)
async def test_what_extra_says_of_the_format_stands_beside_what_the_request_says_of_it(adapter: str, name: str) -> None:
    model, http = model_of(adapter)

    await asked(model, ModelRequest([UserMessage("go")], output_schema=CLOSED))
    without = json.loads(http.sent)[name]
    await asked(model, ModelRequest([UserMessage("go")], (), ModelSettings(extra={name: {"own": 1}}), CLOSED))

    assert json.loads(http.sent)[name] == {**without, "own": 1}


async def test_where_a_server_can_be_told_no_name_only_the_tool_that_is_chosen_is_offered() -> None:
    http = Refusing()
    model = OpenAIChatModel("a-model", http=http, api_key="key", server="zai")

    await asked(model, ModelRequest([UserMessage("go")], tools_of(OPEN, 3), tool_choice="tool_1"))

    sent = json.loads(http.sent)
    assert [tool["function"]["name"] for tool in sent["tools"]] == ["tool_1"]
    assert sent["tool_choice"] == "auto"


@pytest.mark.parametrize(("left_out", "is_strict"), [(23, True), (24, False)])
async def test_what_an_answer_takes_of_claudes_grammar_is_not_there_for_tools(left_out: int, is_strict: bool) -> None:
    model, http = model_of("AnthropicModel")
    answer = {
        "type": "object",
        "properties": {f"part_{number}": {"type": "string"} for number in range(left_out)},
        "additionalProperties": False,
    }
    [tool] = tools_of({**CLOSED, "required": ["city", "days"]}, 1)

    await asked(model, ModelRequest([UserMessage("go")], [tool], output_schema=answer))

    sent = json.loads(http.sent)
    assert len(sent["output_config"]["format"]["schema"]["properties"]) == left_out
    assert sent["tools"][0].get("strict", False) is is_strict
