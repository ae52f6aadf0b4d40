"""The GraphQL documents that are sent to Linear, each with what its answer is read as.

Every list has a `first`, nested ones too: Linear multiplies the cost of what is in a list by it, takes 50 where there
is none, and refuses a query of more than 10,000 points. https://linear.app/developers/rate-limiting
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from builtin_tools.linear.wire import (
    CommentPayload,
    Connection,
    CountedConnection,
    CycleNode,
    DeletePayload,
    FoundComment,
    FullIssue,
    IssueNode,
    IssuePayload,
    LabelNode,
    PersonNode,
    ProjectNode,
    StateNode,
    TeamNode,
    Viewer,
)

__all__ = [
    "CREATE_COMMENT",
    "CREATE_ISSUE",
    "CYCLES",
    "DELETE_ISSUE",
    "FIND_COMMENT",
    "FIND_ISSUE",
    "FULL_ISSUE",
    "ISSUES",
    "LABELS",
    "OPERATIONS",
    "PROJECTS",
    "SEARCH",
    "STATES",
    "TEAMS",
    "UPDATE_ISSUE",
    "USERS",
    "VIEWER",
    "Operation",
]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Operation(Generic[T]):
    """One document.

    Attributes:
        name: What is done, as errors tell it to the developer.
        field: The one field of the query or mutation.
        document: Its text.
        result: What the field's value is read as.
    """

    name: str
    field: str
    document: str
    result: type[T]


_PARTS = {
    "<page>": "pageInfo { hasNextPage endCursor }",
    "<issue>": """id identifier title url priority priorityLabel estimate dueDate
        createdAt updatedAt completedAt archivedAt trashed
        state { name type } team { id key } assignee { name displayName } project { name } cycle { number name }
        parent { identifier title } labels(first: 20) { nodes { name } }""",
    "<comment>": "id url createdAt issue { identifier title }",
}


def _document(text: str) -> str:
    for part, fields in _PARTS.items():
        text = text.replace(part, fields)
    return " ".join(text.split())


SEARCH = Operation(
    "search issues",
    "searchIssues",
    _document("""
        query SearchIssues($term: String!, $first: Int!, $after: String, $filter: IssueFilter, $teamId: String,
            $includeComments: Boolean, $includeArchived: Boolean) {
          searchIssues(term: $term, first: $first, after: $after, filter: $filter, teamId: $teamId,
              includeComments: $includeComments, includeArchived: $includeArchived) {
            totalCount <page> nodes { <issue> }
          }
        }"""),
    CountedConnection[IssueNode],
)
ISSUES = Operation(
    "list issues",
    "issues",
    _document("""
        query ListIssues($filter: IssueFilter, $first: Int!, $after: String, $orderBy: PaginationOrderBy) {
          issues(filter: $filter, first: $first, after: $after, orderBy: $orderBy) { <page> nodes { <issue> } }
        }"""),
    Connection[IssueNode],
)
FULL_ISSUE = Operation(
    "get an issue",
    "issue",
    _document("""
        query GetIssue($id: String!, $comments: Int!) {
          issue(id: $id) {
            <issue> description branchName
            comments(first: $comments, orderBy: createdAt) {
              <page>
              nodes {
                id body createdAt user { name displayName } externalUser { name displayName } botActor { name }
                parent { id }
              }
            }
            children(first: 20) { <page> nodes { identifier title state { name type } } }
            relations(first: 20) { <page> nodes { type relatedIssue { identifier title } } }
            inverseRelations(first: 20) { <page> nodes { type issue { identifier title } } }
            attachments(first: 10) { <page> nodes { title url } }
          }
        }"""),
    FullIssue,
)
FIND_ISSUE = Operation(
    "find an issue",
    "issue",
    _document("query FindIssue($id: String!) { issue(id: $id) { <issue> } }"),
    IssueNode,
)
FIND_COMMENT = Operation(
    "find a comment",
    "comment",
    _document("query FindComment($id: String!) { comment(id: $id) { <comment> } }"),
    FoundComment,
)
CREATE_ISSUE = Operation(
    "create an issue",
    "issueCreate",
    _document("""
        mutation CreateIssue($input: IssueCreateInput!) {
          issueCreate(input: $input) { success issue { <issue> } }
        }"""),
    IssuePayload,
)
UPDATE_ISSUE = Operation(
    "update an issue",
    "issueUpdate",
    _document("""
        mutation UpdateIssue($id: String!, $input: IssueUpdateInput!) {
          issueUpdate(id: $id, input: $input) { success issue { <issue> } }
        }"""),
    IssuePayload,
)
CREATE_COMMENT = Operation(
    "add a comment",
    "commentCreate",
    _document("""
        mutation AddComment($input: CommentCreateInput!) {
          commentCreate(input: $input) { success comment { <comment> } }
        }"""),
    CommentPayload,
)
DELETE_ISSUE = Operation(
    "delete an issue",
    "issueDelete",
    _document("""
        mutation DeleteIssue($id: String!) { issueDelete(id: $id) { success entity { identifier title } } }"""),
    DeletePayload,
)
VIEWER = Operation("ask who I am", "viewer", _document("query Viewer { viewer { id name displayName } }"), Viewer)


def _listing(things: str, field: str, filter_type: str, fields: str, result: type[T]) -> Operation[T]:
    text = """
        query List($filter: <filter>, $first: Int!, $after: String) {
          <field>(filter: $filter, first: $first, after: $after) { <page> nodes { <fields> } }
        }"""
    text = text.replace("<filter>", filter_type).replace("<fields>", fields).replace("<field>", field)
    return Operation(f"list {things}", field, _document(text), result)


TEAMS = _listing("teams", "teams", "TeamFilter", "id key name", Connection[TeamNode])
STATES = _listing("states", "workflowStates", "WorkflowStateFilter", "id name type team { key }", Connection[StateNode])
LABELS = _listing(
    "labels",
    "issueLabels",
    "IssueLabelFilter",
    "id name isGroup parent { name } team { key }",
    Connection[LabelNode],
)
PROJECTS = _listing(
    "projects",
    "projects",
    "ProjectFilter",
    "id name slugId url status { name type } targetDate lead { name displayName }",
    Connection[ProjectNode],
)
USERS = _listing("users", "users", "UserFilter", "id name displayName email", Connection[PersonNode])
CYCLES = _listing(
    "cycles",
    "cycles",
    "CycleFilter",
    "id number name startsAt endsAt isActive team { key }",
    Connection[CycleNode],
)

OPERATIONS: tuple[Operation[Any], ...] = (
    SEARCH,
    ISSUES,
    FULL_ISSUE,
    FIND_ISSUE,
    FIND_COMMENT,
    CREATE_ISSUE,
    UPDATE_ISSUE,
    CREATE_COMMENT,
    DELETE_ISSUE,
    VIEWER,
    TEAMS,
    STATES,
    LABELS,
    PROJECTS,
    USERS,
    CYCLES,
)
"""All of them."""
