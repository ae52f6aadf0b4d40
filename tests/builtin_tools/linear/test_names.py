"""Names, keys, addresses and `me` become ids; what is ambiguous or unknown is answered with the names there are."""

from __future__ import annotations

from typing import Any

import pytest

from builtin_tools.http import ServiceError
from builtin_tools.linear import IssueFilter, NewIssue
from builtin_tools.linear.references import issue_id, moment
from tests.builtin_tools.linear.answers import (
    ADA,
    BUG,
    CYCLE,
    ISSUE,
    OTHER_TEAM,
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
from tests.http.loopback import LoopbackServer, serving

TEAMS = page(team(), team("DES", "Design", OTHER_TEAM))


def filter_sent(server: LoopbackServer) -> dict[str, Any]:
    found: dict[str, Any] = sent(server, "issues")[-1]["filter"]
    return found


@pytest.mark.parametrize("name", ["ENG", "eng", "Engineering", " engineering ", "Engi"])
async def test_a_team_is_found_by_key_name_or_the_beginning_of_its_name(
    http: Any, clock: ManualClock, name: str
) -> None:
    async with serving(answering(teams=TEAMS, issues=page())) as server:
        await client_over(http, server, clock).issues(IssueFilter(team=name))

    assert filter_sent(server) == {"team": {"id": {"eq": TEAM}}}


async def test_a_uuid_is_taken_as_it_is_and_nothing_is_asked(http: Any, clock: ManualClock) -> None:
    async with serving(answering(issues=page())) as server:
        await client_over(http, server, clock).issues(IssueFilter(team=OTHER_TEAM.upper()))

    assert fields_sent(server) == ["issues"]
    assert filter_sent(server) == {"team": {"id": {"eq": OTHER_TEAM}}}


async def test_an_exact_name_comes_before_the_beginning_of_another(http: Any, clock: ManualClock) -> None:
    teams = page(team("WEB", "Web", OTHER_TEAM), team("WEBS", "Website"))
    async with serving(answering(teams=teams, issues=page())) as server:
        await client_over(http, server, clock).issues(IssueFilter(team="web"))

    assert filter_sent(server) == {"team": {"id": {"eq": OTHER_TEAM}}}


async def test_the_beginning_of_two_names_is_ambiguous_and_the_choices_have_ids(http: Any, clock: ManualClock) -> None:
    teams = page(team("WEA", "Web apps"), team("WEB", "Web pages", OTHER_TEAM))
    async with serving(answering(teams=teams)) as server:
        with pytest.raises(ServiceError) as caught:
            await client_over(http, server, clock).issues(IssueFilter(team="we"))

    assert caught.value.kind == "ambiguous"
    assert str(caught.value) == (
        'ambiguous: "we" may be 2 teams of Linear. Call again with one of the choices, or its id: '
        f"Web apps (key WEA), id {TEAM}; Web pages (key WEB), id {OTHER_TEAM}."
    )


async def test_of_many_choices_ten_are_told_and_the_others_counted(http: Any, clock: ManualClock) -> None:
    teams = page(*(team(f"W{n}", f"Web {n}") for n in range(13)))
    async with serving(answering(teams=teams)) as server:
        with pytest.raises(ServiceError) as caught:
            await client_over(http, server, clock).issues(IssueFilter(team="web"))

    assert str(caught.value).count(", id ") == 10
    assert str(caught.value).endswith("; and 3 more.")


async def test_a_name_that_nothing_has_is_not_found_and_the_valid_names_are_told(http: Any, clock: ManualClock) -> None:
    async with serving(answering(teams=TEAMS)) as server:
        with pytest.raises(ServiceError) as caught:
            await client_over(http, server, clock).issues(IssueFilter(team="Sales"))

    assert caught.value.kind == "not_found"
    assert str(caught.value) == (
        'not found: Linear has no team "Sales". There are: Engineering (key ENG); Design (key DES).'
    )
    assert len(sent(server, "teams")) == 3  # exactly, by its beginning, and all


async def test_of_many_valid_names_it_is_said_that_there_are_more(http: Any, clock: ManualClock) -> None:
    async with serving(answering(teams=page(team(), cursor="c"))) as server:
        with pytest.raises(ServiceError, match=r"There are more; linear_list lists them all\.$"):
            await client_over(http, server, clock).issues(IssueFilter(team="Sales"))

    assert sent(server, "teams")[-1] == {"filter": None, "first": 20, "after": None}


async def test_the_server_is_asked_for_the_name_without_regard_to_case(http: Any, clock: ManualClock) -> None:
    async with serving(answering(users=page(user("Ada Lovelace", "ada")), issues=page())) as server:
        await client_over(http, server, clock).issues(IssueFilter(assignee="ADA"))

    assert sent(server, "users")[0]["filter"] == {
        "or": [{field: {"eqIgnoreCase": "ADA"}} for field in ("displayName", "name", "email")]
    }


@pytest.mark.parametrize("name", ["ada", "Ada Lovelace", "ADA@example.org", "ada@"])
async def test_a_user_is_found_by_any_of_their_names(http: Any, clock: ManualClock, name: str) -> None:
    users = page(user("Ada Lovelace", "ada", "ada@example.org"), user("Grace Hopper", "grace", id=OTHER_TEAM))
    async with serving(answering(users=users, issues=page())) as server:
        await client_over(http, server, clock).issues(IssueFilter(assignee=name))

    assert filter_sent(server) == {"assignee": {"id": {"eq": ADA}}}


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"assignee": "me"}, {"assignee": {"isMe": {"eq": True}}}),
        ({"assignee": "None"}, {"assignee": {"null": True}}),
        ({"state": "started"}, {"state": {"type": {"eq": "started"}}}),
        ({"state": "Open"}, {"state": {"type": {"nin": ["completed", "canceled", "duplicate"]}}}),
        ({"state": "closed"}, {"state": {"type": {"in": ["completed", "canceled", "duplicate"]}}}),
        ({"cycle": "current"}, {"cycle": {"isActive": {"eq": True}}}),
        ({"cycle": "next"}, {"cycle": {"isNext": {"eq": True}}}),
        ({"cycle": "previous"}, {"cycle": {"isPrevious": {"eq": True}}}),
        ({"cycle": "none"}, {"cycle": {"null": True}}),
        ({"cycle": "12"}, {"cycle": {"number": {"eq": 12}}}),
        ({"cycle": "Launch"}, {"cycle": {"name": {"eqIgnoreCase": "Launch"}}}),
        ({"priority": 2}, {"priority": {"eq": 2}}),
        ({"priority": "normal"}, {"priority": {"eq": 3}}),
        ({"priority": 0}, {"priority": {"eq": 0}}),
        ({"updated_since": "P2W"}, {"updatedAt": {"gte": "-P2W"}}),
        ({"updated_since": "2026-11-30"}, {"updatedAt": {"gte": "2026-11-30"}}),
        ({"team": "all"}, None),
        ({}, None),
    ],
    ids=str,
)
async def test_words_that_need_no_lookup_become_filters(
    http: Any, clock: ManualClock, wanted: dict[str, Any], expected: dict[str, Any] | None
) -> None:
    async with serving(answering(issues=page())) as server:
        await client_over(http, server, clock).issues(IssueFilter(**wanted))

    assert fields_sent(server) == ["issues"]
    assert filter_sent(server) == expected


async def test_a_state_is_looked_for_within_its_team(http: Any, clock: ManualClock) -> None:
    async with serving(answering(workflowStates=page(state("In Review")), issues=page())) as server:
        await client_over(http, server, clock).issues(IssueFilter(team=TEAM, state="in review"))

    assert sent(server, "workflowStates")[0]["filter"] == {
        "team": {"id": {"eq": TEAM}},
        "or": [{"name": {"eqIgnoreCase": "in review"}}, {"type": {"eqIgnoreCase": "in review"}}],
    }
    assert filter_sent(server) == {"team": {"id": {"eq": TEAM}}, "state": {"id": {"eq": TODO}}}


async def test_without_a_team_a_state_means_the_states_of_every_team_that_are_called_so(
    http: Any, clock: ManualClock
) -> None:
    states = page(state("Todo"), state("todo", id=OTHER_TEAM, team="DES"), state("Done", id=BUG))
    async with serving(answering(workflowStates=states, issues=page())) as server:
        await client_over(http, server, clock).issues(IssueFilter(state="Todo"))

    assert filter_sent(server) == {"state": {"id": {"in": [TODO, OTHER_TEAM]}}}


async def test_without_a_team_the_beginning_of_two_states_is_ambiguous(http: Any, clock: ManualClock) -> None:
    states = page(state("Doing"), state("Done", id=BUG))
    async with serving(answering(workflowStates=states)) as server:
        with pytest.raises(ServiceError) as caught:
            await client_over(http, server, clock).issues(IssueFilter(state="Do"))

    assert caught.value.kind == "ambiguous"
    assert fields_sent(server) == ["workflowStates"] * 2


async def test_each_of_several_labels_has_to_be_there(http: Any, clock: ManualClock) -> None:
    labels = page(label("Bug"), label("Login", id=OTHER_TEAM))
    async with serving(answering(issueLabels=labels, issues=page())) as server:
        await client_over(http, server, clock).issues(IssueFilter(labels=("bug", "login")))

    assert filter_sent(server) == {
        "and": [{"labels": {"some": {"id": {"eq": BUG}}}}, {"labels": {"some": {"id": {"eq": OTHER_TEAM}}}}]
    }


async def test_a_project_is_found_by_name_or_slug(http: Any, clock: ManualClock) -> None:
    projects = page({"id": PROJECT, "name": "Apollo", "slugId": "f00d"})
    async with serving(answering(projects=projects, issues=page())) as server:
        client = client_over(http, server, clock)
        await client.issues(IssueFilter(project="apollo"))
        await client.issues(IssueFilter(project="f00d"))

    assert [one["filter"] for one in sent(server, "issues")] == [{"project": {"id": {"eq": PROJECT}}}] * 2


async def test_the_team_of_the_settings_stands_in_and_all_means_every_team(http: Any, clock: ManualClock) -> None:
    async with serving(answering(teams=TEAMS, issues=page())) as server:
        client = client_over(http, server, clock, team="ENG")
        mine = await client.issues(IssueFilter(assignee="me"))
        every = await client.issues(IssueFilter(team="all", assignee="me"))

    assert [one["filter"] for one in sent(server, "issues")] == [
        {"team": {"id": {"eq": TEAM}}, "assignee": {"isMe": {"eq": True}}},
        {"assignee": {"isMe": {"eq": True}}},
    ]
    assert mine.asked == 'with team "ENG", assignee "me"'
    assert every.asked == 'with team "all", assignee "me"'


async def test_a_search_prefers_the_team_of_the_settings_and_hides_no_other(http: Any, clock: ManualClock) -> None:
    async with serving(answering(teams=TEAMS, searchIssues=page())) as server:
        client = client_over(http, server, clock, team="ENG")
        await client.search("login")
        await client.search("login", team="DES")

    first, second = sent(server, "searchIssues")
    assert (first["teamId"], first["filter"]) == (TEAM, None)
    assert (second["teamId"], second["filter"]) == (OTHER_TEAM, {"team": {"id": {"eq": OTHER_TEAM}}})


async def test_names_are_kept_for_ten_minutes(http: Any, clock: ManualClock) -> None:
    async with serving(answering(teams=TEAMS, issues=page())) as server:
        client = client_over(http, server, clock)
        for elapsed in (0.0, 599.0, 600.0):
            clock.elapsed = elapsed
            await client.issues(IssueFilter(team="ENG"))

    assert fields_sent(server) == ["teams", "issues", "issues", "teams", "issues"]


async def test_names_are_asked_for_anew_when_linear_knows_an_id_no_more(http: Any, clock: ManualClock) -> None:
    gone = failed("Entity not found: Team")
    async with serving(answering(teams=TEAMS, issues=iter([page(), gone, page()]))) as server:
        client = client_over(http, server, clock)
        await client.issues(IssueFilter(team="ENG"))
        with pytest.raises(ServiceError):
            await client.issues(IssueFilter(team="ENG"))
        await client.issues(IssueFilter(team="ENG"))

    assert fields_sent(server) == ["teams", "issues", "issues", "teams", "issues"]


async def test_a_name_that_was_not_found_is_not_kept(http: Any, clock: ManualClock) -> None:
    empty = [page()] * 3
    async with serving(answering(teams=iter([*empty, TEAMS]), issues=page())) as server:
        client = client_over(http, server, clock)
        with pytest.raises(ServiceError, match=r'no team "ENG"\. Check the spelling'):
            await client.issues(IssueFilter(team="ENG"))
        await client.issues(IssueFilter(team="ENG"))

    assert filter_sent(server) == {"team": {"id": {"eq": TEAM}}}


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"assignee": "me"}, {"assigneeId": ADA}),
        ({"assignee": "none"}, {"assigneeId": None}),
        ({"state": "completed"}, {"stateId": TODO}),  # the type, where no state is called so
        ({"cycle": "current"}, {"cycleId": CYCLE}),
        ({"cycle": "7"}, {"cycleId": CYCLE}),
        ({"cycle": "Seven"}, {"cycleId": CYCLE}),
        ({"parent": "https://linear.app/acme/issue/eng-2/a-title"}, {"parentId": "ENG-2"}),
        ({"labels": ("bug", "bug", BUG)}, {"labelIds": [BUG]}),
    ],
    ids=str,
)
async def test_a_new_issue_takes_names_too(
    http: Any, clock: ManualClock, given: dict[str, Any], wanted: dict[str, Any]
) -> None:
    parts: dict[str, Any] = {
        "viewer": {"id": ADA, "name": "Ada", "displayName": "ada"},
        "workflowStates": page(state("Shipped", "completed")),
        "cycles": page({"id": CYCLE, "number": 7.0, "name": "Seven", "isActive": True}),
        "issueLabels": page(label("Bug")),
        "issueCreate": {"success": True, "issue": issue()},
    }
    async with serving(answering(**parts)) as server:
        await writer_over(http, server, clock).create_issue(NewIssue("x", team=TEAM, **given))

    (variables,) = sent(server, "issueCreate")
    assert {name: variables["input"][name] for name in wanted} == wanted


async def test_two_states_of_one_type_are_ambiguous(http: Any, clock: ManualClock) -> None:
    states = page(state("Doing", "started"), state("In Review", "started", id=BUG))
    async with serving(answering(workflowStates=states)) as server:
        with pytest.raises(ServiceError, match=r"Doing \(started, team ENG\)") as caught:
            await writer_over(http, server, clock).create_issue(NewIssue("x", team=TEAM, state="started"))

    assert caught.value.kind == "ambiguous"
    assert "issueCreate" not in fields_sent(server)


async def test_a_label_of_two_groups_is_ambiguous(http: Any, clock: ManualClock) -> None:
    labels = page(label("Low", group="Risk"), label("Low", id=OTHER_TEAM, group="Effort"))
    async with serving(answering(issueLabels=labels)) as server:
        with pytest.raises(ServiceError) as caught:
            await writer_over(http, server, clock).create_issue(NewIssue("x", team=TEAM, labels=("low",)))

    assert caught.value.kind == "ambiguous"
    assert f"Low (group Risk, whole workspace), id {BUG}" in str(caught.value)


async def test_a_cycle_that_the_team_has_not_is_not_found(http: Any, clock: ManualClock) -> None:
    async with serving(answering(cycles=page())) as server:
        with pytest.raises(ServiceError, match='no cycle "current"') as caught:
            await writer_over(http, server, clock).create_issue(NewIssue("x", team=TEAM, cycle="current"))

    assert caught.value.kind == "not_found"


async def test_a_new_issue_without_a_team_is_refused_and_told_how_to_find_one(http: Any, clock: ManualClock) -> None:
    async with serving(answering()) as server:
        with pytest.raises(ServiceError, match=r'linear_list with kind="teams"') as caught:
            await writer_over(http, server, clock).create_issue(NewIssue("x"))

    assert caught.value.kind == "invalid_input"
    assert server.requests == []


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("ENG-123", "ENG-123"),
        (" eng-123 ", "ENG-123"),
        ("A_1-7", "A_1-7"),
        (ISSUE.upper(), ISSUE),
        ("https://linear.app/acme/issue/ENG-123/fix-login", "ENG-123"),
        ("https://linear.app/acme/issue/ENG-123#comment-1a2b", "ENG-123"),
        ("http://linear.app/acme/issue/ENG-123?x=1", "ENG-123"),
    ],
)
def test_an_issue_is_named_by_identifier_id_or_address(given: str, read: str) -> None:
    assert issue_id(given) == read


@pytest.mark.parametrize(
    "given",
    [
        "",
        "123",
        "ENG",
        "ENG-",
        "ENG-1-2",
        "ENG\u20131",
        "ENG-\uff11",
        "login bug",
        "https://linear.app/acme/project/x",
        "https://[linear.app/acme/issue/ENG-1",
        "//",
        "ENG-1\n2",
    ],
)
def test_what_names_no_issue_is_refused(given: str) -> None:
    with pytest.raises(ServiceError, match="names no issue") as caught:
        issue_id(given)

    assert caught.value.kind == "invalid_input"


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("2026-11-30", "2026-11-30"),
        ("2026-11-30T08:00:00Z", "2026-11-30T08:00:00+00:00"),
        ("-P7D", "-P7D"),
        ("P1Y2M", "-P1Y2M"),
        ("-PT36H", "-PT36H"),
        ("-P1DT12H", "-P1DT12H"),
    ],
)
def test_a_moment_is_a_date_or_a_duration_into_the_past(given: str, read: str) -> None:
    assert moment(given) == read


@pytest.mark.parametrize("given", ["", "P", "-P", "PT", "P7", "7D", "yesterday", "2026-13-01", "30.11.2026", "-P-7D"])
def test_what_is_no_moment_is_refused(given: str) -> None:
    with pytest.raises(ServiceError, match="is no moment") as caught:
        moment(given)

    assert caught.value.kind == "invalid_input"
