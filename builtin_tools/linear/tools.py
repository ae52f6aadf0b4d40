"""The tools that read: `linear_search_issues`, `linear_list_issues`, `linear_get_issue` and `linear_list`."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

from builtin_tools.linear.changes import IssueReference, Name, Priority
from builtin_tools.linear.client import IssueFilter, LinearClient
from builtin_tools.linear.directory import Kind
from builtin_tools.linear.results import IssueDetail, IssueList, Listing
from builtin_tools.text import clamped
from toolkit import Tool

__all__ = ["LinearGetIssue", "LinearList", "LinearListIssues", "LinearSearchIssues"]

Cursor: TypeAlias = Annotated[str, Meta(min_length=1, max_length=500)]

# 50 issues of the longest titles, names and addresses, 4 bytes a character: a list is cut by `limit`, never here.
_LIST_TOKENS = 60_000


class LinearSearchIssues(Tool):
    """Search the issues of Linear by words in their titles and descriptions, best match first. For issues by state,
    assignee, label or date use linear_list_issues; for one issue's text use linear_get_issue. Gives identifier, title,
    address, state, assignee, labels and dates. Example: {"query": "login redirect", "limit": 5}"""

    name = "linear_search_issues"
    max_result_tokens = _LIST_TOKENS

    def __init__(self, client: LinearClient) -> None:
        self.client = client

    async def handler(
        self,
        query: Annotated[str, Meta(min_length=1, max_length=500)],
        team: Name | None = None,
        include_comments: bool = False,
        include_archived: bool = False,
        limit: int = 10,
        cursor: Cursor | None = None,
    ) -> IssueList:
        """
        Args:
            query: Words to find, such as "login redirect".
            team: Only issues of this team, by key or name, such as "ENG".
            include_comments: Search the comments, too.
            include_archived: Search archived issues, too.
            limit: How many issues, 1 to 50.
            cursor: Where to go on: what the page before gave.
        """
        limit, notes = clamped("limit", limit, 1, 50)
        found = await self.client.search(
            query,
            team=team,
            include_comments=include_comments,
            include_archived=include_archived,
            limit=limit,
            cursor=cursor,
        )
        return replace(found, notes=(*found.notes, *notes))


class LinearListIssues(Tool):
    """List the issues of Linear by what is set on them: team, state, assignee, labels, project, cycle, priority, last
    change; all that is given has to hold. To find issues by words use linear_search_issues; linear_list tells the
    valid names. Gives identifier, title, address, state, assignee, labels and dates.
    Example: {"team": "ENG", "state": "open", "assignee": "me"}"""

    name = "linear_list_issues"
    max_result_tokens = _LIST_TOKENS

    def __init__(self, client: LinearClient) -> None:
        self.client = client

    async def handler(
        self,
        team: Name | None = None,
        state: Name | None = None,
        assignee: Name | None = None,
        labels: Annotated[list[Name], Meta(max_length=10)] = [],  # noqa: B006 - read only
        project: Name | None = None,
        cycle: Name | None = None,
        priority: Priority | None = None,
        updated_since: Annotated[str, Meta(min_length=1, max_length=40)] | None = None,
        order_by: Literal["updated", "created"] = "updated",
        limit: int = 10,
        cursor: Cursor | None = None,
    ) -> IssueList:
        """
        Args:
            team: Key or name of a team, such as "ENG"; "all" for every team. Left out: the application's own team,
                if it has one.
            state: "open", "closed", the name of a state such as "In Review", or a type: "triage", "backlog",
                "unstarted", "started", "completed", "canceled".
            assignee: Name or e-mail address, "me", or "none".
            labels: Names of labels; an issue has to have all of them.
            project: Name of a project.
            cycle: Number or name of a cycle, "current", "next", "previous", or "none".
            priority: 0 or "none", 1 "urgent", 2 "high", 3 "medium", 4 "low".
            updated_since: A date such as "2026-11-30", or a time back from now such as "-P7D" for 7 days.
            order_by: What the newest are first by.
            limit: How many issues, 1 to 50.
            cursor: Where to go on: what the page before gave.
        """
        limit, notes = clamped("limit", limit, 1, 50)
        wanted = IssueFilter(team, state, assignee, tuple(labels), project, cycle, priority, updated_since)
        found = await self.client.issues(wanted, order_by=order_by, limit=limit, cursor=cursor)
        return replace(found, notes=(*found.notes, *notes))


class LinearGetIssue(Tool):
    """Read one issue of Linear. Gives description, comments, sub-issues, relations to other issues, attachments. Use
    linear_search_issues to find it first. Long texts are cut, and it is said where. Example: {"id": "ENG-123"}"""

    name = "linear_get_issue"
    max_result_tokens = 40_000  # description, comments and links have their own bounds, 4 bytes a character

    def __init__(self, client: LinearClient) -> None:
        self.client = client

    async def handler(self, id: IssueReference, comments: int = 10) -> IssueDetail:
        """
        Args:
            id: Identifier such as "ENG-123", or the issue's address.
            comments: How many of the newest comments, 0 to 50.
        """
        comments, notes = clamped("comments", comments, 0, 50)
        found = await self.client.issue(id, comments=comments)
        return replace(found, notes=(*found.notes, *notes))


class LinearList(Tool):
    """List the teams, states, labels, projects, users or cycles of Linear, to learn the names that the other Linear
    tools take. Gives name, what tells it from others, and id. Example: {"kind": "states", "team": "ENG"}"""

    name = "linear_list"
    max_result_tokens = _LIST_TOKENS

    def __init__(self, client: LinearClient) -> None:
        self.client = client

    async def handler(
        self,
        kind: Kind,
        team: Name | None = None,
        query: Annotated[str, Meta(max_length=200)] = "",
        limit: int = 50,
        cursor: Cursor | None = None,
    ) -> Listing:
        """
        Args:
            kind: What to list.
            team: Only those of this team, by key or name; "all" for every team. Left out: the application's own team,
                if it has one.
            query: Only those with these words in their name.
            limit: How many, 1 to 100.
            cursor: Where to go on: what the page before gave.
        """
        limit, notes = clamped("limit", limit, 1, 100)
        found = await self.client.entries(kind, team=team, query=query, limit=limit, cursor=cursor)
        return replace(found, notes=(*found.notes, *notes))
