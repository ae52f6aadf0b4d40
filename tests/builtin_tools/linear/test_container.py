"""The Linear tools of `BuiltinTools`: offered, approved, overridden; and the key that nobody sees."""

from __future__ import annotations

import json
import logging
import pickle
import traceback
from functools import partial
from typing import Any

import pytest
from dependency_injector import containers, providers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import toolkit
from containers import BuiltinTools
from tests.builtin_tools.linear.answers import (
    ISSUE,
    KEY,
    TEAM,
    answering,
    failed,
    fields_sent,
    issue,
    page,
)
from tests.http.clients import LIBRARIES, ManualClock, open_client
from tests.http.loopback import GUARD, LoopbackServer, Received, Reply, serving
from toolkit import Agent, Run, RunContext
from toolkit.context import RequestedCall
from toolkit.hooks import Allow
from toolkit.injection import application, check, provide
from toolkit.testing import ScriptedModel, call, calls, says

READING = ["linear_search_issues", "linear_list_issues", "linear_get_issue", "linear_list"]
WRITING = ["linear_create_issue", "linear_update_issue", "linear_add_comment"]
DELETING = ["linear_delete_issue"]
ALL = [*READING, *WRITING, *DELETING]

ARGUMENTS: dict[str, dict[str, Any]] = {
    "linear_search_issues": {"query": "login"},
    "linear_list_issues": {"assignee": "me"},
    "linear_get_issue": {"id": "ENG-1"},
    "linear_list": {"kind": "teams"},
    "linear_create_issue": {"title": "x", "team": TEAM},
    "linear_update_issue": {"id": "ENG-1", "title": "x"},
    "linear_add_comment": {"issue": "ENG-1", "body": "x"},
    "linear_delete_issue": {"id": "ENG-1"},
}

FINE = answering(
    searchIssues=page(issue()),
    issues=page(issue()),
    issue=issue(),
    teams=page({"id": TEAM, "key": "ENG", "name": "Engineering"}),
    issueCreate={"success": True, "issue": issue()},
    issueUpdate={"success": True, "issue": issue()},
    commentCreate={"success": True, "comment": {"id": ISSUE, "url": "https://linear.app/c"}},
    issueDelete={"success": True, "entity": {"identifier": "ENG-1", "title": "Login"}},
)


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LINEAR_API_KEY", "LINEAR_TEAM_ID", "TOOLWIRE_CONTACT"):
        monkeypatch.delenv(name, raising=False)


def linear(server: LoopbackServer, **more: Any) -> dict[str, Any]:
    return {"timeout": GUARD, "linear": {"api_key": KEY, "base_url": server.url, **more}}


def tools_over(http: Any, config: Any, clock: ManualClock | None = None) -> BuiltinTools:
    tools = BuiltinTools(config=config, http=http)
    tools.clock.override(providers.Object(ManualClock() if clock is None else clock))
    return tools


class AllowEverything:
    def on_before_call(self, ctx: RunContext, call: RequestedCall) -> Any:
        return Allow()


async def run_of(http_client: Any, config: Any, name: str, *, guards: Any = ()) -> tuple[Run, list[str]]:
    """A run in which a model calls one tool of an embedded container, and the names that it was shown."""

    class Application(containers.DeclarativeContainer):
        config = providers.Configuration(strict=True)
        http = providers.Object(http_client)
        builtin_tools = providers.Container(BuiltinTools, config=config.tools, http=http)
        agent = provide(Agent, tools=[*map(partial(getattr, builtin_tools), ALL)], hooks=guards)

    model = ScriptedModel([calls(call(name, ARGUMENTS[name])), says("done")])
    async with application(Application(config={"tools": config})) as app:
        run = await app.agent().run("Go on!", model=model)
    return run, [shown.name for shown in model.requests[0].tools]


@pytest.mark.parametrize("name", ALL)
def test_each_tool_has_a_provider_of_its_name(name: str) -> None:
    tool = getattr(BuiltinTools(http=None), name)()

    assert toolkit.definition(tool).name == name


@pytest.mark.parametrize(
    ("switches", "shown"),
    [
        ({}, READING),
        ({"writes": True}, [*READING, *WRITING]),
        ({"deletes": "yes"}, [*READING, *DELETING]),
        ({"writes": True, "deletes": True}, ALL),
        ({"writes": False, "deletes": "off"}, READING),
    ],
    ids=str,
)
async def test_a_model_is_shown_the_tools_that_the_configuration_switches_on(
    switches: dict[str, Any], shown: list[str]
) -> None:
    async with serving(FINE) as server, open_client(LIBRARIES[0].values[0]) as http:
        _, names = await run_of(http, linear(server, **switches), "linear_get_issue")

    assert names == shown


@pytest.mark.parametrize("name", [*WRITING, *DELETING])
async def test_a_tool_that_is_switched_off_is_unknown_to_the_run(name: str) -> None:
    async with serving(FINE) as server, open_client(LIBRARIES[0].values[0]) as http:
        run, _ = await run_of(http, linear(server), name, guards=[AllowEverything()])

    assert run.calls[0].result.content.startswith(f"unknown tool '{name}'")
    assert server.requests == []


@pytest.mark.parametrize("name", [*WRITING, *DELETING])
async def test_a_tool_that_is_switched_off_and_called_by_hand_sends_nothing(name: str) -> None:
    async with serving(FINE) as server, open_client(LIBRARIES[0].values[0]) as http:
        tool = getattr(tools_over(http, linear(server)), name)()
        result = await toolkit.execute(tool, ARGUMENTS[name])

    assert result.is_error
    assert result.content.startswith("not configured: ")
    assert server.requests == []


@pytest.mark.parametrize("name", [*WRITING, *DELETING])
async def test_a_write_is_denied_without_a_guard(name: str) -> None:
    async with serving(FINE) as server, open_client(LIBRARIES[0].values[0]) as http:
        run, names = await run_of(http, linear(server, writes=True, deletes=True), name)

    assert name in names
    assert run.calls[0].result.is_error
    assert run.calls[0].result.content == f"tool '{name}' needs an approval, and none was given"
    assert server.requests == []
    assert run.outcome == "completed"


@pytest.mark.parametrize("name", [*WRITING, *DELETING])
@pytest.mark.parametrize("library", LIBRARIES)
async def test_a_write_that_a_guard_allows_is_made(library: Any, name: str) -> None:
    async with serving(FINE) as server, open_client(library) as http:
        run, _ = await run_of(http, linear(server, writes=True, deletes=True), name, guards=[AllowEverything()])

    assert not run.calls[0].result.is_error, run.calls[0].result.content
    assert fields_sent(server)[-1] in ("issueCreate", "issueUpdate", "commentCreate", "issueDelete")


@pytest.mark.parametrize("name", READING)
async def test_reading_needs_no_approval(name: str) -> None:
    async with serving(FINE) as server, open_client(LIBRARIES[0].values[0]) as http:
        run, _ = await run_of(http, linear(server), name)

    assert not run.calls[0].result.is_error


@pytest.mark.parametrize("config", [{}, {"linear": None}, {"linear": {"writes": True}}], ids=str)
async def test_without_a_key_the_application_starts_and_the_tools_answer_not_configured(config: Any) -> None:
    run, names = await run_of(None, config, "linear_search_issues")

    assert "linear_search_issues" in names
    assert run.calls[0].result.content.startswith("not configured: there is no key for Linear")


def test_the_container_is_wired_well() -> None:
    check(BuiltinTools(http=None))


async def test_writers_of_one_container_share_what_they_do_not_know_to_be_made() -> None:
    replies = iter([*[Reply(status=503)] * 3, {"success": True, "issue": issue()}])
    answers = answering(issueCreate=replies, issue=failed("Entity not found: Issue"))
    async with serving(answers) as server, open_client(LIBRARIES[0].values[0]) as http:
        tools = tools_over(http, linear(server, writes=True))
        results = [
            await toolkit.execute(tools.linear_create_issue(), ARGUMENTS["linear_create_issue"]) for _ in range(2)
        ]

    assert [result.is_error for result in results] == [True, False]
    assert len({_input_id(request) for request in server.requests if b"issueCreate" in request.body}) == 1


def _input_id(request: Received) -> str:
    found: str = json.loads(request.body)["variables"]["input"]["id"]
    return found


def echoing(status: int, text: str) -> Any:
    """A server that tells the caller's own headers back, in its words and in Linear's."""

    def answer(request: Received) -> Reply:
        told = f"{text} {request.headers.get('authorization')} {dict(request.headers)}"
        body = {"errors": [{"message": told, "extensions": {"code": text, "userPresentableMessage": told}}]}
        return Reply(body if status % 2 else told, status=status)

    return answer


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(ALL),
    status=st.sampled_from([200, 201, 400, 401, 403, 404, 429, 500, 503]),
    text=st.sampled_from(["RATELIMITED", "INPUT_ERROR", "x", "conflict on insert"]),
    prefix=st.sampled_from(["", "Bearer "]),
    library=st.sampled_from([library.values[0] for library in LIBRARIES]),
)
async def test_the_key_is_in_no_log_exception_repr_or_text_for_the_model(
    caplog: pytest.LogCaptureFixture, name: str, status: int, text: str, prefix: str, library: Any
) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.clear()
    async with serving(echoing(status, text)) as server, open_client(library) as http:
        config = linear(server, api_key=prefix + KEY, writes=True, deletes=True)
        tools = tools_over(http, config)
        tool = getattr(tools, name)()
        result = await toolkit.execute(tool, ARGUMENTS[name])

    assert server.requests[0].headers["authorization"].endswith(KEY)
    client = tool.client if name in READING else tool.writer
    shown = [repr(tool), repr(vars(tool)), repr(client), repr(client.settings), result.content, repr(result)]
    error: BaseException | None = result.error
    while error is not None:
        shown += [str(error), repr(error), repr(vars(error)), *traceback.format_exception(error)]
        error = error.__cause__ or error.__context__
    shown += [record.getMessage() + repr(vars(record)) for record in caplog.records]
    assert result.is_error
    assert all(KEY not in one for one in shown)


def test_the_key_is_not_written_to_files() -> None:
    tool = tools_over(None, {"linear": {"api_key": KEY}}).linear_search_issues()

    with pytest.raises(TypeError):
        pickle.dumps(tool.client.settings)
