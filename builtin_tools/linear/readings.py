"""What Linear sends, as what the tools answer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from builtin_tools.linear.results import Attachment, Comment, Issue, IssueDetail, LinkedIssue
from builtin_tools.linear.wire import CommentNode, FullIssue, IssueNode

__all__ = ["detail_of", "issue_of", "time_of"]


def issue_of(node: IssueNode) -> Issue:
    """An issue as Linear tells it."""
    cycle = node.cycle
    return Issue(
        id=node.id,
        identifier=node.identifier,
        title=node.title,
        url=node.url,
        state=node.state.name if node.state else "",
        state_type=node.state.type if node.state else "",
        priority=None if node.priority is None else int(node.priority),
        priority_label=node.priority_label or _PRIORITY_NAMES.get(node.priority or 0, ""),
        assignee=node.assignee.told if node.assignee else None,
        team=node.team.key if node.team else "",
        team_id=node.team.id if node.team else "",
        labels=tuple(label.name or "" for label in node.labels.nodes),
        project=node.project.name if node.project else None,
        cycle=(cycle.name or f"{cycle.number:g}") if cycle else None,
        parent=node.parent.identifier if node.parent else None,
        estimate=node.estimate,
        due=_day_of(node.due_date),
        created=time_of(node.created_at),
        updated=time_of(node.updated_at),
        completed=time_of(node.completed_at),
        archived=time_of(node.archived_at),
        trashed=bool(node.trashed),
    )


_PRIORITY_NAMES: dict[float, str] = {1: "Urgent", 2: "High", 3: "Medium", 4: "Low"}


def time_of(text: str | None) -> datetime | None:
    """A moment of Linear's, always in UTC; None for what is none."""
    try:
        return datetime.fromisoformat(text or "")
    except ValueError:
        return None


def _day_of(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text or "")
    except ValueError:
        return None


def detail_of(node: FullIssue, comments: int, notes: tuple[str, ...]) -> IssueDetail:
    """An issue with all that hangs on it; its comments are left out when none are wanted."""
    linked = [
        *(
            LinkedIssue("sub-issue", one.identifier, one.title, one.state.name if one.state else "")
            for one in node.children.nodes
        ),
        *(
            LinkedIssue(_relation(one.type)[0], one.related_issue.identifier, one.related_issue.title)
            for one in node.relations.nodes
            if one.related_issue
        ),
        *(
            LinkedIssue(_relation(one.type)[1], one.issue.identifier, one.issue.title)
            for one in node.inverse_relations.nodes
            if one.issue
        ),
    ]
    oldest_first = sorted(node.comments.nodes, key=lambda one: one.created_at)
    pages: Sequence[tuple[str, Any]] = [
        ("comments", node.comments),
        ("sub-issues", node.children),
        ("relations", node.relations),
        ("relations of other issues to this one", node.inverse_relations),
        ("attachments", node.attachments),
    ]
    return IssueDetail(
        issue_of(node),
        description=(node.description or "").strip(),
        branch=node.branch_name,
        comments=tuple(map(_comment_of, oldest_first)) if comments else (),
        linked=tuple(linked),
        attachments=tuple(Attachment(one.title, one.url) for one in node.attachments.nodes),
        incomplete=tuple(what for what, page in pages if page.page_info.has_next_page),
        notes=notes,
    )


_RELATIONS = {
    "blocks": ("blocks", "blocked by"),
    "duplicate": ("duplicate of", "duplicated by"),
    "related": ("related to", "related to"),
    "similar": ("similar to", "similar to"),
}


def _relation(type_: str) -> tuple[str, str]:
    """A relation's type, as it reads from either end."""
    return _RELATIONS.get(type_, (type_, type_))


def _comment_of(node: CommentNode) -> Comment:
    author = next((one.told for one in (node.user, node.external_user) if one), "")
    bot = node.bot_actor.name if node.bot_actor else ""
    return Comment(
        node.id,
        author or bot or "somebody",
        node.body.strip(),
        time_of(node.created_at),
        node.parent.id if node.parent else None,
    )
