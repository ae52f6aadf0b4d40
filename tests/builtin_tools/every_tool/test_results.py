"""What every tool answers: a typed value and a text to cite from, or one line of an error of a known kind."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, get_args

import pytest

import toolkit
from builtin_tools.http import ErrorKind, ServiceError
from containers import BuiltinTools
from tests.builtin_tools.every_tool.table import (
    ASKED,
    EACH_SERVICE,
    TOOLS,
    alone,
    arguments_of,
    called,
    config_for,
    fine,
    tool_of,
)
from tests.builtin_tools.every_tool.test_shown_to_a_model import in_range
from tests.http.clients import LIBRARIES, open_client
from tests.http.loopback import Reply, serving
from tests.shared_files import names_in, shared
from toolkit import ToolResult
from toolkit.errors import ToolError

KINDS = get_args(ErrorKind)
STATUSES = {
    "serper_error_403.json": 403,
    "exa_error_401.json": 401,
    "tavily_error_400_query_too_long.json": 400,
    "brave_error_429_rate.json": 429,
    "brave_error_422_validation_country.json": 422,
    "brave_error_422_token_invalid.json": 422,
    "error_rate_limit_body.json": 429,
}


def is_one_line_of_its_kind(result: ToolResult) -> bool:
    error = result.error
    return (
        result.is_error
        and isinstance(error, ServiceError)
        and isinstance(error, ToolError)
        and error.kind in KINDS
        and result.content == str(error)
        and result.content.startswith(f"{error.kind.replace('_', ' ')}: ")
        and "\n" not in result.content
    )


@EACH_SERVICE
async def test_a_tool_works_with_nothing_to_open_and_who_reads_only_its_text_can_cite(http: Any, asked: str) -> None:
    row = TOOLS[asked.partition("/")[0]]
    async with serving(fine) as server:
        tools = alone(http, config_for(server.url, asked=asked))
        result = await called(tools, asked, server.url)

    assert not result.is_error, result.content
    assert [told for told in row.told if told not in result.content] == []
    assert not http.is_closed


@EACH_SERVICE
async def test_the_value_is_a_frozen_object_of_a_type_whose_text_the_model_reads(http: Any, asked: str) -> None:
    async with serving(fine) as server:
        result = await called(alone(http, config_for(server.url, asked=asked)), asked, server.url)

    value = result.value
    assert dataclasses.is_dataclass(value)
    assert type(value).__module__.startswith("builtin_tools.")
    assert value.to_content() == result.content  # type: ignore[attr-defined]
    with pytest.raises(dataclasses.FrozenInstanceError):
        value.notes = ()  # type: ignore[attr-defined]


WRONG: dict[str, tuple[Reply, set[str]]] = {
    "429": (Reply("slow down", status=429, headers={"Retry-After": "3600"}), {"rate_limited"}),
    "500": (Reply("broken", status=500), {"unavailable"}),
    "403": (Reply("go away", status=403), {"unauthorized"}),
    "404": (Reply("nothing", status=404), {"not_found"}),
    "no text": (Reply(b"\x00\x01\x02 no text"), {"malformed_response", "unsupported_content"}),
    "a redirect": (Reply(status=302, headers={"Location": "ftp://a.example/"}), {"unavailable", "blocked_url"}),
    # httpx reads where a redirect leads though it is not followed, and lets out what its own parser raises.
    "a redirect to no page": (
        Reply(status=302, headers={"Location": "mailto:ada@a.example"}),
        {"unavailable", "malformed_response", "blocked_url"},
    ),
    "a redirect to no name": (
        Reply(status=302, headers={"Location": "ftp://xn--a/"}),
        {"unavailable", "malformed_response", "blocked_url"},
    ),
}


@EACH_SERVICE
async def test_what_a_service_does_wrong_is_one_line_of_its_kind(http: Any, asked: str) -> None:
    for case, (reply, kinds) in WRONG.items():
        async with serving(reply) as server:
            result = await called(alone(http, config_for(server.url, asked=asked)), asked, server.url)

        assert is_one_line_of_its_kind(result), (case, result)
        assert result.error.kind in kinds, (case, result)  # type: ignore[union-attr]


@EACH_SERVICE
async def test_a_service_that_is_not_there_is_unavailable(http: Any, asked: str) -> None:
    async with serving(fine) as server:
        url = server.url

    result = await called(alone(http, config_for(url, asked=asked)), asked, url)

    assert is_one_line_of_its_kind(result), result
    assert result.error.kind == "unavailable"  # type: ignore[union-attr]


def recordings_of(asked: str) -> list[tuple[str, str]]:
    """Folder and name of each recorded answer of the tool's own service."""
    folder = f"payloads/{TOOLS[asked.partition('/')[0]].payloads}"
    return [(folder, file) for file in names_in(folder, "*.[jxh]*") if _is_of(asked, file)]


def _is_of(asked: str, file: str) -> bool:
    tool, _, provider = asked.partition("/")
    if TOOLS[tool].payloads != "websearch":
        return True
    return file.startswith(f"{provider or {'exa_web_search': 'exa'}.get(tool, '-')}_")


def _replying(folder: str, file: str) -> Any:
    """Answers every request with the recording; one of Linear's with each of its answers in turn, then the last."""
    content = shared(f"{folder}/{file}").read_bytes()
    if folder.endswith("linear"):
        replies = [Reply(one["response"], status=one["status"]) for one in json.loads(content)]
        return lambda request: replies.pop(0) if len(replies) > 1 else replies[0]
    kind = {"xml": "text/xml", "html": "text/html"}.get(file.rpartition(".")[2], "application/json")
    reply = Reply(content, status=STATUSES.get(file, 200), headers={"Content-Type": f"{kind}; charset=utf-8"})
    return lambda request: reply


@pytest.mark.parametrize("asked", [asked for asked in ASKED if recordings_of(asked)])
@pytest.mark.parametrize("size", [0, 1], ids=["little", "much"])
async def test_the_text_of_a_recorded_answer_keeps_to_the_tools_own_limit_so_that_no_run_cuts_it(
    asked: str, size: int
) -> None:
    for folder, file in recordings_of(asked):
        async with serving(_replying(folder, file)) as server, open_client(LIBRARIES[size].values[0]) as http:
            tool = tool_of(alone(http, config_for(server.url, asked=asked)), asked)
            asking = {parameter: bounds[size] for parameter, bounds in in_range(asked.partition("/")[0]).items()}
            result = await toolkit.execute(tool, arguments_of(tool, server.url) | asking)

        assert is_one_line_of_its_kind(result) or dataclasses.is_dataclass(result.value), (file, result)
        assert len(result.content.encode()) <= 4 * tool.max_result_tokens, file
        if not result.is_error:
            assert result.content == result.value.to_content(), file  # type: ignore[attr-defined]


@pytest.mark.parametrize("asked", [name for name, row in TOOLS.items() if row.needs])
async def test_what_lacks_its_key_contact_or_switch_answers_not_configured_and_says_what_to_set(asked: str) -> None:
    result = await called(BuiltinTools(http=None), asked, "http://127.0.0.1:9")

    assert is_one_line_of_its_kind(result), result
    assert result.error.kind == "not_configured"  # type: ignore[union-attr]
    assert f"`{TOOLS[asked].needs}`" in result.content


async def test_a_search_without_any_key_is_not_configured_where_tavily_may_not_be_asked_without_one() -> None:
    tools = BuiltinTools(config={"web_search": {"allow_keyless": False}}, http=None)

    result = await called(tools, "web_search", "")

    assert is_one_line_of_its_kind(result), result
    assert result.error.kind == "not_configured"  # type: ignore[union-attr]


async def test_reading_a_page_and_searching_without_a_key_need_no_configuration(http: Any) -> None:
    assert sorted(name for name, row in TOOLS.items() if not row.needs) == ["fetch_url", "web_search"]
    async with serving(fine) as server:
        tools = alone(
            http,
            {"fetch_url": {"allow_private": True}, "web_search": {"tavily": {"base_url": f"{server.url}/tavily"}}},
        )
        results = [await called(tools, name, server.url) for name in ("fetch_url", "web_search")]

    assert [result.is_error for result in results] == [False, False]
