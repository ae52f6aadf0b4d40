"""What is written goes out once, or under its own id; and only where the settings allow it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from datetime import date
from typing import Any

import pytest

import toolkit
from builtin_tools.http import ServiceError
from builtin_tools.linear import (
    IssueUpdate,
    LinearAddComment,
    LinearCreateIssue,
    LinearDeleteIssue,
    LinearUpdateIssue,
    LinearWriter,
    NewIssue,
)
from tests.builtin_tools.linear.answers import (
    ADA,
    BUG,
    COMMENT,
    ISSUE,
    NOT_FOUND,
    OURS,
    PROJECT,
    TEAM,
    TODO,
    answering,
    client_over,
    failed,
    fields_sent,
    issue,
    label,
    page,
    sent,
    state,
    team,
    user,
    writer_over,
)
from tests.http.clients import ManualClock
from tests.http.loopback import Reply, serving

CREATED = {"success": True, "issue": issue()}
COMMENTED = {
    "success": True,
    "comment": {
        "id": OURS,
        "url": "https://linear.app/acme/issue/ENG-1#comment-1",
        "createdAt": "2026-11-30T10:00:00Z",
        "issue": {"identifier": "ENG-1", "title": "Login"},
    },
}
CONFLICT = failed("conflict on insert of Issue", userPresentableMessage="An issue of this id exists already.")
NEW = NewIssue("Login redirects twice", team=TEAM)


async def test_an_issue_is_created_with_all_that_is_given(http: Any, clock: ManualClock) -> None:
    parts: dict[str, Any] = {
        "teams": page(team()),
        "workflowStates": page(state("Todo")),
        "users": page(user("Ada Lovelace", "ada")),
        "issueLabels": page(label("Bug")),
        "projects": page({"id": PROJECT, "name": "Apollo", "slugId": "f00d"}),
        "issueCreate": CREATED,
    }
    async with serving(answering(**parts)) as server:
        result = await toolkit.execute(
            LinearCreateIssue(writer_over(http, server, clock)),
            {
                "title": " Login redirects twice ",
                "team": "ENG",
                "description": "## Steps",
                "priority": "urgent",
                "state": "Todo",
                "assignee": "ada",
                "labels": ["Bug"],
                "project": "Apollo",
                "parent": "eng-2",
                "due_date": "2026-12-24",
                "estimate": 0,
            },
        )

    assert sent(server, "issueCreate") == [
        {
            "input": {
                "id": OURS,
                "teamId": TEAM,
                "title": "Login redirects twice",
                "description": "## Steps",
                "priority": 1,
                "stateId": TODO,
                "assigneeId": ADA,
                "labelIds": [BUG],
                "projectId": PROJECT,
                "parentId": "ENG-2",
                "dueDate": "2026-12-24",
                "estimate": 0,
            }
        }
    ]
    assert result.content == (
        "created ENG-1 — Login redirects twice\n"
        "https://linear.app/acme/issue/ENG-1/login\n"
        "Todo; priority high; assignee ada; team ENG; labels Bug; created 2026-11-01; updated 2026-11-20"
    )


async def test_the_team_of_the_settings_gets_an_issue_that_names_none(http: Any, clock: ManualClock) -> None:
    async with serving(answering(issueCreate=CREATED)) as server:
        await writer_over(http, server, clock, team=TEAM).create_issue(NewIssue("x"))

    assert sent(server, "issueCreate") == [{"input": {"id": OURS, "teamId": TEAM, "title": "x"}}]


async def test_each_issue_and_comment_has_an_id_of_its_own_by_default(http: Any, clock: ManualClock) -> None:
    async with serving(answering(issueCreate=CREATED, commentCreate=COMMENTED)) as server:
        writer = LinearWriter(client_over(http, server, clock, writes=True), clock=clock)
        for _ in range(2):
            await writer.create_issue(NEW)
            await writer.add_comment("ENG-1", "same")

    ids = [one["input"]["id"] for field in ("issueCreate", "commentCreate") for one in sent(server, field)]
    assert len(set(ids)) == 4
    assert all(re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", one) for one in ids)


async def test_only_the_given_fields_of_an_issue_change(http: Any, clock: ManualClock) -> None:
    after = issue(
        state={"name": "Done", "type": "completed"}, assignee=None, labels={"nodes": []}, dueDate="2026-12-24"
    )
    parts: dict[str, Any] = {
        "issue": issue(),
        "workflowStates": page(state("Done", "completed")),
        "issueLabels": page(label("Bug")),
        "issueUpdate": {"success": True, "issue": after},
    }
    async with serving(answering(**parts)) as server:
        result = await toolkit.execute(
            LinearUpdateIssue(writer_over(http, server, clock)),
            {
                "id": "https://linear.app/acme/issue/ENG-1/login",
                "state": "Done",
                "assignee": None,
                "remove_labels": ["Bug"],
                "due_date": "2026-12-24",
                "description": "New text",
            },
        )

    assert sent(server, "issue") == [{"id": "ENG-1"}]
    assert sent(server, "workflowStates")[0]["filter"]["team"] == {"id": {"eq": TEAM}}
    assert sent(server, "issueUpdate") == [
        {
            "id": ISSUE,
            "input": {
                "description": "New text",
                "stateId": TODO,
                "assigneeId": None,
                "dueDate": "2026-12-24",
                "removedLabelIds": [BUG],
            },
        }
    ]
    assert result.content.endswith(
        "changed: state from Todo to Done\n"
        "changed: assignee from ada to none\n"
        "changed: labels from Bug to none\n"
        "changed: due from none to 2026-12-24\n"
        "changed: description"
    )


async def test_null_empties_a_field(http: Any, clock: ManualClock) -> None:
    empty = ("description", "priority", "assignee", "labels", "project", "parent", "due_date", "estimate", "cycle")
    async with serving(answering(issue=issue(), issueUpdate=CREATED)) as server:
        result = await toolkit.execute(
            LinearUpdateIssue(writer_over(http, server, clock)), {"id": "ENG-1", **dict.fromkeys(empty)}
        )

    assert not result.is_error
    assert sent(server, "issueUpdate")[0]["input"] == {
        "description": None,
        "priority": 0,
        "assigneeId": None,
        "labelIds": [],
        "projectId": None,
        "parentId": None,
        "dueDate": None,
        "estimate": None,
        "cycleId": None,
    }


@pytest.mark.parametrize(
    "arguments",
    [
        {"id": "ENG-1"},
        {"id": "ENG-1", "title": "  "},
        {"id": "ENG-1", "title": None},
        {"id": "ENG-1", "add_labels": None},
        {"id": "ENG-1", "stateId": TODO},
        {"id": "nothing", "title": "x"},
        {"title": "x"},
    ],
    ids=str,
)
async def test_an_update_that_changes_nothing_or_can_not_be_meant_is_not_sent(
    http: Any, clock: ManualClock, arguments: dict[str, Any]
) -> None:
    async with serving(answering(issue=issue())) as server:
        result = await toolkit.execute(LinearUpdateIssue(writer_over(http, server, clock)), arguments)

    assert result.is_error
    assert "issueUpdate" not in fields_sent(server)


async def test_a_comment_may_answer_another(http: Any, clock: ManualClock) -> None:
    async with serving(answering(commentCreate=COMMENTED)) as server:
        result = await toolkit.execute(
            LinearAddComment(writer_over(http, server, clock)),
            {"issue": "ENG-1", "body": "Done.\n", "parent_comment": COMMENT.upper()},
        )

    assert sent(server, "commentCreate") == [
        {"input": {"id": OURS, "issueId": "ENG-1", "body": "Done.\n", "parentId": COMMENT}}
    ]
    assert result.content == (f"commented on ENG-1 (comment {OURS})\nhttps://linear.app/acme/issue/ENG-1#comment-1")


@pytest.mark.parametrize(
    "arguments", [{"issue": "ENG-1", "body": " \n"}, {"issue": "ENG-1", "body": "x", "parent_comment": "x" * 36}]
)
async def test_a_comment_that_can_not_be_meant_is_not_sent(
    http: Any, clock: ManualClock, arguments: dict[str, Any]
) -> None:
    async with serving(answering()) as server:
        result = await toolkit.execute(LinearAddComment(writer_over(http, server, clock)), arguments)

    assert result.content.startswith("invalid input: ")
    assert server.requests == []


async def test_a_deleted_issue_goes_to_the_trash_and_not_further(http: Any, clock: ManualClock) -> None:
    deleted = {"success": True, "entity": {"identifier": "ENG-1", "title": "Login"}}
    async with serving(answering(issueDelete=deleted)) as server:
        result = await toolkit.execute(LinearDeleteIssue(writer_over(http, server, clock)), {"id": "eng-1"})

    assert sent(server, "issueDelete") == [{"id": "ENG-1"}]
    assert result.content == "moved ENG-1 — Login to the trash, where it stays for 30 days"


Write = Callable[[LinearWriter], Awaitable[Any]]


def create(writer: LinearWriter) -> Awaitable[Any]:
    return writer.create_issue(NEW)


def comment(writer: LinearWriter) -> Awaitable[Any]:
    return writer.add_comment("ENG-1", "Done.")


def update(writer: LinearWriter) -> Awaitable[Any]:
    return writer.update_issue(IssueUpdate(id="ENG-1", title="x"))


def delete(writer: LinearWriter) -> Awaitable[Any]:
    return writer.delete_issue("ENG-1")


MAKING = [
    pytest.param(create, "issueCreate", CREATED, "issue", issue(), id="create"),
    pytest.param(comment, "commentCreate", COMMENTED, "comment", COMMENTED["comment"], id="comment"),
]
CHANGING = [pytest.param(update, "issueUpdate", id="update"), pytest.param(delete, "issueDelete", id="delete")]

LOST = [
    pytest.param(Reply(status=500), id="500"),
    pytest.param(Reply("<html>bad gateway</html>", status=502), id="502"),
    pytest.param(Reply('{"data": {"issueCreate"', breaks_off=True), id="cut off"),
    pytest.param(failed("x", "INTERNAL_SERVER_ERROR", "internal error"), id="internal error"),
]
UNREADABLE = [
    pytest.param(Reply("<html>welcome</html>"), id="html with 200"),
    pytest.param(Reply({"data": None}), id="no data"),
    pytest.param(Reply({"data": {"issueCreate": 5, "commentCreate": 5}}), id="other data"),
    pytest.param(Reply("[" * 100_000), id="deep"),
]


@pytest.mark.parametrize("reply", LOST)
@pytest.mark.parametrize(("write", "field", "made", "finding", "found"), MAKING)
async def test_what_is_made_is_sent_again_under_the_same_id(
    http: Any, clock: ManualClock, write: Write, field: str, made: Any, finding: str, found: Any, reply: Reply
) -> None:
    async with serving(answering(**{field: iter([reply, made])})) as server:
        await write(writer_over(http, server, clock))

    first, second = sent(server, field)
    assert first == second
    assert first["input"]["id"] == OURS


@pytest.mark.parametrize(("write", "field", "made", "finding", "found"), MAKING)
async def test_a_repeat_that_is_refused_because_the_first_one_arrived_is_a_success(
    http: Any, clock: ManualClock, write: Write, field: str, made: Any, finding: str, found: Any
) -> None:
    parts: dict[str, Any] = {field: iter([Reply(status=503), CONFLICT]), finding: found}
    async with serving(answering(**parts)) as server:
        result = await write(writer_over(http, server, clock))

    assert fields_sent(server) == [field, field, finding]
    assert sent(server, finding) == [{"id": OURS}]
    assert "nothing was made twice" in result.notes[0]
    assert "ENG-1" in result.to_content()


@pytest.mark.parametrize("reply", UNREADABLE)
@pytest.mark.parametrize(("write", "field", "made", "finding", "found"), MAKING)
async def test_after_an_answer_that_can_not_be_read_what_was_made_is_found_by_its_id(
    http: Any, clock: ManualClock, write: Write, field: str, made: Any, finding: str, found: Any, reply: Reply
) -> None:
    async with serving(answering(**{field: reply, finding: found})) as server:
        result = await write(writer_over(http, server, clock))

    assert fields_sent(server) == [field, finding]
    assert "nothing was made twice" in result.notes[0]


@pytest.mark.parametrize(("write", "field", "made", "finding", "found"), MAKING)
async def test_what_was_not_made_is_told_so_and_the_next_try_carries_the_same_id(
    http: Any, clock: ManualClock, write: Write, field: str, made: Any, finding: str, found: Any
) -> None:
    replies = [*[Reply(status=503)] * 3, made, made]
    async with serving(answering(**{field: iter(replies), finding: NOT_FOUND})) as server:
        writer = LinearWriter(client_over(http, server, clock, writes=True), clock=clock)
        with pytest.raises(ServiceError) as caught:
            await write(writer)
        await write(writer)
        await write(writer)

    assert str(caught.value) == (
        "unavailable: Linear failed (HTTP 503). It was not made; to call again with the same arguments makes no "
        "second one."
    )
    ids = [one["input"]["id"] for one in sent(server, field)]
    assert len(set(ids[:4])) == 1
    assert ids[4] != ids[3]  # known to be made, so that this is another one


@pytest.mark.parametrize(("write", "field", "made", "finding", "found"), MAKING)
async def test_where_not_even_that_can_be_found_out_it_is_said_that_a_repeat_is_safe(
    http: Any, clock: ManualClock, write: Write, field: str, made: Any, finding: str, found: Any
) -> None:
    async with serving(Reply(status=503)) as server:
        with pytest.raises(ServiceError, match="Whether it was made is not known; to call again with the same"):
            await write(writer_over(http, server, clock))

    assert fields_sent(server) == [field] * 3 + [finding] * 3


async def test_another_writer_of_the_application_carries_the_same_id_too(http: Any, clock: ManualClock) -> None:
    replies = iter([*[Reply(status=503)] * 3, CREATED])
    async with serving(answering(issueCreate=replies, issue=NOT_FOUND)) as server:
        client = client_over(http, server, clock, writes=True)
        first = LinearWriter(client, clock=clock)
        second = LinearWriter(client_over(http, server, clock, writes=True), open_writes=first.open_writes, clock=clock)
        with pytest.raises(ServiceError):
            await first.create_issue(NEW)
        await second.create_issue(NEW)

    assert len({one["input"]["id"] for one in sent(server, "issueCreate")}) == 1


async def test_another_issue_never_takes_the_id_of_one_that_was_lost(http: Any, clock: ManualClock) -> None:
    replies = iter([*[Reply(status=503)] * 3, CREATED])
    async with serving(answering(issueCreate=replies, issue=NOT_FOUND)) as server:
        writer = LinearWriter(client_over(http, server, clock, writes=True), clock=clock)
        with pytest.raises(ServiceError):
            await writer.create_issue(NEW)
        await writer.create_issue(NewIssue("Another one", team=TEAM, due_date=date(2026, 12, 24)))

    ids = [one["input"]["id"] for one in sent(server, "issueCreate")]
    assert ids[3] != ids[2]


@pytest.mark.parametrize("reply", [*LOST, *UNREADABLE])
@pytest.mark.parametrize(("write", "field"), CHANGING)
async def test_a_change_is_sent_once_and_it_is_said_that_it_may_be_done(
    http: Any, clock: ManualClock, write: Write, field: str, reply: Reply
) -> None:
    async with serving(answering(**{field: reply, "issue": issue()})) as server:
        with pytest.raises(
            ServiceError, match=r"Whether it was done is not known; look with linear_get_issue first\.$"
        ):
            await write(writer_over(http, server, clock))

    assert fields_sent(server).count(field) == 1


EVERY = [*[pytest.param(*one.values[:2], id=one.id) for one in MAKING], *CHANGING]


@pytest.mark.parametrize(("write", "field"), EVERY)
async def test_a_write_that_hangs_ends_in_time_and_leaves_nothing_open(
    http: Any, clock: ManualClock, write: Write, field: str
) -> None:
    async with serving(answering(**{field: Reply(never=True), "issue": issue(), "comment": NOT_FOUND})) as server:
        writer = writer_over(http, server, clock, timeout=0.2)
        if field == "issueCreate":
            assert "nothing was made twice" in (await write(writer)).notes[0]
        else:
            with pytest.raises(ServiceError, match=r"did not answer within 0\.2 seconds"):
                await write(writer)
        assert fields_sent(server).count(field) == (3 if field in ("issueCreate", "commentCreate") else 1)
        await http.aclose()
        await server.until_no_connection()


REFUSED = [
    pytest.param(failed("Argument Validation Error", "INVALID_INPUT"), "invalid_input", id="invalid input"),
    pytest.param(failed("no", "FORBIDDEN", "forbidden"), "unauthorized", id="forbidden"),
    pytest.param(failed("no", "USAGE_LIMIT_EXCEEDED", "usage limit exceeded"), "quota_exhausted", id="usage limit"),
    pytest.param(Reply("no", status=401), "unauthorized", id="401"),
    pytest.param(Reply("no", status=404), "not_found", id="404"),
]


@pytest.mark.parametrize(("reply", "kind"), REFUSED)
@pytest.mark.parametrize(("write", "field"), EVERY)
async def test_what_linear_refuses_is_not_done_and_not_looked_for(
    http: Any, clock: ManualClock, write: Write, field: str, reply: Reply, kind: str
) -> None:
    async with serving(answering(**{field: reply, "issue": issue()})) as server:
        with pytest.raises(ServiceError) as caught:
            await write(writer_over(http, server, clock))

    assert caught.value.kind == kind
    assert fields_sent(server) == (["issue", field] if field == "issueUpdate" else [field])


@pytest.mark.parametrize(("write", "field"), EVERY)
async def test_a_rate_limit_is_told_with_its_wait(http: Any, clock: ManualClock, write: Write, field: str) -> None:
    limited = Reply(
        {"errors": [{"message": "Rate limit exceeded", "extensions": {"code": "RATELIMITED"}}]},
        status=400,
        headers={
            "X-RateLimit-Requests-Remaining": "0",
            "X-RateLimit-Requests-Reset": str(int((clock.now() + 90) * 1000)),
        },
    )
    async with serving(answering(**{field: limited, "issue": issue()})) as server:
        with pytest.raises(ServiceError, match="Wait 90 seconds") as caught:
            await write(writer_over(http, server, clock))

    assert caught.value.kind == "rate_limited"
    assert fields_sent(server).count(field) == 1


@pytest.mark.parametrize(("write", "field"), EVERY)
async def test_success_false_is_an_error(http: Any, clock: ManualClock, write: Write, field: str) -> None:
    async with serving(answering(**{field: {"success": False}, "issue": issue()})) as server:
        with pytest.raises(ServiceError, match=r"Linear did not .*, and does not say why"):
            await write(writer_over(http, server, clock))

    assert fields_sent(server).count(field) == 1


@pytest.mark.parametrize(("write", "field", "made", "finding", "found"), MAKING)
async def test_an_error_beside_what_was_made_is_a_note_and_nothing_is_repeated(
    http: Any, clock: ManualClock, write: Write, field: str, made: Any, finding: str, found: Any
) -> None:
    error = {"message": "Internal", "extensions": {"type": "internal error"}}
    async with serving(Reply({"data": {field: made}, "errors": [error]})) as server:
        result = await write(writer_over(http, server, clock))

    assert result.notes == ("Linear also reported: Internal",)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("write", "field", "id"),
    [pytest.param(create, "issueCreate", OURS, id="create"), pytest.param(update, "issueUpdate", ISSUE, id="update")],
)
async def test_an_issue_that_a_success_leaves_out_is_read(
    http: Any, clock: ManualClock, write: Write, field: str, id: str
) -> None:
    titles = ["x"] if field == "issueCreate" else ["Login", "x"]
    found = iter([issue(title=title) for title in titles])
    async with serving(answering(**{field: {"success": True, "issue": None}, "issue": found})) as server:
        result = await write(writer_over(http, server, clock))

    assert fields_sent(server)[-2:] == [field, "issue"]
    assert sent(server, "issue")[-1] == {"id": id}
    assert result.issue.identifier == "ENG-1"
    assert result.changes in ((), ("title from Login to x",))


@pytest.mark.parametrize(
    ("write", "field"),
    [pytest.param(create, "issueCreate", id="create"), pytest.param(update, "issueUpdate", id="update")],
)
async def test_where_that_can_not_be_read_it_is_said_that_the_change_was_made(
    http: Any, clock: ManualClock, write: Write, field: str
) -> None:
    found = iter([issue()] if field == "issueUpdate" else [])
    parts: dict[str, Any] = {
        field: {"success": True, "issue": None},
        "issue": lambda variables: next(found, NOT_FOUND),
    }
    async with serving(answering(**parts)) as server:
        with pytest.raises(ServiceError, match=r"It was done; do not repeat it\.$"):
            await write(writer_over(http, server, clock))

    assert fields_sent(server).count(field) == 1


@pytest.mark.parametrize(("write", "field"), EVERY)
async def test_nothing_is_written_where_the_settings_do_not_allow_it(
    http: Any, clock: ManualClock, write: Write, field: str
) -> None:
    is_deletion = field == "issueDelete"
    async with serving(answering()) as server:
        writer = writer_over(http, server, clock, writes=is_deletion, deletes=not is_deletion)
        with pytest.raises(ServiceError, match=r"^not configured: .* is switched off\. Tell the user that `linear\."):
            await write(writer)

    assert server.requests == []
