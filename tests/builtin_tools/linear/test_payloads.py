"""Every recorded answer of Linear, served with its status and headers, gives the right values or the named error.

The recordings were made by another client, which asked in other documents: `get_issue_full` and others look an issue up
before they do what they are named for. So each answer is served to the operation that asks for the same field.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from builtin_tools.http import ServiceError
from builtin_tools.linear import Entry, IssueFilter, IssueUpdate, NewIssue
from builtin_tools.linear.operations import FIND_ISSUE, ISSUES, VIEWER, Operation
from builtin_tools.linear.readings import issue_of
from builtin_tools.linear.wire import Connection, IssueNode
from tests.builtin_tools.linear.answers import OURS, client_over, recorded, sent, variables_of, writer_over
from tests.http.clients import ManualClock
from tests.http.loopback import serving
from tests.shared_files import names_in

TEAM = "234c5451-a839-4c8f-98d9-da00973f1060"
TEST_10 = "1c2de93f-4321-4015-bfde-ee893ef7976f"
URL = "https://linear.app/linear-mcp-go-test/issue/TEST-10"
CREATED = datetime(2025, 3, 3, 11, 34, 49, 241_000, tzinfo=UTC)

SHOWN = {
    "add_comment_ok.json",
    "create_issue_ok.json",
    "error_authentication.json",
    "error_ratelimited_http400.json",
    "get_issue_full.json",
    "list_teams.json",
    "search_issues_by_team.json",
    "search_issues_empty.json",
    "update_issue_ok.json",
    "viewer_assigned_issues.json",
}


def test_every_recording_is_shown_here() -> None:
    assert set(names_in("payloads/linear", "*.json")) <= SHOWN


async def test_teams_are_listed_with_key_and_id(http: Any, clock: ManualClock) -> None:
    async with serving(recorded("list_teams.json")) as server:
        found = await client_over(http, server, clock).entries("teams")

    assert found.entries == (Entry(TEAM, "Test Team", "key TEST"),)
    assert found.next_cursor is None


async def test_issues_of_a_team_have_labels_and_may_have_no_assignee(http: Any, clock: ManualClock) -> None:
    async with serving(recorded("search_issues_by_team.json")) as server:
        found = await client_over(http, server, clock).issues(IssueFilter(team=TEAM), limit=5)

    assert sent(server, "issues")[0]["filter"] == {"team": {"id": {"eq": TEAM}}}
    assert [(one.identifier, one.title, one.labels) for one in found.issues] == [
        ("TEST-71", "Sub Issue with Labels", ("ws-label 2", "Feature")),
        ("TEST-70", "Issue with Labels", ("team label 1",)),
        ("TEST-69", "Sub Issue", ()),
        ("TEST-68", "Sub Issue", ()),
        ("TEST-67", "Test Issue with team key", ()),
    ]
    first = found.issues[0]
    assert (first.id, first.state, first.assignee, first.priority) == (
        "acdeb5e4-bf7e-4281-9a15-ffea27aa5965",
        "Backlog",
        None,
        0,
    )
    assert first.url == "https://linear.app/linear-mcp-go-test/issue/TEST-71/sub-issue-with-labels"


async def test_an_empty_page_of_issues_is_empty(http: Any, clock: ManualClock) -> None:
    async with serving(recorded("search_issues_empty.json")) as server:
        found = await client_over(http, server, clock).issues(IssueFilter())

    assert (found.issues, found.next_cursor, found.notes) == ((), None, ())


async def test_an_issue_is_read_with_nulls_where_nothing_is_set(http: Any, clock: ManualClock) -> None:
    (_, answer) = recorded("get_issue_full.json")
    async with serving(answer) as server:
        found = await client_over(http, server, clock).issue("TEST-10")

    assert sent(server, "issue")[0]["id"] == "TEST-10"
    one = found.issue
    assert (one.id, one.identifier, one.title) == (TEST_10, "TEST-10", "Updated Test Issue")
    assert one.url == f"{URL}/updated-test-issue"
    assert (one.state, one.assignee, one.team, one.project) == (
        "Backlog",
        "Test User A",
        "TEST",
        "MCP tool investigation",
    )
    assert one.created == CREATED
    assert one.updated == datetime(2025, 6, 28, 19, 53, 27, 855_000, tzinfo=UTC)
    assert (found.description, found.comments, found.linked, found.attachments) == ("", (), (), ())
    assert found.to_content().startswith(f"TEST-10 — Updated Test Issue\n{URL}/updated-test-issue\nBacklog;")


async def test_a_created_issue_is_read_from_an_answer_that_tells_its_rate_limits(http: Any, clock: ManualClock) -> None:
    async with serving(recorded("create_issue_ok.json")) as server:
        found = await writer_over(http, server, clock).create_issue(NewIssue("Test Issue", team=TEAM))

    assert [variables_of(request)["input"] for request in server.requests] == [
        {"id": OURS, "teamId": TEAM, "title": "Test Issue"}
    ]
    assert (found.action, found.issue.identifier, found.issue.url) == ("created", "TEST-10", f"{URL}/test-issue")
    assert (found.issue.created, found.issue.state, found.issue.team) == (CREATED, "Backlog", "TEST")
    assert found.notes == ()


async def test_an_updated_issue_is_read_and_what_changed_is_told(http: Any, clock: ManualClock) -> None:
    (_, before) = recorded("get_issue_full.json")
    (_, after) = recorded("update_issue_ok.json")
    async with serving([before, after]) as server:
        update = IssueUpdate(id="TEST-10", title="Updated Test Issue")
        found = await writer_over(http, server, clock).update_issue(update)

    assert sent(server, "issueUpdate") == [{"id": TEST_10, "input": {"title": "Updated Test Issue"}}]
    assert found.issue.identifier == "TEST-10"
    assert found.issue.updated == datetime(2025, 3, 30, 10, 9, 33, 866_000, tzinfo=UTC)
    assert found.changes == (
        "assignee from Test User A to none",
        "project from MCP tool investigation to none",
    )  # the recording does not tell them


async def test_an_added_comment_is_read_with_its_address(http: Any, clock: ManualClock) -> None:
    (_, answer) = recorded("add_comment_ok.json")
    async with serving(answer) as server:
        found = await writer_over(http, server, clock).add_comment("TEST-10", "Test comment")

    assert sent(server, "commentCreate") == [{"input": {"id": OURS, "issueId": "TEST-10", "body": "Test comment"}}]
    assert (found.id, found.issue) == ("ae3d62d6-3f40-4990-867b-5c97dd265a40", "TEST-10")
    assert found.url == f"{URL}/updated-test-issue#comment-ae3d62d6"
    assert found.created == datetime(2025, 3, 30, 13, 37, 20, 666_000, tzinfo=UTC)


@pytest.mark.parametrize("name", ["add_comment_ok.json", "get_issue_full.json", "update_issue_ok.json"])
async def test_an_issue_that_was_looked_up_in_a_list_is_read(http: Any, clock: ManualClock, name: str) -> None:
    async with serving(recorded(name)[0]) as server:
        reply = await client_over(http, server, clock).api.read(ISSUES, {"first": 1})

    assert [(one.id, one.identifier, one.title) for one in map(issue_of, reply.value.nodes)] == [
        (TEST_10, "TEST-10", "Updated Test Issue")
    ]


class Assigned(msgspec.Struct, rename="camel"):
    """The recorded client asked for the issues of a user; ours asks for issues with this assignee."""

    assigned_issues: Connection[IssueNode]


async def test_who_asks_and_the_issues_assigned_to_them_are_read(http: Any, clock: ManualClock) -> None:
    assigned = Operation("list assigned issues", "user", "{ user }", Assigned)
    async with serving(recorded("viewer_assigned_issues.json")) as server:
        api = client_over(http, server, clock).api
        viewer = await api.read(VIEWER, {})
        user = await api.read(assigned, {})

    assert viewer.value.id == "cc24eee4-9edc-4bfe-b91b-fedde125ba85"
    first, second = map(issue_of, user.value.assigned_issues.nodes)
    assert (first.identifier, first.state, first.priority) == ("TEST-10", "Backlog", 0)
    assert (second.identifier, second.title) == ("TEST-1", "Welcome to Linear 👋")
    assert (second.state, second.priority, second.priority_label) == ("Todo", 2, "High")


async def test_a_wrong_key_is_unauthorized_in_linears_words(http: Any, clock: ManualClock) -> None:
    async with serving(recorded("error_authentication.json")) as server:
        with pytest.raises(ServiceError) as caught:
            await client_over(http, server, clock).api.read(FIND_ISSUE, {"id": "TEST-10"})

    error = caught.value
    assert (error.kind, error.code, error.status) == ("unauthorized", "AUTHENTICATION_ERROR", 401)
    assert str(error) == (
        "unauthorized: Linear answered: You need to authenticate to access this operation. Tell the user; do not retry."
    )
    assert len(server.requests) == 1


async def test_a_rate_limit_that_comes_as_400_is_rate_limited_with_the_wait(http: Any) -> None:
    clock = ManualClock(1_791_290_000.0 - 600)
    async with serving(recorded("error_ratelimited_http400.json")) as server:
        with pytest.raises(ServiceError) as caught:
            await client_over(http, server, clock).issue("TEST-10")

    error = caught.value
    assert (error.kind, error.code, error.status) == ("rate_limited", "RATELIMITED", 400)
    assert error.retry_after == pytest.approx(600.0)
    assert str(error) == ("rate limited: Linear answered: Rate limit exceeded. Wait 600 seconds before trying again.")
    assert len(server.requests) == 1  # longer than this client waits
