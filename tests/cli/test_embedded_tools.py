"""`toolwire call` on the built-in tools of an application, whose HTTP client answers by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Command

DESK = """
import httpx
from dependency_injector import containers, providers

from containers import BuiltinTools
from toolkit import Agent
from toolkit.hooks import Allow
from toolkit.injection import AppScoped, provide

ISSUE = {"identifier": "ENG-1", "title": "Login redirects twice", "url": "https://linear.app/acme/issue/ENG-1"}


def answer(request):
    page = {"nodes": [ISSUE], "totalCount": 1.0}
    return httpx.Response(200, json={"data": {"searchIssues": page, "issueDelete": {"success": True, "entity": ISSUE}}})


class AllowEverything:
    def on_before_call(self, ctx, call):
        return Allow()


class Desk(containers.DeclarativeContainer):
    config = providers.Configuration()
    http = AppScoped(httpx.AsyncClient, transport=httpx.MockTransport(answer))
    tools = providers.Container(BuiltinTools, config=config, http=http)
    agent = provide(Agent, tools=[])
    trusted = provide(Agent, tools=[], hooks=[AllowEverything()])


desk = Desk(config={"linear": {"api_key": "lin_api_x", "deletes": True}})
"""


@pytest.fixture(autouse=True)
def _desk(folder: Path) -> None:
    (folder / "desk.py").write_text(DESK)


def test_a_built_in_tool_is_called_by_its_name(toolwire: Command) -> None:
    answer = toolwire("call", "linear_search_issues", '{"query": "login"}', "--app", "desk:desk")

    assert (answer.status, answer.err) == (0, "")
    assert answer.out == (
        '1 issue for "login" (Linear)\n'
        "[1] ENG-1 — Login redirects twice\n"
        "https://linear.app/acme/issue/ENG-1\n"
        "no assignee\n"
    )


def test_its_arguments_are_validated(toolwire: Command) -> None:
    answer = toolwire("call", "linear_search_issues", '{"words": "login"}', "--app", "desk:desk")

    assert answer.status == 1
    assert "$.query: 'query' is a required property" in answer.err


def test_a_write_goes_through_the_agents_guards(toolwire: Command) -> None:
    call = ("call", "linear_delete_issue", '{"id": "ENG-1"}', "--app", "desk:desk")
    denied = toolwire(*call)
    allowed = toolwire(*call, "--agent", "trusted")

    assert denied.err == "toolwire: tool 'linear_delete_issue' needs an approval, and none was given\n"
    assert allowed.out == "moved ENG-1 — Login redirects twice to the trash, where it stays for 30 days\n"
