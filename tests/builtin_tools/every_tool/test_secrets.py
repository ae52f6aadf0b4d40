"""No key is shown by any tool: not by a log, an exception, a repr, or a text for the model, whatever a service says."""

from __future__ import annotations

import asyncio
import json
import logging
import traceback
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.builtin_tools.every_tool.table import (
    ASKED,
    CONTACT,
    EACH_SERVICE,
    TOOLS,
    alone,
    called,
    config_for,
    fine,
    said_in,
    tool_of,
)
from tests.builtin_tools.keys import KEYS, parts_shown
from tests.http.clients import LIBRARIES, open_client
from tests.http.loopback import GUARD, Received, Reply, serving
from toolkit import ToolResult

WITHOUT_KEY = {"fetch_url", "wikipedia_search", "wikipedia_page"}


def echo(status: int, form: str, before: int) -> Any:
    """A careless server: it says back what it was told, in the forms in which services say that something failed."""

    def answer(request: Received) -> Reply:
        said = f"{'x' * before} {said_in(request)}"
        code = request.headers.get("authorization") or request.headers.get("x-api-key") or said
        error = {"message": said, "code": code, "extensions": {"code": code, "userPresentableMessage": said}}
        bodies: dict[str, Any] = {
            "text": said,
            "fields": {"error": said, "message": said, "detail": {"error": said}, "tag": code, "requestId": code},
            "errors": {"errors": [error], "error": {"code": code, "info": said, "detail": said}, "data": None},
            "page": f"<html><body><p>{said}</p></body></html>",
            "XML": f"<eSearchResult><ERROR><![CDATA[{said}]]></ERROR></eSearchResult>",
        }
        body = bodies[form]
        kind = "application/json" if isinstance(body, dict) else "text/html"
        return Reply(body if isinstance(body, str) else json.dumps(body), status, {"Content-Type": kind})

    return answer


def shown_by(result: ToolResult) -> Iterator[str]:
    """All that the application and the model are shown of a call."""
    yield f"{result!r} {result.content} {result.value!r}"
    error: BaseException | None = result.error
    if error is not None:
        yield "".join(traceback.format_exception(error))
    while error is not None:
        yield f"{error!r} {error} {vars(error)}"
        error = error.__cause__ or error.__context__


def shown_by_objects(found: Any, seen: set[int]) -> Iterator[str]:
    """What the tool and all of our objects that hang on it show of themselves."""
    if id(found) in seen:
        return
    seen.add(id(found))
    yield f"{found!r} {found}"
    held = list(getattr(found, "__dict__", {}).values())
    held += [getattr(found, name, None) for name in getattr(type(found), "__slots__", ())]
    for inner in held:
        for one in inner.values() if isinstance(inner, dict) else [inner]:
            if type(one).__module__.startswith("builtin_tools"):
                yield from shown_by_objects(one, seen)


async def all_that_is_shown(library: Any, asked: str, key: str, answers: Any) -> tuple[list[str], list[Received]]:
    async with serving(answers) as server, open_client(library) as http, asyncio.timeout(GUARD):
        tools = alone(http, config_for(server.url, key, asked))
        result = await called(tools, asked, server.url)
        shown = [*shown_by(result), *shown_by_objects(tool_of(tools, asked), set()), repr(tools), repr(tools.config)]
        return shown, server.requests


@pytest.mark.parametrize("library", LIBRARIES)
@EACH_SERVICE
@settings(
    max_examples=6,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],  # each example is a server and a client: shrinking takes minutes
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    key=KEYS,
    status=st.sampled_from([200, 400, 401, 403, 404, 422, 429, 500]),
    form=st.sampled_from(["text", "fields", "errors", "page", "XML"]),
    before=st.integers(0, 300),
)
def test_whatever_the_key_is_and_the_service_says_nobody_is_shown_any_of_it(
    caplog: pytest.LogCaptureFixture, library: Any, asked: str, key: str, status: int, form: str, before: int
) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.clear()

    shown, requests = asyncio.run(all_that_is_shown(library, asked, key, echo(status, form, before)))

    shown += [f"{record.getMessage()} {record.__dict__}" for record in caplog.records]
    assert caplog.records
    assert requests
    assert [text for text in shown if parts_shown(key, text)] == []
    assert [text for text in shown if CONTACT in text] == []


@pytest.mark.parametrize("library", LIBRARIES)
@EACH_SERVICE
def test_a_call_that_succeeds_shows_no_key_and_its_service_was_told_it(
    caplog: pytest.LogCaptureFixture, library: Any, asked: str
) -> None:
    caplog.set_level(logging.DEBUG)
    key = "Qz7~4f0c9d2b8e"

    shown, requests = asyncio.run(all_that_is_shown(library, asked, key, fine))

    shown += [f"{record.getMessage()} {record.__dict__}" for record in caplog.records]
    assert [text for text in shown if parts_shown(key, text) or CONTACT in text] == []
    told = [key in said_in(request) or "Qz7%7E" in said_in(request) for request in requests]
    assert told == [asked not in WITHOUT_KEY] * len(requests)


def test_every_tool_is_asked_here() -> None:
    assert {asked.partition("/")[0] for asked in ASKED} == set(TOOLS)
