"""What can be said of an issue that is to be made, and of one that is to be changed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Annotated, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType

from builtin_tools.linear.references import PriorityName

__all__ = [
    "Estimate",
    "IssueReference",
    "IssueUpdate",
    "Labels",
    "Markdown",
    "Name",
    "NewIssue",
    "Priority",
    "Title",
]

Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=200)]
IssueReference: TypeAlias = Annotated[str, Meta(min_length=1, max_length=500)]
Priority: TypeAlias = Annotated[int, Meta(ge=0, le=4)] | PriorityName
# Linear publishes no longest text, and tells when one is too long; these bounds are ours.
Title: TypeAlias = Annotated[str, Meta(min_length=1, max_length=255)]
Markdown: TypeAlias = Annotated[str, Meta(max_length=50_000)]
Labels: TypeAlias = Annotated[list[Name], Meta(max_length=20)]
Estimate: TypeAlias = Annotated[int, Meta(ge=0, le=100)]


@dataclass(frozen=True, slots=True)
class NewIssue:
    """An issue to make. Names as in `IssueFilter`; `team` is None for the team of the settings."""

    title: str
    team: str | None = None
    description: str | None = None
    priority: int | str | None = None
    state: str | None = None
    assignee: str | None = None
    labels: tuple[str, ...] = ()
    project: str | None = None
    parent: str | None = None
    due_date: date | None = None
    estimate: int | None = None
    cycle: str | None = None


class IssueUpdate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An issue, and its new values. What is left out stays as it is; null empties a field."""

    # The model is asked for this very type, so its docstring and bounds are written for the model. What is left out is
    # UNSET here, and null is None.

    id: Annotated[IssueReference, Meta(description='Identifier such as "ENG-123", or the issue\'s address.')]
    title: Annotated[Title, Meta(description="New title.")] | UnsetType = UNSET
    description: (
        Annotated[Markdown | None, Meta(description="New description, in Markdown; replaces the whole text.")]
        | UnsetType
    ) = UNSET
    priority: (
        Annotated[Priority | None, Meta(description='0 or "none", 1 "urgent", 2 "high", 3 "medium", 4 "low".')]
        | UnsetType
    ) = UNSET
    state: Annotated[Name, Meta(description="Name of one of the team's states.")] | UnsetType = UNSET
    assignee: (
        Annotated[Name | None, Meta(description='Name or e-mail address of a user, "me", or null for nobody.')]
        | UnsetType
    ) = UNSET
    labels: (
        Annotated[Labels | None, Meta(description="All labels, by name; those that are not here are taken off.")]
        | UnsetType
    ) = UNSET
    add_labels: Annotated[Labels, Meta(description="Labels to add, by name.")] | UnsetType = UNSET
    remove_labels: Annotated[Labels, Meta(description="Labels to take off, by name.")] | UnsetType = UNSET
    project: Annotated[Name | None, Meta(description="Name of a project, or null.")] | UnsetType = UNSET
    parent: (
        Annotated[IssueReference | None, Meta(description="Identifier of the issue that this is a part of, or null.")]
        | UnsetType
    ) = UNSET
    due_date: Annotated[date | None, Meta(description="The day, such as 2026-12-24, or null.")] | UnsetType = UNSET
    estimate: Annotated[Estimate | None, Meta(description="Points, by the team's own scale, or null.")] | UnsetType = (
        UNSET
    )
    cycle: (
        Annotated[Name | None, Meta(description='Number or name of a cycle, "current", "next", or null.')] | UnsetType
    ) = UNSET
