"""Linear's answers, as they come. The names are those of its GraphQL schema.

A null where the schema has none never comes: it turns what is around it into null. Each field has a default all the
same, so that what is asked for is decided by the documents alone; a test compares the two.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from msgspec import Struct

__all__ = [
    "CommentNode",
    "CommentPayload",
    "Connection",
    "CycleNode",
    "DeletePayload",
    "FoundComment",
    "FullIssue",
    "IssueNode",
    "IssuePayload",
    "LabelNode",
    "PageInfo",
    "PersonNode",
    "ProjectNode",
    "StateNode",
    "TeamNode",
    "Viewer",
]

T = TypeVar("T")


class PageInfo(Struct, frozen=True, rename="camel"):
    has_next_page: bool = False
    end_cursor: str | None = None


class Connection(Struct, Generic[T], frozen=True, rename="camel"):
    """One page of a list, with what tells whether there are more."""

    nodes: tuple[T, ...] = ()
    page_info: PageInfo = PageInfo()


class CountedConnection(Struct, Generic[T], frozen=True, rename="camel"):
    """A page of a search, which also knows how many there are in all."""

    nodes: tuple[T, ...] = ()
    page_info: PageInfo = PageInfo()
    total_count: float | None = None


class Nodes(Struct, Generic[T], frozen=True):
    """The first of a list whose rest is not asked for."""

    nodes: tuple[T, ...] = ()


class Named(Struct, frozen=True):
    name: str | None = None


class Keyed(Struct, frozen=True):
    key: str = ""


class PersonName(Struct, frozen=True, rename="camel"):
    name: str = ""
    display_name: str = ""

    @property
    def told(self) -> str:
        return self.display_name or self.name


class IssueState(Struct, frozen=True):
    name: str = ""
    type: str = ""


class IssueTeam(Struct, frozen=True):
    id: str = ""
    key: str = ""


class IssueCycle(Struct, frozen=True):
    number: float = 0
    name: str | None = None


class IssueStub(Struct, frozen=True):
    """An issue as another one names it."""

    identifier: str = ""
    title: str = ""


class IssueNode(Struct, frozen=True, rename="camel"):
    id: str = ""
    identifier: str = ""
    title: str = ""
    url: str = ""
    priority: float | None = None  # a whole number, as a Float: 2.0
    priority_label: str = ""
    estimate: float | None = None
    due_date: str | None = None
    created_at: str = ""
    updated_at: str = ""
    completed_at: str | None = None
    archived_at: str | None = None
    trashed: bool | None = None
    state: IssueState | None = None
    team: IssueTeam | None = None
    assignee: PersonName | None = None
    project: Named | None = None
    cycle: IssueCycle | None = None
    parent: IssueStub | None = None
    labels: Nodes[Named] = Nodes()


class CommentParent(Struct, frozen=True):
    id: str = ""


class CommentNode(Struct, frozen=True, rename="camel"):
    id: str = ""
    body: str = ""
    created_at: str = ""
    user: PersonName | None = None
    external_user: PersonName | None = None
    bot_actor: Named | None = None
    parent: CommentParent | None = None


class ChildIssue(Struct, frozen=True):
    identifier: str = ""
    title: str = ""
    state: IssueState | None = None


class Relation(Struct, frozen=True, rename="camel"):
    type: str = ""
    related_issue: IssueStub | None = None


class InverseRelation(Struct, frozen=True):
    type: str = ""
    issue: IssueStub | None = None


class AttachmentNode(Struct, frozen=True):
    title: str = ""
    url: str = ""


class FullIssue(IssueNode, frozen=True, rename="camel"):
    description: str | None = None
    branch_name: str = ""
    comments: Connection[CommentNode] = Connection()
    children: Connection[ChildIssue] = Connection()
    relations: Connection[Relation] = Connection()
    inverse_relations: Connection[InverseRelation] = Connection()
    attachments: Connection[AttachmentNode] = Connection()


class IssuePayload(Struct, frozen=True):
    success: bool = False
    issue: IssueNode | None = None

    @property
    def is_bare(self) -> bool:
        """True for a success without the issue, which the schema allows."""
        return self.issue is None


class DeletePayload(Struct, frozen=True):
    success: bool = False
    entity: IssueStub | None = None


class FoundComment(Struct, frozen=True, rename="camel"):
    id: str = ""
    url: str = ""
    created_at: str = ""
    issue: IssueStub | None = None


class CommentPayload(Struct, frozen=True):
    success: bool = False
    comment: FoundComment | None = None

    @property
    def is_bare(self) -> bool:
        return self.comment is None


class Viewer(Struct, frozen=True, rename="camel"):
    id: str = ""
    name: str = ""
    display_name: str = ""


class TeamNode(Struct, frozen=True):
    id: str = ""
    key: str = ""
    name: str = ""


class StateNode(Struct, frozen=True):
    id: str = ""
    name: str = ""
    type: str = ""
    team: Keyed | None = None


class LabelNode(Struct, frozen=True, rename="camel"):
    id: str = ""
    name: str = ""
    is_group: bool = False
    parent: Named | None = None
    team: Keyed | None = None


class ProjectNode(Struct, frozen=True, rename="camel"):
    id: str = ""
    name: str = ""
    slug_id: str = ""
    url: str = ""
    status: IssueState | None = None
    target_date: str | None = None
    lead: PersonName | None = None


class PersonNode(Struct, frozen=True, rename="camel"):
    id: str = ""
    name: str = ""
    display_name: str = ""
    email: str = ""


class CycleNode(Struct, frozen=True, rename="camel"):
    id: str = ""
    number: float = 0
    name: str | None = None
    starts_at: str = ""
    ends_at: str = ""
    is_active: bool = False
    team: Keyed | None = None
