"""The tools that change something: `linear_create_issue`, `linear_update_issue`, `linear_add_comment` and
`linear_delete_issue`.

Each needs the approval of a guard, call by call. A model is told of them only where the settings allow them: what
`available_if` asks is handed over by the instance, because only the instance knows its settings; so they are built at
the start of each run. Where they are called all the same, the writer answers `not configured` and sends nothing.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated

from msgspec import Meta

from builtin_tools.linear.changes import (
    Estimate,
    IssueReference,
    IssueUpdate,
    Labels,
    Markdown,
    Name,
    NewIssue,
    Priority,
    Title,
)
from builtin_tools.linear.results import CommentAdded, IssueChange, IssueDeleted
from builtin_tools.linear.writer import LinearWriter
from toolkit import Tool

__all__ = ["LinearAddComment", "LinearCreateIssue", "LinearDeleteIssue", "LinearUpdateIssue"]


class LinearCreateIssue(Tool):
    """Create an issue in Linear. Search first with linear_search_issues, so that nothing is filed twice; linear_list
    tells the valid names. Gives the new issue's identifier and address.
    Example: {"team": "ENG", "title": "Login redirects twice", "priority": "high", "labels": ["Bug"]}"""

    name = "linear_create_issue"
    needs_approval = True

    def __init__(self, writer: LinearWriter) -> None:
        self.writer = writer
        self.available_if = writer.settings.offers_writes

    async def handler(
        self,
        title: Title,
        team: Name | None = None,
        description: Markdown | None = None,
        priority: Priority | None = None,
        state: Name | None = None,
        assignee: Name | None = None,
        labels: Labels = [],  # noqa: B006 - read only
        project: Name | None = None,
        parent: IssueReference | None = None,
        due_date: date | None = None,
        estimate: Estimate | None = None,
        cycle: Name | None = None,
    ) -> IssueChange:
        """
        Args:
            title: What it is about, in a few words.
            team: Key or name of the team, such as "ENG". Left out: the application's own team, if it has one.
            description: More about it, in Markdown.
            priority: 0 or "none", 1 "urgent", 2 "high", 3 "medium", 4 "low".
            state: Name of one of the team's states. Left out: the team's first.
            assignee: Name or e-mail address of a user, or "me".
            labels: Names of labels.
            project: Name of a project.
            parent: Identifier of the issue that this is a part of, such as "ENG-123".
            due_date: The day, such as 2026-12-24.
            estimate: Points, by the team's own scale.
            cycle: Number or name of a cycle, "current" or "next".
        """
        return await self.writer.create_issue(
            NewIssue(
                title=title,
                team=team,
                description=description,
                priority=priority,
                state=state,
                assignee=assignee,
                labels=tuple(labels),
                project=project,
                parent=parent,
                due_date=due_date,
                estimate=estimate,
                cycle=cycle,
            )
        )


class LinearUpdateIssue(Tool):
    """Change an issue of Linear. Only the fields that are given change, and null empties one; add_labels and
    remove_labels leave the other labels alone. Gives the issue, and what each changed field was before.
    Example: {"id": "ENG-123", "state": "In Progress", "assignee": "me", "add_labels": ["Bug"]}"""

    name = "linear_update_issue"
    needs_approval = True
    input_schema = IssueUpdate

    def __init__(self, writer: LinearWriter) -> None:
        self.writer = writer
        self.available_if = writer.settings.offers_writes

    async def handler(self, update: IssueUpdate) -> IssueChange:
        return await self.writer.update_issue(update)


class LinearAddComment(Tool):
    """Comment on an issue of Linear, or reply to a comment. Everybody who follows the issue is told. Gives the
    comment's address. Example: {"issue": "ENG-123", "body": "Reproduced with version 2.1."}"""

    name = "linear_add_comment"
    needs_approval = True

    def __init__(self, writer: LinearWriter) -> None:
        self.writer = writer
        self.available_if = writer.settings.offers_writes

    async def handler(
        self,
        issue: IssueReference,
        body: Annotated[str, Meta(min_length=1, max_length=50_000)],
        parent_comment: Annotated[str, Meta(min_length=36, max_length=36)] | None = None,
    ) -> CommentAdded:
        """
        Args:
            issue: Identifier such as "ENG-123", or the issue's address.
            body: The comment, in Markdown.
            parent_comment: Id of the comment to reply to, as linear_get_issue tells it.
        """
        return await self.writer.add_comment(issue, body, parent=parent_comment)


class LinearDeleteIssue(Tool):
    """Move an issue of Linear to the trash. It can be restored there for 30 days, then it is gone. To close an issue,
    change its state with linear_update_issue instead. Gives what was deleted. Example: {"id": "ENG-123"}"""

    name = "linear_delete_issue"
    needs_approval = True

    def __init__(self, writer: LinearWriter) -> None:
        self.writer = writer
        self.available_if = writer.settings.offers_deletes

    async def handler(self, id: IssueReference) -> IssueDeleted:
        """
        Args:
            id: Identifier such as "ENG-123", or the issue's address.
        """
        return await self.writer.delete_issue(id)
